#include "http/first_key.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <ostream>

namespace tidegate::http {

namespace {

constexpr std::size_t length_min = 24;
constexpr std::size_t length_max = 200;

bool is_well_formed(const std::string& key) {
  return key.size() >= length_min && key.size() <= length_max
         && std::all_of(key.begin(), key.end(), [](char c) {
              return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')
                     || (c >= '0' && c <= '9') || c == '_' || c == '-';
            });
}

/// The key itself is never repeated in a message.
result<key_digest> checked(const std::string& key, const std::string& source) {
  if (!is_well_formed(key))
    return error{errc::validation_failed,
                 source + " must be 24 to 200 of A-Z a-z 0-9 _ -, got "
                   + std::to_string(key.size()) + " characters"};
  return digest_of(key);
}

error cannot(const char* what, const std::filesystem::path& file) {
  return {errc::storage_unavailable, "cannot " + std::string{what} + " "
                                       + file.string() + ": "
                                       + std::strerror(errno)};
}

std::optional<error> write_key(const std::filesystem::path& file,
                               const std::string& key) {
  auto line = key + "\n";
  auto fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0)
    return cannot("create", file);
  auto written = ::write(fd, line.data(), line.size());
  auto ok = written == static_cast<ssize_t>(line.size()) && ::fsync(fd) == 0;
  auto failed = ok ? std::nullopt : std::optional{cannot("write", file)};
  ::close(fd);
  if (!ok)
    ::unlink(file.c_str());
  return failed;
}

} // namespace

result<key_digest> first_key(const std::optional<std::string>& given,
                             const std::filesystem::path& file,
                             std::ostream& out, bool shows_it) {
  if (given)
    return checked(*given, "TIDEGATE_API_KEY");
  if (std::filesystem::exists(file)) {
    std::ifstream in{file};
    std::string key;
    if (!in || !std::getline(in, key))
      return error{errc::storage_unavailable, "cannot read " + file.string()};
    return checked(key, file.string());
  }
  auto key = make_api_key();
  if (auto failed = write_key(file, key))
    return *failed;
  out << "the first API key is kept in " << file.string();
  if (shows_it)
    out << ": " << key;
  out << std::endl;
  return digest_of(key);
}

} // namespace tidegate::http
