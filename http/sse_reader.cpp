#include "http/sse_reader.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace tidegate::http {

sse_reader::sse_reader(std::function<void(const sse_event&)> on_event)
  : on_event_(std::move(on_event)) {
  // nop
}

void sse_reader::feed(std::string_view bytes) {
  for (auto c : bytes) {
    auto second_half = after_return_ && c == '\n';
    after_return_ = c == '\r';
    if (second_half)
      continue;
    if (c == '\n' || c == '\r')
      take_line();
    else if (line_.size() < sse_max)
      line_ += c;
    else
      line_too_long_ = true;
  }
}

void sse_reader::reset() {
  line_.clear();
  type_.clear();
  data_.clear();
  line_too_long_ = after_return_ = has_data_ = event_too_long_ = false;
  id_ = last_id_;
}

void sse_reader::take_line() {
  auto line = std::exchange(line_, {});
  if (std::exchange(line_too_long_, false)) {
    event_too_long_ = true;
    return;
  }
  if (line.empty()) {
    dispatch();
    return;
  }
  std::string_view text{line};
  auto name = text.substr(0, text.find(':'));
  auto value = text.substr(std::min(name.size() + 1, text.size()));
  if (value.starts_with(' '))
    value.remove_prefix(1);
  take_field(name, value);
}

void sse_reader::take_field(std::string_view name, std::string_view value) {
  if (name == "event") {
    type_ = value;
  } else if (name == "data") {
    if (data_.size() + value.size() > sse_max) {
      event_too_long_ = true;
      return;
    }
    if (has_data_)
      data_ += '\n';
    data_ += value;
    has_data_ = true;
  } else if (name == "id" && value.find('\0') == std::string_view::npos) {
    id_ = value;
  } else if (name == "retry") {
    std::int64_t milliseconds = 0;
    auto last = value.data() + value.size();
    auto [end, failure] = std::from_chars(value.data(), last, milliseconds);
    if (failure == std::errc{} && end == last && milliseconds >= 0
        && milliseconds <= 600'000)
      retry_ = duration{milliseconds * 1000};
  }
}

void sse_reader::dispatch() {
  last_id_ = id_;
  sse_event event{type_.empty() ? "message" : std::exchange(type_, {}),
                  std::exchange(data_, {})};
  type_.clear();
  auto whole = !std::exchange(event_too_long_, false);
  if (std::exchange(has_data_, false) && whole)
    on_event_(event);
}

} // namespace tidegate::http
