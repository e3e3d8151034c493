#include "tests/sim/run.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <stdexcept>

#include <caf/exit_reason.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "tests/testkit/modelled_downstream.hpp"
#include "tests/testkit/virtual_system.hpp"
#include "tidegate/memory_store.hpp"
#include "tidegate/metrics.hpp"
#include "tidegate/service.hpp"

namespace tidegate::sim {

namespace {

using namespace std::chrono_literals;

constexpr char queue_name[] = "simulated";

/// 2026-01-01T00:00:00Z.
constexpr moment start{steady_time{1s}, wall_time{1'767'225'600s}};

/// Publishes that are sent before any of them is handled.
constexpr unsigned unhandled_max = 256;

/// Deliveries that the downstream remembers: what it saw is counted here.
constexpr std::size_t remembered_max = 64;

event_listener::behavior_type listen(event_listener::pointer, tally* counts) {
  return {[=](const service_event& event) {
    counts->event_happened(event, event.at - start.wall);
  }};
}

template <std::size_t N>
std::uint64_t sum(const std::array<std::uint64_t, N>& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), std::uint64_t{0});
}

/// One variant, from its first job to its last.
class simulation {
public:
  simulation(const plan& what, const variant& which, std::uint64_t seed)
    : plan_(what), variant_(which), seeds_(seed),
      arrivals_(what, seeds_.bits()), model_(what.downstream, seeds_.bits()),
      random_(seeds_.bits()), counts_(what, first_width(what.length)),
      system_(start, seeds_.bits() | 1) {
    open();
  }

  ~simulation() {
    service_->kill();
    caf::anon_send_exit(listener_, caf::exit_reason::user_shutdown);
    listener_ = nullptr;
    queue_ = nullptr;
    system_.run();
  }

  outcome run() {
    for (auto job = arrivals_.next(); job; job = arrivals_.next()) {
      advance_to(job->at);
      publish_one(*job);
    }
    advance_to(plan_.length);
    system_.run();
    while (look() > 0 && elapsed() < plan_.length + plan_.drain)
      advance_to(elapsed() + counts_.times.width());
    return report();
  }

private:
  duration elapsed() const {
    return system_.now().steady - start.steady;
  }

  void open();

  testkit::response answer(const delivery& request, moment now);

  void publish_one(const publication& job);

  /// Lets time pass, and looks at the backlog at regular intervals.
  void advance_to(duration at);

  /// Returns the number of live jobs, which it notes.
  std::uint64_t look();

  outcome report();

  void report_queue(outcome& result);

  void report_times(outcome& result);

  template <class Reply, class Handle, class Message>
  Reply ask(const Handle& whom, Message what) {
    auto answer = system_.ask<Reply>(whom, std::move(what));
    if (!answer)
      throw std::runtime_error("no answer");
    if (!*answer)
      throw std::runtime_error((*answer).reason().message);
    return std::move(**answer);
  }

