#include "http/process_figures.hpp"

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

#include <sys/resource.h>
#include <unistd.h>

namespace tidegate::http {

namespace {

std::string read_file(const char* path) {
  std::ifstream in{path};
  return {std::istreambuf_iterator<char>{in}, {}};
}

/// Returns when the system was started. Unit: seconds since the Unix epoch.
double boot_seconds() {
  std::istringstream in{read_file("/proc/stat")};
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("btime "))
      return std::stod(line.substr(6));
  return 0;
}

/// Reads the fields of `/proc/self/stat` from the third one on: the second is
/// the name of the program in parentheses, which may have blanks.
void read_stat(process_figures& out) {
  auto text = read_file("/proc/self/stat");
  auto name_end = text.rfind(')');
  if (name_end == std::string::npos)
    return;
  std::istringstream in{text.substr(name_end + 1)};
  double field[23] = {};
  std::string state;
  in >> state;
  // Numbered as in proc(5), from 4 on.
  for (auto i = 4; i <= 22 && in; ++i)
    in >> field[i];
  auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  if (ticks <= 0)
    return;
  out.cpu_seconds = (field[14] + field[15]) / ticks;
  out.threads = static_cast<std::uint64_t>(field[20]);
  static const auto boot = boot_seconds();
  out.start_seconds = boot + field[22] / ticks;
}

} // namespace

process_figures read_process_figures() {
  process_figures result;
  std::istringstream memory{read_file("/proc/self/statm")};
  auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  if (memory >> result.virtual_bytes >> result.resident_bytes) {
    result.virtual_bytes *= page;
    result.resident_bytes *= page;
  }
  read_stat(result);
  std::error_code failed;
  std::filesystem::directory_iterator files{"/proc/self/fd", failed};
  if (!failed)
    result.open_files =
      static_cast<std::uint64_t>(std::distance(begin(files), end(files)));
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
    result.open_files_max = limit.rlim_cur;
  return result;
}

std::uint64_t size_of_file(const std::filesystem::path& file) {
  std::error_code failed;
  auto result = std::filesystem::file_size(file, failed);
  return failed ? 0 : result;
}

} // namespace tidegate::http
