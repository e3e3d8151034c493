#include "http/request_reader.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "http/out_of_memory.hpp"

namespace tidegate::http {

namespace {

namespace beast = boost::beast;

constexpr std::size_t read_bytes_min = 4 * 1024;

constexpr std::size_t read_bytes_max = 64 * 1024;

/// Where bytes are read to that are dropped.
thread_local std::array<char, 16 * 1024> waste;

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

/// Returns the lines of a part of a head that are whole, each with the byte
/// behind it, which tells whether it goes on. The empty line at the end of a
/// head has none.
std::string_view whole_lines(std::string_view head) {
  if (head == "\r\n" || head.ends_with("\n\r\n"))
    return head;
  auto end = head.substr(0, head.size() - 1).rfind('\n');
  return head.substr(0, end == std::string_view::npos ? 0 : end + 2);
}

bool is_number(std::string_view text) {
  return !text.empty()
         && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Whether all characters may be in `Host` (RFC 9112, section 3.2; the host of
/// RFC 3986, section 3.2.2, and a port). It may be empty.
bool may_be_host(std::string_view text) {
  constexpr std::string_view allowed{
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    "-._~%!$&'()*+,;=:[]"};
  return text.find_first_not_of(allowed) == std::string_view::npos;
}

} // namespace

class request_reader::impl {
public:
  explicit impl(std::size_t header_bytes_max)
    : header_bytes_max_(header_bytes_max) {
    // nop
  }

  std::span<char> prepare() {
    filling_ = true;
    wasting_ = skip_ > 0 && unread() == 0;
    if (wasting_)
      return std::span{waste}.first(
        std::min<std::uint64_t>(skip_, waste.size()));
    auto wanted = read_bytes_min;
    if (in_body_)
      wanted = std::clamp(remaining(), read_bytes_min, read_bytes_max);
    auto room = buffer_.prepare(wanted);
    return {static_cast<char*>(room.data()), room.size()};
  }

  void commit(std::size_t bytes) {
    filling_ = false;
    if (std::exchange(wasting_, false)) {
      skip_ -= bytes;
      return;
    }
    buffer_.commit(bytes);
    buffer_.consume(std::exchange(used_, 0));
  }

  step advance() {
    if (fault_)
      return step::fault;
    try {
      excusable_allocations excused;
      if (!parser_ && !begin())
        return step::need_more;
      return in_body_ ? advance_body() : advance_head();
    } catch (const std::bad_alloc&) {
      fault_ = problem::overloaded;
      return step::fault;
    }
  }

  void next() {
    parser_.reset();
    fields_.clear();
    head_bytes_ = 0;
    in_body_ = false;
    // Of many connections most are idle, or wait for an answer.
    if (!filling_ && buffer_.size() == 0 && buffer_.capacity() > read_bytes_min)
      buffer_.shrink_to_fit();
  }

  void skip() {
    skip_ = *parser_->content_length();
    next();
    drop_skipped();
  }

  /// How many bytes wait that were not looked at yet.
  std::size_t unread() const {
    return buffer_.size() - used_;
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
  std::size_t header_bytes_max_;

  /// What is still to come of a body that is dropped.
  std::uint64_t skip_ = 0;

private:
  /// Starts a request if there is a byte of one. RFC 9112, section 2.2: empty
  /// lines in front of it are passed over.
  bool begin() {
    drop_skipped();
    auto bytes = front();
    std::size_t blank = 0;
    while (blank < unread() && (bytes[blank] == '\r' || bytes[blank] == '\n'))
      ++blank;
    consume(blank);
    if (unread() == 0)
      return false;
    parser_.emplace();
    // The parser's own limit depends on how the bytes are cut.
    parser_->header_limit(std::numeric_limits<std::uint32_t>::max());
    parser_->body_limit(boost::none);
    return true;
  }

  step advance_head() {
    if (!put_head())
      return fault_ ? step::fault : step::need_more;
    for (const auto& field : parser_->get())
      fields_.push_back(
        {{field.name_string().data(), field.name_string().size()},
         {field.value().data(), field.value().size()}});
    fault_ = complaint_about_head();
    return fault_ ? step::fault : step::head;
  }

  step advance_body() {
    while (!parser_->is_done()) {
      auto before = unread();
      if (before == 0)
        return step::need_more;
      // The line before a chunk, and the trailers, count as headers.
      auto most = parser_->chunked() ? header_bytes_max_ : before;
      if (put(std::min(most, before)) || (!fault_ && unread() < before))
        continue;
      if (!fault_ && before > header_bytes_max_)
        fault_ = problem::headers_too_large;
      return fault_ ? step::fault : step::need_more;
    }
    return step::complete;
  }

  /// Gives what there is of a head to the parser, no more than it may have.
  /// Returns false where it needs more or there is a fault.
  ///
  /// Of bytes that are no whole head the parser reads what comes first, and the
  /// rest only when the head has ended. What is given to it by whole lines it
  /// reads at once, and finds the same faults however the bytes are cut.
  bool put_head() {
    auto room = header_bytes_max_ - head_bytes_;
    auto is_too_large = unread() > room;
    std::string_view bytes{front(), std::min(room, unread())};
    auto lines = whole_lines(bytes);
    if (lines.empty() && head_bytes_ == 0)
      lines = bytes;
    auto is_whole = !lines.empty() && put(lines.size());
    if (!is_whole && !fault_ && is_too_large)
      fault_ = problem::headers_too_large;
    // The first line is read from its start again until the parser takes it.
    if (!fault_ && head_bytes_ == 0)
      parser_.reset();
    return is_whole && !fault_;
  }

  /// Gives bytes to the parser. Returns false where it needs more or there is a
  /// fault.
  bool put(std::size_t bytes) {
    beast::error_code code;
    auto given = front();
    auto n = parser_->put(boost::asio::const_buffer{given, bytes}, code);
    if (!in_body_) {
      head_bytes_ += n;
      if (has_fold({given, code ? bytes : n}))
        fault_ = problem::bad_request;
    }
    consume(n);
    if (code && code != beast::http::error::need_more)
      fault_ = problem_of(code);
    return !code;
  }

  const char* front() const {
    return static_cast<const char*>(buffer_.data().data()) + used_;
  }

  /// Drops what has been looked at. While the bytes behind are being filled the
  /// buffer has to stay where it is.
  void consume(std::size_t bytes) {
    if (filling_ && !wasting_)
      used_ += bytes;
    else
      buffer_.consume(bytes);
  }

  void drop_skipped() {
    auto bytes = std::min<std::uint64_t>(skip_, unread());
    consume(static_cast<std::size_t>(bytes));
    skip_ -= bytes;
  }

  /// Between `prepare` and `commit`.
  bool filling_ = false;

  /// The same, and what comes is dropped.
  bool wasting_ = false;

  /// Bytes at the front of the buffer that are dropped when it has been filled.
  std::size_t used_ = 0;

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
    if (count(field::authorization) > 1
        || parser_->get().count("idempotency-key") > 1)
      return problem::bad_request;
    auto hosts = count(field::host);
    if (hosts > 1 || (hosts == 0 && version == 11))
      return problem::bad_request;
    if (hosts == 1 && !may_be_host(*find(field::host)))
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
  impl_->commit(bytes);
}

request_reader::step request_reader::advance() {
  return impl_->advance();
}

bool request_reader::is_idle() const {
  return !impl_->parser_ && impl_->unread() == 0 && impl_->skip_ == 0;
}

bool request_reader::has_unread() const {
  return impl_->unread() != 0;
}

bool request_reader::is_skipping() const {
  return impl_->skip_ > 0;
}

problem request_reader::fault() const {
  return impl_->fault_.value_or(problem::bad_request);
}

std::string_view request_reader::field(std::string_view name) const {
  if (!impl_->parser_)
    return {};
  const auto& fields = impl_->parser_->get();
  auto i = fields.find(beast::string_view{name.data(), name.size()});
  if (i == fields.end())
    return {};
  return {i->value().data(), i->value().size()};
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

void request_reader::skip_body() {
  impl_->skip();
}

std::string request_reader::take_body() {
  return std::move(impl_->parser_->get().body());
}

void request_reader::next() {
  impl_->next();
}

} // namespace tidegate::http
