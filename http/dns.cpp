#include "http/dns.hpp"

#include <ares.h>
#include <netdb.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <list>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include <netinet/in.h>

namespace tidegate::http {

namespace {

/// A connection or two to each is as much as `ares_getsock` tells of.
constexpr std::size_t servers_max = 8;

ip_address from_sockaddr(const sockaddr& raw) {
  ip_address result;
  if (raw.sa_family == AF_INET) {
    sockaddr_in v4;
    std::memcpy(&v4, &raw, sizeof(v4));
    return make_v4(ntohl(v4.sin_addr.s_addr));
  }
  sockaddr_in6 v6;
  std::memcpy(&v6, &raw, sizeof(v6));
  result.is_v4 = false;
  std::memcpy(result.bytes.data(), &v6.sin6_addr, result.bytes.size());
  return result;
}

lookup_result to_result(int status, const ares_addrinfo* found,
                        std::size_t addresses_max) {
  lookup_result result;
  if (status != ARES_SUCCESS) {
    result.error = ares_strerror(status);
    return result;
  }
  for (const auto* each = found->nodes; each; each = each->ai_next)
    if (result.addresses.size() < addresses_max
        && (each->ai_family == AF_INET || each->ai_family == AF_INET6))
      result.addresses.push_back(from_sockaddr(*each->ai_addr));
  if (result.addresses.empty())
    result.error = "it has no address";
  return result;
}

/// Tells one state of a file from another.
struct file_stamp {
  ino_t number = 0;
  off_t size = 0;
  timespec changed{};

  bool operator==(const file_stamp& other) const {
    return number == other.number && size == other.size
           && changed.tv_sec == other.changed.tv_sec
           && changed.tv_nsec == other.changed.tv_nsec;
  }
};

file_stamp stamp_of(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0)
    return {};
  return {found.st_ino, found.st_size, found.st_mtim};
}

// -- channels -----------------------------------------------------------------

/// A channel of c-ares and the look-ups that it has under way.
class channel {
public:
  channel() = default;

  channel(const channel&) = delete;

  channel& operator=(const channel&) = delete;

  ~channel() {
    if (handle_)
      ares_destroy(handle_);
  }

  /// Returns what is wrong.
  std::optional<std::string> open(const dns_options& how);

  void look_up(const std::string& host, lookup_callback done);

  bool is_quiet() const {
    return under_way_ == 0;
  }

  /// Adds what is waited for.
  void add_to(std::vector<pollfd>& polled) const;

  /// Returns when something is due at the latest, at most `longest`.
  std::chrono::milliseconds next_timeout(std::chrono::milliseconds longest);

  void process(const std::vector<pollfd>& polled);

private:
  struct question {
    channel* home;
    lookup_callback done;
  };

  static void on_answer(void* what, int status, int timeouts,
                        ares_addrinfo* found);

  ares_channel handle_ = nullptr;
  std::size_t addresses_max_ = 0;
  std::size_t under_way_ = 0;
};

std::optional<std::string> channel::open(const dns_options& how) {
  addresses_max_ = how.addresses_max;
  ares_options options{};
  // HOSTALIASES is for interactive programs.
  options.flags = ARES_FLAG_NOALIASES;
  options.timeout = static_cast<int>(how.timeout.count());
  options.tries = how.tries;
  options.udp_port = options.tcp_port = how.port;
  auto path = how.resolv_conf;
  options.resolvconf_path = path.data();
  if (auto status = ares_init_options(
        &handle_, &options,
        ARES_OPT_FLAGS | ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_UDP_PORT
          | ARES_OPT_TCP_PORT | ARES_OPT_RESOLVCONF);
      status != ARES_SUCCESS) {
    handle_ = nullptr;
    return std::string{"cannot look names up: "} + ares_strerror(status);
  }
  if (how.servers.empty())
    return std::nullopt;
  std::string all;
  for (const auto& server : how.servers)
    all += (all.empty() ? "" : ",") + server;
  if (auto status = ares_set_servers_ports_csv(handle_, all.c_str());
      status != ARES_SUCCESS)
    return "DNS servers " + all + ": " + ares_strerror(status);
  return std::nullopt;
}

void channel::look_up(const std::string& host, lookup_callback done) {
  ares_addrinfo_hints hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  ++under_way_;
  auto what = std::make_unique<question>(question{this, std::move(done)});
  ares_getaddrinfo(handle_, host.c_str(), nullptr, &hints, on_answer,
                   what.release());
}

void channel::on_answer(void* what, int status, int, ares_addrinfo* found) {
  std::unique_ptr<question> asked{static_cast<question*>(what)};
  auto result = to_result(status, found, asked->home->addresses_max_);
  if (found)
    ares_freeaddrinfo(found);
  --asked->home->under_way_;
  asked->done(std::move(result));
}

void channel::add_to(std::vector<pollfd>& polled) const {
  std::array<ares_socket_t, ARES_GETSOCK_MAXNUM> sockets{};
  auto bits = static_cast<unsigned>(
    ares_getsock(handle_, sockets.data(), ARES_GETSOCK_MAXNUM));
  for (unsigned i = 0; i < ARES_GETSOCK_MAXNUM; ++i) {
    short events = 0;
    if (ARES_GETSOCK_READABLE(bits, i))
      events |= POLLIN;
    if (ARES_GETSOCK_WRITABLE(bits, i))
      events |= POLLOUT;
    if (events != 0)
      polled.push_back({sockets[i], events, 0});
  }
}

std::chrono::milliseconds
channel::next_timeout(std::chrono::milliseconds longest) {
  timeval room{};
  auto seconds = std::chrono::duration_cast<std::chrono::seconds>(longest);
  room.tv_sec = seconds.count();
  room.tv_usec = std::chrono::microseconds{longest - seconds}.count();
  auto* wait = ares_timeout(handle_, &room, &room);
  auto exact = std::chrono::seconds{wait->tv_sec}
               + std::chrono::microseconds{wait->tv_usec};
  return std::chrono::ceil<std::chrono::milliseconds>(exact);
}

void channel::process(const std::vector<pollfd>& polled) {
  for (const auto& each : polled) {
    auto bad = (each.revents & (POLLERR | POLLHUP)) != 0;
    auto readable = bad || (each.revents & POLLIN) != 0;
    auto writable = (each.revents & POLLOUT) != 0;
    if (readable || writable)
      ares_process_fd(handle_, readable ? each.fd : ARES_SOCKET_BAD,
                      writable ? each.fd : ARES_SOCKET_BAD);
  }
  // Looks for what is overdue, too.
  ares_process_fd(handle_, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
}

} // namespace

// -- the loop -----------------------------------------------------------------

class dns_client::loop {
public:
  explicit loop(dns_options options)
    : options_(std::move(options)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    // nop
  }

