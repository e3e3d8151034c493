// One delivery on its way through look-up, connect, TLS, request and response.

#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "http/client_connector.hpp"
#include "http/client_lane.hpp"
#include "http/client_response.hpp"
#include "http/webhook_url.hpp"
#include "tidegate/transport.hpp"

namespace tidegate::http {

/// What there is to send, and to whom.
struct outgoing_request {
  webhook_url url;
  std::string bytes;
  net_clock::time_point started;
  duration timeout{};

  /// Whom to trust; null without TLS. Its mark is a part of the origin.
  client_trust::trust_ptr trust;
};

/// A delivery under way. All but `abort` is for the thread of its lane.
///
/// ```
///            ┌─────────────── idle connection ────────────────┐
///   start ───┤                                                ▼
///            └─▶ looking up ─▶ connecting ─▶ shaking hands ─▶ waiting ─▶ end
///                    ▲                                        │
///                    └── idle connection was dead, once ──────┘
/// ```
/// The request is written while the response is already read: a server that
/// answers early and closes is heard, and what breaks shows on the reading
/// side. From every step, the deadline or an abort leads to the end.
class client_exchange final
  : public transport::call,
    public std::enable_shared_from_this<client_exchange> {
public:
  client_exchange(std::shared_ptr<client_lane> lane, outgoing_request request,
                  transport::callback done);

  void abort() override;

  /// Sets off. `position` is where the lane keeps it until it ends.
  void start(client_lane::deadline_map::iterator position);

  /// Ends it: with the outcome where that was decided, else with `timeout`.
  void on_deadline();

  /// Ends it: with the outcome where that was decided, else with `aborted`.
  void on_abort();

private:
  using connection_ptr = std::shared_ptr<client_connection>;

  // -- to a connection --------------------------------------------------------

  void open();

  void look_up();

  void on_lookup(const lookup_result& found);

  void connect(const std::vector<ip_address>& addresses);

  void on_connected(error_code failure, net_socket socket);

  void shake_hands();

  void on_handshake(error_code failure);

  // -- to a response ----------------------------------------------------------

  void send();

  void read();

  void on_read(const connection_ptr& from, error_code failure,
               std::size_t count);

  void await_body();

  void on_broken(error_code failure);

  // -- to the end -------------------------------------------------------------

  void cut_short(delivery_errc code, const std::string& why);

  void fail(delivery_errc code, std::string why);

  void succeed();

  void finish(delivery_reply reply);

  // Touched only until it has ended: the lane may be gone after that.
  client_lane* lane_;
  net_executor executor_;
  outgoing_request request_;
  transport::callback done_;
  std::atomic<bool> ended_ = false;

  // What it is doing, for people.
  const char* stage_ = "waiting for its turn";

  std::optional<client_lane::deadline_map::iterator> position_;
  client_resolver::ticket ticket_;
  std::shared_ptr<client_connector> connector_;
  connection_ptr connection_;

  // Whether the connection was idle before.
  bool reused_ = false;

  bool writing_ = false;
  bool got_bytes_ = false;
  bool awaits_body_ = false;
  response_reader reader_;
};

} // namespace tidegate::http
