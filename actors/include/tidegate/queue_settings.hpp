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

/// A name and a value of an HTTP header, as they are sent.
using header = std::pair<std::string, std::string>;

/// Everything that an owner may set. Operational state (paused, held) and the
/// signing secret are not settings: replacing settings leaves them alone.
struct queue_settings {
  /// Absolute `http` or `https` URL that every job is POSTed to.
  std::string webhook_url;

  /// Most deliveries in flight at once. 1 to 10000.
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

  /// Sent with every delivery, in this order. At most 32.
  std::vector<header> headers;

  bool operator==(const queue_settings&) const = default;
};

/// Some settings to change; what is absent stays as it is. For
/// `rate_limit_max`, present and empty means "no limit any more".
struct queue_settings_patch {
  std::optional<std::string> webhook_url;
  std::optional<std::uint32_t> concurrency;
  std::optional<std::optional<std::uint32_t>> rate_limit_max;
  std::optional<duration> rate_limit_window;
  std::optional<std::uint32_t> max_attempts;
  std::optional<std::uint32_t> max_defers;
  std::optional<backoff_settings> backoff;
  std::optional<duration> timeout;
  std::optional<duration> lifetime;
  std::optional<std::vector<header>> headers;

  bool operator==(const queue_settings_patch&) const = default;
};

/// Returns `settings` with the changes of `patch`.
queue_settings apply(queue_settings settings,
                     const queue_settings_patch& patch);

/// Returns everything that is wrong with `settings`, empty where all is well.
/// Names and units are those of the HTTP API (`maxAttempts`, seconds).
std::vector<field_error> validate(const queue_settings& settings);

/// Returns what is wrong with `name` as a queue's name, nothing where all is
/// well: 1 to 120 of `A-Z a-z 0-9 . _ -`, not starting with `.`.
std::optional<field_error> validate_queue_name(std::string_view name);

} // namespace tidegate
