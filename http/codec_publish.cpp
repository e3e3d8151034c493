// Reads a job, many jobs, and bodies that say nothing.

#include <array>

#include "http/codec.hpp"
#include "http/codec_fields.hpp"
#include "http/json_writer.hpp"

namespace tidegate::http {

namespace {

enum slot : std::size_t {
  payload_slot,
  idempotency_key_slot,
  delay_slot,
  run_at_slot,
  priority_slot,
  limit_key_slot,
  headers_slot,
  slot_count,
};

constexpr std::array<std::string_view, slot_count> names = {
  "payload",  "idempotencyKey", "delay",  "runAt",
  "priority", "limitKey",       "headers"};

using slots_type = std::array<std::string_view, slot_count>;

/// Deepest nesting of a batch: there may be entries that are nested too deeply,
/// which is no reason to refuse the others.
constexpr unsigned batch_depth_max = 512;

std::string read_idempotency_key(std::string_view token, complaints& out) {
  auto key = read_string("idempotencyKey", token, out);
  if (key && (key->empty() || key->size() > idempotency_key_max))
    out.add("idempotencyKey", "must be 1 to "
                                + std::to_string(idempotency_key_max)
                                + " bytes, got " + std::to_string(key->size()));
  return std::move(key).value_or(std::string{});
}

job_context read_context(std::string_view token, complaints& out) {
  auto headers = read_headers(token, out);
  if (!headers)
    return {};
  for (auto& finding : validate_headers(*headers))
    out.fields.push_back(std::move(finding));
  job_context::values values;
  values.headers = std::move(*headers);
  return job_context{std::move(values)};
}

void read_timing(const slots_type& slots, publish& target, complaints& out) {
  if (auto token = slots[delay_slot]; !token.empty())
    target.delay =
      read_seconds("delay", token, 0, delay_max, out).value_or(duration{0});
  if (auto token = slots[run_at_slot]; !token.empty()) {
    target.run_at = read_time("runAt", token, out);
    if (!slots[delay_slot].empty())
      out.add("runAt", "must not be given together with delay");
  }
}

publish read_job(const slots_type& slots, complaints& out) {
  publish result;
  if (slots[payload_slot].empty())
    out.add("payload", "is required");
  if (auto token = slots[idempotency_key_slot]; !token.empty())
    result.idempotency_key = read_idempotency_key(token, out);
  read_timing(slots, result, out);
  if (auto token = slots[priority_slot]; !token.empty())
    if (auto value = read_integer("priority", token, 0, priority_max, out))
      result.priority = static_cast<std::uint8_t>(*value);
  if (auto token = slots[limit_key_slot]; !token.empty())
    result.limit_key = read_text("limitKey", token, 1, limit_key_max, out)
                         .value_or(std::string{});
  if (auto token = slots[headers_slot]; !token.empty())
    result.context = read_context(token, out);
  if (out.empty())
    result.payload = payload{std::string{slots[payload_slot]}};
  return result;
}

/// Takes an entry of a batch in, or says why it is refused.
void read_entry(std::string_view token, publish_batch_body& target) {
  std::string refusal;
  auto job = decode_publish(token);
  if (auto what = std::get_if<publish>(&job))
    target.jobs.push_back(std::move(*what));
  else if (auto wrong = std::get_if<complaints>(&job))
    refusal = refused_entry(*wrong);
  else
    // As JSON it is sound: the whole was. So it is nested too deeply.
    refusal =
      refused_entry(complaints{{std::get<malformed>(job).sentence}, {}});
  target.refusals.push_back(std::move(refusal));
}

publish_batch_body read_batch(std::string_view token, complaints& out) {
  publish_batch_body result;
  if (token.empty()) {
    out.add("jobs", "is required");
    return result;
  }
  auto parts = read_parts("jobs", token, json_kind::array, out);
  if (!parts)
    return result;
  if (parts->empty() || parts->size() > batch_jobs_max) {
    out.add("jobs", "must be 1 to " + std::to_string(batch_jobs_max)
                      + " jobs, got " + std::to_string(parts->size()));
    return result;
  }
  result.jobs.reserve(parts->size());
  result.refusals.reserve(parts->size());
  for (const auto& part : *parts)
    read_entry(part.value, result);
  return result;
}

} // namespace

decoded<publish> decode_publish(std::string_view body) {
  return decode_object(body, names, read_job);
}

decoded<publish_batch_body> decode_publish_batch(std::string_view body) {
  constexpr std::array<std::string_view, 1> batch_names = {"jobs"};
  return decode_object(
    body, batch_names,
    [](auto& slots, complaints& out) { return read_batch(slots[0], out); },
    batch_depth_max);
}

decoded<std::monostate> decode_nothing(std::string_view body) {
  if (body.empty())
    return std::monostate{};
  return decode_object(body, std::array<std::string_view, 0>{},
                       [](auto&, complaints&) { return std::monostate{}; });
}

} // namespace tidegate::http