  ~loop() {
    if (wake_ >= 0)
      close(wake_);
  }

  /// Returns what is wrong.
  std::optional<std::string> open();

  void ask(const std::string& host, lookup_callback done);

  /// Looks names up until `stop`.
  void run();

  void stop();

private:
  struct asked {
    std::string host;
    lookup_callback done;
  };

  /// Tells the loop that there is something new.
  void wake();

  /// Returns what has been asked; nothing when it is time to end.
  std::optional<std::vector<asked>> take();

  void reopen_if_changed();

  void wait(std::vector<pollfd>& polled);

  const dns_options options_;
  const int wake_;

  std::mutex mutex_;
  std::vector<asked> asked_;
  bool stopped_ = false;

  // The newest one is asked, the others have something under way still. Used by
  // the loop's thread only, from `run` on.
  std::list<channel> channels_;
  file_stamp read_;
};

std::optional<std::string> dns_client::loop::open() {
  if (wake_ < 0)
    return "cannot make an eventfd: " + std::generic_category().message(errno);
  read_ = stamp_of(options_.resolv_conf);
  return channels_.emplace_back().open(options_);
}

void dns_client::loop::ask(const std::string& host, lookup_callback done) {
  std::lock_guard guard{mutex_};
  asked_.push_back({host, std::move(done)});
  if (asked_.size() == 1)
    wake();
}

void dns_client::loop::stop() {
  std::lock_guard guard{mutex_};
  stopped_ = true;
  wake();
}

void dns_client::loop::wake() {
  std::uint64_t one = 1;
  // It can fail only when it is awake already.
  [[maybe_unused]] auto written = write(wake_, &one, sizeof(one));
}

std::optional<std::vector<dns_client::loop::asked>> dns_client::loop::take() {
  std::uint64_t ignored = 0;
  [[maybe_unused]] auto taken = read(wake_, &ignored, sizeof(ignored));
  std::lock_guard guard{mutex_};
  if (stopped_)
    return std::nullopt;
  return std::exchange(asked_, {});
}

// Where the new file is of no use, the old servers are asked on.
void dns_client::loop::reopen_if_changed() {
  if (!options_.servers.empty())
    return;
  auto now = stamp_of(options_.resolv_conf);
  if (now == read_)
    return;
  read_ = now;
  if (channels_.emplace_back().open(options_))
    channels_.pop_back();
}

void dns_client::loop::wait(std::vector<pollfd>& polled) {
  std::chrono::milliseconds longest = std::chrono::hours{1};
  polled.assign(1, {wake_, POLLIN, 0});
  for (auto& each : channels_) {
    longest = each.next_timeout(longest);
    each.add_to(polled);
  }
  poll(polled.data(), polled.size(), static_cast<int>(longest.count()));
}

void dns_client::loop::run() {
  std::vector<pollfd> polled;
  while (auto questions = take()) {
    if (!questions->empty())
      reopen_if_changed();
    for (auto& each : *questions)
      channels_.back().look_up(each.host, std::move(each.done));
    channels_.remove_if([this](const channel& each) {
      return &each != &channels_.back() && each.is_quiet();
    });
    wait(polled);
    for (auto& each : channels_)
      each.process(polled);
  }
  channels_.clear();
  for (auto& each : std::exchange(asked_, {}))
    each.done({{}, "the look-up was given up"});
}

// -- the client ---------------------------------------------------------------

result<std::shared_ptr<dns_client>> dns_client::make(dns_options options) {
  if (options.servers.size() > servers_max)
    return error{errc::validation_failed,
                 "at most 8 DNS servers can be asked, got "
                   + std::to_string(options.servers.size())};
  static const auto initialised = ares_library_init(ARES_LIB_INIT_ALL);
  if (initialised != ARES_SUCCESS)
    return error{errc::validation_failed, ares_strerror(initialised)};
  auto what = std::make_shared<loop>(std::move(options));
  if (auto wrong = what->open())
    return error{errc::validation_failed, std::move(*wrong)};
  std::thread{[what] { what->run(); }}.detach();
  return std::shared_ptr<dns_client>{new dns_client(std::move(what))};
}

dns_client::dns_client(std::shared_ptr<loop> what) : loop_(std::move(what)) {
  // nop
}

dns_client::~dns_client() {
  loop_->stop();
}

void dns_client::look_up(const std::string& host, lookup_callback done) {
  loop_->ask(host, std::move(done));
}

} // namespace tidegate::http
