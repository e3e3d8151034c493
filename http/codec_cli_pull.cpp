// What is shown of a pull queue.

#include <nlohmann/json.hpp>

#include "http/codec_cli.hpp"
#include "http/codec_cli_read.hpp"

namespace tidegate::http {

namespace {

using nlohmann::json;

/// Adds the members that `to` does not have yet, and notes them in `seen`.
void add_new_members(text_table& to, const json& object, json& seen,
                     wall_time now) {
  if (!object.is_object())
    return;
  for (const auto& [name, value] : object.items()) {
    if (value.is_null() || seen.contains(name))
      continue;
    seen[name] = true;
    auto at = time_of(value);
    to.add({name, at ? print_instant(*at, now) : cell_of(value)});
  }
}

/// Says what a subscription does: `open, 2 in flight, to http://a.example/`.
std::string webhook_cell(const json& subscription, wall_time now) {
  auto text = cell_of(member_of(subscription, "state"));
  if (auto at = time_of(member_of(subscription, "release_at")))
    text += " until " + print_instant(*at, now);
  return text + ", " + cell_of(member_of(subscription, "in_flight"))
         + " in flight, to " + cell_of(member_of(subscription, "url"));
}

} // namespace

result<std::string>
show_pull_queue(std::string_view queue, std::string_view stats,
                std::string_view subscription, wall_time now) {
  auto settings = read_object(queue);
  auto figures = read_object(stats);
  if (!settings || !figures)
    return settings ? figures.reason() : settings.reason();
  const auto& data = member_of(*settings, "data");
  if (!data.is_object())
    return not_tidegate();
  text_table table;
  json seen = {{"queue", true}, {"visibility_timeout", true}};
  for (const auto* name : {"name", "type"}) {
    table.add({name, cell_of(member_of(data, name))});
    seen[name] = true;
  }
  if (!subscription.empty()) {
    auto webhook = read_object(subscription);
    if (!webhook)
      return webhook.reason();
    table.add({"webhook", webhook_cell(member_of(*webhook, "data"), now)});
  }
  add_new_members(table, data, seen, now);
  add_new_members(table, member_of(*figures, "data"), seen, now);
  return table.print();
}

result<std::string> show_dry_redrive(std::string_view body, wall_time now) {
  auto plan = read_object(body);
  if (!plan)
    return plan.reason();
  const auto& data = member_of(*plan, "data");
  const auto& sample = member_of(data, "sample");
  if (!sample.is_array() || !member_of(data, "count").is_number())
    return not_tidegate();
  auto count = count_of(member_of(data, "count"));
  auto text = std::to_string(count) + " would be redriven\n";
  auto table = table_of(cli_list::dead_messages);
  std::string page = "{\"items\":";
  page += raw_member(raw_member(body, "data"), "sample");
  page += '}';
  auto added = add_page(cli_list::dead_messages, page, now, table);
  if (!added)
    return added.reason();
  if (added->items == 0)
    return text;
  if (added->items < count)
    text += "the first " + std::to_string(added->items) + " of them:\n";
  return text + table.print();
}

std::string read_operation_id(std::string_view body) {
  auto answer = read_object(body);
  if (!answer)
    return {};
  return text_of(member_of(member_of(*answer, "data"), "operation_id"));
}

} // namespace tidegate::http
