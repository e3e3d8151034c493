// What pull queue actors say to each other: where messages go that are moved.

#include <algorithm>
#include <memory>

#include <caf/make_message.hpp>
#include <caf/result.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/pull_actor.hpp"

namespace tidegate {

namespace {

/// How soon a dead-letter queue that could not be made is asked for again.
constexpr duration find_pause = std::chrono::seconds{1};

} // namespace

void pull_state::carry_out(find_dead_letter_queue&&) {
  auto found = [this, generation = generation_](std::optional<queue_id> id) {
    if (generation != generation_ || !queue_)
      return;
    queue_->found_dead_letter_queue(id);
    if (id)
      advance();
    else
      self_->delayed_send(self_, find_pause, attach_again{});
  };
  self_
    ->request(queues_, caf::infinite,
              find_pull_impl{project_, dead_letter_queue(), {}, true, true})
    .then(
      [this, found](const pull_impl_actor& other) {
        self_->request(other, caf::infinite, get_depth{})
          .then([found](pull_queue_depth depth) { found(depth.id); },
                [found](const caf::error&) { found(std::nullopt); });
      },
      [found](const caf::error&) { found(std::nullopt); });
}

/// Takes the messages that are sent away out of `effects`, tells the queues to
/// which they have come, and calls `then` when all of these know.
void pull_state::send_away_and_then(std::vector<pull_effect>& effects,
                                    std::function<void()> then) {
  auto first =
    std::stable_partition(effects.begin(), effects.end(), [](const auto& e) {
      return !std::holds_alternative<send_away>(e);
    });
  auto missing = std::make_shared<std::ptrdiff_t>(effects.end() - first);
  if (*missing == 0)
    then();
  auto one_less = [missing, then] {
    if (--*missing == 0)
      then();
  };
  // One that is gone has taken its messages with it.
  auto gone = [one_less](const caf::error&) { one_less(); };
  for (auto e = first; e != effects.end(); ++e) {
    auto& what = std::get<send_away>(*e);
    find_pull_impl target{project_, {}, what.to, false, false};
    self_->request(queues_, caf::infinite, target)
      .then(
        [this, messages = std::move(what.messages), one_less,
         gone](const pull_impl_actor& other) {
          self_->request(other, caf::infinite, messages_arrived{messages})
            .then([one_less](arrivals_noted) { one_less(); }, gone);
        },
        gone);
  }
  effects.erase(first, effects.end());
}

void pull_state::carry_out(send_away&& what) {
  std::vector<pull_effect> effects;
  effects.emplace_back(std::move(what));
  send_away_and_then(effects, [] {});
}

arrivals_noted pull_state::handle(const messages_arrived& message) {
  // Who has no memory finds them when it attaches.
  if (queue_) {
    queue_->arrived(message.messages, env_->now());
    advance();
  }
  return {};
}

void pull_state::handle(look_again) {
  if (queue_ && !closing_)
    start_anew({errc::storage_unavailable, "the queue is being recovered"});
}

} // namespace tidegate
