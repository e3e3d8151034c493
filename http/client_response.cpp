#include "http/client_response.hpp"

#include <algorithm>

#include <boost/beast/core/error.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

namespace tidegate::http {

namespace beast_http = boost::beast::http;

using boost::beast::error_code;
using boost::beast::string_view;

// -- parser -------------------------------------------------------------------

// Keeps the few fields that matter and the first bytes of the body. Beast's
// own response_parser would store every field in a node of its own.
class response_reader::parser final : public beast_http::basic_parser<false> {
public:
  explicit parser(const response_limits& limits)
    : excerpt_max_(limits.excerpt_max) {
    // The caps are the reader's: one that is passed must not undo a status.
    header_limit(static_cast<std::uint32_t>(limits.head_max) + 1);
    body_limit(boost::none);
  }

  int status() const {
    return status_;
  }

  std::vector<std::string>& retry_after() {
    return retry_after_;
  }

  std::string& date() {
    return date_;
  }

  std::string& excerpt() {
    return excerpt_;
  }

private:
  void on_request_impl(beast_http::verb, string_view, string_view, int,
                       error_code&) override {
    // nop
  }

  void on_response_impl(int code, string_view, int, error_code&) override {
    status_ = code;
  }

  void on_field_impl(beast_http::field name, string_view, string_view value,
                     error_code&) override {
    // Behind the head, this is a trailer, which has no say.
    if (is_header_done())
      return;
    if (name == beast_http::field::retry_after)
      retry_after_.emplace_back(value);
    else if (name == beast_http::field::date)
      date_ = std::string{value};
  }

  void on_header_impl(error_code&) override {
    // nop
  }

  void on_body_init_impl(const boost::optional<std::uint64_t>&,
                         error_code&) override {
    // nop
  }

  std::size_t on_body_impl(string_view bytes, error_code&) override {
    auto room = excerpt_max_ - excerpt_.size();
    excerpt_.append(bytes.data(), std::min(room, bytes.size()));
    return bytes.size();
  }

  void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {
    // nop
  }

  std::size_t on_chunk_body_impl(std::uint64_t, string_view bytes,
                                 error_code& failure) override {
    return on_body_impl(bytes, failure);
  }

  void on_finish_impl(error_code&) override {
    // nop
  }

  std::size_t excerpt_max_;
  int status_ = 0;
  std::vector<std::string> retry_after_;
  std::string date_;
  std::string excerpt_;
};

// -- reader -------------------------------------------------------------------

response_reader::response_reader(response_limits limits)
  : limits_(limits), parser_(std::make_unique<parser>(limits)) {
  // nop
}

response_reader::~response_reader() {
  // nop
}

std::size_t response_reader::feed(std::string_view bytes) {
  std::size_t taken = 0;
  while (taken < bytes.size()
         && (state_ == state::head || state_ == state::body)) {
    auto before = state_;
    auto count = feed_parser(bytes.substr(taken));
    taken += count;
    if (count == 0 && state_ == before)
      break;
  }
  // What waits unparsed counts too, or one long line would be free.
  auto waiting = bytes.size() - taken;
  if (state_ == state::head && head_bytes_ + waiting > limits_.head_max)
    refuse("its head is longer than " + std::to_string(limits_.head_max)
           + " bytes");
  if (state_ == state::body && body_bytes_ + waiting > limits_.body_max)
    state_ = state::done;
  return taken;
}

std::size_t response_reader::feed_parser(std::string_view bytes) {
  error_code failure;
  auto was_head = state_ == state::head;
  auto count = parser_->put({bytes.data(), bytes.size()}, failure);
  (was_head ? head_bytes_ : body_bytes_) += count;
  if (was_head && head_bytes_ > limits_.head_max) {
    refuse("its head is longer than " + std::to_string(limits_.head_max)
           + " bytes");
  } else if (failure == beast_http::error::need_more) {
    // nop
  } else if (failure) {
    // Once decided, a body that makes no sense changes nothing.
    if (was_head)
      refuse("it is not HTTP/1.x: " + failure.message());
    else
      state_ = state::done;
  } else if (parser_->is_header_done()) {
    if (was_head && parser_->status() < 100)
      refuse("its status is " + std::to_string(parser_->status()));
    else if (parser_->status() == 101)
      refuse("it switches protocols (101), which nobody asked for");
    else if (parser_->status() < 200)
      parser_ = std::make_unique<parser>(limits_);
    else
      state_ = parser_->is_done() ? state::done : state::body;
    if (state_ == state::done)
      on_complete();
  }
  return count;
}

void response_reader::end_of_stream() {
  if (state_ == state::body)
    state_ = state::done;
}

unsigned response_reader::status() const {
  return parser_->status();
}

void response_reader::move_to(delivery_reply& reply) {
  reply.http_status = static_cast<std::uint16_t>(parser_->status());
  reply.retry_after = std::move(parser_->retry_after());
  reply.date = std::move(parser_->date());
  reply.excerpt = std::move(parser_->excerpt());
}

void response_reader::refuse(std::string why) {
  state_ = state::malformed;
  complaint_ = "the answer cannot be understood: " + std::move(why);
}

void response_reader::on_complete() {
  reusable_ = parser_->keep_alive() && !parser_->need_eof();
}

} // namespace tidegate::http
