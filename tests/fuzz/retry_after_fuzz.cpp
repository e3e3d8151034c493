// `Retry-After` and `Date` as a downstream may send them.

#include "actors/core/outcome.hpp"
#include "actors/core/retry_after.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <string>

namespace tidegate::fuzz {

void run(std::string_view input) {
  const wall_time now{std::chrono::seconds{1'790'000'000}};
  delivery_reply reply;
  auto end = input.find('\n');
  reply.date = input.substr(0, end);
  while (end != std::string_view::npos && reply.retry_after.size() < 8) {
    input.remove_prefix(end + 1);
    end = input.find('\n');
    reply.retry_after.emplace_back(input.substr(0, end));
  }
  reply.http_status = 429;
  auto wait = read_retry_after(reply.retry_after, reply.date, now);
  if (wait) {
    must(*wait >= duration{0}, "no wait is negative");
    must(*wait <= longest_wait, "no wait is longer than the longest");
  }
  auto what = judge(reply, now);
  must(what.what == outcome::kind::defer, "429 is a defer, whatever it says");
  must(what.retry_after == wait.value_or(default_retry_after),
       "the hold is as long as was asked for");
}

} // namespace tidegate::fuzz
