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
    case errc::queue_full:
      return "queue_full";
    case errc::not_ack_mode:
      return "not_ack_mode";
    case errc::not_awaiting_outcome:
      return "not_awaiting_outcome";
    case errc::stale_delivery:
      return "stale_delivery";
    case errc::job_completed:
      return "job_completed";
    case errc::job_dead:
      return "job_dead";
    case errc::not_dead:
      return "not_dead";
    case errc::not_found:
      return "not_found";
    case errc::wrong_queue_kind:
      return "wrong_queue_kind";
    case errc::message_not_found:
      return "message_not_found";
    case errc::message_not_in_flight:
      return "message_not_in_flight";
  }
  return "unknown";
}

} // namespace tidegate
