// The Asio types of the client, with the executor known at compile time.

#pragma once

#include <chrono>

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "http/ip_address.hpp"

namespace tidegate::http {

namespace asio = boost::asio;

using net_executor = asio::io_context::executor_type;
using net_clock = std::chrono::steady_clock;
using net_socket = asio::basic_stream_socket<asio::ip::tcp, net_executor>;
using net_timer =
  asio::basic_waitable_timer<net_clock, asio::wait_traits<net_clock>,
                             net_executor>;
using boost::system::error_code;

/// Returns where to connect to for `port` of `address`.
inline asio::ip::tcp::endpoint to_endpoint(const ip_address& address,
                                           std::uint16_t port) {
  if (address.is_v4)
    return {asio::ip::address_v4{v4_number(address)}, port};
  asio::ip::address_v6::bytes_type bytes;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = address.bytes[i];
  return {asio::ip::address_v6{bytes}, port};
}

} // namespace tidegate::http
