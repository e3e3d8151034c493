#include "tests/bench/items.hpp"

#include "tests/bench/message_cutter.hpp"

namespace tidegate::bench {

std::vector<item> cut_items(std::string_view body) {
  constexpr std::string_view label = "\"message_id\":\"";
  std::vector<item> result;
  auto at = body.find(label);
  while (at != std::string_view::npos) {
    auto next = body.find(label, at + label.size());
    auto text = body.substr(at, next - at);
    result.push_back({text_after(text, label),
                      text_after(text, "\"receipt_handle\":\""), text});
    at = next;
  }
  return result;
}

} // namespace tidegate::bench
