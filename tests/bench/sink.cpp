// The downstream of a benchmark: takes every delivery, answers 200 and counts.
//
//   bench_sink            prints `listening http://127.0.0.1:<port>`
//   POST /reset           forgets what was counted
//   GET /stats            {"unique","double","first_us","last_us","p50_us",...}
//
// A job's payload has "bench":<number> and "sent":<microseconds>, which are
// looked for as text, so that the sink costs as little as possible.

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "tests/bench/json_line.hpp"
#include "tests/bench/latencies.hpp"
#include "tests/bench/message_cutter.hpp"
#include "tests/bench/sockets.hpp"

namespace {

using namespace tidegate::bench;

/// What came in since the last reset.
class tally {
public:
  void count(std::string_view body) {
    auto now = now_us();
    auto number = number_after(body, "\"bench\":");
    auto sent = number_after(body, "\"sent\":");
    if (!number || !sent) {
      ++strange_;
      return;
    }
    if (*number >= seen_.size())
      seen_.resize(*number + 1);
    if (seen_[*number]) {
      ++double_;
      return;
    }
    seen_[*number] = true;
    first_us_ = unique_ == 0 ? now : first_us_;
    last_us_ = now;
    ++unique_;
    took_.add(now - *sent);
  }

  std::string report() const {
    return json_line{}
      .add("unique", double(unique_))
      .add("double", double(double_))
      .add("strange", double(strange_))
      .add("first_us", double(first_us_))
      .add("last_us", double(last_us_))
      .add("p50_us", double(took_.percentile(0.5)))
      .add("p99_us", double(took_.percentile(0.99)))
      .str();
  }

private:
  std::vector<bool> seen_;
  std::uint64_t unique_ = 0;
  std::uint64_t double_ = 0;
  std::uint64_t strange_ = 0;
  std::uint64_t first_us_ = 0;
  std::uint64_t last_us_ = 0;
  latencies took_;
};

std::string response_with(const std::string& body) {
  return "HTTP/1.1 200 OK\r\ncontent-length: " + std::to_string(body.size())
         + "\r\n\r\n" + body;
}

std::string answer(const message& request, tally& counted) {
  if (request.head.starts_with("GET /stats "))
    return response_with(counted.report());
  if (request.head.starts_with("POST /reset "))
    counted = tally{};
  else
    counted.count(request.body);
  return response_with("");
}

struct connection {
  descriptor socket;
  message_cutter cutter;
};

/// Answers what has come in. Returns whether the connection lives on.
bool serve(connection& peer, tally& counted) {
  static char buffer[65536];
  auto closed = false;
  peer.cutter.add(read_from(peer.socket, buffer, closed));
  std::string out;
  while (auto request = peer.cutter.next())
    out += answer(*request, counted);
  write_to(peer.socket, out);
  return !closed;
}

void accept_one(const descriptor& listener, poller& events) {
  auto fd = accept_from(listener);
  if (fd < 0)
    return;
  auto peer = std::make_unique<connection>(connection{{fd, "accept"}, {}});
  events.watch(peer->socket, peer.get());
  peer.release(); // `serve` says when to delete it.
}

} // namespace

int main() {
  auto listener = listen_on(0);
  poller events;
  events.watch(listener, nullptr);
  std::printf("listening http://127.0.0.1:%u\n", port_of(listener));
  std::fflush(stdout);
  for (tally counted;;)
    for (const auto& event : events.wait()) {
      auto* peer = static_cast<connection*>(event.data.ptr);
      if (peer == nullptr)
        accept_one(listener, events);
      else if (!serve(*peer, counted))
        delete peer;
    }
}
