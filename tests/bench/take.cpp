// The workers of a benchmark: receive messages of a pull queue and ack them,
// over some connections at once, until so many have been acked, and print one
// line of JSON about how that went.

#include <cstdio>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "tests/bench/items.hpp"
#include "tests/bench/json_line.hpp"
#include "tests/bench/latencies.hpp"
#include "tests/bench/message_cutter.hpp"
#include "tests/bench/post_writer.hpp"
#include "tests/bench/sockets.hpp"

namespace {

using namespace tidegate::bench;

struct options {
  std::uint16_t port = 0;
  std::string queue;
  std::string key;
  std::uint64_t messages = 10'000;
  std::size_t connections = 8;
  std::size_t receive = 10;
  bool one_by_one = false;
};

struct connection {
  descriptor socket;
  message_cutter cutter;

  /// Acks without an answer; none: it receives.
  std::size_t acks = 0;

  /// Messages that these acks are about.
  std::size_t messages = 0;
};

/// Writes the calls of a worker.
class call_writer {
public:
  explicit call_writer(const options& with)
    : consume_(with.port, "/v1/queue/consume", with.key),
      ack_(with.port, "/v1/queue/ack", with.key),
      ack_batch_(with.port, "/v1/queue/ack_batch", with.key),
      queue_("{\"queue\":\"" + with.queue + '"'),
      receive_(",\"wait_seconds\":20,\"max_messages\":"
               + std::to_string(with.receive) + '}') {
    // nop
  }

  std::string consume() const {
    return consume_.write(queue_ + receive_);
  }

  std::string ack(const item& what) const {
    return ack_.write(queue_ + ',' + members_of(what) + '}');
  }

  std::string ack_all(const std::vector<item>& items) const {
    auto body = queue_ + ",\"entries\":[";
    for (const auto& what : items)
      body += '{' + members_of(what) + "},";
    body.back() = ']';
    return ack_batch_.write(body + '}');
  }

private:
  static std::string members_of(const item& what) {
    auto result = "\"message_id\":\"" + std::string{what.id};
    result += "\",\"receipt_handle\":\"";
    result += what.handle;
    return result + '"';
  }

  post_writer consume_;
  post_writer ack_;
  post_writer ack_batch_;
  std::string queue_;
  std::string receive_;
};

class workers {
public:
  explicit workers(const options& with) : with_(with), calls_(with) {
    connections_.reserve(with.connections);
    for (std::size_t i = 0; i < with.connections; ++i) {
      connections_.push_back({connect_to(with.port), {}});
      events_.watch(connections_.back().socket, &connections_.back());
    }
  }

  /// Runs to the end. Returns whether every message came once and was acked.
  bool run() {
    for (auto& peer : connections_)
      write_to(peer.socket, calls_.consume());
    while (acked_ < with_.messages)
      for (const auto& event : events_.wait())
        take_answers(*static_cast<connection*>(event.data.ptr));
    report();
    return failed_ == 0 && double_ == 0;
  }

private:
  void take_answers(connection& peer) {
    auto closed = false;
    peer.cutter.add(read_from(peer.socket, buffer_, closed));
    if (closed)
      give_up("the server closed a connection", {});
    while (auto answer = peer.cutter.next()) {
      if (status_of(answer->head) != 200)
        give_up("refused", answer->body);
      if (peer.acks == 0)
        received(peer, cut_items(answer->body));
      else
        acked(peer, answer->body);
    }
  }

  void received(connection& peer, const std::vector<item>& items) {
    auto now = now_us();
    for (const auto& what : items)
      count(what, now);
    if (items.empty()) {
      write_to(peer.socket, calls_.consume());
      return;
    }
    peer.messages = items.size();
    peer.acks = with_.one_by_one ? items.size() : 1;
    if (!with_.one_by_one) {
      write_to(peer.socket, calls_.ack_all(items));
      return;
    }
    // As a worker does that makes its ten acks at once.
    std::string all;
    for (const auto& what : items)
      all += calls_.ack(what);
    write_to(peer.socket, all);
  }

  void count(const item& what, std::uint64_t now) {
    first_us_ = first_us_ == 0 ? now : first_us_;
    auto number = number_after(what.text, "\"bench\":");
    auto sent = number_after(what.text, "\"sent\":");
    if (!number || !sent)
      give_up("a message that nobody published", what.text);
    if (*number >= seen_.size())
      seen_.resize(*number + 1);
    if (seen_[*number])
      ++double_;
    seen_[*number] = true;
    took_.add(now - *sent);
  }

  void acked(connection& peer, std::string_view answer) {
    if (answer.find("\"ok\":false") != std::string_view::npos)
      ++failed_;
    if (--peer.acks > 0)
      return;
    acked_ += peer.messages;
    last_us_ = now_us();
    write_to(peer.socket, calls_.consume());
  }

  [[noreturn]] static void give_up(const char* why, std::string_view what) {
    std::fprintf(stderr, "%s: %.*s\n", why, static_cast<int>(what.size()),
                 what.data());
    std::exit(1);
  }

  void report() const {
    auto seconds = double(last_us_ - first_us_) / 1e6;
    auto line = json_line{}
                  .add("messages", double(acked_))
                  .add("failed", double(failed_))
                  .add("double", double(double_))
                  .add("first_us", double(first_us_))
                  .add("last_us", double(last_us_))
                  .add("per_second", double(acked_) / seconds)
                  .add("p50_us", double(took_.percentile(0.5)))
                  .add("p99_us", double(took_.percentile(0.99)))
                  .str();
    std::puts(line.c_str());
  }

  options with_;
  call_writer calls_;
  poller events_;
  std::vector<connection> connections_;
  std::vector<bool> seen_;
  latencies took_;
  std::uint64_t first_us_ = 0;
  std::uint64_t last_us_ = 0;
  std::uint64_t acked_ = 0;
  std::uint64_t failed_ = 0;
  std::uint64_t double_ = 0;
  char buffer_[65536];
};

} // namespace

int main(int argc, char** argv) {
  options with;
  CLI::App app{"Receives and acks messages of a pull queue"};
  app.add_option("--port", with.port, "the server's")->required();
  app.add_option("--queue", with.queue)->required();
  app.add_option("--key", with.key, "API key")->required();
  app.add_option("--messages", with.messages)->check(CLI::PositiveNumber);
  app.add_option("--connections", with.connections)->check(CLI::PositiveNumber);
  app.add_option("--receive", with.receive, "at once")
    ->check(CLI::Range(1, 10));
  app.add_flag("--one-by-one", with.one_by_one, "an ack for each message");
  CLI11_PARSE(app, argc, argv);
  workers work{with};
  return work.run() ? 0 : 1;
}
