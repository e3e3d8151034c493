// Answers in the order of their requests.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "http/body_room.hpp"
#include "http/message.hpp"
#include "http/response_writer.hpp"

namespace tidegate::http {

/// The requests of one connection that are not answered yet, oldest first.
/// Answers may come in any order and leave in the order of the requests
/// (RFC 9112, section 9.3.2).
class pipeline {
public:
  /// Adds a request and returns its number. `bytes` is what it counts for until
  /// it is answered, `watch` who waits for that, or null, and `hold` what room
  /// it has until then.
  std::uint64_t open(response_frame frame, std::size_t bytes,
                     std::shared_ptr<client_watch> watch = {},
                     body_hold hold = {});

  /// Adds bytes that go out between the answers around them.
  void insert(std::string bytes);

  /// Answers a request. Does nothing where it was answered before. Whoever was
  /// told to be gone is not given what was meant for them.
  void answer(std::uint64_t number, const response& what,
              std::string_view date);

  /// The client sends nothing more: whoever waits for a call that is open now
  /// has gone away.
  void end_waits();

  /// The client is gone: nobody waits, and nothing gets there.
  void abandon();

  /// Whether there is a call whose client may go away while it waits.
  bool has_waits() const;

  /// Whether nobody is there for any of the answers that are still to come.
  bool is_abandoned() const;

  /// Makes the newest answer the last one: it says `connection: close` if it is
  /// still to come.
  void end_after_newest();

  /// Appends to `out` all the answers whose turn it is, and to `notices` who
  /// wants to hear whether they get there. Returns the body of the last one,
  /// where that is a stream.
  std::shared_ptr<body_stream>
  take_ready(std::string& out,
             std::vector<std::shared_ptr<loss_notice>>& notices);

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
    std::shared_ptr<client_watch> watch;
    std::shared_ptr<loss_notice> notice;
    std::shared_ptr<body_stream> stream;
    body_hold hold;
  };

  std::deque<slot> slots_;

  /// Number of the first slot.
  std::uint64_t first_ = 0;

  std::size_t bytes_ = 0;
};

} // namespace tidegate::http
