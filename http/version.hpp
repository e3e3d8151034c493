// Which program this is.

#pragma once

#include <string>

namespace tidegate::http {

/// Returns three lines: version, commit, and the libraries that it was built
/// with.
std::string version_text();

} // namespace tidegate::http
