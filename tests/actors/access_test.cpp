// Keys that are made, read and revoked, here and by others.

#include <catch2/catch.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/access_actor.hpp"
#include "tests/actors/back_office.hpp"

using namespace std::chrono_literals;
using namespace tidegate;
using namespace tidegate::testkit;

namespace {

api_key_record key_named(const std::string& name) {
  api_key_record result;
  result.digest = std::string(32, name.front());
  result.project = default_project;
  result.name = name;
  return result;
}

/// An office in which somebody keeps the keys.
class guarded_office : public back_office {
public:
  explicit guarded_office(std::uint64_t seed = 0) : back_office(seed) {
    access_ = system().get().spawn(
      make_access, env(),
      [told = told_](const auto& keys) {
        std::string names;
        for (const auto& key : keys)
          names += key.name;
        told->push_back(names);
      },
      duration{500ms});
  }

  ~guarded_office() {
    kill(access_);
  }

  /// Sends a request. Returns its error, or nothing where it was done.
  template <class Reply, class Message>
  std::optional<errc> refusal(Message what) {
    auto answer = system().ask<Reply>(access_, std::move(what));
    REQUIRE(answer);
    if (*answer)
      return std::nullopt;
    return (*answer).reason().code;
  }

  void begin() {
    REQUIRE_FALSE(refusal<access_started>(start_access{}));
  }

  api_key_record create(const std::string& name) {
    auto answer = system().ask<api_key_record>(access_,
                                               create_api_key{key_named(name)});
    REQUIRE(answer);
    REQUIRE(*answer);
    return std::move(**answer);
  }

  /// What another process does.
  void set_keys(const std::vector<std::string>& names) {
    disk().keys.clear();
    for (const auto& name : names)
      disk().keys.push_back(key_named(name));
    ++disk().keys_version;
  }

  /// The names of the keys, joined, each time that they were told.
  const std::vector<std::string>& told() const {
    return *told_;
  }

  const access_impl_actor& access() const {
    return access_;
  }

private:
  std::shared_ptr<std::vector<std::string>> told_ =
    std::make_shared<std::vector<std::string>>();
  access_impl_actor access_;
};

using names = std::vector<std::string>;

} // namespace

TEST_CASE("the keys that are there are told at the start, none included") {
  guarded_office w;
  w.begin();
  CHECK(w.told() == names{""});
  guarded_office x;
  x.set_keys({"a", "b"});
  x.begin();
  CHECK(x.told() == names{"ab"});
}

TEST_CASE("a new key has its number and works at once") {
  guarded_office w;
  w.begin();
  auto key = w.create("a");
  CHECK(key.id.value > 0);
  CHECK(key.created_at == w.now().wall);
  CHECK(w.told() == names{"", "a"});
  REQUIRE(w.disk().keys.size() == 1);
  w.advance(10s);
  CHECK(w.told() == names{"", "a"});
}

TEST_CASE("a revoked key is refused at once, and cannot be revoked again") {
  guarded_office w;
  w.begin();
  auto id = w.create("a").id;
  w.create("b");
  CHECK_FALSE(w.refusal<api_key_revoked>(revoke_api_key{id}));
  CHECK(w.told().back() == "b");
  CHECK(w.refusal<api_key_revoked>(revoke_api_key{id}) == errc::not_found);
}

TEST_CASE("what another process changes is seen within a second") {
  guarded_office w;
  w.begin();
  for (int i = 0; i < 5; ++i) {
    w.advance(370ms);
    w.set_keys({"x", std::to_string(i)});
    w.advance(1s);
    CHECK(w.told().back() == "x" + std::to_string(i));
  }
  w.set_keys({});
  w.advance(1s);
  CHECK(w.told().back().empty());
}

TEST_CASE("a key of a project that cannot be is refused") {
  guarded_office w;
  w.begin();
  auto key = key_named("a");
  key.project = "no such/name";
  CHECK(w.refusal<api_key_record>(create_api_key{key})
        == errc::validation_failed);
}

TEST_CASE("a key that was not stored does not work") {
  guarded_office w;
  w.begin();
  w.disk().commits_until_failure = 0;
  CHECK(w.refusal<api_key_record>(create_api_key{key_named("a")})
        == errc::storage_unavailable);
  CHECK(w.told() == names{""});
  w.create("b");
  CHECK(w.told().back() == "b");
}

TEST_CASE("while the disk is gone the keys stay as they were") {
  guarded_office w;
  w.set_keys({"a"});
  w.begin();
  w.disk().down = true;
  w.advance(10s);
  CHECK(w.told() == names{"a"});
  w.disk().down = false;
  w.set_keys({"a", "b"});
  w.advance(1s);
  CHECK(w.told().back() == "ab");
}

TEST_CASE("a start without a disk fails, and is made up for later") {
  guarded_office w;
  w.set_keys({"a"});
  w.disk().down = true;
  CHECK(w.refusal<access_started>(start_access{}) == errc::storage_unavailable);
  CHECK(w.refusal<api_key_list>(list_api_keys{}) == errc::storage_unavailable);
  w.disk().down = false;
  w.advance(1s);
  CHECK(w.told() == names{"a"});
  CHECK_FALSE(w.refusal<api_key_list>(list_api_keys{}));
}

TEST_CASE("whatever order messages have, the last word is what is stored") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    guarded_office w{seed};
    w.begin();
    for (int i = 0; i < 4; ++i) {
      w.system().begin_ask<api_key_record>(
        w.access(), create_api_key{key_named(std::string(1, 'a' + i))});
      caf::anon_send(w.access(), access_tick{});
    }
    w.system().run();
    INFO("seed " << seed);
    // None that was told is ever taken back.
    for (std::size_t i = 1; i < w.told().size(); ++i)
      CHECK(w.told()[i].size() > w.told()[i - 1].size());
    CHECK(w.told().back().size() == 4);
    w.advance(1s);
    CHECK(w.told().back().size() == 4);
    CHECK(w.disk().keys.size() == 4);
  }
}

TEST_CASE("usage is read for whoever asks") {
  guarded_office w;
  usage_record row;
  row.publishes = 7;
  w.disk().usage.push_back(row);
  auto answer = w.system().ask<usage_list>(w.access(), get_usage{});
  REQUIRE(answer);
  REQUIRE(*answer);
  CHECK((**answer).items == std::vector{row});
  w.disk().down = true;
  CHECK(w.refusal<usage_list>(get_usage{}) == errc::storage_unavailable);
}
