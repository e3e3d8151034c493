// Reads the settings of a queue.

#include <algorithm>
#include <array>
#include <cmath>

#include "http/codec.hpp"
#include "http/codec_backoff.hpp"
#include "http/codec_fields.hpp"

namespace tidegate::http {

namespace {

/// Fields of a settings object, in the order of `names`.
enum field : std::size_t {
  webhook_url,
  mode,
  concurrency,
  rate_limit_max,
  rate_limit_window,
  max_attempts,
  max_defers,
  backoff,
  timeout,
  lifetime,
  headers,
  field_count,
  name = field_count,
};

constexpr std::array<std::string_view, field_count + 1> names = {
  "webhookUrl",      "mode",        "concurrency", "rateLimitMax",
  "rateLimitWindow", "maxAttempts", "maxDefers",   "backoff",
  "timeout",         "lifetime",    "headers",     "name"};

duration to_duration(double seconds) {
  auto us = std::clamp(seconds * 1e6, -1e18, 1e18);
  return duration{std::llround(us)};
}

/// Reads one settings object: field by field first, then all that was found
/// against the ranges.
class settings_reader {
public:
  explicit settings_reader(complaints& out) : out_(out) {
    // nop
  }

  void read(std::span<const std::string_view> slots) {
    if (present(slots, webhook_url))
      patch_.webhook_url = text(webhook_url, slots[webhook_url]);
    if (present(slots, mode))
      read_mode(slots[mode]);
    read_counts(slots);
    if (present(slots, backoff))
      patch_.backoff = read_backoff(slots[backoff], sent_, out_);
    if (present(slots, headers))
      patch_.headers = read_headers(slots[headers]);
  }

  /// Adds what is out of range, or cannot be called, of what was read.
  void check(const target_check& target) {
    auto findings = validate(apply(queue_settings{}, patch_));
    auto url_is_sound = patch_.webhook_url.has_value();
    for (auto& finding : findings) {
      auto top = finding.field.substr(0, finding.field.find('.'));
      if (top == names[webhook_url])
        url_is_sound = false;
      if (was_read(top))
        out_.add(finding.field, as_sent(finding));
    }
    if (!url_is_sound || !target)
      return;
    if (auto complaint = target(*patch_.webhook_url))
      out_.add(std::string{names[webhook_url]}, std::move(*complaint));
  }

  queue_settings_patch take() {
    return std::move(patch_);
  }

private:
  static bool present(std::span<const std::string_view> slots, field what) {
    return !slots[what].empty();
  }

  std::optional<std::string> text(field what, std::string_view token) {
    return read_string(names[what], token, out_);
  }

  std::optional<double> number(std::string_view field_name,
                               std::string_view token) {
    sent_.emplace(field_name, token);
    return read_number(field_name, token, out_);
  }

  std::optional<std::uint32_t> integer(field what, std::string_view token) {
    sent_.emplace(names[what], token);
    return read_integer(names[what], token, out_);
  }

  std::optional<duration> seconds(field what, std::string_view token) {
    if (auto value = number(names[what], token))
      return to_duration(*value);
    return std::nullopt;
  }

  void read_counts(std::span<const std::string_view> slots) {
    if (present(slots, concurrency))
      patch_.concurrency = integer(concurrency, slots[concurrency]);
    if (present(slots, rate_limit_max))
      read_rate_limit(slots[rate_limit_max]);
    if (present(slots, rate_limit_window))
      patch_.rate_limit_window = seconds(rate_limit_window,
                                         slots[rate_limit_window]);
    if (present(slots, max_attempts))
      patch_.max_attempts = integer(max_attempts, slots[max_attempts]);
    if (present(slots, max_defers))
      patch_.max_defers = integer(max_defers, slots[max_defers]);
    if (present(slots, timeout))
      patch_.timeout = seconds(timeout, slots[timeout]);
    if (present(slots, lifetime))
      patch_.lifetime = seconds(lifetime, slots[lifetime]);
  }

  void read_rate_limit(std::string_view token) {
    if (kind_of(token) == json_kind::null)
      patch_.rate_limit_max.emplace(std::nullopt);
    else if (auto value = integer(rate_limit_max, token))
      patch_.rate_limit_max.emplace(*value);
  }

  void read_mode(std::string_view token) {
    auto value = text(mode, token);
    if (value && *value != "standard")
      out_.add(std::string{names[mode]},
               "must be standard, got '" + shorten(*value) + "'");
  }

  std::optional<std::vector<header>> read_headers(std::string_view token);

