// Reads messages that are published.

#include "http/codec_pull_fields.hpp"

namespace tidegate::http {

namespace {

decoded<publish_message> decode_entry(std::string_view token) {
  constexpr auto names = [] {
    std::array<std::string_view, message_field::queue> result;
    for (std::size_t i = 0; i < result.size(); ++i)
      result[i] = message_field::names[i];
    return result;
  }();
  return decode_object(token, names, [](auto& slots, complaints& out) {
    return read_message(slots, {}, out);
  });
}

} // namespace

decoded<to_named_queue<publish_message>>
decode_publish_message(std::string_view body) {
  return decode_object(
    body, message_field::names, [](auto& slots, complaints& out) {
      to_named_queue<publish_message> result;
      result.queue = read_queue_name("queue", slots[message_field::queue], out);
      result.what = read_message(slots, {}, out);
      return result;
    });
}

decoded<batch_to_queue<publish_message>>
decode_publish_messages(std::string_view body) {
  constexpr std::array<std::string_view, 2> names = {"queue", "messages"};
  return decode_object(
    body, names,
    [](auto& slots, complaints& out) {
      batch_to_queue<publish_message> result;
      result.queue = read_queue_name("queue", slots[0], out);
      read_entries("messages", slots[1], decode_entry, result, out);
      return result;
    },
    message_batch_depth_max);
}

} // namespace tidegate::http
