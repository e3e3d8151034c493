// How much of what clients send may be in memory at a time.

#pragma once

#include <atomic>
#include <cstddef>

namespace tidegate::http {

/// Counts the bytes of requests that are being read or wait for their answer,
/// over all connections of a server. Safe to use from any thread.
class body_room {
public:
  /// @param max bytes that there is room for. A single request has room
  ///            where there is no other one, however large it is.
  explicit body_room(std::size_t max) : max_(max) {
    // nop
  }

  /// Takes room for so many bytes, if there is as much.
  bool take(std::size_t bytes);

  void give_back(std::size_t bytes);

  std::size_t taken() const {
    return taken_.load();
  }

private:
  const std::size_t max_;
  std::atomic<std::size_t> taken_ = 0;
};

/// The room that one request has, which it gives back when it is destroyed. The
/// `body_room` has to outlive it.
class body_hold {
public:
  body_hold() = default;

  body_hold(body_hold&& other) noexcept;

  body_hold& operator=(body_hold&& other) noexcept;

  ~body_hold();

  /// Has room for so many bytes from now on, and not for what it had before.
  /// Returns false, and changes nothing, where there is no such room.
  bool resize(body_room& room, std::size_t bytes);

  void release();

  std::size_t bytes() const {
    return bytes_;
  }

private:
  body_room* room_ = nullptr;
  std::size_t bytes_ = 0;
};

} // namespace tidegate::http
