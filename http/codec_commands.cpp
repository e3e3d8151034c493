// Reads what operators want of the jobs of a queue, of its secret and of keys.

#include <array>

#include "http/codec.hpp"
#include "http/codec_fields.hpp"
#include "http/routes.hpp"

namespace tidegate::http {

namespace {

job_id id_in(std::string_view token, complaints& out) {
  auto text = read_string("ids", token, out);
  if (!text)
    return {};
  auto id = parse_job_id(*text);
  if (!id)
    out.add("ids", "must be ids of jobs, got '" + shorten(*text) + "'");
  return id.value_or(job_id{});
}

std::vector<job_id> ids_in(std::string_view token, complaints& out) {
  std::vector<job_id> result;
  auto parts = read_parts("ids", token, json_kind::array, out);
  if (!parts)
    return result;
  if (parts->empty() || parts->size() > batch_jobs_max) {
    out.add("ids", "must be 1 to " + std::to_string(batch_jobs_max)
                     + " ids, got " + std::to_string(parts->size()));
    return result;
  }
  for (const auto& part : *parts)
    result.push_back(id_in(part.value, out));
  return result;
}

std::uint8_t scopes_in(std::string_view token, complaints& out) {
  scope_set result;
  auto parts = read_parts("scopes", token, json_kind::array, out);
  if (!parts)
    return 0;
  if (parts->empty())
    out.add("scopes", "must be 1 or more scopes, got 0");
  for (const auto& part : *parts) {
    auto word = read_word("scopes", part.value, all_scopes, out);
    if (!word)
      return 0;
    if (result.contains(*word))
      out.add("scopes",
              std::string{"must not name "} + to_string(*word) + " twice");
    result.add(*word);
  }
  return result.bits();
}

std::string project_in(std::string_view token, complaints& out) {
  auto name = read_string("project", token, out);
  if (auto finding = name ? validate_project_name(*name) : std::nullopt)
    out.fields.push_back(std::move(*finding));
  return std::move(name).value_or(std::string{});
}

std::optional<wall_time> expiry_in(std::string_view token, wall_time now,
                                   complaints& out) {
  if (kind_of(token) == json_kind::null)
    return std::nullopt;
  auto at = read_time("expiresAt", token, out);
  if (at && *at <= now)
    out.add("expiresAt", "must be in the future, got " + shorten(token));
  return at;
}

} // namespace

decoded<purge_queue> decode_purge(std::string_view body) {
  constexpr std::array<std::string_view, 1> names = {"status"};
  constexpr std::array waiting = {job_status::pending, job_status::processing};
  return decode_optional_object(body, names, [&](auto& slots, complaints& out) {
    purge_queue result;
    if (!slots[0].empty())
      result.status = read_word("status", slots[0], waiting, out);
    return result;
  });
}

decoded<rotate_secret> decode_rotate(std::string_view body) {
  constexpr std::array<std::string_view, 1> names = {"overlap"};
  return decode_optional_object(body, names, [](auto& slots, complaints& out) {
    rotate_secret result;
    if (!slots[0].empty())
      if (auto wait = read_seconds("overlap", slots[0], 0, overlap_max, out))
        result.overlap = *wait;
    return result;
  });
}

decoded<replay_job> decode_replay(std::string_view body) {
  constexpr std::array<std::string_view, 1> names = {"payload"};
  return decode_optional_object(body, names, [](auto& slots, complaints&) {
    replay_job result;
    if (!slots[0].empty())
      result.payload = payload{std::string{slots[0]}};
    return result;
  });
}

decoded<replay_dead_letters> decode_dlq_replay(std::string_view body) {
  constexpr std::array<std::string_view, 8> names = {"reason", "since",
                                                     "until",  "limitKey",
                                                     "ids",    "limit",
                                                     "dryRun", "perSecond"};
  return decode_optional_object(body, names, [](auto& slots, complaints& out) {
    replay_dead_letters result;
    auto& filter = result.filter;
    if (!slots[0].empty())
      filter.reason = read_word("reason", slots[0], dead_reasons, out);
    if (!slots[1].empty())
      filter.since = read_time("since", slots[1], out);
    if (!slots[2].empty())
      filter.until = read_time("until", slots[2], out);
    if (!slots[3].empty())
      filter.limit_key = read_text("limitKey", slots[3], 1, limit_key_max, out);
    if (!slots[4].empty())
      result.ids = ids_in(slots[4], out);
    if (!slots[5].empty())
      result.limit = read_integer("limit", slots[5], 1, exact_integer_max, out);
    if (!slots[6].empty())
      result.dry_run = read_boolean("dryRun", slots[6], out).value_or(false);
    if (!slots[7].empty())
      if (auto pace = read_pace("perSecond", slots[7], out))
        result.per_second = *pace;
    return result;
  });
}

decoded<api_key_record> decode_api_key(std::string_view body, wall_time now) {
  constexpr std::array<std::string_view, 4> names = {"project", "scopes",
                                                     "name", "expiresAt"};
  return decode_object(body, names, [now](auto& slots, complaints& out) {
    api_key_record result;
    result.created_at = now;
    if (slots[0].empty())
      out.add("project", "is required");
    else
      result.project = project_in(slots[0], out);
    if (slots[1].empty())
      out.add("scopes", "is required");
    else
      result.scopes = scopes_in(slots[1], out);
    if (!slots[2].empty())
      result.name = read_text("name", slots[2], 0, key_name_max, out)
                      .value_or(std::string{});
    if (!slots[3].empty())
      result.expires_at = expiry_in(slots[3], now, out);
    return result;
  });
}

} // namespace tidegate::http
