// The table of callbacks, cell by cell.

#include <catch2/catch.hpp>

#include "tests/core/workbench.hpp"

using namespace tidegate;
using namespace tidegate::testing;

namespace {

/// Where a job is when the callback comes. But for the first two it has been
/// delivered before, and that delivery failed.
enum class place {
  pending,
  replayed,
  delivering,
  awaiting,
  retrying,
  deferred,
  completed,
  dead_by_nack,
  dead_by_attempts,
  cancelled,
};

/// Which delivery the callback names.
enum class named { none, current, earlier, future };

enum class call {
  ack,
  nack,
  nack_for_good,
  defer,
  defer_job,
  defer_key,
  touch
};

constexpr const char* ok = "ok";
constexpr const char* early = "not_awaiting_outcome";
constexpr const char* stale = "stale_delivery";
constexpr const char* done = "job_completed";
constexpr const char* dead = "job_dead";

/// Four answers, for each of the ways to name a delivery.
struct row {
  place where;
  call what;
  const char* answers[4];
};

/// A defer is always taken.
const row table[] = {
  {place::pending, call::ack, {early, early, early, early}},
  {place::pending, call::nack, {early, early, early, early}},
  {place::pending, call::nack_for_good, {early, early, early, early}},
  {place::pending, call::touch, {early, early, early, early}},
  {place::replayed, call::ack, {early, early, early, early}},
  {place::replayed, call::nack, {early, early, early, early}},
  {place::replayed, call::nack_for_good, {early, early, early, early}},
  {place::replayed, call::touch, {early, early, early, early}},
  {place::delivering, call::ack, {ok, ok, stale, stale}},
  {place::delivering, call::nack, {ok, ok, stale, stale}},
  {place::delivering, call::nack_for_good, {ok, ok, stale, stale}},
  {place::delivering, call::touch, {early, early, stale, stale}},
  {place::awaiting, call::ack, {ok, ok, stale, stale}},
  {place::awaiting, call::nack, {ok, ok, stale, stale}},
  {place::awaiting, call::nack_for_good, {ok, ok, stale, stale}},
  {place::awaiting, call::touch, {ok, ok, stale, stale}},
  {place::retrying, call::ack, {ok, ok, ok, stale}},
  {place::retrying, call::nack, {early, early, stale, stale}},
  {place::retrying, call::nack_for_good, {early, early, stale, stale}},
  {place::retrying, call::touch, {early, early, stale, stale}},
  {place::deferred, call::ack, {ok, ok, ok, stale}},
  {place::deferred, call::nack, {early, early, stale, stale}},
  {place::deferred, call::nack_for_good, {early, early, stale, stale}},
  {place::deferred, call::touch, {early, early, stale, stale}},
  {place::completed, call::ack, {ok, ok, ok, ok}},
  {place::completed, call::nack, {done, done, done, done}},
  {place::completed, call::nack_for_good, {done, done, done, done}},
  {place::completed, call::touch, {done, done, done, done}},
  {place::dead_by_nack, call::ack, {dead, dead, dead, dead}},
  {place::dead_by_nack, call::nack, {ok, ok, dead, dead}},
  {place::dead_by_nack, call::nack_for_good, {ok, ok, dead, dead}},
  {place::dead_by_nack, call::touch, {dead, dead, dead, dead}},
  {place::dead_by_attempts, call::ack, {dead, dead, dead, dead}},
  {place::dead_by_attempts, call::nack, {dead, dead, dead, dead}},
  {place::dead_by_attempts, call::nack_for_good, {dead, dead, dead, dead}},
  {place::dead_by_attempts, call::touch, {dead, dead, dead, dead}},
  {place::cancelled, call::ack, {dead, dead, dead, dead}},
  {place::cancelled, call::nack, {dead, dead, dead, dead}},
  {place::cancelled, call::nack_for_good, {dead, dead, dead, dead}},
  {place::cancelled, call::touch, {dead, dead, dead, dead}},
};

/// One job at its place, in a queue that is paused so that it stays there.
class scene {
public:
  explicit scene(place where) : where_(where) {
    w.change([](auto& s) { s.backoff.type = backoff_settings::kind::fixed; });
    tidegate::publish what;
    what.limit_key = "a";
    if (where == place::pending)
      what.delay = seconds(1000);
    job = w.publish(what);
    if (where != place::pending)
      come_to();
    w.pause();
  }

