#include "http/json_writer.hpp"

#include <charconv>
#include <cmath>

#include "http/utf8.hpp"

namespace tidegate::http {

namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";

template <class T>
void append_number(std::string& out, T number) {
  char text[32];
  auto end = std::to_chars(text, text + sizeof(text), number).ptr;
  out.append(text, end);
}

bool is_plain(char c) {
  auto x = static_cast<unsigned char>(c);
  return x >= 0x20 && x < 0x80 && c != '"' && c != '\\';
}

void append_escaped(std::string& out, char c) {
  constexpr std::string_view hex = "0123456789abcdef";
  switch (c) {
    case '"':
    case '\\':
      out += '\\';
      out += c;
      break;
    case '\n':
      out += "\\n";
      break;
    case '\r':
      out += "\\r";
      break;
    case '\t':
      out += "\\t";
      break;
    default:
      out += "\\u00";
      out += hex[static_cast<unsigned char>(c) >> 4];
      out += hex[static_cast<unsigned char>(c) & 15];
  }
}

} // namespace

json_writer& json_writer::key(std::string_view name) {
  separate();
  string(name);
  out_ += ':';
  comma_ = false;
  return *this;
}

json_writer& json_writer::value(std::string_view text) {
  separate();
  string(text);
  return *this;
}

json_writer& json_writer::value(std::uint64_t number) {
  separate();
  append_number(out_, number);
  return *this;
}

json_writer& json_writer::value(double number) {
  constexpr auto exact_max = 9007199254740992.0;
  separate();
  if (std::trunc(number) == number && std::abs(number) <= exact_max)
    append_number(out_, static_cast<std::int64_t>(number));
  else
    append_number(out_, number);
  return *this;
}

json_writer& json_writer::raw(std::string_view json) {
  separate();
  out_ += json;
  return *this;
}

json_writer& json_writer::open(char bracket) {
  separate();
  out_ += bracket;
  comma_ = false;
  return *this;
}

json_writer& json_writer::close(char bracket) {
  out_ += bracket;
  comma_ = true;
  return *this;
}

void json_writer::separate() {
  if (comma_)
    out_ += ',';
  comma_ = true;
}

void json_writer::string(std::string_view text) {
  out_ += '"';
  for (std::size_t i = 0; i < text.size();) {
    auto start = i;
    while (i < text.size() && is_plain(text[i]))
      ++i;
    out_ += text.substr(start, i - start);
    if (i == text.size())
      break;
    if (static_cast<unsigned char>(text[i]) < 0x80) {
      append_escaped(out_, text[i]);
      ++i;
    } else if (auto n = utf8_length(text, i); n != 0) {
      out_ += text.substr(i, n);
      i += n;
    } else {
      out_ += replacement;
      ++i;
    }
  }
  out_ += '"';
}

} // namespace tidegate::http
