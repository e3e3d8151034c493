#include "actors/registry_actor.hpp"

#include <caf/actor_cast.hpp>
#include <caf/exit_reason.hpp>
#include <caf/result.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/system_messages.hpp>
#include <caf/typed_behavior.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace tidegate {

namespace {

error not_found(const std::string& queue) {
  return {errc::queue_not_found, "Queue '" + queue + "' not found"};
}

error already_there(const std::string& queue) {
  return {errc::queue_exists, "Queue '" + queue + "' exists already"};
}

error recovering() {
  return {errc::storage_unavailable, "the queues are being recovered"};
}

queue_key key_of(const queue_record& queue) {
  return {queue.project, queue.name};
}

template <class Request>
queue_key key_of(const Request& request) {
  return {request.project, request.name};
}

/// Returns what is wrong with a queue to be, in one sentence.
std::optional<error> complaint(const queue_key& key,
                               const queue_settings& settings) {
  auto wrong = validate(settings);
  if (auto bad_name = validate_queue_name(key.name))
    wrong.insert(wrong.begin(), *bad_name);
  if (auto bad_project = validate_project_name(key.project))
    wrong.insert(wrong.begin(), *bad_project);
  if (wrong.empty())
    return std::nullopt;
  return error{errc::validation_failed,
               wrong.front().field + " " + wrong.front().message};
}

} // namespace

registry_state::registry_state(registry_impl_actor::pointer self)
  : self_(self) {
  // nop
}

void registry_state::open(environment_ptr env) {
  env_ = std::move(env);
}

// -- one at a time for each key -----------------------------------------------

void registry_state::when_free(const queue_key& queue,
                               std::function<void()> work) {
  auto [i, free] = busy_.try_emplace(queue);
  if (free)
    work();
  else
    i->second.push_back(std::move(work));
}

void registry_state::set_free(const queue_key& queue) {
  auto i = busy_.find(queue);
  auto waiting = std::move(i->second);
  busy_.erase(i);
  for (auto& work : waiting)
    when_free(queue, std::move(work));
}

std::optional<error> registry_state::unfit() const {
  if (draining_)
    return error{errc::draining, "the server is stopping"};
  if (!started_)
    return recovering();
  return std::nullopt;
}

// -- creating -----------------------------------------------------------------

auto registry_state::handle(create_queue& request)
  -> promise<put_queue_result> {
  auto answer = self_->make_response_promise<put_queue_result>();
  auto key = key_of(request);
  if (auto reason = complaint(key, request.settings))
    return answer.deliver(to_caf(*reason));
  when_free(key, [this, key, answer, request = std::move(request)]() mutable {
    if (queues_.count(key) == 0) {
      create(std::move(request), answer);
      return;
    }
    answer.deliver(to_caf(already_there(key.name)));
    set_free(key);
  });
  return answer;
}

auto registry_state::handle(put_queue& request) -> promise<put_queue_result> {
  auto answer = self_->make_response_promise<put_queue_result>();
  auto key = key_of(request);
  if (auto reason = complaint(key, request.settings))
    return answer.deliver(to_caf(*reason));
  when_free(key, [this, key, answer, request = std::move(request)]() mutable {
    auto i = queues_.find(key);
    if (i == queues_.end()) {
      create({key.name, std::move(request.settings), key.project}, answer);
      return;
    }
    set_free(key);
    self_
      ->request(i->second, caf::infinite,
                put_settings{std::move(request.settings)})
      .then(
        [answer](queue_view& view) mutable {
          answer.deliver(put_queue_result{std::move(view), false});
        },
        [answer](const caf::error& reason) mutable { answer.deliver(reason); });
  });
  return answer;
}

void registry_state::create(create_queue&& request,
                            promise<put_queue_result> answer) {
  if (auto reason = unfit()) {
    answer.deliver(to_caf(*reason));
    set_free(key_of(request));
    return;
  }
  auto now = env_->now().wall;
  queue_record queue;
  queue.id = queue_id{++last_queue_.value};
  queue.project = std::move(request.project);
  queue.name = std::move(request.name);
  queue.settings = std::move(request.settings);
  queue.secret = env_->make_secret();
  queue.created_at = now;
  queue.updated_at = now;
  auto ticket = next_ticket_++;
  self_->send(env_->persistence,
              commit_request{queue.id, ticket, {insert_queue{queue}}},
              caf::actor_cast<committer>(self_->address()));
  creations_.emplace(ticket, creation{std::move(queue), answer});
}

