#include "http/body_room.hpp"

#include <utility>

namespace tidegate::http {

bool body_room::take(std::size_t bytes) {
  auto taken = taken_.load();
  do {
    if (taken > 0 && (bytes > max_ || taken > max_ - bytes))
      return false;
  } while (!taken_.compare_exchange_weak(taken, taken + bytes));
  return true;
}

void body_room::give_back(std::size_t bytes) {
  taken_ -= bytes;
}

body_hold::body_hold(body_hold&& other) noexcept
  : room_(std::exchange(other.room_, nullptr)),
    bytes_(std::exchange(other.bytes_, 0)) {
  // nop
}

body_hold& body_hold::operator=(body_hold&& other) noexcept {
  if (this != &other) {
    release();
    room_ = std::exchange(other.room_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

body_hold::~body_hold() {
  release();
}

bool body_hold::resize(body_room& room, std::size_t bytes) {
  if (bytes > bytes_ && !room.take(bytes - bytes_))
    return false;
  if (bytes < bytes_)
    room.give_back(bytes_ - bytes);
  room_ = &room;
  bytes_ = bytes;
  return true;
}

void body_hold::release() {
  if (room_ != nullptr)
    room_->give_back(bytes_);
  room_ = nullptr;
  bytes_ = 0;
}

} // namespace tidegate::http
