// The live jobs of a queue, by the time at which they may go.

#include "actors/core/due_heap.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

#include "tests/core/moments.hpp"

using namespace tidegate;
using namespace tidegate::testing;

namespace {

due_heap::entry make(std::uint64_t seq, double due, double expires = 1e6) {
  due_heap::entry result;
  result.seq = job_seq{seq};
  result.due = at(due).steady;
  result.expires = at(expires).steady;
  result.created_at = at(static_cast<double>(seq)).wall;
  return result;
}

std::vector<std::uint64_t> numbers(const std::vector<job_seq>& seqs) {
  std::vector<std::uint64_t> result;
  for (auto seq : seqs)
    result.push_back(seq.value);
  return result;
}

using list = std::vector<std::uint64_t>;

} // namespace

TEST_CASE("a job waits until its time has come") {
  due_heap heap;
  heap.add(make(1, 5));
  heap.mature(at(4.999999).steady);
  CHECK_FALSE(heap.first_lane());
  CHECK(heap.next_due() == at(5).steady);
  heap.mature(at(5).steady);
  CHECK(numbers(heap.ready_front(1)) == list{1});
  CHECK_FALSE(heap.next_due());
}

TEST_CASE("the earlier due goes first, then the earlier arrival") {
  due_heap heap;
  heap.add(make(1, 3));
  heap.add(make(2, 1));
  heap.add(make(3, 1));
  heap.add(make(4, 2));
  heap.mature(at(10).steady);
  CHECK(numbers(heap.ready_front(10)) == list{2, 3, 4, 1});
  CHECK(numbers(heap.ready_front(2)) == list{2, 3});
  CHECK(heap.ready_front(0).empty());
}

TEST_CASE("a job that was put back goes in its due order again") {
  due_heap heap;
  for (std::uint64_t n = 1; n <= 3; ++n)
    heap.add(make(n, 0));
  heap.mature(at(0).steady);
  heap.take_out(job_seq{1});
  heap.put_back(job_seq{1}, at(4).steady, wait_kind::backoff);
  heap.mature(at(3).steady);
  CHECK(numbers(heap.ready_front(9)) == list{2, 3});
  heap.mature(at(4).steady);
  CHECK(numbers(heap.ready_front(9)) == list{2, 3, 1});
}

TEST_CASE("a job that is out does not expire") {
  due_heap heap;
  heap.add(make(1, 0, 10));
  heap.mature(at(0).steady);
  heap.take_out(job_seq{1});
  CHECK_FALSE(heap.first_expired(at(99).steady));
  CHECK_FALSE(heap.next_expiry());
  heap.put_back(job_seq{1}, at(200).steady, wait_kind::none);
  CHECK(heap.first_expired(at(99).steady) == job_seq{1});
}

TEST_CASE("a job that waits and one that is ready both expire") {
  due_heap heap;
  heap.add(make(1, 50, 60));
  heap.add(make(2, 0, 5));
  heap.mature(at(0).steady);
  CHECK_FALSE(heap.first_expired(at(4.999999).steady));
  CHECK(heap.first_expired(at(5).steady) == job_seq{2});
  heap.erase(job_seq{2});
  CHECK(heap.next_expiry() == at(60).steady);
}

TEST_CASE("jobs that wait for one thing can all be made due") {
  due_heap heap;
  for (std::uint64_t n = 1; n <= 6; ++n) {
    auto e = make(n, 100 - static_cast<double>(n));
    e.waits_for = n % 2 ? wait_kind::defer : wait_kind::backoff;
    heap.add(e);
  }
  heap.make_due(wait_kind::defer, at(10).steady);
  heap.mature(at(10).steady);
  CHECK(numbers(heap.ready_front(9)) == list{1, 3, 5});
  CHECK(heap.next_due() == at(94).steady);
}

TEST_CASE("making due moves no time into the future") {
  due_heap heap;
  auto e = make(1, 5);
  e.waits_for = wait_kind::defer;
  heap.add(e);
  heap.make_due(wait_kind::defer, at(10).steady);
  CHECK(heap.find(job_seq{1})->due == at(5).steady);
}