void registry_state::handle(const committed& message) {
  auto node = creations_.extract(message.ticket);
  auto& [queue, answer] = node.mapped();
  auto key = key_of(queue);
  queue_snapshot stored{std::move(queue), {}, {}};
  start(stored);
  self_->request(queues_[key], caf::infinite, get_queue{})
    .then(
      [answer = answer](queue_view& view) mutable {
        answer.deliver(put_queue_result{std::move(view), true});
      },
      [answer = answer](const caf::error& reason) mutable {
        answer.deliver(reason);
      });
  set_free(key);
}

void registry_state::handle(const commit_failed& message) {
  auto node = creations_.extract(message.ticket);
  auto& [queue, answer] = node.mapped();
  answer.deliver(to_caf(message.reason));
  set_free(key_of(queue));
}

void registry_state::start(const queue_snapshot& stored) {
  auto key = key_of(stored.queue);
  keys_[stored.queue.id] = key;
  queues_[key] = self_->spawn(make_queue, env_,
                              std::make_shared<const queue_snapshot>(stored));
}

// -- removing -----------------------------------------------------------------

auto registry_state::handle(const delete_queue& request)
  -> promise<queue_deleted> {
  auto answer = self_->make_response_promise<queue_deleted>();
  auto key = key_of(request);
  when_free(key, [this, key, answer, force = request.force]() mutable {
    auto i = queues_.find(key);
    if (i == queues_.end()) {
      answer.deliver(to_caf(not_found(key.name)));
      set_free(key);
      return;
    }
    self_->request(i->second, caf::infinite, close_queue{force})
      .then(
        [this, answer, key](queue_deleted done) mutable {
          queues_.erase(key);
          std::erase_if(keys_, [&](const auto& x) { return x.second == key; });
          answer.deliver(done);
          set_free(key);
        },
        [this, answer, key](const caf::error& reason) mutable {
          answer.deliver(reason);
          set_free(key);
        });
  });
  return answer;
}

// -- looking up ---------------------------------------------------------------

caf::result<queue_actor>
registry_state::handle(const find_queue& request) const {
  auto i = queues_.find(key_of(request));
  if (i == queues_.end())
    return to_caf(not_found(request.name));
  return queue_actor{i->second};
}

caf::result<queue_actor>
registry_state::handle(const find_queue_of& request) const {
  auto i = keys_.find(request.id.queue);
  if (i == keys_.end() || i->second.project != request.project)
    return to_caf({errc::job_not_found, "Job not found"});
  return queue_actor{queues_.find(i->second)->second};
}

caf::result<queue_upkeep> registry_state::handle(find_upkeep request) const {
  if (!started_)
    return to_caf(recovering());
  auto i = keys_.find(request.id);
  if (i == keys_.end())
    return to_caf({errc::queue_not_found, "the queue has been deleted"});
  return queue_upkeep{queues_.find(i->second)->second};
}

/// Gathers one answer for each queue, in the order of their names.
struct registry_state::collected_views {
  std::vector<std::optional<queue_view>> views;
  std::size_t missing = 0;
  std::string next_after;
  promise<queue_list> answer;
  std::optional<caf::error> failed;

  void put(std::size_t i, queue_view&& view) {
    views[i] = std::move(view);
    count_one();
  }

  /// A queue that has been deleted meanwhile is left out.
  void put_failure(const caf::error& reason) {
    if (from_caf(reason).code != errc::queue_not_found)
      failed = reason;
    count_one();
  }

  void count_one() {
    if (--missing == 0)
      deliver();
  }

  void deliver() {
    if (failed) {
      answer.deliver(*failed);
      return;
    }
    queue_list result;
    result.next_after = std::move(next_after);
    for (auto& view : views)
      if (view)
        result.items.push_back(std::move(*view));
    answer.deliver(std::move(result));
  }
};

