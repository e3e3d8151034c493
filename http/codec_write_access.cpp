// Prints operations, API keys and usage.

#include <map>

#include "http/codec.hpp"
#include "http/codec_write.hpp"
#include "http/iso8601.hpp"
#include "http/routes.hpp"

namespace tidegate::http {

namespace {

void write_operation(json_writer& out, const operation_record& what) {
  out.begin_object()
    .member("id", to_string(what.id))
    .member("kind", to_string(what.kind))
    .member("queue", what.queue_name)
    .member("state", to_string(what.state))
    .member("total", what.total)
    .member("done", what.done);
  text_member(out, "error", what.error);
  time_member(out, "startedAt", what.started_at);
  time_member(out, "finishedAt", what.finished_at);
  out.end_object();
}

void scopes_member(json_writer& out, scope_set scopes) {
  out.key("scopes").begin_array();
  for (auto each : all_scopes)
    if (scopes.contains(each))
      out.value(to_string(each));
  out.end_array();
}

void write_key(json_writer& out, const api_key_record& record,
               std::string_view key) {
  out.begin_object().member("id", to_string(record.id));
  if (!key.empty())
    out.member("key", key);
  out.member("project", record.project);
  scopes_member(out, scope_set::from_bits(record.scopes));
  text_member(out, "name", record.name);
  time_member(out, "createdAt", record.created_at);
  time_member(out, "expiresAt", record.expires_at);
  out.end_object();
}

/// Returns what a record is summed up under; empty: under nothing that has a
/// name.
std::string group_of(const usage_record& what, usage_by by) {
  switch (by) {
    case usage_by::queue:
      return what.queue_name;
    case usage_by::key:
      return what.key.value == 0 ? std::string{} : to_string(what.key);
    case usage_by::day:
      break;
  }
  return print_day(what.day);
}

} // namespace

std::string encode(const operation_record& operation) {
  json_writer out;
  write_operation(out, operation);
  return out.take();
}

std::string encode(std::span<const operation_record> page,
                   std::string_view next_cursor) {
  return print_page(page, next_cursor, write_operation);
}

std::string encode(const api_key_record& record, std::string_view key) {
  json_writer out;
  write_key(out, record, key);
  return out.take();
}

std::string encode(std::span<const api_key_record> page,
                   std::string_view next_cursor) {
  return print_page(page, next_cursor,
                    [](json_writer& out, const api_key_record& item) {
                      write_key(out, item, {});
                    });
}

const char* to_string(usage_by by) {
  switch (by) {
    case usage_by::queue:
      return "queue";
    case usage_by::key:
      return "key";
    case usage_by::day:
      return "day";
  }
  return "unknown";
}

std::string encode(const usage_list& usage, usage_by by, std::int64_t from_day,
                   std::int64_t to_day) {
  std::map<std::string, usage_record> sums;
  for (const auto& item : usage.items) {
    auto& sum = sums[group_of(item, by)];
    sum.publishes += item.publishes;
    sum.deliveries += item.deliveries;
    sum.receives += item.receives;
    sum.bytes += item.bytes;
  }
  json_writer out;
  out.begin_object()
    .member("from", print_day(from_day))
    .member("to", print_day(to_day))
    .member("by", to_string(by));
  out.key("items").begin_array();
  for (const auto& [group, sum] : sums) {
    out.begin_object();
    text_member(out, to_string(by), group);
    out.member("publishes", sum.publishes)
      .member("deliveries", sum.deliveries)
      .member("receives", sum.receives)
      .member("bytes", sum.bytes)
      .end_object();
  }
  end_page(out, {});
  return out.take();
}

} // namespace tidegate::http
