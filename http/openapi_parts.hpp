// What the description of the API is put together from. Internal to it.

#pragma once

#include <span>
#include <string>
#include <string_view>

#include "http/routes.hpp"

namespace tidegate::http {

/// What the table of routes does not say of a route. Empty texts stand for
/// nothing; those that are JSON say so.
struct route_doc {
  operation what;

  std::string_view id;
  std::string_view tag;

  /// Names of the query's parameters, separated by blanks.
  std::string_view query = {};

  /// Name of the schema of the body.
  std::string_view request = {};

  /// JSON.
  std::string_view request_example = {};

  /// Whether an empty body stands for `{}`.
  bool body_is_optional = false;

  unsigned status = 200;

  /// Name of the schema of the answer.
  std::string_view response = {};

  /// JSON; where `media_type` is another, a JSON string with the text.
  std::string_view response_example = {};

  /// Another status with the same schema, 0: none.
  unsigned other_status = 0;

  /// Codes of 409.
  std::string_view conflicts = {};

  /// Of the answer.
  std::string_view media_type = "application/json";
};

/// Returns what is to be said of a route.
const route_doc& doc_of(operation what);

/// Returns that of the routes from `create_pull_queue` to `discover_one`, in
/// the order of `operation`.
std::span<const route_doc> message_route_docs();

/// Returns the name of the parameter that stands as `brace` in braces in
/// `path`.
std::string_view parameter_in(std::string_view path, std::string_view brace);

/// Returns JSON without the blanks between its tokens.
std::string compact(std::string_view text);

/// Cuts the first word off `words`.
std::string_view take_word(std::string_view& words);

/// Returns the members of `components/schemas`, as JSON.
std::string all_schemas();

/// Returns those that are about pull queues, as JSON.
std::string message_schemas();

/// Returns those that are about jobs and everything else, as JSON.
std::string_view job_schemas();

/// Returns those that are about push queues, as JSON.
std::string queue_schemas();

/// Returns the members of `components/parameters`, as JSON: every parameter of
/// paths and queries under its name.
std::string_view parameters();

} // namespace tidegate::http
