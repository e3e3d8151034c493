#include "http/body_stream.hpp"

#include <utility>

namespace tidegate::http {

bool body_stream::has_room() const {
  std::lock_guard guard{mutex_};
  full_ = !ended_ && bytes_.size() + taken_ >= room_;
  return !ended_ && !full_;
}

void body_stream::put(std::string_view bytes) {
  callback tell;
  {
    std::lock_guard guard{mutex_};
    if (ended_)
      return;
    bytes_ += bytes;
    if (!std::exchange(told_, true))
      tell = ready_;
  }
  if (tell)
    tell();
}

void body_stream::end() {
  callback tell;
  {
    std::lock_guard guard{mutex_};
    if (std::exchange(ended_, true))
      return;
    tell = ready_;
  }
  if (tell)
    tell();
}

void body_stream::attach(callback ready) {
  std::lock_guard guard{mutex_};
  ready_ = std::move(ready);
  // The connection looks by itself once more after this.
  told_ = false;
}

void body_stream::take(std::string& out) {
  std::lock_guard guard{mutex_};
  told_ = false;
  taken_ += bytes_.size();
  out += bytes_;
  bytes_.clear();
}

void body_stream::sent() {
  auto tell = false;
  {
    std::lock_guard guard{mutex_};
    taken_ = 0;
    tell = !ended_ && bytes_.size() < room_ && std::exchange(full_, false);
  }
  if (tell && on_room_)
    on_room_();
}

bool body_stream::is_over() const {
  std::lock_guard guard{mutex_};
  return ended_ && bytes_.empty();
}

void body_stream::abandon() {
  {
    std::lock_guard guard{mutex_};
    if (std::exchange(abandoned_, true))
      return;
    ended_ = true;
    bytes_.clear();
    ready_ = nullptr;
  }
  if (on_gone_)
    on_gone_();
}

} // namespace tidegate::http
