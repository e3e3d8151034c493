#include "http/keys.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <thread>

#include <catch2/catch.hpp>

using namespace tidegate;
using namespace tidegate::http;

namespace {

constexpr moment noon{steady_time{duration{1'000'000}},
                      wall_time{duration{1'767'268'800'123'456}}};

/// Returns whom `keys` let in with a header.
std::optional<caller> let_in(const key_ring& keys,
                             std::optional<std::string_view> header,
                             moment now = noon) {
  auto known = keys.authenticate(header, now);
  if (auto who = std::get_if<caller>(&known))
    return *who;
  CHECK(std::get<problem>(known) == problem::unauthenticated);
  return std::nullopt;
}

api_key_record stored(std::uint32_t id, std::string_view key,
                      std::string project) {
  api_key_record result;
  result.id = {id};
  auto digest = digest_of(key);
  result.digest.assign(digest.begin(), digest.end());
  result.project = std::move(project);
  result.scopes = scope_set{scope::read}.bits();
  return result;
}

} // namespace

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
  key_set own;
  own.add(digest_of("sq_live_one"), {scope::publish});
  own.add(digest_of("sq_live_two"), scope_set::all());
  key_ring keys{own};
  auto one = let_in(keys, "Bearer sq_live_one");
  REQUIRE(one);
  CHECK(one->key == api_key_id{0});
  CHECK(one->project == "default");
  CHECK(one->scopes == scope_set{scope::publish});
  for (auto header : {"bearer  sq_live_two", "BEARER sq_live_two"})
    CHECK(let_in(keys, header).value().scopes == scope_set::all());
}

TEST_CASE("nobody else gets in") {
  CHECK_FALSE(let_in(key_ring{}, "Bearer sq_live_one"));
  key_set own;
  own.add(digest_of("sq_live_one"), scope_set::all());
  key_ring keys{own};
  CHECK_FALSE(let_in(keys, std::nullopt));
  for (auto header :
       {"", "Bearer", "Bearer ", "Bearersq_live_one", "Basic sq_live_one",
        "sq_live_one", "Bearer sq_live_on", "Bearer sq_live_onee",
        "Bearer sq_live_one,", " Bearer sq_live_one", "Bearer SQ_LIVE_ONE"}) {
    CAPTURE(header);
    CHECK_FALSE(let_in(keys, header));
  }
}

TEST_CASE("stored keys come and go while the server runs; its own one stays") {
  key_set own;
  own.add(digest_of("own"), scope_set::all());
  key_ring keys{own};
  keys.replace({stored(1, "one", "acme"), stored(2, "two", "other")});
  CHECK(let_in(keys, "Bearer one") == caller{{1}, "acme", {scope::read}});
  CHECK(let_in(keys, "Bearer two").value().project == "other");
  keys.replace({stored(2, "two", "other")});
  CHECK_FALSE(let_in(keys, "Bearer one"));
  CHECK(let_in(keys, "Bearer two"));
  keys.replace({});
  CHECK_FALSE(let_in(keys, "Bearer two"));
  CHECK(let_in(keys, "Bearer own"));
}

TEST_CASE("what a key has opened is known to be shut when the key is gone") {
  key_set own;
  own.add(digest_of("own"), scope_set::all());
  key_ring keys{own};
  auto record = stored(1, "one", "acme");
  record.expires_at = noon.wall;
  keys.replace({record, stored(2, "two", "other")});
  CHECK(keys.still_opens({1}, noon.wall - duration{1}));
  CHECK_FALSE(keys.still_opens({1}, noon.wall));
  CHECK(keys.still_opens({2}, noon.wall));
  keys.replace({});
  CHECK_FALSE(keys.still_opens({2}, noon.wall));
  CHECK(keys.still_opens(api_key_id{}, noon.wall));
}

TEST_CASE("a key that has expired opens nothing") {
  auto record = stored(1, "one", "acme");
  record.expires_at = noon.wall;
  key_ring keys;
  keys.replace({record});
  CHECK(let_in(keys, "Bearer one", {noon.steady, noon.wall - duration{1}}));
  CHECK_FALSE(let_in(keys, "Bearer one"));
}

TEST_CASE("a record whose digest is none opens nothing") {
  for (std::string digest : {"", "x", "one"}) {
    auto record = stored(1, "one", "acme");
    record.digest = digest;
    key_set keys;
    keys.add(record);
    CHECK(keys.size() == 0);
  }
}

TEST_CASE("digests that begin alike are told apart") {
  auto record = stored(1, "one", "acme");
  auto twin = record;
  twin.id = {2};
  twin.digest.back() = static_cast<char>(~twin.digest.back());
  key_ring keys;
  keys.replace({record, twin});
  CHECK(let_in(keys, "Bearer one").value().key == api_key_id{1});
}

TEST_CASE("bits of scopes that nobody knows are dropped") {
  CHECK(scope_set::from_bits(0xff) == scope_set::all());
  CHECK(scope_set::from_bits(scope_set{scope::work}.bits())
        == scope_set{scope::work});
}

TEST_CASE("each key has a number of requests of its own") {
  key_set own;
  own.add(digest_of("own"), scope_set::all());
  key_ring keys{own, 1};
  keys.replace({stored(1, "one", "acme")});
  CHECK(let_in(keys, "Bearer one"));
  CHECK(let_in(keys, "Bearer own"));
  for (auto header : {"Bearer one", "Bearer own"})
    CHECK(std::get<problem>(keys.authenticate(header, noon))
          == problem::rate_limited);
  // A key that is none is no key, however often.
  for (auto i = 0; i < 3; ++i)
    CHECK_FALSE(let_in(keys, "Bearer two"));
}

TEST_CASE("a change of other keys gives nobody more requests") {
  key_ring keys{key_set{}, 1};
  keys.replace({stored(1, "one", "acme")});
  CHECK(let_in(keys, "Bearer one"));
  keys.replace({stored(1, "one", "acme"), stored(2, "two", "acme")});
  CHECK(std::get<problem>(keys.authenticate("Bearer one", noon))
        == problem::rate_limited);
  CHECK(let_in(keys, "Bearer two"));
}

TEST_CASE("a wall clock that steps locks nobody out") {
  key_ring keys{key_set{}, 1};
  keys.replace({stored(1, "one", "acme")});
  auto steady = noon.steady;
  for (auto hours : {0, -48, 48}) {
    CHECK(let_in(keys, "Bearer one",
                 {steady, noon.wall + std::chrono::hours{hours}}));
    steady += std::chrono::seconds{1};
  }
}

TEST_CASE("keys may be replaced while others ask") {
  key_ring keys;
  keys.replace({stored(1, "one", "acme")});
  std::atomic<bool> stop = false;
  std::thread asking{[&] {
    while (!stop)
      let_in(keys, "Bearer one");
  }};
  for (auto i = 0; i < 200; ++i)
    keys.replace({stored(1, "one", "acme"), stored(2, "two", "acme")});
  stop = true;
  asking.join();
  CHECK(let_in(keys, "Bearer two"));
}
