// A copy of a data file, whether a server is using it or not.

#pragma once

#include <filesystem>
#include <optional>

#include "tidegate/error.hpp"
#include "tidegate/sqlite_store.hpp"

namespace tidegate {

/// Copies the data file, which must exist, to `copy`, which must not: it is
/// never overwritten. The copy is what the file held at one moment after the
/// call began, so that everything is in it that was acknowledged before.
///
/// It is written under another name beside `copy`, synced, and only then called
/// so: there is a whole copy, or none. A server that uses the file goes on
/// meanwhile; its log cannot be moved into the file until the copy is there,
/// and grows.
std::optional<error> back_up(const sqlite_options& options,
                             const std::filesystem::path& copy);

} // namespace tidegate
