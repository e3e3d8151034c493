#include "http/pipeline.hpp"

#include <algorithm>

#include "http/problem.hpp"

namespace tidegate::http {

std::uint64_t pipeline::open(response_frame frame, std::size_t bytes,
                             std::shared_ptr<client_watch> watch,
                             body_hold hold) {
  slots_.push_back({std::move(frame),
                    false,
                    bytes,
                    {},
                    std::move(watch),
                    {},
                    {},
                    std::move(hold)});
  bytes_ += bytes;
  return first_ + slots_.size() - 1;
}

void pipeline::insert(std::string bytes) {
  bytes_ += bytes.size();
  auto size = bytes.size();
  slots_.push_back({{}, true, size, std::move(bytes), {}, {}, {}, {}});
}

void pipeline::answer(std::uint64_t number, const response& what,
                      std::string_view date) {
  auto index = number - first_;
  if (index >= slots_.size() || slots_[index].ready)
    return;
  auto& slot = slots_[index];
  if (slot.watch && slot.watch->gone) {
    append_response(slot.text,
                    make_problem(problem::overloaded,
                                 "The client went away while it waited",
                                 slot.frame.family),
                    slot.frame, date);
  } else {
    append_response(slot.text, what, slot.frame, date);
    // Without a body nobody reads the stream: the notice says so.
    if (!what.stream || !slot.frame.head_only) {
      slot.notice = what.notice;
      slot.stream = what.stream;
    }
  }
  slot.watch.reset();
  slot.hold.release();
  slot.ready = true;
  bytes_ += slot.text.size() - slot.bytes;
  slot.bytes = slot.text.size();
}

void pipeline::end_after_newest() {
  if (!slots_.empty())
    slots_.back().frame.keep_alive = false;
}

void pipeline::end_waits() {
  for (auto& slot : slots_)
    if (slot.watch && slot.watch->wanted)
      slot.watch->gone = true;
}

void pipeline::abandon() {
  for (auto& slot : slots_) {
    if (slot.watch)
      slot.watch->gone = true;
    slot.notice.reset();
  }
}

bool pipeline::has_waits() const {
  return std::any_of(slots_.begin(), slots_.end(),
                     [](const slot& x) { return x.watch && x.watch->wanted; });
}

bool pipeline::is_abandoned() const {
  return std::all_of(slots_.begin(), slots_.end(),
                     [](const slot& x) { return x.watch && x.watch->gone; });
}

std::shared_ptr<body_stream>
pipeline::take_ready(std::string& out,
                     std::vector<std::shared_ptr<loss_notice>>& notices) {
  std::shared_ptr<body_stream> stream;
  while (!slots_.empty() && slots_.front().ready) {
    auto& slot = slots_.front();
    if (out.empty())
      out = std::move(slot.text);
    else
      out += slot.text;
    if (slot.notice)
      notices.push_back(std::move(slot.notice));
    stream = std::move(slot.stream);
    bytes_ -= slot.bytes;
    slots_.pop_front();
    ++first_;
  }
  return stream;
}

} // namespace tidegate::http
