// Just enough of sockets and epoll. All failures end the program: a benchmark
// that goes on after one measures something else.

#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <sys/epoll.h>

namespace tidegate::bench {

/// A file descriptor with one owner.
class descriptor {
public:
  /// Takes over `fd`. Ends the program with `what` where it is negative.
  descriptor(int fd, const char* what);

  descriptor(descriptor&& other) noexcept : fd_(other.fd_) {
    other.fd_ = -1;
  }

  descriptor& operator=(descriptor&&) = delete;

  ~descriptor();

  int get() const {
    return fd_;
  }

private:
  int fd_;
};

/// Returns a socket that is connected to a port of 127.0.0.1.
descriptor connect_to(std::uint16_t port);

/// Returns a listening non-blocking socket on 127.0.0.1; port 0: any.
descriptor listen_on(std::uint16_t port);

/// Returns the port that a socket is bound to.
std::uint16_t port_of(const descriptor& socket);

/// Returns the next connection, if there is one.
int accept_from(const descriptor& listener);

/// Returns a timer that becomes readable every `period`.
descriptor make_timer(std::chrono::nanoseconds period);

/// Reads how often a timer has fired since it was last asked.
std::uint64_t fired(const descriptor& timer);

/// Reads what is there into `buffer`. Returns the part that was filled, which
/// is empty where nothing is there; `closed` says that nothing will ever be.
std::string_view read_from(const descriptor& socket, std::span<char> buffer,
                           bool& closed);

/// Writes all of `bytes`, waiting where the peer reads slowly.
void write_to(const descriptor& socket, std::string_view bytes);

/// Waits for descriptors to become readable.
class poller {
public:
  poller();

  /// Has `wait` return `tag` whenever there is something to read.
  void watch(const descriptor& what, void* tag);

  /// Returns what has become readable, at least one.
  std::span<const epoll_event> wait();

private:
  descriptor fd_;
  epoll_event events_[256];
};

} // namespace tidegate::bench
