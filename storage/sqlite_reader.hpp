// The door for reading, on a connection of its own.

#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "tidegate/store.hpp"

namespace tidegate {

/// Opens a connection of its own that cannot write. Each call is one short
/// transaction, so that a reader never keeps the log from being moved into the
/// file for longer than a call takes.
result<std::unique_ptr<store_reader>>
open_sqlite_reader(const std::filesystem::path& file, const std::string& vfs,
                   std::chrono::milliseconds busy_timeout);

} // namespace tidegate
