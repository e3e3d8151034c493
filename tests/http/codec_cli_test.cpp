// What the command line makes of the API's answers.

#include "http/codec_cli.hpp"

#include <catch2/catch.hpp>

using namespace tidegate;
using namespace tidegate::http;

namespace {

constexpr wall_time now{duration{1'735'689'600'000'000}}; // 2025-01-01

std::string list(cli_list what, std::string_view body) {
  auto table = table_of(what);
  auto page = add_page(what, body, now, table);
  REQUIRE(page);
  CHECK(page->items == table.rows());
  return table.print();
}

} // namespace

TEST_CASE("queues are listed with what they are doing") {
  auto body = R"({"items":[
    {"name":"a","paused":false,"gate":{"state":"open","releaseAt":null},
     "counts":{"pending":3,"processing":1,"awaitingAck":0,"dead":2,
               "completed":1234},"oldestAgeSeconds":185.25},
    {"name":"b","paused":false,
     "gate":{"state":"held","releaseAt":"2025-01-01T00:00:28.000Z"},
     "counts":{"pending":0,"processing":0,"awaitingAck":0,"dead":0,
               "completed":0},"oldestAgeSeconds":null},
    {"name":"c","paused":true,"gate":{"state":"probing"},"counts":{}}],
    "nextCursor":null})";
  CHECK(list(cli_list::queues, body)
        == "NAME  STATE        PENDING  PROCESSING  AWAITING ACK  DEAD  "
           "COMPLETED  OLDEST\n"
           "a     open               3           1             0     2       "
           "1234  3 min 5 s\n"
           "b     held (28 s)        0           0             0     0       "
           "   0  -\n"
           "c     paused             -           -             -     -       "
           "   -  -\n");
}

TEST_CASE("jobs are listed with what they wait for") {
  auto body = R"({"items":[
    {"id":"job_1","status":"pending","attempts":0,"deferCount":2,
     "createdAt":"2024-12-31T23:59:00.000Z","limitKey":null,
     "blockedBy":[{"gate":"hold","until":"2025-01-01T00:00:28.000Z"},
                  {"gate":"rate"}]},
    {"id":"job_2","status":"dead","attempts":3,"deferCount":0,
     "createdAt":"2024-12-31T00:00:00.000Z",
     "limitKey":"a-key-that-is-rather-long-for-a-table",
     "blockedBy":[],"deadReason":"attempts_exhausted"}],
    "nextCursor":"abc"})";
  CHECK(
    list(cli_list::jobs, body)
    == "ID     STATUS   ATTEMPTS  DEFERS  AGE    LIMIT KEY                 "
       "WAITS FOR\n"
       "job_1  pending         0       2  1 min  -                         "
       "hold (28 s) +1\n"
       "job_2  dead            3       0  1 d    a-key-that-is-rather-...  "
       "attempts_exhausted\n");
}

TEST_CASE("a page says where the list goes on") {
  auto table = table_of(cli_list::operations);
  CHECK(add_page(cli_list::operations, R"({"items":[],"nextCursor":"abc"})",
                 now, table)
          ->next_cursor
        == "abc");
  CHECK(add_page(cli_list::operations, R"({"items":[],"nextCursor":null})", now,
                 table)
          ->next_cursor.empty());
}

TEST_CASE("a queue is shown with members that nobody has heard of") {
  auto shown = show_queue(
    R"({"name":"q","paused":false,"newSetting":{"a":1},"rateLimitMax":null,
        "gate":{"state":"held","releaseAt":"2025-01-01T00:01:00.000Z",
                "lastProbe":{"job":"job_1","verdict":"failed",
                             "at":"2024-12-31T23:59:58.000Z"}},
        "blockedBy":[{"gate":"hold","until":"2025-01-01T00:01:00.000Z",
                      "reason":"the downstream answered 429"}],
        "counts":{"dead":0,"pending":3},"headers":{"x":"y"},
        "createdAt":"2024-12-31T23:00:00.000Z"})",
    now);
  REQUIRE(shown);
  CHECK(*shown
        == "name        q\n"
           "gate        held (1 min)\n"
           "blockedBy   hold until 2025-01-01 00:01:00 (in 1 min): the "
           "downstream answered 429\n"
           "lastProbe   failed, job job_1, 2024-12-31 23:59:58 (2 s ago)\n"
           "counts      dead 0, pending 3\n"
           "createdAt   2024-12-31 23:00:00 (1 h ago)\n"
           "newSetting  {\"a\":1}\n"
           "paused      false\n"
           "header      x: y\n");
}

