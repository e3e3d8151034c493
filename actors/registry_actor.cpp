#include "actors/registry_actor.hpp"

#include <type_traits>
#include <utility>

#include <caf/actor_cast.hpp>
#include <caf/exit_reason.hpp>
#include <caf/result.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/system_messages.hpp>
#include <caf/typed_behavior.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/core/pull_differences.hpp"
#include "tidegate/alert.hpp"

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

/// Says that a queue is of the kind `is`, where one of the other kind was
/// meant.
error wrong_kind(const std::string& queue, queue_kind is) {
  return {errc::wrong_queue_kind,
          "Queue '" + queue
            + (is == queue_kind::push ? "' is a push queue, not a pull queue"
                                      : "' is a pull queue, not a push queue")};
}

error differs(const std::string& queue, const pull_settings& there,
              const pull_settings& asked) {
  return {errc::queue_exists, "Queue '" + queue
                                + "' exists already, with other settings: "
                                + differences(there, asked)};
}

/// Returns what is wrong with a queue to be, in one sentence. `wrong` is what
/// is with its settings.
std::optional<error> complaint(const queue_key& key,
                               std::vector<field_error> wrong) {
  if (auto bad_name = validate_queue_name(key.name))
    wrong.insert(wrong.begin(), *bad_name);
  if (auto bad_project = validate_project_name(key.project))
    wrong.insert(wrong.begin(), *bad_project);
  if (wrong.empty())
    return std::nullopt;
  return to_error(wrong.front());
}

std::vector<field_error> validate(const std::string& name,
                                  const pull_settings& settings) {
  auto wrong = tidegate::validate(settings);
  if (name == alerts_queue)
    wrong.insert(wrong.begin(),
                 {"name",
                  "must not be 'tidegate.alerts', which is kept for "
                  "the push queue that alerts go through"});
  if (auto reason = validate_dead_letters(name, settings))
    wrong.push_back(*std::move(reason));
  return wrong;
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
  if (auto reason = complaint(key, validate(request.settings)))
    return answer.deliver(to_caf(*reason));
  when_free(key, [this, key, answer, request = std::move(request)]() mutable {
    if (queues_.count(key) == 0) {
      create_push(key, std::move(request.settings), answer);
      return;
    }
    answer.deliver(to_caf(queues_[key].push
                            ? already_there(key.name)
                            : wrong_kind(key.name, queue_kind::pull)));
    set_free(key);
  });
  return answer;
}

auto registry_state::handle(put_queue& request) -> promise<put_queue_result> {
  auto answer = self_->make_response_promise<put_queue_result>();
  auto key = key_of(request);
  if (auto reason = complaint(key, validate(request.settings)))
    return answer.deliver(to_caf(*reason));
  when_free(key, [this, key, answer, request = std::move(request)]() mutable {
    auto i = queues_.find(key);
    if (i == queues_.end()) {
      create_push(key, std::move(request.settings), answer);
      return;
    }
    set_free(key);
    if (!i->second.push) {
      answer.deliver(to_caf(wrong_kind(key.name, queue_kind::pull)));
      return;
    }
    self_
      ->request(i->second.push, caf::infinite,
                put_settings{std::move(request.settings)})
      .then(
        [answer](queue_view& view) mutable {
          answer.deliver(put_queue_result{std::move(view), false});
        },
        [answer](const caf::error& reason) mutable { answer.deliver(reason); });
  });
  return answer;
}

void registry_state::create_push(const queue_key& key,
                                 queue_settings&& settings,
                                 promise<put_queue_result> answer) {
  queue_record queue;
  queue.project = key.project;
  queue.name = key.name;
  queue.settings = std::move(settings);
  queue.secret = env_->make_secret();
  create(std::move(queue), [this, key, answer](const auto& failed) mutable {
    if (failed) {
      answer.deliver(to_caf(*failed));
      return;
    }
    self_->request(queues_[key].push, caf::infinite, get_queue{})
      .then(
        [answer](queue_view& view) mutable {
          answer.deliver(put_queue_result{std::move(view), true});
        },
        [answer](const caf::error& reason) mutable { answer.deliver(reason); });
  });
}

