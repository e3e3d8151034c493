// Reads what workers report of a job, and what operators want of a queue.

#include <array>
#include <charconv>
#include <limits>

#include "actors/core/utf8.hpp"
#include "http/codec.hpp"
#include "http/codec_fields.hpp"

namespace tidegate::http {

namespace {

/// Most bytes of a character.
constexpr std::size_t character_bytes_max = 4;

constexpr char wait_form[] =
  "a number of seconds from 0 on, or a string like "
  "\"30s\"";

std::optional<std::uint64_t> delivery_in(std::string_view token,
                                         complaints& out) {
  if (token.empty())
    return std::nullopt;
  return read_integer("delivery", token, 1, exact_integer_max, out);
}

std::string reason_in(std::string_view token, complaints& out) {
  if (token.empty())
    return {};
  auto text = read_text("reason", token, 0, reason_max, out);
  return text ? to_valid_utf8(*text, reason_max * character_bytes_max)
              : std::string{};
}

/// Returns the seconds of `<n>s`, nothing where `text` is something else.
std::optional<double> seconds_of(std::string_view text) {
  if (!text.ends_with('s'))
    return std::nullopt;
  text.remove_suffix(1);
  auto whole = text.substr(0, text.find('.'));
  auto is_number = [](std::string_view digits) {
    return !digits.empty()
           && digits.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (!is_number(whole)
      || (whole.size() != text.size()
          && !is_number(text.substr(whole.size() + 1))))
    return std::nullopt;
  return to_double(text);
}

/// Reads how long something is to be left alone. There is no longest wait: what
/// the clock cannot hold is as long as it can.
duration wait_in(std::string_view token, complaints& out) {
  constexpr std::string_view name = "retryAfter";
  if (token.empty()) {
    out.add(std::string{name}, "is required");
    return {};
  }
  std::optional<double> seconds;
  if (kind_of(token) == json_kind::number)
    seconds = to_double(token);
  else if (kind_of(token) == json_kind::string)
    if (auto text = unquote(token))
      seconds = seconds_of(*text);
  if (seconds && *seconds >= 0)
    return from_seconds(*seconds);
  out.add(std::string{name},
          std::string{"must be "} + wait_form + ", got " + shorten(token));
  return {};
}

const char* to_string(defer_scope scope) {
  switch (scope) {
    case defer_scope::queue:
      return "queue";
    case defer_scope::job:
      return "job";
    case defer_scope::key:
      return "key";
  }
  return "unknown";
}

std::optional<defer_scope> scope_in(std::string_view token, complaints& out) {
  if (token.empty())
    return std::nullopt;
  auto word = read_string("scope", token, out);
  if (!word)
    return std::nullopt;
  for (auto choice : {defer_scope::queue, defer_scope::job, defer_scope::key})
    if (*word == to_string(choice))
      return choice;
  out.add("scope", "must be queue, job or key, got '" + shorten(*word) + "'");
  return std::nullopt;
}

} // namespace

decoded<ack_job> decode_ack(std::string_view body) {
  constexpr std::array<std::string_view, 1> names = {"delivery"};
  return decode_optional_object(body, names, [](auto& slots, complaints& out) {
    ack_job result;
    result.delivery = delivery_in(slots[0], out);
    return result;
  });
}

decoded<nack_job> decode_nack(std::string_view body) {
  constexpr std::array<std::string_view, 3> names = {"delivery", "retryable",
                                                     "reason"};
  return decode_optional_object(body, names, [](auto& slots, complaints& out) {
    nack_job result;
    result.delivery = delivery_in(slots[0], out);
    if (!slots[1].empty())
      result.retryable =
        read_boolean("retryable", slots[1], out).value_or(true);
    result.reason = reason_in(slots[2], out);
    return result;
  });
}

decoded<defer_job> decode_defer(std::string_view body) {
  constexpr std::array<std::string_view, 4> names = {"delivery", "retryAfter",
                                                     "scope", "reason"};
  return decode_optional_object(body, names, [](auto& slots, complaints& out) {
    defer_job result;
    result.delivery = delivery_in(slots[0], out);
    result.wait = wait_in(slots[1], out);
    result.scope = scope_in(slots[2], out);
    result.reason = reason_in(slots[3], out);
    return result;
  });
}

decoded<touch_job> decode_touch(std::string_view body) {
  constexpr std::array<std::string_view, 2> names = {"delivery", "extend"};
  return decode_optional_object(body, names, [](auto& slots, complaints& out) {
    touch_job result;
    result.delivery = delivery_in(slots[0], out);
    if (slots[1].empty())
      out.add("extend", "is required");
    else
      result.extend = read_seconds("extend", slots[1], 1, extend_max, out)
                        .value_or(duration{0});
    return result;
  });
}

decoded<hold_queue> decode_hold(std::string_view body) {
  constexpr std::array<std::string_view, 2> names = {"retryAfter", "reason"};
  return decode_optional_object(body, names, [](auto& slots, complaints& out) {
    hold_queue result;
    result.wait = wait_in(slots[0], out);
    result.reason = reason_in(slots[1], out);
    return result;
  });
}

} // namespace tidegate::http
