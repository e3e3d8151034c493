#include "actors/alerts_actor.hpp"

#include <algorithm>
#include <utility>

#include <caf/result.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/system_messages.hpp>
#include <caf/typed_behavior.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace tidegate {

namespace {

/// Until what failed is tried again.
constexpr duration retry_pause = std::chrono::seconds{1};

/// Most alerts that are being published at a time.
constexpr std::size_t under_way_max = 16;

/// Most queues that are asked how they are at a time, and the pause before the
/// next ones: a look at ten thousand takes seconds, and nobody waits for it.
constexpr std::size_t asked_max = 64;
constexpr duration ask_pause = std::chrono::milliseconds{10};

/// Most of the past that is read, and how much of it in one go.
constexpr std::size_t past_page = 1000;
constexpr std::size_t past_pages_max = 10;

/// An alert is worth hours of patience, however often it is put off, and comes
/// after those before it.
queue_settings outlet_settings(const alert_options& options) {
  queue_settings result;
  result.webhook_url = options.webhook_url;
  result.concurrency = 1;
  result.max_attempts = 20;
  result.max_defers = 1'000'000;
  result.backoff.delay = 5;
  result.backoff.max_delay = 300;
  result.retention = std::max(result.retention,
                              duration{options.settings.window});
  return result;
}

bool looks_at_queues(const alert_settings& settings) {
  return settings.held.count() > 0 || settings.depth > 0
         || settings.age.count() > 0;
}

alerts::figures to_figures(const queue_metrics& what) {
  const auto& counts = what.counts;
  alerts::figures result;
  result.kind = what.kind;
  result.depth = what.kind == queue_kind::push
                   ? counts.pending + counts.processing + counts.awaiting_ack
                   : counts.pending + counts.scheduled;
  result.oldest_age = what.oldest_age;
  result.shut_since = what.shut_since;
  result.held_until = what.held_until;
  return result;
}

} // namespace

alerts_state::alerts_state(alerts_actor::pointer self) : self_(self) {
  // nop
}

void alerts_state::open(std::function<moment()> now, alert_options options) {
  now_ = std::move(now);
  options_ = std::move(options);
  alerts_.emplace(options_.settings);
  started_ = now_().wall;
}

// -- what it hears ------------------------------------------------------------

auto alerts_state::handle(start_alerts& request) -> promise<alerts_started> {
  registry_ = std::move(request.registry);
  queues_ = std::move(request.queues);
  starting_ = self_->make_response_promise<alerts_started>();
  auto answer = *starting_;
  open_outlet();
  return answer;
}

void alerts_state::handle(const service_event& event) {
  alerts_->happened(event, now_());
  advance();
}

void alerts_state::handle(alerts_tick message) {
  if (timer_.fired(message))
    advance();
}

/// Does all that is due.
void alerts_state::advance() {
  if (!registry_)
    return;
  auto now = now_();
  if (outlet_ == outlet::usable)
    publish_due(now);
  else if (outlet_ == outlet::unknown && now.steady >= retry_at_)
    open_outlet();
  // Before the past is known a look would tell of it.
  if (remembers_ && !looking_ && looks_at_queues(options_.settings)
      && now.steady >= next_look_)
    begin_look(now);
  if (next_ask_ && now.steady >= *next_ask_)
    ask_more();
  if (recount_at_ && now.steady >= *recount_at_) {
    recount_at_.reset();
    recount_next();
  }
  arm_timer(now);
}

void alerts_state::arm_timer(moment now) {
  std::optional<steady_time> at;
  auto wake = [&](std::optional<steady_time> when) {
    if (when)
      at = at ? std::min(*at, *when) : *when;
  };
  if (outlet_ == outlet::usable && under_way_ < under_way_max)
    wake(alerts_->next_wakeup());
  if (outlet_ == outlet::unknown)
    wake(retry_at_);
  if (remembers_ && !looking_ && looks_at_queues(options_.settings))
    wake(next_look_);
  wake(next_ask_);
  wake(recount_at_);
  if (at)
    timer_.arm(self_, now, *at);
}

// -- the queue that alerts go through -----------------------------------------

void alerts_state::open_outlet() {
  outlet_ = outlet::being_opened;
  self_
    ->request(registry_, caf::infinite,
              create_queue{alerts_queue, outlet_settings(options_)})
    .then([this](const put_queue_result&) { find_outlet(); },
          [this](const caf::error& reason) {
            if (from_caf(reason).code == errc::queue_exists)
              find_outlet();
            else
              outlet_failed(reason);
          });
}

void alerts_state::find_outlet() {
  auto failed = [this](const caf::error& reason) { outlet_failed(reason); };
  self_->request(registry_, caf::infinite, find_queue{alerts_queue})
    .then(
      [this, failed](const queue_actor& found) {
        queue_ = found;
        self_->request(queue_, caf::infinite, get_queue{})
          .then([this](const queue_view& view) { update_outlet(view); },
                failed);
      },
      failed);
}

/// What an operator has set stays, but for where alerts go, and for how long
/// they are remembered at least.
void alerts_state::update_outlet(const queue_view& view) {
  const auto& settings = view.queue.settings;
  queue_settings_patch patch;
  if (settings.webhook_url != options_.webhook_url)
    patch.webhook_url = options_.webhook_url;
  if (settings.retention < options_.settings.window)
    patch.retention = options_.settings.window;
  if (!remembers_)
    base_ = std::max(view.queue.created_at, started_ - settings.retention);
  auto go_on = [this] {
    past_.clear();
    past_pages_ = 0;
    if (remembers_)
      outlet_opened();
    else
      read_past(job_seq{max_48_bits});
  };
  if (patch == queue_settings_patch{}) {
    go_on();
    return;
  }
  self_->request(queue_, caf::infinite, patch_queue{std::move(patch)})
    .then([go_on](const queue_view&) { go_on(); },
          [this](const caf::error& reason) { outlet_failed(reason); });
}

