// Values to JSON and back.
//
// Reading is strict: what is unknown, given twice, of the wrong type or out of
// range is refused and named, and nothing is turned into something else. A
// job's payload is never read at all, only checked and cut out.

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "http/problem.hpp"
#include "tidegate/messages.hpp"

namespace tidegate::http {

/// Deepest nesting of a payload.
inline constexpr unsigned payload_depth_max = 128;

/// Longest delay of a job, in seconds.
inline constexpr double delay_max = 2'592'000;

/// Longest idempotency key, in bytes.
inline constexpr std::size_t idempotency_key_max = 255;

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

/// Reads a body that says nothing: it is empty, or an object without members.
decoded<std::monostate> decode_nothing(std::string_view body);

// -- writing ------------------------------------------------------------------

/// Prints a queue; its signing secret only if asked to.
std::string encode(const queue_view& view, bool with_secret = false);

/// Prints a page of queues and where the next one starts.
std::string encode(const queue_list& list);

std::string encode(const publish_result& result);

/// Prints a job, with its payload byte for byte.
std::string encode(const job_view& view);

} // namespace tidegate::http
