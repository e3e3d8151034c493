// What is simulated: who publishes when, what the downstream is like, and which
// settings are compared.

#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "http/problem.hpp"
#include "tidegate/queue_settings.hpp"
#include "tidegate/time.hpp"

namespace tidegate::sim {

/// Most jobs of a plan, expected where they come by lot.
inline constexpr double jobs_max = 5'000'000;

/// Most streams, outages and variants of a plan.
inline constexpr std::size_t streams_max = 20;
inline constexpr std::size_t outages_max = 100;
inline constexpr std::size_t variants_max = 6;

/// Most instants of a trace, and the longest file that has them, in bytes.
inline constexpr std::size_t trace_max = 1'000'000;
inline constexpr std::size_t trace_bytes_max = 32 * 1024 * 1024;

/// Longest plan file. Unit: bytes.
inline constexpr std::size_t plan_bytes_max = 32 * 1024 * 1024;

/// Most limit keys of a stream.
inline constexpr std::uint64_t keys_max = 10'000;

/// Longest span that jobs arrive in, and longest wait for the last one to end.
/// Unit: seconds; 31 days.
inline constexpr double span_max = 2'678'400;

/// How long something takes.
struct latency_model {
  enum class kind : std::uint8_t {
    /// Always `a`.
    fixed,
    /// `a` to `b`, all alike.
    uniform,
    /// Exponential with mean `a`.
    exponential,
    /// Log-normal: half of them at most `a`, 99 of 100 at most `b`.
    lognormal,
  };

  kind type = kind::fixed;
  duration a = std::chrono::milliseconds{20};
  duration b{0};
};

/// A source of jobs. Every instant is counted from the start of the plan.
struct stream {
  enum class kind : std::uint8_t {
    /// `rate` a second, evenly spaced.
    steady,
    /// `rate` a second on average, each when it likes.
    poisson,
    /// `jobs` at once at `from`, `times` times, `every` so often.
    burst,
    /// At the instants of `trace`.
    trace,
  };

  std::string name;
  kind type = kind::steady;
  double rate = 1;
  duration from{0};
  duration to{0};
  std::uint64_t jobs = 1;
  duration every{0};
  std::uint64_t times = 1;

  /// In order.
  std::vector<duration> trace;

  /// Its jobs have this many limit keys, by lot; 0: they have none.
  std::uint64_t keys = 0;
};

/// What a refusal says in `Retry-After`, in whole seconds.
struct retry_hint {
  enum class kind : std::uint8_t {
    /// When the refusal will be over, as far as the downstream knows.
    exact,
    /// There is no such header.
    none,
    /// Always `wait`.
    fixed,
  };

  kind type = kind::exact;
  duration wait{0};
};

/// At most `max` requests in a window.
struct window_limit {
  enum class kind : std::uint8_t {
    /// Windows follow one another from the start of the plan.
    fixed,
    /// In any window, wherever it begins.
    sliding,
  };

  kind type = kind::fixed;
  std::uint64_t max = 60;
  duration window = std::chrono::seconds{60};

  /// Whether each limit key has this limit, instead of all together.
  bool per_key = false;
  std::uint16_t status = 429;
  retry_hint retry_after;
};

/// A span in which everything is refused.
struct outage {
  duration from{0};
  duration length{0};

  /// 0: the connection breaks.
  std::uint16_t status = 503;
  retry_hint retry_after;
};

struct downstream_plan {
  /// Of what is taken, and of what is refused.
  latency_model latency;
  latency_model refusal_latency;

  /// Most requests at once; beyond it 429 with `busy`.
  std::optional<std::uint64_t> concurrency;
  retry_hint busy{retry_hint::kind::fixed, std::chrono::seconds{1}};
  std::optional<window_limit> limit;

  /// In order, none inside of another.
  std::vector<outage> outages;

  /// Share of what is taken that is answered 500.
  double error_rate = 0;
};

/// One queue to compare.
struct variant {
  std::string name;

  /// Takes away what makes a "not now": every refusal is an ordinary failure.
  bool naive = false;
  queue_settings settings;
};

struct plan {
  std::string name;

  /// How long jobs arrive.
  duration length{0};

  /// How long to wait after that for the last one to end.
  duration drain{0};
  std::vector<stream> streams;
  downstream_plan downstream;
  std::vector<variant> variants;
};

/// Returns how many jobs a stream brings, on average where they come by lot.
double expected_jobs(const stream& s);

/// What was read, or everything that is wrong with it. Names of fields are
/// paths such as `arrivals[0].rate`.
using read_plan = std::variant<plan, http::complaints>;

/// Reads the text of a plan. `folder` is where the files of traces are.
read_plan parse_plan(std::string_view text,
                     const std::filesystem::path& folder);

/// Reads a plan from a file.
read_plan load_plan(const std::filesystem::path& file);

} // namespace tidegate::sim
