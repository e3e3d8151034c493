// Errors as values: an enum says what went wrong, the text is for people.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tidegate {

/// What can go wrong with a request to Tidegate. The value 0 is reserved: CAF
/// takes it for "no error". Numbers are part of the protocol between nodes, so
/// they are only ever added.
enum class errc : std::uint8_t {
  /// One or more fields are missing, of the wrong type or out of range.
  validation_failed = 1,
  /// No queue of that name.
  queue_not_found = 2,
  /// A queue of that name exists.
  queue_exists = 3,
  /// The queue still has live jobs and `force` was not given.
  queue_not_empty = 4,
  /// No job of that id.
  job_not_found = 5,
  /// More work is waiting for the disk than the server takes on.
  overloaded = 6,
  /// The server is stopping.
  draining = 7,
  /// The store could not read or write; nothing was changed.
  storage_unavailable = 8,
  /// The queue has as many live jobs as its `maxDepth` allows.
  queue_full = 9,
  /// A callback for a queue in standard mode.
  not_ack_mode = 10,
  /// A callback for a job of which no outcome is owed.
  not_awaiting_outcome = 11,
  /// A callback for a delivery that is not the one whose outcome is owed.
  stale_delivery = 12,
  /// The job is completed: it cannot be failed or cancelled any more.
  job_completed = 13,
  /// The job is dead: it cannot be completed or cancelled any more.
  job_dead = 14,
  /// Only a dead job can be replayed.
  not_dead = 15,
  /// No such key, operation or other thing that has no code of its own.
  not_found = 16,
  /// The queue is of the other kind.
  wrong_queue_kind = 17,
  /// No message of that id.
  message_not_found = 18,
  /// The message is not leased now, or not under this receipt handle.
  message_not_in_flight = 19,
};

/// Returns the `code` that the HTTP API and the logs show, e.g.
/// `queue_not_found`.
const char* to_string(errc code);

/// Says which field is wrong, and how: value and range stand in `message`.
struct field_error {
  /// Name as the caller spells it, e.g. `backoff.factor`.
  std::string field;
  /// A sentence without the field's name, e.g. `must be 0 to 1, got 7`.
  std::string message;
  bool operator==(const field_error&) const = default;
};

/// Why a request was refused. Nothing has been changed.
struct error {
  errc code;
  /// One sentence for people.
  std::string message;
  bool operator==(const error&) const = default;
};

/// Returns the refusal for the sake of one field.
inline error to_error(const field_error& wrong) {
  return {errc::validation_failed, wrong.field + " " + wrong.message};
}

/// Either a value or the reason why there is none.
template <class T>
class [[nodiscard]] result {
public:
  /// Holds a value.
  result(T value) : content_(std::in_place_index<0>, std::move(value)) {
    // nop
  }

  /// Holds the reason why there is none.
  result(error reason) : content_(std::in_place_index<1>, std::move(reason)) {
    // nop
  }

  /// Returns whether it holds a value.
  explicit operator bool() const noexcept {
    return content_.index() == 0;
  }

  /// @pre holds a value
  T& operator*() {
    return std::get<0>(content_);
  }

  const T& operator*() const {
    return std::get<0>(content_);
  }

  T* operator->() {
    return &std::get<0>(content_);
  }

  const T* operator->() const {
    return &std::get<0>(content_);
  }

  /// @pre holds an error
  const error& reason() const {
    return std::get<1>(content_);
  }

private:
  std::variant<T, error> content_;
};

} // namespace tidegate
