#include "http/cli_client.hpp"

#include <algorithm>
#include <optional>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include "actors/core/shown_url.hpp"
#include "http/client_tls.hpp"
#include "http/webhook_url.hpp"

namespace tidegate::http {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;

using boost::system::error_code;
using tls_stream = asio::ssl::stream<beast::tcp_stream&>;
using request = beast::http::request<beast::http::string_body>;
using parser = beast::http::response_parser<beast::http::string_body>;

/// Runs one operation to its end. `start` is given what to call with the error
/// when it has ended; the stream's deadline bounds it.
template <class F>
error_code wait_for(asio::io_context& io, F start) {
  error_code how;
  start([&how](error_code failure, auto&&...) { how = failure; });
  io.restart();
  io.run();
  return how;
}

/// Sends and reads. A server may refuse what it has not read to the end: then
/// sending fails, and its answer is there all the same.
template <class Stream>
error_code
exchange(asio::io_context& io, Stream& stream, request& asked, parser& answer) {
  auto unsent = wait_for(io, [&](auto done) {
    beast::http::async_write(stream, asked, done);
  });
  if (unsent == beast::error::timeout)
    return unsent;
  beast::flat_buffer buffer;
  auto unread = wait_for(io, [&](auto done) {
    beast::http::async_read(stream, buffer, answer, done);
  });
  return unread && unsent ? unsent : unread;
}

/// Adds lines `name: value` that end with CR LF.
void add_fields(request& to, std::string_view lines) {
  while (!lines.empty()) {
    auto line = lines.substr(0, lines.find("\r\n"));
    auto colon = line.find(": ");
    if (colon != std::string_view::npos)
      to.set(std::string{line.substr(0, colon)},
             std::string{line.substr(colon + 2)});
    lines.remove_prefix(std::min(line.size() + 2, lines.size()));
  }
}

/// Reads a body piece by piece.
class stream_reader {
public:
  stream_reader(asio::io_context& io, beast::tcp_stream& lowest,
                std::chrono::milliseconds silence)
    : io_(io), lowest_(lowest), silence_(silence) {
    parser_.body_limit(boost::none);
  }

  template <class Stream>
  error_code run(Stream& stream, request& asked, cli_answer& answer,
                 const std::function<void(std::string_view)>& take) {
    lowest_.expires_after(silence_);
    auto failure = wait_for(io_, [&](auto done) {
      beast::http::async_write(stream, asked, done);
    });
    if (!failure)
      failure = wait_for(io_, [&](auto done) {
        beast::http::async_read_header(stream, buffer_, parser_, done);
      });
    answer.status = failure ? 0 : parser_.get().result_int();
    while (!failure && !parser_.is_done())
      failure = read_some(stream, answer, take);
    return failure;
  }

private:
  template <class Stream>
  error_code read_some(Stream& stream, cli_answer& answer,
                       const std::function<void(std::string_view)>& take) {
    char piece[4096];
    auto& body = parser_.get().body();
    body.data = piece;
    body.size = sizeof piece;
    lowest_.expires_after(silence_);
    auto failure = wait_for(io_, [&](auto done) {
      beast::http::async_read_some(stream, buffer_, parser_, done);
    });
    std::string_view got{piece, sizeof piece - body.size};
    if (answer.status == 200)
      take(got);
    else if (answer.body.size() < error_max)
      answer.body += got;
    return failure == beast::http::error::need_buffer ? error_code{} : failure;
  }

  /// Longest body of an answer that is no success.
  static constexpr std::size_t error_max = 64 * 1024;

  asio::io_context& io_;
  beast::tcp_stream& lowest_;
  std::chrono::milliseconds silence_;
  beast::flat_buffer buffer_;
  beast::http::response_parser<beast::http::buffer_body> parser_;
};

} // namespace

struct cli_client::parts {
  cli_target target;
  webhook_url url;
  std::string prefix;
  std::shared_ptr<asio::ssl::context> tls;
  asio::io_context io{1};

  error unreachable(const std::string& why) const {
    return {errc::not_found,
            "cannot reach " + shown_url(target.url) + ": " + why};
  }

  request make_request(std::string_view method, std::string_view path,
                       std::string_view body) const;
  std::optional<error> connect(beast::tcp_stream& stream);
  std::optional<error> secure(tls_stream& stream);

  /// Calls `use` with a stream to the server and its lowest layer, which has
  /// the deadline. `use` returns how that went.
  template <class F>
  std::optional<error> on_connection(F use);
};

