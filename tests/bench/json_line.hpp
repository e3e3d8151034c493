// One flat JSON object of numbers, for scripts.

#pragma once

#include <string>
#include <string_view>

namespace tidegate::bench {

class json_line {
public:
  json_line& add(std::string_view name, double number);

  /// Returns the object without an end of line.
  std::string str() const {
    return text_ + '}';
  }

private:
  std::string text_ = "{";
};

} // namespace tidegate::bench
