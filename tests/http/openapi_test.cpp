// The description of the API against what the API does.

#include "http/openapi.hpp"

#include <regex>
#include <set>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "http/api.hpp"
#include "http/codec.hpp"
#include "http/codec_pull.hpp"

using namespace tidegate;
using namespace tidegate::http;
using nlohmann::json;

namespace {

const json& document() {
  static const auto result = json::parse(openapi_document());
  return result;
}

json at(const std::string& reference) {
  REQUIRE(reference.starts_with("#/"));
  return document().at(json::json_pointer{reference.substr(1)});
}

json lower(std::string text) {
  for (auto& c : text)
    c = static_cast<char>(std::tolower(c));
  return text;
}

const json& operation_of(const route& line) {
  return document()
    .at("paths")
    .at(std::string{line.path})
    .at(lower(std::string{line.method}).get<std::string>());
}

// -- a small validator
// ---------------------------------------------------------

bool fits(const json& schema, const json& value);

bool has_type(const std::string& type, const json& value) {
  if (type == "integer")
    return value.is_number_integer();
  return type == "number"
           ? value.is_number()
           : type == (value.is_null() ? "null" : value.type_name());
}

bool fits_type(const json& type, const json& value) {
  if (type.is_string())
    return has_type(type, value);
  return std::any_of(type.begin(), type.end(),
                     [&](const json& x) { return has_type(x, value); });
}

bool fits_members(const json& schema, const json& value) {
  if (!value.is_object())
    return true;
  auto known = schema.value("properties", json::object());
  for (const auto& name : schema.value("required", json::array()))
    if (!value.contains(name.get<std::string>()))
      return false;
  for (const auto& [name, member] : value.items()) {
    if (known.contains(name) && !fits(known[name], member))
      return false;
    if (!known.contains(name) && schema.contains("additionalProperties")) {
      const auto& others = schema["additionalProperties"];
      if (others.is_boolean() ? !others.get<bool>() : !fits(others, member))
        return false;
    }
  }
  return true;
}

bool fits_bounds(const json& schema, const json& value) {
  if (value.is_number()
      && (value < schema.value("minimum", json(-1e300))
          || value > schema.value("maximum", json(1e300))))
    return false;
  if (value.is_string() && schema.contains("pattern")
      && !std::regex_search(value.get<std::string>(),
                            std::regex{schema["pattern"].get<std::string>()}))
    return false;
  if (value.is_array() && value.size() < schema.value("minItems", 0u))
    return false;
  return true;
}

auto count_fitting(const json& schemas, const json& value) {
  return std::count_if(schemas.begin(), schemas.end(),
                       [&](const json& x) { return fits(x, value); });
}

bool fits(const json& schema, const json& value) {
  if (schema.contains("$ref"))
    return fits(at(schema["$ref"]), value);
  if (schema.contains("type") && !fits_type(schema["type"], value))
    return false;
  if (schema.contains("const") && schema["const"] != value)
    return false;
  if (schema.contains("enum")
      && std::find(schema["enum"].begin(), schema["enum"].end(), value)
           == schema["enum"].end())
    return false;
  if (schema.contains("oneOf") && count_fitting(schema["oneOf"], value) != 1)
    return false;
  if (schema.contains("allOf")
      && count_fitting(schema["allOf"], value)
           != static_cast<std::ptrdiff_t>(schema["allOf"].size()))
    return false;
  if (value.is_array() && schema.contains("items"))
    for (const auto& item : value)
      if (!fits(schema["items"], item))
        return false;
  return fits_members(schema, value) && fits_bounds(schema, value);
}

bool fits(const std::string& schema, const std::string& text) {
  return fits(at("#/components/schemas/" + schema), json::parse(text));
}

void visit_references(const json& what,
                      const std::function<void(const std::string&)>& f) {
  if (what.is_object() && what.contains("$ref"))
    f(what["$ref"]);
  if (what.is_structured())
    for (const auto& member : what)
      visit_references(member, f);
}

const json& content_of(const json& what) {
  return *what.at("content").begin();
}

/// Whether an answer needs nobody but the API.
bool is_answered_at_once(const route& line) {
  return line.operation == operation::openapi
         || line.operation == operation::dashboard
         || line.operation == operation::dashboard_file
         || line.operation == operation::discover
         || line.operation == operation::discover_one;
}

/// Lets a request in and reads it, as the server would.
std::variant<call, response> read(const route& line, std::string body) {
  std::string path{line.path};
  auto put = [&](const std::string& name, const std::string& value) {
    if (auto open = path.find("{" + name + "}"); open != std::string::npos)
      path.replace(open, name.size() + 2, value);
  };
  put("name", at("#/components/parameters/name")["example"]);
  put("key", at("#/components/parameters/key")["example"]);
  put("file", at("#/components/parameters/file")["example"]);
  put("queue", at("#/components/parameters/queue")["example"]);
  auto kind = path.starts_with("/v1/jobs")        ? "jobId"
              : path.starts_with("/v1/keys")      ? "keyId"
              : path.starts_with("/v1/discovery") ? "capabilityId"
                                                  : "operationId";
  put("id", at("#/components/parameters/" + std::string{kind})["example"]);
  auto match = std::get<route_match>(find_route(line.method, path));
  request what{
    std::move(match), {{}, "acme", scope_set::all()}, {}, std::move(body), "id",
    nullptr};
  return read_call(what, {});
}

} // namespace

