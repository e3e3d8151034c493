// The body of a response that comes bit by bit.

#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

namespace tidegate::http {

/// Bytes on their way from whoever writes them to one connection, and how many
/// of them the client has not taken yet. Any thread; no function waits, and
/// none is called back under a lock.
///
/// Whoever makes one sets `on_room` and `on_gone` before anybody else has it.
/// The connection calls `attach` when it is the body's turn, and `abandon` when
/// it ends; where it never gets that far, whoever made the stream has to
/// `abandon` it (see `loss_notice`).
class body_stream {
public:
  using callback = std::function<void()>;

  /// `room`: how many bytes may be unsent before it takes no more.
  explicit body_stream(std::size_t room) : room_(room) {
    // nop
  }

  body_stream(const body_stream&) = delete;

  body_stream& operator=(const body_stream&) = delete;

  // -- whoever writes ---------------------------------------------------------

  /// Called when there is room again after there was none.
  void on_room(callback f) {
    on_room_ = std::move(f);
  }

  /// Called once, when nobody is there any more who would read it.
  void on_gone(callback f) {
    on_gone_ = std::move(f);
  }

  /// Whether it takes something now. The last piece may be larger than the
  /// room.
  bool has_room() const;

  /// Adds bytes. Dropped where the stream has ended.
  void put(std::string_view bytes);

  /// Nothing more comes: the response ends when all of it is sent.
  void end();

  // -- the connection ---------------------------------------------------------

  /// `ready` is called when there is something to `take`, or the end.
  void attach(callback ready);

  /// Appends what there is to `out`.
  void take(std::string& out);

  /// All that was taken has been sent.
  void sent();

  /// Whether the end has come and everything was taken.
  bool is_over() const;

  /// The connection has ended.
  void abandon();

private:
  const std::size_t room_;
  callback on_room_;
  callback on_gone_;

  mutable std::mutex mutex_;
  callback ready_;
  std::string bytes_;

  /// Bytes that were taken and are not sent yet.
  std::size_t taken_ = 0;

  /// Whether `ready_` has been called and nothing was taken since.
  bool told_ = false;

  /// Whether the writer has been told that there is no room.
  mutable bool full_ = false;

  bool ended_ = false;
  bool abandoned_ = false;
};

} // namespace tidegate::http
