#include "http/request_reader.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

namespace tidegate::http {

namespace {

namespace beast = boost::beast;

constexpr std::size_t read_bytes_min = 4 * 1024;

constexpr std::size_t read_bytes_max = 64 * 1024;

problem problem_of(beast::error_code code) {
  namespace http = beast::http;
  if (code == http::error::body_limit || code == http::error::buffer_overflow)
    return problem::payload_too_large;
  return problem::bad_request;
}

/// Returns whether a line of a head goes on in the next one (`obs-fold`, RFC
/// 9112, section 5.2), which some readers take for a field of its own.
bool has_fold(std::string_view head) {
  for (auto end = head.find('\n'); end != std::string_view::npos;
       end = head.find('\n', end + 1))
    if (end + 1 < head.size()
        && (head[end + 1] == ' ' || head[end + 1] == '\t'))
      return true;
  return false;
}

bool is_number(std::string_view text) {
  return !text.empty()
         && text.find_first_not_of("0123456789") == std::string_view::npos;
}

} // namespace

class request_reader::impl {
public:
  explicit impl(std::size_t header_bytes_max)
    : header_bytes_max_(header_bytes_max) {
    // nop
  }

  std::span<char> prepare() {
    auto wanted = read_bytes_min;
    if (in_body_)
      wanted = std::clamp(remaining(), read_bytes_min, read_bytes_max);
    auto room = buffer_.prepare(wanted);
    return {static_cast<char*>(room.data()), room.size()};
  }

  step advance() {
    if (fault_)
      return step::fault;
    if (!parser_ && !begin())
      return step::need_more;
    return in_body_ ? advance_body() : advance_head();
  }

  void next() {
    parser_.reset();
    fields_.clear();
    head_bytes_ = 0;
    in_body_ = false;
    is_folded_ = false;
    if (buffer_.size() == 0 && buffer_.capacity() > read_bytes_max)
      buffer_.shrink_to_fit();
  }

  std::optional<std::string_view> find(beast::http::field name) const {
    auto i = parser_->get().find(name);
    if (i == parser_->get().end())
      return std::nullopt;
    return std::string_view{i->value().data(), i->value().size()};
  }

  bool has_body() const {
    return parser_ && !parser_->is_done();
  }

  beast::flat_buffer buffer_;
  std::optional<beast::http::request_parser<beast::http::string_body>> parser_;
  std::vector<field_view> fields_;
  std::optional<problem> fault_;
  std::size_t head_bytes_ = 0;
  bool in_body_ = false;
  bool is_folded_ = false;
  std::size_t header_bytes_max_;

private:
  /// Starts a request if there is a byte of one. RFC 9112, section 2.2: empty
  /// lines in front of it are passed over.
  bool begin() {
    auto bytes = static_cast<const char*>(buffer_.data().data());
    std::size_t blank = 0;
    while (blank < buffer_.size()
           && (bytes[blank] == '\r' || bytes[blank] == '\n'))
      ++blank;
    buffer_.consume(blank);
    if (buffer_.size() == 0)
      return false;
    parser_.emplace();
    // The parser's own limit depends on how the bytes are cut.
    parser_->header_limit(std::numeric_limits<std::uint32_t>::max());
    parser_->body_limit(boost::none);
    return true;
  }

  step advance_head() {
    if (!put())
      return fault_ ? step::fault : step::need_more;
    for (const auto& field : parser_->get())
      fields_.push_back(
        {{field.name_string().data(), field.name_string().size()},
         {field.value().data(), field.value().size()}});
    fault_ = complaint_about_head();
    return fault_ ? step::fault : step::head;
  }

  step advance_body() {
    while (!parser_->is_done())
      if (buffer_.size() == 0 || !put())
        return is_stuck() ? step::fault : step::need_more;
    return step::complete;
  }

