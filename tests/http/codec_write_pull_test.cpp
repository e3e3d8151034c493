// What is printed of pull queues and their messages.

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "http/codec_pull.hpp"

using namespace tidegate;
using namespace tidegate::http;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

constexpr wall_time noon{duration{1'767'268'800'000'001}};

const message_id some_id{job_seq{7}, 8};

message_view some_message() {
  message_view result;
  result.job.id = {queue_id{1}, some_id.seq, some_id.tag};
  result.job.payload = payload{R"({ "a":1e3 })"};
  result.job.attempts = 2;
  result.job.created_at = noon;
  result.job.due = noon + 300s;
  result.job.context = job_context{{{{"x", "y"}}, {}, {}}};
  result.queue_name = "q";
  return result;
}

} // namespace

TEST_CASE("a message that is handed out has its receipt and its own payload") {
  auto view = some_message();
  view.status = message_status::in_flight;
  view.handle = make_receipt(some_id, 2);
  CHECK(encode(view)
        == R"({"message_id":")" + to_string(some_id)
             + R"(","queue":"q","payload":{ "a":1e3 },"status":"in_flight",)"
               R"("delivery_count":2,)"
               R"("published_at":"2026-01-01T12:00:00.000001Z",)"
               R"("receipt_handle":")"
             + to_string(*view.handle)
             + R"(","visible_at":"2026-01-01T12:05:00.000001Z","priority":0,)"
               R"("redrive_count":0,"headers":{"x":"y"},"dead_letter":null})");
}

TEST_CASE("a message that is only shown has no receipt") {
  auto shown = json::parse(encode(some_message()));
  CHECK_FALSE(shown.contains("receipt_handle"));
  CHECK(shown["status"] == "available");
}

TEST_CASE("a dead letter says where it came from") {
  auto view = some_message();
  view.job.source_queue = "q";
  view.job.source_receives = 3;
  view.job.dead_lettered_at = noon;
  CHECK(json::parse(encode(view))["dead_letter"]
        == json{{"source_queue", "q"},
                {"reason", "max_receive_count"},
                {"delivery_count", 3},
                {"dead_lettered_at", "2026-01-01T12:00:00.000001Z"}});
}

TEST_CASE("nothing received is an empty list") {
  CHECK(encode(messages_received{}) == R"({"items":[],"next_cursor":null})");
}

TEST_CASE("a page ends where it would be too long, with a cursor") {
  std::vector<message_view> items(5, some_message());
  for (std::size_t i = 0; i < items.size(); ++i)
    items[i].job.id.seq.value = i;
  auto cursor = [](const message_view& x) {
    return "after " + std::to_string(x.job.id.seq.value);
  };
  auto whole = json::parse(encode_messages(items, 1 << 20, "last", cursor));
  CHECK(whole["items"].size() == 5);
  CHECK(whole["next_cursor"] == "last");
  auto cut = json::parse(encode_messages(items, 1500, {}, cursor));
  CHECK(cut["items"].size() == 2);
  CHECK(cut["next_cursor"] == "after 1");
  CHECK(json::parse(encode_messages(items, 1, {}, cursor))["items"].size()
        == 1);
}

TEST_CASE("a queue shows what was set") {
  pull_queue_view view;
  view.queue.name = "q";
  view.available = 2;
  view.delayed = 3;
  auto shown = json::parse(encode(view));
  CHECK(shown["dead_letter_queue"] == "q.dlq");
  CHECK(shown["max_receive_count"] == 3);
  CHECK(shown["message_retention_days"] == 4);
  CHECK(shown["visibility_timeout_default"] == 300);
  CHECK(shown["depth"] == 5);
  view.queue.pull = dead_letter_settings();
  CHECK(json::parse(encode(view))["dead_letter_queue"].is_null());
}

TEST_CASE("the figures of a queue are told by name") {
  pull_queue_view view;
  view.queue.name = "q";
  view.queue.totals = {1, 2, 3, 4, 5, 6, 7, 8};
  view.available = 9;
  view.delayed = 10;
  view.in_flight = 11;
  view.dead_letters = 12;
  view.oldest_age = 1500ms;
  CHECK(json::parse(encode_stats(view))
        == json{{"queue", "q"},
                {"depth", 19},
                {"available", 9},
                {"delayed", 10},
                {"in_flight", 11},
                {"dlq_count", 12},
                {"oldest_age_seconds", 1.5},
                {"published_total", 1},
                {"received_total", 2},
                {"acked_total", 3},
                {"nacked_total", 4},
                {"expired_total", 5},
                {"dead_lettered_total", 6},
                {"redriven_total", 7},
                {"retired_total", 8},
                {"max_receive_count", 3},
                {"visibility_timeout", 300}});
}

TEST_CASE("what was published before is a duplicate") {
  message_published result{some_id, noon, noon, false};
  auto shown = json::parse(encode(result, "q"));
  CHECK(shown["message_id"] == to_string(some_id));
  CHECK(shown["queue"] == "q");
  CHECK_FALSE(shown.contains("duplicate"));
  result.duplicate = true;
  CHECK(json::parse(encode(result, "q"))["duplicate"] == true);
}

TEST_CASE("an ack tells of what it published, the others of a time") {
  message_settled result{some_id, false, noon, {}};
  result.successor = message_published{some_id, noon, noon, false};
  result.successor_queue = "r";
  auto ack = json::parse(encode(result, settle_message::kind::ack));
  CHECK_FALSE(ack.contains("visible_at"));
  CHECK(ack["published"]["queue"] == "r");
  result.successor.reset();
  result.duplicate = true;
  CHECK(json::parse(encode(result, settle_message::kind::extend))
        == json{{"message_id", to_string(some_id)},
                {"visible_at", "2026-01-01T12:00:00.000001Z"},
                {"duplicate", true}});
}

TEST_CASE("results stand in the order of what was sent") {
  messages_settled results;
  results.results = {message_settled{some_id, false, {}, {}, {}},
                     error{errc::message_not_in_flight, "No."}};
  settle_messages asked{{{}, {}}};
  auto shown =
    json::parse(encode(results, asked, {"", R"({"ok":false})", ""}))["results"];
  REQUIRE(shown.size() == 3);
  CHECK(shown[0] == json{{"ok", true}, {"message_id", to_string(some_id)}});
  CHECK(shown[1] == json{{"ok", false}});
  CHECK(shown[2]["error"]["code"] == "QUEUE_MESSAGE_NOT_IN_FLIGHT");
  CHECK(shown[2]["error"]["message"] == "No.");
}

TEST_CASE("a redrive tells how many, a dry run which") {
  redrive_result result{3, {some_message()}, {}};
  CHECK(encode(result, false) == R"({"redriven":3})");
  auto shown = json::parse(encode(result, true));
  CHECK(shown["count"] == 3);
  CHECK(shown["sample"][0]["message_id"] == to_string(some_id));
  result.operation = operation_record{};
  result.operation->id = operation_id{7};
  CHECK(encode(result, false) == R"({"operation_id":"op_7"})");
}
