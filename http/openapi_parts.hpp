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

  /// JSON.
  std::string_view response_example = {};

  /// Another status with the same schema, 0: none.
  unsigned other_status = 0;

  /// Codes of 409.
  std::string_view conflicts = {};
};

/// Returns what is to be said of every route, in the order of `operation`.
std::span<const route_doc> route_docs();

/// Returns the members of `components/schemas` but those of queues, as JSON.
std::string_view schemas();

/// Returns the members of `components/schemas` that are about queues, as JSON.
std::string queue_schemas();

/// Returns the members of `components/parameters`, as JSON: every parameter of
/// paths and queries under its name.
std::string_view parameters();

} // namespace tidegate::http
