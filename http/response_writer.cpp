#include "http/response_writer.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include <openssl/rand.h>

namespace tidegate::http {

namespace {

constexpr std::string_view reason_phrase(unsigned status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 204:
      return "No Content";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 413:
      return "Content Too Large";
    case 417:
      return "Expectation Failed";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    default:
      return "";
  }
}

void append_number(std::string& out, std::uint64_t number) {
  char text[20];
  out.append(text, std::to_chars(text, text + sizeof(text), number).ptr);
}

void append_field(std::string& out, std::string_view name,
                  std::string_view value) {
  out += name;
  out += ": ";
  out += value;
  out += "\r\n";
}

/// What stands around a body.
struct envelope {
  std::string_view head;
  std::string tail;

  std::size_t size_around(std::string_view body) const {
    return head.size() + body.size() + tail.size();
  }
};

/// Appends milliseconds with three decimals.
void append_milliseconds(std::string& out, std::chrono::microseconds span) {
  auto micros = static_cast<std::uint64_t>(
    std::max<std::chrono::microseconds::rep>(span.count(), 0));
  append_number(out, micros / 1000);
  auto rest = std::to_string(1000 + micros % 1000);
  rest[0] = '.';
  out += rest;
}

envelope make_envelope(body_shape shape, const response_frame& frame) {
  using std::chrono::duration_cast;
  using std::chrono::microseconds;
  envelope result;
  if (shape == body_shape::plain)
    return result;
  result.head = shape == body_shape::data ? R"({"ok":true,"data":)"
                                          : R"({"ok":false,"error":)";
  // Whatever is taken for an id needs no escapes.
  result.tail = R"(,"metadata":{"request_id":")";
  result.tail += frame.request_id;
  result.tail += R"(","latency_ms":)";
  auto span = std::chrono::steady_clock::now() - frame.since;
  append_milliseconds(result.tail, duration_cast<microseconds>(span));
  result.tail += "}}";
  return result;
}

} // namespace

void append_response(std::string& out, const response& what,
                     const response_frame& frame, std::string_view date) {
  constexpr std::size_t head_bytes = 256;
  auto around = make_envelope(what.shape, frame);
  auto body_bytes = around.size_around(what.body);
  out.reserve(out.size() + head_bytes + body_bytes);
  out += "HTTP/1.1 ";
  append_number(out, what.status);
  out += ' ';
  out += reason_phrase(what.status);
  out += "\r\n";
  append_field(out, "date", date);
  append_field(out, "x-request-id", frame.request_id);
  if (!frame.keep_alive)
    append_field(out, "connection", "close");
  else if (frame.http_1_0)
    append_field(out, "connection", "keep-alive");
  for (const auto& [name, value] : what.headers)
    append_field(out, name, value);
  if (body_bytes > 0 || what.stream)
    append_field(out, "content-type", what.content_type);
  // RFC 9110, section 8.6: a 204 has none, and a 304 would have to tell that of
  // the body that it leaves out. What is streamed ends with the connection (RFC
  // 9112, section 6.3).
  if (what.status != 204 && what.status != 304 && !what.stream) {
    out += "content-length: ";
    append_number(out, body_bytes);
    out += "\r\n";
  }
  out += "\r\n";
  if (frame.head_only)
    return;
  out += around.head;
  out += what.body;
  out += around.tail;
}

std::string_view date_cache::now() {
  auto now = std::time(nullptr);
  if (now != at_) {
    std::tm parts{};
    gmtime_r(&now, &parts);
    // By hand: strftime speaks the language of the locale.
    constexpr const char* days[] = {"Sun", "Mon", "Tue", "Wed",
                                    "Thu", "Fri", "Sat"};
    constexpr const char* months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    char text[64];
    auto n = std::snprintf(text, sizeof(text),
                           "%s, %02d %s %04d %02d:%02d:%02d GMT",
                           days[parts.tm_wday], parts.tm_mday,
                           months[parts.tm_mon], parts.tm_year + 1900,
                           parts.tm_hour, parts.tm_min, parts.tm_sec);
    text_.assign(text, static_cast<std::size_t>(n));
    at_ = now;
  }
  return text_;
}

bool is_request_id(std::string_view text) {
  constexpr std::size_t length_max = 128;
  auto allowed = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')
           || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
  };
  return !text.empty() && text.size() <= length_max
         && std::all_of(text.begin(), text.end(), allowed);
}

request_ids::request_ids() {
  if (RAND_bytes(reinterpret_cast<unsigned char*>(&state_), sizeof(state_))
      != 1)
    throw std::runtime_error{"no randomness for request ids"};
}

std::string request_ids::next() {
  // Weyl sequence and mixer of SplitMix64: a bijection, so nothing comes twice.
  state_ += 0x9e3779b97f4a7c15;
  auto x = state_;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  x ^= x >> 31;
  constexpr std::string_view hex = "0123456789abcdef";
  std::string text(16, '0');
  for (auto i = text.size(); i-- > 0; x >>= 4)
    text[i] = hex[x & 15];
  return text;
}

} // namespace tidegate::http
