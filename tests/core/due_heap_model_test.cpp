// The live jobs of a queue against a model that looks at every one, every time.

#include "actors/core/due_heap.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include "tests/core/moments.hpp"

using namespace tidegate;
using namespace tidegate::testing;

namespace {

using list = std::vector<std::uint64_t>;

list numbers(const std::vector<job_seq>& seqs) {
  list result;
  for (auto seq : seqs)
    result.push_back(seq.value);
  return result;
}

/// Answers the same questions by looking at every job, every time.
class model {
public:
  struct known {
    due_heap::entry e;
    std::string key;
    bool ready = false;

    bool waits() const {
      return !e.out && !ready;
    }
  };

  using job_map = std::map<job_seq, known>;

  void add(const due_heap::entry& e, const std::string& key) {
    jobs_[e.seq] = {e, key};
  }

  void take_out(job_seq seq) {
    auto& j = jobs_.at(seq);
    j.e.out = j.e.delivered = true;
    j.ready = false;
    tidy();
  }

  void put_back(job_seq seq, steady_time due, wait_kind what) {
    auto& j = jobs_.at(seq);
    j.e.out = j.ready = false;
    j.e.due = due;
    j.e.waits_for = what;
    tidy();
  }

  void erase(job_seq seq) {
    jobs_.erase(seq);
    tidy();
  }

  void mature(steady_time now) {
    std::vector<std::pair<steady_time, job_seq>> found;
    for (const auto& [seq, j] : jobs_)
      if (j.waits() && j.e.due <= now)
        found.push_back({j.e.due, seq});
    std::sort(found.begin(), found.end());
    for (auto [due, seq] : found) {
      jobs_.at(seq).ready = true;
      tidy();
    }
  }

  template <class Predicate, class F>
  void change(Predicate which, F how) {
    for (auto& [seq, j] : jobs_)
      if (j.waits() && which(j))
        how(j.e);
  }

  void shut(const std::string& key, bool is_shut) {
    if (is_shut)
      shut_.insert(key);
    else
      shut_.erase(key);
    tidy();
  }

  void end_turn(const std::string& key) {
    auto i = std::find(ring_.begin(), ring_.end(), key);
    std::rotate(i, i + 1, ring_.end());
  }

  /// Ready jobs of a key in the order in which they go.
  list ready(const std::string& key) const {
    std::vector<std::tuple<int, steady_time, std::uint64_t>> found;
    for (const auto& [seq, j] : jobs_)
      if (j.ready && j.key == key)
        found.push_back(
          {j.e.background ? 99 : 9 - j.e.priority, j.e.due, seq.value});
    std::sort(found.begin(), found.end());
    list result;
    for (auto [rank, due, seq] : found)
      result.push_back(seq);
    return result;
  }

  const std::vector<std::string>& ring() const {
    return ring_;
  }

  template <class Predicate>
  std::vector<known> all(Predicate wanted) const {
    std::vector<known> result;
    for (const auto& [seq, j] : jobs_)
      if (wanted(j))
        result.push_back(j);
    return result;
  }

  const job_map& jobs() const {
    return jobs_;
  }

private:
  /// Keys that have a turn stand in the ring, newcomers at its end.
  void tidy() {
    std::set<std::string> with_turn;
    for (const auto& [seq, j] : jobs_)
      if (j.ready && !shut_.contains(j.key))
        with_turn.insert(j.key);
    std::erase_if(ring_,
                  [&](const auto& key) { return !with_turn.contains(key); });
    for (const auto& key : with_turn)
      if (std::find(ring_.begin(), ring_.end(), key) == ring_.end())
        ring_.push_back(key);
  }

