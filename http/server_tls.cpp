#include "http/server_tls.hpp"

#include <cerrno>
#include <cstdio>
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

/// The one protocol that is spoken, as ALPN lists it: with its length.
constexpr unsigned char protocols[] = "\x08http/1.1";
constexpr unsigned protocols_size = sizeof(protocols) - 1;

error complain(std::string message) {
  return {errc::validation_failed, std::move(message)};
}

struct file_deleter {
  void operator()(std::FILE* what) const {
    std::fclose(what);
  }
};

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

/// Reads the file that the setting `name` names.
result<std::string> read_file(const char* name, const std::string& path) {
  auto cannot = [&](const char* why) {
    return complain(std::string{name} + ": " + path
                    + " cannot be read: " + why);
  };
  std::unique_ptr<std::FILE, file_deleter> file{
    std::fopen(path.c_str(), "rbe")};
  if (!file)
    return cannot(std::strerror(errno));
  std::string text(file_bytes_max + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0)
    return cannot(std::strerror(errno));
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
