// The publisher of a benchmark: puts jobs into a queue over HTTP, as fast as
// the answers come (closed loop) or at a fixed rate (open loop), and prints one
// line of JSON about how that went.

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "tests/bench/json_line.hpp"
#include "tests/bench/latencies.hpp"
#include "tests/bench/message_cutter.hpp"
#include "tests/bench/post_writer.hpp"
#include "tests/bench/sockets.hpp"

namespace {

using namespace tidegate::bench;

struct options {
  std::uint16_t port = 0;
  std::string path;
  std::string key;
  std::string extra;
  std::uint64_t jobs = 10'000;
  std::size_t connections = 64;
  std::size_t size = 300;
  std::size_t spread = 1;
  double rate = 0;

  /// Whether publishes may be refused.
  bool overload = false;
};

/// Writes the requests. All have the same length but for their numbers.
class request_writer {
public:
  explicit request_writer(const options& with)
    : tail_(with.extra.empty() ? "}" : "," + with.extra + "}"),
      size_(with.size) {
    for (std::size_t i = 0; i < with.spread; ++i)
      posts_.emplace_back(with.port, path_of(with.path, i), with.key);
  }

  std::string write(std::uint64_t number, std::uint64_t sent_us) const {
    auto payload = "{\"bench\":" + std::to_string(number)
                   + ",\"sent\":" + std::to_string(sent_us) + ",\"fill\":\"";
    payload.append(size_ - std::min(size_, payload.size() + 2), 'x');
    return posts_[number % posts_.size()].write("{\"payload\":" + payload
                                                + "\"}" + tail_);
  }

private:
  static std::string path_of(std::string path, std::size_t number) {
    if (auto at = path.find("{}"); at != std::string::npos)
      path.replace(at, 2, std::to_string(number));
    return path;
  }

  std::vector<post_writer> posts_;
  std::string tail_;
  std::size_t size_;
};

struct connection {
  descriptor socket;
  message_cutter cutter;

  /// When the publish that is out was due.
  std::uint64_t due_us = 0;
};

class load {
public:
  explicit load(const options& with)
    : with_(with), writer_(with), start_us_(now_us()) {
    connections_.reserve(with.connections);
    for (std::size_t i = 0; i < with.connections; ++i) {
      connections_.push_back({connect_to(with.port), {}});
      events_.watch(connections_.back().socket, &connections_.back());
      idle_.push_back(&connections_.back());
    }
  }

  /// Runs to the end. Returns whether every publish was taken that has to be.
  bool run() {
    if (with_.rate > 0)
      run_at_rate();
    else
      run_closed();
    report();
    return failed_ == 0 || with_.overload;
  }

private:
  void run_closed() {
    start_us_ = now_us();
    while (answered_ < with_.jobs) {
      while (!idle_.empty() && sent_ < with_.jobs)
        send_one(now_us());
      take_answers();
    }
  }

  /// A job that finds all connections busy waits for one, and its latency
  /// counts from when it was due.
  void run_at_rate() {
    auto period_us = 1e6 / with_.rate;
    auto timer = make_timer(
      std::chrono::nanoseconds(static_cast<std::int64_t>(period_us * 1000)));
    events_.watch(timer, nullptr);
    start_us_ = now_us();
    std::uint64_t due = 0;
    while (answered_ < with_.jobs) {
      take_answers();
      due = std::min(due + fired(timer), with_.jobs);
      while (!idle_.empty() && sent_ < due)
        send_one(start_us_
                 + static_cast<std::uint64_t>(double(sent_ + 1) * period_us));
    }
  }

  void send_one(std::uint64_t due_us) {
    auto* peer = idle_.back();
    idle_.pop_back();
    peer->due_us = due_us;
    write_to(peer->socket, writer_.write(sent_, due_us));
    ++sent_;
  }

  void take_answers() {
    for (const auto& event : events_.wait())
      if (auto* peer = static_cast<connection*>(event.data.ptr))
        take_answer(*peer);
  }

  void take_answer(connection& peer) {
    auto closed = false;
    peer.cutter.add(read_from(peer.socket, buffer_, closed));
    if (closed) {
      std::fputs("the server closed a connection\n", stderr);
      std::exit(1);
    }
    auto response = peer.cutter.next();
    if (!response)
      return;
    auto taken = status_of(response->head) / 100 == 2;
    (taken ? took_ : refusing_took_).add(now_us() - peer.due_us);
    ++answered_;
    idle_.push_back(&peer);
    if (!taken && ++failed_ == 1 && !with_.overload)
      std::fprintf(stderr, "first refusal: %.*s\n",
                   static_cast<int>(response->body.size()),
                   response->body.data());
  }

  void report() const {
    auto seconds = double(now_us() - start_us_) / 1e6;
    auto line =
      json_line{}
        .add("jobs", double(answered_))
        .add("failed", double(failed_))
        .add("start_us", double(start_us_))
        .add("seconds", seconds)
        .add("per_second", double(answered_) / seconds)
        .add("p50_us", double(took_.percentile(0.5)))
        .add("p99_us", double(took_.percentile(0.99)))
        .add("max_us", double(took_.percentile(1)))
        .add("taken_per_second", double(answered_ - failed_) / seconds)
        .add("refused_p99_us", double(refusing_took_.percentile(0.99)))
        .str();
    std::puts(line.c_str());
  }

  options with_;
  request_writer writer_;
  std::uint64_t start_us_;
  poller events_;
  std::vector<connection> connections_;
  std::vector<connection*> idle_;
  std::uint64_t sent_ = 0;
  std::uint64_t answered_ = 0;
  std::uint64_t failed_ = 0;
  latencies took_;
  latencies refusing_took_;
  char buffer_[65536];
};

} // namespace

int main(int argc, char** argv) {
  options with;
  CLI::App app{"Publishes jobs and measures the answers"};
  app.add_option("--port", with.port, "the server's")->required();
  app.add_option("--path", with.path, "e.g. /v1/queues/q/jobs")->required();
  app.add_option("--key", with.key, "API key")->required();
  app.add_option("--extra", with.extra, "more fields: '\"delay\":3600'");
  app.add_option("--jobs", with.jobs)->check(CLI::PositiveNumber);
  app.add_option("--connections", with.connections)->check(CLI::PositiveNumber);
  app.add_option("--size", with.size, "bytes of a payload");
  app
    .add_option("--spread", with.spread, "numbers for {} in the path, in turn")
    ->check(CLI::PositiveNumber);
  app.add_option("--rate", with.rate, "jobs/s; 0: as fast as they are taken");
  app.add_flag("--overload", with.overload, "publishes may be refused");
  CLI11_PARSE(app, argc, argv);
  load work{with};
  return work.run() ? 0 : 1;
}
