// What holds for every queue at every moment.

#include <algorithm>

#include "tests/core/broken_rule.hpp"
#include "tests/core/workbench.hpp"

namespace tidegate::testing {

namespace {

/// How many live jobs are still looked at one by one after every event.
constexpr std::size_t small_max = 12;

bool waits_for_itself(gate_kind gate) {
  return gate == gate_kind::delay || gate == gate_kind::backoff
         || gate == gate_kind::defer;
}

bool waits_for_itself(const job_view& v) {
  return std::any_of(v.blocked.begin(), v.blocked.end(),
                     [](const auto& b) { return waits_for_itself(b.gate); });
}

bool has(const job_view& v, gate_kind gate) {
  return std::any_of(v.blocked.begin(), v.blocked.end(),
                     [gate](const auto& b) { return b.gate == gate; });
}

bool is_lapse(const std::optional<history_entry>& entry) {
  return entry && entry->error_code == delivery_errc::ack_timeout;
}

} // namespace

bool workbench::is_small() const {
  return store_.live().size() <= small_max;
}

std::vector<std::string> workbench::blocked(job_id job) {
  std::vector<std::string> result;
  for (const auto& b : view(job).blocked)
    result.push_back(to_string(b.gate));
  return result;
}

/// Returns whether a job is live by the store and by the queue, and neither
/// comes back to life nor is removed.
bool workbench::is_settled(job_seq seq) const {
  auto moves = false;
  for (const auto& p : pending_)
    for (const auto& r : p.what.records) {
      auto revive = std::get_if<revive_job>(&r);
      auto remove = std::get_if<remove_jobs>(&r);
      moves =
        moves || (revive && revive->job.id.seq == seq)
        || (remove
            && std::count(remove->seqs.begin(), remove->seqs.end(), seq) > 0);
    }
  return !moves && queue_->is_live(seq);
}

// -- starts -------------------------------------------------------------------

/// Returns the live jobs of which `view` says that nothing blocks them and that
/// are not being delivered; nothing where there are too many to ask.
std::optional<std::set<job_seq>> workbench::may_go_by_explain() {
  if (!is_small())
    return std::nullopt;
  std::set<job_seq> result;
  for (const auto& [seq, r] : store_.live())
    if (is_settled(seq) && !truth_.owed(r.job.id)
        && queue_->view(r, now()).blocked.empty())
      result.insert(seq);
  return result;
}

/// Keys that are stored as if they had never been held have been forgotten.
void workbench::note_forgotten(const transition& t) {
  for (const auto& r : t.records) {
    auto update = std::get_if<update_limit_key>(&r);
    if (update && update->key.at_rest() && is_deserted(update->key.key))
      truth_.forget_key(update->key.key);
  }
}

bool workbench::is_deserted(const std::string& key) const {
  auto k = truth_.keys().find(key);
  return k != truth_.keys().end() && truth_.flying(key) == 0
         && k->second.release() + std::chrono::hours{1} <= elapsed_;
}

/// Returns whether `t` says of any job that its ack did not come in time.
bool workbench::note_lapses(const transition& t) {
  auto any = false;
  for (const auto& r : t.records) {
    auto update = std::get_if<update_job>(&r);
    auto end = std::get_if<end_job>(&r);
    if (!(update && is_lapse(update->entry)) && !(end && is_lapse(end->entry)))
      continue;
    any = true;
    const auto& entry = update ? update->entry : end->entry;
    truth_.lapsed(update ? update->job.id.seq : end->job.id.seq,
                  entry->delivery, queue_->settings(), elapsed_);
  }
  return any;
}

/// @param may_go what could start before, where that is known
void workbench::check_starts(const transition& t,
                             const std::optional<std::set<job_seq>>& may_go) {
  for (const auto& e : t.effects) {
    auto start = std::get_if<start_delivery>(&e);
    if (!start)
      continue;
    ++starts_;
    const auto& d = start->what;
    const auto& r = store_.at(d.job.seq);
    truth_.started(d, r.job.limit_key, queue_->settings(), elapsed_);
    must(!queue_->view(now()).queue.paused, "while paused nothing starts");
    must(!may_go || may_go->contains(d.job.seq), "what starts was not blocked");
    must(elapsed_ + wall_origin_ < r.job.expires_at || wall_origin_ != midnight,
         "nothing starts after its lifetime");
    must(d.payload == r.job.payload, "what is sent is what was published");
    must(r.job.attempts < attempts_max_ && r.job.defers <= defers_max_,
         "no budget is exceeded");
  }
}

/// Returns how many started in the window that ends with `last`.
std::size_t workbench::started_in_window(const started& last,
                                         bool of_key) const {
  // What started before a limit was set does not count against it.
  auto after = std::max(last.at - queue_->settings().rate_limit_window,
                        limits_set_);
  std::size_t result = 0;
  for (auto i = log_.rbegin(); i != log_.rend() && i->at > after; ++i)
    result += !of_key || i->key == last.key;
  return result;
}

void workbench::check_rate(const started& last,
                           std::optional<std::uint32_t> max,
                           bool of_key) const {
  must(!max || started_in_window(last, of_key) <= *max,
       "no more start in a window than may");
}

// -- everything ---------------------------------------------------------------

void workbench::check() {
  must(queue_->in_flight() == truth_.flying(),
       "a slot for each delivery, a delivery for each slot");
  std::size_t undone = 0;
  for_each_undone<start_delivery>([&](const auto&) { ++undone; });
  must(queue_->posts() == in_flight_.size() + undone, "every POST is known");
  auto next = queue_->next_wakeup();
  must(!next || *next > now().steady, "a timer is set for later, not for now");
  must(awaits_loads() || !truth_.has_overdue(elapsed_),
       "no ack is waited for longer than its time");
  if (is_small()) {
    must(awaits_loads() || may_go_by_explain()->empty(), "what may go goes");
    check_explain();
  }
  check_gates();
  check_permits();
  check_memory();
  must(accepted_
         == store_.live().size() + store_.ended().size() + store_.removed(),
       "nothing is lost");
  if (pending_.empty() && reads_.empty() && is_small())
    check_counts();
}

// -- gates --------------------------------------------------------------------

void workbench::check_gates() {
  check_gate(queue_->to_record(now()).gate, truth_.gate());
  must(queue_->to_record(now()).gate.ramp == truth_.ramp(),
       "the ramp is where it is");
  auto keys = truth_.keys();
  for (const auto& [key, oracle] : keys)
    check_key_gate(key, oracle);
}

void workbench::check_gate(const gate_record& seen,
                           const gate_oracle& truth) const {
  must((seen.state == gate_state::open) == truth.is_open(), "open when it is");
  must((seen.state == gate_state::probing) == truth.is_probing(),
       "probing when it is");
  must(seen.state != gate_state::held
         || seen.release_at == after(wall_origin_, truth.release()),
       "held until it is");
}

void workbench::check_key_gate(const std::string& key,
                               const gate_oracle& truth) {
  check_gate(queue_->view_key(key, now()).gate, truth);
}

// -- what is told -------------------------------------------------------------

void workbench::check_explain() {
  const auto& settings = queue_->settings();
  auto paused = queue_->to_record(now()).paused;
  for (const auto& [seq, r] : store_.live()) {
    auto entry_is_out = truth_.owed(r.job.id).has_value();
    if (!is_settled(seq) || entry_is_out || awaits_loads())
      continue;
    auto v = queue_->view(r, now());
    const auto& key = r.job.limit_key;
    auto says = [&v](gate_kind gate, bool shut, const char* rule) {
      must(has(v, gate) == shut, rule);
    };
    says(gate_kind::paused, paused, "paused is told");
    must((has(v, gate_kind::hold) || has(v, gate_kind::probe))
           == truth_.gate().is_shut(elapsed_),
         "a hold is told");
    must((has(v, gate_kind::key_hold) || has(v, gate_kind::key_probe))
           == truth_.key_is_shut(key, elapsed_),
         "a key's hold is told to its own jobs and to no other");
    says(gate_kind::concurrency, truth_.flying() >= settings.concurrency,
         "busy slots are told");
    says(gate_kind::ramp, truth_.ramp() > 0 && truth_.flying() >= truth_.ramp(),
         "the ramp is told");
    says(gate_kind::key_concurrency,
         !key.empty() && settings.key_concurrency
           && truth_.flying(key) >= *settings.key_concurrency,
         "busy slots of a key are told");
    must(!settings.rate_limit_max || has(v, gate_kind::rate)
           || started_in_window({{}, key, elapsed_}, false)
                < *settings.rate_limit_max,
         "a spent rate is told");
    must(key.empty() || !settings.key_rate_limit_max
           || has(v, gate_kind::key_rate)
           || started_in_window({{}, key, elapsed_}, true)
                < *settings.key_rate_limit_max,
         "a spent rate of a key is told");
  }
}

void workbench::check_counts() {
  auto v = view();
  std::uint64_t pending = 0;
  for (const auto& [seq, r] : store_.live()) {
    auto seen = queue_->view(r, now());
    pending += seen.record.job.status == job_status::pending;
    auto awaits = seen.record.job.status == job_status::awaiting_ack;
    auto awaiting = truth_.awaiting();
    must(awaits == (std::count(awaiting.begin(), awaiting.end(), r.job.id) > 0),
         "who awaits an ack says so");
  }
  must(v.counts.pending == pending, "the pending are counted");
  must(v.counts.awaiting_ack == truth_.awaiting().size(),
       "those that await their ack are counted");
  must(v.counts.processing
         == store_.live().size() - pending - truth_.awaiting().size(),
       "the processing are counted");
  must(v.counts.in_flight == in_flight_.size(), "what flies is counted");
  must(v.counts.completed == store_.queue().completed, "the done are counted");
  must(v.counts.dead == store_.queue().dead, "the dead are counted");
  must(queue_->live_jobs() == store_.live().size(), "the live are counted");
  check_subsets(v);
  check_stored(v);
}

void workbench::check_subsets(const queue_view& v) {
  std::uint64_t scheduled = 0;
  std::uint64_t held = 0;
  for (const auto& [seq, r] : store_.live()) {
    auto seen = queue_->view(r, now());
    auto own = waits_for_itself(seen);
    scheduled += own;
    if (own || truth_.owed(r.job.id))
      continue;
    auto by_key = truth_.keys().contains(r.job.limit_key);
    held += !truth_.gate().is_open() || by_key;
  }
  must(v.counts.scheduled == scheduled, "the scheduled are counted");
  must(v.counts.held == held, "the held are counted");
}

void workbench::check_stored(const queue_view& v) {
  // After a step of the wall clock the two cannot be compared.
  if (wall_origin_ != midnight)
    return;
  // A probe that a restart made forget is stored as one that is out, which
  // means the same to the next restart.
  auto taken_up = [this](const gate_record& stored) {
    return tidegate::gate{stored, now()}.to_record(now());
  };
  must(taken_up(v.queue.gate) == taken_up(store_.queue().gate),
       "the gate is stored as it stands");
  must(v.queue.gate.ramp == store_.queue().gate.ramp, "the ramp is stored");
  for (const auto& [key, oracle] : truth_.keys()) {
    auto stored = store_.keys().find(key);
    must(stored != store_.keys().end()
           && taken_up(stored->second.gate) == taken_up(key_gate(key)),
         "the gate of a key is stored as it stands");
  }
}

// -- permits and memory -------------------------------------------------------

void workbench::check_permits() const {
  if (!permits_)
    return;
  auto left = free_permits_ + rivals_;
  for_each_undone<leave_permits>([&](const auto& e) { left += e.count; });
  must(queue_->permits_held() + left == *permits_,
       "permits are neither made nor lost");
  must(in_flight_.size() + rivals_ <= *permits_,
       "no more in flight than the server allows");
}

void workbench::check_memory() const {
  auto m = queue_->memory();
  must(m.residents <= queue_->live_jobs(), "only what is live is in memory");
  must(m.residents > 0 || m.payload_bytes == 0, "no payload is forgotten");
  must(m.stray_posts == truth_.strays(), "a POST on its own is known");
  auto reads = static_cast<std::size_t>(
    std::count_if(reads_.begin(), reads_.end(),
                  [](const auto& r) { return r.wanted.has_value(); }));
  for (const auto& p : pending_)
    reads += p.reads.size();
  must(m.watches == reads, "only what is being read is watched");
  if (queue_->live_jobs() > 0 || truth_.flying() > 0 || !pending_.empty())
    return;
  must(m.residents == 0 && m.errands == 0 && m.awaiting == 0,
       "an idle queue has nothing in memory");
  const auto& settings = queue_->settings();
  if (!truth_.keys().empty() || settings.key_rate_limit_max
      || elapsed_ <= starts_count_until_)
    return;
  must(m.limit_keys == 0 && m.lanes == 0, "idle keys cost nothing");
}

} // namespace tidegate::testing
