#include "random_history.hpp"

#include <algorithm>

#include "samples.hpp"
#include "worlds.hpp"

namespace tidegate::test {

random_history::random_history(std::uint64_t seed) : random_(seed) {
  // nop
}

// -- drawing values -----------------------------------------------------------

std::uint64_t random_history::below(std::uint64_t n) {
  return random_() % n;
}

wall_time random_history::instant() {
  return at(static_cast<std::int64_t>(below(200'000'000'000)));
}

std::string random_history::bytes(std::uint64_t size_max) {
  std::string drawn(below(size_max + 1), '\0');
  for (auto& byte : drawn)
    byte = static_cast<char>(below(256));
  return drawn;
}

job_id random_history::any_live(const state& now) {
  return now.live[below(now.live.size())];
}

job_id random_history::any_drawn() {
  auto place = ids_.begin();
  std::advance(place, below(ids_.size()));
  return place->second;
}

std::vector<rate_start> random_history::starts() {
  std::vector<rate_start> drawn(below(5));
  for (auto& start : drawn)
    start = {instant(), static_cast<std::uint32_t>(below(100))};
  return drawn;
}

gate_record random_history::gate() {
  gate_record drawn;
  drawn.state = static_cast<gate_state>(below(3));
  drawn.release_at = instant();
  drawn.since = instant();
  drawn.cause = static_cast<hold_cause>(below(3));
  drawn.failed_probes = static_cast<std::uint32_t>(below(9));
  drawn.reason = bytes(20);
  drawn.ramp = static_cast<std::uint32_t>(below(9));
  if (below(2) == 0)
    drawn.caused_by = sample_job(1, below(1000)).id;
  if (below(2) == 0)
    drawn.http_status = 503;
  if (below(2) == 0)
    drawn.last = last_probe{sample_job(2, below(1000)).id, below(9),
                            static_cast<probe_verdict>(below(4)), instant()};
  return drawn;
}

history_entry random_history::entry() {
  auto drawn = sample_entry(below(1000));
  drawn.status = static_cast<delivery_status>(below(6));
  drawn.at = instant();
  drawn.response_excerpt = bytes(30);
  if (below(2) == 0)
    drawn.http_status.reset();
  if (below(2) == 0)
    drawn.retry_after.reset();
  return drawn;
}

queue_id random_history::any(const std::vector<queue_id>& queues) {
  return queues[below(queues.size())];
}

pull_totals random_history::totals() {
  return {below(9), below(9), below(9), below(9),
          below(9), below(9), below(9), below(9)};
}

job random_history::changed(job_id id) {
  job drawn;
  drawn.id = id;
  drawn.status = below(3) == 0 ? job_status::awaiting_ack
                               : job_status::processing;
  drawn.attempts = below(1000);
  drawn.defers = below(1000);
  drawn.deliveries = below(1000);
  drawn.due = instant();
  drawn.waits_for = static_cast<wait_kind>(below(4));
  drawn.waits_since = instant();
  drawn.expires_at = instant();
  drawn.started_delivery = below(3);
  drawn.reported = static_cast<callback_kind>(below(4));
  drawn.reported_delivery = below(1000);
  return drawn;
}

// -- drawing records ----------------------------------------------------------

record random_history::draw_insert_queue(state& now) {
  auto queue = sample_queue(++last_queue_);
  queue.settings.headers.resize(below(4));
  queue.gate = gate();
  if (below(2) == 0) {
    queue.kind = queue_kind::pull;
    queue.pull = sample_pull_settings();
    queue.totals = totals();
    now.pull_queues.push_back(queue.id);
  }
  now.queues.push_back(queue.id);
  return insert_queue{queue};
}

record random_history::draw_remove_queue(state& now) {
  auto victim = now.queues.begin()
                + static_cast<std::ptrdiff_t>(below(now.queues.size()));
  auto id = *victim;
  now.queues.erase(victim);
  std::erase(now.pull_queues, id);
  for (auto* jobs : {&now.live, &now.ended})
    std::erase_if(*jobs, [id](job_id job) { return job.queue == id; });
  return remove_queue{id};
}

record random_history::draw_queue_change(const state& now) {
  auto id = any(now.queues);
  switch (below(5)) {
    case 0: {
      auto settings = sample_settings();
      settings.concurrency = static_cast<std::uint32_t>(below(1000));
      settings.headers.resize(below(4));
      return update_queue{id, settings, below(2) == 0, instant(), instant()};
    }
    case 1:
      return update_gate{id, gate()};
    case 2:
      return update_secrets{id, bytes(9), bytes(9), instant()};
    case 3: {
      limit_key_record key{"key " + std::to_string(below(4)), {}, {}};
      if (below(3) > 0)
        key = {key.key, gate(), starts()};
      return update_limit_key{id, key};
    }
    default:
      return update_rate{id, starts()};
  }
}

insert_job random_history::draw_publish(queue_id queue) {
  auto drawn = sample_job(queue.value, ids_.size() + 1);
  drawn.payload = payload{bytes(below(20) == 0 ? 9000 : 200)};
  ids_.emplace(drawn.id.seq, drawn.id);
  if (below(3) == 0)
    drawn.idempotency_key = "key " + std::to_string(below(20));
  if (below(2) == 0)
    drawn.limit_key.clear();
  if (below(2) == 0)
    drawn.context = job_context{};
  drawn.created_at = instant();
  insert_job record{drawn, api_key_id{static_cast<std::uint32_t>(below(3))}};
  if (below(2) == 0)
    record.key_since = instant();
  return record;
}

// Whether a keyed job is stored is for the store to say, so that the rest of
// the batch leaves it alone.
record random_history::draw_insert_job(state& now) {
  auto drawn = draw_publish(any(now.queues));
  if (drawn.job.idempotency_key.empty())
    now.live.push_back(drawn.job.id);
  return drawn;
}

record random_history::draw_update_job(const state& now) {
  update_job drawn{changed(any_live(now)), std::nullopt};
  if (below(3) > 0)
    drawn.entry = entry();
  return drawn;
}

record random_history::draw_end_job(state& now) {
  auto id = any_live(now);
  std::erase(now.live, id);
  end_job drawn{changed(id), std::nullopt};
  drawn.job.status = below(3) == 0 ? job_status::dead : job_status::completed;
  drawn.job.dead_reason = static_cast<dead_reason>(below(5));
  drawn.job.ended_at = instant();
  if (below(5) > 0)
    drawn.job.remove_at = instant();
  drawn.job.dead_letter = drawn.job.status == job_status::dead && below(4) > 0;
  now.ended.push_back(id);
  if (below(4) > 0)
    drawn.entry = entry();
  return drawn;
}

// Now and then one that has not ended, or that never was.
record random_history::draw_revive_job(state& now) {
  auto known = !now.ended.empty() && below(4) > 0;
  auto id = known ? now.ended[below(now.ended.size())] : any_drawn();
  revive_job drawn{changed(id), entry()};
  drawn.job.status = below(2) == 0 ? job_status::pending
                                   : job_status::processing;
  drawn.job.eligible_at = instant();
  drawn.job.replays = below(9);
  drawn.job.background = below(2) == 0;
  if (below(3) == 0) {
    drawn.entry.replaced = payload{"before"};
    drawn.job.payload = payload{bytes(50)};
  }
  if (known)
    now.live.push_back(id);
  std::erase(now.ended, id);
  return drawn;
}

record random_history::draw_remove_jobs(state& now) {
  remove_jobs drawn{any(now.queues), {}};
  for (auto size = below(6); drawn.seqs.size() < size;) {
    auto seq = below(6) == 0 ? job_seq{max_48_bits} : any_drawn().seq;
    drawn.seqs.push_back(seq);
    for (auto* jobs : {&now.live, &now.ended})
      std::erase_if(*jobs, [&](job_id job) {
        return job.queue == drawn.id && job.seq == seq;
      });
  }
  return drawn;
}

record random_history::draw_operation(const state& now) {
  auto fresh = last_operation_ == 0 || below(3) == 0;
  auto id = fresh ? ++last_operation_ : 1 + below(last_operation_);
  auto drawn = sample_operation(id, any(now.queues).value);
  drawn.state = static_cast<operation_state>(below(4));
  drawn.done = below(100);
  drawn.error = bytes(9);
  if (below(2) == 0)
    drawn.finished_at = instant();
  if (fresh)
    return insert_operation{drawn};
  return update_operation{drawn};
}

record random_history::draw_api_key() {
  if (below(2) == 0)
    return remove_api_key{
      api_key_id{static_cast<std::uint32_t>(below(api_keys_ + 2))}};
  ++api_keys_;
  return insert_api_key{sample_api_key(bytes(9))};
}

record random_history::draw_upkeep(state& now) {
  switch (below(6)) {
    case 0:
      return draw_remove_jobs(now);
    case 1:
      return draw_operation(now);
    case 2:
      return draw_api_key();
    default:
      return draw_revive_job(now);
  }
}

// Now and then one that cannot be made.
record random_history::draw_move_message(state& now) {
  auto possible = !now.live.empty() && below(4) > 0;
  move_message drawn{changed(possible ? any_live(now) : any_drawn()),
                     any(now.queues)};
  auto& message = drawn.job;
  message.eligible_at = instant();
  message.replays = below(9);
  message.background = below(2) == 0;
  if (below(2) == 0)
    drawn.entry = entry();
  if (below(2) == 0) {
    message.source_queue = bytes(9);
    message.source_receives = below(9);
    message.dead_lettered_at = instant();
  }
  if (!possible) {
    drawn.to = queue_id{last_queue_ + 1};
    return drawn;
  }
  for (auto* id : {&ids_.at(message.id.seq),
                   &*std::find(now.live.begin(), now.live.end(), message.id)})
    id->queue = drawn.to;
  return drawn;
}

// Now and then to a queue that is not there.
record random_history::draw_hand_over(state& now) {
  auto possible = below(4) > 0;
  auto id = any_live(now);
  hand_over drawn{changed(id),
                  draw_publish(possible ? any(now.queues)
                                        : queue_id{last_queue_ + 1})};
  drawn.message.status = job_status::completed;
  drawn.message.ended_at = instant();
  drawn.message.remove_at = instant();
  if (!possible)
    return drawn;
  std::erase(now.live, id);
  now.ended.push_back(id);
  if (drawn.next.job.idempotency_key.empty())
    now.live.push_back(drawn.next.job.id);
  return drawn;
}

record random_history::draw_message_change(state& now) {
  switch (below(now.pull_queues.empty() ? 2 : 4)) {
    case 0:
      return draw_move_message(now);
    case 1:
      return draw_hand_over(now);
    case 2: {
      auto settings = sample_pull_settings();
      settings.max_receive_count = static_cast<std::uint32_t>(below(9));
      settings.dead_letter_queue = bytes(9);
      return update_pull_settings{any(now.pull_queues), settings, instant()};
    }
    default:
      return update_pull_totals{any(now.pull_queues), totals()};
  }
}

record random_history::draw(state& now) {
  auto kind = below(100);
  if (now.queues.empty() || (kind < 4 && now.queues.size() < 5))
    return draw_insert_queue(now);
  if (kind < 6)
    return draw_remove_queue(now);
  if (kind < 18)
    return draw_queue_change(now);
  if (kind < 55 || now.live.empty())
    return draw_insert_job(now);
  if (kind < 65)
    return draw_upkeep(now);
  if (kind < 71)
    return draw_message_change(now);
  return kind < 86 ? draw_update_job(now) : draw_end_job(now);
}

std::vector<record> random_history::next(store& now) {
  state drawn;
  auto queues = now.load_queues();
  auto reader = now.open_reader();
  for (auto& snapshot : *queues) {
    drawn.queues.push_back(snapshot.queue.id);
    if (snapshot.queue.kind == queue_kind::pull)
      drawn.pull_queues.push_back(snapshot.queue.id);
  }
  // A batch that was not stored may have said that it moves some.
  for (auto& [seq, id] : ids_) {
    auto found = *(*reader)->find_message(seq, id.tag);
    if (!found)
      continue;
    id = found->job.id;
    (found->job.ended_at ? drawn.ended : drawn.live).push_back(id);
  }
  std::vector<record> batch;
  for (auto size = below(16); batch.size() < size;)
    batch.push_back(draw(drawn));
  return batch;
}

std::vector<job_id> random_history::ids() const {
  std::vector<job_id> all;
  for (auto& [seq, id] : ids_)
    all.push_back(id);
  return all;
}

// -- counting -----------------------------------------------------------------

std::map<queue_id, std::pair<std::uint64_t, std::uint64_t>>
count_ended(store& of, const std::vector<job_id>& ids) {
  std::map<queue_id, std::pair<std::uint64_t, std::uint64_t>> counted;
  for (auto& id : ids) {
    auto found = find(of, id);
    if (!found)
      continue;
    if (found->job.status == job_status::completed)
      ++counted[id.queue].first;
    else if (found->job.status == job_status::dead)
      ++counted[id.queue].second;
  }
  return counted;
}

} // namespace tidegate::test