  /// Gives what there is to the parser, of a head no more than it may have.
  /// Returns false where it needs more or there is a fault.
  bool put() {
    beast::error_code code;
    auto bytes = static_cast<const char*>(buffer_.data().data());
    auto room = in_body_ ? buffer_.size() : header_bytes_max_ - head_bytes_;
    auto n = parser_->put(
      boost::asio::const_buffer{bytes, std::min(room, buffer_.size())}, code);
    if (!in_body_) {
      head_bytes_ += n;
      is_folded_ = is_folded_ || has_fold({bytes, n});
    }
    buffer_.consume(n);
    if (code && code != beast::http::error::need_more)
      fault_ = problem_of(code);
    else if (code && !in_body_ && buffer_.size() > room - n)
      fault_ = problem::headers_too_large;
    return !code;
  }

  /// What remains in the buffer between two pieces of a body is the line before
  /// a chunk, or trailers: these count as headers.
  bool is_stuck() {
    if (!fault_ && buffer_.size() > header_bytes_max_)
      fault_ = problem::headers_too_large;
    return fault_.has_value();
  }

  std::size_t remaining() const {
    auto n = parser_->content_length_remaining();
    return n ? static_cast<std::size_t>(*n) : read_bytes_min;
  }

  std::size_t count(beast::http::field name) const {
    return parser_->get().count(name);
  }

  std::optional<problem> complaint_about_head() const {
    using beast::http::field;
    auto version = parser_->get().version();
    if (version != 10 && version != 11)
      return problem::bad_request;
    // Whoever reads the other one of two keys lets somebody else in.
    if (is_folded_ || count(field::authorization) > 1)
      return problem::bad_request;
    auto hosts = count(field::host);
    if (hosts > 1 || (hosts == 0 && version == 11))
      return problem::bad_request;
    auto lengths = count(field::content_length);
    auto codings = count(field::transfer_encoding);
    if (lengths + codings > 1)
      return problem::bad_request;
    if (lengths == 1 && !is_number(*find(field::content_length)))
      return problem::bad_request;
    if (codings == 1 && version == 10)
      return problem::bad_request;
    if (codings == 1
        && !beast::iequals(*find(field::transfer_encoding), "chunked"))
      return problem::unsupported_transfer_coding;
    if (auto value = find(field::expect))
      if (!beast::iequals(*value, "100-continue"))
        return problem::expectation_failed;
    return std::nullopt;
  }
};

request_reader::request_reader(std::size_t header_bytes_max)
  : impl_(std::make_unique<impl>(header_bytes_max)) {
  // nop
}

request_reader::~request_reader() = default;

std::span<char> request_reader::prepare() {
  return impl_->prepare();
}

void request_reader::commit(std::size_t bytes) {
  impl_->buffer_.commit(bytes);
}

request_reader::step request_reader::advance() {
  return impl_->advance();
}

bool request_reader::is_idle() const {
  return !impl_->parser_ && impl_->buffer_.size() == 0;
}

bool request_reader::has_unread() const {
  return impl_->buffer_.size() != 0;
}

problem request_reader::fault() const {
  return impl_->fault_.value_or(problem::bad_request);
}

request_head request_reader::head() const {
  const auto& message = impl_->parser_->get();
  auto method = message.method_string();
  auto target = message.target();
  return {{method.data(), method.size()},
          {target.data(), target.size()},
          impl_->fields_};
}

bool request_reader::is_http_1_0() const {
  return impl_->parser_ && impl_->parser_->get().version() == 10;
}

bool request_reader::keep_alive() const {
  return impl_->parser_->keep_alive();
}

bool request_reader::has_body() const {
  return impl_->has_body();
}

bool request_reader::is_too_large(std::size_t body_bytes_max) const {
  auto length = impl_->parser_->content_length();
  return length && *length > body_bytes_max;
}

std::uint64_t request_reader::announced() const {
  return impl_->parser_->content_length().value_or(0);
}

std::size_t request_reader::body_bytes() const {
  return impl_->in_body_ ? impl_->parser_->get().body().size() : 0;
}

bool request_reader::expects_continue() const {
  return impl_->find(beast::http::field::expect).has_value() && !is_http_1_0();
}

void request_reader::read_body(std::size_t body_bytes_max) {
  impl_->parser_->body_limit(body_bytes_max);
  impl_->parser_->eager(true);
  impl_->in_body_ = true;
}

std::string request_reader::take_body() {
  return std::move(impl_->parser_->get().body());
}

void request_reader::next() {
  impl_->next();
}

} // namespace tidegate::http
