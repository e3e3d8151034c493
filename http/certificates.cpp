#include "http/certificates.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>

namespace tidegate::http {

namespace {

struct bio_deleter {
  void operator()(BIO* what) const {
    BIO_free(what);
  }
};

/// One block of a PEM text, with its bytes decoded.
class pem_block {
public:
  pem_block() = default;

  pem_block(const pem_block&) = delete;

  pem_block& operator=(const pem_block&) = delete;

  ~pem_block() {
    OPENSSL_free(label_);
    OPENSSL_free(header_);
    OPENSSL_clear_free(bytes_, static_cast<std::size_t>(size_));
  }

  /// Returns whether there was one, or something that should have been one.
  bool read(BIO* from) {
    if (PEM_read_bio(from, &label_, &header_, &bytes_, &size_) == 1)
      return true;
    auto reason = ERR_GET_REASON(ERR_peek_last_error());
    ERR_clear_error();
    return reason != PEM_R_NO_START_LINE;
  }

  bool is_certificate() const {
    return label_ != nullptr && std::string_view{label_} == PEM_STRING_X509;
  }

  /// Returns the certificate, or null where the bytes are something else.
  x509_ptr certificate() const {
    const unsigned char* next = bytes_;
    x509_ptr result{d2i_X509(nullptr, &next, size_)};
    ERR_clear_error();
    return next == bytes_ + size_ ? std::move(result) : nullptr;
  }

private:
  char* label_ = nullptr;
  char* header_ = nullptr;
  unsigned char* bytes_ = nullptr;
  long size_ = 0;
};

error complain(std::string message) {
  return {errc::validation_failed, std::move(message)};
}

} // namespace

result<std::vector<x509_ptr>> read_certificates(std::string_view pem) {
  std::unique_ptr<BIO, bio_deleter> text{
    BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()))};
  std::vector<x509_ptr> result;
  for (;;) {
    pem_block block;
    if (!text || !block.read(text.get()))
      break;
    auto place = "block " + std::to_string(result.size() + 1);
    if (!block.is_certificate())
      return complain("must hold PEM certificates and nothing else, " + place
                      + " is none");
    auto certificate = block.certificate();
    if (!certificate)
      return complain("must hold PEM certificates, " + place
                      + " cannot be read as one");
    result.push_back(std::move(certificate));
  }
  if (result.empty())
    return complain("must be PEM text of one or more certificates, found none");
  return result;
}

std::optional<std::string> complaint_about_authorities(std::string_view pem) {
  auto found = read_certificates(pem);
  return found ? std::nullopt : std::optional{found.reason().message};
}

std::string take_openssl_reason() {
  char text[256] = "";
  if (auto code = ERR_peek_last_error())
    ERR_error_string_n(code, text, sizeof(text));
  ERR_clear_error();
  return text;
}

} // namespace tidegate::http
