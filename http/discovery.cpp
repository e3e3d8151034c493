#include "http/discovery.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "http/iso8601.hpp"
#include "http/json_scan.hpp"
#include "http/json_writer.hpp"
#include "http/openapi.hpp"
#include "http/openapi_parts.hpp"
#include "http/problem_table.hpp"
#include "http/routes.hpp"

namespace tidegate::http {

namespace {

// -- the description of the API, taken apart ----------------------------------

/// Returns the member `name` of `object`, empty where there is none.
/// @pre `object` is a JSON object or empty
std::string_view member_of(std::string_view object, std::string_view name) {
  if (object.empty())
    return {};
  auto outline = scan_json(object, std::numeric_limits<unsigned>::max());
  for (const auto& part : std::get<json_outline>(outline).parts)
    if (part.key.substr(1, part.key.size() - 2) == name)
      return part.value;
  return {};
}

std::vector<json_part> parts_of(std::string_view text) {
  if (text.empty())
    return {};
  auto outline = scan_json(text, std::numeric_limits<unsigned>::max());
  return std::move(std::get<json_outline>(outline).parts);
}

/// The parts of the description that parameters come from.
struct description {
  std::string_view schemas;
  std::string_view parameters;
};

description take_apart() {
  auto components = member_of(openapi_document(), "components");
  return {member_of(components, "schemas"),
          member_of(components, "parameters")};
}

// -- parameters ---------------------------------------------------------------

void write_param(json_writer& out, std::string_view name, const char* where,
                 bool required, std::string_view schema) {
  out.begin_object()
    .member("name", name)
    .member("in", where)
    .member("required", required);
  out.key("schema").raw(schema);
  out.end_object();
}

/// Prints a parameter of path or query that the description has under `id`.
void write_described(json_writer& out, const description& from,
                     std::string_view id) {
  auto what = member_of(from.parameters, id);
  auto quoted = member_of(what, "name");
  auto in_path = member_of(what, "in") == R"("path")";
  write_param(out, quoted.substr(1, quoted.size() - 2),
              in_path ? "path" : "query", in_path, member_of(what, "schema"));
}

void write_fields(json_writer& out, const description& from,
                  std::string_view schema_name) {
  auto schema = member_of(from.schemas, schema_name);
  auto required = parts_of(member_of(schema, "required"));
  for (const auto& field : parts_of(member_of(schema, "properties"))) {
    auto is_required =
      std::any_of(required.begin(), required.end(),
                  [&](const json_part& x) { return x.value == field.key; });
    write_param(out, field.key.substr(1, field.key.size() - 2), "body",
                is_required, field.value);
  }
}

std::string params_of(const description& from, const route& line,
                      const route_doc& doc) {
  json_writer out;
  out.begin_array();
  for (auto path = line.path; path.find('{') != std::string_view::npos;) {
    path.remove_prefix(path.find('{') + 1);
    auto brace = path.substr(0, path.find('}'));
    write_described(out, from, parameter_in(line.path, brace));
  }
  for (auto words = doc.query; !words.empty();)
    write_described(out, from, take_word(words));
  if (!doc.request.empty())
    write_fields(out, from, doc.request);
  out.end_array();
  return out.take();
}

// -- errors -------------------------------------------------------------------

using told_error = std::pair<unsigned, std::string>;

std::vector<problem> problems_of(const route& line, const route_doc& doc) {
  std::vector<problem> result;
  auto add = [&](bool applies, std::initializer_list<problem> more) {
    if (applies)
      result.insert(result.end(), more);
  };
  auto messages = family_of(line.path) == api_family::messages;
  auto names = line.path.find('{') != std::string_view::npos;
  auto of_queue = line.path.starts_with("/v1/queues/{");
  auto of_job = line.path.starts_with("/v1/jobs/{");
  add(!doc.request.empty(), {problem::malformed_json});
  add(!line.open, {problem::validation_failed, problem::unauthenticated,
                   problem::forbidden});
  add(of_queue || (messages && (names || line.required == scope::work)),
      {problem::queue_not_found});
  add(of_job, {problem::job_not_found});
  add(messages && line.required == scope::work && !line.waits,
      {problem::message_not_found});
  add(names && !messages && !of_queue && !of_job, {problem::not_found});
  add(!doc.request.empty(), {problem::payload_too_large});
  add(!line.open && line.required == scope::publish, {problem::queue_full});
  add(!line.open, {problem::rate_limited});
  add(!line.open || line.operation == operation::readiness,
      {problem::overloaded, problem::draining, problem::storage_unavailable});
  return result;
}

std::string errors_of(const route& line, const route_doc& doc) {
  std::vector<told_error> told;
  auto messages = family_of(line.path) == api_family::messages;
  for (auto what : problems_of(line, doc)) {
    const auto& row = row_of(what);
    told.emplace_back(row.status, messages ? row.message_code : row.code);
  }
  for (auto words = doc.conflicts; !words.empty();)
    told.emplace_back(409, take_word(words));
  std::stable_sort(told.begin(), told.end(), [](const auto& x, const auto& y) {
    return x.first < y.first;
  });
  told.erase(std::unique(told.begin(), told.end()), told.end());
  json_writer out;
  out.begin_array();
  for (const auto& [status, code] : told)
    out.begin_object()
      .member("status", std::uint32_t{status})
      .member("code", code)
      .member("retryable", status == 429 || status == 503)
      .end_object();
  out.end_array();
  return out.take();
}

// -- examples -----------------------------------------------------------------

void example_member(json_writer& out, std::string_view name,
                    std::string_view text) {
  out.key(name);
  if (text.empty())
    out.null();
  else
    out.raw(compact(text));
}

std::string example_of(const route& line, const route_doc& doc) {
  json_writer out;
  out.begin_object().member("method", line.method).member("path", line.path);
  example_member(out, "body", doc.request_example);
  example_member(out, "response", doc.response_example);
  out.end_object();
  return out.take();
}

// -- capabilities -------------------------------------------------------------

/// What is said of a route that does not depend on the server's settings.
struct capability {
  const http::route* route = nullptr;
  std::string params;
  std::string errors;
  std::string example;
};

const std::vector<capability>& capabilities() {
  static const auto result = [] {
    std::vector<capability> made;
    auto from = take_apart();
    for (const auto& line : routes()) {
      const auto& doc = doc_of(line.operation);
      made.push_back({&line, params_of(from, line, doc), errors_of(line, doc),
                      example_of(line, doc)});
    }
    return made;
  }();
  return result;
}

bool is_idempotent(const route& line) {
  return line.method != "POST" || line.repeatable;
}

void write_members(json_writer& out, const route& line,
                   const api_options& options) {
  auto billable = !line.open && line.required == scope::publish;
  auto price = billable ? options.publish_price : 0;
  out.member("id", line.capability)
    .member("method", line.method)
    .member("path", line.path)
    .member("summary", line.summary)
    .member("available", true)
    .member("idempotent", is_idempotent(line));
  out.key("scope");
  if (line.open)
    out.null();
  else
    out.value(to_string(line.required));
  out.key("billing")
    .begin_object()
    .member("is_billable", billable)
    .member("free", price <= 0)
    .member("unit", "per_request")
    .member("price_usd", price)
    .member("currency", "USD")
    .end_object();
}

} // namespace

std::string discovery_document(const api_options& options) {
  json_writer out;
  out.reserve(32 * 1024);
  out.begin_object()
    .member("version", "v1")
    .member("generated_at", to_iso8601(options.now()))
    .key("capabilities")
    .begin_array();
  for (const auto& line : routes()) {
    out.begin_object();
    write_members(out, line, options);
    out.end_object();
  }
  out.end_array().end_object();
  return out.take();
}

std::string describe_capability(std::string_view id,
                                const api_options& options) {
  const auto& all = capabilities();
  auto found = std::find_if(all.begin(), all.end(), [id](const capability& x) {
    return x.route->capability == id;
  });
  if (found == all.end())
    return {};
  json_writer out;
  out.begin_object();
  write_members(out, *found->route, options);
  out.key("params").raw(found->params);
  out.key("errors").raw(found->errors);
  out.key("example").raw(found->example);
  out.end_object();
  return out.take();
}

} // namespace tidegate::http