TEST_CASE("a job that nobody knows is not found") {
  due_heap heap;
  CHECK_FALSE(heap.find(job_seq{1}));
  CHECK_FALSE(heap.oldest());
  heap.add(make(2, 0));
  CHECK_FALSE(heap.find(job_seq{1}));
  CHECK_FALSE(heap.find(job_seq{3}));
  heap.erase(job_seq{2});
  CHECK_FALSE(heap.find(job_seq{2}));
  CHECK_FALSE(heap.oldest());
}

TEST_CASE("the largest number that a job can have is kept whole") {
  due_heap heap;
  auto e = make(1, 0);
  e.seq = job_seq{max_48_bits};
  heap.add(e);
  heap.mature(at(0).steady);
  CHECK(numbers(heap.ready_front(1)) == list{max_48_bits});
}

TEST_CASE("jobs that went are forgotten while those that stay are found") {
  due_heap heap;
  for (std::uint64_t n = 1; n <= 10'000; ++n)
    heap.add(make(n, static_cast<double>(n % 97)));
  for (std::uint64_t n = 1; n <= 10'000; ++n)
    if (n % 100 != 0)
      heap.erase(job_seq{n});
  CHECK(heap.size() == 100);
  CHECK(heap.oldest() == at(100).wall);
  heap.mature(at(1000).steady);
  auto order = numbers(heap.ready_front(1000));
  CHECK(order.size() == 100);
  CHECK(std::is_sorted(order.begin(), order.end(), [](auto a, auto b) {
    return std::pair{a % 97, a} < std::pair{b % 97, b};
  }));
}

// -- lanes --------------------------------------------------------------------

TEST_CASE("lanes take turns, and one that is shut has none") {
  due_heap heap;
  heap.add(make(1, 0), "a");
  heap.add(make(2, 0), "a");
  heap.add(make(3, 0), "b");
  heap.mature(at(0).steady);
  auto a = *heap.find_lane("a");
  auto b = *heap.find_lane("b");
  CHECK(heap.first_lane() == a);
  CHECK(heap.lane_after(a) == b);
  heap.end_turn(a);
  CHECK(heap.first_lane() == b);
  CHECK(heap.pin("b") == b);
  heap.shut(b);
  CHECK(heap.first_lane() == a);
  CHECK_FALSE(heap.lane_after(a));
  CHECK(heap.ready(b) == 1);
  heap.unpin(b);
  CHECK(heap.lane_after(a) == b);
}

TEST_CASE("a lane lives as long as it has jobs or is pinned") {
  due_heap heap;
  CHECK_FALSE(heap.find_lane("a"));
  CHECK(heap.find_lane("") == 0u);
  auto a = heap.pin("a");
  heap.add(make(1, 0), "a");
  heap.erase(job_seq{1});
  CHECK(heap.find_lane("a") == a);
  CHECK_FALSE(heap.has_jobs(a));
  heap.unpin(a);
  CHECK_FALSE(heap.find_lane("a"));
  CHECK(heap.keyed_lanes() == 0);
}

TEST_CASE("within a lane priority goes before due time, background last") {
  due_heap heap;
  for (std::uint64_t n = 1; n <= 4; ++n) {
    auto e = make(n, static_cast<double>(n));
    e.priority = static_cast<std::uint8_t>(n == 3 ? 9 : 4);
    e.background = n == 1;
    heap.add(e);
  }
  heap.mature(at(9).steady);
  CHECK(numbers(heap.ready_front(9)) == list{3, 2, 4, 1});
}

TEST_CASE("a range is walked in slices, however much goes meanwhile") {
  due_heap heap;
  for (std::uint64_t n = 1; n <= 500; ++n)
    heap.add(make(n, 0));
  for (std::uint64_t n = 1; n <= 500; n += 2)
    heap.erase(job_seq{n});
  heap.add(make(7, 0));
  due_heap::idle_range range;
  range.last = job_seq{400};
  list found;
  for (;;) {
    auto slice = heap.idle(range, 10);
    if (slice.empty())
      break;
    for (auto seq : slice) {
      found.push_back(seq.value);
      heap.erase(seq);
    }
  }
  CHECK(found.size() == 201);
  CHECK(found.front() == 7);
  CHECK(heap.size() == 50);
}
