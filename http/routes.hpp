// The one table of routes: the router, the required scopes and the docs' list
// come from it.

#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tidegate::http {

// -- scopes -------------------------------------------------------------------

/// What a key may do. Scopes do not imply one another. The numbers are on disk:
/// do not change them.
enum class scope : std::uint8_t { publish, work, read, manage, admin };

inline constexpr std::array all_scopes = {
  scope::publish, scope::work, scope::read, scope::manage, scope::admin};

/// Returns the word of the API, e.g. `manage`.
const char* to_string(scope what);

/// A set of scopes.
class scope_set {
public:
  constexpr scope_set() = default;

  constexpr scope_set(std::initializer_list<scope> scopes) {
    for (auto x : scopes)
      add(x);
  }

  /// Returns the set with every scope in it.
  static constexpr scope_set all() {
    scope_set result;
    for (auto x : all_scopes)
      result.add(x);
    return result;
  }

  /// Returns the set that `bits` stands for; bits without a meaning are
  /// dropped.
  static constexpr scope_set from_bits(std::uint8_t bits) {
    scope_set result;
    result.bits_ = bits & all().bits_;
    return result;
  }

  /// Returns one bit for each scope. The bits are on disk: do not change them.
  constexpr std::uint8_t bits() const {
    return bits_;
  }

  constexpr void add(scope x) {
    bits_ = static_cast<std::uint8_t>(bits_ | bit(x));
  }

  constexpr bool contains(scope x) const {
    return (bits_ & bit(x)) != 0;
  }

  constexpr bool operator==(const scope_set&) const = default;

private:
  static constexpr std::uint8_t bit(scope x) {
    return static_cast<std::uint8_t>(1u << static_cast<unsigned>(x));
  }

  std::uint8_t bits_ = 0;
};

// -- the table ----------------------------------------------------------------

/// What a route does.
enum class operation : std::uint8_t {
  create_queue,
  list_queues,
  get_queue,
  put_queue,
  patch_queue,
  delete_queue,
  pause_queue,
  resume_queue,
  hold_queue,
  release_queue,
  purge_queue,
  get_secret,
  rotate_secret,
  publish,
  publish_batch,
  list_jobs,
  list_limit_keys,
  release_limit_key,
  list_dead_letters,
  replay_dead_letters,
  delete_dead_letters,
  get_job,
  cancel_job,
  run_job_now,
  replay_job,
  ack_job,
  nack_job,
  defer_job,
  touch_job,
  list_operations,
  get_operation,
  cancel_operation,
  create_api_key,
  list_api_keys,
  revoke_api_key,
  get_usage,
  stream_events,
  create_pull_queue,
  get_pull_queue,
  list_pull_queues,
  patch_pull_queue,
  delete_pull_queue,
  publish_message,
  publish_messages,
  consume_messages,
  ack_message,
  nack_message,
  extend_message,
  release_message,
  ack_messages,
  nack_messages,
  peek_messages,
  purge_pull_queue,
  get_pull_stats,
  list_dead_messages,
  redrive_messages,
  subscribe_webhook,
  get_subscription,
  unsubscribe_webhook,
  discover,
  discover_one,
  openapi,
  dashboard,
  dashboard_file,
  health,
  readiness,
  metrics,
};

/// How large a body may be.
enum class body_class : std::uint8_t {
  usual,
  /// Many jobs at once.
  batch,
};

/// Which of its two shapes an answer has.
enum class api_family : std::uint8_t {
  /// Push queues and everything else: as it is.
  jobs,
  /// Pull queues, below `/v1/queue/`: in an envelope.
  messages,
};

/// One line of the table.
struct route {
  /// What it is called in `/v1/discovery`.
  std::string_view capability;

  std::string_view method;

  /// Segments in braces stand for any text, e.g. `/v1/queues/{name}`. There are
  /// at most two in a path.
  std::string_view path;

  http::operation operation;

  /// What the caller's key has to have. Without meaning where `open` is set.
  scope required = scope::admin;

  /// Whether it may be called without a key.
  bool open = false;

  /// One line for people.
  std::string_view summary;

  body_class body = body_class::usual;

  /// A POST that may be sent twice: the second one changes nothing more.
  bool repeatable = false;

  /// Whether its answer may be a long time in coming.
  bool waits = false;

  /// Whether its answer may have no end. Nothing that follows on the connection
  /// is read.
  bool streams = false;

  /// Whether it may also be called without a key, from the machine itself.
  bool open_on_loopback = false;
};

/// Returns every route that there is.
std::span<const route> routes();

// -- the router ---------------------------------------------------------------

/// A name and a value out of a query, percent-decoded.
using query_field = std::pair<std::string, std::string>;

/// A request's target, taken apart.
struct route_match {
  const http::route* route = nullptr;

  /// Percent-decoded text of the segment in braces; may be any bytes.
  std::string param;

  /// That of the second one.
  std::string second_param;

  /// In the order in which they came.
  std::vector<query_field> query;
};

/// Why there is no route.
struct no_route {
  enum class reason : std::uint8_t {
    /// The target is no valid one.
    malformed,
    /// Nothing is there.
    not_found,
    /// It is there, but not with this method.
    method_not_allowed,
  };

  reason why = reason::not_found;

  /// For `method_not_allowed`: what would be, e.g. `GET, HEAD, POST`.
  std::string allow;
};

/// Returns the family that `target` belongs to, whether there is such a route
/// or not.
api_family family_of(std::string_view target);

/// Finds the route for `method` (case matters; `HEAD` goes where `GET` goes)
/// and `target`, in origin form or absolute form (RFC 9112, section 3.2).
std::variant<route_match, no_route> find_route(std::string_view method,
                                               std::string_view target);

} // namespace tidegate::http
