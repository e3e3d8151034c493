// What the client keeps for one I/O context.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "http/client.hpp"
#include "http/client_connection.hpp"
#include "http/client_net.hpp"
#include "http/client_trust.hpp"

namespace tidegate::http {

class client_exchange;

/// What all lanes of a client share.
struct client_shared {
  client_shared(client_options what, std::shared_ptr<client_trust> whom)
    : options(std::move(what)), trust(std::move(whom)),
      resolver(options.resolver) {
    // nop
  }

  const client_options options;
  const std::shared_ptr<client_trust> trust;
  client_resolver resolver;
};

/// The deliveries under way and the idle connections of one context. Used by
/// the thread of its context only, `executor` apart.
///
/// All deadlines share one timer: most deliveries end long before theirs, and
/// a timer each would be started and cancelled for nothing.
class client_lane : public std::enable_shared_from_this<client_lane> {
public:
  using deadline_map =
    std::multimap<net_clock::time_point, std::shared_ptr<client_exchange>>;

  client_lane(asio::io_context& context, std::shared_ptr<client_shared> shared);

  client_lane(const client_lane&) = delete;

  client_lane& operator=(const client_lane&) = delete;

  net_executor executor() {
    return timer_.get_executor();
  }

  client_shared& shared() {
    return *shared_;
  }

  /// Starts `what`, or aborts it where the lane has been stopped.
  void run(std::shared_ptr<client_exchange> what,
           net_clock::time_point deadline);

  /// Moves the deadline of an exchange to `at`, unless it is earlier already.
  void hasten(deadline_map::iterator& position, net_clock::time_point at);

  /// Forgets an exchange that has ended.
  void remove(deadline_map::iterator position);

  /// Returns a connection to `origin` that looks alive, or null.
  std::shared_ptr<client_connection> take_idle(const std::string& origin);

  /// Keeps `connection` for later, or closes it where enough are kept.
  void give_back(const std::string& origin,
                 std::shared_ptr<client_connection> connection);

  /// Aborts all exchanges and closes all connections.
  void stop();

private:
  struct idle_connection {
    std::shared_ptr<client_connection> connection;
    net_clock::time_point until;
  };

  void arm(net_clock::time_point at);

  void on_timer();

  void close_expired(net_clock::time_point now);

  std::shared_ptr<client_shared> shared_;
  net_timer timer_;
  bool stopped_ = false;
  deadline_map exchanges_;

  // When the timer fires; `max()` where it is not armed.
  net_clock::time_point armed_for_ = net_clock::time_point::max();

  // Each list has the one that has been idle longest in front.
  std::unordered_map<std::string, std::vector<idle_connection>> idle_;
  std::size_t idle_count_ = 0;

  // When the first of the idle connections expires, or earlier.
  net_clock::time_point next_expiry_ = net_clock::time_point::max();
};

} // namespace tidegate::http