  /// Returns the number that `what` means here, if it means one.
  std::optional<std::uint64_t> number(named what) const {
    auto last = w.flies(job) ? w.in_flight().front().number
                             : w.stored(job).deliveries;
    switch (what) {
      case named::none:
        return std::nullopt;
      case named::current:
        return last;
      case named::earlier:
        return last - 1;
      case named::future:
        break;
    }
    return last + 1;
  }

  bool has(named what) const {
    auto n = number(what);
    return !n || *n > 0;
  }

  std::string report(call what, std::optional<std::uint64_t> fence) {
    switch (what) {
      case call::ack:
        return w.ack(job, fence);
      case call::nack:
        return w.nack(job, true, fence);
      case call::nack_for_good:
        return w.nack(job, false, fence);
      case call::defer:
        return w.defer(job, seconds(30), {}, fence);
      case call::defer_job:
        return w.defer(job, seconds(30), defer_scope::job, fence);
      case call::defer_key:
        return w.defer(job, seconds(30), defer_scope::key, fence);
      case call::touch:
        break;
    }
    return w.touch(job, seconds(30), fence);
  }

  bool is_owed() const {
    return where_ == place::delivering || where_ == place::awaiting;
  }

  wall_time queue_release() {
    return w.view().queue.gate.release_at;
  }

  wall_time key_release() {
    return w.key_gate("a").release_at;
  }

  workbench w{ack_settings()};
  job_id job;

private:
  /// Fails once, and goes on from there.
  void come_to() {
    if (where_ == place::replayed) {
      w.nack(job, false);
      w.answer_all(answered(200));
      w.pause();
      w.replay(job);
      return;
    }
    w.answer(job, answered(500));
    w.pass(seconds(1));
    switch (where_) {
      case place::awaiting:
        w.answer(job, answered(200));
        break;
      case place::deferred:
        w.answer(job, answered(429, {"10"}));
        break;
      case place::completed:
        w.ack(job);
        w.answer(job, answered(200));
        break;
      case place::dead_by_nack:
        w.answer(job, answered(200));
        w.nack(job, false);
        break;
      case place::retrying:
      case place::dead_by_attempts:
      case place::cancelled:
        w.answer(job, answered(500));
        finish();
        break;
      default:
        break;
    }
  }

  void finish() {
    if (where_ == place::dead_by_attempts) {
      w.pass(seconds(1));
      w.answer(job, answered(500));
    }
    if (where_ == place::cancelled)
      w.cancel(job);
  }

  place where_;
};

const named all_names[] = {named::none, named::current, named::earlier,
                           named::future};

/// What a callback that was taken makes of a job, in the words of the contract.
job expected(const scene& before, place where, call what, named who) {
  auto j = before.w.stored(before.job);
  auto mine = who == named::none || who == named::current;
  auto owed = before.is_owed() && mine;
  switch (what) {
    case call::ack:
      if (where == place::completed)
        break;
      j.status = job_status::completed;
      // What failed has been counted, what was deferred has not.
      if (owed || (where == place::deferred && mine))
        ++j.attempts;
      break;
    case call::nack:
    case call::nack_for_good:
      if (!owed)
        break;
      ++j.attempts;
      j.status = what == call::nack ? job_status::processing : job_status::dead;
      break;
    case call::defer:
    case call::defer_job:
    case call::defer_key:
      if (!owed)
        break;
      ++j.defers;
      j.status = job_status::processing;
      break;
    case call::touch:
      break;
  }
  return j;
}

void require_same_counts(const job& a, const job& b) {
  REQUIRE(a.status == b.status);
  REQUIRE(a.attempts == b.attempts);
  REQUIRE(a.defers == b.defers);
  REQUIRE(a.deliveries == b.deliveries);
}

/// Walks through one row; @param cold the process dies before the callback.
void try_row(const row& r, bool cold) {
  for (auto who : all_names) {
    scene s{r.where};
    if (!s.has(who))
      continue;
    if (cold)
      s.w.restart(seconds(0.1));
    auto fence = s.number(who);
    auto want = expected(s, r.where, r.what, who);
    auto before = s.w.stored(s.job);
    auto gate = s.w.view().queue.gate;
    auto events = s.w.events().size();
    INFO("place " << static_cast<int>(r.where) << ", call "
                  << static_cast<int>(r.what) << ", named "
                  << static_cast<int>(who) << ", cold " << cold);
    std::string answer = r.answers[static_cast<int>(who)];
    REQUIRE(s.report(r.what, fence) == answer);
    if (answer != ok) {
      REQUIRE(s.w.stored(s.job) == before);
      REQUIRE(s.w.events().size() == events);
    } else {
      require_same_counts(s.w.stored(s.job), want);
    }
    REQUIRE(s.w.view().queue.gate == gate);
    auto after = s.w.stored(s.job);
    s.w.pass(seconds(0.1));
    REQUIRE(s.report(r.what, fence) == answer);
    require_same_counts(s.w.stored(s.job), after);
    REQUIRE(s.w.history(s.job).size() <= 3);
  }
}

const place all_places[] = {place::pending,          place::replayed,
                            place::delivering,       place::awaiting,
                            place::retrying,         place::deferred,
                            place::completed,        place::dead_by_nack,
                            place::dead_by_attempts, place::cancelled};

void try_defer(place where, call what, named who, bool cold) {
  scene s{where};
  if (!s.has(who))
    return;
  if (cold)
    s.w.restart(seconds(0.1));
  INFO("place " << static_cast<int>(where) << ", call "
                << static_cast<int>(what) << ", named " << static_cast<int>(who)
                << ", cold " << cold);
  auto fence = s.number(who);
  auto want = expected(s, where, what, who);
  auto queue_before = s.queue_release();
  auto until = s.w.now().wall + seconds(30);
  REQUIRE(s.report(what, fence) == ok);
  require_same_counts(s.w.stored(s.job), want);
  // The delivery that waits for the end of its defer has been deferred.
  auto repeat = where == place::deferred && who == named::current;
  auto queue_held = what == call::defer && !repeat;
  auto key_held = what == call::defer_key && !repeat;
  REQUIRE(s.queue_release() == (queue_held ? until : queue_before));
  REQUIRE(s.key_release() == (key_held ? until : wall_time{}));
  // The same again, a little later: fenced, it changes nothing at all.
  s.w.pass(seconds(1));
  auto recorded = repeat || (s.is_owed() && who == named::current);
  REQUIRE(s.report(what, fence) == ok);
  require_same_counts(s.w.stored(s.job), want);
  auto later = recorded ? until : until + seconds(1);
  REQUIRE(s.queue_release() == (queue_held ? later : queue_before));
  REQUIRE(s.key_release() == (key_held ? later : wall_time{}));
}

} // namespace