/// Stores a queue whose key is busy, and sets that free.
void registry_state::create(queue_record&& queue, on_created done) {
  auto key = key_of(queue);
  if (auto reason = unfit()) {
    set_free(key);
    done(reason);
    return;
  }
  queue.id = queue_id{++last_queue_.value};
  queue.created_at = env_->now().wall;
  queue.updated_at = queue.created_at;
  auto ticket = next_ticket_++;
  self_->send(env_->persistence,
              commit_request{queue.id, ticket, {insert_queue{queue}}},
              caf::actor_cast<committer>(self_->address()));
  creations_.emplace(ticket, creation{std::move(queue), std::move(done)});
}

void registry_state::handle(const committed& message) {
  auto node = creations_.extract(message.ticket);
  auto& [queue, done] = node.mapped();
  auto key = key_of(queue);
  start({std::move(queue), {}, {}});
  tell(event_kind::queue_created, key);
  done(std::nullopt);
  set_free(key);
}

void registry_state::handle(const commit_failed& message) {
  auto node = creations_.extract(message.ticket);
  auto& [queue, done] = node.mapped();
  done(message.reason);
  set_free(key_of(queue));
}

void registry_state::start(queue_snapshot&& stored) {
  auto key = key_of(stored.queue);
  auto kind = stored.queue.kind;
  keys_[stored.queue.id] = key;
  auto shared = std::make_shared<const queue_snapshot>(std::move(stored));
  auto& queue = queues_[key];
  if (kind == queue_kind::push)
    queue.push = self_->spawn(make_queue, env_, shared);
  else
    queue.pull = self_->spawn(make_pull_queue, env_,
                              caf::actor_cast<pull_directory>(self_->address()),
                              shared);
}

void registry_state::tell(event_kind kind, const queue_key& queue) {
  if (!env_->listener)
    return;
  service_event event;
  event.kind = kind;
  event.project = queue.project;
  event.queue = queue.name;
  event.at = env_->now().wall;
  self_->send(env_->listener, std::move(event));
}

// -- pull queues --------------------------------------------------------------

auto registry_state::handle(create_pull_queue& request)
  -> promise<pull_queue_created> {
  auto answer = self_->make_response_promise<pull_queue_created>();
  auto key = key_of(request);
  if (auto reason = complaint(key, validate(key.name, request.settings)))
    return answer.deliver(to_caf(*reason));
  when_free(key, [this, key, answer, settings = request.settings]() mutable {
    auto i = queues_.find(key);
    auto dead = queues_.find({key.project, settings.dead_letter_queue});
    if (i == queues_.end() && dead != queues_.end() && !dead->second.pull) {
      answer.deliver(to_caf(wrong_kind(dead->first.name, queue_kind::push)));
      set_free(key);
      return;
    }
    if (i == queues_.end()) {
      queue_record queue;
      queue.kind = queue_kind::pull;
      queue.project = key.project;
      queue.name = key.name;
      queue.pull = settings;
      create(std::move(queue), [this, key, answer](const auto& failed) mutable {
        if (failed)
          answer.deliver(to_caf(*failed));
        else
          show_created(key, true, answer);
      });
      return;
    }
    set_free(key);
    if (i->second.pull)
      show_same(key, settings, answer);
    else
      answer.deliver(to_caf(wrong_kind(key.name, queue_kind::push)));
  });
  return answer;
}

void registry_state::show_created(const queue_key& key, bool created,
                                  promise<pull_queue_created> answer) {
  self_->request(queues_[key].pull, caf::infinite, get_pull_queue{})
    .then(
      [answer, created](pull_queue_view& view) mutable {
        answer.deliver(pull_queue_created{std::move(view), created});
      },
      [answer](const caf::error& reason) mutable { answer.deliver(reason); });
}

/// Shows a queue that is there, if its settings are those that were asked for.
void registry_state::show_same(const queue_key& key,
                               const pull_settings& settings,
                               promise<pull_queue_created> answer) {
  self_->request(queues_[key].pull, caf::infinite, get_pull_queue{})
    .then(
      [answer, settings, key](pull_queue_view& view) mutable {
        if (view.queue.pull == settings)
          answer.deliver(pull_queue_created{std::move(view), false});
        else
          answer.deliver(to_caf(differs(key.name, view.queue.pull, settings)));
      },
      [answer](const caf::error& reason) mutable { answer.deliver(reason); });
}

/// A queue that comes into being by itself: `<existing queue>.dlq` is a
/// dead-letter queue.
pull_settings registry_state::default_settings(const queue_key& key) const {
  constexpr std::string_view suffix = ".dlq";
  if (!key.name.ends_with(suffix))
    return {};
  auto source = key;
  source.name.resize(key.name.size() - suffix.size());
  auto i = queues_.find(source);
  return i != queues_.end() && i->second.pull ? dead_letter_settings()
                                              : pull_settings{};
}

