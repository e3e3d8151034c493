// What an owner may set on a queue, with every default and every range.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tidegate/error.hpp"
#include "tidegate/time.hpp"

namespace tidegate {

/// How long a job waits after a real failure. The n-th failure waits
/// `min(max_delay, delay * factor^(n-1))` (exponential), `delay` (fixed) or
/// `steps[n-1]`, the last one repeating (ladder).
struct backoff_settings {
  /// How the waits grow.
  enum class kind : std::uint8_t { exponential, fixed, ladder };

  kind type = kind::exponential;

  /// Seconds; exponential and fixed. 0 to 2592000.
  double delay = 1;

  /// Exponential only. 1 to 100.
  double factor = 2;

  /// Seconds; exponential only. 0 to 2592000.
  double max_delay = 3600;

  /// Share of the wait that is drawn by lot: a wait d becomes one in
  /// [d * (1 - jitter), d]. 0 to 1. The default of `fixed` and `ladder` is 0.
  double jitter = 0.2;

  /// Seconds; ladder only. 1 to 100 steps of 0 to 2592000.
  std::vector<double> steps;

  bool operator==(const backoff_settings&) const = default;
};

/// What a 2xx of the webhook means. The numbers are on disk: do not change
/// them.
enum class delivery_mode : std::uint8_t {
  /// The job is done.
  standard = 0,
  /// The job was taken; whether it is done comes by callback.
  ack = 1,
};

/// Returns the word of the API, e.g. `standard`.
const char* to_string(delivery_mode mode);

/// What becomes of a job whose outcome did not come in time. The numbers are on
/// disk: do not change them.
enum class ack_timeout_action : std::uint8_t {
  /// A real failure, retried with backoff.
  retry = 0,
  /// Given up on.
  dead = 1,
};

/// Returns the word of the API, e.g. `retry`.
const char* to_string(ack_timeout_action action);

/// What a 429, 503 or 529 holds. The numbers are on disk: do not change them.
enum class backpressure_scope : std::uint8_t {
  queue = 0,
  /// The limit key of the job, where it has one.
  key = 1,
};

/// Returns the word of the API, e.g. `queue`.
const char* to_string(backpressure_scope scope);

/// How a queue goes on after a hold.
struct recovery_settings {
  /// The numbers are on disk: do not change them.
  enum class kind : std::uint8_t {
    /// At its normal concurrency.
    full = 0,
    /// At `start`, multiplied by `factor` with each full round of successes.
    ramp = 1,
  };

  kind mode = kind::full;

  /// 1 to 10000.
  std::uint32_t start = 1;

  /// 1.1 to 100.
  double factor = 2;

  bool operator==(const recovery_settings&) const = default;
};

/// A name and a value of an HTTP header, as they are sent.
using header = std::pair<std::string, std::string>;

/// Everything that an owner may set. Operational state (paused, held) and the
/// signing secret are not settings: replacing settings leaves them alone.
struct queue_settings {
  /// Absolute `http` or `https` URL that every job is POSTed to.
  std::string webhook_url;

  delivery_mode mode = delivery_mode::standard;

  /// Most deliveries in flight at once, jobs that await their ack included.
  /// 1 to 10000.
  std::uint32_t concurrency = 10;

  /// Most deliveries that start in any `rate_limit_window`; none: no limit.
  /// 1 to 100000.
  std::optional<std::uint32_t> rate_limit_max;

  /// 1 s to 86400 s.
  duration rate_limit_window = std::chrono::seconds{1};

  /// Real failures until a job is dead. 1 to 1000.
  std::uint32_t max_attempts = 3;

  /// Defers that a job may collect; one more and it is dead. 0 to 1000000.
  std::uint32_t max_defers = 50;

  backoff_settings backoff;

  /// One deadline over the whole of a delivery. 0.1 s to 900 s.
  duration timeout = std::chrono::seconds{15};

  /// From the moment a job is first eligible. 1 s to 2592000 s.
  duration lifetime = std::chrono::hours{24};

  /// Ack mode: from the webhook's 2xx to the ack. 1 s to 604800 s.
  duration ack_timeout = std::chrono::seconds{300};

