// Push subscriptions of pull queues to JSON and back.

#include <algorithm>

#include "http/certificates.hpp"
#include "http/codec_pull_fields.hpp"
#include "http/codec_write.hpp"

namespace tidegate::http {

namespace {

enum field : std::size_t {
  url,
  secret,
  concurrency,
  rate_limit_max,
  timeout,
  tls_ca,
  tls_insecure,
  field_count,
};

constexpr std::array<std::string_view, field_count> names = {
  "url",     "secret", "concurrency", "rate_limit_max",
  "timeout", "tls_ca", "tls_insecure"};

constexpr std::size_t secret_min = 8;
constexpr std::size_t secret_max = 256;

/// A secret stands in no header, but people copy it out of one line of text.
std::optional<std::string> read_secret(std::string_view token,
                                       complaints& out) {
  auto text = read_text(names[secret], token, secret_min, secret_max, out);
  auto is_plain = [](char c) { return c > 0x20 && c < 0x7f; };
  if (text && !std::all_of(text->begin(), text->end(), is_plain))
    out.add(std::string{names[secret]},
            "must be of printable ASCII characters without spaces");
  return text;
}

void read_tls(std::string_view authorities, std::string_view insecure,
              queue_settings& target, complaints& out) {
  if (!insecure.empty())
    target.tls_insecure =
      read_boolean(names[tls_insecure], insecure, out).value_or(false);
  if (authorities.empty() || kind_of(authorities) == json_kind::null)
    return;
  auto text = read_string(names[tls_ca], authorities, out);
  if (!text)
    return;
  target.tls_ca = *text;
  for (const auto& finding : validate(target))
    if (finding.field == "tlsCa")
      out.add(std::string{names[tls_ca]}, finding.message);
  if (auto complaint = complaint_about_authorities(*text))
    out.add(std::string{names[tls_ca]}, std::move(*complaint));
}

void read_url(std::string_view token, const target_check& check,
              queue_settings& target, complaints& out) {
  if (token.empty()) {
    out.add(std::string{names[url]}, "is required");
    return;
  }
  auto text = read_string(names[url], token, out);
  if (!text)
    return;
  target.webhook_url = *text;
  for (const auto& finding : validate(target))
    if (finding.field == "webhookUrl") {
      out.add(std::string{names[url]}, finding.message);
      return;
    }
  if (auto complaint = check ? check(*text) : std::nullopt)
    out.add(std::string{names[url]}, std::move(*complaint));
}

} // namespace

decoded<subscribe_webhook> decode_push_subscription(std::string_view body,
                                                    const target_check& check) {
  return decode_object(body, names, [&](auto& slots, complaints& out) {
    subscribe_webhook result;
    auto& settings = result.settings;
    read_url(slots[url], check, settings, out);
    if (auto token = slots[secret]; !token.empty())
      result.secret = read_secret(token, out);
    if (auto token = slots[concurrency]; !token.empty())
      if (auto value = read_whole(names[concurrency], token, 1, 10'000, out))
        settings.concurrency = static_cast<std::uint32_t>(*value);
    auto rate = slots[rate_limit_max];
    if (!rate.empty() && kind_of(rate) != json_kind::null)
      if (auto value = read_whole(names[rate_limit_max], rate, 1, 100'000, out))
        settings.rate_limit_max = static_cast<std::uint32_t>(*value);
    if (auto token = slots[timeout]; !token.empty())
      if (auto value = read_seconds(names[timeout], token, 0.1, 900, out))
        settings.timeout = *value;
    read_tls(slots[tls_ca], slots[tls_insecure], settings, out);
    return result;
  });
}

std::string encode_subscription(const pull_queue_view& view, bool with_secret) {
  const auto& settings = view.queue.settings;
  const auto& gate = view.queue.gate;
  json_writer out;
  out.begin_object()
    .member("queue", view.queue.name)
    .member("url", settings.webhook_url);
  if (with_secret)
    out.member("secret", view.queue.secret);
  out.member("concurrency", settings.concurrency);
  optional_member(out, "rate_limit_max", settings.rate_limit_max,
                  [](auto x) { return x; });
  out.member("timeout", to_seconds(settings.timeout));
  text_member(out, "tls_ca", settings.tls_ca);
  out.member("tls_insecure", settings.tls_insecure)
    .member("state", to_string(gate.state));
  auto release = gate.state == gate_state::held ? std::optional{gate.release_at}
                                                : std::nullopt;
  optional_member(out, "release_at", release, exact_time);
  out.member("in_flight", view.posts).end_object();
  return out.take();
}

} // namespace tidegate::http