request cli_client::parts::make_request(std::string_view method,
                                        std::string_view path,
                                        std::string_view body) const {
  request asked;
  asked.version(11);
  asked.method_string({method.data(), method.size()});
  asked.target(prefix + std::string{path});
  asked.set(beast::http::field::host, url.authority);
  asked.set(beast::http::field::user_agent, "tidegate/" TIDEGATE_VERSION);
  asked.set(beast::http::field::authorization, "Bearer " + target.key);
  asked.set(beast::http::field::connection, "close");
  if (!body.empty())
    asked.set(beast::http::field::content_type, "application/json");
  asked.body() = body;
  asked.prepare_payload();
  return asked;
}

std::optional<error> cli_client::parts::connect(beast::tcp_stream& stream) {
  error_code failure;
  asio::ip::tcp::resolver resolver{io};
  auto found = resolver.resolve(url.host, std::to_string(url.port),
                                asio::ip::resolver_base::numeric_service,
                                failure);
  if (failure)
    return unreachable(failure.message());
  stream.expires_after(target.connect_timeout);
  failure = wait_for(io, [&](auto done) { stream.async_connect(found, done); });
  if (failure)
    return unreachable(failure.message());
  return std::nullopt;
}

std::optional<error> cli_client::parts::secure(tls_stream& stream) {
  if (!expect_host(stream.native_handle(), url.host))
    return unreachable("its name cannot be checked");
  auto failure = wait_for(io, [&](auto done) {
    stream.async_handshake(asio::ssl::stream_base::client, done);
  });
  if (failure == beast::error::timeout)
    return unreachable("the TLS handshake took too long");
  if (failure)
    return unreachable(
      explain_handshake(stream.native_handle(), failure.message()).text);
  return std::nullopt;
}

template <class F>
std::optional<error> cli_client::parts::on_connection(F use) {
  beast::tcp_stream stream{io};
  if (auto reason = connect(stream))
    return reason;
  error_code failure;
  if (tls) {
    tls_stream inside{stream, *tls};
    if (auto reason = secure(inside))
      return reason;
    failure = use(inside, stream);
  } else {
    failure = use(stream, stream);
  }
  if (failure)
    return unreachable("no answer: " + failure.message());
  return std::nullopt;
}

result<cli_client> cli_client::make(cli_target target) {
  auto url = parse_webhook_url(target.url);
  if (!url)
    return error{errc::validation_failed, "--url \"" + shown_url(target.url)
                                            + "\": " + url.reason().message};
  if (url->target.find('?') != std::string::npos)
    return error{errc::validation_failed,
                 "--url \"" + target.url + "\": it must have no query"};
  auto content = std::make_unique<parts>();
  content->prefix = url->target;
  while (content->prefix.ends_with('/'))
    content->prefix.pop_back();
  if (url->tls) {
    auto tls = make_tls_context(target.tls_ca);
    if (!tls)
      return tls.reason();
    content->tls = std::move(*tls);
  }
  content->target = std::move(target);
  content->url = std::move(*url);
  return cli_client{std::move(content)};
}

cli_client::cli_client(std::unique_ptr<parts> content)
  : parts_(std::move(content)) {
  // nop
}

cli_client::cli_client(cli_client&& other) noexcept = default;

cli_client& cli_client::operator=(cli_client&& other) noexcept = default;

cli_client::~cli_client() = default;

result<cli_answer> cli_client::call(std::string_view method,
                                    std::string_view path,
                                    std::string_view body) {
  auto asked = parts_->make_request(method, path, body);
  parser answer;
  answer.body_limit(cli_answer_max);
  auto& io = parts_->io;
  auto reason = parts_->on_connection([&](auto& stream, auto& lowest) {
    lowest.expires_after(parts_->target.answer_timeout);
    return exchange(io, stream, asked, answer);
  });
  if (reason)
    return *reason;
  auto got = answer.release();
  return cli_answer{got.result_int(), std::move(got.body())};
}

result<cli_answer>
cli_client::follow(std::string_view path, std::string_view headers,
                   const std::function<void(std::string_view)>& take) {
  auto asked = parts_->make_request("GET", path, {});
  add_fields(asked, headers);
  asked.set(beast::http::field::accept, "text/event-stream");
  cli_answer answer;
  auto reason = parts_->on_connection([&](auto& stream, auto& lowest) {
    stream_reader reader{parts_->io, lowest, parts_->target.silence_timeout};
    return reader.run(stream, asked, answer, take);
  });
  if (reason)
    return *reason;
  return answer;
}

} // namespace tidegate::http
