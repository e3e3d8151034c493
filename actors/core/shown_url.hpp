// A URL as it may be shown to people.

#pragma once

#include <string>
#include <string_view>

namespace tidegate {

/// Returns `url` without what may be secret in it: user name, password, query
/// and fragment. Takes any text, also one that is no URL.
std::string shown_url(std::string_view url);

} // namespace tidegate
