// What a downstream may answer, in short.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tidegate/transport.hpp"

namespace tidegate::testing {

/// The webhook answered.
inline delivery_reply answered(std::uint16_t status,
                               std::vector<std::string> retry_after = {}) {
  delivery_reply result;
  result.http_status = status;
  result.retry_after = std::move(retry_after);
  return result;
}

/// The webhook did not answer.
inline delivery_reply unanswered(delivery_errc stage) {
  delivery_reply result;
  result.error_code = stage;
  result.error = to_string(stage);
  return result;
}

} // namespace tidegate::testing
