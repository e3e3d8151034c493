// The description of the API for programs.

#pragma once

#include <string>

namespace tidegate::http {

/// Returns the API as an OpenAPI 3.1 document, made once out of the table of
/// routes.
const std::string& openapi_document();

} // namespace tidegate::http