template <class T>
void registry_state::with_pull(const queue_key& key, bool make,
                               bool dead_letters, promise<T> answer) {
  when_free(key, [this, key, make, dead_letters, answer]() mutable {
    auto i = queues_.find(key);
    if (i != queues_.end() || !make) {
      if (i == queues_.end())
        answer.deliver(to_caf(not_found(key.name)));
      else if (!i->second.pull)
        answer.deliver(to_caf(wrong_kind(key.name, queue_kind::push)));
      else
        answer.deliver(T{i->second.pull});
      set_free(key);
      return;
    }
    auto settings = dead_letters ? dead_letter_settings()
                                 : default_settings(key);
    if (auto wrong = complaint(key, validate(key.name, settings))) {
      answer.deliver(to_caf(*wrong));
      set_free(key);
      return;
    }
    queue_record queue;
    queue.kind = queue_kind::pull;
    queue.project = key.project;
    queue.name = key.name;
    queue.pull = settings;
    create(std::move(queue), [this, key, answer](const auto& failed) mutable {
      if (failed)
        answer.deliver(to_caf(*failed));
      else
        answer.deliver(T{queues_[key].pull});
    });
  });
}

auto registry_state::handle(const find_pull_queue& request)
  -> promise<pull_queue_actor> {
  auto answer = self_->make_response_promise<pull_queue_actor>();
  with_pull(key_of(request), request.make, false, answer);
  return answer;
}

auto registry_state::handle(const find_pull_impl& request)
  -> promise<pull_impl_actor> {
  auto answer = self_->make_response_promise<pull_impl_actor>();
  auto key = key_of(request);
  if (request.id != queue_id{}) {
    auto i = keys_.find(request.id);
    if (i == keys_.end() || i->second.project != request.project)
      return answer.deliver(to_caf(not_found({})));
    key = i->second;
  }
  with_pull(key, request.make, request.dead_letters, answer);
  return answer;
}

// -- removing -----------------------------------------------------------------

auto registry_state::handle(const delete_queue& request)
  -> promise<queue_deleted> {
  auto answer = self_->make_response_promise<queue_deleted>();
  auto key = key_of(request);
  when_free(key, [this, key, answer, request]() mutable {
    auto i = queues_.find(key);
    if (i == queues_.end() || i->second.kind() != request.kind) {
      answer.deliver(to_caf(i == queues_.end()
                              ? not_found(key.name)
                              : wrong_kind(key.name, i->second.kind())));
      set_free(key);
      return;
    }
    auto closed = [this, answer, key](queue_deleted done) mutable {
      queues_.erase(key);
      std::erase_if(keys_, [&](const auto& x) { return x.second == key; });
      tell(event_kind::queue_deleted, key);
      answer.deliver(done);
      set_free(key);
    };
    auto failed = [this, answer, key](const caf::error& reason) mutable {
      answer.deliver(reason);
      set_free(key);
    };
    close_queue what{request.force};
    if (i->second.push)
      self_->request(i->second.push, caf::infinite, what).then(closed, failed);
    else
      self_->request(i->second.pull, caf::infinite, what).then(closed, failed);
  });
  return answer;
}

// -- looking up ---------------------------------------------------------------

caf::result<queue_actor>
registry_state::handle(const find_queue& request) const {
  auto i = queues_.find(key_of(request));
  if (i == queues_.end())
    return to_caf(not_found(request.name));
  if (!i->second.push)
    return to_caf(wrong_kind(request.name, queue_kind::pull));
  return queue_actor{i->second.push};
}

caf::result<queue_actor>
registry_state::handle(const find_queue_of& request) const {
  auto i = keys_.find(request.id.queue);
  if (i == keys_.end() || i->second.project != request.project)
    return to_caf({errc::job_not_found, "Job not found"});
  auto& queue = queues_.find(i->second)->second;
  if (!queue.push)
    return to_caf({errc::job_not_found, "Job not found"});
  return queue_actor{queue.push};
}

caf::result<queue_upkeep> registry_state::handle(find_upkeep request) const {
  if (!started_)
    return to_caf(recovering());
  auto i = keys_.find(request.id);
  if (i == keys_.end())
    return to_caf({errc::queue_not_found, "the queue has been deleted"});
  auto& queue = queues_.find(i->second)->second;
  return queue.push ? queue_upkeep{queue.push} : queue_upkeep{queue.pull};
}