void alerts_state::read_past(job_seq before) {
  list_jobs what;
  what.before = before;
  what.limit = past_page;
  what.payloads = options_.read_since != nullptr;
  self_->request(queue_, caf::infinite, std::move(what))
    .then([this](const job_list& page) { take_past(page); },
          [this](const caf::error& reason) { outlet_failed(reason); });
}

/// The first page always counts: it may tell of what was said longer ago than a
/// window, when the server was down for so long.
void alerts_state::take_past(const job_list& page) {
  auto now = now_();
  auto whole_window = false;
  for (const auto& item : page.items) {
    const auto& j = item.record.job;
    whole_window = now.wall - j.created_at > options_.settings.window;
    auto mark = parse_alert_key(j.idempotency_key);
    if (!mark)
      continue;
    auto since = options_.read_since ? options_.read_since(j.payload)
                                     : std::nullopt;
    past_.push_back(
      {*std::move(mark), j.created_at, since.value_or(j.created_at)});
  }
  if (page.next_before && !whole_window && ++past_pages_ < past_pages_max) {
    read_past(*page.next_before);
    return;
  }
  // Of what was said before that nothing is known.
  if (page.next_before && !page.items.empty())
    base_ = std::max(base_, page.items.back().record.job.created_at);
  for (auto i = past_.rbegin(); i != past_.rend(); ++i)
    alerts_->remember(i->mark.cause, i->mark.state, i->mark.whose, i->at,
                      i->since, now);
  begin_recount();
  past_ = {};
  remembers_ = true;
  outlet_opened();
}

void alerts_state::outlet_opened() {
  outlet_ = outlet::usable;
  if (starting_)
    starting_->deliver(alerts_started{});
  starting_.reset();
  advance();
}

void alerts_state::outlet_failed(const caf::error& reason) {
  outlet_ = outlet::unknown;
  retry_at_ = now_().steady + retry_pause;
  auto why = from_caf(reason);
  auto hopeless = why.code == errc::wrong_queue_kind
                  || why.code == errc::validation_failed;
  if (why.code == errc::wrong_queue_kind)
    why.message = std::string{"'"} + alerts_queue
                  + "' is a pull queue, and alerts go through a push queue of "
                    "that name: start once without alert_url, and delete it";
  if (starting_ && hopeless)
    starting_->deliver(to_caf({why.code, "alerts: " + why.message}));
  else if (starting_)
    starting_->deliver(alerts_started{});
  starting_.reset();
  advance();
}

// -- telling ------------------------------------------------------------------

void alerts_state::publish_due(moment now) {
  for (auto& what : std::exchange(unsent_, {}))
    publish_one(std::move(what));
  for (auto& what : alerts_->due(now, under_way_max - under_way_))
    publish_one(std::move(what));
}

void alerts_state::publish_one(alert what) {
  publish job;
  job.payload = options_.encode(what);
  job.idempotency_key = to_key(what);
  ++under_way_;
  self_->request(queue_, caf::infinite, std::move(job))
    .then(
      [this](const publish_result&) {
        --under_way_;
        advance();
      },
      [this, what = std::move(what)](const caf::error& reason) {
        --under_way_;
        unsent_.push_back(what);
        if (outlet_ == outlet::usable)
          outlet_failed(reason);
      });
}

// -- looking ------------------------------------------------------------------

void alerts_state::begin_look(moment now) {
  looking_ = true;
  alerts_->begin_look(now);
  self_->request(queues_, caf::infinite, list_meters{})
    .then(
      [this](meter_list& all) {
        meters_ = std::move(all.items);
        next_meter_ = 0;
        ask_more();
      },
      [this](const caf::error&) {
        looking_ = false;
        next_look_ = now_().steady + options_.look_pause;
        advance();
      });
}

void alerts_state::ask_more() {
  next_ask_.reset();
  // One that stands for the end, so that a look at no queue has one.
  ++missing_;
  for (std::size_t i = 0; i < asked_max && next_meter_ < meters_.size(); ++i) {
    const auto& meter = meters_[next_meter_++];
    alerts::subject whose{meter.project, meter.name};
    ++missing_;
    self_->request(meter.meter, caf::infinite, get_queue_metrics{})
      .then(
        [this, whose](const queue_metrics& what) {
          alerts_->looked_at(whose, to_figures(what), now_());
          count_one();
        },
        [this, whose](const caf::error&) {
          alerts_->unanswered(whose);
          count_one();
        });
  }
  count_one();
}

void alerts_state::count_one() {
  if (--missing_ > 0)
    return;
  auto now = now_();
  if (next_meter_ < meters_.size()) {
    next_ask_ = now.steady + ask_pause;
  } else {
    alerts_->end_look(now);
    meters_ = {};
    looking_ = false;
    next_look_ = now.steady + options_.look_pause;
  }
  advance();
}

void alerts_state::stop() {
  if (starting_)
    starting_->deliver(to_caf({errc::draining, "the server has been stopped"}));
  starting_.reset();
}

alerts_actor::behavior_type
make_alerts(alerts_actor::stateful_pointer<alerts_state> self,
            std::function<moment()> now, alert_options options) {
  auto& state = self->state;
  state.open(std::move(now), std::move(options));
  self->set_exit_handler([self](caf::exit_msg& message) {
    self->state.stop();
    self->quit(std::move(message.reason));
  });
  return {
    [&state](const service_event& x) { state.handle(x); },
    [&state](start_alerts& x) { return state.handle(x); },
    [&state](alerts_tick x) { state.handle(x); },
  };
}

} // namespace tidegate
