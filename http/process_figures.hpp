// What the operating system says about this process.

#pragma once

#include <cstdint>
#include <filesystem>

namespace tidegate::http {

/// Figures of this process, from `/proc/self` (proc(5)). 0 where one cannot be
/// read.
struct process_figures {
  std::uint64_t resident_bytes = 0;
  std::uint64_t virtual_bytes = 0;
  std::uint64_t open_files = 0;
  std::uint64_t open_files_max = 0;
  std::uint64_t threads = 0;

  /// Time on the processor, ours and the kernel's for us. Unit: seconds.
  double cpu_seconds = 0;

  /// Unit: seconds since the Unix epoch.
  double start_seconds = 0;
};

/// Reads some small files; may take a millisecond.
process_figures read_process_figures();

/// Returns the size of a file, 0 where there is none.
std::uint64_t size_of_file(const std::filesystem::path& file);

} // namespace tidegate::http
