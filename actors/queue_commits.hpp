// What a queue, of either kind, has sent to be stored.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <utility>
#include <vector>

#include <caf/actor_cast.hpp>

#include "actors/environment.hpp"
#include "actors/storage_protocol.hpp"

namespace tidegate {

/// Transitions of one queue that wait for their commits, in the order in which
/// they were sent. Part of the state of the actor that owns it, which is passed
/// as `self`.
template <class Effect>
class queue_commits {
public:
  /// Told when something is stored, or why it is not.
  using on_stored = std::function<void(const std::optional<error>&)>;

  /// Given the records and their answers once they are stored.
  using on_committed = std::function<void(committed&)>;

  struct entry {
    std::vector<Effect> effects;
    on_committed committed;
    std::vector<on_stored> done;
  };

  /// Sends records of `queue` to persistence. @pre there are some
  template <class Self>
  void send(Self* self, const environment& env, queue_id queue,
            std::vector<record>&& records, entry&& what) {
    sent_.push_back({next_ticket_, records.size(), std::move(what)});
    env.backlog->records += records.size();
    self->send(env.persistence,
               commit_request{queue, next_ticket_++, std::move(records)},
               caf::actor_cast<committer>(self->address()));
  }

  /// Calls `done` once all that was sent so far is on stable storage. Nobody is
  /// told of more than that: it would be gone after a crash.
  void when_stored(on_stored done) {
    if (sent_.empty())
      done(std::nullopt);
    else
      sent_.back().what.done.push_back(std::move(done));
  }

  /// Takes what has been committed; nothing where that was sent before
  /// `fail_all`, and nobody waits for it.
  std::optional<entry> take(const environment& env, const committed& message) {
    if (sent_.empty() || sent_.front().ticket != message.ticket)
      return std::nullopt;
    auto first = std::move(sent_.front());
    sent_.pop_front();
    env.backlog->records -= first.records;
    return std::move(first.what);
  }

  /// Returns whether that which failed was sent after the last `fail_all`.
  bool is_hit_by(const commit_failed& message) const {
    return !sent_.empty() && sent_.front().ticket <= message.ticket;
  }

  /// Tells everybody who waits that nothing of this is stored.
  void fail_all(const environment& env, const error& reason) {
    for (auto& each : std::exchange(sent_, {})) {
      env.backlog->records -= each.records;
      for (auto& done : each.what.done)
        done(reason);
    }
  }

  bool empty() const {
    return sent_.empty();
  }

private:
  struct sent {
    std::uint64_t ticket = 0;
    std::size_t records = 0;
    entry what;
  };

  // Of most queues nothing is out, and an empty deque takes half a KiB.
  std::list<sent> sent_;
  std::uint64_t next_ticket_ = 1;
};

} // namespace tidegate