  job_map jobs_;
  std::set<std::string> shut_;
  std::vector<std::string> ring_;
};

bool everyone(const model::known&) {
  return true;
}

// -- comparisons --------------------------------------------------------------

void require_same_turns(const due_heap& heap, const model& truth) {
  std::vector<std::string> ring;
  for (auto l = heap.first_lane(); l; l = heap.lane_after(*l)) {
    ring.push_back(heap.key_of(*l));
    auto expected = truth.ready(ring.back());
    REQUIRE(heap.ready(*l) == expected.size());
    expected.resize(std::min<std::size_t>(expected.size(), 5));
    REQUIRE(numbers(heap.ready_front(*l, 5)) == expected);
  }
  REQUIRE(ring == truth.ring());
  if (ring.empty())
    REQUIRE(heap.ready_front(9).empty());
  else
    REQUIRE(heap.ready_front(9).front().value == truth.ready(ring[0])[0]);
}

void require_same_times(const due_heap& heap, const model& truth,
                        steady_time now) {
  std::optional<steady_time> due;
  std::optional<std::pair<steady_time, job_seq>> expiry;
  std::optional<wall_time> oldest;
  for (const auto& j : truth.all(everyone)) {
    if (j.waits() && (!due || j.e.due < *due))
      due = j.e.due;
    auto ends = std::pair{j.e.expires, j.e.seq};
    if (!j.e.out && (!expiry || ends < *expiry))
      expiry = ends;
    if (!oldest || j.e.created_at < *oldest)
      oldest = j.e.created_at;
  }
  REQUIRE(heap.next_due() == due);
  REQUIRE(heap.oldest() == oldest);
  REQUIRE(heap.next_expiry()
          == (expiry ? std::optional{expiry->first} : std::nullopt));
  auto over = expiry && expiry->first <= now;
  REQUIRE(heap.first_expired(now)
          == (over ? std::optional{expiry->second} : std::nullopt));
}

void require_same_sums(const due_heap& heap, const model& truth) {
  auto count = [&truth](auto wanted) { return truth.all(wanted).size(); };
  REQUIRE(heap.size() == truth.jobs().size());
  REQUIRE(heap.ready() == count([](const auto& j) { return j.ready; }));
  REQUIRE(heap.waiting() == count([](const auto& j) { return j.waits(); }));
  REQUIRE(heap.fresh()
          == count([](const auto& j) { return !j.e.delivered && !j.e.out; }));
  REQUIRE(heap.waits_for_wall_clock()
          == (count([](const auto& j) {
                return j.waits() && j.e.waits_for == wait_kind::run_at;
              })
              > 0));
}

void require_same_idle(const due_heap& heap, const model& truth,
                       due_heap::idle_range range) {
  auto wanted = truth.all([&](const auto& j) {
    return !j.e.out && j.e.seq <= range.last
           && (!range.delivered || j.e.delivered == *range.delivered);
  });
  list expected;
  for (const auto& j : wanted)
    expected.push_back(j.e.seq.value);
  auto found = numbers(heap.idle(range, 1'000'000));
  std::sort(found.begin(), found.end());
  REQUIRE(found == expected);
}

void require_same_job(const due_heap& heap, const model::known& expected) {
  auto found = heap.find(expected.e.seq);
  REQUIRE(found);
  const auto& e = expected.e;
  REQUIRE(found->due == e.due);
  REQUIRE(found->expires == e.expires);
  REQUIRE(found->created_at == e.created_at);
  REQUIRE(found->waits_for == e.waits_for);
  REQUIRE(found->delivered == e.delivered);
  REQUIRE(found->out == e.out);
  REQUIRE(found->background == e.background);
  REQUIRE((e.background || found->priority == e.priority));
  REQUIRE(heap.key_of(found->lane) == expected.key);
}

// -- histories ----------------------------------------------------------------

/// Does the same to heap and model, at random.
class history {
public:
  explicit history(unsigned seed) : random_(seed), grows_(seed % 3) {
    for (std::string key : {"", "a", "b", "c"})
      heap_.pin(key);
  }

  void step() {
    now_ += duration{random_() % 2'000'000};
    switch (random_() % 12) {
      case 0:
      case 1:
        // A history grows, keeps its size, or is emptied again and again.
        for (auto n = random_() % (grows_ == 0 ? 8 : 4); n > 0; --n)
          add(job_seq{last_ += 1 + random_() % 3});
        break;
      case 2:
        come_back();
        break;
      case 3:
      case 4:
        take_out();
        break;
      case 5:
        put_back();
        break;
      case 6:
        erase();
        if (grows_ == 2 && random_() % 50 == 0)
          while (!truth_.jobs().empty())
            erase();
        break;
      case 7:
      case 8:
        heap_.mature(now_);
        truth_.mature(now_);
        break;
      case 9:
        change_turns();
        break;
      case 10:
        reschedule();
        break;
      default:
        change_many();
    }
    require_same_sums(heap_, truth_);
    require_same_turns(heap_, truth_);
    require_same_times(heap_, truth_, now_);
  }

