// How a queue actor answers what is asked of single jobs.

#include <caf/result.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/queue_actor.hpp"

namespace tidegate {

// -- looking ------------------------------------------------------------------

auto queue_state::handle(const get_job& request) -> promise<job_view> {
  auto answer = self_->make_response_promise<job_view>();
  show_job(request.id, answer);
  return answer;
}

void queue_state::show_job(job_id id, promise<job_view> answer) {
  self_->request(env_->reader, caf::infinite, find_job{id})
    .then(
      [this, answer](job_record& found) mutable {
        if (auto reason = unfit())
          answer.deliver(to_caf(*reason));
        else
          answer.deliver(queue_->view(std::move(found), env_->now()));
      },
      [answer](const caf::error& reason) mutable { answer.deliver(reason); });
}

auto queue_state::handle(const list_jobs& request) -> promise<job_list> {
  auto answer = self_->make_response_promise<job_list>();
  auto show = [this, answer](std::vector<job>&& jobs,
                             std::optional<job_seq> next) mutable {
    if (auto reason = unfit()) {
      answer.deliver(to_caf(*reason));
      return;
    }
    job_list result;
    result.next_before = next;
    for (auto& j : jobs)
      result.items.push_back(
        queue_->view(job_record{std::move(j), {}, 0}, env_->now()));
    answer.deliver(std::move(result));
  };
  auto fail = [answer](const caf::error& reason) mutable {
    answer.deliver(reason);
  };
  if (!request.idempotency_key.empty()) {
    self_
      ->request(env_->browser, caf::infinite,
                find_job_by_key{id_, request.idempotency_key})
      .then(
        [show](job_by_key& found) mutable {
          std::vector<job> jobs;
          if (found.found)
            jobs.push_back(std::move(*found.found));
          show(std::move(jobs), std::nullopt);
        },
        fail);
    return answer;
  }
  job_page_query query;
  query.queue = id_;
  query.filter = request.filter;
  query.dead_letters = request.dead_letters;
  query.before = request.before;
  query.limit = request.limit;
  query.payloads = request.payloads;
  self_->request(env_->browser, caf::infinite, query)
    .then(
      [show](job_page& page) mutable {
        show(std::move(page.jobs), page.next_before);
      },
      fail);
  return answer;
}

// -- changing -----------------------------------------------------------------

auto queue_state::change_job(job_id id, decider decide) -> promise<job_view> {
  auto answer = self_->make_response_promise<job_view>();
  if (auto reason = unfit_for_work())
    return answer.deliver(to_caf(*reason));
  settle(id, std::move(decide), [this, id, answer](const auto& failed) mutable {
    if (failed)
      answer.deliver(to_caf(*failed));
    else
      show_job(id, answer);
  });
  return answer;
}

auto queue_state::handle(const cancel_job& request) -> promise<job_view> {
  return change_job(request.id, [this, id = request.id](auto stored) {
    return queue_->cancel(id, stored, env_->now());
  });
}

auto queue_state::handle(const run_job_now& request) -> promise<job_view> {
  return change_job(request.id, [this, id = request.id](auto stored) {
    return queue_->run_now(id, stored, env_->now());
  });
}

auto queue_state::handle(const replay_job& request) -> promise<job_view> {
  return change_job(request.id, [this, request](auto stored) {
    return queue_->replay(request.id, stored, request.payload, false,
                          env_->now());
  });
}

// -- reports ------------------------------------------------------------------

/// Taken while the server drains, too: the work has been done.
auto queue_state::take(const report& what) -> promise<report_taken> {
  auto answer = self_->make_response_promise<report_taken>();
  if (auto reason = unfit())
    return answer.deliver(to_caf(*reason));
  auto decide = [this, what, lot = draw_lot(*env_)](auto stored) {
    return queue_->reported(what, stored, lot, env_->now());
  };
  settle(what.job, decide, [answer, id = what.job](const auto& failed) mutable {
    if (failed)
      answer.deliver(to_caf(*failed));
    else
      answer.deliver(report_taken{id});
  });
  return answer;
}

auto queue_state::handle(const ack_job& request) -> promise<report_taken> {
  report what;
  what.what = report::kind::ack;
  what.job = request.id;
  what.delivery = request.delivery;
  return take(what);
}

auto queue_state::handle(const nack_job& request) -> promise<report_taken> {
  report what;
  what.what = report::kind::nack;
  what.job = request.id;
  what.delivery = request.delivery;
  what.retryable = request.retryable;
  what.reason = request.reason;
  return take(what);
}

auto queue_state::handle(const defer_job& request) -> promise<report_taken> {
  report what;
  what.what = report::kind::defer;
  what.job = request.id;
  what.delivery = request.delivery;
  what.wait = request.wait;
  what.scope = request.scope;
  what.reason = request.reason;
  return take(what);
}

auto queue_state::handle(const touch_job& request) -> promise<report_taken> {
  report what;
  what.what = report::kind::touch;
  what.job = request.id;
  what.delivery = request.delivery;
  what.wait = request.extend;
  return take(what);
}

} // namespace tidegate
