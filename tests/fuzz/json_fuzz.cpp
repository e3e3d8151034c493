// JSON texts as a client may send them.

#include "http/json_scan.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <nlohmann/json.hpp>
#include <string>

namespace tidegate::fuzz {

namespace {

constexpr unsigned depth_max = 32;

/// Knows how deep a text is, and whether it has what nlohmann/json refuses and
/// the grammar allows: a number that no `double` has, or half of a surrogate
/// pair.
class observer : public nlohmann::json_sax<nlohmann::json> {
public:
  bool null() override {
    return true;
  }

  bool boolean(bool) override {
    return true;
  }

  bool number_integer(number_integer_t) override {
    return true;
  }

  bool number_unsigned(number_unsigned_t) override {
    return true;
  }

  bool number_float(number_float_t, const string_t&) override {
    return true;
  }

  bool string(string_t&) override {
    return true;
  }

  bool binary(binary_t&) override {
    return true;
  }

  bool start_object(std::size_t) override {
    return enter();
  }

  bool key(string_t&) override {
    return true;
  }

  bool end_object() override {
    --depth_;
    return true;
  }

  bool start_array(std::size_t) override {
    return enter();
  }

  bool end_array() override {
    --depth_;
    return true;
  }

  bool parse_error(std::size_t, const std::string& token,
                   const nlohmann::json::exception& why) override {
    std::string_view text{why.what()};
    tolerated = why.id == 406
                || text.find("surrogate") != std::string_view::npos;
    static_cast<void>(token);
    return false;
  }

  unsigned deepest = 0;
  bool tolerated = false;

private:
  bool enter() {
    deepest = std::max(deepest, ++depth_);
    return true;
  }

  unsigned depth_ = 0;
};

void check_part(const http::json_part& part, bool in_object) {
  must(!part.value.empty(), "a part has a value");
  must(part.key.empty() != in_object, "keys are in objects and there only");
  auto alone = http::scan_json(part.value, depth_max);
  must(std::holds_alternative<http::json_outline>(alone),
       "a part is JSON by itself");
  must(std::get<http::json_outline>(alone).kind == http::kind_of(part.value),
       "its kind is told by its first byte");
}

} // namespace

void run(std::string_view input) {
  auto scanned = http::scan_json(input, depth_max);
  observer other;
  // That parser skips a byte order mark and takes a zero byte for the end:
  // neither is JSON.
  auto is_strange = input.substr(0, 3) == "\xEF\xBB\xBF"
                    || input.find('\0') != std::string_view::npos;
  auto accepted = nlohmann::json::sax_parse(input, &other) && !is_strange;
  auto outline = std::get_if<http::json_outline>(&scanned);
  if (accepted)
    must((outline != nullptr) == (other.deepest <= depth_max),
         "what another parser takes is taken up to the depth");
  else if (outline)
    must(other.tolerated, "what another parser refuses is refused");
  if (!outline) {
    must(std::get<http::json_fault>(scanned).at <= input.size(),
         "a fault is in the text");
    return;
  }
  for (const auto& part : outline->parts)
    check_part(part, outline->kind == http::json_kind::object);
}

} // namespace tidegate::fuzz
