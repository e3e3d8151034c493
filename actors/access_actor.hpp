// The ACCESS actor: knows the API keys, and what was done with them.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <variant>
#include <vector>

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/delegated.hpp>
#include <caf/typed_response_promise.hpp>

#include "actors/environment.hpp"
#include "actors/storage_protocol.hpp"
#include "tidegate/protocol.hpp"

namespace tidegate {

/// Reads the keys for the first time; answered when they have been told, or
/// with the reason why they could not be read. It goes on trying by itself.
struct start_access {};

struct access_started {};

/// Sent to itself: see whether another process has changed the keys.
struct access_tick {};

using access_impl_actor =
  access_actor::extend<caf::replies_to<start_access>::with<access_started>,
                       caf::reacts_to<access_tick>, caf::reacts_to<committed>,
                       caf::reacts_to<commit_failed>>;

/// Called with all keys, oldest first.
using keys_listener = std::function<void(const std::vector<api_key_record>&)>;

/// Keeps a copy of the keys and tells whenever that changes: at once after its
/// own commits, and with the next look after those of another process.
class access_state {
public:
  explicit access_state(access_impl_actor::pointer self);

  static inline const char* name = "tidegate.access";

  template <class T>
  using promise = caf::typed_response_promise<T>;

  void open(environment_ptr env, keys_listener tell, duration pause);
  promise<access_started> handle(start_access);
  void handle(access_tick);
  promise<api_key_record> handle(create_api_key& request);
  caf::result<api_key_list> handle(const list_api_keys& request) const;
  promise<api_key_revoked> handle(const revoke_api_key& request);
  caf::delegated<usage_list> handle(const get_usage& request);
  void handle(const committed& message);
  void handle(const commit_failed& message);

  /// Answers everybody who still waits.
  void stop();

private:
  struct creation {
    api_key_record key;
    promise<api_key_record> answer;
  };

  struct removal {
    api_key_id id;
    promise<api_key_revoked> answer;
  };

  using change = std::variant<creation, removal>;

  void read();
  void poll_later();
  void take(const api_keys_read& found, std::uint64_t since);
  void commit(change what, record entry);
  void finish(creation& what, const commit_answer& answer);
  void finish(removal& what, const commit_answer& answer);
  void set(std::vector<api_key_record> keys);
  void answer_starters(const std::optional<error>& reason);

  access_impl_actor::pointer self_;
  environment_ptr env_;
  keys_listener tell_;
  duration pause_{};

  /// Empty before they have been read for the first time.
  std::optional<std::vector<api_key_record>> keys_;

  /// Version of what was read last.
  std::optional<std::uint64_t> version_;

  bool reading_ = false;
  bool polling_ = false;
  std::vector<promise<access_started>> starters_;

  /// How often it has changed the keys itself: what was read before such a
  /// change is out of date.
  std::uint64_t own_changes_ = 0;
  std::unordered_map<std::uint64_t, change> changes_;
  std::uint64_t next_ticket_ = 1;
};

/// @param tell May be empty
/// @param pause Between two looks for what another process has changed; 0: it
/// does not look
access_impl_actor::behavior_type
make_access(access_impl_actor::stateful_pointer<access_state> self,
            environment_ptr env, keys_listener tell, duration pause);

} // namespace tidegate

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::start_access)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::access_started)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::access_tick)
