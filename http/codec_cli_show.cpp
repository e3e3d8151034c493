// One queue, job or operation, a member a line.

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "http/codec_cli.hpp"
#include "http/codec_cli_read.hpp"

namespace tidegate::http {

namespace {

using nlohmann::json;

constexpr std::size_t error_width = 60;

/// Members that have a place of their own.
bool has_own_place(const std::string& name) {
  static constexpr std::array names = {"gate",    "blockedBy", "counts",
                                       "history", "payload",   "headers"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string value_cell(const json& value, wall_time now) {
  if (auto at = time_of(value))
    return print_instant(*at, now);
  return cell_of(value);
}

void add_members(text_table& to, const json& object, wall_time now) {
  for (const auto& [name, value] : object.items())
    if (!has_own_place(name) && !value.is_null())
      to.add({name, value_cell(value, now)});
}

std::string counts_cell(const json& counts) {
  std::string text;
  if (counts.is_object())
    for (const auto& [name, count] : counts.items())
      text += (text.empty() ? "" : ", ") + name + ' ' + cell_of(count);
  return text.empty() ? "-" : text;
}

std::string blocked_cell(const json& blocked, wall_time now) {
  auto text = cell_of(member_of(blocked, "gate"));
  if (auto until = time_of(member_of(blocked, "until")))
    text += " until " + print_instant(*until, now);
  return text + ": " + cell_of(member_of(blocked, "reason"));
}

void add_blocked(text_table& to, const json& object, wall_time now) {
  const auto& gates = member_of(object, "blockedBy");
  if (gates.is_array())
    for (const auto& blocked : gates)
      to.add({"blockedBy", blocked_cell(blocked, now)});
}

void add_headers(text_table& to, const json& object) {
  const auto& headers = member_of(object, "headers");
  if (headers.is_object())
    for (const auto& [name, value] : headers.items())
      to.add({"header", name + ": " + text_of(value)});
}

std::string probe_cell(const json& probe, wall_time now) {
  auto at = time_of(member_of(probe, "at"));
  return cell_of(member_of(probe, "verdict")) + ", job "
         + cell_of(member_of(probe, "job"))
         + (at ? ", " + print_instant(*at, now) : "");
}

std::string history_table(const json& history, wall_time now) {
  text_table table{
    {"WHEN", "DELIVERY", "ATTEMPT", "WHAT", "STATUS", "TOOK", "ERROR"}};
  for (const auto& entry : history) {
    const auto& took = member_of(entry, "durationMs");
    auto error = text_of(member_of(entry, "error"));
    if (error.empty())
      error = cell_of(member_of(entry, "responseExcerpt"));
    table.add({value_cell(member_of(entry, "timestamp"), now),
               cell_of(member_of(entry, "delivery")),
               cell_of(member_of(entry, "attempt")),
               cell_of(member_of(entry, "status")),
               cell_of(member_of(entry, "webhookStatusCode")),
               took.is_number() ? print_span(
                 duration{static_cast<std::int64_t>(took.get<double>() * 1000)})
                                : "-",
               printable(error, error_width)});
  }
  return table.rows() == 0 ? "" : "\nhistory\n" + table.print();
}

/// Returns the payload as it was published: nobody's numbers are rounded.
std::string payload_of(std::string_view body) {
  std::string text{raw_member(body, "payload")};
  if (text.empty())
    return {};
  std::replace(text.begin(), text.end(), '\n', ' ');
  return "\npayload\n" + printable(text) + '\n';
}

} // namespace

result<std::string> show_queue(std::string_view body, wall_time now) {
  auto queue = read_object(body);
  if (!queue)
    return queue.reason();
  text_table table;
  const auto& gate = member_of(*queue, "gate");
  table.add({"name", cell_of(member_of(*queue, "name"))});
  table.add({"gate", gate_cell(gate, now)});
  add_blocked(table, *queue, now);
  if (const auto& probe = member_of(gate, "lastProbe"); probe.is_object())
    table.add({"lastProbe", probe_cell(probe, now)});
  table.add({"counts", counts_cell(member_of(*queue, "counts"))});
  queue->erase("name");
  add_members(table, *queue, now);
  add_headers(table, *queue);
  return table.print();
}

result<std::string> show_job(std::string_view body, wall_time now) {
  auto job = read_object(body);
  if (!job)
    return job.reason();
  text_table table;
  for (const auto* name : {"id", "queue", "status"}) {
    table.add({name, cell_of(member_of(*job, name))});
    job->erase(name);
  }
  add_blocked(table, *job, now);
  add_members(table, *job, now);
  add_headers(table, *job);
  return table.print() + history_table(member_of(*job, "history"), now)
         + payload_of(body);
}

result<std::string> show_operation(std::string_view body, wall_time now) {
  auto operation = read_object(body);
  if (!operation)
    return operation.reason();
  text_table table;
  add_members(table, *operation, now);
  return table.print();
}

result<std::string> show_dry_run(std::string_view body, wall_time now) {
  auto plan = read_object(body);
  if (!plan)
    return plan.reason();
  const auto& sample = member_of(*plan, "sample");
  if (!sample.is_array() || !member_of(*plan, "count").is_number())
    return not_tidegate();
  auto count = count_of(member_of(*plan, "count"));
  auto text = std::to_string(count) + " would be replayed\n";
  auto table = table_of(cli_list::dead_letters);
  auto added = add_page(cli_list::dead_letters,
                        json{{"items", sample}, {"nextCursor", nullptr}}.dump(),
                        now, table);
  if (!added)
    return added.reason();
  if (added->items == 0)
    return text;
  if (added->items < count)
    text += "the first " + std::to_string(added->items) + " of them:\n";
  return text + table.print();
}

} // namespace tidegate::http
