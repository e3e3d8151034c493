#include "http/version.hpp"

#include "commit.hpp"

namespace tidegate::http {

std::string version_text() {
  return "tidegate " TIDEGATE_VERSION
         "\n"
         "commit " TIDEGATE_COMMIT
         "\n"
         "built with " TIDEGATE_LIBRARIES "\n";
}

} // namespace tidegate::http
