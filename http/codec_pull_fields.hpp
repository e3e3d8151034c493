// Reads the fields that pull queues and their messages have. Part of the codec.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "http/codec_fields.hpp"
#include "http/codec_pull.hpp"

namespace tidegate::http {

/// Reads a whole number from `min` to `max`, and says all of that where it is
/// something else.
std::optional<std::uint64_t>
read_whole(std::string_view name, std::string_view token, std::uint64_t min,
           std::uint64_t max, complaints& out);

/// Reads a whole number of seconds.
std::optional<duration>
read_whole_seconds(std::string_view name, std::string_view token,
                   std::uint64_t min, std::uint64_t max, complaints& out);

/// Reads the name of a queue, which has to be there.
std::string read_queue_name(std::string_view name, std::string_view token,
                            complaints& out);

/// Fields of a message that is published, in the order of `names`.
namespace message_field {

enum field : std::size_t {
  payload,
  delay_seconds,
  priority,
  headers,
  idempotency_key,
  message_group_id,
  deduplication_id,
  /// Not in a batch.
  queue,
  count,
};

inline constexpr std::array<std::string_view, count> names = {
  "payload",         "delay_seconds",    "priority",         "headers",
  "idempotency_key", "message_group_id", "deduplication_id", "queue"};

} // namespace message_field

/// Reads a message out of `slots`, which are in the order of
/// `message_field::names`. `prefix` goes before the names of fields in what is
/// complained of.
publish_message read_message(std::span<const std::string_view> slots,
                             const std::string& prefix, complaints& out);

/// Deepest nesting of a batch: there may be entries that are nested too deeply,
/// which is no reason to refuse the others.
inline constexpr unsigned message_batch_depth_max = 512;

/// Reads `name`, an array of 1 to 1000, entry by entry. One that `decode` does
/// not take is no reason to refuse the others.
template <class T, class F>
void read_entries(std::string_view name, std::string_view token, F decode,
                  batch_to_queue<T>& target, complaints& out) {
  if (token.empty()) {
    out.add(std::string{name}, "is required");
    return;
  }
  auto parts = read_parts(name, token, json_kind::array, out);
  if (!parts)
    return;
  if (parts->empty() || parts->size() > batch_jobs_max) {
    out.add(std::string{name}, "must be 1 to " + std::to_string(batch_jobs_max)
                                 + " entries, got "
                                 + std::to_string(parts->size()));
    return;
  }
  target.entries.reserve(parts->size());
  target.refusals.reserve(parts->size());
  for (const auto& part : *parts) {
    std::string refusal;
    decoded<T> entry = decode(part.value);
    if (auto what = std::get_if<T>(&entry))
      target.entries.push_back(std::move(*what));
    else if (auto wrong = std::get_if<complaints>(&entry))
      refusal = refused_entry(*wrong, api_family::messages);
    else
      // As JSON it is sound: the whole was. So it is nested too deeply.
      refusal =
        refused_entry(complaints{{std::get<malformed>(entry).sentence}, {}},
                      api_family::messages);
    target.refusals.push_back(std::move(refusal));
  }
}

} // namespace tidegate::http
