// What a queue says of its jobs, and what it then does: random histories.
//
// The workbench holds at every moment that what is not blocked goes and that
// what goes was not blocked. Here the future is asked as well: nobody goes
// before the time that was named, and time alone opens what waits for time.

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "tests/core/histories.hpp"

using namespace tidegate;
using namespace tidegate::testing;

namespace {

constexpr auto seeds = 300u;
constexpr auto length = 60;

/// How far the future is asked.
constexpr auto horizon = std::chrono::seconds{15};

/// Draws what happens to a queue, and lets it happen.
class fate : private dice {
public:
  explicit fate(unsigned seed) : dice(seed), world_(draw_world()) {
    // nop
  }

  workbench& world() {
    return world_;
  }

  bool capped() const {
    return capped_;
  }

  const char* happen();

private:
  using deed = std::pair<const char*, void (fate::*)()>;

  void draw_limits(queue_settings& s);
  queue_settings draw_settings();
  workbench draw_world();

  /// Any job that was ever published, most often one of the last.
  std::optional<job_id> a_job();

  // What happens.
  void publish();
  void answer();
  void report();
  void pause_or_resume();
  void hold();
  void release();
  void release_key();
  void cancel();
  void run_now();
  void replay();
  void set_limits();
  void new_url();
  void rivals();
  void time_passes();
  void wake_up();
  void die();

