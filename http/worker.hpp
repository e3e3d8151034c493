// What the connections of one io_context share, and what all of them do.
// Internal to the server.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_set>

#include <boost/asio/io_context.hpp>

#include "http/body_room.hpp"
#include "http/response_writer.hpp"
#include "http/server.hpp"

namespace tidegate::http {

class session;

/// Counts the connections of a server. Safe to use from any thread.
class connection_count {
public:
  explicit connection_count(std::size_t max) : max_(max) {
    // nop
  }

  /// Takes a place, if one is free. Whoever took it gives it back.
  bool take();

  void give_back();

  std::size_t value() const {
    return value_.load();
  }

  /// Calls `f` once, when all places are free: at once or out of `give_back`.
  void when_none(std::function<void()> f);

private:
  void notify();

  const std::size_t max_;
  std::atomic<std::size_t> value_ = 0;
  std::mutex mutex_;
  std::function<void()> when_none_;
};

/// What all parts of a server have in common; does not change while it runs.
struct server_core {
  server_core(server_options with, std::shared_ptr<handler> what)
    : options(std::move(with)), requests(std::move(what)),
      connections(options.connections_max),
      bodies(std::max({options.bodies_bytes_max, 2 * options.body_bytes_max,
                       2 * options.batch_bytes_max})) {
    // nop
  }

  const server_options options;
  const std::shared_ptr<handler> requests;
  connection_count connections;
  body_room bodies;
};

/// The connections of one `io_context`. Everything but `context` and `core` is
/// for the thread that runs the context.
struct worker {
  worker(boost::asio::io_context& where, std::shared_ptr<server_core> what)
    : context(where), core(std::move(what)) {
    // nop
  }

  /// Lets every connection end when it has answered what it was asked, now and
  /// in future.
  void drain();

  /// Closes every connection.
  void abort();

  boost::asio::io_context& context;
  const std::shared_ptr<server_core> core;
  std::unordered_set<session*> sessions;
  date_cache dates;
  request_ids ids;
  bool draining = false;
};

} // namespace tidegate::http