  const plan& plan_;
  const variant& variant_;
  lots seeds_;
  arrivals arrivals_;
  downstream_model model_;
  lots random_;
  tally counts_;
  testkit::virtual_system system_;
  std::shared_ptr<testkit::modelled_downstream> downstream_;
  std::unique_ptr<service> service_;
  event_listener listener_;
  queue_actor queue_;
  duration next_look_{0};
  duration last_publish_{0};
  unsigned unhandled_ = 0;
  std::uint64_t publishes_ = 0;
};

void simulation::open() {
  downstream_ = std::make_shared<testkit::modelled_downstream>(
    system_, [this](const delivery& request, moment now) {
      return answer(request, now);
    });
  listener_ = system_.get().spawn(listen, &counts_);
  service_options options;
  options.store = make_memory_store();
  options.transport = downstream_;
  if (variant_.naive)
    options.transport = std::make_shared<without_backpressure>(downstream_);
  options.now = [this] { return system_.now(); };
  options.random = [this] { return random_.bits(); };
  options.make_secret = [] { return "whsec_of_a_simulation"; };
  options.listener = listener_;
  options.detach_storage = false;
  options.api_keys_pause = 0s;
  options.removal_pause = 10s;
  service_ = std::make_unique<service>(system_.get(), std::move(options));
  service_->start();
  system_.run();
  ask<put_queue_result>(service_->registry(),
                        create_queue{queue_name, variant_.settings});
  queue_ = ask<queue_actor>(service_->registry(), find_queue{queue_name});
}

testkit::response simulation::answer(const delivery& request, moment now) {
  if (downstream_->arrivals().size() >= remembered_max)
    downstream_->forget();
  auto at = now.steady - start.steady;
  auto job = from_payload(request.payload);
  auto judged = model_.take(job, request.timeout, at);
  counts_.delivery_began(judged, at, downstream_->in_flight() + 1);
  if (judged.what == fate::taken)
    counts_.job_completed(job.stream, request.created_at - start.wall,
                          at + judged.answer.latency);
  return judged.answer;
}

void simulation::publish_one(const publication& job) {
  publish what;
  what.payload = to_payload(job);
  what.limit_key = limit_key_of(plan_, job);
  caf::anon_send(queue_, std::move(what));
  ++publishes_;
  last_publish_ = job.at;
  if (++unhandled_ < unhandled_max)
    return;
  unhandled_ = 0;
  system_.run();
}

std::uint64_t simulation::look() {
  auto counts = ask<queue_view>(queue_, get_queue{}).counts;
  auto live = counts.pending + counts.processing + counts.awaiting_ack;
  counts_.times.note_backlog(elapsed(), live);
  return live;
}

void simulation::advance_to(duration at) {
  while (next_look_ <= at) {
    system_.advance(next_look_ - elapsed());
    look();
    next_look_ += counts_.times.width();
  }
  if (at > elapsed())
    system_.advance(at - elapsed());
}

outcome simulation::report() {
  outcome result;
  result.name = variant_.name;
  result.naive = variant_.naive;
  result.deliveries = counts_.deliveries;
  result.refused = counts_.refused;
  result.failed = counts_.failed;
  result.in_flight_max = counts_.in_flight_max;
  result.recovery_in_flight_max = counts_.recovery_in_flight_max;
  result.recovery_deliveries_max = counts_.recovery_deliveries_max;
  report_queue(result);
  report_times(result);
  result.holds = counts_.gate.holds;
  result.probes = counts_.gate.probes;
  result.key_holds = counts_.gate.key_holds;
  result.shut = counts_.gate.shut;
  result.times = std::move(counts_.times);
  return result;
}

void simulation::report_queue(outcome& result) {
  auto all = ask<service_metrics>(service_->metrics(), collect_metrics{});
  auto& counters = all.queues.at(0).counters;
  result.published = counters.published;
  // What is not stored has been answered with an error.
  result.publishes_refused = publishes_ - counters.published;
  result.completed = counters.completed;
  result.dead = sum(counters.dead);
  for (std::size_t i = 0; i < counters.dead.size(); ++i)
    if (counters.dead[i] > 0)
      result.dead_by_reason[to_string(static_cast<dead_reason>(i))] =
        counters.dead[i];
  auto failed = static_cast<std::size_t>(delivery_result::failed);
  result.burned = sum(counters.deliveries.results[failed]);
  result.unfinished = result.published - result.completed - result.dead;
}

void simulation::report_times(outcome& result) {
  if (result.unfinished == 0) {
    auto from = last_publish_;
    for (auto& out : plan_.downstream.outages)
      if (out.from <= counts_.last_end)
        from = std::max(from, out.from + out.length);
    result.drained_at = counts_.last_end;
    result.drain = std::max(duration{0}, counts_.last_end - from);
  }
  counts_.gate.finish(result.drained_at.value_or(elapsed()), counts_.times);
  std::vector<duration> all;
  for (std::size_t i = 0; i < counts_.latencies.size(); ++i) {
    auto& own = counts_.latencies[i];
    all.insert(all.end(), own.begin(), own.end());
    result.streams.emplace_back(plan_.streams[i].name, percentiles_of(own));
  }
  result.latency = percentiles_of(all);
}

} // namespace

outcome simulate(const plan& what, const variant& which, std::uint64_t seed) {
  simulation life{what, which, seed};
  return life.run();
}

duration first_width(duration length) {
  constexpr std::int64_t spans = 500;
  auto wanted = std::max(length, duration{5s}) / spans;
  for (duration unit = 10ms;; unit *= 10)
    for (auto factor : {1, 2, 5})
      if (unit * factor >= wanted)
        return unit * factor;
}

} // namespace tidegate::sim
