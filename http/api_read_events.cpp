// What is asked about events and metrics.

#include <algorithm>

#include "http/api_read.hpp"

namespace tidegate::http {

namespace {

std::string all_type_names() {
  std::string result;
  for (auto kind : all_event_kinds)
    result.append(result.empty() ? "" : ", ").append(to_string(kind));
  return result;
}

std::optional<event_kind> kind_named(std::string_view name) {
  auto i = std::find_if(all_event_kinds.begin(), all_event_kinds.end(),
                        [&](auto kind) { return name == to_string(kind); });
  return i == all_event_kinds.end() ? std::nullopt : std::optional{*i};
}

/// Reads names with commas between them.
std::vector<event_kind> read_kinds(query_reader& query) {
  std::vector<event_kind> result;
  auto text = query.find("types");
  if (!text)
    return result;
  for (auto rest = *text;;) {
    auto comma = std::min(rest.find(','), rest.size());
    auto kind = kind_named(rest.substr(0, comma));
    if (!kind) {
      query.complain("types", "a list, with commas, of " + all_type_names(),
                     *text);
      return result;
    }
    result.push_back(*kind);
    if (comma == rest.size())
      return result;
    rest.remove_prefix(comma + 1);
  }
}

std::string read_queue(query_reader& query) {
  auto name = query.find("queue");
  if (!name)
    return {};
  std::string result{*name};
  if (validate_queue_name(result))
    query.complain("queue", "the name of a queue", *name);
  return result;
}

/// The parameter is for clients that cannot set headers; the header is newer
/// where a browser has connected again.
std::optional<event_id> read_last_id(request& what, query_reader& query) {
  auto text = query.find("lastEventId");
  if (what.last_event_id)
    text = *what.last_event_id;
  if (!text || text->empty())
    return std::nullopt;
  auto result = parse_event_id(*text);
  if (!result)
    query.complain("lastEventId", "the id of an event", *text);
  return result;
}

} // namespace

outcome read_events(request& what, const api_options&) {
  query_reader query{what.route.query};
  events_call result;
  result.filter.queue = read_queue(query);
  result.filter.kinds = read_kinds(query);
  result.after = read_last_id(what, query);
  result.filter.whole_server = what.who.scopes.contains(scope::admin);
  result.filter.project = std::move(what.who.project);
  // Whoever sends nothing more has gone away.
  if (what.watch)
    what.watch->wanted = true;
  return finish(query, std::move(result));
}

outcome read_metrics(request& what, const api_options&) {
  metrics_call result;
  if (!what.who.scopes.contains(scope::admin))
    result.project = std::move(what.who.project);
  return result;
}

} // namespace tidegate::http