  std::vector<job_id> jobs_;
  bool capped_ = false;
  workbench world_;
};

void fate::draw_limits(queue_settings& s) {
  s.concurrency = from_1_to(3);
  s.rate_limit_max.reset();
  s.key_concurrency.reset();
  s.key_rate_limit_max.reset();
  if (one_in(2))
    s.rate_limit_max = from_1_to(3);
  s.rate_limit_window = seconds(from_1_to(3));
  if (one_in(2))
    s.key_concurrency = from_1_to(2);
  if (one_in(3))
    s.key_rate_limit_max = from_1_to(2);
}

queue_settings fate::draw_settings() {
  auto s = one_in(3) ? ack_settings() : plain_settings();
  draw_limits(s);
  s.max_attempts = from_1_to(4);
  s.max_defers = from_1_to(6);
  if (one_in(2))
    s.backpressure_scope = backpressure_scope::key;
  if (one_in(2))
    s.recovery = {recovery_settings::kind::ramp, from_1_to(2), 2};
  if (one_in(4))
    s.lifetime = seconds(4 + from_1_to(20));
  s.ack_timeout = seconds(from_1_to(6));
  if (one_in(4))
    s.max_hold = seconds(2);
  return s;
}

workbench fate::draw_world() {
  auto settings = draw_settings();
  capped_ = one_in(3);
  workbench result{settings,
                   capped_ ? std::optional{from_1_to(3)} : std::nullopt};
  if (one_in(4))
    result.keep_commits_back();
  if (one_in(4))
    result.keep_loads_back();
  if (one_in(4))
    result.keep_aborted_flying();
  return result;
}

std::optional<job_id> fate::a_job() {
  if (jobs_.empty())
    return std::nullopt;
  auto back = std::min<std::size_t>(jobs_.size(), 8);
  return jobs_[jobs_.size() - 1 - below(back)];
}

void fate::publish() {
  // The workbench looks at jobs one by one only while they are few.
  if (world_.store().live().size() >= 9)
    return;
  tidegate::publish what;
  what.priority = static_cast<std::uint8_t>(one_in(2) ? below(10) : 0);
  what.limit_key = one_of<const char*>({"", "", "a", "b"});
  if (one_in(4))
    what.delay = tenths(40);
  else if (one_in(5))
    what.run_at = world_.now().wall + tenths(40) - seconds(1);
  jobs_.push_back(world_.publish(std::move(what)));
}

void fate::answer() {
  if (world_.in_flight().empty())
    return;
  auto reply = one_of<delivery_reply>(
    {answered(200), answered(200), answered(200), answered(429, {"2"}),
     answered(429, {"0.5"}), answered(503, {"4"}), answered(500), answered(404),
     answered(301), unanswered(delivery_errc::timeout),
     unanswered(delivery_errc::connect_failed)});
  world_.answer(below(world_.in_flight().size()), reply);
}

void fate::report() {
  auto job = a_job();
  auto awaiting = world_.awaiting();
  if (!awaiting.empty() && !one_in(4))
    job = any(awaiting);
  if (!job)
    return;
  using scope = std::optional<defer_scope>;
  switch (below(4)) {
    case 0:
      world_.ack(*job);
      break;
    case 1:
      world_.nack(*job, !one_in(3));
      break;
    case 2:
      world_.defer(
        *job, tenths(40),
        one_of<scope>(
          {{}, defer_scope::queue, defer_scope::key, defer_scope::job}));
      break;
    default:
      world_.touch(*job, seconds(from_1_to(4)));
  }
}

void fate::pause_or_resume() {
  if (world_.view().queue.paused)
    world_.resume();
  else
    world_.pause();
}

void fate::hold() {
  world_.hold(tenths(40), "for a while");
}

void fate::release() {
  world_.release();
}

void fate::release_key() {
  world_.release_key(one_of<const char*>({"a", "b"}));
}

void fate::cancel() {
  if (auto job = a_job())
    world_.cancel(*job);
}

void fate::run_now() {
  if (auto job = a_job())
    world_.run_now(*job);
}

void fate::replay() {
  if (auto job = a_job(); job && world_.store().live().size() < 9)
    world_.replay(*job, {}, one_in(3));
}

void fate::set_limits() {
  world_.change([this](auto& s) { draw_limits(s); });
}

void fate::new_url() {
  world_.change([](auto& s) { s.webhook_url += "x"; });
}

void fate::rivals() {
  if (capped_ && world_.free_permits() > 0)
    world_.rivals_take(1);
  else if (capped_)
    world_.rivals_leave();
}

void fate::time_passes() {
  world_.pass(tenths(30));
}

void fate::wake_up() {
  world_.pass_to_wakeup();
}

void fate::die() {
  world_.restart(tenths(20));
}

/// Lets something happen and returns what it was.
const char* fate::happen() {
  static constexpr deed deeds[] = {
    {"publish", &fate::publish},
    {"publish", &fate::publish},
    {"publish", &fate::publish},
    {"publish", &fate::publish},
    {"answer", &fate::answer},
    {"answer", &fate::answer},
    {"answer", &fate::answer},
    {"answer", &fate::answer},
    {"report", &fate::report},
    {"report", &fate::report},
    {"pause or resume", &fate::pause_or_resume},
    {"hold", &fate::hold},
    {"release", &fate::release},
    {"release key", &fate::release_key},
    {"cancel", &fate::cancel},
    {"run now", &fate::run_now},
    {"replay", &fate::replay},
    {"set limits", &fate::set_limits},
    {"new URL", &fate::new_url},
    {"rivals", &fate::rivals},
    {"time passes", &fate::time_passes},
    {"time passes", &fate::time_passes},
    {"wake up", &fate::wake_up},
    {"wake up", &fate::wake_up},
    {"die", &fate::die},
  };
  while (world_.has_uncommitted() && !one_in(3))
    world_.commit();
  while (world_.has_loads() && !one_in(3))
    world_.load();
  auto [name, what] = any(deeds);
  (this->*what)();
  return name;
}

/// What is said of the jobs that wait: not before which time they go.
std::map<job_id, wall_time> said_of_the_future(workbench& w) {
  std::map<job_id, wall_time> result;
  for (const auto& [seq, r] : w.store().live())
    for (const auto& b : w.view(r.job.id).blocked)
      if (b.until)
        result[r.job.id] = std::max(result[r.job.id], *b.until);
  return result;
}

/// From here on nothing happens but that time passes. Returns how many started
/// of which a time had been told.
std::size_t require_foretold(workbench w) {
  std::size_t result = 0;
  auto said = said_of_the_future(w);
  auto from = w.log().size();
  w.pass(horizon);
  for (; from < w.log().size(); ++from) {
    const auto& d = w.log()[from].what;
    auto i = said.find(d.job);
    if (i == said.end())
      continue;
    must(d.started_at >= i->second, "nobody goes before the time that is told");
    // The rest of its life was not foretold.
    said.erase(i);
    ++result;
  }
  return result;
}

/// A job that comes now and has no key goes at once exactly if nothing is said
/// to block the queue. Where permits are needed, whether there is one is known
/// only when it has been asked for.
void require_true_of_a_newcomer(workbench w, bool capped) {
  if (w.has_uncommitted() || w.has_loads())
    return;
  auto open = w.view().blocked.empty();
  auto job = w.publish();
  w.commit_all();
  while (w.has_loads() || w.has_uncommitted()) {
    w.load();
    w.commit_all();
  }
  auto goes = w.flies(job);
  must(open || !goes, "what blocks the queue blocks who comes");
  must(goes || !w.view(job).blocked.empty(), "who does not go is told why");
  must(goes || !open || capped, "an open queue blocks nobody");
}

} // namespace

TEST_CASE("what is told of a job is what happens, whatever the seed") {
  std::size_t foretold = 0;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    tell_of_seed(seed, [&](progress& p) {
      fate f{seed};
      for (; p.step < length; ++p.step) {
        p.last = f.happen();
        foretold += require_foretold(f.world());
        require_true_of_a_newcomer(f.world(), f.capped());
      }
    });
  }
  // Else it would have asked about nothing.
  CHECK(foretold > seeds);
}