meter_list registry_state::handle(list_meters) const {
  meter_list result;
  result.items.reserve(queues_.size());
  for (const auto& [key, queue] : queues_)
    result.items.push_back(
      {key.project, key.name,
       queue.push ? queue_meter{queue.push} : queue_meter{queue.pull}});
  return result;
}

/// Gathers one answer for each queue, in the order of their names.
template <class View, class List>
struct registry_state::collected_views {
  std::vector<std::optional<View>> views;
  std::size_t missing = 0;
  std::string next_after;
  promise<List> answer;
  std::optional<caf::error> failed;

  void put(std::size_t i, View&& view) {
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
    List result;
    result.next_after = std::move(next_after);
    for (auto& view : views)
      if (view)
        result.items.push_back(std::move(*view));
    answer.deliver(std::move(result));
  }
};

/// Asks the queues of one kind for their views. `actor_of` returns the actor of
/// a queue of that kind.
template <class List, class Request, class Ask, class Actor>
auto registry_state::collect(const Request& request, Ask ask, Actor actor_of)
  -> promise<List> {
  using view = typename decltype(List::items)::value_type;
  auto all = std::make_shared<collected_views<view, List>>();
  all->answer = self_->make_response_promise<List>();
  std::vector<std::decay_t<decltype(actor_of(running{}))>> asked;
  std::string last;
  auto i = queues_.upper_bound({request.project, request.after});
  for (; i != queues_.end() && i->first.project == request.project; ++i) {
    if (!actor_of(i->second))
      continue;
    if (asked.size() == request.limit) {
      all->next_after = last;
      break;
    }
    asked.push_back(actor_of(i->second));
    last = i->first.name;
  }
  all->views.resize(asked.size());
  all->missing = asked.size();
  if (asked.empty())
    all->deliver();
  for (std::size_t n = 0; n < asked.size(); ++n)
    self_->request(asked[n], caf::infinite, ask)
      .then([all, n](view& one) { all->put(n, std::move(one)); },
            [all](const caf::error& reason) { all->put_failure(reason); });
  return all->answer;
}

auto registry_state::handle(const list_queues& request) -> promise<queue_list> {
  return collect<queue_list>(request, get_queue{},
                             [](const running& q) { return q.push; });
}

auto registry_state::handle(const list_pull_queues& request)
  -> promise<pull_queue_list> {
  return collect<pull_queue_list>(request, get_pull_queue{},
                                  [](const running& q) { return q.pull; });
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
      [this, answer](stored_queues& stored) mutable {
        env_->last_job->store(stored.last_job.value);
        last_queue_ = stored.last_queue;
        for (auto& q : stored.queues)
          start(std::move(q));
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
  auto drained = [one_less](queue_drained) mutable { one_less(); };
  auto failed = [one_less](const caf::error&) mutable { one_less(); };
  for (auto& [key, queue] : queues_) {
    if (queue.push)
      self_->request(queue.push, caf::infinite, drain_queue{})
        .then(drained, failed);
    else
      self_->request(queue.pull, caf::infinite, drain_queue{})
        .then(drained, failed);
  }
  return answer;
}

void registry_state::stop() {
  for (auto& [ticket, c] : std::exchange(creations_, {}))
    c.done(error{errc::draining, "the server has stopped"});
  for (auto& [key, queue] : queues_) {
    if (queue.push)
      self_->send_exit(queue.push, caf::exit_reason::user_shutdown);
    else
      self_->send_exit(queue.pull, caf::exit_reason::user_shutdown);
  }
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
    [&state](create_pull_queue& x) { return state.handle(x); },
    [&state](const list_pull_queues& x) { return state.handle(x); },
    [&state](const find_pull_queue& x) { return state.handle(x); },
    [&state](find_upkeep x) { return state.handle(x); },
    [&state](const find_pull_impl& x) { return state.handle(x); },
    [&state](list_meters x) { return state.handle(x); },
    [&state](check_ready x) { return state.handle(x); },
    [&state](start_queues x) { return state.handle(x); },
    [&state](drain_all x) { return state.handle(x); },
    [&state](const committed& x) { state.handle(x); },
    [&state](const commit_failed& x) { state.handle(x); },
  };
}

} // namespace tidegate
