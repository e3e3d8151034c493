#include "http/keys.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <catch2/catch.hpp>

using namespace tidegate::http;

TEST_CASE("the digest of a key is its SHA-256") {
  // FIPS 180-2, appendix B.1.
  auto digest = digest_of("abc");
  CHECK(digest[0] == 0xba);
  CHECK(digest[1] == 0x78);
  CHECK(digest[31] == 0xad);
}

TEST_CASE("a key is the prefix and 40 characters of base 62") {
  auto key = make_api_key();
  CHECK(key.size() == 48);
  CHECK(key.starts_with("sq_live_"));
  CHECK(std::all_of(key.begin() + 8, key.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z')
           || (c >= 'a' && c <= 'z');
  }));
}

TEST_CASE("keys differ and favour no character") {
  std::set<std::string> keys;
  std::map<char, int> seen;
  for (auto i = 0; i < 1000; ++i) {
    auto key = make_api_key();
    for (auto c : key.substr(8))
      ++seen[c];
    keys.insert(std::move(key));
  }
  CHECK(keys.size() == 1000);
  CHECK(seen.size() == 62);
  // 645 each on average with a deviation of 25; `% 62` of a byte would give the
  // first eight 781.
  for (auto [c, n] : seen) {
    CHECK(n > 645 - 130);
    CHECK(n < 645 + 130);
  }
}

TEST_CASE("whoever knows a key gets its scopes") {
  key_ring keys;
  keys.add(digest_of("sq_live_one"), {scope::publish});
  keys.add(digest_of("sq_live_two"), scope_set::all());
  auto one = keys.authenticate("Bearer sq_live_one");
  REQUIRE(one);
  CHECK(one->contains(scope::publish));
  CHECK_FALSE(one->contains(scope::manage));
  CHECK(keys.authenticate("bearer  sq_live_two") == scope_set::all());
  CHECK(keys.authenticate("BEARER sq_live_two") == scope_set::all());
}

TEST_CASE("nobody else gets in") {
  key_ring keys;
  CHECK_FALSE(keys.authenticate("Bearer sq_live_one"));
  keys.add(digest_of("sq_live_one"), scope_set::all());
  CHECK_FALSE(keys.authenticate(std::nullopt));
  for (auto header :
       {"", "Bearer", "Bearer ", "Bearersq_live_one", "Basic sq_live_one",
        "sq_live_one", "Bearer sq_live_on", "Bearer sq_live_onee",
        "Bearer sq_live_one,", " Bearer sq_live_one", "Bearer SQ_LIVE_ONE"}) {
    CAPTURE(header);
    CHECK_FALSE(keys.authenticate(header));
  }
}
