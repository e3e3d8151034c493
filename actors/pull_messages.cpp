// How a pull queue actor takes in messages, and what is said of those that were
// received.

#include <caf/make_message.hpp>
#include <caf/result.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/pull_actor.hpp"

namespace tidegate {

namespace {

/// How long an idempotency key keeps others away, and a deduplication id.
constexpr duration key_holds = std::chrono::hours{24};
constexpr duration deduplication_holds = std::chrono::minutes{5};

template <class T>
auto deliverer(caf::typed_response_promise<T> answer) {
  return [answer](std::variant<T, error>&& what) mutable {
    if (auto result = std::get_if<T>(&what))
      answer.deliver(std::move(*result));
    else
      answer.deliver(to_caf(std::get<error>(what)));
  };
}

} // namespace

/// Answers that are collected.
template <class T>
struct collected {
  std::vector<std::variant<T, error>> results;
  std::size_t missing = 0;
  std::function<void(std::vector<std::variant<T, error>>&&)> done;

  void put(std::size_t n, std::variant<T, error>&& what) {
    results[n] = std::move(what);
    if (--missing == 0)
      done(std::move(results));
  }
};

// -- publishing ---------------------------------------------------------------

message_id pull_state::new_id() {
  return {job_seq{++*env_->last_job}, env_->random() & max_48_bits};
}

std::variant<insert_job, error>
pull_state::make_record(const publish_message& what, moment now) {
  auto made = queue_->make_message(what, new_id(), now);
  if (auto reason = std::get_if<error>(&made))
    return std::move(*reason);
  insert_job result{std::get<job>(std::move(made)), what.by, {}};
  result.key_since = now.wall
                     - (what.deduplicates ? deduplication_holds : key_holds);
  return result;
}

message_published pull_state::settle_publish(insert_job& inserted,
                                             const commit_answer& answer,
                                             moment made) {
  auto result = to_published(outcome_of(inserted, answer.existing));
  if (!answer.existing)
    queue_->stored(std::move(inserted.job), made, env_->now());
  return result;
}

auto pull_state::handle(const publish_message& request)
  -> promise<message_published> {
  auto answer = self_->make_response_promise<message_published>();
  if (auto reason = cannot_publish())
    return answer.deliver(to_caf(*reason));
  auto now = env_->now();
  auto record = make_record(request, now);
  if (auto reason = std::get_if<error>(&record))
    return answer.deliver(to_caf(*reason));
  pull_transition t;
  t.records.push_back(std::get<insert_job>(std::move(record)));
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

auto pull_state::handle(const publish_messages& request)
  -> promise<message_batch_published> {
  auto answer = self_->make_response_promise<message_batch_published>();
  if (auto reason = cannot_publish())
    return answer.deliver(to_caf(*reason));
  auto now = env_->now();
  auto results = std::make_shared<message_batch_published>();
  std::vector<std::size_t> places;
  pull_transition t;
  for (const auto& m : request.messages) {
    auto record = make_record(m, now);
    if (auto reason = std::get_if<error>(&record)) {
      results->results.emplace_back(std::move(*reason));
      continue;
    }
    places.push_back(results->results.size());
    results->results.emplace_back(message_published{});
    t.records.push_back(std::get<insert_job>(std::move(record)));
  }
  if (places.empty())
    return answer.deliver(std::move(*results));
  run(
    std::move(t),
    [answer](const auto& failed) mutable {
      if (failed)
        answer.deliver(to_caf(*failed));
    },
    [this, answer, now, results, places](committed& message) mutable {
      for (std::size_t n = 0; n < places.size(); ++n)
        results->results[places[n]] = settle_publish(
          std::get<insert_job>(message.records[n]), message.answers[n], now);
      answer.deliver(std::move(*results));
    });
  return answer;
}

std::optional<error> pull_state::cannot_publish() const {
  if (auto reason = unfit_for_work())
    return reason;
  if (env_->backlog->records.load(std::memory_order_relaxed)
      >= env_->backlog_max)
    return error{errc::overloaded, "too much is waiting for the disk"};
  return std::nullopt;
}

// -- of messages that were received -------------------------------------------

auto pull_state::handle(const settle_message& request)
  -> promise<message_settled> {
  auto answer = self_->make_response_promise<message_settled>();
  if (auto reason = unfit())
    return answer.deliver(to_caf(*reason));
  if (request.successor)
    settle_with_successor(request, deliverer(answer));
  else
    settle(request, deliverer(answer));
  return answer;
}

/// All that can be said at once is one commit.
auto pull_state::handle(const settle_messages& request)
  -> promise<messages_settled> {
  auto answer = self_->make_response_promise<messages_settled>();
  if (auto reason = unfit())
    return answer.deliver(to_caf(*reason));
  if (request.entries.empty())
    return answer.deliver(messages_settled{});
  auto all = std::make_shared<collected<message_settled>>();
  all->missing = request.entries.size();
  all->results.resize(all->missing);
  all->done = [answer](auto&& results) mutable {
    answer.deliver(messages_settled{std::move(results)});
  };
  pull_transition t;
  std::vector<std::pair<std::size_t, message_settled>> settled;
  std::vector<std::size_t> unclear;
  auto now = env_->now();
  for (std::size_t n = 0; n < request.entries.size(); ++n) {
    auto decision = queue_->settle(request.entries[n], std::nullopt, now, t);
    if (auto done = std::get_if<message_settled>(&decision))
      settled.emplace_back(n, std::move(*done));
    else if (auto reason = std::get_if<error>(&decision))
      all->put(n, std::move(*reason));
    else
      unclear.push_back(n);
  }
  if (!settled.empty())
    run(std::move(t), [all, settled = std::move(settled)](const auto& failed) {
      for (const auto& [n, result] : settled)
        if (failed)
          all->put(n, error{*failed});
        else
          all->put(n, message_settled{result});
    });
  // What is read has what stands before it in the batch.
  for (auto n : unclear)
    read(request.entries[n],
         [all, n](auto&& result) { all->put(n, std::move(result)); });
  advance();
  return answer;
}

void pull_state::settle(const settle_message& what, on_settled done,
                        const std::optional<job_record>& stored) {
  pull_transition t;
  auto decision = queue_->settle(what, stored, env_->now(), t);
  if (auto reason = std::get_if<error>(&decision)) {
    done(std::move(*reason));
    return;
  }
  if (std::holds_alternative<read_message>(decision)) {
    read(what, std::move(done));
    return;
  }
  run(std::move(t),
      [done, result = std::get<message_settled>(decision)](const auto& failed) {
        if (failed)
          done(error{*failed});
        else
          done(message_settled{result});
      });
  advance();
}

/// Reads a message that is not leased, to say why it cannot be settled.
void pull_state::read(const settle_message& what, on_settled done) {
  commits_.when_stored([this, what, done](const auto& failed) {
    if (failed) {
      done(error{*failed});
      return;
    }
    self_->request(env_->reader, caf::infinite, find_message{what.id})
      .then(
        [this, what, done](const message_found& answer) {
          if (auto reason = unfit())
            done(std::move(*reason));
          else if (!answer.found)
            done(error{errc::message_not_found, "Message not found"});
          else if (answer.found->job.id.queue == id_)
            settle(what, done, answer.found);
          else
            settle_elsewhere(what, done, *answer.found);
        },
        [done](const caf::error& reason) { done(from_caf(reason)); });
  });
}

/// It is in another queue: of another project there is nothing to be said.
void pull_state::settle_elsewhere(const settle_message& what, on_settled done,
                                  const job_record& found) {
  self_
    ->request(queues_, caf::infinite,
              find_pull_impl{project_, {}, found.job.id.queue, false, false})
    .then(
      [this, what, done, found](const pull_impl_actor&) {
        if (auto reason = unfit())
          done(std::move(*reason));
        else
          settle(what, done, found);
      },
      [done](const caf::error& reason) {
        auto why = from_caf(reason);
        if (why.code == errc::queue_not_found
            || why.code == errc::wrong_queue_kind)
          why = {errc::message_not_found, "Message not found"};
        done(std::move(why));
      });
}

// -- an ack that publishes ----------------------------------------------------

void pull_state::settle_with_successor(const settle_message& what,
                                       on_settled done) {
  // What is not leased is not acked, and nothing is published.
  if (!queue_->is_leased(what)) {
    settle(what, std::move(done));
    return;
  }
  auto to = what.successor_queue.empty() ? name_ : what.successor_queue;
  self_
    ->request(
      queues_, caf::infinite,
      find_pull_impl{project_, to, {}, fits_new_queue(*what.successor), false})
    .then(
      [this, what, done](const pull_impl_actor& other) {
        if (other == self_) {
          auto now = env_->now();
          auto reason = unfit_for_work();
          if (reason) {
            done(std::move(*reason));
            return;
          }
          auto record = make_record(*what.successor, now);
          if (auto wrong = std::get_if<error>(&record))
            done(std::move(*wrong));
          else
            ack_and_publish(
              what,
              message_prepared{std::get<insert_job>(std::move(record)), now},
              other, done);
          return;
        }
        self_->request(other, caf::infinite, prepare_message{*what.successor})
          .then(
            [this, what, done, other](message_prepared& next) {
              ack_and_publish(what, std::move(next), other, done);
            },
            [done](const caf::error& reason) { done(from_caf(reason)); });
      },
      [done](const caf::error& reason) { done(from_caf(reason)); });
}

void pull_state::ack_and_publish(const settle_message& what,
                                 message_prepared&& next, pull_impl_actor to,
                                 on_settled done) {
  if (auto reason = unfit()) {
    done(std::move(*reason));
    return;
  }
  pull_transition t;
  auto decision = queue_->settle(what, std::nullopt, env_->now(), t);
  auto result = std::get_if<message_settled>(&decision);
  if (!result) {
    settle(what, done);
    return;
  }
  auto made = next.made;
  auto name = what.successor_queue.empty() ? name_ : what.successor_queue;
  pull_queue::add_successor(std::move(next.record), std::move(name), t);
  run(
    std::move(t),
    [done](const auto& failed) {
      if (failed)
        done(error{*failed});
    },
    [this, done, to, made, result = *result](committed& message) {
      finish_hand_over(message, result, to, made, done);
    });
  advance();
}

void pull_state::finish_hand_over(committed& message,
                                  const message_settled& result,
                                  const pull_impl_actor& to, moment made,
                                  const on_settled& done) {
  auto both = result;
  for (std::size_t n = 0; n < message.records.size(); ++n) {
    auto over = std::get_if<hand_over>(&message.records[n]);
    if (!over)
      continue;
    const auto& answer = message.answers[n];
    both.successor_queue = over->queue_name;
    if (to == self_) {
      both.successor = settle_publish(over->next, answer, made);
      continue;
    }
    both.successor = to_published(outcome_of(over->next, answer.existing));
    if (answer.existing)
      continue;
    // Nobody is told before the other queue knows.
    self_->request(to, caf::infinite, message_stored{over->next.job, made})
      .then([done, both](arrivals_noted) { done(message_settled{both}); },
            [done, both](const caf::error&) { done(message_settled{both}); });
    return;
  }
  done(std::move(both));
}

caf::result<message_prepared>
pull_state::handle(const prepare_message& request) {
  if (auto reason = cannot_publish())
    return to_caf(*reason);
  auto now = env_->now();
  auto record = make_record(request.what, now);
  if (auto reason = std::get_if<error>(&record))
    return to_caf(*reason);
  return message_prepared{std::get<insert_job>(std::move(record)), now};
}

arrivals_noted pull_state::handle(message_stored& message) {
  if (queue_ && !queue_->is_live(message.message.id.seq)) {
    queue_->stored(std::move(message.message), message.made, env_->now());
    advance();
  }
  return {};
}

} // namespace tidegate
