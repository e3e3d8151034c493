#include "http/openapi.hpp"

#include <string_view>

#include "http/openapi_parts.hpp"

namespace tidegate::http {

namespace {

constexpr std::string_view head = R"json({"openapi": "3.1.0",
"info": {"title": "Tidegate", "version": ")json" TIDEGATE_VERSION R"json(",
"description": "A durable job queue. Times are ISO 8601, durations seconds.",
"license": {"name": "Apache-2.0", "identifier": "Apache-2.0"}},
"servers": [{"url": "/"}],
"tags": [
{"name": "Queues", "description": "Push queues and their gates"},
{"name": "Jobs", "description": "Publishing, listing and changing jobs"},
{"name": "Callbacks", "description": "What workers report in ack mode"},
{"name": "Limit keys", "description": "Gates inside of a queue"},
{"name": "Dead letters", "description": "Jobs that were given up on"},
{"name": "Pull queues", "description": "Queues that workers receive from"},
{"name": "Messages", "description":
"Publishing, receiving and settling messages"},
{"name": "Operations", "description": "What runs for a while"},
{"name": "API keys", "description": "Who may call"},
{"name": "Usage", "description": "What a project has done"},
{"name": "Server", "description": "Open to everybody"}])json";

constexpr std::string_view tail = R"json(,
"securitySchemes": {"apiKey": {"type": "http", "scheme": "bearer",
"description": "A key with the scope that the operation names"}},
"responses": {
"BadRequest": {"description": "The request is not valid",
"content": {"application/json": {"schema": {"oneOf": [
{"$ref": "#/components/schemas/ValidationError"},
{"$ref": "#/components/schemas/Error"}]}, "example": {"error":
{"formErrors": [], "fieldErrors":
{"delay": ["must be 0 to 2592000, got 90000000"]}},
"code": "validation_failed"}}}},
"Unauthenticated": {"description": "No valid API key",
"content": {"application/json": {"schema":
{"$ref": "#/components/schemas/Error"}}}},
"Forbidden": {"description": "The API key lacks the scope",
"content": {"application/json": {"schema":
{"$ref": "#/components/schemas/Error"}}}},
"NotFound": {"description": "There is no such thing in this project",
"content": {"application/json": {"schema":
{"$ref": "#/components/schemas/Error"}}}},
"TooLarge": {"description": "The body is too large",
"content": {"application/json": {"schema":
{"$ref": "#/components/schemas/Error"}}}},
"TooMany": {"description":
"rate_limited: too many requests a second; queue_full: too many live jobs",
"headers": {"retry-after": {"schema": {"type": "integer"}}},
"content": {"application/json": {"schema":
{"$ref": "#/components/schemas/Error"}}}},
"Refused": {"description": "error.code says why",
"content": {"application/json": {"schema":
{"$ref": "#/components/schemas/MessageError"}, "example": {"ok": false,
"error": {"code": "INVALID_ARGUMENT", "message":
"delay_seconds must be a whole number from 0 to 604800, got -1", "details":
{"fieldErrors": {"delay_seconds":
["must be a whole number from 0 to 604800, got -1"]}}}, "metadata":
{"request_id": "0123456789abcdef", "latency_ms": 0.052}}}}},
"Unavailable": {"description": "overloaded, draining or storage_unavailable",
"headers": {"retry-after": {"schema": {"type": "integer"}}},
"content": {"application/json": {"schema":
{"$ref": "#/components/schemas/Error"}}}}}}})json";

void add_all(std::string& out, std::initializer_list<std::string_view> texts) {
  for (auto text : texts)
    out += text;
}

