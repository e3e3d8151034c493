#include "tests/bench/sockets.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

namespace tidegate::bench {

namespace {

[[noreturn]] void give_up(const char* what) {
  std::perror(what);
  std::exit(1);
}

void require(int result, const char* what) {
  if (result < 0)
    give_up(what);
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

void send_without_delay(int fd) {
  int yes = 1;
  require(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes)),
          "TCP_NODELAY");
}

} // namespace

descriptor::descriptor(int fd, const char* what) : fd_(fd) {
  require(fd, what);
}

descriptor::~descriptor() {
  if (fd_ >= 0)
    close(fd_);
}

descriptor connect_to(std::uint16_t port) {
  descriptor result{socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"};
  auto address = loopback(port);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  require(connect(result.get(), generic, sizeof(address)), "connect");
  send_without_delay(result.get());
  return result;
}

descriptor listen_on(std::uint16_t port) {
  descriptor result{
    socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket"};
  int yes = 1;
  require(setsockopt(result.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)),
          "SO_REUSEADDR");
  auto address = loopback(port);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  require(bind(result.get(), generic, sizeof(address)), "bind");
  require(listen(result.get(), 1024), "listen");
  return result;
}

std::uint16_t port_of(const descriptor& socket) {
  sockaddr_in address{};
  socklen_t size = sizeof(address);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  require(getsockname(socket.get(), generic, &size), "getsockname");
  return ntohs(address.sin_port);
}

int accept_from(const descriptor& listener) {
  auto fd = accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC);
  if (fd >= 0)
    send_without_delay(fd);
  else if (errno != EAGAIN && errno != ECONNABORTED)
    give_up("accept");
  return fd;
}

descriptor make_timer(std::chrono::nanoseconds period) {
  descriptor result{timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK),
                    "timerfd_create"};
  constexpr auto second = 1'000'000'000;
  timespec interval{period.count() / second, period.count() % second};
  itimerspec setting{interval, interval};
  require(timerfd_settime(result.get(), 0, &setting, nullptr),
          "timerfd_settime");
  return result;
}

std::uint64_t fired(const descriptor& timer) {
  std::uint64_t times = 0;
  if (read(timer.get(), &times, sizeof(times)) < 0 && errno != EAGAIN)
    give_up("read of a timer");
  return times;
}

std::string_view read_from(const descriptor& socket, std::span<char> buffer,
                           bool& closed) {
  auto size = recv(socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  closed = size == 0 || (size < 0 && errno != EAGAIN);
  return {buffer.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
}

void write_to(const descriptor& socket, std::string_view bytes) {
  while (!bytes.empty()) {
    auto size = send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (size < 0 && (errno == EPIPE || errno == ECONNRESET))
      return; // The next read says that it is closed.
    require(static_cast<int>(size), "send");
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
}

poller::poller() : fd_(epoll_create1(EPOLL_CLOEXEC), "epoll_create1") {
  // nop
}

void poller::watch(const descriptor& what, void* tag) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = tag;
  require(epoll_ctl(fd_.get(), EPOLL_CTL_ADD, what.get(), &event), "epoll_ctl");
}

std::span<const epoll_event> poller::wait() {
  int count = 0;
  do
    count = epoll_wait(fd_.get(), events_, std::size(events_), -1);
  while (count < 0 && errno == EINTR);
  require(count, "epoll_wait");
  return {events_, static_cast<std::size_t>(count)};
}

} // namespace tidegate::bench
