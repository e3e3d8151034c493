// How a pull queue actor pushes messages to a webhook.

#include <caf/actor_cast.hpp>
#include <caf/result.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/pull_actor.hpp"

namespace tidegate {

auto pull_state::handle(const subscribe_webhook& request)
  -> promise<pull_queue_view> {
  if (auto reason = unfit_for_work())
    return refuse(*reason);
  if (auto wrong = validate(request.settings); !wrong.empty())
    return refuse(wrong);
  auto secret = queue_->record_now().secret;
  if (request.secret)
    secret = *request.secret;
  else if (secret.empty())
    secret = env_->make_secret();
  return change(queue_->subscribe(request.settings, secret, env_->now()));
}

auto pull_state::handle(unsubscribe_webhook) -> promise<pull_queue_view> {
  if (auto reason = unfit_for_work())
    return refuse(*reason);
  if (queue_->record_now().settings.webhook_url.empty())
    return refuse(
      {errc::not_found, "Queue '" + name_ + "' has no push subscription"});
  return change(queue_->unsubscribe(env_->now()));
}

// -- deliveries ---------------------------------------------------------------

void pull_state::carry_out(start_delivery&& what) {
  if (!closing_)
    deliveries_.start(self_, *env_, std::move(what), generation_);
}

void pull_state::handle(delivery_ended& message) {
  if (message.generation != generation_)
    return;
  deliveries_.ended(message);
  run(queue_->delivered(message.job, message.number, message.reply,
                        draw_lot(*env_), env_->now()));
  advance();
}

void pull_state::carry_out(take_permits&& what) {
  self_->send(env_->permits, ask_permits{what.count},
              caf::actor_cast<permit_taker>(self_->address()));
}

void pull_state::carry_out(leave_permits&& what) {
  if (env_->permits && what.count > 0)
    self_->send(env_->permits, return_permits{what.count});
}

void pull_state::handle(permits_granted message) {
  if (!queue_) {
    carry_out(leave_permits{message.count});
    return;
  }
  queue_->granted(message.count);
  advance();
}

void pull_state::carry_out(emit&& what) {
  if (env_->listener)
    self_->send(env_->listener, std::move(what.event));
}

void pull_state::carry_out(give_account&& what) {
  env_->on_delivery(what.what);
}

} // namespace tidegate
