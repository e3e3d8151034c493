#include "tidegate/error.hpp"

namespace tidegate {

const char* to_string(errc code) {
  switch (code) {
    case errc::validation_failed:
      return "validation_failed";
    case errc::queue_not_found:
      return "queue_not_found";
    case errc::queue_exists:
      return "queue_exists";
    case errc::queue_not_empty:
      return "queue_not_empty";
    case errc::job_not_found:
      return "job_not_found";
    case errc::overloaded:
      return "overloaded";
    case errc::draining:
      return "draining";
    case errc::storage_unavailable:
      return "storage_unavailable";
  }
  return "unknown";
}

} // namespace tidegate
