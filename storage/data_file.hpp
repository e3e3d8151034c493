// The data file as a file: who may use it, how it comes into being.

#pragma once

#include <filesystem>
#include <optional>

#include "tidegate/error.hpp"

namespace tidegate {

/// The right to write a data file. Only one server has it at a time; programs
/// that only read, such as a backup, do not ask for it. The operating system
/// takes it back when the process ends, however it ends.
class data_file_claim {
public:
  /// Claims `data_file` by a lock on the file `<data_file>.lock` beside it.
  static result<data_file_claim> make(const std::filesystem::path& data_file);

  data_file_claim(data_file_claim&& other) noexcept;
  data_file_claim& operator=(data_file_claim&&) = delete;
  ~data_file_claim();

private:
  explicit data_file_claim(int lock_file);

  int lock_file_;
};

/// Creates `data_file` empty, for its owner only, and makes its name durable.
/// Leaves a file that exists alone.
std::optional<error> create_data_file(const std::filesystem::path& data_file);

/// Makes the name of `file` durable: syncs the directory that it is in.
std::optional<error> sync_directory_of(const std::filesystem::path& file);

} // namespace tidegate
