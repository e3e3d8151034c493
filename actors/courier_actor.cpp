#include "actors/courier_actor.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/exit_reason.hpp>
#include <caf/sec.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_behavior.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace tidegate {

namespace {

constexpr std::size_t excerpt_bytes_max = 2048;

/// Spells a wait as `Retry-After` has it: seconds, with milliseconds.
std::string to_retry_after(duration wait) {
  auto us = std::clamp(wait, duration{0}, longest_wait).count();
  auto ms = (us + 999) / 1000;
  auto fraction = std::to_string(1000 + ms % 1000).substr(1);
  return std::to_string(ms / 1000) + "." + fraction;
}

delivery_reply to_reply(const handler_reply& said, moment now) {
  delivery_reply result;
  result.http_status = static_cast<std::uint16_t>(said.what);
  result.excerpt = said.text.substr(0, excerpt_bytes_max);
  result.permanent = said.what == handler_reply::kind::refused;
  auto wait = said.until ? *said.until - now.wall : said.wait;
  if (said.what == handler_reply::kind::deferred && wait)
    result.retry_after = {to_retry_after(*wait)};
  return result;
}

/// Asks the handler, and tells the courier what it says.
void run_errand(caf::event_based_actor* self, const courier_actor& courier,
                const job_handler& handler, const std::shared_ptr<errand>& what,
                std::uint64_t id) {
  self->request(handler, caf::infinite, std::move(what->what))
    .then(
      [=](handler_reply& reply) {
        self->send(courier, errand_answered{id, std::move(reply)});
      },
      [=](const caf::error& reason) {
        self->send(courier, errand_failed{id, reason});
      });
}

} // namespace

courier_state::courier_state(courier_actor::pointer self) : self_(self) {
  // nop
}

void courier_state::open(std::function<moment()> now) {
  now_ = std::move(now);
}

void courier_state::handle(const use_handler& message) {
  handler_ = message.handler;
  if (handler_ && watched_.insert(handler_.id()).second)
    self_->monitor(handler_);
}

// -- deliveries ---------------------------------------------------------------

void courier_state::handle(const start_errand& message) {
  auto& what = *message.what;
  auto deadline = after(what.started, what.what.timeout);
  auto id = what.id;
  auto& x = open_[id];
  x = {message.what, {}, deadline, handler_ ? handler_.id() : 0};
  deadlines_.emplace(deadline, id);
  if (!handler_) {
    end(id, delivery_errc::connect_failed, "the handler is down");
    return;
  }
  x.runner = self_->spawn(run_errand, courier_actor{self_}, handler_, x.what,
                          id);
  arm();
}

void courier_state::handle(abort_errand message) {
  end(message.id, delivery_errc::aborted, "aborted");
}

void courier_state::handle(const errand_answered& message) {
  end(message.id, to_reply(message.reply, now_()));
}

void courier_state::handle(const errand_failed& message) {
  if (message.reason == caf::sec::request_receiver_down) {
    end(message.id, delivery_errc::connection_reset, "the handler is down");
    return;
  }
  auto text = self_->system().render(message.reason);
  end(message.id, to_reply(handler_reply::failed(std::move(text)), now_()));
}

void courier_state::handle(courier_tick message) {
  if (!timer_.fired(message))
    return;
  auto now = now_().steady;
  while (!deadlines_.empty() && deadlines_.begin()->first <= now)
    end(deadlines_.begin()->second, delivery_errc::timeout,
        "the handler did not answer in time");
  arm();
}

void courier_state::handle(const caf::down_msg& message) {
  auto who = message.source.id();
  watched_.erase(who);
  if (handler_ && handler_.id() == who)
    handler_ = nullptr;
  std::vector<std::uint64_t> lost;
  for (const auto& [id, x] : open_)
    if (x.handler == who)
      lost.push_back(id);
  for (auto id : lost)
    end(id, delivery_errc::connection_reset, "the handler is down");
}

void courier_state::end(std::uint64_t id, delivery_reply reply) {
  auto node = open_.extract(id);
  if (node.empty())
    return;
  auto& x = node.mapped();
  deadlines_.erase({x.deadline, id});
  if (x.runner)
    caf::anon_send_exit(x.runner, caf::exit_reason::user_shutdown);
  reply.took = now_().steady - x.what->started;
  x.what->done(std::move(reply));
}

void courier_state::end(std::uint64_t id, delivery_errc code,
                        std::string text) {
  delivery_reply reply;
  reply.error_code = code;
  reply.error = std::move(text);
  end(id, std::move(reply));
}

void courier_state::end_all() {
  while (!open_.empty())
    end(open_.begin()->first, delivery_errc::aborted, "aborted");
}

void courier_state::arm() {
  if (!deadlines_.empty())
    timer_.arm(self_, now_(), deadlines_.begin()->first);
}

courier_actor::behavior_type
make_courier(courier_actor::stateful_pointer<courier_state> self,
             job_handler handler, std::function<moment()> now) {
  auto& state = self->state;
  state.open(std::move(now));
  self->set_down_handler(
    [&state](const caf::down_msg& message) { state.handle(message); });
  self->set_exit_handler([self](const caf::exit_msg& message) {
    self->state.end_all();
    self->quit(message.reason);
  });
  state.handle(use_handler{std::move(handler)});
  return {
    [&state](const start_errand& x) { state.handle(x); },
    [&state](abort_errand x) { state.handle(x); },
    [&state](const errand_answered& x) { state.handle(x); },
    [&state](const errand_failed& x) { state.handle(x); },
    [&state](const use_handler& x) { state.handle(x); },
    [&state](courier_tick x) { state.handle(x); },
  };
}

} // namespace tidegate
