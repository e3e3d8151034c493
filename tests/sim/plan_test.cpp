// Plans are read strictly, and what is wrong is named.

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <string>

#include "tests/sim/arrivals.hpp"
#include "tests/sim/plan.hpp"

using namespace std::chrono_literals;
using namespace tidegate;
using namespace tidegate::sim;

namespace {

constexpr char sound[] = R"({
  "name": "p", "duration": 10, "drain": 20,
  "arrivals": [{"type": "steady", "rate": 2}],
  "downstream": {"latency": 0.1},
  "variants": [{"name": "v"}]
})";

/// Returns a sound plan in which `part` has become `other`.
std::string with(const std::string& part, const std::string& other) {
  std::string result = sound;
  auto at = result.find(part);
  REQUIRE(at != std::string::npos);
  return result.replace(at, part.size(), other);
}

plan read(const std::string& text) {
  auto result = parse_plan(text, ".");
  if (auto wrong = std::get_if<http::complaints>(&result))
    for (auto& each : wrong->fields)
      FAIL(each.field << " " << each.message);
  return std::get<plan>(result);
}

/// Returns all complaints about a plan, a line each.
std::string complaints_about(const std::string& text) {
  auto result = parse_plan(text, ".");
  auto wrong = std::get_if<http::complaints>(&result);
  REQUIRE(wrong != nullptr);
  std::string lines;
  for (auto& each : wrong->form)
    lines += each + "\n";
  for (auto& each : wrong->fields)
    lines += each.field + " " + each.message + "\n";
  return lines;
}

std::string with_arrivals(const std::string& stream) {
  return with(R"({"type": "steady", "rate": 2})", stream);
}

std::string with_downstream(const std::string& downstream) {
  return with(R"({"latency": 0.1})", downstream);
}

std::vector<duration> instants_of(const plan& p, std::uint64_t seed = 1) {
  std::vector<duration> result;
  arrivals all{p, seed};
  while (auto next = all.next())
    result.push_back(next->at);
  return result;
}

} // namespace

TEST_CASE("a plan says what is simulated") {
  auto p = read(sound);
  CHECK(p.name == "p");
  CHECK(p.length == 10s);
  CHECK(p.drain == 20s);
  CHECK(p.streams.at(0).rate == 2);
  CHECK(p.streams.at(0).to == 10s);
  CHECK(p.downstream.latency.a == 100ms);
  CHECK(p.downstream.refusal_latency.a == 20ms);
  CHECK(p.variants.at(0).name == "v");
  CHECK(!p.variants.at(0).naive);
  CHECK(p.variants.at(0).settings.max_attempts == 3);
}

