#include "tests/core/fake_store.hpp"

#include "tests/core/broken_rule.hpp"

namespace tidegate::testing {

namespace {

template <class... Ts>
struct overload : Ts... {
  using Ts::operator()...;
};

template <class... Ts>
overload(Ts...) -> overload<Ts...>;

/// A job's figures must add up at every moment that could be the last one.
void check_counters(const job_record& r) {
  std::uint64_t by_status[4] = {0, 0, 0, 0};
  for (const auto& entry : r.history)
    ++by_status[static_cast<std::size_t>(entry.status)];
  auto [success, failed, deferred, interrupted] = by_status;
  const auto& j = r.job;
  must(j.attempts == success + failed, "attempts are successes and failures");
  must(j.defers == deferred, "defers are answers of not now");
  must(j.started_delivery == 0 || j.started_delivery == j.deliveries,
       "only the last delivery can be under way");
  auto under_way = j.started_delivery == 0 ? 0u : 1u;
  must(j.deliveries >= r.history.size() + under_way,
       "every line of the history is a delivery");
}

} // namespace

fake_store::fake_store(queue_record queue) : queue_(std::move(queue)) {
  // nop
}

void fake_store::apply(const record& what) {
  std::visit(
    overload{
      [](const insert_queue&) { must(false, "there is one queue only"); },
      [](const remove_queue&) { must(false, "there is one queue only"); },
      [this](const update_queue& r) {
        queue_.settings = r.settings;
        queue_.paused = r.paused;
        queue_.paused_since = r.paused_since;
        queue_.updated_at = r.updated_at;
      },
      [this](const update_gate& r) { queue_.gate = r.gate; },
      [this](const update_rate& r) { queue_.rate = r.rate; },
      [this](const insert_job& r) { add(r.job); },
      [this](const update_job& r) { update(r.job, r.entry); },
      [this](const end_job& r) { end(r.job, r.entry); },
    },
    what);
}

void fake_store::add(const job& j) {
  must(live_.empty() || live_.rbegin()->first < j.id.seq,
       "numbers of jobs grow");
  must(j.status == job_status::pending, "a new job is pending");
  live_[j.id.seq].job = j;
}

job_record& fake_store::update(const job& j,
                               const std::optional<history_entry>& entry) {
  auto i = live_.find(j.id.seq);
  must(i != live_.end(), "only what is live can change");
  auto& r = i->second;
  must(j.id == r.job.id && j.payload == r.job.payload
         && j.created_at == r.job.created_at
         && j.expires_at == r.job.expires_at,
       "what was published never changes");
  must(j.attempts >= r.job.attempts && j.defers >= r.job.defers
         && j.deliveries >= r.job.deliveries,
       "counters never go back");
  must(j.deliveries == 0 || j.status != job_status::pending,
       "what was delivered is not pending");
  r.job = j;
  if (entry)
    r.history.push_back(*entry);
  check_counters(r);
  return r;
}

void fake_store::end(const job& j, const std::optional<history_entry>& entry) {
  auto seq = j.id.seq;
  auto is_dead = j.status == job_status::dead;
  must(is_dead || j.status == job_status::completed, "what ended has an end");
  must(is_dead == (j.dead_reason != dead_reason::none),
       "the dead have a reason, others have none");
  must(j.ended_at.has_value(), "what ended says when");
  must(j.started_delivery == 0, "what ended is not under way");
  ended_[seq] = update(j, entry);
  live_.erase(seq);
  ++(is_dead ? queue_.dead : queue_.completed);
}

std::vector<job> fake_store::load(std::span<const job_seq> seqs) const {
  std::vector<job> result;
  for (auto seq : seqs)
    if (auto i = live_.find(seq); i != live_.end())
      result.push_back(i->second.job);
  return result;
}

queue_snapshot fake_store::snapshot() const {
  queue_snapshot result;
  result.queue = queue_;
  for (const auto& [seq, r] : live_) {
    const auto& j = r.job;
    live_job known;
    known.seq = seq;
    known.due = j.due;
    known.expires_at = j.expires_at;
    known.created_at = j.created_at;
    known.waits_for = j.waits_for;
    known.status = j.status;
    known.started_delivery = j.started_delivery;
    result.jobs.push_back(known);
  }
  return result;
}

const job_record& fake_store::at(job_seq seq) const {
  auto i = live_.find(seq);
  return i != live_.end() ? i->second : ended_.at(seq);
}

} // namespace tidegate::testing
