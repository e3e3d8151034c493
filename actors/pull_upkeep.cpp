// How a pull queue actor shows, removes and moves many messages.

#include <algorithm>
#include <unordered_map>

#include <caf/make_message.hpp>
#include <caf/result.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/pull_actor.hpp"

namespace tidegate {

namespace {

/// Most messages that are removed in one commit.
constexpr std::size_t removed_max = 500;

/// Most messages that one redrive moves.
constexpr std::size_t redriven_max = 1000;

constexpr std::size_t sample_max = 10;

} // namespace

// -- showing ------------------------------------------------------------------

auto pull_state::handle(const peek_messages& request) -> promise<message_page> {
  auto answer = self_->make_response_promise<message_page>();
  if (auto reason = unfit())
    return answer.deliver(to_caf(*reason));
  show_messages(queue_->next_messages(request.limit, env_->now()), answer);
  return answer;
}

void pull_state::show_messages(const std::vector<job_seq>& seqs,
                               promise<message_page> answer) {
  self_->request(env_->browser, caf::infinite, read_jobs{id_, seqs})
    .then(
      [this, answer](jobs_read& found) mutable {
        if (auto reason = unfit()) {
          answer.deliver(to_caf(*reason));
          return;
        }
        message_page page;
        for (auto& m : found.jobs)
          page.items.push_back(queue_->view(std::move(m), env_->now()));
        answer.deliver(std::move(page));
      },
      [answer](const caf::error& reason) mutable { answer.deliver(reason); });
}

auto pull_state::handle(const list_dead_messages& request)
  -> promise<message_page> {
  auto answer = self_->make_response_promise<message_page>();
  job_page_query query;
  query.queue = id_;
  query.before = request.before;
  query.limit = request.limit;
  query.payloads = true;
  self_->request(env_->browser, caf::infinite, query)
    .then(
      [this, answer, request](job_page& page) mutable {
        if (auto reason = unfit()) {
          answer.deliver(to_caf(*reason));
          return;
        }
        message_page result;
        result.next_before = page.next_before;
        for (auto& m : page.jobs) {
          auto at = m.dead_lettered_at.value_or(m.created_at);
          auto fits = m.status != job_status::completed
                      && (!request.since || at >= *request.since)
                      && (!request.until || at < *request.until);
          if (fits)
            result.items.push_back(queue_->view(std::move(m), env_->now()));
        }
        answer.deliver(std::move(result));
      },
      [answer](const caf::error& reason) mutable { answer.deliver(reason); });
  return answer;
}

// -- removing -----------------------------------------------------------------

/// A removal of many messages that is under way.
struct pull_state::removal {
  promise<jobs_removed> answer;
  due_heap::idle_range range;
  std::uint64_t count = 0;
};

auto pull_state::handle(purge_pull_queue) -> promise<jobs_removed> {
  auto r = std::make_shared<removal>();
  r->answer = self_->make_response_promise<jobs_removed>();
  r->range.last = job_seq{env_->last_job->load()};
  purge_more(r);
  return r->answer;
}

void pull_state::purge_more(std::shared_ptr<removal> r) {
  if (auto reason = unfit_for_work()) {
    r->answer.deliver(to_caf(*reason));
    return;
  }
  auto t = queue_->purge(r->range, removed_max);
  auto last = t.records.empty();
  run(
    std::move(t),
    [this, r, last](const auto& failed) {
      if (failed)
        r->answer.deliver(to_caf(*failed));
      else if (last)
        r->answer.deliver(jobs_removed{r->count});
      else
        purge_more(r);
    },
    [r](const committed& message) {
      for (const auto& answer : message.answers)
        r->count += answer.live;
    });
}

auto pull_state::handle(const remove_ended& request) -> promise<jobs_removed> {
  auto answer = self_->make_response_promise<jobs_removed>();
  if (auto reason = unfit())
    return answer.deliver(to_caf(*reason));
  auto count = std::make_shared<jobs_removed>();
  run(
    queue_->remove_ended(request.seqs),
    [answer, count](const auto& failed) mutable {
      if (failed)
        answer.deliver(to_caf(*failed));
      else
        answer.deliver(*count);
    },
    [count](const committed& message) {
      for (const auto& a : message.answers)
        count->count += a.completed + a.dead;
    });
  return answer;
}

auto pull_state::handle(const replay_slice&) -> promise<slice_replayed> {
  auto answer = self_->make_response_promise<slice_replayed>();
  return answer.deliver(
    to_caf({errc::wrong_queue_kind, "Pull queues are redriven"}));
}

// -- redriving ----------------------------------------------------------------

/// A redrive that is under way: first its messages are read, then the queues
/// found that they came from, then they are moved.
struct pull_state::redrive {
  redrive_messages request;
  promise<redrive_result> answer;
  std::vector<job> messages;
  std::unordered_map<std::string, std::optional<queue_id>> sources;
  std::size_t missing = 0;
};

auto pull_state::handle(const redrive_messages& request)
  -> promise<redrive_result> {
  auto r = std::make_shared<redrive>();
  r->request = request;
  r->answer = self_->make_response_promise<redrive_result>();
  if (auto reason = unfit_for_work())
    return r->answer.deliver(to_caf(*reason));
  collect(r);
  return r->answer;
}

void pull_state::collect(std::shared_ptr<redrive> r) {
  due_heap::idle_range range;
  auto seqs = queue_->idle_messages(range, redriven_max);
  if (!r->request.ids.empty()) {
    seqs.clear();
    for (auto id : r->request.ids)
      seqs.push_back(id.seq);
  }
  self_->request(env_->browser, caf::infinite, read_jobs{id_, std::move(seqs)})
    .then(
      [this, r](jobs_read& found) {
        const auto& asked = r->request;
        auto most = std::min<std::uint64_t>(asked.limit.value_or(redriven_max),
                                            redriven_max);
        for (auto& m : found.jobs) {
          auto at = m.dead_lettered_at;
          auto fits = at && (!asked.since || *at >= *asked.since)
                      && (!asked.until || *at < *asked.until);
          if (fits && r->messages.size() < most)
            r->messages.push_back(std::move(m));
        }
        find_sources(r);
      },
      [r](const caf::error& reason) { r->answer.deliver(reason); });
}

void pull_state::find_sources(std::shared_ptr<redrive> r) {
  for (const auto& m : r->messages)
    r->sources.try_emplace(m.source_queue);
  r->missing = r->sources.size();
  if (r->missing == 0 || r->request.dry_run) {
    move_back(r);
    return;
  }
  auto one_less = [this, r] {
    if (--r->missing == 0)
      move_back(r);
  };
  for (const auto& [source, number] : r->sources)
    self_
      ->request(queues_, caf::infinite,
                find_pull_impl{project_, source, {}, false, false})
      .then(
        [this, r, source = source, one_less](const pull_impl_actor& other) {
          self_->request(other, caf::infinite, get_depth{})
            .then(
              [r, source, one_less](pull_queue_depth depth) {
                r->sources[source] = depth.id;
                one_less();
              },
              [one_less](const caf::error&) { one_less(); });
        },
        [one_less](const caf::error&) { one_less(); });
}

void pull_state::move_back(std::shared_ptr<redrive> r) {
  if (auto reason = unfit_for_work()) {
    r->answer.deliver(to_caf(*reason));
    return;
  }
  redrive_result result;
  if (r->request.dry_run) {
    result.count = r->messages.size();
    for (auto& m : r->messages)
      if (result.sample.size() < sample_max)
        result.sample.push_back(queue_->view(std::move(m), env_->now()));
    r->answer.deliver(std::move(result));
    return;
  }
  std::vector<pull_queue::redrive_target> targets;
  for (auto& m : r->messages)
    if (auto to = r->sources[m.source_queue])
      targets.push_back({std::move(m), *to});
  auto count = std::make_shared<std::uint64_t>(0);
  run(
    queue_->redrive(targets, env_->now()),
    [r, count](const auto& failed) {
      if (failed)
        r->answer.deliver(to_caf(*failed));
      else
        r->answer.deliver(redrive_result{*count, {}});
    },
    [count](const committed& message) {
      for (const auto& a : message.answers)
        *count += a.done;
    });
  advance();
}

} // namespace tidegate
