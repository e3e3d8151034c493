// A store that fails when it is told to.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "tidegate/store.hpp"

namespace tidegate::testkit {

/// What the test tells a faulty store. Shared with it.
struct store_faults {
  /// Commits that succeed before one fails; empty: none fails.
  std::optional<std::uint64_t> commits_until_failure;

  /// Whether a commit that fails has nevertheless been stored: the answer was
  /// lost, not the data.
  bool failure_keeps_data = false;

  /// While set, nothing can be written and `reopen` fails.
  bool down = false;

  /// Commits that succeeded, and commits that failed.
  std::uint64_t commits = 0;
  std::uint64_t failures = 0;

  /// Largest batch that was committed.
  std::size_t batch_max = 0;
};

/// Returns `real` with faults. Like a real store it refuses everything after a
/// failed commit until it has been reopened.
std::unique_ptr<store> make_faulty_store(std::unique_ptr<store> real,
                                         std::shared_ptr<store_faults> faults);

} // namespace tidegate::testkit
