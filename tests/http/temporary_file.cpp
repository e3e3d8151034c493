#include "temporary_file.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace tidegate::http::testing {

temporary_file::temporary_file(const std::string& text) {
  char name[] = "/tmp/tidegate-test-XXXXXX";
  ::close(::mkstemp(name));
  name_ = name;
  write(text);
}

temporary_file::~temporary_file() {
  std::remove(name_.c_str());
}

void temporary_file::write(const std::string& text) {
  std::ofstream{name_} << text;
}

} // namespace tidegate::http::testing
