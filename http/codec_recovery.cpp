#include "http/codec_recovery.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "http/codec_fields.hpp"

namespace tidegate::http {

namespace {

using kind = recovery_settings::kind;

const char* to_string(kind mode) {
  return mode == kind::full ? "full" : "ramp";
}

constexpr std::array<std::string_view, 3> names = {"mode", "start", "factor"};

enum field : std::size_t { mode_slot, start_slot, factor_slot, field_count };

std::optional<kind> read_mode(std::string_view token, complaints& out) {
  if (token.empty()) {
    out.add("recovery.mode", "is required");
    return std::nullopt;
  }
  auto word = read_string("recovery.mode", token, out);
  if (!word)
    return std::nullopt;
  for (auto choice : {kind::full, kind::ramp})
    if (*word == to_string(choice))
      return choice;
  out.add("recovery.mode",
          "must be full or ramp, got '" + shorten(*word) + "'");
  return std::nullopt;
}

void read_ramp(std::span<const std::string_view> slots, sent_numbers& sent,
               recovery_settings& target, complaints& out) {
  constexpr auto beyond = std::numeric_limits<std::uint32_t>::max();
  if (auto token = slots[start_slot]; !token.empty()) {
    sent.emplace("recovery.start", token);
    if (auto value = read_integer("recovery.start", token, out))
      target.start =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(*value, beyond));
  }
  if (auto token = slots[factor_slot]; !token.empty()) {
    sent.emplace("recovery.factor", token);
    if (auto value = read_number("recovery.factor", token, out))
      target.factor = *value;
  }
}

} // namespace

std::optional<recovery_settings>
read_recovery(std::string_view token, sent_numbers& sent, complaints& out) {
  auto parts = read_parts("recovery", token, json_kind::object, out);
  if (!parts)
    return std::nullopt;
  auto complaints_before = out.fields.size();
  std::array<std::string_view, field_count> slots;
  assign_fields(*parts, names, slots, "recovery.", out);
  auto mode = read_mode(slots[mode_slot], out);
  if (!mode)
    return std::nullopt;
  recovery_settings result;
  result.mode = *mode;
  if (*mode == kind::ramp)
    read_ramp(slots, sent, result, out);
  for (auto stray : {start_slot, factor_slot})
    if (*mode == kind::full && !slots[stray].empty())
      out.add(std::string{"recovery."}.append(names[stray]),
              "does not belong to this mode of recovery");
  if (out.fields.size() != complaints_before)
    return std::nullopt;
  return result;
}

} // namespace tidegate::http
