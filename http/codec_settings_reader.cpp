#include "http/codec_settings_reader.hpp"

#include <algorithm>
#include <bitset>
#include <cmath>
#include <limits>

#include "http/certificates.hpp"
#include "http/codec_backoff.hpp"
#include "http/codec_fields.hpp"
#include "http/codec_recovery.hpp"

namespace tidegate::http {

namespace {

using namespace setting;

duration to_duration(double seconds) {
  auto us = std::clamp(seconds * 1e6, -1e18, 1e18);
  return duration{std::llround(us)};
}

/// Makes `value` fit, the largest number where it does not: that is out of the
/// range of every setting.
template <class T>
T saturate(std::uint64_t value) {
  return static_cast<T>(
    std::min<std::uint64_t>(value, std::numeric_limits<T>::max()));
}

/// Reads one settings object: field by field first, then all that was found
/// against the ranges.
class settings_reader {
public:
  settings_reader(std::span<const std::string_view> slots, complaints& out)
    : slots_(slots), out_(out) {
    // nop
  }

  void read() {
    text(webhook_url, patch_.webhook_url);
    word(mode, std::array{delivery_mode::standard, delivery_mode::ack},
         patch_.mode);
    word(ack_timeout_action,
         std::array{tidegate::ack_timeout_action::retry,
                    tidegate::ack_timeout_action::dead},
         patch_.ack_timeout_action);
    word(backpressure_scope,
         std::array{tidegate::backpressure_scope::queue,
                    tidegate::backpressure_scope::key},
         patch_.backpressure_scope);
    read_counts();
    read_times();
    flag(dead_letter, patch_.dead_letter);
    flag(tls_insecure, patch_.tls_insecure);
    if (present(tls_ca) && is_null(tls_ca))
      patch_.tls_ca.emplace();
    else
      text(tls_ca, patch_.tls_ca);
    if (present(backoff))
      store(backoff, read_backoff(slots_[backoff], sent_, out_),
            patch_.backoff);
    if (present(recovery))
      store(recovery, read_recovery(slots_[recovery], sent_, out_),
            patch_.recovery);
    if (present(headers))
      store(headers, read_headers(slots_[headers], out_), patch_.headers);
    if (present(permanent_failure_statuses))
      store(permanent_failure_statuses, read_statuses(),
            patch_.permanent_failure_statuses);
  }

  /// Adds what is out of range, or cannot be called, of what was read.
  void check(const target_check& target) {
    auto findings = validate(apply(queue_settings{}, patch_));
    bool url_is_sound = read_[webhook_url];
    for (auto& finding : findings) {
      auto top = finding.field.substr(0, finding.field.find('.'));
      auto i = std::find(names.begin(), names.begin() + field_count, top);
      auto index = static_cast<std::size_t>(i - names.begin());
      if (index == webhook_url)
        url_is_sound = false;
      if (index == field_count || read_[index])
        out_.add(finding.field, as_sent(finding));
    }
    if (read_[tls_ca])
      if (auto complaint = complaint_about_authorities(*patch_.tls_ca))
        out_.add(std::string{names[tls_ca]}, std::move(*complaint));
    if (!url_is_sound || !target)
      return;
    if (auto complaint = target(*patch_.webhook_url))
      out_.add(std::string{names[webhook_url]}, std::move(*complaint));
  }

  queue_settings_patch take() {
    return std::move(patch_);
  }

private:
  bool present(field what) const {
    return !slots_[what].empty();
  }

  bool is_null(field what) const {
    return kind_of(slots_[what]) == json_kind::null;
  }

  template <class T, class U>
  void store(field what, std::optional<T> value, std::optional<U>& target) {
    if (!value)
      return;
    read_[what] = true;
    target.emplace(std::move(*value));
  }

  void text(field what, std::optional<std::string>& target) {
    if (present(what))
      store(what, read_string(names[what], slots_[what], out_), target);
  }

  void flag(field what, std::optional<bool>& target) {
    if (present(what))
      store(what, read_boolean(names[what], slots_[what], out_), target);
  }

  template <class T, std::size_t N>
  void
  word(field what, const std::array<T, N>& choices, std::optional<T>& target) {
    if (present(what))
      store(what, read_word(names[what], slots_[what], choices, out_), target);
  }

  template <class T>
  std::optional<T> integer(field what) {
    sent_.emplace(names[what], slots_[what]);
    if (auto value = read_integer(names[what], slots_[what], out_))
      return saturate<T>(*value);
    return std::nullopt;
  }

  std::optional<duration> seconds(field what) {
    sent_.emplace(names[what], slots_[what]);
    if (auto value = read_number(names[what], slots_[what], out_))
      return to_duration(*value);
    return std::nullopt;
  }

  void count(field what, std::optional<std::uint32_t>& target) {
    if (present(what))
      store(what, integer<std::uint32_t>(what), target);
  }

  template <class T>
  void limit(field what, std::optional<std::optional<T>>& target) {
    if (present(what) && is_null(what))
      target.emplace(std::nullopt);
    else if (present(what))
      store(what, integer<T>(what), target);
  }

  void time(field what, std::optional<duration>& target) {
    if (present(what))
      store(what, seconds(what), target);
  }

  void bound(field what, std::optional<std::optional<duration>>& target) {
    if (present(what) && is_null(what))
      target.emplace(std::nullopt);
    else if (present(what))
      store(what, seconds(what), target);
  }

  void read_counts() {
    count(concurrency, patch_.concurrency);
    count(max_attempts, patch_.max_attempts);
    count(max_defers, patch_.max_defers);
    limit(rate_limit_max, patch_.rate_limit_max);
    limit(key_concurrency, patch_.key_concurrency);
    limit(key_rate_limit_max, patch_.key_rate_limit_max);
    limit(max_depth, patch_.max_depth);
  }

  void read_times() {
    time(rate_limit_window, patch_.rate_limit_window);
    time(timeout, patch_.timeout);
    time(ack_timeout, patch_.ack_timeout);
    time(lifetime, patch_.lifetime);
    time(retention, patch_.retention);
    bound(min_hold, patch_.min_hold);
    bound(max_hold, patch_.max_hold);
  }

  std::optional<std::vector<std::uint16_t>> read_statuses() {
    auto list_name = names[permanent_failure_statuses];
    auto parts = read_parts(list_name, slots_[permanent_failure_statuses],
                            json_kind::array, out_);
    if (!parts)
      return std::nullopt;
    std::vector<std::uint16_t> result;
    for (const auto& part : *parts) {
      auto status = read_integer(list_name, part.value, out_);
      if (!status)
        return std::nullopt;
      result.push_back(saturate<std::uint16_t>(*status));
      if (result.back() != *status)
        sent_.emplace(list_name, part.value);
    }
    return result;
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

  std::span<const std::string_view> slots_;
  complaints& out_;
  queue_settings_patch patch_;
  std::bitset<field_count> read_;
  sent_numbers sent_;
};

} // namespace

queue_settings_patch read_settings(std::span<const std::string_view> slots,
                                   const target_check& check, complaints& out) {
  settings_reader reader{slots, out};
  reader.read();
  reader.check(check);
  return reader.take();
}

} // namespace tidegate::http
