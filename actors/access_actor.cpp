#include "actors/access_actor.hpp"

#include <algorithm>
#include <utility>

#include <caf/actor_cast.hpp>
#include <caf/result.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/system_messages.hpp>
#include <caf/typed_behavior.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "tidegate/queue_settings.hpp"

namespace tidegate {

access_state::access_state(access_impl_actor::pointer self) : self_(self) {
  // nop
}

void access_state::open(environment_ptr env, keys_listener tell,
                        duration pause) {
  env_ = std::move(env);
  tell_ = std::move(tell);
  pause_ = pause;
}

// -- what others change -------------------------------------------------------

auto access_state::handle(start_access) -> promise<access_started> {
  auto answer = self_->make_response_promise<access_started>();
  starters_.push_back(answer);
  read();
  if (!std::exchange(polling_, true))
    poll_later();
  return answer;
}

void access_state::handle(access_tick) {
  read();
  poll_later();
}

void access_state::poll_later() {
  if (pause_ > duration{0})
    self_->delayed_send(self_, pause_, access_tick{});
}

void access_state::read() {
  if (std::exchange(reading_, true))
    return;
  self_->request(env_->browser, caf::infinite, read_api_keys{version_})
    .then(
      [this, since = own_changes_](const api_keys_read& found) {
        reading_ = false;
        take(found, since);
      },
      [this](const caf::error& reason) {
        reading_ = false;
        answer_starters(from_caf(reason));
      });
}

void access_state::take(const api_keys_read& found, std::uint64_t since) {
  if (since != own_changes_) {
    read();
    return;
  }
  version_ = found.version;
  if (found.items)
    set(*found.items);
  answer_starters(std::nullopt);
}

void access_state::set(std::vector<api_key_record> keys) {
  if (keys_ == keys)
    return;
  keys_ = std::move(keys);
  if (tell_)
    tell_(*keys_);
}

void access_state::answer_starters(const std::optional<error>& reason) {
  for (auto& starter : std::exchange(starters_, {})) {
    if (reason)
      starter.deliver(to_caf(*reason));
    else
      starter.deliver(access_started{});
  }
}

// -- what it changes ----------------------------------------------------------

auto access_state::handle(create_api_key& request) -> promise<api_key_record> {
  auto answer = self_->make_response_promise<api_key_record>();
  if (auto wrong = validate_project_name(request.key.project))
    return answer.deliver(
      to_caf({errc::validation_failed, wrong->field + " " + wrong->message}));
  auto key = std::move(request.key);
  key.id = {};
  key.created_at = env_->now().wall;
  commit(creation{key, answer}, insert_api_key{key});
  return answer;
}

auto access_state::handle(const revoke_api_key& request)
  -> promise<api_key_revoked> {
  auto answer = self_->make_response_promise<api_key_revoked>();
  commit(removal{request.id, answer}, remove_api_key{request.id});
  return answer;
}

void access_state::commit(change what, record entry) {
  auto ticket = next_ticket_++;
  changes_.emplace(ticket, std::move(what));
  self_->send(env_->persistence, commit_request{{}, ticket, {std::move(entry)}},
              caf::actor_cast<committer>(self_->address()));
}

void access_state::handle(const committed& message) {
  auto node = changes_.extract(message.ticket);
  ++own_changes_;
  std::visit([&](auto& what) { finish(what, message.answers.front()); },
             node.mapped());
}

void access_state::handle(const commit_failed& message) {
  auto node = changes_.extract(message.ticket);
  std::visit([&](auto& what) { what.answer.deliver(to_caf(message.reason)); },
             node.mapped());
}

void access_state::finish(creation& what, const commit_answer& answer) {
  what.key.id = answer.key;
  // A look at the store may have found it already.
  auto there =
    keys_ && std::any_of(keys_->begin(), keys_->end(), [&](const auto& key) {
      return key.id == what.key.id;
    });
  if (keys_ && !there) {
    auto keys = *keys_;
    keys.push_back(what.key);
    set(std::move(keys));
  }
  what.answer.deliver(what.key);
}

void access_state::finish(removal& what, const commit_answer& answer) {
  if (keys_) {
    auto keys = *keys_;
    std::erase_if(keys, [&](const auto& key) { return key.id == what.id; });
    set(std::move(keys));
  }
  if (answer.done)
    what.answer.deliver(api_key_revoked{});
  else
    what.answer.deliver(to_caf({errc::not_found, "API key not found"}));
}

// -- looking up ---------------------------------------------------------------

caf::result<api_key_list> access_state::handle(const list_api_keys&) const {
  if (!keys_)
    return to_caf(
      {errc::storage_unavailable, "the API keys have not been read yet"});
  return api_key_list{*keys_};
}

caf::delegated<usage_list> access_state::handle(const get_usage& request) {
  return self_->delegate(env_->browser, request);
}

void access_state::stop() {
  error stopped{errc::draining, "the server has stopped"};
  for (auto& [ticket, c] : std::exchange(changes_, {}))
    std::visit([&](auto& what) { what.answer.deliver(to_caf(stopped)); }, c);
  answer_starters(stopped);
}

access_impl_actor::behavior_type
make_access(access_impl_actor::stateful_pointer<access_state> self,
            environment_ptr env, keys_listener tell, duration pause) {
  auto& state = self->state;
  state.open(std::move(env), std::move(tell), pause);
  self->set_exit_handler([self](caf::exit_msg& message) {
    self->state.stop();
    self->quit(std::move(message.reason));
  });
  return {
    [&state](create_api_key& x) { return state.handle(x); },
    [&state](const list_api_keys& x) { return state.handle(x); },
    [&state](const revoke_api_key& x) { return state.handle(x); },
    [&state](const get_usage& x) { return state.handle(x); },
    [&state](start_access x) { return state.handle(x); },
    [&state](access_tick x) { state.handle(x); },
    [&state](const committed& x) { state.handle(x); },
    [&state](const commit_failed& x) { state.handle(x); },
  };
}

} // namespace tidegate
