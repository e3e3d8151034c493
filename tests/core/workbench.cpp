#include "tests/core/workbench.hpp"

#include <algorithm>

#include "tests/core/broken_rule.hpp"

namespace tidegate::testing {

namespace {

/// More rounds than any event can have a reason for.
constexpr auto rounds_max = 10'000;

/// How many live jobs are still looked at one by one after every event.
constexpr std::size_t small_max = 12;

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

template <class T, class Variant>
const T* as(const Variant& v) {
  return std::get_if<T>(&v);
}

template <class T>
std::size_t count_in(const std::vector<effect>& effects) {
  return static_cast<std::size_t>(
    std::count_if(effects.begin(), effects.end(),
                  [](const auto& e) { return as<T>(e) != nullptr; }));
}

} // namespace

queue_settings plain_settings() {
  queue_settings result;
  result.webhook_url = "http://example.com/";
  result.concurrency = 2;
  result.backoff.jitter = 0;
  return result;
}

workbench::workbench(const queue_settings& settings)
  : store_(make_queue(settings)) {
  queue_.emplace(store_.snapshot(), now());
  settle();
}

moment workbench::now() const {
  return {steady_origin_ + elapsed_, wall_origin_ + elapsed_};
}

// -- what happens -------------------------------------------------------------

job_id workbench::publish(duration delay) {
  job_id id{queue_->id(), job_seq{++last_seq_}, last_seq_ * 7};
  tidegate::publish what;
  what.payload = payload{"{\"n\":" + std::to_string(last_seq_) + "}"};
  what.delay = delay;
  auto j = queue_->make_job(what, id, now());
  pending p;
  p.what.records.push_back(insert_job{j});
  p.published = j;
  p.made = now();
  p.after = oracle_;
  pending_.push_back(std::move(p));
  settle();
  return id;
}

void workbench::publish_many(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    publish();
}

void workbench::answer(std::size_t i, const delivery_reply& reply, double lot) {
  auto d = in_flight_.at(i);
  in_flight_.erase(in_flight_.begin() + static_cast<std::ptrdiff_t>(i));
  oracle_.ended(d, reply, elapsed_);
  take(queue_->ended(d.job.seq, reply, lot, now()));
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

void workbench::pause() {
  take(queue_->pause(now()));
  settle();
}

void workbench::resume() {
  take(queue_->resume(now()));
  settle();
}

void workbench::change_settings(const queue_settings& settings) {
  if (settings.webhook_url != queue_->settings().webhook_url)
    oracle_.released(elapsed_);
  take(queue_->change_settings(settings, now()));
  settle();
}

void workbench::pass(duration d) {
  auto until = elapsed_ + d;
  for (auto round = 0;; ++round) {
    must(round < rounds_max, "a timer that fires again and again does nothing");
    auto next = queue_->next_wakeup(now());
    if (!next || *next > steady_origin_ + until)
      break;
    pass_to_wakeup();
  }
  elapsed_ = until;
  settle();
}

void workbench::pass_to_wakeup() {
  auto next = queue_->next_wakeup(now());
  if (!next)
    return;
  elapsed_ = *next - steady_origin_;
  auto t = queue_->advance(now());
  must(!t.empty() || awaits_loads(), "a timer fires for a reason");
  check_starts(t, {});
  take(std::move(t));
  settle();
}

void workbench::step_wall_clock(duration d) {
  wall_origin_ += d;
}

void workbench::restart(duration down) {
  pending_.clear();
  loads_.clear();
  in_flight_.clear();
  elapsed_ += down;
  steady_origin_ += std::chrono::hours{3};
  oracle_ = committed_oracle_;
  oracle_.forget_probe();
  committed_oracle_ = oracle_;
  queue_.emplace(store_.snapshot(), now());
  settle();
}

// -- the store ----------------------------------------------------------------

void workbench::keep_commits_back() {
  commits_at_once_ = false;
}

void workbench::keep_loads_back() {
  loads_at_once_ = false;
}

void workbench::commit() {
  if (pending_.empty())
    return;
  commit_oldest();
  settle();
}

void workbench::commit_all() {
  while (!pending_.empty())
    commit();
}

void workbench::load() {
  if (loads_.empty())
    return;
  auto seqs = std::move(loads_.front());
  loads_.pop_front();
  deliver_load(seqs);
  settle();
}

void workbench::take(transition&& t) {
  if (t.records.empty()) {
    carry_out(std::move(t.effects));
    return;
  }
  pending p;
  p.what = std::move(t);
  p.after = oracle_;
  pending_.push_back(std::move(p));
}

void workbench::commit_oldest() {
  auto p = std::move(pending_.front());
  pending_.pop_front();
  for (const auto& r : p.what.records)
    store_.apply(r);
  committed_oracle_ = p.after;
  queue_->committed(p.what.records);
  if (p.published) {
    ++accepted_;
    queue_->stored(std::move(*p.published), p.made, now());
  }
  carry_out(std::move(p.what.effects));
}

void workbench::carry_out(std::vector<effect>&& effects) {
  for (auto& e : effects) {
    if (auto start = as<start_delivery>(e)) {
      in_flight_.push_back(start->what);
      log_.push_back({start->what, start->what.started_at - wall_origin_});
      check_rate();
    } else if (auto loads = as<load_jobs>(e)) {
      std::set<job_seq> asked{loads->seqs.begin(), loads->seqs.end()};
      must(!asked.empty() && asked.size() == loads->seqs.size(),
           "what is asked for has a name, and one only");
      if (loads_at_once_)
        deliver_load(loads->seqs);
      else
        loads_.push_back(loads->seqs);
    } else {
      events_.push_back(as<emit>(e)->event);
    }
  }
}

void workbench::deliver_load(const std::vector<job_seq>& seqs) {
  auto t = queue_->loaded(store_.load(seqs), now());
  must(t.has_value(), "what is asked for is there");
  take(std::move(*t));
}

void workbench::settle() {
  for (auto round = 0; round < rounds_max; ++round) {
    while (commits_at_once_ && !pending_.empty())
      commit_oldest();
    auto may_go = may_go_by_explain();
    auto t = queue_->advance(now());
    if (t.empty()) {
      check();
      return;
    }
    check_starts(t, may_go);
    take(std::move(t));
  }
  must(false, "advance comes to an end");
}

// -- what holds for every queue at every moment -------------------------------

bool workbench::is_small() const {
  return store_.live().size() <= small_max;
}

std::vector<std::string> workbench::blocked(job_id job) {
  std::vector<std::string> result;
  for (const auto& b : view(job).blocked)
    result.push_back(to_string(b.gate));
  return result;
}

/// Returns the live jobs of which `view` says that nothing blocks them and that
/// are not being delivered.
std::set<job_seq> workbench::may_go_by_explain() {
  std::set<job_seq> result;
  if (!is_small())
    return result;
  for (const auto& [seq, r] : store_.live())
    if (queue_->view(r, now()).blocked.empty())
      result.insert(seq);
  for (const auto& d : in_flight_)
    result.erase(d.job.seq);
  for (const auto& p : pending_) {
    for (const auto& e : p.what.effects)
      if (auto start = as<start_delivery>(e))
        result.erase(start->what.job.seq);
    for (const auto& r : p.what.records)
      if (auto end = as<end_job>(r))
        result.erase(end->job.id.seq);
  }
  return result;
}

template <class T>
std::size_t workbench::count_undone() const {
  std::size_t result = 0;
  for (const auto& p : pending_)
    result += count_in<T>(p.what.effects);
  return result;
}

bool workbench::awaits_loads() const {
  return !loads_.empty() || count_undone<load_jobs>() > 0;
}

/// @param may_go what could start before; empty: unknown
void workbench::check_starts(const transition& t,
                             const std::set<job_seq>& may_go) {
  for (const auto& e : t.effects) {
    auto start = as<start_delivery>(e);
    if (!start)
      continue;
    const auto& d = start->what;
    oracle_.started(d, elapsed_);
    must(!queue_->view(now()).queue.paused, "while paused nothing starts");
    must(may_go.empty() || may_go.contains(d.job.seq),
         "what starts was not blocked");
    const auto& r = store_.at(d.job.seq);
    must(elapsed_ + wall_origin_ < r.job.expires_at || wall_origin_ != midnight,
         "nothing starts after its lifetime");
    must(d.payload == r.job.payload, "what is sent is what was published");
  }
  must(count_in<start_delivery>(t.effects) == 0
         || queue_->in_flight() <= queue_->settings().concurrency,
       "no more than the limit in flight");
}

/// Looks at every start there was in the window that ends with the last one.
void workbench::check_rate() const {
  const auto& settings = queue_->settings();
  auto after = log_.back().at - settings.rate_limit_window;
  auto started = std::count_if(log_.begin(), log_.end(),
                               [after](auto& each) { return each.at > after; });
  must(!settings.rate_limit_max || started <= *settings.rate_limit_max,
       "no more start in a window than may");
}

void workbench::check() {
  must(queue_->in_flight()
         == in_flight_.size() + count_undone<start_delivery>(),
       "a slot for each delivery, a delivery for each slot");
  auto next = queue_->next_wakeup(now());
  must(!next || *next > now().steady, "a timer is set for later, not for now");
  if (!awaits_loads())
    must(may_go_by_explain().empty(), "what may go goes");
  check_gate();
  must(accepted_ == store_.live().size() + store_.ended().size(),
       "nothing is lost");
  if (pending_.empty() && loads_.empty() && is_small())
    check_counts();
}

void workbench::check_gate() {
  auto g = queue_->to_record(now()).gate;
  must((g.state == gate_state::open) == oracle_.is_open(), "open when it is");
  must((g.state == gate_state::probing) == oracle_.is_probing(),
       "probing when it is");
  must(g.state != gate_state::held
         || g.release_at == after(wall_origin_, oracle_.release()),
       "held until it is");
}

void workbench::check_counts() {
  auto v = view();
  std::uint64_t pending = 0;
  std::uint64_t scheduled = 0;
  for (const auto& [seq, r] : store_.live()) {
    auto seen = queue_->view(r, now());
    pending += seen.record.job.status == job_status::pending;
    scheduled +=
      std::any_of(seen.blocked.begin(), seen.blocked.end(), [](const auto& b) {
        return b.gate == gate_kind::delay || b.gate == gate_kind::backoff
               || b.gate == gate_kind::defer;
      });
  }
  must(v.counts.pending == pending, "the pending are counted");
  must(v.counts.processing == store_.live().size() - pending,
       "the processing are counted");
  must(v.counts.scheduled == scheduled, "the scheduled are counted");
  must(v.counts.in_flight == in_flight_.size(), "what flies is counted");
  must(v.counts.completed == store_.queue().completed, "the done are counted");
  must(v.counts.dead == store_.queue().dead, "the dead are counted");
  must(queue_->live_jobs() == store_.live().size(), "the live are counted");
  // A probe that a restart made forget is stored as one that is out, which
  // means the same to the next restart.
  auto taken_up = [this](const gate_record& stored) {
    return tidegate::gate{stored, now()}.to_record(now());
  };
  must(taken_up(v.queue.gate) == taken_up(store_.queue().gate)
         || wall_origin_ != midnight,
       "the gate is stored as it stands");
}

} // namespace tidegate::testing