TEST_CASE("each callback answers as its cell of the table says, and again") {
  for (const auto& r : table)
    try_row(r, false);
}

TEST_CASE("each callback answers the same after a restart") {
  for (const auto& r : table)
    if (r.where != place::delivering)
      try_row(r, true);
}

TEST_CASE("a defer is taken wherever the job is, and holds what it names") {
  for (auto where : all_places)
    for (auto what : {call::defer, call::defer_job, call::defer_key})
      for (auto who : all_names) {
        try_defer(where, what, who, false);
        if (where != place::delivering)
          try_defer(where, what, who, true);
      }
}

// -- about the whole table ----------------------------------------------------

TEST_CASE("in standard mode every callback is refused and changes nothing") {
  workbench w;
  auto job = w.publish();
  CHECK(w.ack(job) == "not_ack_mode");
  CHECK(w.nack(job) == "not_ack_mode");
  CHECK(w.defer(job, seconds(1)) == "not_ack_mode");
  CHECK(w.touch(job, seconds(1)) == "not_ack_mode");
  CHECK(w.gate() == gate_state::open);
  w.answer(job, answered(200));
  CHECK(w.ack(job) == "not_ack_mode");
}

TEST_CASE("a callback for a job that nobody knows is job_not_found") {
  workbench w{ack_settings()};
  auto job = w.publish();
  auto other = job;
  ++other.tag;
  CHECK(w.ack(other) == "job_not_found");
  CHECK(w.defer(other, seconds(1)) == "job_not_found");
  CHECK(w.gate() == gate_state::open);
  CHECK(w.ack({queue_id{1}, job_seq{77}, 1}) == "job_not_found");
  CHECK(w.ack(job) == "ok");
}

TEST_CASE("a callback is answered when its outcome is stored") {
  workbench w{ack_settings()};
  auto job = w.publish();
  w.keep_commits_back();
  CHECK(w.ack(job).empty());
  w.commit_all();
  CHECK(w.answers().back() == "ok");
  CHECK(w.stored(job).status == job_status::completed);
}

TEST_CASE("a repeat is answered only when the first one is stored") {
  workbench w{ack_settings()};
  auto job = w.publish();
  w.keep_commits_back();
  w.nack(job, true, 1);
  CHECK(w.nack(job, true, 1).empty());
  w.restart();
  CHECK(w.stored(job).attempts == 0);
}
