// Reads a job, and bodies that say nothing.

#include <array>

#include "http/codec.hpp"
#include "http/codec_fields.hpp"

namespace tidegate::http {

namespace {

constexpr std::array<std::string_view, 3> names = {"payload", "idempotencyKey",
                                                   "delay"};

std::string read_idempotency_key(std::string_view token, complaints& out) {
  auto key = read_string("idempotencyKey", token, out);
  if (key && (key->empty() || key->size() > idempotency_key_max))
    out.add("idempotencyKey", "must be 1 to "
                                + std::to_string(idempotency_key_max)
                                + " bytes, got " + std::to_string(key->size()));
  return std::move(key).value_or(std::string{});
}

duration read_delay(std::string_view token, complaints& out) {
  auto seconds = read_number("delay", token, out);
  if (!seconds)
    return {};
  if (*seconds >= 0 && *seconds <= delay_max)
    return from_seconds(*seconds);
  out.add("delay", "must be 0 to 2592000, got " + shorten(token));
  return {};
}

} // namespace

decoded<publish> decode_publish(std::string_view body) {
  enum : std::size_t { payload_slot, key_slot, delay_slot, count };
  auto outline = outline_of(body);
  if (auto what = std::get_if<malformed>(&outline))
    return std::move(*what);
  if (auto what = std::get_if<complaints>(&outline))
    return std::move(*what);
  complaints out;
  std::array<std::string_view, count> slots;
  assign_fields(std::get<json_outline>(outline).parts, names, slots, {}, out);
  publish result;
  if (slots[payload_slot].empty())
    out.add("payload", "is required");
  if (!slots[key_slot].empty())
    result.idempotency_key = read_idempotency_key(slots[key_slot], out);
  if (!slots[delay_slot].empty())
    result.delay = read_delay(slots[delay_slot], out);
  if (!out.empty())
    return out;
  result.payload = payload{std::string{slots[payload_slot]}};
  return result;
}

decoded<std::monostate> decode_nothing(std::string_view body) {
  if (body.empty())
    return std::monostate{};
  auto outline = outline_of(body);
  if (auto what = std::get_if<malformed>(&outline))
    return std::move(*what);
  if (auto what = std::get_if<complaints>(&outline))
    return std::move(*what);
  complaints out;
  assign_fields(std::get<json_outline>(outline).parts, {}, {}, {}, out);
  if (!out.empty())
    return out;
  return std::monostate{};
}

} // namespace tidegate::http
