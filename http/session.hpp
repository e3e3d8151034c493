// One connection. Internal to the server.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "http/body_stream.hpp"
#include "http/message.hpp"
#include "http/pipeline.hpp"
#include "http/request_reader.hpp"
#include "http/server_stream.hpp"
#include "http/worker.hpp"

namespace tidegate::http {

/// Reads requests from a socket, hands them out and writes the answers.
///
/// Everything but `reply` is for the thread of the worker's context. Operations
/// under way and responders keep a session alive.
///
/// ```
///            last request read, refused,
///            draining, end of stream          all answered
///   ┌──────┐ ─────────────────────────▶ ┌────────┐ ─────▶ ┌───────────┐
///   │ open │                            │ ending │        │ lingering │
///   └──────┘                            └────────┘        └───────────┘
///       │ idle for too long, broken          │ broken          │ client
///       closed, └──────────────▶ closed ◀────────────┴─────────────────┘ or
///       enough
/// ```
/// With TLS the handshake comes first. Whatever goes wrong there closes the
/// connection, and it has to be done in the time of a request.
class session final : public reply_sink,
                      public std::enable_shared_from_this<session> {
public:
  /// Takes over a place of the worker's `connection_count`.
  session(stream_socket socket, std::shared_ptr<worker> home);

  ~session() override;

  void start();

  /// Ends when all that has been asked is answered.
  void drain();

  void close();

  void reply(std::uint64_t number, response what) override;

private:
  using clock = std::chrono::steady_clock;

  enum class state : std::uint8_t {
    shaking_hands,
    open,
    ending,
    lingering,
    closed,
  };

  // -- beginning --------------------------------------------------------------

  void shake_hands();

  void on_handshake(boost::system::error_code code);

  void begin();

  // -- reading ----------------------------------------------------------------

  void read();

  void on_read(boost::system::error_code code, std::size_t bytes);

  void on_end_of_stream();

  /// Ends when all that has been taken is answered.
  void take_no_more();

  /// Reads as many requests as are there and may be taken, then writes. An
  /// exception, such as one for lack of memory, ends the connection.
  void process();

  /// Does one step. Returns whether there may be another one.
  bool step();

  void on_head();

  void on_request();

  /// Returns how many bytes of a body are taken there.
  std::size_t body_limit(const route& where) const;

  /// Sees to it that there is room for the request as far as it is known, from
  /// its head on. Refuses it where there is none.
  bool make_room();

  /// Sees to it that there is room for the request that is there. What has to
  /// get through so that there is room again, such as acks, takes none.
  bool has_room(const route& where, std::size_t bytes);

  /// What becomes of the bytes of a refused request that are still to come.
  enum class rest : std::uint8_t {
    /// There are none.
    none,
    /// They are dropped, and the next request is read behind them.
    dropped,
    /// They are not read: the connection ends.
    unread,
  };

  /// Answers instead of the handler.
  void refuse(response what, rest behind);

  void name_request();
  void tell_refused(const response& what);

  bool may_take_request() const;

  std::uint64_t open_slot(std::size_t bytes,
                          std::shared_ptr<client_watch> watch = {},
                          body_hold hold = {});

  // -- writing ----------------------------------------------------------------

  void on_reply(std::uint64_t number, const response& what);

  /// Goes on to read where no more requests are taken, to notice when a client
  /// goes away that waits.
  void watch();

  void flush();

  /// Goes on with a body that comes bit by bit, to the end of the connection.
  void begin_stream(std::shared_ptr<body_stream> body);

  void on_written(boost::system::error_code code);

  // -- ending -----------------------------------------------------------------

  bool is_idle() const;

  void end_if_done();

  void linger();

  /// Ends a connection on which nothing is going on.
  void hang_up();

  /// Reads what is to be dropped. TLS itself does so while it waits for the
  /// client's `close_notify`.
  void read_on();

  /// The client knows that nothing more comes, or it cannot be told.
  void on_ended(boost::system::error_code code);

  /// Drops what comes, until it is enough.
  void drop(std::size_t bytes);

  // -- time -------------------------------------------------------------------

  clock::time_point next_deadline() const;

  void arm();

  void on_timer();

  server_stream stream_;
  boost::asio::basic_waitable_timer<clock, boost::asio::wait_traits<clock>,
                                    boost::asio::io_context::executor_type>
    timer_;
  const std::shared_ptr<worker> home_;
  request_reader reader_;
  pipeline pipeline_;
  std::shared_ptr<const std::string> peer_;
  state state_ = state::open;

  /// Of the request that is being read, from its head on.
  response_frame frame_;
  admission admitted_;

  /// Whether `admitted_` is of that request; its refusal may know it, too.
  bool is_known_ = false;
  body_hold hold_;

  /// Bytes that were read while `paused_`.
  std::size_t ahead_ = 0;

  /// Inside of `process`: answers are written when it ends.
  bool processing_ = false;

  /// Stopped reading because too much waits for an answer.
  bool paused_ = false;

  bool reading_ = false;

  /// The client sends nothing more, so there is nothing to linger for.
  bool end_of_stream_ = false;

  /// Waits to be written, and is being written.
  std::string out_;
  std::string writing_;

  /// Who wants to hear whether those bytes were written.
  std::vector<std::shared_ptr<loss_notice>> out_notices_;
  std::vector<std::shared_ptr<loss_notice>> writing_notices_;

  /// The body that is being written, if that comes bit by bit.
  std::shared_ptr<body_stream> body_;

  /// Bytes that were dropped because no more requests are taken.
  std::size_t dropped_ = 0;

  // Each of these has a meaning only where `next_deadline` looks at it.
  clock::time_point idle_until_;
  clock::time_point write_until_;
  clock::time_point linger_until_;

  /// Until when the request that is being read has to be there.
  std::optional<clock::time_point> request_until_;

  /// When the timer will fire: never later than the next deadline.
  clock::time_point armed_for_ = clock::time_point::max();
};

} // namespace tidegate::http