TEST_CASE(
  "a variant has the plan's queue settings, and its own go before them") {
  auto p = read(with(R"("variants": [{"name": "v"}])",
                     R"("queue": {"concurrency": 5, "maxAttempts": 9},
                        "variants": [
                          {"name": "a"},
                          {"name": "b", "naive": true,
                           "queue": {"concurrency": 7}}])"));
  CHECK(p.variants.at(0).settings.concurrency == 5);
  CHECK(p.variants.at(1).settings.concurrency == 7);
  CHECK(p.variants.at(1).settings.max_attempts == 9);
  CHECK(p.variants.at(1).naive);
}

TEST_CASE("a plan that is no JSON is refused with the line") {
  CHECK(complaints_about("{\n\"name\": oops}")
        == "The plan is not valid JSON: expected a value at byte 10, in line "
           "2\n");
  CHECK(complaints_about("[]").starts_with(
    "the plan must be an object, got an array\n"));
}

TEST_CASE("what is missing, unknown or given twice is named") {
  CHECK(complaints_about("{}")
        == "name is required\nduration is required\narrivals is required\n"
           "variants is required\ndownstream is required\n");
  CHECK(complaints_about(with(R"("drain")", R"("drian")"))
        == "drian is not a known field\n");
  CHECK(complaints_about(with(R"("drain": 20)", R"("drain": 20, "drain": 1)"))
        == "drain is given more than once\n");
  CHECK(complaints_about(with_arrivals(R"({"type": "steady", "rat": 2})"))
        == "arrivals[0].rat is not a known field\n"
           "arrivals[0].rate is required\n");
}

TEST_CASE("a value out of its range is named with its path and the range") {
  CHECK(complaints_about(with("10,", "0,"))
        == "duration must be 0.001 to 2678400, got 0\n");
  CHECK(complaints_about(with_arrivals(R"({"type": "steady", "rate": "2"})"))
        == "arrivals[0].rate must be a number, got a string\n");
  CHECK(complaints_about(with_arrivals(R"({"type": "often", "rate": 2})"))
        == "arrivals[0].type must be steady, poisson, burst or trace, got "
           "'often'\n");
  CHECK(complaints_about(
          with_arrivals(R"({"type": "steady", "rate": 2, "from": 3, "to": 2})"))
        == "arrivals[0].to must be 3 to 10, got 2\n");
  CHECK(
    complaints_about(with_downstream(R"({"limit": {"max": 0, "window": 60}})"))
    == "downstream.limit.max must be 1 to 1000000, got 0\n");
  CHECK(
    complaints_about(with_downstream(
      R"({"outages": [{"from": 5, "length": 3}, {"from": 7, "length": 1}]})"))
    == "downstream.outages[1].from must be 8 to 2678400, got 7\n");
  CHECK(complaints_about(with_downstream(
          R"({"latency": {"type": "uniform", "min": 2, "max": 1}})"))
        == "downstream.latency.max must be 2 to 3600, got 1\n");
  CHECK(complaints_about(with_downstream(
          R"({"outages": [{"from": 1, "length": 1, "retryAfter": "soon"}]})"))
        == "downstream.outages[0].retryAfter must be 'exact', 'none' or a "
           "number of seconds, got \"soon\"\n");
}

TEST_CASE("a field that says nothing about its type is refused") {
  CHECK(complaints_about(
          with_arrivals(R"({"type": "burst", "jobs": 3, "rate": 2})"))
        == "arrivals[0].rate is not for type 'burst'\n");
  CHECK(complaints_about(with_downstream(
          R"({"latency": {"type": "fixed", "value": 1, "p99": 2}})"))
        == "downstream.latency.p99 is not for type 'fixed'\n");
}

TEST_CASE("queue settings are those of the API, with its errors") {
  auto queue = [](const std::string& settings) {
    return complaints_about(
      with(R"({"name": "v"})", R"({"name": "v", "queue": )" + settings + "}"));
  };
  CHECK(queue(R"({"concurrency": 0})")
          .starts_with("variants[0].queue.concurrency must be 1 to 10000, "
                       "got 0"));
  CHECK(queue(R"({"speed": 1})")
        == "variants[0].queue.speed is not a known field\n");
  CHECK(queue(R"({"mode": "ack"})")
        == "variants[0].queue.mode must be standard: there is no worker in a "
           "plan\n");
  CHECK(queue(R"({"webhookUrl": "http://a.test/"})")
        == "variants[0].queue.webhookUrl is not for plans: nothing is "
           "called\n");
}

TEST_CASE("a plan with too many jobs is refused") {
  CHECK(complaints_about(with_arrivals(R"({"type": "steady", "rate": 100000},
          {"type": "burst", "name": "b", "jobs": 1000000, "times": 5})"))
        == "arrivals must be at most 5000000 jobs, got 6000000\n");
}

TEST_CASE("a name cannot steer a terminal or break an SVG") {
  for (auto bad : {R"(\u001b[31m)", R"(\u0000)", R"(a\nb)", R"(\u202e)",
                   R"(\ufffe)", R"(\uffff)"}) {
    auto name = '"' + std::string{bad} + '"';
    CHECK(complaints_about(with(R"("name": "p")", R"("name": )" + name))
          == "name must have no characters that only control, got " + name
               + "\n");
  }
  CHECK(read(with(R"("name": "p")", R"("name": "<p> & \u00e9")")).name
        == "<p> & \u00e9");
}

TEST_CASE("streams and variants have names of their own") {
  CHECK(complaints_about(with_arrivals(R"({"type": "steady", "rate": 1},
          {"type": "poisson", "rate": 1})"))
        == "arrivals[1].name must be another one than that of arrivals[0], "
           "got 'jobs'\n");
  CHECK(complaints_about(with(R"({"name": "v"})",
                              R"({"name": "v"}, {"name": "v"})"))
        == "variants[1].name must be another one than those before, got "
           "'v'\n");
}

TEST_CASE("steady jobs are evenly spaced and do not drift") {
  auto all = instants_of(read(with_arrivals(R"({"type": "steady",
    "rate": 3, "from": 1, "to": 9})")));
  REQUIRE(all.size() == 24);
  CHECK(all.front() == 1s);
  CHECK(all[3] == 2s);
  CHECK(all.back() == duration{8'666'667});
}

TEST_CASE("jobs that come by lot come at their rate, from the seed") {
  auto p = read(with_arrivals(R"({"type": "poisson", "rate": 1000})"));
  auto all = instants_of(p);
  // 10,000 on average, with a deviation of 100.
  CHECK(all.size() > 9'500);
  CHECK(all.size() < 10'500);
  CHECK(std::is_sorted(all.begin(), all.end()));
  CHECK(instants_of(p) == all);
  CHECK(instants_of(p, 2) != all);
}

TEST_CASE("bursts repeat") {
  auto all = instants_of(read(with_arrivals(R"({"type": "burst", "jobs": 2,
    "at": 1, "every": 4, "times": 2})")));
  CHECK(all == std::vector<duration>{1s, 1s, 5s, 5s});
}

TEST_CASE("streams are merged in time, and their keys are drawn by lot") {
  auto p = read(with_arrivals(R"(
    {"type": "steady", "name": "a", "rate": 1, "keys": 3},
    {"type": "burst", "name": "b", "jobs": 1, "at": 2.5, "keys": 1},
    {"type": "burst", "name": "c", "jobs": 1, "at": 3.5})"));
  arrivals all{p, 1};
  duration before{0};
  std::map<std::string, int> keys;
  while (auto next = all.next()) {
    CHECK(next->at >= before);
    before = next->at;
    ++keys[limit_key_of(p, *next)];
    CHECK(from_payload(to_payload(*next)).stream == next->stream);
    CHECK(from_payload(to_payload(*next)).key == next->key);
  }
  CHECK(keys[""] == 1);
  CHECK(keys["b"] == 1);
  CHECK(keys["a-1"] + keys["a-2"] + keys["a-3"] == 10);
}

TEST_CASE("a trace is read from a file, and a line out of order is named") {
  auto folder = std::filesystem::temp_directory_path()
                / ("tidegate-trace-" + std::to_string(std::random_device{}()));
  std::filesystem::create_directory(folder);
  auto with_trace = [&](const char* content) {
    std::ofstream{folder / "t.txt"} << content;
    return parse_plan(with_arrivals(R"({"type": "trace", "file": "t.txt"})"),
                      folder);
  };
  auto fine = with_trace("# two jobs\n0.5\n\n2\n");
  CHECK(instants_of(std::get<plan>(fine)) == std::vector<duration>{500ms, 2s});
  auto bad = with_trace("3\n2\n");
  CHECK(std::get<http::complaints>(bad).fields.at(0).message.starts_with(
    "line 2 must be"));
  std::filesystem::remove_all(folder);
  auto absent =
    parse_plan(with_arrivals(R"({"type": "trace", "file": "t.txt"})"), folder);
  CHECK(std::get<http::complaints>(absent).fields.at(0).field
        == "arrivals[0].file");
}