  void check_each() {
    for (const auto& [seq, j] : truth_.jobs())
      require_same_job(heap_, j);
    for (auto seq : gone_)
      REQUIRE_FALSE(heap_.find(seq));
    for (auto delivered :
         {std::optional<bool>{}, std::optional{true}, std::optional{false}})
      for (auto last : {last_, last_ / 2})
        require_same_idle(heap_, truth_, {{}, job_seq{last}, delivered});
    // A copy is a heap of its own.
    auto copy = heap_;
    require_same_turns(copy, truth_);
    if (auto seq = any(everyone)) {
      copy.erase(*seq);
      REQUIRE_FALSE(copy.find(*seq));
      REQUIRE(heap_.find(*seq));
    }
  }

private:
  template <class Predicate>
  std::optional<job_seq> any(Predicate wanted) {
    auto found = truth_.all(wanted);
    if (found.empty())
      return std::nullopt;
    return found[random_() % found.size()].e.seq;
  }

  wait_kind any_kind() {
    return wait_kind{static_cast<std::uint8_t>(random_() % 7)};
  }

  std::string any_key() {
    const char* keys[] = {"", "", "a", "b", "c"};
    return keys[random_() % 5];
  }

  /// Few different times, so that many jobs share one.
  steady_time soon() {
    return now_ + std::chrono::seconds{random_() % 10};
  }

  void add(job_seq seq) {
    due_heap::entry e;
    e.seq = seq;
    e.due = soon();
    e.expires = e.due + std::chrono::seconds{random_() % 100};
    e.created_at = at(static_cast<double>(seq.value)).wall;
    e.delivered = random_() % 2;
    e.waits_for = any_kind();
    e.background = random_() % 8 == 0;
    e.priority = e.background ? 0 : static_cast<std::uint8_t>(random_() % 10);
    auto key = any_key();
    heap_.add(e, key);
    truth_.add(e, key);
  }

  /// A job that went comes back, out of the order of numbers.
  void come_back() {
    if (gone_.empty())
      return;
    auto i = gone_.begin();
    std::advance(i, random_() % gone_.size());
    auto seq = *i;
    gone_.erase(i);
    add(seq);
  }

  void take_out() {
    if (auto seq = any([](const auto& j) { return !j.e.out; })) {
      heap_.take_out(*seq);
      truth_.take_out(*seq);
    }
  }

  void put_back() {
    if (auto seq = any([](const auto& j) { return j.e.out; })) {
      auto due = soon();
      auto what = any_kind();
      heap_.put_back(*seq, due, what);
      truth_.put_back(*seq, due, what);
    }
  }

  void reschedule() {
    if (auto seq = any([](const auto& j) { return !j.e.out; })) {
      auto due = soon();
      auto what = any_kind();
      heap_.reschedule(*seq, due, what);
      truth_.put_back(*seq, due, what);
    }
  }

  void erase() {
    if (auto seq = any(everyone)) {
      heap_.erase(*seq);
      truth_.erase(*seq);
      gone_.insert(*seq);
    }
  }

  void change_turns() {
    auto key = any_key();
    auto lane = *heap_.find_lane(key);
    auto what = random_() % 4;
    if (what == 0)
      heap_.shut(lane);
    if (what == 1)
      heap_.open(lane);
    if (what < 2)
      truth_.shut(key, what == 0);
    auto first = heap_.first_lane();
    if (what < 2 || !first)
      return;
    truth_.end_turn(heap_.key_of(*first));
    heap_.end_turn(*first);
  }

  void change_many() {
    auto what = any_kind();
    if (random_() % 2) {
      auto by = std::chrono::seconds{random_() % 20} - std::chrono::seconds{10};
      heap_.shift(what, by);
      truth_.change([&](const auto& j) { return j.e.waits_for == what; },
                    [&](auto& e) {
                      e.due += by;
                      e.expires += by;
                    });
      return;
    }
    std::optional<std::string> key;
    std::optional<lane_id> lane;
    if (random_() % 2) {
      key = any_key();
      lane = heap_.find_lane(*key);
    }
    heap_.make_due(what, now_, lane);
    truth_.change(
      [&](const auto& j) {
        return j.e.waits_for == what && (!key || j.key == *key);
      },
      [&](auto& e) { e.due = std::min(e.due, now_); });
  }

  std::mt19937 random_;
  unsigned grows_;
  steady_time now_ = at(0).steady;
  std::uint64_t last_ = 0;
  due_heap heap_;
  model truth_;
  std::set<job_seq> gone_;
};

} // namespace

TEST_CASE("a heap agrees with looking at every job, whatever happens") {
  auto seed = GENERATE(range(0u, 12u));
  history h{seed};
  for (auto i = 0; i < 1'500; ++i) {
    h.step();
    if (i % 300 == 0)
      h.check_each();
  }
  h.check_each();
}
