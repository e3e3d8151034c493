// How a queue actor removes and replays many jobs: slice by slice, so that
// nobody's delivery waits for all of them.

#include <algorithm>
#include <set>

#include <caf/result.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/queue_actor.hpp"

namespace tidegate {

namespace {

/// Most jobs that are removed in one commit.
constexpr std::size_t removed_max = 500;

/// How many jobs a dry run shows.
constexpr std::size_t sample_max = 10;

bool fits(const job& j, const job_filter& filter) {
  return j.dead_letter
         && (!filter.limit_key || j.limit_key == *filter.limit_key)
         && (!filter.reason || j.dead_reason == *filter.reason)
         && (!filter.since || j.ended_at >= filter.since)
         && (!filter.until || j.ended_at < filter.until);
}

/// Returns each id once, where it comes first.
std::vector<job_id> once_each(std::vector<job_id> ids) {
  std::set<job_id> seen;
  std::erase_if(ids, [&seen](job_id id) { return !seen.insert(id).second; });
  return ids;
}

} // namespace

/// A removal of many jobs that is under way.
struct queue_state::removal {
  /// What is told when it has ended.
  event_kind what;
  promise<jobs_removed> answer;
  /// Jobs that wait.
  due_heap::idle_range range;
  /// Or dead letters.
  job_page_query query;
  std::uint64_t count = 0;
};

namespace {

std::uint64_t count_removed(const committed& message) {
  std::uint64_t result = 0;
  for (const auto& a : message.answers)
    result += a.live + a.completed + a.dead;
  return result;
}

} // namespace

/// What was removed is gone, also where the rest could not be.
void queue_state::end_removal(removal& r, const std::optional<error>& failed) {
  if (r.count > 0 && queue_) {
    auto event = queue_->make_event(r.what, env_->now());
    event.count = r.count;
    carry_out(emit{std::move(event)});
  }
  if (failed)
    r.answer.deliver(to_caf(*failed));
  else
    r.answer.deliver(jobs_removed{r.count});
}

// -- removing -----------------------------------------------------------------

auto queue_state::handle(purge_queue request) -> promise<jobs_removed> {
  auto r = std::make_shared<removal>();
  r->what = event_kind::queue_purged;
  r->answer = self_->make_response_promise<jobs_removed>();
  r->range.last = job_seq{env_->last_job->load()};
  if (request.status)
    r->range.delivered = *request.status != job_status::pending;
  purge_more(r);
  return r->answer;
}

void queue_state::purge_more(std::shared_ptr<removal> r) {
  if (auto reason = unfit_for_work()) {
    end_removal(*r, reason);
    return;
  }
  auto t = queue_->purge(r->range, removed_max);
  auto last = t.records.empty();
  auto next = [this, r, last](const auto& failed) {
    if (failed || last)
      end_removal(*r, failed);
    else
      purge_more(r);
  };
  run(std::move(t), next,
      [r](const committed& message) { r->count += count_removed(message); });
  advance();
}

auto queue_state::handle(const delete_dead_letters& request)
  -> promise<jobs_removed> {
  auto r = std::make_shared<removal>();
  r->what = event_kind::dead_letters_deleted;
  r->answer = self_->make_response_promise<jobs_removed>();
  r->query.queue = id_;
  r->query.filter = request.filter;
  r->query.dead_letters = true;
  r->query.limit = removed_max;
  remove_more(r);
  return r->answer;
}

void queue_state::remove_more(std::shared_ptr<removal> r) {
  auto removed = [this, r](const auto& failed) {
    if (failed || r->query.before == job_seq{})
      end_removal(*r, failed);
    else
      remove_more(r);
  };
  self_->request(env_->browser, caf::infinite, r->query)
    .then(
      [this, r, removed](const job_page& page) {
        if (auto reason = unfit_for_work()) {
          end_removal(*r, reason);
          return;
        }
        std::vector<job_seq> seqs;
        for (const auto& j : page.jobs)
          seqs.push_back(j.id.seq);
        r->query.before = page.next_before.value_or(job_seq{});
        run(queue_->remove_ended(seqs), removed, [r](const committed& message) {
          r->count += count_removed(message);
        });
      },
      [this, r](const caf::error& reason) {
        end_removal(*r, from_caf(reason));
      });
}

auto queue_state::handle(const remove_ended& request) -> promise<jobs_removed> {
  auto answer = self_->make_response_promise<jobs_removed>();
  if (auto reason = unfit())
    return answer.deliver(to_caf(*reason));
  auto count = std::make_shared<std::uint64_t>();
  run(
    queue_->remove_ended(request.seqs),
    [answer, count](const auto& failed) mutable {
      if (failed)
        answer.deliver(to_caf(*failed));
      else
        answer.deliver(jobs_removed{*count});
    },
    [count](const committed& message) { *count += count_removed(message); });
  return answer;
}

// -- replaying ----------------------------------------------------------------

auto queue_state::handle(const replay_dead_letters& request)
  -> promise<replay_plan> {
  auto answer = self_->make_response_promise<replay_plan>();
  if (auto reason = unfit_for_work())
    return answer.deliver(to_caf(*reason));
  if (!request.ids.empty()) {
    if (request.dry_run)
      plan_replay_of_ids(request, answer);
    else
      replay_ids(request, answer);
    return answer;
  }
  self_
    ->request(env_->browser, caf::infinite,
              count_dead_letters{id_, request.filter})
    .then(
      [this, request, answer](dead_letter_count found) mutable {
        auto count = std::min(found.count, request.limit.value_or(found.count));
        if (request.dry_run)
          plan_replay(request, count, answer);
        else
          start_replay(request, count, 0, answer);
      },
      [answer](const caf::error& reason) mutable { answer.deliver(reason); });
  return answer;
}

void queue_state::plan_replay(const replay_dead_letters& request,
                              std::uint64_t count,
                              promise<replay_plan> answer) {
  job_page_query query;
  query.queue = id_;
  query.filter = request.filter;
  query.dead_letters = true;
  query.limit = std::clamp<std::size_t>(count, 1, sample_max);
  self_->request(env_->browser, caf::infinite, query)
    .then(
      [this, count, answer](job_page& page) mutable {
        if (auto reason = unfit()) {
          answer.deliver(to_caf(*reason));
          return;
        }
        replay_plan plan;
        plan.count = count;
        for (auto& j : page.jobs)
          plan.sample.push_back(
            queue_->view(job_record{std::move(j), {}, 0}, env_->now()));
        answer.deliver(std::move(plan));
      },
      [answer](const caf::error& reason) mutable { answer.deliver(reason); });
}

void queue_state::start_replay(const replay_dead_letters& request,
                               std::uint64_t total, std::uint64_t done,
                               promise<replay_plan> answer) {
  if (auto reason = unfit_for_work()) {
    answer.deliver(to_caf(*reason));
    return;
  }
  auto now = env_->now().wall;
  const auto queue = queue_->to_record(env_->now());
  operation_record o;
  o.queue = id_;
  o.project = queue.project;
  o.queue_name = name_;
  o.filter = request.filter;
  o.limit = request.limit;
  o.per_second = request.per_second;
  o.position = job_seq{max_48_bits};
  o.total = total;
  o.done = done;
  o.started_at = now;
  if (!request.ids.empty()) {
    o.state = operation_state::done;
    o.finished_at = now;
  }
  self_->request(env_->operations, caf::infinite, start_operation{o})
    .then(
      [answer, total](const operation_record& started) mutable {
        answer.deliver(replay_plan{total, {}, started});
      },
      [answer](const caf::error& reason) mutable { answer.deliver(reason); });
}

/// Dead letters that have been asked for from the store.
struct queue_state::slice {
  std::uint64_t generation = 0;
  std::vector<job_id> ids;
  /// Which of them are meant, and how many at most.
  job_filter filter;
  std::optional<std::uint64_t> limit;
  std::vector<job_record> found;
  std::size_t missing = 0;
  /// Why some of them could not be read.
  std::optional<error> trouble;
  std::function<void(slice&)> read;
  std::function<void(const error&)> failed;
};

/// Reads the jobs of a slice, and calls `read` with those that are dead letters
/// and fit when all of them are there.
void queue_state::read_slice(std::shared_ptr<slice> s) {
  s->generation = generation_;
  s->missing = s->ids.size() + 1;
  auto one_less = [this, s] {
    if (--s->missing > 0)
      return;
    if (s->generation != generation_ || !queue_)
      s->trouble = unfit().value_or(
        error{errc::storage_unavailable, "the queue has been recovered"});
    if (s->trouble) {
      s->failed(*s->trouble);
      return;
    }
    std::erase_if(s->found, [&s](const job_record& found) {
      return !fits(found.job, s->filter);
    });
    if (s->limit && s->found.size() > *s->limit)
      s->found.resize(*s->limit);
    s->read(*s);
  };
  for (auto id : s->ids)
    self_->request(env_->reader, caf::infinite, find_job{id})
      .then(
        [s, one_less](job_record& found) {
          s->found.push_back(std::move(found));
          one_less();
        },
        [s, one_less](const caf::error& reason) {
          auto why = from_caf(reason);
          if (why.code != errc::job_not_found)
            s->trouble = std::move(why);
          one_less();
        });
  one_less();
}

/// Reads the jobs of a slice and calls `decided` with what replays them.
void queue_state::replay_read(std::shared_ptr<slice> s, on_replay decided) {
  std::erase_if(s->ids, [this](job_id id) {
    return id.queue != id_ || !reads_for_replay(id);
  });
  auto watched = s->ids;
  auto unwatch = [this, watched, generation = generation_] {
    if (generation == generation_ && queue_)
      for (auto id : watched)
        queue_->unwatch(id.seq);
  };
  s->failed = [failed = std::move(s->failed), unwatch](const error& reason) {
    unwatch();
    failed(reason);
  };
  s->read = [this, decided, unwatch](slice& all) {
    transition changes;
    std::uint64_t count = 0;
    for (const auto& found : all.found)
      if (add_replay(found, changes))
        ++count;
    unwatch();
    decided(std::move(changes), count);
  };
  read_slice(std::move(s));
}

/// Adds the replay of a job to `out`, if it is still dead.
bool queue_state::add_replay(const job_record& found, transition& out) {
  auto t = queue_->replay_watched(found.job, env_->now());
  if (!t)
    return false;
  for (auto& r : t->records)
    out.records.push_back(std::move(r));
  return true;
}

void queue_state::plan_replay_of_ids(const replay_dead_letters& request,
                                     promise<replay_plan> answer) {
  auto s = std::make_shared<slice>();
  s->ids = once_each(request.ids);
  s->filter = request.filter;
  s->limit = request.limit;
  std::erase_if(s->ids, [this](job_id id) { return id.queue != id_; });
  s->failed = [answer](const error& reason) mutable {
    answer.deliver(to_caf(reason));
  };
  s->read = [this, answer](slice& all) mutable {
    replay_plan plan;
    plan.count = all.found.size();
    for (auto& found : all.found) {
      found.history.clear();
      if (plan.sample.size() < sample_max)
        plan.sample.push_back(queue_->view(std::move(found), env_->now()));
    }
    answer.deliver(std::move(plan));
  };
  read_slice(std::move(s));
}

/// Returns whether a job may be dead, so that it is to be read and is watched.
bool queue_state::reads_for_replay(job_id id) {
  auto decision = queue_->replay(id, nullptr, std::nullopt, true, env_->now());
  return std::holds_alternative<read_first>(decision);
}

void queue_state::replay_ids(const replay_dead_letters& request,
                             promise<replay_plan> answer) {
  auto s = std::make_shared<slice>();
  s->ids = once_each(request.ids);
  s->filter = request.filter;
  s->limit = request.limit;
  s->failed = [answer](const error& reason) mutable {
    answer.deliver(to_caf(reason));
  };
  replay_read(s, [this, request, answer](transition&& t, std::uint64_t count) {
    run(std::move(t),
        [this, request, answer, count](const auto& failed) mutable {
          if (failed)
            answer.deliver(to_caf(*failed));
          else
            start_replay(request, count, count, answer);
        });
    advance();
  });
}

auto queue_state::handle(const replay_slice& request)
  -> promise<slice_replayed> {
  auto answer = self_->make_response_promise<slice_replayed>();
  if (auto reason = unfit_for_work())
    return answer.deliver(to_caf(*reason));
  auto s = std::make_shared<slice>();
  s->ids = request.ids;
  s->failed = [answer](const error& reason) mutable {
    answer.deliver(to_caf(reason));
  };
  replay_read(s, [this, answer, asked = request.progress](transition&& t,
                                                          std::uint64_t count) {
    auto progress = asked;
    progress.done += count;
    t.records.push_back(update_operation{progress});
    run(std::move(t), [answer, progress](const auto& failed) mutable {
      if (failed)
        answer.deliver(to_caf(*failed));
      else
        answer.deliver(slice_replayed{progress});
    });
    advance();
  });
  return answer;
}

} // namespace tidegate
