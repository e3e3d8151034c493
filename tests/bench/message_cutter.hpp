// Cuts a stream of bytes into HTTP messages.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tidegate::bench {

/// A request or response; views of the bytes that are kept by the cutter.
struct message {
  /// First line and headers, without the empty line.
  std::string_view head;
  std::string_view body;
};

/// Holds what came in over one connection. Knows only bodies with a
/// `content-length`, which is all that the peers of a benchmark send.
class message_cutter {
public:
  void add(std::string_view bytes);

  /// Returns the next whole message, if there is one. It is valid until the
  /// next call of a member function.
  std::optional<message> next();

private:
  std::string bytes_;
  std::size_t used_ = 0;
};

/// Returns the status of a response's head, 0 where there is none.
unsigned status_of(std::string_view head);

/// Returns what stands between `label` and the next quote, empty where there is
/// no `label`.
std::string_view text_after(std::string_view text, std::string_view label);

/// Returns the number that follows `label` in `text`, if there is one.
std::optional<std::uint64_t> number_after(std::string_view text,
                                          std::string_view label);

} // namespace tidegate::bench
