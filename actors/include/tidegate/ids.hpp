// The names by which queues and jobs are known.

#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace tidegate {

/// Number of a queue. Given once by the store, never used again after the
/// queue was deleted. Starts at 1.
struct queue_id {
  std::uint32_t value = 0;
  auto operator<=>(const queue_id&) const = default;
};

/// Number of a job: grows with every publish to the server, with gaps. At most
/// 48 bits wide, starts at 1.
struct job_seq {
  std::uint64_t value = 0;
  auto operator<=>(const job_seq&) const = default;
};

/// Number of an API key. Given once by the store. 0: none.
struct api_key_id {
  std::uint32_t value = 0;
  auto operator<=>(const api_key_id&) const = default;
};

/// Number of a long-running operation. Given once by the store, starts at 1.
struct operation_id {
  std::uint64_t value = 0;
  auto operator<=>(const operation_id&) const = default;
};

/// Public name of a job: its queue, its number, and 48 random bits that are
/// kept in its record, so that a name cannot be guessed from another one.
///
/// As text it is `job_` and 26 characters of Crockford's base 32 in lower case,
/// that is the 128 bits `queue (32) | seq (48) | tag (48)`, padded with two
/// zero bits in front.
struct job_id {
  queue_id queue;
  job_seq seq;
  std::uint64_t tag = 0;
  auto operator<=>(const job_id&) const = default;
};

/// Largest `job_seq` and largest `tag`.
inline constexpr std::uint64_t max_48_bits = (std::uint64_t{1} << 48) - 1;

/// Returns the public name of a job.
std::string to_string(job_id id);

/// Returns the id that `text` spells, or nothing where it spells none. Accepts
/// exactly what `to_string` prints.
std::optional<job_id> parse_job_id(std::string_view text);

/// As text: `key_` and the number.
std::string to_string(api_key_id id);

/// Returns the id that `text` spells, exactly as `to_string` prints it.
std::optional<api_key_id> parse_api_key_id(std::string_view text);

/// As text: `op_` and the number.
std::string to_string(operation_id id);

/// Returns the id that `text` spells, exactly as `to_string` prints it.
std::optional<operation_id> parse_operation_id(std::string_view text);

} // namespace tidegate

/// @cond

template <>
struct std::hash<tidegate::job_seq> {
  std::size_t operator()(tidegate::job_seq x) const noexcept {
    return std::hash<std::uint64_t>{}(x.value);
  }
};

template <>
struct std::hash<tidegate::queue_id> {
  std::size_t operator()(tidegate::queue_id x) const noexcept {
    return std::hash<std::uint32_t>{}(x.value);
  }
};

/// @endcond
