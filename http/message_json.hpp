// A message of a pull queue as JSON: what receivers get, and webhooks.

#pragma once

#include <cstddef>
#include <string>

#include "http/json_writer.hpp"
#include "tidegate/pull_messages.hpp"

namespace tidegate::http {

/// The one reason for which messages are given up on.
inline constexpr std::string_view dead_message_reason = "max_receive_count";

/// Prints a message as it is shown everywhere. The payload is spliced in byte
/// for byte.
void write_message(json_writer& out, const message_view& view);

std::string encode(const message_view& message);

/// Returns about how many bytes a message takes, and no fewer unless it has
/// many headers.
std::size_t room_for(const message_view& view);

} // namespace tidegate::http
