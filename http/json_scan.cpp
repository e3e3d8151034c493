#include "http/json_scan.hpp"

#include <array>

#include "http/utf8.hpp"

namespace tidegate::http {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// Which bytes stand for themselves inside of a string.
constexpr auto is_plain = [] {
  std::array<bool, 256> result{};
  for (std::size_t c = 0x20; c < 0x80; ++c)
    result[c] = c != '"' && c != '\\';
  return result;
}();

/// Reads a text from its start to its end, once. Every member function returns
/// whether all is well; `fault` says what is not.
class scanner {
public:
  scanner(std::string_view text, unsigned depth_max)
    : text_(text), depth_max_(depth_max) {
    // nop
  }

  bool document(json_outline& out) {
    skip_blanks();
    if (at_end())
      return fail("expected a value");
    out.kind = kind_of(text_.substr(at_));
    if (!value(&out.parts))
      return false;
    skip_blanks();
    return at_end() || fail("expected the end");
  }

  json_fault fault() const {
    return {fault_, at_};
  }

private:
  bool at_end() const {
    return at_ == text_.size();
  }

  /// Returns the next byte, or NUL at the end: no grammar rule wants a NUL.
  char next() const {
    return at_end() ? '\0' : text_[at_];
  }

  bool fail(const char* what) {
    fault_ = what;
    return false;
  }

  bool skip(char c) {
    if (next() != c || at_end())
      return false;
    ++at_;
    return true;
  }

  void skip_blanks() {
    while (!at_end()) {
      auto c = text_[at_];
      if (c != ' ' && c != '\n' && c != '\r' && c != '\t')
        return;
      ++at_;
    }
  }

  bool word(std::string_view expected) {
    if (!text_.substr(at_).starts_with(expected))
      return fail("expected a value");
    at_ += expected.size();
    return true;
  }

  bool value(std::vector<json_part>* parts) {
    switch (next()) {
      case '{':
        return object(parts);
      case '[':
        return array(parts);
      case '"':
        return string();
      case 't':
        return word("true");
      case 'f':
        return word("false");
      case 'n':
        return word("null");
      default:
        return number();
    }
  }

  bool enter() {
    if (depth_ == depth_max_)
      return fail("nested too deeply");
    ++depth_;
    ++at_;
    skip_blanks();
    return true;
  }

  bool leave() {
    --depth_;
    return true;
  }

  bool object(std::vector<json_part>* parts) {
    if (!enter())
      return false;
    if (skip('}'))
      return leave();
    do {
      skip_blanks();
      auto start = at_;
      if (next() != '"')
        return fail("expected a key");
      if (!string())
        return false;
      auto key = text_.substr(start, at_ - start);
      skip_blanks();
      if (!skip(':'))
        return fail("expected ':'");
      if (!element(key, parts))
        return false;
    } while (skip(','));
    return skip('}') ? leave() : fail("expected ',' or '}'");
  }

  bool array(std::vector<json_part>* parts) {
    if (!enter())
      return false;
    if (skip(']'))
      return leave();
    do {
      if (!element({}, parts))
        return false;
    } while (skip(','));
    return skip(']') ? leave() : fail("expected ',' or ']'");
  }

  bool element(std::string_view key, std::vector<json_part>* parts) {
    skip_blanks();
    auto start = at_;
    if (!value(nullptr))
      return false;
    if (parts)
      parts->push_back({key, text_.substr(start, at_ - start)});
    skip_blanks();
    return true;
  }

  /// Passes over what needs no second look, which is nearly everything.
  void skip_plain() {
    auto i = at_;
    while (i < text_.size() && is_plain[static_cast<unsigned char>(text_[i])])
      ++i;
    at_ = i;
  }

  bool string() {
    ++at_;
    for (skip_plain(); !at_end(); skip_plain()) {
      auto c = static_cast<unsigned char>(text_[at_]);
      if (c == '"') {
        ++at_;
        return true;
      }
      if (c < 0x20)
        return fail("control character in a string");
      if (c == '\\') {
        if (!escape())
          return false;
      } else if (auto n = c < 0x80 ? 1 : utf8_length(text_, at_); n != 0) {
        at_ += n;
      } else {
        return fail("invalid UTF-8");
      }
    }
    return fail("unterminated string");
  }

  bool escape() {
    ++at_;
    if (skip('u')) {
      for (auto i = 0; i < 4; ++i, ++at_)
        if (!is_hex(next()))
          return fail("invalid escape");
      return true;
    }
    constexpr std::string_view letters = "\"\\/bfnrt";
    if (at_end() || letters.find(next()) == std::string_view::npos)
      return fail("invalid escape");
    ++at_;
    return true;
  }

  bool digits() {
    if (!is_digit(next()))
      return fail("expected a digit");
    while (is_digit(next()))
      ++at_;
    return true;
  }

  bool number() {
    auto negative = skip('-');
    if (!negative && !is_digit(next()))
      return fail("expected a value");
    if (!skip('0') && !digits())
      return false;
    if (skip('.') && !digits())
      return false;
    if (!skip('e') && !skip('E'))
      return true;
    if (!skip('+'))
      skip('-');
    return digits();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  unsigned depth_ = 0;
  unsigned depth_max_;
  const char* fault_ = "";
};

} // namespace

const char* to_string(json_kind kind) {
  switch (kind) {
    case json_kind::object:
      return "an object";
    case json_kind::array:
      return "an array";
    case json_kind::string:
      return "a string";
    case json_kind::number:
      return "a number";
    case json_kind::boolean:
      return "a boolean";
    case json_kind::null:
      return "null";
  }
  return "unknown";
}

json_kind kind_of(std::string_view value) {
  switch (value.front()) {
    case '{':
      return json_kind::object;
    case '[':
      return json_kind::array;
    case '"':
      return json_kind::string;
    case 't':
    case 'f':
      return json_kind::boolean;
    case 'n':
      return json_kind::null;
    default:
      return json_kind::number;
  }
}

std::variant<json_outline, json_fault> scan_json(std::string_view text,
                                                 unsigned depth_max) {
  scanner in{text, depth_max};
  json_outline out;
  if (!in.document(out))
    return in.fault();
  return out;
}

} // namespace tidegate::http
