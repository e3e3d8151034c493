// What `tidegate keys` reads and prints.

#include "http/key_commands.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>
#include <vector>

#include "http/keys.hpp"

using namespace tidegate;
using namespace tidegate::http;

namespace {

constexpr wall_time new_year_2025{duration{1'735'689'600'000'000}};

key_wish good_wish() {
  return {"acme", "publish,read", "the shop", "2030-01-31T12:30:59Z"};
}

/// Returns why a wish is refused.
std::string refusal_of(const key_wish& wish) {
  auto made = make_key(wish, new_year_2025);
  REQUIRE_FALSE(made);
  CHECK(made.reason().code == errc::validation_failed);
  return made.reason().message;
}

std::vector<api_key_record> two_keys() {
  auto one = make_key(good_wish(), new_year_2025);
  auto two = make_key({"b", "admin", "", {}}, new_year_2025);
  REQUIRE(one);
  REQUIRE(two);
  one->record.id = api_key_id{1};
  two->record.id = api_key_id{12};
  return {one->record, two->record};
}

} // namespace

// -- tidegate keys ------------------------------------------------------------

TEST_CASE("a key is made as it was wished for") {
  auto made = make_key(good_wish(), new_year_2025);
  REQUIRE(made);
  CHECK(made->key.starts_with("sq_live_"));
  auto digest = digest_of(made->key);
  CHECK(made->record.digest == std::string(digest.begin(), digest.end()));
  CHECK(made->record.project == "acme");
  CHECK(made->record.scopes == 0b00101);
  CHECK(made->record.name == "the shop");
  CHECK(made->record.created_at == new_year_2025);
  CHECK(made->record.expires_at == wall_time{duration{1'896'093'059'000'000}});
  CHECK(make_key({"a", "publish,work,read,manage,admin,read", "", {}}, {})
          ->record.scopes
        == 0b11111);
}

TEST_CASE("a wish that cannot be is refused in a sentence with its option") {
  auto wish = good_wish();
  wish.project = "two words";
  CHECK(refusal_of(wish).starts_with("--project "));
  wish = good_wish();
  wish.name = "two\nlines";
  CHECK(refusal_of(wish).starts_with("--name "));
  wish.name = std::string(201, 'x');
  CHECK(refusal_of(wish).starts_with("--name "));
}

TEST_CASE("scopes that do not exist are refused") {
  auto text = GENERATE("", "publish,", ",read", "publish read", "Read", "root",
                       "read,,work");
  auto wish = good_wish();
  wish.scopes = text;
  CHECK(refusal_of(wish).starts_with("--scopes must be some of "));
}

TEST_CASE("an end that is no time, or is past, is refused") {
  auto text = GENERATE("", "Z", "never", "2030-01-31", "2030-01-31T12:30:59",
                       "2030-02-30T00:00:00Z", "2030-01-31T24:00:00Z",
                       "2030-01-31 12:30:59Z", "2030-01-31T12:30:60Z",
                       "2030-01-31T12:30:59.Z", "2030-01-31T12:30:59+1Z",
                       "20300-1-31T12:30:59Z", "2024-12-31T23:59:59.9Z");
  auto wish = good_wish();
  wish.expires_at = text;
  CHECK(refusal_of(wish).starts_with("--expires-at must be a time to come"));
}

TEST_CASE("a new key stands alone on the first line") {
  auto made = make_key(good_wish(), new_year_2025);
  REQUIRE(made);
  made->record.id = api_key_id{3};
  CHECK(print_created(*made)
        == made->key
             + "\nid       key_3\nproject  acme\nscopes   publish,read\n"
               "name     the shop\nexpires  2030-01-31T12:30:59.000Z\n");
}

TEST_CASE("keys are listed in columns that fit") {
  CHECK(
    print_key_table(two_keys())
    == "ID      PROJECT  SCOPES        NAME      CREATED                   "
       "EXPIRES\n"
       "key_1   acme     publish,read  the shop  2025-01-01T00:00:00.000Z  "
       "2030-01-31T12:30:59.000Z\n"
       "key_12  b        admin         -         2025-01-01T00:00:00.000Z  "
       "never\n");
  CHECK(print_key_table({}) == "ID  PROJECT  SCOPES  NAME  CREATED  EXPIRES\n");
}

TEST_CASE("the name of a key, which others give, does not steer a terminal") {
  auto keys = two_keys();
  keys[0].name = "\x1b[2J\nkey_9  b  admin";
  auto text = print_key_table(keys);
  CHECK(text.find("?[2J?key_9  b  admin") != std::string::npos);
  CHECK(std::count(text.begin(), text.end(), '\n') == 3);
}

TEST_CASE("keys are listed for programs without digests") {
  CHECK(print_key_json(two_keys())
        == R"([{"id":"key_1","project":"acme","scopes":["publish","read"],)"
           R"("name":"the shop","createdAt":"2025-01-01T00:00:00.000Z",)"
           R"("expiresAt":"2030-01-31T12:30:59.000Z"},)"
           R"({"id":"key_12","project":"b","scopes":["admin"],"name":null,)"
           R"("createdAt":"2025-01-01T00:00:00.000Z","expiresAt":null}])"
           "\n");
  CHECK(print_key_json({}) == "[]\n");
}
