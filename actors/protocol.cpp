#include "tidegate/protocol.hpp"

#include <caf/make_message.hpp>
#include <caf/message.hpp>

namespace tidegate {

caf::error to_caf(const error& reason) {
  return caf::error{static_cast<std::uint8_t>(reason.code), error_category,
                    caf::make_message(reason.message)};
}

error from_caf(const caf::error& reason) {
  if (reason.category() != error_category)
    return {errc::draining,
            "the part of the server that was asked has stopped"};
  error result{errc{reason.code()}, {}};
  if (reason.context().match_elements<std::string>())
    result.message = reason.context().get_as<std::string>(0);
  return result;
}

} // namespace tidegate
