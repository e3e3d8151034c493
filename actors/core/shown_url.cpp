#include "actors/core/shown_url.hpp"

namespace tidegate {

std::string shown_url(std::string_view url) {
  auto end = url.find_first_of("?#");
  // Where no path comes first, these may be part of a password that should
  // have been escaped.
  auto authority = url.find("://");
  authority = authority == std::string_view::npos ? 0 : authority + 3;
  auto at_host = url.find('@', authority);
  if (url.find('/', authority) > end && at_host != std::string_view::npos)
    end = url.find_first_of("?#", url.rfind('@'));
  auto rest = url.substr(0, end);
  std::string result;
  if (auto scheme = rest.find("://"); scheme != std::string_view::npos) {
    result = rest.substr(0, scheme + 3);
    rest.remove_prefix(scheme + 3);
  }
  // Whatever stands before an `@` may be a password, also where that should
  // not be.
  if (auto at = rest.rfind('@'); at != std::string_view::npos) {
    result += "***";
    rest.remove_prefix(at);
  }
  result += rest;
  if (end != std::string_view::npos)
    result += url[end] == '?' ? "?***" : "#***";
  return result;
}

} // namespace tidegate
