#include "http/pipeline.hpp"

namespace tidegate::http {

std::uint64_t pipeline::open(response_frame frame, std::size_t bytes) {
  slots_.push_back({std::move(frame), false, bytes, {}});
  bytes_ += bytes;
  return first_ + slots_.size() - 1;
}

void pipeline::insert(std::string bytes) {
  bytes_ += bytes.size();
  auto size = bytes.size();
  slots_.push_back({{}, true, size, std::move(bytes)});
}

void pipeline::answer(std::uint64_t number, const response& what,
                      std::string_view date) {
  auto index = number - first_;
  if (index >= slots_.size() || slots_[index].ready)
    return;
  auto& slot = slots_[index];
  append_response(slot.text, what, slot.frame, date);
  slot.ready = true;
  bytes_ += slot.text.size() - slot.bytes;
  slot.bytes = slot.text.size();
}

void pipeline::end_after_newest() {
  if (!slots_.empty())
    slots_.back().frame.keep_alive = false;
}

void pipeline::take_ready(std::string& out) {
  while (!slots_.empty() && slots_.front().ready) {
    auto& slot = slots_.front();
    if (out.empty())
      out = std::move(slot.text);
    else
      out += slot.text;
    bytes_ -= slot.bytes;
    slots_.pop_front();
    ++first_;
  }
}

} // namespace tidegate::http
