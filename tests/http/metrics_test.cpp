// Metrics as text, read by a strict parser of the format.

#include "http/metrics.hpp"

#include <map>
#include <regex>
#include <set>
#include <sstream>

#include <catch2/catch.hpp>

using namespace tidegate;
using namespace tidegate::http;
using namespace std::chrono_literals;

namespace {

/// Values by series, as they are written. Fails where a line is not of the text
/// format, a series comes twice, or a family is not in one piece with its help
/// and type before it.
std::map<std::string, double> parse(const std::string& text) {
  static const std::regex series{
    R"re(([a-zA-Z_:][a-zA-Z0-9_:]*))re"
    R"re((\{[a-z_]+="[^"\\]*"(,[a-z_]+="[^"\\]*")*\})? (\S+))re"};
  REQUIRE(text.ends_with("\n"));
  std::map<std::string, double> result;
  std::set<std::string> helped;
  std::string family;
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    std::istringstream words{line};
    std::string hash, what, name;
    words >> hash >> what >> name;
    if (hash == "#" && what == "HELP") {
      REQUIRE(helped.insert(name).second);
      continue;
    }
    if (hash == "#") {
      REQUIRE(what == "TYPE");
      REQUIRE(helped.contains(name));
      family = name;
      continue;
    }
    std::smatch parts;
    REQUIRE(std::regex_match(line, parts, series));
    REQUIRE(parts[1].str().starts_with(family));
    auto value = std::stod(parts[4]);
    REQUIRE(result.emplace(parts[1].str() + parts[2].str(), value).second);
  }
  return result;
}

queue_metrics some_queue(std::string name, queue_kind kind = queue_kind::push) {
  queue_metrics result;
  result.project = "acme";
  result.name = std::move(name);
  result.kind = kind;
  result.gates[static_cast<std::size_t>(gate_state::open)] = 1;
  return result;
}

const std::string labels = R"({project="acme",queue="mail",kind="push")";

} // namespace

TEST_CASE("a queue's figures stand under its project and name") {
  service_metrics all;
  auto queue = some_queue("mail");
  queue.counts.pending = 5;
  queue.oldest_age = 90s;
  queue.counters.held = 1500ms;
  queue.counters.deliveries.count(delivery_result::deferred, 429, 3ms);
  queue.counters.deliveries.count(delivery_result::failed, {}, 3s);
  queue.counters.deliveries.count(probe_verdict::no_verdict);
  queue.counters.dead[static_cast<std::size_t>(dead_reason::ack_timeout)] = 2;
  all.queues.push_back(queue);
  auto got = parse(print_metrics(all, std::nullopt));
  CHECK(got.at("tidegate_queue_jobs" + labels + R"(,state="pending"})") == 5);
  CHECK(got.at("tidegate_queue_oldest_age_seconds" + labels + "}") == 90);
  CHECK(got.at("tidegate_queue_held_seconds_total" + labels + "}") == 1.5);
  CHECK(got.at("tidegate_queue_gate_state" + labels + R"(,state="open"})")
        == 1);
  CHECK(got.at("tidegate_queue_gate_state" + labels + R"(,state="held"})")
        == 0);
  auto deliveries = "tidegate_queue_deliveries_total" + labels;
  CHECK(got.at(deliveries + R"(,outcome="deferred",status_class="4xx"})") == 1);
  CHECK(got.at(deliveries + R"(,outcome="failed",status_class="none"})") == 1);
  CHECK(got.at(deliveries + R"(,outcome="success",status_class="2xx"})") == 0);
  CHECK(
    got.at("tidegate_queue_probes_total" + labels + R"(,verdict="no_verdict"})")
    == 1);
  CHECK(
    got.at("tidegate_queue_dead_total" + labels + R"(,reason="ack_timeout"})")
    == 2);
  for (auto reason : {"attempts_exhausted", "lifetime_exceeded"})
    CHECK(got.at("tidegate_queue_dead_total" + labels + R"(,reason=")" + reason
                 + R"("})")
          == 0);
}

TEST_CASE("histograms are cumulative and end with all") {
  service_metrics all;
  auto queue = some_queue("mail");
  for (auto took : {400us, 500us, 501us, 2'000'000us})
    queue.counters.deliveries.count(delivery_result::success, 200, took);
  all.queues = {queue, some_queue("other")};
  auto got = parse(print_metrics(all, std::nullopt));
  std::string name = "tidegate_delivery_duration_seconds";
  CHECK(got.at(name + R"(_bucket{le="0.0005"})") == 2);
  CHECK(got.at(name + R"(_bucket{le="0.001"})") == 3);
  CHECK(got.at(name + R"(_bucket{le="2.5"})") == 4);
  CHECK(got.at(name + R"(_bucket{le="+Inf"})") == 4);
  CHECK(got.at(name + "_count") == 4);
  CHECK(got.at(name + "_sum") == Approx(2.001401));
}

TEST_CASE("queues beyond the bound stand together as other") {
  service_metrics all;
  all.queues.push_back(some_queue("mail"));
  all.other_push = some_queue({});
  all.other_push->project.clear();
  all.other_push->gates[static_cast<std::size_t>(gate_state::open)] = 7;
  auto got = parse(print_metrics(all, std::nullopt));
  CHECK(got.at("tidegate_queue_gate_state{project=\"\",queue=\"other\","
               "kind=\"push\",state=\"open\"}")
        == 7);
}

TEST_CASE("pull queues tell of their messages") {
  service_metrics all;
  auto queue = some_queue("out", queue_kind::pull);
  queue.counts.processing = 3;
  queue.counts.scheduled = 4;
  queue.totals.dead_lettered = 5;
  queue.totals.received = 6;
  queue.totals.acked = 7;
  all.queues.push_back(queue);
  auto got = parse(print_metrics(all, std::nullopt));
  std::string own = R"({project="acme",queue="out",kind="pull")";
  CHECK(got.at("tidegate_queue_jobs" + own + R"(,state="processing"})") == 3);
  CHECK(got.at("tidegate_queue_jobs" + own + R"(,state="delayed"})") == 4);
  CHECK(got.at("tidegate_queue_dead_total" + own
               + R"(,reason="max_receive_count"})")
        == 5);
  CHECK(got.at("tidegate_queue_received_total" + own + "}") == 6);
  CHECK(got.at("tidegate_queue_completed_total" + own + "}") == 7);
}

TEST_CASE("the server's figures are for those who may see them") {
  service_metrics all;
  all.commits.batches[1] = 2;
  all.commits.records = 5;
  all.actors = 9;
  server_figures server;
  server.process = read_process_figures();
  server.wal_bytes = 4096;
  auto got = parse(print_metrics(all, server));
  CHECK(got.at("tidegate_commit_records_count") == 2);
  CHECK(got.at("tidegate_commit_records_sum") == 5);
  CHECK(got.at("tidegate_commit_records_bucket{le=\"4\"}") == 2);
  CHECK(got.at("tidegate_wal_bytes") == 4096);
  CHECK(got.at("tidegate_actors") == 9);
  CHECK(got.at("process_resident_memory_bytes") > 1e6);
  CHECK(got.at("process_open_fds") >= 3);
  CHECK(got.at("process_threads") >= 1);
  CHECK(got.at("process_start_time_seconds") > 1e9);
  CHECK(got.at("process_start_time_seconds")
        <= static_cast<double>(std::time(nullptr)) + 1);
  for (const auto& [series, value] : parse(print_metrics(all, std::nullopt)))
    CHECK((series.starts_with("tidegate_delivery_")
           || series.starts_with("tidegate_publish_")));
}
