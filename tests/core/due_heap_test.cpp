// The live jobs of a queue, by the time at which they may go.

#include "actors/core/due_heap.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <random>

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

/// Answers the same questions by looking at every job, every time.
class model {
public:
  void add(const due_heap::entry& e) {
    jobs_[e.seq] = {e, false};
  }

  void take_out(job_seq seq) {
    auto& j = jobs_.at(seq);
    j.e.out = j.e.delivered = true;
    j.ready = false;
  }

  void put_back(job_seq seq, steady_time due, wait_kind what) {
    auto& e = jobs_.at(seq).e;
    e.out = false;
    e.due = due;
    e.waits_for = what;
  }

  void erase(job_seq seq) {
    jobs_.erase(seq);
  }

  void mature(steady_time now) {
    for (auto& [seq, j] : jobs_)
      if (!j.e.out && j.e.due <= now)
        j.ready = true;
  }

  void make_due(wait_kind what, steady_time now) {
    for (auto& [seq, j] : jobs_)
      if (!j.e.out && !j.ready && j.e.waits_for == what)
        j.e.due = std::min(j.e.due, now);
  }

  list ready() const {
    std::vector<std::pair<steady_time, std::uint64_t>> found;
    for (const auto& [seq, j] : jobs_)
      if (j.ready)
        found.push_back({j.e.due, seq.value});
    std::sort(found.begin(), found.end());
    list result;
    for (auto [due, seq] : found)
      result.push_back(seq);
    return result;
  }

  std::optional<steady_time> next_due() const {
    std::optional<steady_time> result;
    for (const auto& [seq, j] : jobs_)
      if (!j.e.out && !j.ready && (!result || j.e.due < *result))
        result = j.e.due;
    return result;
  }

  std::optional<std::pair<steady_time, std::uint64_t>> next_expiry() const {
    std::optional<std::pair<steady_time, std::uint64_t>> result;
    for (const auto& [seq, j] : jobs_)
      if (!j.e.out && (!result || j.e.expires < result->first))
        result = std::pair{j.e.expires, seq.value};
    return result;
  }

  std::size_t fresh() const {
    return static_cast<std::size_t>(
      std::count_if(jobs_.begin(), jobs_.end(), [](const auto& each) {
        return !each.second.e.delivered && !each.second.e.out;
      }));
  }

  struct known {
    due_heap::entry e;
    bool ready = false;
  };

  const std::map<job_seq, known>& jobs() const {
    return jobs_;
  }

private:
  std::map<job_seq, known> jobs_;
};

void require_same(const due_heap& heap, const model& truth, steady_time now) {
  auto ready = truth.ready();
  REQUIRE(heap.size() == truth.jobs().size());
  REQUIRE(heap.ready() == ready.size());
  REQUIRE(heap.fresh() == truth.fresh());
  REQUIRE(heap.next_due() == truth.next_due());
  REQUIRE(numbers(heap.ready_front(7))
          == list(ready.begin(),
                  ready.begin() + std::min<std::ptrdiff_t>(7, ready.size())));
  REQUIRE(heap.first_ready().has_value() == !ready.empty());
  if (!ready.empty())
    REQUIRE(heap.first_ready()->value == ready.front());
  auto expiry = truth.next_expiry();
  REQUIRE(heap.next_expiry().has_value() == expiry.has_value());
  REQUIRE(heap.first_expired(now).has_value()
          == (expiry && expiry->first <= now));
  if (expiry)
    REQUIRE(heap.next_expiry() == expiry->first);
  if (expiry && expiry->first <= now)
    REQUIRE(heap.first_expired(now)->value == expiry->second);
  REQUIRE(heap.oldest().has_value() == !truth.jobs().empty());
  if (!truth.jobs().empty())
    REQUIRE(heap.oldest() == truth.jobs().begin()->second.e.created_at);
}