  bool was_read(std::string_view top) const {
    auto read_of = [&](field what, bool read) {
      return names[what] == top && read;
    };
    return read_of(webhook_url, patch_.webhook_url.has_value())
           || read_of(concurrency, patch_.concurrency.has_value())
           || read_of(rate_limit_max, patch_.rate_limit_max.has_value())
           || read_of(rate_limit_window, patch_.rate_limit_window.has_value())
           || read_of(max_attempts, patch_.max_attempts.has_value())
           || read_of(max_defers, patch_.max_defers.has_value())
           || read_of(backoff, patch_.backoff.has_value())
           || read_of(timeout, patch_.timeout.has_value())
           || read_of(lifetime, patch_.lifetime.has_value())
           || read_of(headers, patch_.headers.has_value());
  }

  /// Returns the message with the number as it was sent: one that fits into no
  /// setting has become another one on the way.
  std::string as_sent(const field_error& finding) const {
    constexpr std::string_view got = ", got ";
    auto sent = sent_.find(finding.field);
    auto end = finding.message.rfind(got);
    if (sent == sent_.end() || end == std::string::npos)
      return finding.message;
    return finding.message.substr(0, end + got.size()) + shorten(sent->second);
  }

  complaints& out_;
  queue_settings_patch patch_;

  sent_numbers sent_;
};

std::optional<std::vector<header>>
settings_reader::read_headers(std::string_view token) {
  auto parts = read_parts(names[headers], token, json_kind::object, out_);
  if (!parts)
    return std::nullopt;
  std::vector<header> result;
  for (const auto& part : *parts) {
    auto header_name = read_string(names[headers], part.key, out_);
    if (!header_name)
      return std::nullopt;
    auto full_name = "headers." + shorten(*header_name);
    auto value = read_string(full_name, part.value, out_);
    if (!value)
      return std::nullopt;
    result.emplace_back(std::move(*header_name), std::move(*value));
  }
  return result;
}

/// What a body with settings comes to.
struct settings_body {
  queue_settings_patch patch;

  /// Set where a queue's name was asked for.
  std::string queue_name;
};

/// Reads `body`. `creating`: the settings have to be complete; `named`: there
/// has to be a name.
decoded<settings_body> decode_body(std::string_view body, bool creating,
                                   bool named, const target_check& check) {
  auto outline = outline_of(body);
  if (auto what = std::get_if<malformed>(&outline))
    return std::move(*what);
  if (auto what = std::get_if<complaints>(&outline))
    return std::move(*what);
  complaints out;
  std::array<std::string_view, names.size()> slots;
  auto known = std::span{names}.first(field_count + (named ? 1 : 0));
  assign_fields(std::get<json_outline>(outline).parts, known, slots, {}, out);
  settings_body result;
  if (named && slots[name].empty()) {
    out.add("name", "is required");
  } else if (named) {
    auto text = read_string("name", slots[name], out);
    if (auto finding = text ? validate_queue_name(*text) : std::nullopt)
      out.fields.push_back(std::move(*finding));
    result.queue_name = std::move(text).value_or(std::string{});
  }
  if (creating && slots[webhook_url].empty())
    out.add(std::string{names[webhook_url]}, "is required");
  settings_reader reader{out};
  reader.read(slots);
  reader.check(check);
  if (!out.empty())
    return out;
  result.patch = reader.take();
  return result;
}

/// Goes on with `f` where `what` was read, else hands on what is wrong.
template <class T, class F>
decoded<T> convert(decoded<settings_body> what, F f) {
  if (auto wrong = std::get_if<malformed>(&what))
    return std::move(*wrong);
  if (auto wrong = std::get_if<complaints>(&what))
    return std::move(*wrong);
  return f(std::get<settings_body>(what));
}

} // namespace

decoded<create_queue> decode_create_queue(std::string_view body,
                                          const target_check& check) {
  return convert<create_queue>(
    decode_body(body, true, true, check), [](settings_body& read) {
      return create_queue{std::move(read.queue_name),
                          apply(queue_settings{}, read.patch)};
    });
}

decoded<queue_settings> decode_settings(std::string_view body,
                                        const target_check& check) {
  return convert<queue_settings>(decode_body(body, true, false, check),
                                 [](settings_body& read) {
                                   return apply(queue_settings{}, read.patch);
                                 });
}

decoded<queue_settings_patch> decode_settings_patch(std::string_view body,
                                                    const target_check& check) {
  return convert<queue_settings_patch>(decode_body(body, false, false, check),
                                       [](settings_body& read) {
                                         return std::move(read.patch);
                                       });
}

} // namespace tidegate::http
