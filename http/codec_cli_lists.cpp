// Lists as tables.

#include <algorithm>

#include <nlohmann/json.hpp>

#include "http/codec_cli.hpp"
#include "http/codec_cli_read.hpp"

namespace tidegate::http {

namespace {

using nlohmann::json;
using cells = std::vector<std::string>;

constexpr std::size_t key_width = 24;
constexpr std::size_t payload_width = 40;

cells queue_cells(const json& queue, wall_time now) {
  const auto& counts = member_of(queue, "counts");
  auto paused = member_of(queue, "paused") == true;
  const auto& oldest = member_of(queue, "oldestAgeSeconds");
  auto age = oldest.is_number()
               ? print_span(std::chrono::duration_cast<duration>(
                 std::chrono::duration<double>{oldest.get<double>()}))
               : "-";
  return {cell_of(member_of(queue, "name")),
          paused ? "paused" : gate_cell(member_of(queue, "gate"), now),
          cell_of(member_of(counts, "pending")),
          cell_of(member_of(counts, "processing")),
          cell_of(member_of(counts, "awaitingAck")),
          cell_of(member_of(counts, "dead")),
          cell_of(member_of(counts, "completed")),
          age};
}

/// Says what a job waits for first, or what it died of.
std::string wait_cell(const json& job, wall_time now) {
  auto died_of = text_of(member_of(job, "deadReason"));
  if (!died_of.empty())
    return died_of;
  const auto& gates = member_of(job, "blockedBy");
  if (!gates.is_array() || gates.empty())
    return "-";
  const auto& first = gates.front();
  auto text = cell_of(member_of(first, "gate"));
  if (auto until = time_of(member_of(first, "until")))
    text += " (" + print_span(*until - now) + ')';
  if (gates.size() > 1)
    text += " +" + std::to_string(gates.size() - 1);
  return text;
}

std::string key_cell(const json& job) {
  return printable(cell_of(member_of(job, "limitKey")), key_width);
}

cells job_cells(const json& job, wall_time now) {
  return {cell_of(member_of(job, "id")),
          cell_of(member_of(job, "status")),
          cell_of(member_of(job, "attempts")),
          cell_of(member_of(job, "deferCount")),
          age_cell(member_of(job, "createdAt"), now),
          key_cell(job),
          wait_cell(job, now)};
}

cells dead_letter_cells(const json& job, wall_time now) {
  return {cell_of(member_of(job, "id")),
          cell_of(member_of(job, "deadReason")),
          cell_of(member_of(job, "attempts")),
          cell_of(member_of(job, "deferCount")),
          cell_of(member_of(job, "replayCount")),
          age_cell(member_of(job, "deadAt"), now),
          key_cell(job)};
}

cells operation_cells(const json& operation, wall_time now) {
  return {cell_of(member_of(operation, "id")),
          cell_of(member_of(operation, "kind")),
          cell_of(member_of(operation, "queue")),
          cell_of(member_of(operation, "state")),
          cell_of(member_of(operation, "done")),
          cell_of(member_of(operation, "total")),
          age_cell(member_of(operation, "startedAt"), now)};
}

cells pull_queue_cells(const json& queue, wall_time now) {
  return {cell_of(member_of(queue, "name")),
          cell_of(member_of(queue, "type")),
          cell_of(member_of(queue, "available")),
          cell_of(member_of(queue, "delayed")),
          cell_of(member_of(queue, "in_flight")),
          cell_of(member_of(queue, "dlq_count")),
          age_cell(member_of(queue, "created_at"), now)};
}

std::string payload_cell(std::string_view message) {
  std::string text{raw_member(message, "payload")};
  std::replace(text.begin(), text.end(), '\n', ' ');
  return printable(text, payload_width);
}

cells message_cells(const json& message, std::string_view raw, wall_time now) {
  return {cell_of(member_of(message, "message_id")),
          cell_of(member_of(message, "status")),
          cell_of(member_of(message, "delivery_count")),
          cell_of(member_of(message, "priority")),
          age_cell(member_of(message, "published_at"), now),
          payload_cell(raw)};
}

cells dead_message_cells(const json& message, std::string_view raw,
                         wall_time now) {
  const auto& letter = member_of(message, "dead_letter");
  return {cell_of(member_of(message, "message_id")),
          cell_of(member_of(letter, "reason")),
          cell_of(member_of(letter, "delivery_count")),
          cell_of(member_of(message, "redrive_count")),
          age_cell(member_of(letter, "dead_lettered_at"), now),
          payload_cell(raw)};
}

cells cells_of(cli_list what, const json& item, std::string_view raw,
               wall_time now) {
  switch (what) {
    case cli_list::queues:
      return queue_cells(item, now);
    case cli_list::jobs:
      return job_cells(item, now);
    case cli_list::dead_letters:
      return dead_letter_cells(item, now);
    case cli_list::pull_queues:
      return pull_queue_cells(item, now);
    case cli_list::messages:
      return message_cells(item, raw, now);
    case cli_list::dead_messages:
      return dead_message_cells(item, raw, now);
    case cli_list::operations:
      break;
  }
  return operation_cells(item, now);
}

} // namespace

text_table table_of(cli_list what) {
  switch (what) {
    case cli_list::queues:
      return text_table{{"NAME", "STATE", "PENDING", "PROCESSING",
                         "AWAITING ACK", "DEAD", "COMPLETED", "OLDEST"}};
    case cli_list::jobs:
      return text_table{{"ID", "STATUS", "ATTEMPTS", "DEFERS", "AGE",
                         "LIMIT KEY", "WAITS FOR"}};
    case cli_list::dead_letters:
      return text_table{{"ID", "DIED OF", "ATTEMPTS", "DEFERS", "REPLAYS",
                         "DEAD FOR", "LIMIT KEY"}};
    case cli_list::pull_queues:
      return text_table{
        {"NAME", "TYPE", "AVAILABLE", "DELAYED", "IN FLIGHT", "DEAD", "AGE"}};
    case cli_list::messages:
      return text_table{
        {"ID", "STATUS", "DELIVERIES", "PRIORITY", "AGE", "PAYLOAD"}};
    case cli_list::dead_messages:
      return text_table{
        {"ID", "DIED OF", "DELIVERIES", "REDRIVES", "DEAD FOR", "PAYLOAD"}};
    case cli_list::operations:
      break;
  }
  return text_table{
    {"ID", "KIND", "QUEUE", "STATE", "DONE", "TOTAL", "STARTED"}};
}

result<cli_page> add_page(cli_list what, std::string_view body, wall_time now,
                          text_table& to) {
  auto page = read_object(body);
  if (!page)
    return page.reason();
  // Those of pull queues come in an envelope.
  const auto& data = member_of(*page, "data");
  const auto& content = data.is_object() ? data : *page;
  const auto& items = member_of(content, "items");
  if (!items.is_array())
    return not_tidegate();
  auto envelope = data.is_object() ? raw_member(body, "data") : body;
  auto raw = raw_elements(raw_member(envelope, "items"));
  for (std::size_t i = 0; i < items.size(); ++i)
    to.add(cells_of(what, items[i], i < raw.size() ? raw[i] : "", now));
  auto next = text_of(member_of(content, "nextCursor"));
  if (next.empty())
    next = text_of(member_of(content, "next_cursor"));
  return cli_page{items.size(), std::move(next)};
}

} // namespace tidegate::http