TEST_CASE("the description has every route with what it needs") {
  std::size_t described = 0;
  for (const auto& [path, methods] : document()["paths"].items())
    described += methods.size();
  CHECK(described == routes().size());
  std::set<std::string> ids;
  for (const auto& line : routes()) {
    const auto& what = operation_of(line);
    CAPTURE(line.method, line.path);
    CHECK(ids.insert(what["operationId"]).second);
    CHECK(what["summary"] == std::string{line.summary});
    CHECK(what["security"].empty() == line.open);
    if (!line.open) {
      CHECK(what["x-required-scope"] == to_string(line.required));
      CHECK(what["security"][0]["apiKey"][0] == to_string(line.required));
    }
    std::set<std::string> in_path;
    for (const auto& parameter : what["parameters"]) {
      auto resolved = at(parameter["$ref"]);
      if (resolved["in"] == "path")
        in_path.insert("{" + resolved["name"].get<std::string>() + "}");
    }
    for (const auto& name : in_path)
      CHECK(line.path.find(name) != std::string_view::npos);
    CHECK(in_path.size()
          == static_cast<std::size_t>(
            std::count(line.path.begin(), line.path.end(), '{')));
  }
}

TEST_CASE("every reference of the description leads somewhere") {
  visit_references(document(), [](const std::string& reference) {
    CHECK_NOTHROW(at(reference));
  });
}

TEST_CASE("every schema and every parameter is used") {
  std::set<std::string> used;
  visit_references(document(), [&](const std::string& x) { used.insert(x); });
  for (std::string kind : {"schemas", "parameters", "responses"})
    for (const auto& [name, what] : document()["components"][kind].items())
      CHECK(used.contains("#/components/" + kind + "/" + name));
}

TEST_CASE("every example fits its schema, and requests are taken") {
  for (const auto& line : routes()) {
    CAPTURE(line.method, line.path);
    const auto& what = operation_of(line);
    std::string body;
    if (what.contains("requestBody")) {
      const auto& content = content_of(what["requestBody"]);
      CHECK(fits(content["schema"], content["example"]));
      body = content["example"].dump();
    }
    CHECK(std::holds_alternative<call>(read(line, body))
          == !is_answered_at_once(line));
    for (const auto& [status, answer] : what["responses"].items())
      if (status.starts_with("2") && answer.contains("content")) {
        const auto& content = content_of(answer);
        CHECK(fits(content["schema"], content["example"]));
      }
  }
}

TEST_CASE("a body is described as optional exactly where it is") {
  for (const auto& line : routes()) {
    CAPTURE(line.method, line.path);
    const auto& what = operation_of(line);
    auto taken = std::holds_alternative<call>(read(line, {}))
                 || is_answered_at_once(line);
    CHECK(taken
          == (!what.contains("requestBody")
              || what["requestBody"]["required"] == false));
  }
}