auto registry_state::handle(const list_queues& request) -> promise<queue_list> {
  auto all = std::make_shared<collected_views>();
  all->answer = self_->make_response_promise<queue_list>();
  std::vector<queue_impl_actor> asked;
  auto more = [&](auto i) {
    return i != queues_.end() && i->first.project == request.project;
  };
  auto last = queues_.end();
  auto i = queues_.upper_bound({request.project, request.after});
  for (; more(i) && asked.size() < request.limit; last = i++)
    asked.push_back(i->second);
  if (more(i) && last != queues_.end())
    all->next_after = last->first.name;
  all->views.resize(asked.size());
  all->missing = asked.size();
  if (asked.empty())
    all->deliver();
  for (std::size_t n = 0; n < asked.size(); ++n)
    self_->request(asked[n], caf::infinite, get_queue{})
      .then([all, n](queue_view& view) { all->put(n, std::move(view)); },
            [all](const caf::error& reason) { all->put_failure(reason); });
  return all->answer;
}

auto registry_state::handle(check_ready) -> promise<ready_for_work> {
  auto answer = self_->make_response_promise<ready_for_work>();
  if (auto reason = unfit())
    return answer.deliver(to_caf(*reason));
  self_->request(env_->persistence, caf::infinite, check_store{})
    .then([answer](store_usable) mutable { answer.deliver(ready_for_work{}); },
          [answer](const caf::error& reason) mutable {
            answer.deliver(reason);
          });
  return answer;
}

// -- start and stop -----------------------------------------------------------

auto registry_state::handle(start_queues) -> promise<queues_started> {
  auto answer = self_->make_response_promise<queues_started>();
  self_->request(env_->persistence, caf::infinite, load_queues{})
    .then(
      [this, answer](const stored_queues& stored) mutable {
        env_->last_job->store(stored.last_job.value);
        last_queue_ = stored.last_queue;
        for (const auto& q : stored.queues)
          start(q);
        started_ = true;
        answer.deliver(queues_started{});
      },
      [answer](const caf::error& reason) mutable { answer.deliver(reason); });
  return answer;
}

auto registry_state::handle(drain_all) -> promise<queue_drained> {
  draining_ = true;
  auto answer = self_->make_response_promise<queue_drained>();
  auto missing = std::make_shared<std::size_t>(queues_.size());
  if (*missing == 0)
    return answer.deliver(queue_drained{});
  auto one_less = [answer, missing]() mutable {
    if (--*missing == 0)
      answer.deliver(queue_drained{});
  };
  for (auto& [key, queue] : queues_)
    self_->request(queue, caf::infinite, drain_queue{})
      .then([one_less](queue_drained) mutable { one_less(); },
            [one_less](const caf::error&) mutable { one_less(); });
  return answer;
}

void registry_state::stop() {
  for (auto& [ticket, c] : creations_)
    c.answer.deliver(to_caf({errc::draining, "the server has stopped"}));
  creations_.clear();
  for (auto& [key, queue] : queues_)
    self_->send_exit(queue, caf::exit_reason::user_shutdown);
}

registry_impl_actor::behavior_type
make_registry(registry_impl_actor::stateful_pointer<registry_state> self,
              environment_ptr env) {
  auto& state = self->state;
  state.open(std::move(env));
  self->set_exit_handler([self](caf::exit_msg& message) {
    self->state.stop();
    self->quit(std::move(message.reason));
  });
  return {
    [&state](create_queue& x) { return state.handle(x); },
    [&state](put_queue& x) { return state.handle(x); },
    [&state](const delete_queue& x) { return state.handle(x); },
    [&state](const list_queues& x) { return state.handle(x); },
    [&state](const find_queue& x) { return state.handle(x); },
    [&state](const find_queue_of& x) { return state.handle(x); },
    [&state](find_upkeep x) { return state.handle(x); },
    [&state](check_ready x) { return state.handle(x); },
    [&state](start_queues x) { return state.handle(x); },
    [&state](drain_all x) { return state.handle(x); },
    [&state](const committed& x) { state.handle(x); },
    [&state](const commit_failed& x) { state.handle(x); },
  };
}

} // namespace tidegate
