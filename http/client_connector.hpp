// Finds the first of several addresses that answers.

#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "http/client_net.hpp"

namespace tidegate::http {

/// Connects to one of several endpoints, in order. Where one has neither
/// answered nor refused after 250 ms, the next is tried beside it, and the
/// first connection that stands is taken (RFC 8305 section 5). Nothing is sent
/// on any of them. Used by the thread of its context only.
class client_connector : public std::enable_shared_from_this<client_connector> {
public:
  /// Gets the connected socket, or the reason why the last endpoint failed.
  using callback = std::function<void(error_code, net_socket)>;

  client_connector(net_executor executor,
                   std::vector<asio::ip::tcp::endpoint> endpoints,
                   callback done);

  /// Runs the callback exactly once, later, unless `cancel` comes first.
  /// @pre there is at least one endpoint
  void start();

  /// Gives up without a word.
  void cancel();

private:
  void start_next();

  void on_connected(std::size_t index, error_code failure);

  void finish(error_code failure, net_socket socket);

  net_timer stagger_;
  std::vector<asio::ip::tcp::endpoint> endpoints_;
  std::vector<net_socket> sockets_;
  std::size_t failed_ = 0;
  callback done_;
};

/// Returns `addresses` with IPv6 and IPv4 taking turns, beginning with the
/// family of the first, otherwise in the same order (RFC 8305 section 4).
std::vector<ip_address> interleave(const std::vector<ip_address>& addresses);

} // namespace tidegate::http