TEST_CASE("the parameters of a query are those that are read") {
  auto has = [](const json& what, const std::string& name) {
    return std::any_of(
      what["parameters"].begin(), what["parameters"].end(), [&](const json& x) {
        auto parameter = at(x["$ref"]);
        return parameter["in"] == "query" && parameter["name"] == name;
      });
  };
  for (const auto& line : routes()) {
    if (line.open || line.method == "POST" || line.method == "PUT"
        || line.method == "PATCH")
      continue;
    CAPTURE(line.method, line.path);
    for (const auto& [id, parameter] :
         document()["components"]["parameters"].items()) {
      if (parameter["in"] != "query")
        continue;
      auto name = parameter["name"].get<std::string>();
      // A wrong value is told from a name that is not known.
      std::string path{line.path};
      auto match =
        std::get<route_match>(find_route(line.method, path + "?" + name + "="));
      match.param =
        path.starts_with("/v1/jobs")
          ? at("#/components/parameters/jobId")["example"].get<std::string>()
          : "q";
      request what{std::move(match), {}, {}, {}, "id", nullptr};
      auto verdict = read_call(what, {});
      auto refusal = std::get_if<response>(&verdict);
      auto known = !refusal
                   || refusal->body.find("is not a known parameter")
                        == std::string::npos;
      // An operation or key of that name is looked for after the query.
      CHECK(known == has(operation_of(line), name));
    }
  }
}

TEST_CASE("the ranges of the description are those that are checked") {
  auto accepts = [](const std::string& name, const json& value) {
    json body{{name, value}};
    return std::holds_alternative<queue_settings_patch>(
      decode_settings_patch(body.dump(), {}));
  };
  std::size_t ranges = 0;
  auto settings = at("#/components/schemas/QueuePatch/properties");
  for (const auto& [name, schema] : settings.items()) {
    if (!schema.contains("minimum"))
      continue;
    ++ranges;
    CAPTURE(name);
    auto whole = schema["minimum"].is_number_integer();
    CHECK(accepts(name, schema["minimum"]));
    CHECK(accepts(name, schema["maximum"]));
    CHECK_FALSE(accepts(name, whole ? json(schema["minimum"].get<int>() - 1)
                                    : json(0.09)));
    CHECK_FALSE(accepts(name, schema["maximum"].get<std::uint64_t>() + 1));
    auto nullable = schema["type"].is_array();
    CHECK(accepts(name, nullptr) == nullable);
  }
  CHECK(ranges == 14);
}