TEST_CASE("a job is shown with its payload as it was published") {
  auto shown = show_job(
    R"({"id":"job_1","queue":"q","status":"dead","attempts":1,
        "payload":{"n": 12345678901234567890123, "n": 1.0,
                   "t":"\u001b"},
        "blockedBy":[],"history":[{"attempt":1,"delivery":1,
        "status":"failed","error":"the \u001b[2J webhook","errorCode":null,
        "webhookStatusCode":500,"durationMs":12.5,
        "timestamp":"2024-12-31T23:59:59.000Z"}]})",
    now);
  REQUIRE(shown);
  CHECK(*shown
        == "id        job_1\n"
           "queue     q\n"
           "status    dead\n"
           "attempts  1\n"
           "\nhistory\n"
           "WHEN                           DELIVERY  ATTEMPT  WHAT    STATUS  "
           "TOOK   ERROR\n"
           "2024-12-31 23:59:59 (1 s ago)         1        1  failed     500  "
           "12 ms  the ?[2J webhook\n"
           "\npayload\n"
           R"({"n": 12345678901234567890123, "n": 1.0,)"
           "                    "
           R"("t":"\u001b"})"
           "\n");
}

TEST_CASE("a dry run says how many, and shows some") {
  CHECK(*show_dry_run(R"({"count":0,"sample":[]})", now)
        == "0 would be replayed\n");
  auto shown = show_dry_run(
    R"({"count":7,"sample":[{"id":"job_1","deadReason":"lifetime_exceeded",
        "attempts":1,"deferCount":0,"replayCount":0,"limitKey":null,
        "deadAt":"2024-12-31T23:59:59.000Z"}]})",
    now);
  REQUIRE(shown);
  CHECK(shown->starts_with("7 would be replayed\nthe first 1 of them:\nID "));
  CHECK(shown->find("job_1  lifetime_exceeded") != std::string::npos);
}

TEST_CASE("what is no answer of Tidegate is told apart") {
  auto body = GENERATE("", "<html>", "[]", "{}", "null", R"({"items":5})",
                       R"({"id":5})");
  auto table = table_of(cli_list::jobs);
  CHECK_FALSE(add_page(cli_list::jobs, body, now, table));
  CHECK_FALSE(read_count(body));
  CHECK_FALSE(read_operation(body));
  CHECK_FALSE(read_queue_of(body));
  CHECK_FALSE(show_dry_run(body, now));
  CHECK_FALSE(explain_job(body, body, now));
}

TEST_CASE("small answers are read") {
  auto published = read_published(
    R"({"id":"job_1","status":"pending","duplicate":true,
        "payloadMismatch":true})");
  REQUIRE(published);
  CHECK(published->id == "job_1");
  CHECK(published->duplicate);
  CHECK(published->payload_mismatch);
  CHECK_FALSE(read_published(R"({"id":"job_1"})")->duplicate);
  auto operation = read_operation(
    R"({"id":"op_1","state":"failed","done":3,"total":9,"error":"no"})");
  REQUIRE(operation);
  CHECK(operation->done == 3);
  CHECK(operation->total == 9);
  CHECK(operation->error == "no");
  CHECK(*read_count(R"({"count":12})") == 12);
  CHECK(*read_queue_of(R"({"queue":"q"})") == "q");
}

