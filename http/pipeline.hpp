// Answers in the order of their requests.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "http/response_writer.hpp"

namespace tidegate::http {

/// The requests of one connection that are not answered yet, oldest first.
/// Answers may come in any order and leave in the order of the requests
/// (RFC 9112, section 9.3.2).
class pipeline {
public:
  /// Adds a request and returns its number. `bytes` is what it counts for until
  /// it is answered.
  std::uint64_t open(response_frame frame, std::size_t bytes);

  /// Adds bytes that go out between the answers around them.
  void insert(std::string bytes);

  /// Answers a request. Does nothing where it was answered before.
  void answer(std::uint64_t number, const response& what,
              std::string_view date);

  /// Makes the newest answer the last one: it says `connection: close` if it is
  /// still to come.
  void end_after_newest();

  /// Appends to `out` all the answers whose turn it is.
  void take_ready(std::string& out);

  bool empty() const {
    return slots_.empty();
  }

  std::size_t size() const {
    return slots_.size();
  }

  /// What requests without an answer count for, and bytes of answers whose turn
  /// it is not.
  std::size_t bytes() const {
    return bytes_;
  }

private:
  struct slot {
    response_frame frame;
    bool ready = false;
    /// As given before the answer is there, of the answer then.
    std::size_t bytes = 0;
    std::string text;
  };

  std::deque<slot> slots_;

  /// Number of the first slot.
  std::uint64_t first_ = 0;

  std::size_t bytes_ = 0;
};

} // namespace tidegate::http