TEST_CASE("the defaults of the description are those that are set") {
  auto settings = std::get<queue_settings>(
    decode_settings(R"({"webhookUrl":"https://a.example/"})", {}));
  queue_view view;
  view.queue.settings = settings;
  auto shown = json::parse(encode(view));
  auto described = at("#/components/schemas/QueuePatch/properties");
  for (const auto& [name, schema] : described.items())
    if (schema.contains("default"))
      CHECK(shown[name] == schema["default"]);
}

TEST_CASE("what is printed fits its schema and has no member beside it") {
  queue_view queue;
  queue.queue.name = "q";
  queue.queue.settings.webhook_url = "https://a.example/";
  queue.queue.gate.last = last_probe{};
  queue.blocked = {{}};
  job_view job;
  job.record.job.payload = payload{"1"};
  job.record.history = {{}};
  job.record.history[0].status = delivery_status::replayed;
  limit_key_view key;
  api_key_record record;
  record.scopes = scope_set::all().bits();
  CHECK(fits("Queue", encode(queue, true)));
  CHECK(fits("Job", encode(job)));
  CHECK(fits("JobList", encode(job_list{{job}, {}}, true, "c")));
  CHECK(fits("LimitKey", encode(key)));
  CHECK(fits("Operation", encode(operation_record{})));
  CHECK(fits("NewKey", encode(record, "sq_live_x")));
  CHECK(fits("Published", encode(publish_result{})));
  CHECK(fits("Accepted", encode(report_taken{})));
  CHECK(fits("Count", encode(jobs_removed{})));
  CHECK(fits("Usage", encode(usage_list{{{}}}, usage_by::day, 0, 1)));
  auto known = at("#/components/schemas/Queue")["properties"];
  auto shown = json::parse(encode(queue, true));
  for (const auto& [name, value] : shown.items())
    CHECK(known.contains(name));
  known = at("#/components/schemas/JobItem")["properties"];
  known.update(at("#/components/schemas/Job")["allOf"][1]["properties"]);
  shown = json::parse(encode(job));
  for (const auto& [name, value] : shown.items())
    CHECK(known.contains(name));
}

TEST_CASE("the ranges of pull queues are those that are checked") {
  struct row {
    const char* schema;
    json rest;
    std::function<bool(const std::string&)> takes;
  };
  auto id = to_string(message_id{job_seq{1}, 2});
  std::size_t ranges = 0;
  for (const auto& [name, rest, takes] :
       {row{"PullQueuePatch", json::object(),
            [](const std::string& x) {
              return decode_pull_patch(x, "q").index() == 0;
            }},
        row{"PublishMessage",
            {{"queue", "q"}, {"payload", 1}},
            [](const std::string& x) {
              return decode_publish_message(x).index() == 0;
            }},
        row{"Consume",
            {{"queue", "q"}},
            [](const std::string& x) {
              return decode_consume(x).index() == 0;
            }},
        row{"NackMessage",
            {{"queue", "q"}, {"message_id", id}},
            [](const std::string& x) {
              return decode_settle(x, settle_message::kind::nack).index() == 0;
            }},
        row{"ExtendMessage",
            {{"queue", "q"}, {"message_id", id}},
            [](const std::string& x) {
              return decode_settle(x, settle_message::kind::extend).index()
                     == 0;
            }},
        row{"Redrive", json::object(), [](const std::string& x) {
              return decode_redrive(x).index() == 0;
            }}}) {
    auto members =
      at("#/components/schemas/" + std::string{name})["properties"];
    for (const auto& [field, schema] : members.items()) {
      if (!schema.contains("minimum"))
        continue;
      ++ranges;
      CAPTURE(name, field);
      auto with = [&](json value) {
        auto body = rest;
        body[field] = std::move(value);
        return body.dump();
      };
      CHECK(takes(with(schema["minimum"])));
      CHECK(takes(with(schema["maximum"])));
      CHECK_FALSE(takes(with(schema["minimum"].get<int>() - 1)));
      CHECK_FALSE(takes(with(schema["maximum"].get<int>() + 1)));
      CHECK_FALSE(takes(with(nullptr)));
    }
  }
  CHECK(ranges == 14);
}

TEST_CASE("the defaults of pull queues are those that are set") {
  auto made =
    std::get<create_pull_queue>(decode_create_pull_queue(R"({"name":"q"})"));
  pull_queue_view view;
  view.queue.name = made.name;
  view.queue.pull = made.settings;
  auto shown = json::parse(encode(view));
  auto described = at("#/components/schemas/PullQueuePatch/properties");
  for (const auto& [name, schema] : described.items())
    if (schema.contains("default"))
      CHECK(shown[name] == schema["default"]);
}

TEST_CASE("what is printed of pull queues has no member beside its schema") {
  message_view message;
  message.job.payload = payload{"1"};
  message.job.source_queue = "q";
  message.handle = receipt{1, 2};
  message_settled settled;
  settled.duplicate = true;
  settled.visible_at = wall_time{duration{1}};
  settled.successor = message_published{};
  message_published published;
  published.duplicate = true;
  for (const auto& [name, text] :
       {std::pair<std::string, std::string>{"PullQueue",
                                            encode(pull_queue_view{})},
        {"PullStats", encode_stats({})},
        {"Message", encode(message)},
        {"PublishedMessage", encode(published, "q")},
        {"SettledMessage", encode(settled, settle_message::kind::extend)}}) {
    CAPTURE(name);
    CHECK(fits(name, text));
    auto known = at("#/components/schemas/" + name)["properties"];
    auto printed = json::parse(text);
    for (const auto& [member, value] : printed.items())
      CHECK(known.contains(member));
  }
  CHECK(fits("MessageList", encode(messages_received{{message}})));
  redrive_result begun;
  begun.operation = operation_record{};
  CHECK(fits("Redriven", encode(begun, false)));
  CHECK(fits("Redriven", encode(redrive_result{}, false)));
  CHECK(fits("Redriven", encode(redrive_result{}, true)));
}

TEST_CASE("answers of pull queues stand in their envelope") {
  for (const auto& line : routes()) {
    if (family_of(line.path) != api_family::messages)
      continue;
    CAPTURE(line.path);
    const auto& answers = operation_of(line)["responses"];
    for (const auto& [status, answer] : answers.items()) {
      if (status.starts_with("2") && status != "204")
        CHECK(content_of(answer)["schema"]["properties"].contains("metadata"));
      if (status.starts_with("4") && status != "409")
        CHECK(answer["$ref"] == "#/components/responses/Refused");
    }
  }
}
