#include "http/server_tls.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <boost/asio/ssl/context.hpp>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include "http/certificates.hpp"

namespace tidegate::http {

namespace {

namespace ssl = boost::asio::ssl;

/// Longer files are no certificates.
constexpr std::size_t file_bytes_max = 1024 * 1024;

/// How long the writer of a pipe may write nothing. Unit: milliseconds.
constexpr int wait_ms_max = 5000;

/// The one protocol that is spoken, as ALPN lists it: with its length.
constexpr unsigned char protocols[] = "\x08http/1.1";
constexpr unsigned protocols_size = sizeof(protocols) - 1;

error complain(std::string message) {
  return {errc::validation_failed, std::move(message)};
}

struct bio_deleter {
  void operator()(BIO* what) const {
    BIO_free(what);
  }
};

struct key_deleter {
  void operator()(EVP_PKEY* what) const {
    EVP_PKEY_free(what);
  }
};

/// Reads until the end of `file`, which does not block, or one byte more than
/// there may be. Fails with `errno`, with `ETIMEDOUT` where nothing comes.
int read_all(int file, std::string& text) {
  text.resize(file_bytes_max + 1);
  std::size_t size = 0;
  while (size < text.size()) {
    auto count = ::read(file, text.data() + size, text.size() - size);
    if (count > 0) {
      size += static_cast<std::size_t>(count);
      continue;
    }
    if (count == 0)
      break;
    pollfd what{file, POLLIN, 0};
    if (errno == EAGAIN && ::poll(&what, 1, wait_ms_max) == 0)
      return ETIMEDOUT;
    if (errno != EAGAIN && errno != EINTR)
      return errno;
  }
  text.resize(size);
  return 0;
}

/// Reads the file that the setting `name` names. It may be a pipe.
result<std::string> read_file(const char* name, const std::string& path) {
  auto cannot = [&](const char* why) {
    return complain(std::string{name} + ": " + path
                    + " cannot be read: " + why);
  };
  // A pipe without a writer would be waited for without end.
  auto file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file == -1)
    return cannot(std::strerror(errno));
  std::string text;
  auto failure = read_all(file, text);
  ::close(file);
  if (failure != 0)
    return cannot(std::strerror(failure));
  if (text.size() > file_bytes_max)
    return cannot("it is larger than 1 MiB");
  return text;
}

/// Who starts a server cannot be asked for a password: it may be a machine.
int no_password(char*, int, int, void*) {
  return -1;
}

int choose_protocol(SSL*, const unsigned char** chosen, unsigned char* size,
                    const unsigned char* offered, unsigned offered_size,
                    void*) {
  unsigned char* found = nullptr;
  auto verdict = SSL_select_next_proto(&found, size, protocols, protocols_size,
                                       offered, offered_size);
  *chosen = found;
  return verdict == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK
                                           : SSL_TLSEXT_ERR_ALERT_FATAL;
}

server_tls::context_ptr make_blank_context() {
  auto result = std::make_shared<ssl::context>(ssl::context::tls_server);
  auto* native = result->native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  SSL_CTX_set_options(native, SSL_OP_NO_RENEGOTIATION);
  // Idle connections keep no buffers, and clients keep their sessions
  // themselves (RFC 8446, section 2.2).
  SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_alpn_select_cb(native, choose_protocol, nullptr);
  return result;
}

std::optional<error> use_chain(ssl::context& context, const std::string& path) {
  auto text = read_file("tls-cert", path);
  if (!text)
    return text.reason();
  boost::system::error_code failure;
  context.use_certificate_chain(boost::asio::buffer(*text), failure);
  ERR_clear_error();
  if (failure)
    return complain("tls-cert: " + path + " holds no PEM certificate that can "
                    "be used: " + failure.message());
  return std::nullopt;
}

std::optional<error> use_key(ssl::context& context, const std::string& path) {
  auto text = read_file("tls-key", path);
  if (!text)
    return text.reason();
  std::unique_ptr<BIO, bio_deleter> bytes{
    BIO_new_mem_buf(text->data(), static_cast<int>(text->size()))};
  std::unique_ptr<EVP_PKEY, key_deleter> key{
    PEM_read_bio_PrivateKey(bytes.get(), nullptr, no_password, nullptr)};
  OPENSSL_cleanse(text->data(), text->size());
  ERR_clear_error();
  if (!key)
    return complain("tls-key: " + path
                    + " holds no PEM private key that can be read without a "
                      "password");
  auto* native = context.native_handle();
  if (X509_check_private_key(SSL_CTX_get0_certificate(native), key.get()) == 1
      && SSL_CTX_use_PrivateKey(native, key.get()) == 1)
    return std::nullopt;
  ERR_clear_error();
  return complain("tls-key: the key in " + path
                  + " does not belong to the certificate in tls-cert");
}

result<server_tls::context_ptr> make_context(const std::string& certificate,
                                             const std::string& key) {
  auto context = make_blank_context();
  if (auto wrong = use_chain(*context, certificate))
    return *wrong;
  if (auto wrong = use_key(*context, key))
    return *wrong;
  return context;
}

} // namespace

result<std::shared_ptr<server_tls>>
server_tls::load(std::string certificate_file, std::string key_file) {
  auto context = make_context(certificate_file, key_file);
  if (!context)
    return context.reason();
  return std::shared_ptr<server_tls>{new server_tls(
    std::move(certificate_file), std::move(key_file), std::move(*context))};
}

server_tls::server_tls(std::string certificate_file, std::string key_file,
                       context_ptr context)
  : certificate_file_(std::move(certificate_file)),
    key_file_(std::move(key_file)), context_(std::move(context)) {
  // nop
}

std::optional<error> server_tls::reload() {
  auto context = make_context(certificate_file_, key_file_);
  if (!context)
    return context.reason();
  std::lock_guard guard{mutex_};
  context_ = std::move(*context);
  return std::nullopt;
}

server_tls::context_ptr server_tls::context() const {
  std::lock_guard guard{mutex_};
  return context_;
}

} // namespace tidegate::http
