// A file for a test.

#pragma once

#include <string>

namespace tidegate::http::testing {

/// Writes `text` to a file that is gone when the test has ended.
class temporary_file {
public:
  explicit temporary_file(const std::string& text);

  temporary_file(const temporary_file&) = delete;

  temporary_file& operator=(const temporary_file&) = delete;

  ~temporary_file();

  /// Puts `text` in the place of what is there.
  void write(const std::string& text);

  const std::string& name() const {
    return name_;
  }

private:
  std::string name_;
};

} // namespace tidegate::http::testing
