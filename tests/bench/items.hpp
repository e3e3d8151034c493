// Finds the messages in what a pull queue answers.

#pragma once

#include <string_view>
#include <vector>

namespace tidegate::bench {

/// A message that was received; views of the answer.
struct item {
  std::string_view id;
  std::string_view handle;

  /// All of it, beginning with its id.
  std::string_view text;
};

/// Returns the messages of an answer. They are looked for as text, so that a
/// consumer costs as little as possible.
std::vector<item> cut_items(std::string_view body);

} // namespace tidegate::bench
