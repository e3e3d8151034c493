#include "actors/core/pull_differences.hpp"

#include <cstdio>

namespace tidegate {

namespace {

std::string print(duration span, double unit_seconds) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.15g", to_seconds(span) / unit_seconds);
  return text;
}

/// What a setting is called and how it is printed.
struct row {
  const char* name;
  std::string (*print)(const pull_settings& from);
};

constexpr row rows[] = {
  {"type",
   [](const pull_settings& s) -> std::string {
     return s.fifo ? "fifo" : "standard";
   }},
  {"dead_letter_queue",
   [](const pull_settings& s) {
     return s.dead_letter_queue.empty() ? std::string{"the default"}
                                        : '\'' + s.dead_letter_queue + '\'';
   }},
  {"max_receive_count",
   [](const pull_settings& s) { return std::to_string(s.max_receive_count); }},
  {"message_retention_days",
   [](const pull_settings& s) { return print(s.message_retention, 86'400); }},
  {"visibility_timeout_default",
   [](const pull_settings& s) { return print(s.visibility_timeout, 1); }},
  {"delay_seconds_default",
   [](const pull_settings& s) { return print(s.delay, 1); }},
  {"enable_priority",
   [](const pull_settings& s) -> std::string {
     return s.enable_priority ? "true" : "false";
   }},
};

} // namespace

std::string differences(const pull_settings& there,
                        const pull_settings& asked) {
  std::string result;
  for (const auto& each : rows) {
    auto is = each.print(there);
    auto meant = each.print(asked);
    if (is != meant)
      result.append(result.empty() ? "" : ", ")
        .append(each.name)
        .append(" (" + is + ", not " + meant + ')');
  }
  return result;
}

} // namespace tidegate
