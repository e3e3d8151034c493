// Events as a `text/event-stream`.

#include "http/event_stream.hpp"

#include <algorithm>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tidegate/pull_messages.hpp"

using namespace tidegate;
using namespace tidegate::http;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

/// What the events stand behind: the times are after 2026-01-01T12:00:00Z.
const wall_time noon{std::chrono::seconds{1'767'268'800}};

const job_id some_job{queue_id{1}, job_seq{2}, 3};

numbered_event make(event_kind kind) {
  numbered_event result;
  result.id = {1'767'268'800'000'000, 42};
  result.event.kind = kind;
  result.event.project = "acme";
  result.event.queue = "mail";
  result.event.at = noon;
  return result;
}

/// Returns what a writer wrote.
template <class F>
std::string written(F write) {
  auto body = std::make_shared<body_stream>(1u << 20);
  event_writer writer{body};
  write(writer);
  std::string result;
  body->take(result);
  return result;
}

std::string written(const numbered_event& what) {
  return written([&](event_writer& writer) { writer.put(what); });
}

/// Returns the object in the line of data.
json data_of(const numbered_event& what) {
  auto text = written(what);
  auto from = text.find("\ndata: ") + 7;
  return json::parse(text.substr(from, text.find('\n', from) - from));
}

} // namespace

TEST_CASE("a hold is printed with all that is known of it") {
  auto what = make(event_kind::queue_held);
  what.event.cause = hold_cause::downstream;
  what.event.http_status = 429;
  what.event.release_at = noon + 30s;
  what.event.limit_key = "tenant-7";
  what.event.job = some_job;
  auto text = written(what);
  CHECK(
    text.starts_with("id: 1767268800000000-42\nevent: queue.held\ndata: {"));
  CHECK(text.ends_with("}\n\n"));
  CHECK(data_of(what)
        == json{{"id", "1767268800000000-42"},
                {"time", "2026-01-01T12:00:00.000Z"},
                {"project", "acme"},
                {"queue", "mail"},
                {"type", "queue.held"},
                {"data",
                 {{"limitKey", "tenant-7"},
                  {"cause", "downstream"},
                  {"reason", nullptr},
                  {"releaseAt", "2026-01-01T12:00:30.000Z"},
                  {"job", to_string(some_job)},
                  {"webhookStatusCode", 429},
                  {"verdict", nullptr}}}});
}

TEST_CASE("a release is printed with the hold that it ended") {
  auto what = make(event_kind::queue_released);
  what.event.cause = hold_cause::downstream;
  what.event.release_at = noon;
  auto got = data_of(what);
  CHECK(got["type"] == "queue.released");
  CHECK(got["data"]["cause"] == "downstream");
  CHECK(got["data"]["releaseAt"] == "2026-01-01T12:00:00.000Z");
}

TEST_CASE("what strangers wrote stays on its line") {
  auto what = make(event_kind::queue_held);
  what.event.detail = "a\n\nevent: x\r\ndata: \xff\u2028";
  auto text = written(what);
  CHECK(std::count(text.begin(), text.end(), '\n') == 4);
  CHECK(text.find('\r') == std::string::npos);
  CHECK(
    data_of(what)["data"]["reason"].get<std::string>().starts_with("a\n\n"));
}

TEST_CASE("messages are named as messages") {
  auto what = make(event_kind::message_dead);
  what.event.job = some_job;
  what.event.is_message = true;
  CHECK(data_of(what)["data"]
        == json{{"message", to_string(message_id{some_job.seq, some_job.tag})},
                {"reason", "max_receive_count"}});
}

TEST_CASE("a dead job tells why") {
  auto what = make(event_kind::job_dead);
  what.event.job = some_job;
  what.event.reason = dead_reason::lifetime_exceeded;
  CHECK(data_of(what)["data"]
        == json{{"job", to_string(some_job)}, {"reason", "lifetime_exceeded"}});
}

TEST_CASE("an operation is printed as the API shows it") {
  auto what = make(event_kind::operation_ended);
  what.event.operation = operation_record{};
  what.event.operation->id = operation_id{1};
  what.event.operation->state = operation_state::done;
  what.event.operation->done = 7;
  auto shown = data_of(what)["data"]["operation"];
  CHECK(shown["id"] == "op_1");
  CHECK(shown["state"] == "done");
  CHECK(shown["done"] == 7);
}

TEST_CASE("every kind of event can be printed") {
  for (auto kind : all_event_kinds)
    CHECK(data_of(make(kind))["type"] == to_string(kind));
}

TEST_CASE("a stream begins with where it stands") {
  CHECK(written([](event_writer& writer) {
          writer.begin({5, 7});
        })
        == "retry: 2000\nid: 5-7\n\n");
}

TEST_CASE("a gap is an event without a number") {
  auto text = written([](event_writer& writer) { writer.put_gap(); });
  CHECK(text == "retry: 2000\nevent: gap\ndata: {}\n\n");
}

TEST_CASE("a sign of life is a comment") {
  CHECK(written([](event_writer& writer) { writer.beat(); }) == ":\n\n");
}

TEST_CASE("a stream ends at what its reader may not hear any more") {
  auto body = std::make_shared<body_stream>(1u << 20);
  auto may_read = true;
  event_writer writer{body, [&] { return may_read; }};
  writer.put(make(event_kind::queue_paused));
  CHECK_FALSE(body->is_over());
  may_read = false;
  writer.put(make(event_kind::queue_resumed));
  std::string told;
  body->take(told);
  CHECK(told.find("queue.paused") != std::string::npos);
  CHECK(told.find("queue.resumed") == std::string::npos);
  CHECK(body->is_over());
}
