#include "http/request_meter.hpp"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <catch2/catch.hpp>

using namespace tidegate;
using namespace tidegate::http;
using namespace std::chrono_literals;

namespace {

constexpr steady_time start{5s};

/// Returns how many of `count` requests at `now` are let in.
int let_in(request_meter& meter, std::uint32_t per_second, int count,
           steady_time now) {
  auto result = 0;
  for (auto i = 0; i < count; ++i)
    result += meter.take(per_second, now) ? 1 : 0;
  return result;
}

} // namespace

TEST_CASE("a second's requests may come at once, the next ones one by one") {
  request_meter meter;
  CHECK(let_in(meter, 10, 100, start) == 10);
  CHECK(let_in(meter, 10, 100, start + 99ms) == 0);
  CHECK(let_in(meter, 10, 100, start + 100ms) == 1);
  CHECK(let_in(meter, 10, 100, start + 350ms) == 2);
}

TEST_CASE("whoever was silent has saved up one second, not more") {
  request_meter meter;
  CHECK(let_in(meter, 10, 100, start) == 10);
  CHECK(let_in(meter, 10, 100, start + 1s) == 10);
  CHECK(let_in(meter, 10, 100, start + 24h) == 10);
}

TEST_CASE("what was refused is not counted") {
  request_meter meter;
  CHECK(let_in(meter, 1, 1000, start) == 1);
  CHECK(let_in(meter, 1, 1, start + 1s) == 1);
}

TEST_CASE("the first request is let in whatever the clock shows") {
  for (auto now : {steady_time{}, steady_time{-1h}, steady_time{876'000h}}) {
    request_meter meter;
    CHECK(let_in(meter, 1'000'000, 2, now) == 2);
  }
}

TEST_CASE("over a minute the rate is kept to the request") {
  request_meter meter;
  auto count = 0;
  for (auto at = 0ms; at < 60s; at += 1ms)
    count += let_in(meter, 64, 3, start + at);
  // 64 at once, and 64 in each of the 59.999 s after.
  CHECK(count == 64 + 64 * 60 - 1);
}

TEST_CASE("threads that ask at once share the limit") {
  request_meter meter;
  std::atomic<int> count = 0;
  std::vector<std::thread> threads;
  for (auto i = 0; i < 4; ++i)
    threads.emplace_back([&] { count += let_in(meter, 100, 1000, start); });
  for (auto& each : threads)
    each.join();
  CHECK(count == 100);
}
