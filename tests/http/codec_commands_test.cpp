#include "codec_testing.hpp"

#include <catch2/catch.hpp>

using namespace tidegate;
using namespace tidegate::http;
using namespace std::chrono_literals;

namespace {

constexpr wall_time noon{std::chrono::seconds{1'767'268'800}};

const job_id some_job{queue_id{1}, job_seq{2}, 3};

std::vector<std::string> about_replay(const std::string& members,
                                      const std::string& field) {
  return complaints_of(decode_dlq_replay("{" + members + "}"), field);
}

decoded<api_key_record> key(const std::string& members) {
  return decode_api_key("{" + members + "}", noon);
}

} // namespace

TEST_CASE("a purge is of what waits, or of one kind of it") {
  CHECK_FALSE(std::get<purge_queue>(decode_purge("")).status);
  CHECK(std::get<purge_queue>(decode_purge(R"({"status":"pending"})")).status
        == job_status::pending);
  for (auto word : {"completed", "dead", "awaiting_ack", "Pending"})
    CHECK(
      complaints_of(decode_purge(R"({"status":")" + std::string{word} + "\"}"),
                    "status")
      == just("must be pending or processing, got '" + std::string{word}
              + "'"));
}

TEST_CASE("two secrets overlap for a day unless it says otherwise") {
  auto overlap_of = [](const std::string& body) {
    return std::get<rotate_secret>(decode_rotate(body)).overlap;
  };
  CHECK(overlap_of("") == 24h);
  CHECK(overlap_of(R"({"overlap":0})") == 0s);
  CHECK(overlap_of(R"({"overlap":2592000})") == 2'592'000s);
  for (std::string token : {"-1", "2592001"})
    CHECK(complaints_of(decode_rotate("{\"overlap\":" + token + "}"), "overlap")
          == just("must be 0 to 2592000, got " + token));
}

TEST_CASE("a replay has the payload of before or the one that it is given") {
  CHECK_FALSE(std::get<replay_job>(decode_replay("")).payload);
  CHECK_FALSE(std::get<replay_job>(decode_replay("{}")).payload);
  auto replay = std::get<replay_job>(decode_replay(R"({"payload": [ 1E5 ] })"));
  CHECK(replay.payload->bytes() == "[ 1E5 ]");
  replay = std::get<replay_job>(decode_replay(R"({"payload":null})"));
  CHECK(replay.payload->bytes() == "null");
}

TEST_CASE("a replay of dead letters is of all unless it says of which") {
  auto all = std::get<replay_dead_letters>(decode_dlq_replay(""));
  CHECK(all.filter == job_filter{});
  CHECK(all.ids.empty());
  CHECK_FALSE(all.limit);
  CHECK_FALSE(all.dry_run);
  CHECK(all.per_second == 1000);
  auto some = std::get<replay_dead_letters>(decode_dlq_replay(
    R"({"reason":"ack_timeout","since":"2026-01-01T12:00:00Z",
        "until":"2026-01-01T12:00:01Z","limitKey":"k","ids":[")"
    + to_string(some_job) + R"("],"limit":5,"dryRun":true,"perSecond":0.1})"));
  CHECK(some.filter.reason == dead_reason::ack_timeout);
  CHECK(some.filter.since == noon);
  CHECK(some.filter.until == noon + 1s);
  CHECK(some.filter.limit_key == "k");
  CHECK(some.ids == std::vector<job_id>{some_job});
  CHECK(some.limit == 5);
  CHECK(some.dry_run);
  CHECK(some.per_second == 0.1);
}

TEST_CASE("fields of a replay that are wrong are refused with what is wanted") {
  struct row {
    std::string name, token, message;
  };
  auto i = GENERATE(values<row>({
    {"reason", "\"none\"",
     "must be attempts_exhausted, nack_not_retryable, defer_cap_exhausted, "
     "retry_after_exceeds_lifetime, lifetime_exceeded, ack_timeout or "
     "cancelled, got 'none'"},
    {"limitKey", "\"\"", "must be 1 to 128 characters, got 0"},
    {"ids", "[]", "must be 1 to 1000 ids, got 0"},
    {"ids", "[\"x\"]", "must be ids of jobs, got 'x'"},
    {"ids", "[1]", "must be a string, got a number"},
    {"limit", "0", "must be 1 to 9007199254740991, got 0"},
    {"limit", "-1", "must be 1 to 9007199254740991, got -1"},
    {"dryRun", "\"true\"", "must be a boolean, got a string"},
    {"perSecond", "0.09", "must be 0.1 to 10000, got 0.09"},
    {"perSecond", "10001", "must be 0.1 to 10000, got 10001"},
    {"perSecond", "null", "must be a number, got null"},
    {"dryrun", "true", "is not a known field"},
  }));
  CAPTURE(i.name, i.token);
  CHECK(about_replay("\"" + i.name + "\":" + i.token, i.name)
        == just(i.message));
}

TEST_CASE("a new key names its project and its scopes") {
  auto made = std::get<api_key_record>(
    key(R"("project":"acme","scopes":["publish","read"])"));
  CHECK(made.project == "acme");
  CHECK(scope_set::from_bits(made.scopes)
        == scope_set{scope::publish, scope::read});
  CHECK(made.name.empty());
  CHECK(made.created_at == noon);
  CHECK_FALSE(made.expires_at);
  made = std::get<api_key_record>(
    key(R"("project":"acme","scopes":["work"],"name":"CI",
           "expiresAt":"2026-01-01T12:00:01Z")"));
  CHECK(made.name == "CI");
  CHECK(made.expires_at == noon + 1s);
}

TEST_CASE("fields of a key that are wrong are refused with what is wanted") {
  struct row {
    std::string name, token, message;
  };
  auto i = GENERATE(values<row>({
    {"project", "\"a b\"", "must be of A-Z a-z 0-9 . _ - only, got 'a b'"},
    {"project", "7", "must be a string, got a number"},
    {"scopes", "[]", "must be 1 or more scopes, got 0"},
    {"scopes", "[\"root\"]",
     "must be publish, work, read, manage or admin, got 'root'"},
    {"scopes", "[\"read\",\"read\"]", "must not name read twice"},
    {"scopes", "\"read\"", "must be an array, got a string"},
    {"name", "null", "must be a string, got null"},
    {"expiresAt", "\"2026-01-01T12:00:00Z\"",
     "must be in the future, got \"2026-01-01T12:00:00Z\""},
    {"key", "\"sq_live_mine\"", "is not a known field"},
  }));
  CAPTURE(i.name, i.token);
  CHECK(complaints_of(key("\"" + i.name + "\":" + i.token), i.name)
        == just(i.message));
}

TEST_CASE("a key without project or scopes is refused") {
  auto wrong = key("");
  CHECK(complaints_of(wrong, "project") == just("is required"));
  CHECK(complaints_of(wrong, "scopes") == just("is required"));
}
