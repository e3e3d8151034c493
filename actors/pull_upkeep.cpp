// How a pull queue actor shows and removes many messages.

#include <caf/make_message.hpp>
#include <caf/result.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/pull_actor.hpp"

namespace tidegate {

namespace {

/// Most messages that are removed in one commit.
constexpr std::size_t removed_max = 500;

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

/// What was removed is gone, also where the rest could not be.
void pull_state::end_removal(removal& r, const std::optional<error>& failed) {
  if (r.count > 0 && queue_) {
    auto event = queue_->make_event(event_kind::queue_purged, env_->now());
    event.count = r.count;
    carry_out(emit{std::move(event)});
  }
  if (failed)
    r.answer.deliver(to_caf(*failed));
  else
    r.answer.deliver(jobs_removed{r.count});
}

void pull_state::purge_more(std::shared_ptr<removal> r) {
  if (auto reason = unfit_for_work()) {
    end_removal(*r, reason);
    return;
  }
  auto t = queue_->purge(r->range, removed_max);
  auto last = t.records.empty();
  run(
    std::move(t),
    [this, r, last](const auto& failed) {
      if (failed || last)
        end_removal(*r, failed);
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

} // namespace tidegate
