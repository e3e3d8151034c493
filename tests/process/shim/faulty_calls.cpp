// Calls of libc that go wrong on command, for a server that this library is
// preloaded into (LD_PRELOAD). SQLite writes by pwrite64 and syncs by
// fdatasync, Asio sends by send, sendmsg and writev; their kin are here, too,
// so that none slips through. What is not on a data file or a TCP connection
// passes untouched.

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <dlfcn.h>
#include <optional>
#include <string_view>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "rules.hpp"

#define FAULTY extern "C" __attribute__((visibility("default")))

namespace tidegate::shim {

namespace {

/// The end of the name of the data file. Those beside it have more behind.
constexpr std::string_view data_file = "/tidegate.db";

/// Whether this process opened the connection. A descriptor above is taken for
/// accepted.
std::array<std::atomic<bool>, 65536> opened_by_us;

void remember(int fd, bool ours) {
  if (fd >= 0 && static_cast<std::size_t>(fd) < opened_by_us.size())
    opened_by_us[static_cast<std::size_t>(fd)] = ours;
}

bool is_ours(int fd) {
  return static_cast<std::size_t>(fd) < opened_by_us.size()
         && opened_by_us[static_cast<std::size_t>(fd)];
}

int option_of(int fd, int name) {
  int value = 0;
  socklen_t size = sizeof(value);
  return getsockopt(fd, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}

bool is_tcp(int fd) {
  auto domain = option_of(fd, SO_DOMAIN);
  return (domain == AF_INET || domain == AF_INET6)
         && option_of(fd, SO_TYPE) == SOCK_STREAM;
}

/// Returns what a call on this file is, which is `usual` where it is one beside
/// the data file; nothing where it is another.
std::optional<kind> kind_of(int fd, kind usual) {
  char link[64];
  char buffer[PATH_MAX];
  std::snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
  auto size = readlink(link, buffer, sizeof(buffer));
  std::string_view name{buffer, size > 0 ? static_cast<std::size_t>(size) : 0};
  if (name.find(data_file) == std::string_view::npos)
    return std::nullopt;
  return name.ends_with(data_file) ? kind::checkpoint : usual;
}

/// Makes a call, or not. `call` makes it in full; `half` as much of it as a
/// torn write does; `whole` is what it returns where all is well.
template <class Call, class Half>
auto judged(kind what, Call call, Half half, decltype(call()) whole)
  -> decltype(call()) {
  switch (rules().judge(what)) {
    case action::pass:
      return call();
    case action::kill_before:
      rules().die();
    case action::kill_after:
      call();
      rules().die();
    case action::lie:
      return whole;
    case action::slow:
      usleep(500'000);
      return call();
    case action::full:
      errno = ENOSPC;
      return -1;
    case action::tear:
      half();
      [[fallthrough]];
    default:
      errno = EIO;
      return -1;
  }
}

constexpr auto nothing = [] {};

template <class Call>
ssize_t sent(int fd, std::size_t size, Call call) {
  if (!is_tcp(fd))
    return call();
  return judged(is_ours(fd) ? kind::send_out : kind::send_in, call, nothing,
                static_cast<ssize_t>(size));
}

template <class Call>
ssize_t written(int fd, std::size_t size, Call call) {
  auto what = kind_of(fd, kind::write);
  if (!what)
    return call(size);
  return judged(
    *what, [&] { return call(size); }, [&] { call(size / 2); },
    static_cast<ssize_t>(size));
}

template <class Call>
int synced(int fd, Call call) {
  auto what = kind_of(fd, kind::sync);
  return what ? judged(*what, call, nothing, 0) : call();
}

std::size_t size_of(const iovec* parts, std::size_t count) {
  std::size_t result = 0;
  for (std::size_t i = 0; i < count; ++i)
    result += parts[i].iov_len;
  return result;
}

} // namespace

} // namespace tidegate::shim

using namespace tidegate::shim;

/// The function of this name that is hidden by the one here.
#define REAL(name) reinterpret_cast<decltype(&::name)>(dlsym(RTLD_NEXT, #name))

// -- data files ---------------------------------------------------------------

FAULTY ssize_t pwrite(int fd, const void* data, size_t size, off_t at) {
  static auto real = REAL(pwrite);
  return written(fd, size, [&](size_t n) { return real(fd, data, n, at); });
}

FAULTY ssize_t pwrite64(int fd, const void* data, size_t size, off64_t at) {
  static auto real = REAL(pwrite64);
  return written(fd, size, [&](size_t n) { return real(fd, data, n, at); });
}

FAULTY int fdatasync(int fd) {
  static auto real = REAL(fdatasync);
  return synced(fd, [&] { return real(fd); });
}

FAULTY int fsync(int fd) {
  static auto real = REAL(fsync);
  return synced(fd, [&] { return real(fd); });
}

// -- connections --------------------------------------------------------------

FAULTY int connect(int fd, const sockaddr* to, socklen_t size) {
  static auto real = REAL(connect);
  remember(fd, true);
  return real(fd, to, size);
}

FAULTY int accept(int fd, sockaddr* from, socklen_t* size) {
  static auto real = REAL(accept);
  auto accepted = real(fd, from, size);
  remember(accepted, false);
  return accepted;
}

FAULTY int accept4(int fd, sockaddr* from, socklen_t* size, int flags) {
  static auto real = REAL(accept4);
  auto accepted = real(fd, from, size, flags);
  remember(accepted, false);
  return accepted;
}

FAULTY ssize_t send(int fd, const void* data, size_t size, int flags) {
  static auto real = REAL(send);
  return sent(fd, size, [&] { return real(fd, data, size, flags); });
}

FAULTY ssize_t sendto(int fd, const void* data, size_t size, int flags,
                      const sockaddr* to, socklen_t to_size) {
  static auto real = REAL(sendto);
  return sent(fd, size,
              [&] { return real(fd, data, size, flags, to, to_size); });
}

FAULTY ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  static auto real = REAL(sendmsg);
  return sent(fd, size_of(message->msg_iov, message->msg_iovlen),
              [&] { return real(fd, message, flags); });
}

FAULTY ssize_t write(int fd, const void* data, size_t size) {
  static auto real = REAL(write);
  auto call = [&](size_t n) { return real(fd, data, n); };
  if (is_tcp(fd))
    return sent(fd, size, [&] { return call(size); });
  return written(fd, size, call);
}

FAULTY ssize_t writev(int fd, const iovec* parts, int count) {
  static auto real = REAL(writev);
  return sent(fd, size_of(parts, static_cast<size_t>(count)),
              [&] { return real(fd, parts, count); });
}