TEST_CASE("a refusal is one sentence, whatever its shape") {
  CHECK(refusal_of(404, R"({"error":"Queue 'x' not found","code":"c"})")
        == "Queue 'x' not found");
  CHECK(refusal_of(400, R"({"error":{"formErrors":["no"],"fieldErrors":
                          {"delay":["must be 0 to 9, got 10"],
                           "priority":["is too high"]}},"code":"c"})")
        == "no; delay must be 0 to 9, got 10; priority is too high");
  CHECK(refusal_of(404, R"({"ok":false,"error":{"code":"C",
                          "message":"Queue 'x' not found","details":{}}})")
        == "Queue 'x' not found");
  CHECK(refusal_of(502, "<html>Bad gateway</html>")
        == "the server answered 502");
  CHECK(refusal_of(502, "") == "the server answered 502");
  CHECK(refusal_of(400, R"({"error":"two\nlines \u001b[0m"})")
        == "two?lines ?[0m");
}

TEST_CASE("a refusal has one code, whichever family it comes from") {
  CHECK(code_of_refusal(R"({"error":"no","code":"wrong_queue_kind"})")
        == "wrong_queue_kind");
  CHECK(code_of_refusal(R"({"ok":false,"error":{"code":"WRONG_QUEUE_KIND",
                          "message":"no","details":{}}})")
        == "wrong_queue_kind");
  CHECK(code_of_refusal("<html>") == "");
  CHECK(code_of_refusal(R"({"error":"no"})") == "");
  CHECK(code_of_refusal("[]") == "");
}

TEST_CASE("what may be secret is hidden, and all else stays as it was") {
  CHECK(without_secrets(
          R"({"name":"q","webhookUrl":"https://me:pw@a.example/p?key=1#f",
              "n":1.0e+2, "headers":{"authorization":"Bearer x", "b":""},
              "payload":{"headers":{"a":"b"},"webhookUrl":"http://u@b/"}})")
        == R"({"name":"q","webhookUrl":"https://***@a.example/p?***",)"
           R"("n":1.0e+2,"headers":{"authorization":"***","b":"***"},)"
           R"("payload":{"headers":{"a":"b"},"webhookUrl":"http://u@b/"}})");
  CHECK(without_secrets(R"({"webhookUrl":null,"headers":null})")
        == R"({"webhookUrl":null,"headers":null})");
  CHECK(without_secrets("{}") == "{}");
  CHECK(without_secrets("<html>") == "<html>");
}

TEST_CASE("an event is one line with what came with it") {
  CHECK(*show_event(R"({"id":"1-2","time":"2025-01-01T00:00:00.000Z",
                      "project":"default","queue":"q","type":"queue.held",
                      "data":{"limitKey":null,"reason":"busy\u001b[0m",
                              "releaseAt":"2025-01-01T00:00:28.000Z",
                              "webhookStatusCode":429}})")
        == "2025-01-01 00:00:00  queue.held  q  reason=busy?[0m  "
           "releaseAt=2025-01-01 00:00:28  webhookStatusCode=429");
  CHECK_FALSE(show_event("{}"));
  CHECK_FALSE(show_event("x"));
}

TEST_CASE("pull queues are listed out of their envelope") {
  auto body = R"({"ok":true,"data":{"items":[
    {"name":"work","type":"fifo","available":3,"delayed":1,"in_flight":2,
     "dlq_count":4,"created_at":"2024-12-31T23:59:00.000000Z"}],
    "next_cursor":"abc"},"metadata":{"request_id":"x","latency_ms":0.1}})";
  CHECK(list(cli_list::pull_queues, body)
        == "NAME  TYPE  AVAILABLE  DELAYED  IN FLIGHT  DEAD  AGE\n"
           "work  fifo          3        1          2     4  1 min\n");
  auto table = table_of(cli_list::pull_queues);
  CHECK(add_page(cli_list::pull_queues, body, now, table)->next_cursor
        == "abc");
}

