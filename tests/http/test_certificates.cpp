#include "test_certificates.hpp"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace tidegate::http::testing {

namespace {

struct deleter {
  void operator()(EVP_PKEY* x) const {
    EVP_PKEY_free(x);
  }

  void operator()(X509* x) const {
    X509_free(x);
  }

  void operator()(BIO* x) const {
    BIO_free(x);
  }
};

using key_ptr = std::unique_ptr<EVP_PKEY, deleter>;
using certificate_ptr = std::unique_ptr<X509, deleter>;

template <class F>
std::string to_pem(F write) {
  std::unique_ptr<BIO, deleter> memory{BIO_new(BIO_s_mem())};
  write(memory.get());
  char* bytes = nullptr;
  auto size = BIO_get_mem_data(memory.get(), &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

std::string to_pem(X509* certificate) {
  return to_pem([=](BIO* out) { PEM_write_bio_X509(out, certificate); });
}

std::string to_pem(EVP_PKEY* key) {
  return to_pem([=](BIO* out) {
    PEM_write_bio_PrivateKey(out, key, nullptr, nullptr, 0, nullptr, nullptr);
  });
}

void add_extension(X509* to, X509* issuer, int id, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, to, nullptr, nullptr, 0);
  auto extension = X509V3_EXT_conf_nid(nullptr, &context, id, value);
  X509_add_ext(to, extension, -1);
  X509_EXTENSION_free(extension);
}

// Returns a certificate without extensions and signature.
certificate_ptr make_blank(EVP_PKEY* key, const char* name,
                           const certificate_plan& plan) {
  static long serial = 0;
  certificate_ptr result{X509_new()};
  X509_set_version(result.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(result.get()), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(result.get()), plan.from.count());
  X509_gmtime_adj(X509_getm_notAfter(result.get()), plan.until.count());
  X509_set_pubkey(result.get(), key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(result.get()), "CN",
                             MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name), -1,
                             -1, 0);
  return result;
}

void sign(X509* certificate, X509* issuer, EVP_PKEY* key) {
  X509_set_issuer_name(certificate, X509_get_subject_name(issuer));
  X509_sign(certificate, key, EVP_sha256());
}

} // namespace

struct test_authority::state {
  key_ptr key{EVP_EC_gen("P-256")};
  certificate_ptr certificate;

  /// Makes the certificate. No issuer: it is signed by itself.
  void certify(const std::string& name, const state* issuer) {
    certificate = make_blank(key.get(), name.c_str(), {});
    auto self = certificate.get();
    auto other = issuer ? issuer->certificate.get() : self;
    add_extension(self, other, NID_basic_constraints, "critical,CA:TRUE");
    add_extension(self, other, NID_key_usage, "critical,keyCertSign");
    sign(self, other, issuer ? issuer->key.get() : key.get());
  }
};

test_authority::test_authority(const std::string& name)
  : state_(std::make_unique<state>()) {
  state_->certify(name, nullptr);
}

test_authority::test_authority(std::unique_ptr<state> content)
  : state_(std::move(content)) {
  // nop
}

test_authority::~test_authority() {
  // nop
}

std::string test_authority::certificate() const {
  return to_pem(state_->certificate.get());
}

test_authority test_authority::make_intermediate() const {
  auto content = std::make_unique<state>();
  content->certify("Tidegate test intermediate", state_.get());
  return test_authority{std::move(content)};
}

server_identity test_authority::issue(const certificate_plan& plan) const {
  key_ptr key{EVP_EC_gen("P-256")};
  auto issuer = state_->certificate.get();
  auto result = make_blank(key.get(), "Tidegate test server", plan);
  add_extension(result.get(), issuer, NID_subject_alt_name, plan.names.c_str());
  sign(result.get(), issuer, state_->key.get());
  return {to_pem(result.get()), to_pem(key.get())};
}

server_identity self_signed(const certificate_plan& plan) {
  key_ptr key{EVP_EC_gen("P-256")};
  auto result = make_blank(key.get(), "Tidegate test server", plan);
  add_extension(result.get(), result.get(), NID_subject_alt_name,
                plan.names.c_str());
  sign(result.get(), result.get(), key.get());
  return {to_pem(result.get()), to_pem(key.get())};
}

} // namespace tidegate::http::testing
