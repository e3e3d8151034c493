#include "storage/data_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <string>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace tidegate {

namespace {

constexpr mode_t owner_only = S_IRUSR | S_IWUSR;

error refusal(const std::string& what, const std::filesystem::path& file) {
  auto why = std::generic_category().message(errno);
  return {errc::storage_unavailable, what + " " + file.string() + ": " + why};
}

std::optional<error> sync_directory(const std::filesystem::path& directory) {
  auto fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return refusal("cannot open", directory);
  auto status = ::fsync(fd);
  auto reason = refusal("cannot sync", directory);
  ::close(fd);
  if (status != 0)
    return reason;
  return std::nullopt;
}

} // namespace

data_file_claim::data_file_claim(int lock_file) : lock_file_(lock_file) {
  // nop
}

data_file_claim::data_file_claim(data_file_claim&& other) noexcept
  : lock_file_(std::exchange(other.lock_file_, -1)) {
  // nop
}

data_file_claim::~data_file_claim() {
  if (lock_file_ >= 0)
    ::close(lock_file_);
}

result<data_file_claim>
data_file_claim::make(const std::filesystem::path& data_file) {
  auto name = data_file;
  name += ".lock";
  auto fd = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, owner_only);
  if (fd < 0)
    return refusal("cannot open", name);
  data_file_claim claim{fd};
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK)
      return error{errc::storage_unavailable,
                   "another server is using " + data_file.string()};
    return refusal("cannot lock", name);
  }
  return claim;
}

std::optional<error> create_data_file(const std::filesystem::path& data_file) {
  auto fd = ::open(data_file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
                   owner_only);
  if (fd >= 0) {
    ::close(fd);
    return sync_directory_of(data_file);
  }
  if (errno != EEXIST)
    return refusal("cannot create", data_file);
  return std::nullopt;
}

std::optional<error> sync_directory_of(const std::filesystem::path& file) {
  auto directory = file.parent_path();
  return sync_directory(directory.empty() ? "." : directory);
}

} // namespace tidegate
