// The store on one SQLite file.

#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "tidegate/store.hpp"

namespace tidegate {

/// Which file, and how it is used.
struct sqlite_options {
  /// The data file. Created where there is none, in a directory that exists.
  std::filesystem::path file;

  /// Pages in the write-ahead log from which on a commit also moves it into the
  /// file. More makes the slowest commits slower, less makes all of them so.
  std::uint32_t log_pages = 1000;

  /// Most memory for pages of the file in the connection that writes.
  /// Unit: KiB.
  std::uint32_t cache_kib = 16 * 1024;

  /// How long to wait for another program that has the file locked.
  std::chrono::milliseconds busy_timeout{5000};

  /// `reopen` reads the whole file if it is no larger than this, else only the
  /// tables without jobs. Unit: bytes.
  std::uint64_t full_check_bytes_max = 64 * 1024 * 1024;

  /// Name of the file layer that SQLite is to use; empty: its default.
  std::string vfs{};
};

/// Opens the store in `options.file`, bringing the file to the present version
/// first. Fails, and leaves the file as it is, where it is no database, belongs
/// to another program, was written by a newer Tidegate, or is in use by another
/// server.
result<std::unique_ptr<store>> open_sqlite_store(const sqlite_options& options);

} // namespace tidegate