void add_parameter(std::string& out, std::string_view name) {
  if (out.back() != '[')
    out += ',';
  add_all(out, {R"({"$ref":"#/components/parameters/)", name, "\"}"});
}

void add_parameters(std::string& out, const route& line, const route_doc& doc) {
  out += R"("parameters":[)";
  for (auto path = line.path; path.find('{') != std::string_view::npos;) {
    path.remove_prefix(path.find('{') + 1);
    add_parameter(out, parameter_in(line.path, path.substr(0, path.find('}'))));
  }
  for (auto words = doc.query; !words.empty();)
    add_parameter(out, take_word(words));
  out += ']';
}

void add_content(std::string& out, std::string_view schema,
                 std::string_view example,
                 std::string_view media_type = "application/json") {
  add_all(out, {R"("content":{")", media_type, R"(":{"schema":)",
                R"({"$ref":"#/components/schemas/)", schema, R"("})"});
  if (!example.empty())
    add_all(out, {R"(,"example":)", example});
  out += "}}";
}

/// The same in an envelope.
void add_data(std::string& out, const route_doc& doc) {
  add_all(out,
          {R"("content":{"application/json":{"schema":{"type":"object",)",
           R"("required":["ok","data","metadata"],"properties":{"ok":)",
           R"({"const":true},"data":{"$ref":"#/components/schemas/)",
           doc.response, R"("},"metadata":{"$ref":"#/components/schemas/)",
           R"(Metadata"}}},"example":{"ok":true,"data":)", doc.response_example,
           R"(,"metadata":{"request_id":"0123456789abcdef",)",
           R"("latency_ms":0.412}}}})"});
}

void add_body(std::string& out, const route_doc& doc) {
  if (doc.request.empty())
    return;
  add_all(out, {R"(,"requestBody":{"required":)",
                doc.body_is_optional ? "false," : "true,"});
  add_content(out, doc.request, doc.request_example);
  out += '}';
}

bool is_message(const route_doc& doc) {
  return doc.what >= operation::create_pull_queue
         && doc.what < operation::discover;
}

void add_success(std::string& out, const route_doc& doc, unsigned status) {
  add_all(out, {"\"", std::to_string(status), R"(":{"description":)",
                status == 201 ? R"("It was made")" : R"("Success")"});
  if (!doc.response.empty()) {
    out += ',';
    if (is_message(doc))
      add_data(out, doc);
    else
      add_content(out, doc.response, doc.response_example, doc.media_type);
  }
  out += '}';
}

void add_error(std::string& out, std::string_view status,
               std::string_view name) {
  add_all(out, {",\"", status, R"(":{"$ref":"#/components/responses/)", name,
                "\"}"});
}

void add_conflict(std::string& out, const route_doc& doc) {
  if (doc.conflicts.empty())
    return;
  add_all(out, {R"(,"409":{"description":"One of )", doc.conflicts, "\","});
  add_content(out, is_message(doc) ? "MessageError" : "Error", {});
  out += '}';
}

/// Whether something that is asked for by name may be missing.
bool may_miss(const route& line, const route_doc& doc) {
  if (line.path.find('{') != std::string_view::npos)
    return true;
  return is_message(doc) && line.required == scope::work;
}

void add_responses(std::string& out, const route& line, const route_doc& doc) {
  auto add = [&](std::string_view status, std::string_view name) {
    add_error(out, status, is_message(doc) ? "Refused" : name);
  };
  out += R"(,"responses":{)";
  add_success(out, doc, doc.status);
  if (doc.other_status != 0) {
    out += ',';
    add_success(out, doc, doc.other_status);
  }
  add("400", "BadRequest");
  if (!line.open) {
    add("401", "Unauthenticated");
    add("403", "Forbidden");
  }
  if (may_miss(line, doc))
    add("404", "NotFound");
  add_conflict(out, doc);
  if (!doc.request.empty())
    add("413", "TooLarge");
  if (!line.open)
    add("429", "TooMany");
  if (!line.open || line.operation == operation::readiness)
    add("503", "Unavailable");
  out += '}';
}

std::string lower(std::string_view method) {
  std::string result{method};
  for (auto& c : result)
    c = static_cast<char>(c - 'A' + 'a');
  return result;
}

/// Prints `text` as a JSON string; it has no control characters.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (auto c : text) {
    if (c == '"' || c == '\\')
      out += '\\';
    out += c;
  }
  return out += '"';
}

void add_operation(std::string& out, const route& line) {
  const auto& doc = doc_of(line.operation);
  add_all(out, {"\"", lower(line.method), R"(":{"operationId":")", doc.id,
                R"(","tags":[")", doc.tag, R"("],"summary":)",
                quoted(line.summary), ","});
  if (line.open)
    out += R"("security":[],)";
  else
    add_all(out,
            {R"("security":[{"apiKey":[")", to_string(line.required),
             R"("]}],"description":"Scope: )", to_string(line.required),
             R"(","x-required-scope":")", to_string(line.required), R"(",)"});
  add_parameters(out, line, doc);
  add_body(out, doc);
  add_responses(out, line, doc);
  out += '}';
}

/// Prints every path once, with all of its methods.
void add_paths(std::string& out) {
  out += R"(,"paths":{)";
  std::string_view separator;
  for (const auto& line : routes()) {
    auto starts = true;
    for (const auto& other : routes()) {
      if (other.path != line.path)
        continue;
      if (starts && &other != &line)
        break;
      add_all(out, {starts ? separator : ",",
                    starts ? "\"" + std::string{line.path} + "\":{" : ""});
      add_operation(out, other);
      starts = false;
      separator = ",";
    }
    if (!starts)
      out += '}';
  }
  out += '}';
}

std::string print() {
  std::string out{head};
  add_paths(out);
  add_all(out, {R"(,"components":{"schemas":{)", all_schemas(),
                R"(},"parameters":{)", parameters(), "}", tail});
  return compact(out);
}

} // namespace

std::string compact(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  auto in_string = false;
  auto escaped = false;
  for (auto c : text) {
    if (!in_string && (c == ' ' || c == '\n'))
      continue;
    out += c;
    if (c == '"' && !escaped)
      in_string = !in_string;
    escaped = in_string && c == '\\' && !escaped;
  }
  return out;
}

std::string_view take_word(std::string_view& words) {
  auto end = words.find(' ');
  auto word = words.substr(0, end);
  words.remove_prefix(end == std::string_view::npos ? words.size() : end + 1);
  return word;
}

std::string_view parameter_in(std::string_view path, std::string_view brace) {
  if (brace != "id")
    return brace;
  if (path.starts_with("/v1/jobs/"))
    return "jobId";
  if (path.starts_with("/v1/keys/"))
    return "keyId";
  return path.starts_with("/v1/discovery/") ? "capabilityId" : "operationId";
}

std::string all_schemas() {
  std::string out{job_schemas()};
  return out.append(",")
    .append(queue_schemas())
    .append(",")
    .append(message_schemas());
}

const std::string& openapi_document() {
  static const auto result = print();
  return result;
}

} // namespace tidegate::http
