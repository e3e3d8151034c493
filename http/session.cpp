#include "http/session.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include <boost/asio/dispatch.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include "http/problem.hpp"

namespace tidegate::http {

namespace {

namespace asio = boost::asio;

/// How much more may be read while so much waits for its answer or for the
/// client to take it.
constexpr std::size_t pending_bytes_max = 1024 * 1024;

// What a request that reads counts for until its answer is there. The answer
// may be as large as a payload, so few of them wait at a time.
constexpr std::size_t assumed_answer = pending_bytes_max / 4;

/// How much is read of requests that are not taken yet, while somebody waits
/// whose going away would be noticed behind them.
constexpr std::size_t ahead_bytes_max = 64 * 1024;

constexpr std::size_t kept_capacity_max = 64 * 1024;

/// What the system may keep of a streamed body until the client takes it.
constexpr int stream_buffer_bytes = 64 * 1024;

std::shared_ptr<const std::string> address_of(const stream_socket& socket) {
  boost::system::error_code code;
  auto endpoint = socket.remote_endpoint(code);
  return std::make_shared<const std::string>(
    code ? std::string{"unknown"} : endpoint.address().to_string());
}

} // namespace

session::session(stream_socket socket, std::shared_ptr<worker> home)
  : stream_(std::move(socket)), timer_(home->context), home_(std::move(home)),
    reader_(home_->core->options.header_bytes_max),
    peer_(address_of(stream_.socket())) {
  home_->sessions.insert(this);
}

session::~session() {
  close();
}

// -- reading ------------------------------------------------------------------

void session::read() {
  if (reading_)
    return;
  reading_ = true;
  stream_.async_read(reader_.prepare(),
                     [self = shared_from_this()](auto code, auto bytes) {
                       self->on_read(code, bytes);
                     });
}

void session::on_read(boost::system::error_code code, std::size_t bytes) {
  reading_ = false;
  if (state_ == state::closed)
    return;
  if (server_stream::is_end(code))
    return on_end_of_stream();
  if (code && state_ == state::lingering && stream_.has_tls())
    return read_on();
  if (code)
    return close();
  if (state_ != state::open)
    return drop(bytes);
  if (paused_)
    ahead_ += bytes;
  reader_.commit(bytes);
  process();
}

void session::on_end_of_stream() {
  end_of_stream_ = true;
  if (state_ == state::lingering)
    return close();
  pipeline_.end_waits();
  if (body_)
    return close();
  // Requests that were read ahead are still to be taken.
  if (state_ == state::open && !(paused_ && reader_.has_unread()))
    take_no_more();
  end_if_done();
}

void session::take_no_more() {
  state_ = state::ending;
  request_until_.reset();
}

void session::process() {
  if (processing_ || state_ == state::closed)
    return;
  processing_ = true;
  try {
    while (step()) {
      // nop
    }
  } catch (const std::exception&) {
    close();
  }
  processing_ = false;
  flush();
  watch();
  arm();
}

bool session::step() {
  if (state_ != state::open)
    return false;
  // Between two requests only: one that was begun has to end within its time.
  paused_ = !request_until_ && !may_take_request();
  if (paused_)
    return false;
  ahead_ = 0;
  switch (reader_.advance()) {
    case request_reader::step::need_more:
      if (end_of_stream_) {
        take_no_more();
        return false;
      }
      if (reader_.is_idle())
        request_until_.reset();
      else if (!request_until_)
        request_until_ = clock::now() + home_->core->options.request_timeout;
      if (reader_.body_bytes() > 0 && !make_room())
        return false;
      read();
      return false;
    case request_reader::step::head:
      on_head();
      return true;
    case request_reader::step::complete:
      on_request();
      return true;
    case request_reader::step::fault:
      break;
  }
  name_request();
  refuse(make_problem(reader_.fault(), {}, frame_.family), rest::unread);
  return false;
}

void session::on_head() {
  auto head = reader_.head();
  head.peer = *peer_;
  frame_.keep_alive = reader_.keep_alive() && !home_->draining;
  frame_.head_only = head.method == "HEAD";
  frame_.http_1_0 = reader_.is_http_1_0();
  frame_.family = family_of(head.target);
  frame_.since = clock::now();
  name_request();
  auto verdict = home_->core->requests->admit(head);
  if (auto refused = std::get_if<refusal>(&verdict)) {
    is_known_ = refused->asked.has_value();
    if (is_known_)
      admitted_ = std::move(*refused->asked);
    return refuse(std::move(refused->answer),
                  reader_.has_body() ? rest::unread : rest::none);
  }
  admitted_ = std::move(std::get<admission>(verdict));
  is_known_ = true;
  if (admitted_.route.route->streams)
    frame_.keep_alive = false;
  auto body_bytes_max = body_limit(*admitted_.route.route);
  if (reader_.is_too_large(body_bytes_max))
    return refuse(make_problem(problem::payload_too_large, {}, frame_.family),
                  rest::unread);
  if (!make_room())
    return;
  if (reader_.has_body() && reader_.expects_continue() && !reader_.has_unread())
    pipeline_.insert("HTTP/1.1 100 Continue\r\n\r\n");
  reader_.read_body(body_bytes_max);
}

void session::on_request() {
  if (!has_room(*admitted_.route.route, reader_.body_bytes()))
    return refuse(make_problem(problem::overloaded,
                               "More is being published than can be stored",
                               frame_.family),
                  rest::none);
  request what{std::move(admitted_.route),
               std::move(admitted_.who),
               std::move(admitted_.trace),
               reader_.take_body(),
               frame_.request_id,
               peer_,
               std::move(admitted_.idempotency_key),
               {},
               std::move(admitted_.if_none_match),
               std::move(admitted_.last_event_id)};
  is_known_ = false;
  reader_.next();
  request_until_.reset();
  if (what.route.route->waits)
    what.watch = std::make_shared<client_watch>();
  auto reads = what.route.route->method == "GET" || what.watch;
  auto family = frame_.family;
  auto number = open_slot(reads ? assumed_answer : what.body.size(), what.watch,
                          std::exchange(hold_, {}));
  home_->core->requests->handle(std::move(what),
                                responder{shared_from_this(), number, family});
  if (end_of_stream_)
    pipeline_.end_waits();
}

std::size_t session::body_limit(const route& where) const {
  const auto& options = home_->core->options;
  if (where.body == body_class::batch)
    return std::max(options.body_bytes_max, options.batch_bytes_max);
  return options.body_bytes_max;
}

void session::refuse(response what, rest behind) {
  hold_.release();
  tell_refused(what);
  if (behind == rest::unread)
    frame_.keep_alive = false;
  if (behind == rest::dropped)
    reader_.skip_body();
  else
    reader_.next();
  request_until_.reset();
  auto number = open_slot(0);
  pipeline_.answer(number, what, home_->dates.now());
}

/// Gives the request the id that its client gave it, where its head could be
/// read, or one of our own.
void session::name_request() {
  if (!frame_.request_id.empty())
    return;
  auto given = reader_.field("x-request-id");
  frame_.request_id = is_request_id(given) ? std::string{given}
                                           : home_->ids.next();
}

void session::tell_refused(const response& what) {
  auto had_head = frame_.since != clock::time_point{};
  auto took = had_head ? clock::now() - frame_.since : clock::duration{0};
  home_->core->requests->refused(
    {frame_.request_id, *peer_, is_known_ ? &admitted_ : nullptr,
     std::chrono::duration_cast<duration>(took), what});
  is_known_ = false;
}

bool session::may_take_request() const {
  return pipeline_.size() < home_->core->options.pipeline_max
         && pipeline_.bytes() + out_.size() + writing_.size()
              < pending_bytes_max;
}

std::uint64_t session::open_slot(std::size_t bytes,
                                 std::shared_ptr<client_watch> watch,
                                 body_hold hold) {
  if (!frame_.keep_alive)
    state_ = state::ending;
  return pipeline_.open(std::exchange(frame_, {}), bytes, std::move(watch),
                        std::move(hold));
}

// -- writing ------------------------------------------------------------------

void session::reply(std::uint64_t number, response what) {
  asio::dispatch(home_->context,
                 [self = shared_from_this(), number, what = std::move(what)] {
                   self->on_reply(number, what);
                 });
}

void session::on_reply(std::uint64_t number, const response& what) {
  if (state_ == state::closed)
    return;
  pipeline_.answer(number, what, home_->dates.now());
  if (processing_)
    return;
  flush();
  if (paused_)
    process();
  arm();
}

void session::watch() {
  auto is_deaf = state_ == state::ending
                 || (state_ == state::open && paused_
                     && ahead_ < ahead_bytes_max);
  if (is_deaf && !end_of_stream_ && (body_ || pipeline_.has_waits()))
    read();
}

void session::flush() {
  if (!stream_.socket().is_open() || !writing_.empty())
    return;
  if (auto body = pipeline_.take_ready(out_, out_notices_))
    begin_stream(std::move(body));
  if (body_) {
    body_->take(out_);
    if (body_->is_over())
      body_.reset();
  }
  if (out_.empty())
    return end_if_done();
  writing_.swap(out_);
  writing_notices_.swap(out_notices_);
  write_until_ = clock::now() + home_->core->options.idle_timeout;
  stream_.async_write(writing_,
                      [self = shared_from_this()](auto code, std::size_t) {
                        self->on_written(code);
                      });
}

void session::begin_stream(std::shared_ptr<body_stream> body) {
  body_ = std::move(body);
  // What the system keeps for a slow reader is bounded, too.
  boost::system::error_code ignored;
  stream_.socket().set_option(
    asio::socket_base::send_buffer_size{stream_buffer_bytes}, ignored);
  body_->attach([weak = weak_from_this(), home = home_] {
    asio::post(home->context, [weak] {
      if (auto self = weak.lock()) {
        self->flush();
        self->arm();
      }
    });
  });
  if (home_->draining)
    body_->end();
  watch();
}

void session::on_written(boost::system::error_code code) {
  if (state_ == state::closed)
    return;
  if (code)
    return close();
  writing_.clear();
  if (body_)
    body_->sent();
  for (auto& notice : std::exchange(writing_notices_, {}))
    notice->written();
  if (writing_.capacity() > kept_capacity_max)
    writing_.shrink_to_fit();
  idle_until_ = clock::now() + home_->core->options.idle_timeout;
  flush();
  if (paused_)
    process();
  arm();
}

// -- time ---------------------------------------------------------------------

session::clock::time_point session::next_deadline() const {
  auto result = clock::time_point::max();
  if (state_ == state::lingering)
    return linger_until_;
  if (request_until_)
    result = *request_until_;
  if (!writing_.empty())
    return std::min(result, write_until_);
  if (pipeline_.empty() && !request_until_ && !body_)
    result = idle_until_;
  return result;
}

void session::arm() {
  auto at = next_deadline();
  if (state_ == state::closed || at >= armed_for_)
    return;
  armed_for_ = at;
  timer_.expires_at(at);
  timer_.async_wait([self = shared_from_this()](auto code) {
    if (!code)
      self->on_timer();
  });
}

void session::on_timer() {
  if (state_ == state::closed)
    return;
  armed_for_ = clock::time_point::max();
  auto now = clock::now();
  if (now < next_deadline())
    return arm();
  auto is_slow_request = state_ == state::open && request_until_
                         && now >= *request_until_;
  if (!is_slow_request)
    return state_ == state::open ? hang_up() : close();
  if (reader_.is_skipping())
    return hang_up();
  name_request();
  refuse(make_problem(problem::request_timeout, {}, frame_.family),
         rest::unread);
  flush();
  arm();
}

} // namespace tidegate::http
