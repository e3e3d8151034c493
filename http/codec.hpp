// Values to JSON and back.
//
// Reading is strict: what is unknown, given twice, of the wrong type or out of
// range is refused and named, and nothing is turned into something else. A
// job's payload is never read at all, only checked and cut out.

#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "http/problem.hpp"
#include "tidegate/event_stream.hpp"
#include "tidegate/messages.hpp"

namespace tidegate::http {

/// Deepest nesting of a payload.
inline constexpr unsigned payload_depth_max = 128;

/// Longest delay of a job, in seconds.
inline constexpr double delay_max = 2'592'000;

/// Longest idempotency key, in bytes.
inline constexpr std::size_t idempotency_key_max = 255;

/// Longest limit key, in characters.
inline constexpr std::size_t limit_key_max = 128;

/// Largest priority.
inline constexpr std::uint64_t priority_max = 9;

/// Most jobs of a batch, and most ids of a replay.
inline constexpr std::size_t batch_jobs_max = 1000;

/// Longest reason of a worker or an operator, in characters.
inline constexpr std::size_t reason_max = 500;

/// Longest `extend` of a touch, in seconds.
inline constexpr double extend_max = 604'800;

/// Longest overlap of two signing secrets, in seconds.
inline constexpr double overlap_max = 2'592'000;

/// Longest name of an API key, in characters.
inline constexpr std::size_t key_name_max = 120;

/// Largest number that every JSON reader keeps exactly.
inline constexpr std::uint64_t exact_integer_max = 9'007'199'254'740'991;

/// Every word for a job's status, and every reason for a dead letter.
inline constexpr std::array job_statuses = {
  job_status::pending, job_status::processing, job_status::awaiting_ack,
  job_status::completed, job_status::dead};

inline constexpr std::array dead_reasons = {
  dead_reason::attempts_exhausted,
  dead_reason::nack_not_retryable,
  dead_reason::defer_cap_exhausted,
  dead_reason::retry_after_exceeds_lifetime,
  dead_reason::lifetime_exceeded,
  dead_reason::ack_timeout,
  dead_reason::cancelled};

/// A body that is no JSON at all; the sentence says where.
struct malformed {
  std::string sentence;
};

/// What was read, or everything that is wrong with it.
template <class T>
using decoded = std::variant<T, malformed, complaints>;

/// Returns what is wrong with a well-formed webhook URL, or nothing. May be
/// empty.
using target_check =
  std::function<std::optional<std::string>(const std::string& url)>;

// -- reading ------------------------------------------------------------------

/// Reads `name` and settings; those that are missing have their defaults.
decoded<create_queue> decode_create_queue(std::string_view body,
                                          const target_check& check);

/// Reads settings; those that are missing have their defaults.
decoded<queue_settings> decode_settings(std::string_view body,
                                        const target_check& check);

/// Reads the settings that are there.
decoded<queue_settings_patch> decode_settings_patch(std::string_view body,
                                                    const target_check& check);

/// Reads a job.
decoded<publish> decode_publish(std::string_view body);

/// Many jobs to publish, and what is wrong with those that cannot be.
struct publish_batch_body {
  /// The valid ones, in their order.
  std::vector<publish> jobs;

  /// One for each job that was sent: empty where it is among `jobs`, else the
  /// result that stands for it, as JSON.
  std::vector<std::string> refusals;
};

/// Reads 1 to `batch_jobs_max` jobs. One that is not valid is no reason to
/// refuse the others.
decoded<publish_batch_body> decode_publish_batch(std::string_view body);

/// Reads a body that says nothing: it is empty, or an object without members.
decoded<std::monostate> decode_nothing(std::string_view body);

// Each of these reads what a worker reports; an empty body stands for `{}`. The
// job's id stands in the path.

decoded<ack_job> decode_ack(std::string_view body);

decoded<nack_job> decode_nack(std::string_view body);

decoded<defer_job> decode_defer(std::string_view body);

decoded<touch_job> decode_touch(std::string_view body);

// Each of these reads what an operator wants of a queue or of a job.

decoded<hold_queue> decode_hold(std::string_view body);

decoded<purge_queue> decode_purge(std::string_view body);

decoded<rotate_secret> decode_rotate(std::string_view body);

decoded<replay_job> decode_replay(std::string_view body);

decoded<replay_dead_letters> decode_dlq_replay(std::string_view body);

/// Reads what a new key may do. `now`: what it is to expire after.
decoded<api_key_record> decode_api_key(std::string_view body, wall_time now);

// -- writing ------------------------------------------------------------------
//
// The cursor of a page says where the next one starts; empty: there is none.

/// Prints a queue; its signing secret only if asked to.
std::string encode(const queue_view& view, bool with_secret = false);

std::string encode(const queue_list& list, std::string_view next_cursor);

std::string encode(const limit_key_view& view);

std::string encode(const limit_key_list& list, std::string_view next_cursor);

std::string encode(const publish_result& result);

/// Prints one result for each job that was sent: its refusal, or where that is
/// empty the next of `results`.
std::string encode(const publish_batch_result& results,
                   const std::vector<std::string>& refusals);

/// Prints a job, with its payload byte for byte.
std::string encode(const job_view& view);

std::string encode(const job_list& list, bool payloads,
                   std::string_view next_cursor);

std::string encode(const report_taken& report);

std::string encode(const jobs_removed& removed);

/// Prints the operation, or what it would do where it was not started.
std::string encode(const replay_plan& plan);

std::string encode(const operation_record& operation);

/// Returns `{"id", "time", "project", "queue", "type", "data": {…}}`, on one
/// line.
std::string encode(const numbered_event& event);

std::string encode(std::span<const operation_record> page,
                   std::string_view next_cursor);

/// Prints a key; its text only where it is given.
std::string encode(const api_key_record& record, std::string_view key = {});

std::string encode(std::span<const api_key_record> page,
                   std::string_view next_cursor);

/// What usage is summed up by.
enum class usage_by : std::uint8_t { queue, key, day };

const char* to_string(usage_by by);

/// Prints the sums, from one day to another, both included.
std::string encode(const usage_list& usage, usage_by by, std::int64_t from_day,
                   std::int64_t to_day);

} // namespace tidegate::http
