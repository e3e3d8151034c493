#include "tests/core/fake_store.hpp"

#include <set>

#include "tests/core/broken_rule.hpp"

namespace tidegate::testing {

namespace {

template <class... Ts>
struct overload : Ts... {
  using Ts::operator()...;
};

template <class... Ts>
overload(Ts...) -> overload<Ts...>;

/// What the history says of a job, counted from its last replay.
struct tally {
  /// Deliveries that ended in success or failure, and in "not now".
  std::set<std::uint64_t> attempts;
  std::set<std::uint64_t> defers;
  std::set<std::uint64_t> interrupted;
  std::uint64_t replays = 0;
  /// Deliveries before the last replay, and those of them that were counted.
  std::uint64_t before = 0;
  std::set<std::uint64_t> counted;
};

tally count(const std::vector<history_entry>& history) {
  tally result;
  for (const auto& entry : history) {
    switch (entry.status) {
      case delivery_status::success:
      case delivery_status::failed:
      case delivery_status::nacked:
        if (!result.counted.contains(entry.delivery))
          result.attempts.insert(entry.delivery);
        break;
      case delivery_status::deferred:
        must(result.defers.insert(entry.delivery).second,
             "a delivery is deferred once");
        break;
      case delivery_status::interrupted:
        must(result.interrupted.insert(entry.delivery).second,
             "a delivery is interrupted once");
        break;
      case delivery_status::lease_nacked:
      case delivery_status::lease_released:
        must(false, "a job has no leases");
        break;
      case delivery_status::replayed:
        result.counted.merge(result.attempts);
        result = {{},
                  {},
                  {},
                  result.replays + 1,
                  entry.delivery,
                  std::move(result.counted)};
    }
  }
  return result;
}

/// A job's figures must add up at every moment that could be the last one.
void check_counters(const job_record& r) {
  const auto& j = r.job;
  auto known = count(r.history);
  must(j.attempts == known.attempts.size(),
       "attempts are deliveries that came to success or failure");
  must(j.defers == known.defers.size(), "defers are answers of not now");
  must(j.replays == known.replays, "replays are counted");
  must(j.started_delivery == 0 || j.started_delivery == j.deliveries,
       "only the last delivery can be under way");
  for (const auto& entry : r.history)
    must(entry.delivery <= j.deliveries
           && (entry.status == delivery_status::replayed
               || entry.delivery != j.started_delivery),
         "every line of the history is a delivery that is over");
  must(j.status != job_status::pending || j.deliveries == known.before,
       "what was delivered is not pending");
  must(j.status != job_status::awaiting_ack || j.started_delivery == 0,
       "what awaits its ack is not being delivered");
}

} // namespace

fake_store::fake_store(queue_record queue) : queue_(std::move(queue)) {
  // nop
}

commit_answer fake_store::apply(const record& what) {
  commit_answer answer;
  std::visit(
    overload{
      [this](const update_queue& r) {
        queue_.settings = r.settings;
        queue_.paused = r.paused;
        queue_.paused_since = r.paused_since;
        queue_.updated_at = r.updated_at;
      },
      [this](const update_gate& r) { queue_.gate = r.gate; },
      [this](const update_rate& r) { queue_.rate = r.rate; },
      [this](const update_secrets& r) {
        queue_.secret = r.secret;
        queue_.previous_secret = r.previous_secret;
        queue_.previous_secret_until = r.previous_secret_until;
      },
      [this](const update_limit_key& r) { keep_key(r.key); },
      [&](const insert_job& r) { answer = add(r.job); },
      [this](const update_job& r) { update(r.job, r.entry); },
      [this](const end_job& r) { end(r.job, r.entry); },
      [&](const revive_job& r) { answer = revive(r.job, r.entry); },
      [&](const remove_jobs& r) { answer = remove(r.seqs); },
      [](const auto&) { must(false, "there is one queue and nothing else"); },
    },
    what);
  return answer;
}

void fake_store::keep_key(const limit_key_record& key) {
  must(!key.key.empty(), "a limit key has a name");
  if (key.at_rest())
    keys_.erase(key.key);
  else
    keys_[key.key] = key;
}

commit_answer fake_store::add(const job& j) {
  commit_answer answer;
  for (auto jobs : {&live_, &ended_})
    for (const auto& [seq, r] : *jobs) {
      if (j.idempotency_key.empty())
        break;
      if (r.job.idempotency_key == j.idempotency_key)
        answer.existing = r.job;
    }
  if (answer.existing)
    return answer;
  must(live_.empty() || live_.rbegin()->first < j.id.seq,
       "numbers of jobs grow");
  must(j.status == job_status::pending, "a new job is pending");
  live_[j.id.seq].job = j;
  return answer;
}

job_record& fake_store::update(const job& j,
                               const std::optional<history_entry>& entry) {
  auto i = live_.find(j.id.seq);
  must(i != live_.end(), "only what is live can change");
  auto& r = i->second;
  must(j.id == r.job.id
         && (j.payload == r.job.payload || j.payload.bytes().empty())
         && j.created_at == r.job.created_at && j.replays == r.job.replays
         && j.limit_key == r.job.limit_key && j.priority == r.job.priority
         && j.expires_at == r.job.expires_at,
       "what was published never changes");
  must(j.attempts >= r.job.attempts && j.defers >= r.job.defers
         && j.deliveries >= r.job.deliveries,
       "counters never go back");
  auto payload = r.job.payload;
  r.job = j;
  r.job.payload = payload;
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
  must(j.ended_at
         && j.remove_at == after(*j.ended_at, queue_.settings.retention),
       "what ended says when, and when it may be removed");
  must(j.dead_letter
         == (is_dead && j.dead_reason != dead_reason::cancelled
             && queue_.settings.dead_letter),
       "a dead letter is what died of itself");
  must(j.started_delivery == 0, "what ended is not under way");
  ended_[seq] = update(j, entry);
  live_.erase(seq);
  ++(is_dead ? queue_.dead : queue_.completed);
}

commit_answer fake_store::revive(const job& j, const history_entry& entry) {
  commit_answer answer;
  auto node = ended_.extract(j.id.seq);
  if (node.empty())
    return answer;
  auto& r = node.mapped();
  must(entry.status == delivery_status::replayed, "a replay is told as one");
  must(j.deliveries == r.job.deliveries && j.attempts == 0 && j.defers == 0,
       "a replay has fresh budgets and goes on counting deliveries");
  must(r.job.status == job_status::dead, "only the dead are replayed");
  answer.dead = 1;
  --queue_.dead;
  auto payload = r.job.payload;
  must(entry.replaced.bytes().empty() || entry.replaced == payload,
       "what was replaced is kept");
  r.job = j;
  if (entry.replaced.bytes().empty())
    r.job.payload = payload;
  r.history.push_back(entry);
  check_counters(r);
  live_.insert(std::move(node));
  answer.done = true;
  return answer;
}

commit_answer fake_store::remove(const std::vector<job_seq>& seqs) {
  commit_answer answer;
  for (auto seq : seqs) {
    answer.live += live_.erase(seq);
    auto i = ended_.find(seq);
    if (i == ended_.end())
      continue;
    auto is_dead = i->second.job.status == job_status::dead;
    ++(is_dead ? answer.dead : answer.completed);
    --(is_dead ? queue_.dead : queue_.completed);
    ended_.erase(i);
  }
  removed_ += answer.live + answer.completed + answer.dead;
  return answer;
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
    known.priority = j.priority;
    known.background = j.background;
    known.limit_key = j.limit_key;
    result.jobs.push_back(known);
  }
  for (const auto& [name, key] : keys_)
    result.keys.push_back(key);
  return result;
}

const job_record& fake_store::at(job_seq seq) const {
  auto i = live_.find(seq);
  return i != live_.end() ? i->second : ended_.at(seq);
}

std::optional<job_record> fake_store::find(job_id id) const {
  for (auto jobs : {&live_, &ended_})
    if (auto i = jobs->find(id.seq); i != jobs->end() && i->second.job.id == id)
      return i->second;
  return std::nullopt;
}

} // namespace tidegate::testing