TEST_CASE("messages are listed with their payloads as they stand") {
  auto body = R"({"ok":true,"data":{"items":[
    {"message_id":"qmsg_1","status":"available","delivery_count":2,
     "priority":7,"published_at":"2024-12-31T23:59:58.000000Z",
     "payload":{"n": 123456789012345678901234567890}}],
    "next_cursor":null}})";
  CHECK(list(cli_list::messages, body)
        == "ID      STATUS     DELIVERIES  PRIORITY  AGE  PAYLOAD\n"
           "qmsg_1  available           2         7  2 s  "
           "{\"n\": 123456789012345678901234567890}\n");
}

TEST_CASE("dead messages are listed with what they died of") {
  auto body = R"({"ok":true,"data":{"items":[
    {"message_id":"qmsg_1","redrive_count":1,"payload":1,
     "dead_letter":{"source_queue":"work","reason":"max_receive_count",
       "delivery_count":3,"dead_lettered_at":"2024-12-31T23:00:00.000000Z"}},
    {"message_id":"qmsg_2","redrive_count":0,"payload":"by hand",
     "dead_letter":null}],"next_cursor":null}})";
  auto text = list(cli_list::dead_messages, body);
  CHECK(text.find("qmsg_1  max_receive_count") != std::string::npos);
  CHECK(text.find("1 h") != std::string::npos);
  CHECK(text.find("qmsg_2  -") != std::string::npos);
  CHECK(text.find("\"by hand\"\n") != std::string::npos);
}

TEST_CASE("a pull queue is shown with figures and webhook") {
  auto queue = R"({"ok":true,"data":{"name":"work","type":"standard",
    "depth":3,"dead_letter_queue":null}})";
  auto stats = R"({"ok":true,"data":{"queue":"work","depth":3,
    "acked_total":9}})";
  auto plain = show_pull_queue(queue, stats, "", now);
  REQUIRE(plain);
  CHECK(*plain
        == "name         work\ntype         standard\n"
           "depth        3\nacked_total  9\n");
  auto webhook = R"({"ok":true,"data":{"state":"held","in_flight":2,
    "release_at":"2025-01-01T00:00:28.000000Z","url":"http://a.example/"}})";
  auto pushed = show_pull_queue(queue, stats, webhook, now);
  REQUIRE(pushed);
  CHECK(pushed->find("held until 2025-01-01 00:00:28 (in 28 s), 2 in flight, "
                     "to http://a.example/")
        != std::string::npos);
  CHECK_FALSE(show_pull_queue("[]", stats, "", now));
  CHECK_FALSE(show_pull_queue("{}", stats, "", now));
}

TEST_CASE("a dry run of a redrive says how many and shows some") {
  auto body = R"({"ok":true,"data":{"count":2,"sample":[
    {"message_id":"qmsg_1","redrive_count":0,"payload":1,
     "dead_letter":null}]}})";
  auto text = show_dry_redrive(body, now);
  REQUIRE(text);
  CHECK(text->starts_with("2 would be redriven\nthe first 1 of them:\nID "));
  CHECK(text->find("\nqmsg_1 ") != std::string::npos);
  CHECK(*show_dry_redrive(R"({"data":{"count":0,"sample":[]}})", now)
        == "0 would be redriven\n");
  CHECK_FALSE(show_dry_redrive(R"({"data":{"redriven":1}})", now));
}

TEST_CASE("answers of pull queues are read out of their envelope") {
  auto count = read_count(R"({"ok":true,"data":{"redriven":3}})", "redriven");
  REQUIRE(count);
  CHECK(*count == 3);
  CHECK_FALSE(read_count(R"({"ok":true,"data":{"redriven":3}})"));
  CHECK(read_operation_id(R"({"ok":true,"data":{"operation_id":"op_1"}})")
        == "op_1");
  CHECK(read_operation_id(R"({"ok":true,"data":{"redriven":3}})").empty());
  auto published = read_published(
    R"({"ok":true,"data":{"message_id":"qmsg_1","duplicate":true}})");
  REQUIRE(published);
  CHECK(published->id == "qmsg_1");
  CHECK(published->duplicate);
}
