#include "http/webhook_request.hpp"

#include <chrono>

#include "http/iso8601.hpp"
#include "http/message_json.hpp"
#include "http/signature.hpp"

namespace tidegate::http {

namespace {

// Room for the fixed parts, so that the buffer is allocated once.
constexpr std::size_t fixed_body_size = 256;
constexpr std::size_t fixed_head_size = 640;

void add_header(std::string& out, std::string_view name,
                std::string_view value) {
  out += name;
  out += ": ";
  out += value;
  out += "\r\n";
}

std::string unix_seconds(wall_time at) {
  using std::chrono::floor;
  auto seconds = floor<std::chrono::seconds>(at.time_since_epoch());
  return std::to_string(seconds.count());
}

std::size_t size_hint(const delivery& what, const webhook_url& url) {
  auto result = fixed_head_size + url.target.size() + url.authority.size()
                + what.secrets.size() * 128 + what.traceparent.size()
                + what.tracestate.size();
  for (const auto& [name, value] : what.headers)
    result += name.size() + value.size() + 4;
  return result;
}

void add_signatures(std::string& out, const delivery& what,
                    std::string_view body) {
  const auto& secrets = what.secrets;
  add_header(out, "x-simpleq-signature", body_signature(secrets[0], body));
  if (secrets.size() > 1)
    add_header(out, "x-simpleq-signature-previous",
               body_signature(secrets[1], body));
  auto id = what.message ? to_string(message_id{what.job.seq, what.job.tag})
                         : to_string(what.job);
  auto timestamp = unix_seconds(what.started_at);
  std::string signatures;
  for (const auto& secret : secrets) {
    if (!signatures.empty())
      signatures += ' ';
    signatures += standard_signature(secret, id, timestamp, body);
  }
  add_header(out, "webhook-id", id);
  add_header(out, "webhook-timestamp", timestamp);
  add_header(out, "webhook-signature", signatures);
}

} // namespace

std::string webhook_body(const delivery& what) {
  if (what.message)
    return encode(*what.message);
  const auto& payload = what.payload.bytes();
  std::string out;
  out.reserve(payload.size() + what.queue_name.size() + fixed_body_size);
  out += "{\"id\":\"";
  out += to_string(what.job);
  out += "\",\"queue\":\"";
  out += what.queue_name;
  out += "\",\"payload\":";
  out += payload;
  out += ",\"attempt\":";
  out += std::to_string(what.attempt);
  out += ",\"maxAttempts\":";
  out += std::to_string(what.max_attempts);
  out += ",\"deferCount\":";
  out += std::to_string(what.defers);
  out += ",\"createdAt\":\"";
  out += to_iso8601(what.created_at);
  out += "\"}";
  return out;
}

std::string webhook_request(const delivery& what, const webhook_url& url) {
  auto body = webhook_body(what);
  std::string out;
  out.reserve(size_hint(what, url) + body.size());
  out += "POST ";
  out += url.target;
  out += " HTTP/1.1\r\n";
  add_header(out, "host", url.authority);
  add_header(out, "user-agent", "tidegate/" TIDEGATE_VERSION);
  add_header(out, "content-type", "application/json");
  add_header(out, "content-length", std::to_string(body.size()));
  add_header(out, "x-tidegate-delivery", std::to_string(what.number));
  add_signatures(out, what, body);
  if (!what.traceparent.empty())
    add_header(out, "traceparent", what.traceparent);
  if (!what.tracestate.empty())
    add_header(out, "tracestate", what.tracestate);
  for (const auto& [name, value] : what.headers)
    add_header(out, name, value);
  out += "\r\n";
  out += body;
  return out;
}

} // namespace tidegate::http