void require_same_job(const due_heap& heap, const due_heap::entry& expected) {
  auto found = heap.find(expected.seq);
  REQUIRE(found);
  REQUIRE(found->due == expected.due);
  REQUIRE(found->expires == expected.expires);
  REQUIRE(found->created_at == expected.created_at);
  REQUIRE(found->waits_for == expected.waits_for);
  REQUIRE(found->delivered == expected.delivered);
  REQUIRE(found->out == expected.out);
}

/// Does the same to heap and model, at random.
class history {
public:
  explicit history(unsigned seed) : random_(seed), grows_(seed % 3) {
    // nop
  }

  void step() {
    now_ += duration{random_() % 2'000'000};
    switch (random_() % 8) {
      case 0:
      case 1:
        // A history grows, keeps its size, or is emptied again and again.
        for (auto n = random_() % (grows_ == 0 ? 8 : 4); n > 0; --n)
          add();
        break;
      case 2:
      case 3:
        take_out();
        break;
      case 4:
        put_back();
        break;
      case 5:
        erase();
        if (grows_ == 2 && random_() % 50 == 0)
          while (!truth_.jobs().empty())
            erase();
        break;
      case 6:
        heap_.mature(now_);
        truth_.mature(now_);
        break;
      default:
        make_due();
    }
    require_same(heap_, truth_, now_);
  }

  void check_each() const {
    for (const auto& [seq, j] : truth_.jobs())
      require_same_job(heap_, j.e);
    for (auto seq : gone_)
      REQUIRE_FALSE(heap_.find(seq));
  }

private:
  template <class Predicate>
  std::optional<job_seq> any(Predicate wanted) {
    std::vector<job_seq> found;
    for (const auto& [seq, j] : truth_.jobs())
      if (wanted(j))
        found.push_back(seq);
    if (found.empty())
      return std::nullopt;
    return found[random_() % found.size()];
  }

  void add() {
    auto e = make(last_ += 1 + random_() % 3, 0);
    // Few different times, so that many jobs share one.
    e.due = now_ + std::chrono::seconds{random_() % 10};
    e.expires = e.due + std::chrono::seconds{random_() % 100};
    e.delivered = random_() % 2;
    e.waits_for = wait_kind{static_cast<std::uint8_t>(random_() % 4)};
    heap_.add(e);
    truth_.add(e);
  }

  void take_out() {
    if (auto seq = any([](const auto& j) { return !j.e.out; })) {
      heap_.take_out(*seq);
      truth_.take_out(*seq);
    }
  }

  void put_back() {
    if (auto seq = any([](const auto& j) { return j.e.out; })) {
      auto due = now_ + std::chrono::seconds{random_() % 10};
      auto what = wait_kind{static_cast<std::uint8_t>(random_() % 4)};
      heap_.put_back(*seq, due, what);
      truth_.put_back(*seq, due, what);
    }
  }

  void erase() {
    if (auto seq = any([](const auto&) { return true; })) {
      heap_.erase(*seq);
      truth_.erase(*seq);
      gone_.push_back(*seq);
    }
  }

  void make_due() {
    auto what = wait_kind{static_cast<std::uint8_t>(random_() % 4)};
    heap_.make_due(what, now_);
    truth_.make_due(what, now_);
  }

  std::mt19937 random_;
  unsigned grows_;
  steady_time now_ = at(0).steady;
  std::uint64_t last_ = 0;
  due_heap heap_;
  model truth_;
  std::vector<job_seq> gone_;
};

} // namespace

TEST_CASE("a job waits until its time has come") {
  due_heap heap;
  heap.add(make(1, 5));
  heap.mature(at(4.999999).steady);
  CHECK_FALSE(heap.first_ready());
  CHECK(heap.next_due() == at(5).steady);
  heap.mature(at(5).steady);
  CHECK(heap.first_ready() == job_seq{1});
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
  CHECK(heap.first_ready() == job_seq{max_48_bits});
}

TEST_CASE("a heap agrees with looking at every job, whatever happens") {
  auto seed = GENERATE(range(0u, 9u));
  history h{seed};
  for (auto i = 0; i < 2'000; ++i) {
    h.step();
    if (i % 500 == 0)
      h.check_each();
  }
  h.check_each();
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
