// Reads the settings of pull queues.

#include "http/codec_pull_fields.hpp"

namespace tidegate::http {

namespace {

/// Fields of a settings object, in the order of `names`.
enum field : std::size_t {
  dead_letter_queue,
  max_receive_count,
  max_retries,
  message_retention_days,
  visibility_timeout_default,
  delay_seconds_default,
  enable_priority,
  setting_count,
  // Only when a queue is created.
  name = setting_count,
  type,
  idempotency_key,
  field_count,
};

constexpr std::array<std::string_view, field_count> all_names = {
  "dead_letter_queue",
  "max_receive_count",
  "max_retries",
  "message_retention_days",
  "visibility_timeout_default",
  "delay_seconds_default",
  "enable_priority",
  "name",
  "type",
  "idempotency_key"};

constexpr auto setting_names = [] {
  std::array<std::string_view, setting_count> result;
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = all_names[i];
  return result;
}();

using slots_view = std::span<const std::string_view>;

/// Reads where dead letters of `queue` go. The usual name is not kept: so a
/// queue that names it is the same as one that names none.
std::optional<std::string> read_dead_letter_queue(std::string_view token,
                                                  std::string_view queue,
                                                  complaints& out) {
  auto wanted = read_queue_name("dead_letter_queue", token, out);
  if (wanted == queue && !queue.empty())
    out.add("dead_letter_queue",
            "must be another queue, got '" + shorten(wanted) + "'");
  if (wanted == std::string{queue} + ".dlq")
    wanted.clear();
  return wanted;
}

/// Reads how often a message is received at most, which has two names.
std::optional<std::uint32_t> read_receives(slots_view slots, complaints& out) {
  std::optional<std::uint64_t> count;
  if (auto token = slots[max_receive_count]; !token.empty())
    count = read_whole("max_receive_count", token, 0, receive_count_max, out);
  if (auto token = slots[max_retries]; !token.empty()) {
    auto retries = read_whole("max_retries", token, 0, receive_count_max - 1,
                              out);
    if (retries && count && *count != *retries + 1)
      out.add("max_retries", "must be max_receive_count - 1, got "
                               + shorten(token) + " with max_receive_count "
                               + std::to_string(*count));
    if (retries && slots[max_receive_count].empty())
      count = *retries + 1;
  }
  if (!count)
    return std::nullopt;
  return static_cast<std::uint32_t>(*count);
}

pull_settings_patch read_settings(slots_view slots, std::string_view queue,
                                  complaints& out) {
  pull_settings_patch result;
  if (auto token = slots[dead_letter_queue]; !token.empty())
    result.dead_letter_queue = read_dead_letter_queue(token, queue, out);
  result.max_receive_count = read_receives(slots, out);
  if (auto token = slots[message_retention_days]; !token.empty())
    if (auto days = read_whole("message_retention_days", token, 1,
                               retention_days_max, out))
      result.message_retention = std::chrono::hours{24 * *days};
  if (auto token = slots[visibility_timeout_default]; !token.empty())
    result.visibility_timeout = read_whole_seconds(
      "visibility_timeout_default", token, 1, visibility_timeout_max, out);
  if (auto token = slots[delay_seconds_default]; !token.empty())
    result.delay = read_whole_seconds("delay_seconds_default", token, 0,
                                      message_delay_max, out);
  if (auto token = slots[enable_priority]; !token.empty())
    result.enable_priority = read_boolean("enable_priority", token, out);
  return result;
}

/// Returns whether the queue is to be fifo.
bool read_type(std::string_view token, complaints& out) {
  auto word = read_string("type", token, out);
  if (word && *word != "standard" && *word != "fifo")
    out.add("type", "must be standard or fifo, got '" + shorten(*word) + "'");
  return word == "fifo";
}

void check_idempotency_key(std::string_view token, complaints& out) {
  auto key = read_string("idempotency_key", token, out);
  if (auto wrong = key ? complaint_about_key(*key) : std::nullopt)
    out.add("idempotency_key", std::move(*wrong));
}

} // namespace

decoded<create_pull_queue> decode_create_pull_queue(std::string_view body) {
  return decode_object(body, all_names, [](auto& slots, complaints& out) {
    create_pull_queue result;
    result.name = read_queue_name("name", slots[name], out);
    if (!slots[type].empty())
      result.settings.fifo = read_type(slots[type], out);
    if (!slots[idempotency_key].empty())
      check_idempotency_key(slots[idempotency_key], out);
    result.settings = apply(result.settings,
                            read_settings(slots, result.name, out));
    return result;
  });
}

decoded<pull_settings_patch> decode_pull_patch(std::string_view body,
                                               std::string_view queue) {
  return decode_object(body, setting_names, [&](auto& slots, complaints& out) {
    return read_settings(slots, queue, out);
  });
}

} // namespace tidegate::http
