#include "tidegate/pull_settings.hpp"

#include <cstdio>

#include "tidegate/alert.hpp"
#include "tidegate/queue_settings.hpp"

namespace tidegate {

namespace {

std::string print(double x) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.15g", x);
  return text;
}

void range(std::vector<field_error>& out, const char* field, double value,
           double min, double max) {
  if (!(value >= min && value <= max))
    out.push_back({field, "must be " + print(min) + " to " + print(max)
                            + ", got " + print(value)});
}

constexpr double seconds_in_day = 86'400;

} // namespace

pull_settings dead_letter_settings() {
  pull_settings result;
  result.max_receive_count = 0;
  result.message_retention = std::chrono::hours{14 * 24};
  return result;
}

pull_settings apply(pull_settings settings, const pull_settings_patch& patch) {
  auto set = [](auto& field, const auto& change) {
    if (change)
      field = *change;
  };
  set(settings.dead_letter_queue, patch.dead_letter_queue);
  set(settings.max_receive_count, patch.max_receive_count);
  set(settings.message_retention, patch.message_retention);
  set(settings.visibility_timeout, patch.visibility_timeout);
  set(settings.delay, patch.delay);
  set(settings.enable_priority, patch.enable_priority);
  return settings;
}

std::vector<field_error> validate(const pull_settings& s) {
  std::vector<field_error> out;
  if (!s.dead_letter_queue.empty())
    if (auto wrong = validate_queue_name(s.dead_letter_queue))
      out.push_back({"dead_letter_queue", wrong->message});
  if (s.dead_letter_queue == alerts_queue)
    out.push_back({"dead_letter_queue",
                   "must not be 'tidegate.alerts', which is kept for the push "
                   "queue that alerts go through"});
  range(out, "max_receive_count", s.max_receive_count, 0, 1'000);
  range(out, "message_retention_days",
        to_seconds(s.message_retention) / seconds_in_day, 1, 30);
  range(out, "visibility_timeout_default", to_seconds(s.visibility_timeout), 1,
        43'200);
  range(out, "delay_seconds_default", to_seconds(s.delay), 0, 604'800);
  if (s.fifo && s.delay > duration{0})
    out.push_back({"delay_seconds_default", "must be 0 on a fifo queue, got "
                                              + print(to_seconds(s.delay))});
  if (s.fifo && s.enable_priority)
    out.push_back(
      {"enable_priority", "must be false on a fifo queue, got true"});
  return out;
}

std::optional<field_error>
validate_dead_letters(const std::string& name, const pull_settings& settings) {
  if (settings.dead_letter_queue == name)
    return field_error{"dead_letter_queue",
                       "must be another queue, got '" + name + "'"};
  if (settings.max_receive_count == 0 || !settings.dead_letter_queue.empty())
    return std::nullopt;
  auto dead_letters = name + ".dlq";
  if (!validate_queue_name(dead_letters))
    return std::nullopt;
  return field_error{
    "dead_letter_queue",
    "must be named where that of the queue with .dlq behind it "
    "is too long, got '"
      + dead_letters + "'"};
}

} // namespace tidegate
