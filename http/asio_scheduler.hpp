// Runs actors on the threads that run the sockets.

#pragma once

#include <memory>
#include <vector>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>

namespace boost::asio {

class io_context;

} // namespace boost::asio

namespace tidegate::http {

/// Configures an actor system whose actors run on `io_context`s. Each context
/// is run by one thread, and each actor stays with one of them, chosen by its
/// id.
///
/// The contexts must be running, with work guards, from before the system is
/// made until after it is destroyed.
class asio_config : public caf::actor_system_config {
public:
  /// @pre `!contexts.empty()`, none of them null
  explicit asio_config(std::vector<boost::asio::io_context*> contexts);

  const std::vector<boost::asio::io_context*>& contexts() const {
    return contexts_;
  }

private:
  std::vector<boost::asio::io_context*> contexts_;
};

} // namespace tidegate::http
