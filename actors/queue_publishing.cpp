// How a queue actor takes in jobs.

#include <caf/result.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/queue_actor.hpp"

namespace tidegate {

namespace {

error full(const std::string& queue, std::uint64_t depth) {
  return {errc::queue_full, "Queue '" + queue + "' has its "
                              + std::to_string(depth)
                              + (depth == 1 ? " live job" : " live jobs")
                              + " that maxDepth allows"};
}

} // namespace

/// A batch that is being published.
struct queue_state::batch {
  promise<publish_batch_result> answer;
  moment made;
  std::vector<std::variant<publish_result, error>> results;

  /// For each job that is stored, its place in the batch.
  std::vector<std::size_t> places;

  /// How many results are owed.
  std::size_t missing = 0;

  void put(std::size_t place, std::variant<publish_result, error>&& what) {
    results[place] = std::move(what);
    if (--missing == 0)
      answer.deliver(publish_batch_result{std::move(results)});
  }
};

std::optional<error> queue_state::cannot_publish() const {
  if (auto reason = unfit_for_work())
    return reason;
  if (env_->backlog->records.load(std::memory_order_relaxed)
      >= env_->backlog_max)
    return error{errc::overloaded, "too much is waiting for the disk"};
  return std::nullopt;
}

job_id queue_state::new_job_id() {
  return {id_, job_seq{++*env_->last_job}, env_->random() & max_48_bits};
}

auto queue_state::handle(publish& request) -> promise<publish_result> {
  auto answer = self_->make_response_promise<publish_result>();
  if (auto reason = cannot_publish())
    return answer.deliver(to_caf(*reason));
  if (queue_->room() == 0) {
    publish_to_full(request, [answer](auto&& what) mutable {
      if (auto result = std::get_if<publish_result>(&what))
        answer.deliver(std::move(*result));
      else
        answer.deliver(to_caf(std::get<error>(what)));
    });
    return answer;
  }
  auto now = env_->now();
  transition t;
  t.records.push_back(
    insert_job{queue_->make_job(request, new_job_id(), now), request.by});
  queue_->arriving(1);
  run(
    std::move(t),
    [answer](const auto& failed) mutable {
      if (failed)
        answer.deliver(to_caf(*failed));
    },
    [this, answer, now](committed& message) mutable {
      answer.deliver(
        settle_publish(std::get<insert_job>(message.records.front()),
                       message.answers.front(), now));
    });
  return answer;
}

auto queue_state::handle(publish_batch& request)
  -> promise<publish_batch_result> {
  auto answer = self_->make_response_promise<publish_batch_result>();
  if (auto reason = cannot_publish())
    return answer.deliver(to_caf(*reason));
  if (request.jobs.empty())
    return answer.deliver(publish_batch_result{});
  auto now = env_->now();
  auto b = std::make_shared<batch>(batch{answer, now, {}, {}, 0});
  b->missing = request.jobs.size();
  b->results.resize(b->missing);
  auto room = queue_->room();
  transition t;
  for (std::size_t n = 0; n < request.jobs.size(); ++n) {
    const auto& job = request.jobs[n];
    if (t.records.size() < room) {
      t.records.push_back(
        insert_job{queue_->make_job(job, new_job_id(), now), job.by});
      b->places.push_back(n);
    } else {
      publish_to_full(job, [b, n](auto&& what) { b->put(n, std::move(what)); });
    }
  }
  if (t.records.empty())
    return answer;
  queue_->arriving(t.records.size());
  run(
    std::move(t),
    [this, b](const auto& failed) {
      if (failed)
        fail(*b, *failed);
    },
    [this, b](committed& message) { finish(*b, message); });
  return answer;
}

/// A job that is there already is no job more.
void queue_state::publish_to_full(const publish& request, on_published done) {
  auto depth = queue_->settings().max_depth.value_or(0);
  if (request.idempotency_key.empty()) {
    done(full(name_, depth));
    return;
  }
  commits_.when_stored([this, request, done, depth](const auto& failed) {
    if (failed) {
      done(error{*failed});
      return;
    }
    self_
      ->request(env_->reader, caf::infinite,
                find_job_by_key{id_, request.idempotency_key})
      .then(
        [this, request, done, depth](const job_by_key& answer) {
          if (!answer.found) {
            done(full(name_, depth));
            return;
          }
          const auto& j = *answer.found;
          done(publish_result{j.id, j.status, j.created_at, true,
                              j.payload != request.payload});
        },
        [done](const caf::error& reason) { done(from_caf(reason)); });
  });
}

publish_result queue_state::settle_publish(insert_job& inserted,
                                           const commit_answer& answer,
                                           moment made) {
  auto& stored = inserted.job;
  const auto& existing = answer.existing;
  const auto& shown = existing ? *existing : stored;
  publish_result result;
  result.id = shown.id;
  result.status = shown.status;
  result.created_at = shown.created_at;
  result.duplicate = existing.has_value();
  result.payload_mismatch = existing && existing->payload != stored.payload;
  if (existing)
    queue_->not_stored();
  else
    queue_->stored(std::move(stored), made, env_->now());
  return result;
}

void queue_state::finish(batch& b, committed& message) {
  for (std::size_t n = 0; n < b.places.size(); ++n)
    b.put(b.places[n], settle_publish(std::get<insert_job>(message.records[n]),
                                      message.answers[n], b.made));
}

void queue_state::fail(batch& b, const error& reason) {
  for (auto place : b.places)
    b.put(place, error{reason});
}

} // namespace tidegate
