#include "storage/job_row.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

#include "storage/number_list.hpp"

namespace tidegate::job_row {

namespace {

constexpr std::string_view after_name = ": ";
constexpr std::string_view line_end = "\r\n";

// Headers as they are sent: neither a name nor a value can have what ends it.
std::string
write_headers(const std::vector<std::pair<std::string, std::string>>& headers) {
  std::string text;
  for (auto& [name, value] : headers)
    text.append(name).append(after_name).append(value).append(line_end);
  return text;
}

std::vector<std::pair<std::string, std::string>>
read_headers(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> headers;
  while (!text.empty()) {
    auto name_end = text.find(after_name);
    auto end = text.find(line_end, name_end);
    if (end == std::string_view::npos)
      break;
    auto value = name_end + after_name.size();
    headers.emplace_back(text.substr(0, name_end),
                         text.substr(value, end - value));
    text.remove_prefix(end + line_end.size());
  }
  return headers;
}

constexpr char name_mark = ':';

// Numbers: queue, number, tag, times in microseconds since 1970, and whether it
// was there already; behind a mark the name of the queue.
std::optional<successor> read_published(std::string_view text) {
  auto numbers = read_numbers<std::int64_t>(text);
  if (numbers.size() != 6)
    return std::nullopt;
  successor result;
  result.id.queue.value = static_cast<std::uint32_t>(numbers[0]);
  result.id.seq.value = static_cast<std::uint64_t>(numbers[1]);
  result.id.tag = static_cast<std::uint64_t>(numbers[2]);
  result.created_at = wall_time{duration{numbers[3]}};
  result.eligible_at = wall_time{duration{numbers[4]}};
  result.duplicate = numbers[5] != 0;
  result.queue_name = text.substr(text.find(name_mark) + 1);
  return result;
}

} // namespace

std::uint64_t take(sqlite::execution& row, job& out) {
  std::uint64_t entries = 0;
  row.take(out.id.seq.value)
    .take(out.id.queue.value)
    .take(out.due)
    .take(out.expires_at)
    .take(out.created_at)
    .take(out.waits_for)
    .take(out.status)
    .take(out.started_delivery)
    .take(out.id.tag)
    .take(out.eligible_at)
    .take(out.attempts)
    .take(out.defers)
    .take(out.deliveries)
    .take(out.waits_since)
    .take(entries)
    .take(out.idempotency_key)
    .take(out.priority)
    .take(out.background)
    .take(out.limit_key)
    .take(out.replays)
    .take(out.reported)
    .take(out.reported_delivery)
    .take(out.source_queue)
    .take(out.source_receives)
    .take(out.dead_lettered_at);
  return entries;
}

void take_end(sqlite::execution& row, job& out) {
  std::string published;
  row.take(out.dead_reason)
    .take(out.ended_at)
    .take(out.remove_at)
    .take(out.dead_letter)
    .take(published);
  out.published = read_published(published);
}

void take_entry(sqlite::execution& row, history_entry& out) {
  row.take(out.attempt)
    .take(out.delivery)
    .take(out.status)
    .take(out.error)
    .take(out.error_code)
    .take(out.http_status)
    .take(out.took)
    .take(out.response_excerpt)
    .take(out.retry_after)
    .take(out.at);
}

void take_context(sqlite::execution& row, job& out) {
  job_context::values content;
  std::string headers;
  row.take(headers).take(content.traceparent).take(content.tracestate);
  content.headers = read_headers(headers);
  out.context = job_context{std::move(content)};
}

void take_payload(sqlite::execution& row, job& out) {
  std::string bytes;
  row.take(bytes);
  out.payload = payload{std::move(bytes)};
}

void bind_text(sqlite::execution& use, const std::string& value) {
  if (value.empty())
    use.bind_null();
  else
    use.bind(value);
}

void bind_source(sqlite::execution& use, const job& what) {
  if (what.source_queue.empty())
    use.bind_null().bind_null().bind_null();
  else
    use.bind(what.source_queue)
      .bind(what.source_receives)
      .bind(what.dead_lettered_at);
}

void bind_published(sqlite::execution& use, const successor& what) {
  auto numbers = write_numbers<std::int64_t>(
    {what.id.queue.value, static_cast<std::int64_t>(what.id.seq.value),
     static_cast<std::int64_t>(what.id.tag),
     what.created_at.time_since_epoch().count(),
     what.eligible_at.time_since_epoch().count(), what.duplicate});
  use.bind_copy(numbers + name_mark + what.queue_name);
}

void bind_context(sqlite::execution& use, const job_context& context) {
  if (context->headers.empty())
    use.bind_null();
  else
    use.bind_copy(write_headers(context->headers));
  bind_text(use, context->traceparent);
  bind_text(use, context->tracestate);
}

void bind_entry(sqlite::execution& use, const history_entry& entry) {
  use.bind(entry.attempt)
    .bind(entry.delivery)
    .bind(entry.status)
    .bind(entry.error)
    .bind(entry.error_code)
    .bind(entry.http_status)
    .bind(entry.took)
    .bind(entry.response_excerpt)
    .bind(entry.retry_after)
    .bind(entry.at);
}

void bind_entry(sqlite::execution& use,
                const std::optional<history_entry>& entry) {
  if (entry)
    return bind_entry(use, *entry);
  for (auto column = 0; column < 10; ++column)
    use.bind_null();
}

} // namespace tidegate::job_row
