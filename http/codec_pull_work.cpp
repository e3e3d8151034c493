// Reads what workers and operators say of messages.

#include <utility>

#include "http/codec_pull_fields.hpp"

namespace tidegate::http {

namespace {

using kind = settle_message::kind;

// What stands for ids and handles that there cannot be: both are counted
// from 1.

message_id read_message_id(std::string_view token, complaints& out) {
  if (token.empty()) {
    out.add("message_id", "is required");
    return {};
  }
  auto text = read_string("message_id", token, out);
  return text ? parse_message_id(*text).value_or(message_id{}) : message_id{};
}

std::optional<receipt> read_receipt(std::string_view token, complaints& out) {
  if (token.empty())
    return std::nullopt;
  auto text = read_string("receipt_handle", token, out);
  return text ? parse_receipt(*text).value_or(receipt{}) : receipt{};
}

duration read_delay(std::string_view token, complaints& out) {
  if (token.empty())
    return duration{0};
  return read_whole_seconds("delay_seconds", token, 0, message_delay_max, out)
    .value_or(duration{0});
}

void read_visibility(std::string_view token, duration& target,
                     complaints& out) {
  if (token.empty())
    out.add("visibility_timeout", "is required");
  else if (auto wait = read_whole_seconds("visibility_timeout", token, 1,
                                          visibility_timeout_max, out))
    target = *wait;
}

/// Reads what is published in the commit of an ack.
void read_successor(std::string_view token, settle_message& target,
                    complaints& out) {
  auto parts = read_parts("publish", token, json_kind::object, out);
  if (!parts)
    return;
  constexpr auto queue = message_field::queue;
  std::array<std::string_view, message_field::count> slots{};
  assign_fields(*parts, message_field::names, slots, "publish.", out);
  if (!slots[queue].empty())
    target.successor_queue = read_queue_name("publish.queue", slots[queue],
                                             out);
  target.successor = read_message(slots, "publish.", out);
}

// The first three of each are `message_id`, `receipt_handle` and what belongs
// to the kind; `queue` is the last, and is not there in an entry of a batch.

constexpr std::array<std::string_view, 4> ack_names = {
  "message_id", "receipt_handle", "publish", "queue"};
constexpr std::array<std::string_view, 4> nack_names = {
  "message_id", "receipt_handle", "delay_seconds", "queue"};
constexpr std::array<std::string_view, 4> extend_names = {
  "message_id", "receipt_handle", "visibility_timeout", "queue"};
constexpr std::array<std::string_view, 3> release_names = {
  "message_id", "receipt_handle", "queue"};

template <kind Kind, class Slots>
settle_message read_settle(const Slots& slots, complaints& out) {
  settle_message result;
  result.what = Kind;
  result.id = read_message_id(slots[0], out);
  result.handle = read_receipt(slots[1], out);
  if constexpr (Kind == kind::ack) {
    if (!slots[2].empty())
      read_successor(slots[2], result, out);
  } else if constexpr (Kind == kind::nack) {
    result.wait = read_delay(slots[2], out);
  } else if constexpr (Kind == kind::extend) {
    read_visibility(slots[2], result.wait, out);
  }
  return result;
}

template <kind Kind, std::size_t N>
decoded<to_named_queue<settle_message>>
decode_one(std::string_view body,
           const std::array<std::string_view, N>& names) {
  // What an ack publishes lies one level deeper than elsewhere.
  return decode_object(
    body, names,
    [](auto& slots, complaints& out) {
      to_named_queue<settle_message> result;
      result.queue = read_queue_name("queue", slots[N - 1], out);
      result.what = read_settle<Kind>(slots, out);
      return result;
    },
    payload_depth_max + 2);
}

decoded<settle_message> decode_ack_entry(std::string_view token) {
  constexpr std::array<std::string_view, 2> names = {"message_id",
                                                     "receipt_handle"};
  return decode_object(token, names, [](auto& slots, complaints& out) {
    std::array<std::string_view, 3> three{slots[0], slots[1]};
    return read_settle<kind::ack>(three, out);
  });
}

decoded<settle_message> decode_nack_entry(std::string_view token) {
  constexpr std::array<std::string_view, 3> names = {
    "message_id", "receipt_handle", "delay_seconds"};
  return decode_object(token, names, [](auto& slots, complaints& out) {
    return read_settle<kind::nack>(slots, out);
  });
}

std::vector<message_id> read_ids(std::string_view token, complaints& out) {
  std::vector<message_id> result;
  auto parts = read_parts("message_ids", token, json_kind::array, out);
  if (!parts)
    return result;
  if (parts->empty() || parts->size() > batch_jobs_max) {
    out.add("message_ids", "must be 1 to " + std::to_string(batch_jobs_max)
                             + " ids, got " + std::to_string(parts->size()));
    return result;
  }
  for (const auto& part : *parts) {
    auto text = read_string("message_ids", part.value, out);
    auto id = text ? parse_message_id(*text) : std::nullopt;
    if (text && !id)
      out.add("message_ids",
              "must be ids of messages, got '" + shorten(*text) + "'");
    result.push_back(id.value_or(message_id{}));
  }
  return result;
}

} // namespace

decoded<to_named_queue<consume_messages>>
decode_consume(std::string_view body) {
  constexpr std::array<std::string_view, 4> names = {
    "queue", "max_messages", "visibility_timeout", "wait_seconds"};
  return decode_object(body, names, [](auto& slots, complaints& out) {
    to_named_queue<consume_messages> result;
    result.queue = read_queue_name("queue", slots[0], out);
    if (!slots[1].empty())
      if (auto n = read_whole("max_messages", slots[1], 1, receive_max, out))
        result.what.limit = *n;
    if (!slots[2].empty())
      result.what.visibility_timeout = read_whole_seconds(
        "visibility_timeout", slots[2], 1, visibility_timeout_max, out);
    if (!slots[3].empty())
      result.what.wait = read_whole_seconds("wait_seconds", slots[3], 0,
                                            wait_seconds_max, out)
                           .value_or(duration{0});
    return result;
  });
}

decoded<to_named_queue<settle_message>>
decode_settle(std::string_view body, settle_message::kind what) {
  switch (what) {
    case kind::ack:
      return decode_one<kind::ack>(body, ack_names);
    case kind::nack:
      return decode_one<kind::nack>(body, nack_names);
    case kind::extend:
      return decode_one<kind::extend>(body, extend_names);
    case kind::release:
      break;
  }
  return decode_one<kind::release>(body, release_names);
}

decoded<batch_to_queue<settle_message>>
decode_settle_batch(std::string_view body, settle_message::kind what) {
  constexpr std::array<std::string_view, 2> names = {"queue", "entries"};
  auto decode = what == kind::ack ? decode_ack_entry : decode_nack_entry;
  return decode_object(
    body, names,
    [decode](auto& slots, complaints& out) {
      batch_to_queue<settle_message> result;
      result.queue = read_queue_name("queue", slots[0], out);
      read_entries("entries", slots[1], decode, result, out);
      return result;
    },
    message_batch_depth_max);
}

decoded<redrive_messages> decode_redrive(std::string_view body) {
  constexpr std::array<std::string_view, 7> names = {
    "max_messages", "message_ids", "since",     "until",
    "reason",       "dry_run",     "per_second"};
  return decode_optional_object(body, names, [](auto& slots, complaints& out) {
    redrive_messages result;
    if (!slots[0].empty())
      result.limit = read_whole("max_messages", slots[0], 1, redrive_max, out);
    if (!slots[1].empty())
      result.ids = read_ids(slots[1], out);
    if (!slots[2].empty())
      result.since = read_time("since", slots[2], out);
    if (!slots[3].empty())
      result.until = read_time("until", slots[3], out);
    auto reason = slots[4].empty() ? std::nullopt
                                   : read_string("reason", slots[4], out);
    if (reason && *reason != dead_message_reason)
      out.add("reason",
              "must be max_receive_count, got '" + shorten(*reason) + "'");
    result.moved_only = reason.has_value();
    if (!slots[5].empty())
      result.dry_run = read_boolean("dry_run", slots[5], out).value_or(false);
    if (!slots[6].empty()) {
      result.per_second = read_pace("per_second", slots[6], out);
      if (!slots[1].empty())
        out.add("per_second", "cannot be given together with message_ids");
    }
    return result;
  });
}

} // namespace tidegate::http
