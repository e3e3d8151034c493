// The deliveries of one queue that are under way.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>

#include <caf/actor_cast.hpp>

#include "actors/core/transition.hpp"
#include "actors/delivery_actor.hpp"
#include "actors/environment.hpp"

namespace tidegate {

/// Spawns delivery actors for a queue and knows them until they have told their
/// end. Part of the state of the actor that owns it, which is passed as `self`.
class open_deliveries {
public:
  /// Starts a delivery; its end is told to `self` with `generation`.
  template <class Self>
  void start(Self* self, const environment& env, start_delivery&& what,
             std::uint64_t generation) {
    key k{what.what.job.seq, what.what.number};
    auto shared = std::make_shared<delivery>(std::move(what.what));
    actors_[k] = self->spawn(make_delivery, env.transport, std::move(shared),
                             caf::actor_cast<delivery_owner>(self->address()),
                             generation);
  }

  /// Ends a delivery early; its end is told all the same.
  template <class Self>
  void abort(Self* self, job_seq job, std::uint64_t number) const {
    auto i = actors_.find({job, number});
    if (i != actors_.end())
      self->send(i->second, abort_delivery{});
  }

  /// Ends all of them and forgets them.
  template <class Self>
  void abort_all(Self* self) {
    for (auto& [k, actor] : std::exchange(actors_, {}))
      self->send(actor, abort_delivery{});
  }

  void ended(const delivery_ended& message) {
    actors_.erase({message.job, message.number});
  }

private:
  struct key {
    job_seq job;
    std::uint64_t number = 0;
    bool operator==(const key&) const = default;
  };

  struct hash {
    std::size_t operator()(const key& k) const {
      return std::hash<job_seq>{}(k.job) * 31 + k.number;
    }
  };

  std::unordered_map<key, delivery_actor, hash> actors_;
};

/// Returns a number from [0, 1), for the jitter.
inline double draw_lot(const environment& env) {
  return static_cast<double>(env.random() >> 11) * 0x1p-53;
}

} // namespace tidegate