  tidegate::ack_timeout_action ack_timeout_action =
    tidegate::ack_timeout_action::retry;

  /// How long ended jobs are kept. 0 s to 2592000 s.
  duration retention = std::chrono::hours{72};

  /// Whether dead jobs can be found in the dead-letter queue.
  bool dead_letter = true;

  /// Sent with every delivery, in this order. At most 32.
  std::vector<header> headers;

  /// Statuses that give a job up at once. 300 to 599 but 429, 503 and 529, each
  /// once, at most 64.
  std::vector<std::uint16_t> permanent_failure_statuses;

  /// Most deliveries in flight at once for each limit key; none: no limit of
  /// their own. 1 to 10000.
  std::optional<std::uint32_t> key_concurrency;

  /// Most deliveries that start in any `rate_limit_window` for each limit key;
  /// none: no limit of their own. 1 to 100000.
  std::optional<std::uint32_t> key_rate_limit_max;

  tidegate::backpressure_scope backpressure_scope =
    tidegate::backpressure_scope::queue;

  recovery_settings recovery;

  /// Bounds of what a downstream can ask for; none: its word is taken exactly.
  /// 0 s to 2592000 s, `min_hold` at most `max_hold`.
  std::optional<duration> min_hold;
  std::optional<duration> max_hold;

  /// Most live jobs; none: no limit. At least 1.
  std::optional<std::uint64_t> max_depth;

  /// PEM text with the only authorities that the webhook's certificate may come
  /// from; empty: those that the server trusts. At most 65536 bytes.
  std::string tls_ca;

  /// Whether the webhook's certificate is not looked at at all.
  bool tls_insecure = false;

  bool operator==(const queue_settings&) const = default;
};

/// Some settings to change; what is absent stays as it is. Present and empty,
/// where that is possible, means "no limit any more".
struct queue_settings_patch {
  std::optional<std::string> webhook_url;
  std::optional<delivery_mode> mode;
  std::optional<std::uint32_t> concurrency;
  std::optional<std::optional<std::uint32_t>> rate_limit_max;
  std::optional<duration> rate_limit_window;
  std::optional<std::uint32_t> max_attempts;
  std::optional<std::uint32_t> max_defers;
  std::optional<backoff_settings> backoff;
  std::optional<duration> timeout;
  std::optional<duration> lifetime;
  std::optional<duration> ack_timeout;
  std::optional<tidegate::ack_timeout_action> ack_timeout_action;
  std::optional<duration> retention;
  std::optional<bool> dead_letter;
  std::optional<std::vector<header>> headers;
  std::optional<std::vector<std::uint16_t>> permanent_failure_statuses;
  std::optional<std::optional<std::uint32_t>> key_concurrency;
  std::optional<std::optional<std::uint32_t>> key_rate_limit_max;
  std::optional<tidegate::backpressure_scope> backpressure_scope;
  std::optional<recovery_settings> recovery;
  std::optional<std::optional<duration>> min_hold;
  std::optional<std::optional<duration>> max_hold;
  std::optional<std::optional<std::uint64_t>> max_depth;
  std::optional<std::string> tls_ca;
  std::optional<bool> tls_insecure;

  bool operator==(const queue_settings_patch&) const = default;
};

/// Returns `settings` with the changes of `patch`.
queue_settings apply(queue_settings settings,
                     const queue_settings_patch& patch);

/// Returns everything that is wrong with `settings`, empty where all is well.
/// Names and units are those of the HTTP API (`maxAttempts`, seconds).
std::vector<field_error> validate(const queue_settings& settings);

/// Returns what is wrong with `name` as a queue's name, nothing where all is
/// well: 1 to 120 letters, digits, dots, dashes and underscores of ASCII, the
/// first not a dot.
std::optional<field_error> validate_queue_name(std::string_view name);

/// Returns what is wrong with `name` as a project's name: as with a queue's.
std::optional<field_error> validate_project_name(std::string_view name);

/// Returns what is wrong with the headers of a queue or of a job, empty where
/// all is well. Names of fields are `headers` and `headers.<name>`.
std::vector<field_error> validate_headers(const std::vector<header>& headers);

} // namespace tidegate
