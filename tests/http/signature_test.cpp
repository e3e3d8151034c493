// Signatures, against answers that were computed elsewhere.

#include <catch2/catch.hpp>

#include "http/base64.hpp"
#include "http/signature.hpp"

using namespace tidegate;
using namespace tidegate::http;

TEST_CASE("the known body has the known signature") {
  CHECK(body_signature(
          "whsec_test_secret",
          R"({"id":"job_123","queue":"emails","payload":{"to":"a@b.com"},)"
          R"("attempt":1,"maxAttempts":3,"deferCount":0,)"
          R"("createdAt":"2026-01-01T00:00:00.000Z"})")
        == "sha256="
           "121657c98dd43e360bc676dcaeee0cff0b7cc878de6c6b872021236080e366f9");
}

TEST_CASE("the example of Standard Webhooks has its signature") {
  CHECK(standard_signature("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
                           "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330",
                           R"({"test": 2432232314})")
        == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
}

TEST_CASE("a secret that is no base64 is taken as it stands") {
  CHECK(standard_signature("whsec_test_secret", "id", "1", "body")
        == standard_signature("test_secret", "id", "1", "body"));
  CHECK(standard_signature("whsec_test_secret", "id", "1", "body")
        == standard_signature("whsec_" + to_base64("test_secret"), "id", "1",
                              "body"));
}

TEST_CASE("an HMAC does not depend on the one before") {
  auto empty = hmac_sha256("", {"body"});
  hmac_sha256("another key", {"body"});
  CHECK(hmac_sha256("", {"body"}) == empty);
  CHECK(hmac_sha256("key", {"bo", "", "dy"}) == hmac_sha256("key", {"body"}));
  CHECK(hmac_sha256("key", {"body"}) != empty);
}

TEST_CASE("a new secret is 32 bytes that were not there before") {
  auto secret = make_signing_secret();
  REQUIRE(secret.starts_with("whsec_"));
  auto bytes = from_base64(secret.substr(6));
  REQUIRE(bytes);
  CHECK(bytes->size() == 32);
  CHECK(secret != make_signing_secret());
}

TEST_CASE("base64 is that of RFC 4648 and nothing else is read") {
  auto [text, bytes] = GENERATE(table<std::string, std::string>({
    {"", ""},
    {"Zg==", "f"},
    {"Zm8=", "fo"},
    {"Zm9v", "foo"},
    {"Zm9vYg==", "foob"},
    {"Zm9vYmE=", "fooba"},
    {"Zm9vYmFy", "foobar"},
    {"+/+/", "\xfb\xff\xbf"},
  }));
  CHECK(to_base64(bytes) == text);
  CHECK(from_base64(text) == bytes);
  auto bad = GENERATE(as<std::string>{}, "Z", "Zg",
                      "Zg=", "Zh==", "Zg== ", "Zm9v=", "====", "-_-_", "Zm\n9v",
                      "Zg==Zg==");
  CHECK_FALSE(from_base64(bad));
}
