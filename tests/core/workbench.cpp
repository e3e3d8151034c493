// What happens to a queue on the workbench.

#include "tests/core/workbench.hpp"

#include <algorithm>
#include <utility>

#include "tests/core/broken_rule.hpp"

namespace tidegate::testing {

namespace {

/// More rounds than any event can have a reason for.
constexpr auto rounds_max = 10'000;

queue_record make_queue(const queue_settings& settings) {
  queue_record result;
  result.id = queue_id{1};
  result.name = "test";
  result.settings = settings;
  result.secret = "whsec_dGVzdA==";
  result.created_at = midnight;
  result.updated_at = midnight;
  return result;
}

report make_report(report::kind what, job_id job,
                   std::optional<std::uint64_t> delivery) {
  report result;
  result.what = what;
  result.job = job;
  result.delivery = delivery;
  return result;
}

} // namespace

queue_settings plain_settings() {
  queue_settings result;
  result.webhook_url = "http://example.com/";
  result.concurrency = 2;
  result.backoff.jitter = 0;
  return result;
}

queue_settings ack_settings() {
  auto result = plain_settings();
  result.mode = delivery_mode::ack;
  return result;
}

workbench::workbench(const queue_settings& settings,
                     std::optional<std::uint32_t> permits)
  : store_(make_queue(settings)), permits_(permits),
    free_permits_(permits.value_or(0)), attempts_max_(settings.max_attempts),
    defers_max_(settings.max_defers) {
  queue_.emplace(store_.snapshot(), now(), permits_.has_value());
  queue_->keep_accounts(true);
  settle();
}

moment workbench::now() const {
  return {steady_origin_ + elapsed_, wall_origin_ + elapsed_};
}

// -- publishers ---------------------------------------------------------------

job_id workbench::publish(duration delay) {
  tidegate::publish what;
  what.delay = delay;
  return publish(std::move(what));
}

job_id workbench::publish_for(const std::string& key) {
  tidegate::publish what;
  what.limit_key = key;
  return publish(std::move(what));
}

job_id workbench::publish(tidegate::publish what) {
  job_id id{queue_->id(), job_seq{++last_seq_}, last_seq_ * 7};
  if (what.payload.bytes().empty())
    what.payload = payload{"{\"n\":" + std::to_string(last_seq_) + "}"};
  auto j = queue_->make_job(what, id, now());
  pending p;
  p.what.records.push_back(insert_job{j, {}});
  p.published = j;
  p.made = now();
  p.after = truth_;
  queue_->arriving(1);
  pending_.push_back(std::move(p));
  settle();
  return id;
}

void workbench::publish_many(std::size_t count, const std::string& key) {
  for (std::size_t i = 0; i < count; ++i)
    publish_for(key);
}

// -- the downstream -----------------------------------------------------------

void workbench::answer(std::size_t i, const delivery_reply& reply, double lot) {
  auto d = in_flight_.at(i);
  in_flight_.erase(in_flight_.begin() + static_cast<std::ptrdiff_t>(i));
  std::erase(aborted_, std::pair{d.job.seq, d.number});
  truth_.replied(d, reply, queue_->settings(), elapsed_);
  take(queue_->ended(d.job.seq, d.number, reply, lot, now()));
  settle();
}

void workbench::answer(job_id job, const delivery_reply& reply, double lot) {
  auto i = std::find_if(in_flight_.begin(), in_flight_.end(),
                        [job](const auto& d) { return d.job == job; });
  must(i != in_flight_.end(), "only what is in flight can be answered");
  answer(static_cast<std::size_t>(i - in_flight_.begin()), reply, lot);
}

void workbench::answer_all(const delivery_reply& reply) {
  for (auto n = in_flight_.size(); n > 0; --n)
    answer(std::size_t{0}, reply);
}

bool workbench::flies(job_id job) const {
  return std::any_of(in_flight_.begin(), in_flight_.end(),
                     [job](const auto& d) { return d.job == job; });
}

void workbench::end_aborted() {
  while (aborts_at_once_ && !aborted_.empty()) {
    auto [seq, number] = aborted_.front();
    aborted_.erase(aborted_.begin());
    auto i = std::find_if(in_flight_.begin(), in_flight_.end(),
                          [s = seq, n = number](const auto& d) {
                            return d.job.seq == s && d.number == n;
                          });
    auto d = *i;
    in_flight_.erase(i);
    auto reply = unanswered(delivery_errc::aborted);
    truth_.replied(d, reply, queue_->settings(), elapsed_);
    take(queue_->ended(d.job.seq, d.number, reply, 0, now()));
  }
}

// -- workers ------------------------------------------------------------------

auto workbench::ack(job_id job, fence delivery) -> answer_text {
  return report_to_queue(make_report(report::kind::ack, job, delivery));
}

auto workbench::nack(job_id job, bool retryable, fence delivery)
  -> answer_text {
  auto what = make_report(report::kind::nack, job, delivery);
  what.retryable = retryable;
  return report_to_queue(what);
}

auto workbench::defer(job_id job, duration wait,
                      std::optional<defer_scope> scope, fence delivery)
  -> answer_text {
  auto what = make_report(report::kind::defer, job, delivery);
  what.wait = wait;
  what.scope = scope;
  return report_to_queue(what);
}

auto workbench::touch(job_id job, duration extend, fence delivery)
  -> answer_text {
  auto what = make_report(report::kind::touch, job, delivery);
  what.wait = extend;
  return report_to_queue(what);
}

auto workbench::report_to_queue(const report& what, double lot) -> answer_text {
  request r;
  r.order = what;
  r.lot = lot;
  return ask(std::move(r));
}

// -- operators ----------------------------------------------------------------

auto workbench::cancel(job_id job) -> answer_text {
  request r;
  r.what = request::kind::cancel;
  r.order.job = job;
  return ask(std::move(r));
}

auto workbench::run_now(job_id job) -> answer_text {
  request r;
  r.what = request::kind::run_now;
  r.order.job = job;
  return ask(std::move(r));
}

auto workbench::replay(job_id job, std::optional<payload> edited,
                       bool background) -> answer_text {
  request r;
  r.what = request::kind::replay;
  r.order.job = job;
  r.edited = std::move(edited);
  r.background = background;
  return ask(std::move(r));
}

void workbench::pause() {
  take(queue_->pause(now()));
  settle();
}

void workbench::resume() {
  take(queue_->resume(now()));
  settle();
}

void workbench::hold(duration wait, const std::string& reason) {
  truth_.held(wait, elapsed_);
  take(queue_->hold(wait, reason, now()));
  settle();
}

void workbench::release() {
  truth_.released(elapsed_);
  take(queue_->release(now()));
  settle();
}

void workbench::release_key(const std::string& key) {
  truth_.key_released(key, elapsed_);
  take(queue_->release_key(key, now()));
  settle();
}

void workbench::rotate_secret(const signing_secret& secret, duration overlap) {
  take(queue_->rotate_secret(secret, overlap, now()));
  settle();
}

std::size_t workbench::purge(std::optional<bool> delivered) {
  constexpr std::size_t slice = 3;
  due_heap::idle_range range;
  range.last = job_seq{last_seq_};
  range.delivered = delivered;
  std::size_t result = 0;
  for (;;) {
    auto t = queue_->purge(range, slice);
    if (t.records.empty())
      break;
    result += std::get<remove_jobs>(t.records.front()).seqs.size();
    take(std::move(t));
    settle();
  }
  return result;
}

void workbench::remove_ended(const std::vector<job_id>& jobs) {
  std::vector<job_seq> seqs;
  for (auto job : jobs)
    seqs.push_back(job.seq);
  take(queue_->remove_ended(seqs));
  settle();
}

void workbench::change_settings(const queue_settings& settings) {
  if (settings.webhook_url != queue_->settings().webhook_url)
    truth_.all_released(elapsed_);
  truth_.settings_changed(settings);
  const auto& old = queue_->settings();
  if (settings.rate_limit_max != old.rate_limit_max
      || settings.key_rate_limit_max != old.key_rate_limit_max
      || settings.rate_limit_window != old.rate_limit_window) {
    limits_set_ = elapsed_;
    starts_count_until_ =
      elapsed_ + std::max(settings.rate_limit_window, old.rate_limit_window);
  }
  attempts_max_ = std::max(attempts_max_, settings.max_attempts);
  defers_max_ = std::max(defers_max_, settings.max_defers);
  take(queue_->change_settings(settings, now()));
  settle();
}

// -- time ---------------------------------------------------------------------

void workbench::pass(duration d) {
  auto until = elapsed_ + d;
  for (auto round = 0;; ++round) {
    must(round < rounds_max, "a timer that fires again and again does nothing");
    auto next = queue_->next_wakeup();
    if (!next || *next > steady_origin_ + until)
      break;
    pass_to_wakeup();
  }
  elapsed_ = until;
  auto starts = starts_;
  auto stepped = std::exchange(clock_stepped_, false);
  settle();
  must(starts_ == starts || stepped, "a timer fires for whatever time lets go");
}

void workbench::pass_to_wakeup() {
  auto next = queue_->next_wakeup();
  if (!next)
    return;
  elapsed_ = *next - steady_origin_;
  auto keys = queue_->memory().limit_keys;
  auto t = queue_->advance(now());
  // A key may have been looked at to be forgotten, and a permit that has been
  // asked for already is what a job waits for that is due now.
  must(!t.empty() || awaits_loads() || keys > 0 || awaits_permits(),
       "a timer fires for a reason");
  note_lapses(t);
  check_starts(t, std::nullopt);
  take(std::move(t));
  settle();
}

void workbench::step_wall_clock(duration d) {
  wall_origin_ += d;
  clock_stepped_ = true;
}

void workbench::restart(duration down) {
  ++restarts_;
  pending_.clear();
  reads_.clear();
  in_flight_.clear();
  aborted_.clear();
  elapsed_ += down;
  steady_origin_ += std::chrono::hours{3};
  permits_asked_ = 0;
  free_permits_ = permits_.value_or(0) - rivals_;
  truth_ = committed_truth_;
  truth_.died();
  committed_truth_ = truth_;
  queue_.emplace(store_.snapshot(), now(), permits_.has_value());
  queue_->keep_accounts(true);
  settle();
}

void workbench::settle() {
  for (auto round = 0; round < rounds_max; ++round) {
    while (commits_at_once_ && !pending_.empty())
      commit_oldest();
    end_aborted();
    share_permits();
    auto may_go = may_go_by_explain();
    auto t = queue_->advance(now());
    if (t.empty() && (!commits_at_once_ || pending_.empty())) {
      check();
      return;
    }
    if (note_lapses(t))
      may_go.reset();
    check_starts(t, may_go);
    take(std::move(t));
  }
  must(false, "advance comes to an end");
}

} // namespace tidegate::testing
