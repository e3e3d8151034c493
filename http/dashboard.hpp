// The dashboard's static files, which stand in the binary. They say nothing of
// anybody: what they show they ask the API for, with the key of who looks.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "http/message.hpp"

namespace tidegate::http {

/// A file of the dashboard. All views are valid for the process's life.
struct dashboard_file {
  /// As in `/dashboard/{file}`; `index.html` is at `/dashboard` itself.
  std::string_view name;

  std::string_view content_type;

  /// Quoted, as in the header; of the bytes.
  std::string_view etag;

  std::string_view bytes;
};

/// Returns every file. Made at build time by `dashboard.cmake`.
std::span<const dashboard_file> dashboard_files();

/// Returns the response to a `GET` of the file `name`: 200, or 304 where
/// `if_none_match` (RFC 9110, section 13.1.2) has its tag, or 404. Both come
/// with the content security policy.
response answer_with_file(std::string_view name,
                          const std::optional<std::string>& if_none_match);

} // namespace tidegate::http
