#include "actors/metrics_actor.hpp"

#include <algorithm>
#include <utility>

#include <caf/actor_registry.hpp>
#include <caf/actor_system.hpp>
#include <caf/result.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_behavior.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace tidegate {

namespace {

/// Most queues that are asked at a time. CAF looks for who asked by going
/// through all that were asked.
constexpr std::size_t asked_max = 64;

/// Most who may ask at a time.
constexpr std::size_t scrapes_max = 4;

void raise(std::atomic<std::uint64_t>& number, std::uint64_t by = 1) {
  number.store(number.load(std::memory_order_relaxed) + by,
               std::memory_order_relaxed);
}

} // namespace

// -- commits ------------------------------------------------------------------

void commit_counters::count(std::size_t records, duration took) {
  latency_histogram one;
  one.observe(took);
  auto range = std::find(one.counts.begin(), one.counts.end(), 1u);
  raise(latencies_[static_cast<std::size_t>(range - one.counts.begin())]);
  raise(micros_,
        static_cast<std::uint64_t>(std::max<duration::rep>(took.count(), 0)));
  const auto& bounds = commit_metrics::batch_bounds;
  auto batch = std::lower_bound(bounds.begin(), bounds.end(), records);
  raise(batches_[static_cast<std::size_t>(batch - bounds.begin())]);
  raise(records_, records);
}

void commit_counters::count_failure() {
  raise(failures_);
}

commit_metrics commit_counters::read() const {
  constexpr auto order = std::memory_order_relaxed;
  commit_metrics result;
  for (std::size_t i = 0; i < batches_.size(); ++i)
    result.batches[i] = batches_[i].load(order);
  for (std::size_t i = 0; i < latencies_.size(); ++i)
    result.latency.counts[i] = latencies_[i].load(order);
  result.latency.sum = duration{micros_.load(order)};
  result.records = records_.load(order);
  result.failures = failures_.load(order);
  return result;
}

// -- scrapes ------------------------------------------------------------------

/// One answer that is being put together.
struct metrics_state::scrape {
  collect_metrics what;
  promise<service_metrics> answer;
  std::vector<meter_list::item> meters;
  std::size_t next = 0;
  std::size_t missing = 0;

  /// One for each queue that has figures of its own.
  std::vector<std::optional<queue_metrics>> own;

  service_metrics result;

  void put(std::size_t i, queue_metrics&& one) {
    if (i < own.size()) {
      one.project = std::move(meters[i].project);
      one.name = std::move(meters[i].name);
      own[i] = std::move(one);
      return;
    }
    auto& sum = one.kind == queue_kind::push ? result.other_push
                                             : result.other_pull;
    if (!sum) {
      sum.emplace();
      sum->kind = one.kind;
    }
    sum->add(one);
  }
};

metrics_state::metrics_state(metrics_actor::pointer self) : self_(self) {
  // nop
}

void metrics_state::open(environment_ptr env, meter_directory queues,
                         events_actor events) {
  env_ = std::move(env);
  queues_ = std::move(queues);
  events_ = std::move(events);
}

auto metrics_state::handle(collect_metrics& request)
  -> promise<service_metrics> {
  auto answer = self_->make_response_promise<service_metrics>();
  if (under_way_ == scrapes_max)
    return answer.deliver(
      to_caf({errc::overloaded, "too many ask for metrics at once"}));
  ++under_way_;
  auto s = std::make_shared<scrape>();
  s->what = std::move(request);
  s->answer = answer;
  auto failed = [this, s](const caf::error& reason) {
    --under_way_;
    s->answer.deliver(reason);
  };
  self_->request(events_, caf::infinite, get_event_figures{})
    .then(
      [this, s, failed](const event_figures& events) {
        s->result.events = events;
        self_->request(queues_, caf::infinite, list_meters{})
          .then([this, s](meter_list& all) { begin(s, all); }, failed);
      },
      failed);
  return answer;
}

void metrics_state::begin(std::shared_ptr<scrape> s, meter_list& all) {
  s->meters = std::move(all.items);
  if (const auto& project = s->what.project)
    std::erase_if(s->meters,
                  [&](const auto& x) { return x.project != *project; });
  s->own.resize(std::min(s->meters.size(), s->what.queues_max));
  if (s->meters.empty())
    finish(*s);
  else
    ask_more(s);
}

void metrics_state::ask_more(std::shared_ptr<scrape> s) {
  auto ended = [this, s] {
    if (--s->missing > 0 || s->next < s->meters.size())
      ask_more(s);
    else
      finish(*s);
  };
  while (s->next < s->meters.size() && s->missing < asked_max) {
    auto i = s->next++;
    ++s->missing;
    self_->request(s->meters[i].meter, caf::infinite, get_queue_metrics{})
      .then(
        [s, i, ended](queue_metrics& one) {
          s->put(i, std::move(one));
          ended();
        },
        [ended](const caf::error&) { ended(); });
  }
}

void metrics_state::finish(scrape& s) {
  --under_way_;
  for (auto& one : s.own)
    if (one)
      s.result.queues.push_back(std::move(*one));
  s.result.commits = env_->commits->read();
  s.result.commits.backlog = env_->backlog->records.load();
  s.result.actors = self_->system().registry().running();
  s.answer.deliver(std::move(s.result));
}

metrics_actor::behavior_type
make_metrics(metrics_actor::stateful_pointer<metrics_state> self,
             environment_ptr env, meter_directory queues, events_actor events) {
  auto& state = self->state;
  state.open(std::move(env), std::move(queues), std::move(events));
  return {
    [&state](collect_metrics& x) { return state.handle(x); },
  };
}

} // namespace tidegate
