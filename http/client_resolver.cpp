#include "http/client_resolver.hpp"

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <unordered_map>

#include <netinet/in.h>

namespace tidegate::http {

// -- the system's resolver ----------------------------------------------------

namespace {

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

} // namespace

lookup_result system_lookup(const std::string& host) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* found = nullptr;
  lookup_result result;
  if (auto failure = getaddrinfo(host.c_str(), nullptr, &hints, &found);
      failure != 0) {
    result.error = gai_strerror(failure);
    return result;
  }
  for (auto* entry = found; entry != nullptr; entry = entry->ai_next)
    if (entry->ai_family == AF_INET || entry->ai_family == AF_INET6)
      result.addresses.push_back(from_sockaddr(*entry->ai_addr));
  freeaddrinfo(found);
  if (result.addresses.empty())
    result.error = "it has no address";
  return result;
}

// -- resolver -----------------------------------------------------------------

struct client_resolver::state : std::enable_shared_from_this<state> {
  using clock = std::chrono::steady_clock;

  struct cached {
    lookup_result answer;
    clock::time_point until;
  };

  explicit state(resolver_options x) : options(std::move(x)) {
    // nop
  }

  void work();

  void start_thread();

  bool is_awaited(const std::string& host) const;

  void answer(const std::string& host, lookup_result result);

  void remember(const std::string& host, const lookup_result& result);

  std::size_t count_waiting();

  const resolver_options options;
  std::mutex mutex;
  std::condition_variable wake;
  bool stopped = false;
  std::size_t threads = 0;
  std::size_t idle_threads = 0;

  // Names whose look-up has not started yet, in order.
  std::deque<std::string> queue;

  // Who waits for a name whose look-up has not ended yet.
  std::map<std::string, std::vector<std::weak_ptr<callback>>> waiting;
  std::size_t waiting_count = 0;

  std::unordered_map<std::string, cached> cache;
};

void client_resolver::state::work() {
  std::unique_lock guard{mutex};
  while (!stopped) {
    if (queue.empty()) {
      ++idle_threads;
      wake.wait(guard);
      --idle_threads;
      continue;
    }
    auto host = std::move(queue.front());
    queue.pop_front();
    lookup_result result;
    if (is_awaited(host)) {
      guard.unlock();
      result = options.lookup(host);
      guard.lock();
    }
    if (!stopped)
      answer(host, std::move(result));
  }
}

// Where not even one thread can be started, those who wait run into their
// deadlines; a later question tries again.
void client_resolver::state::start_thread() {
  try {
    std::thread{[keep = shared_from_this()] { keep->work(); }}.detach();
    ++threads;
  } catch (const std::system_error&) {
    // nop
  }
}

bool client_resolver::state::is_awaited(const std::string& host) const {
  const auto& waiters = waiting.at(host);
  return std::any_of(waiters.begin(), waiters.end(),
                     [](const auto& x) { return !x.expired(); });
}

// Runs with the lock held, so that nothing is called after `stop`.
void client_resolver::state::answer(const std::string& host,
                                    lookup_result result) {
  auto entry = waiting.extract(host);
  waiting_count -= entry.mapped().size();
  for (const auto& waiter : entry.mapped())
    if (auto done = waiter.lock())
      (*done)(result);
  if (!result.addresses.empty())
    remember(host, result);
}

void client_resolver::state::remember(const std::string& host,
                                      const lookup_result& result) {
  if (cache.size() >= options.cache_max)
    cache.clear();
  cache[host] = cached{result, clock::now() + options.cache_for};
}

// Returns how many wait, after dropping those who have given up.
std::size_t client_resolver::state::count_waiting() {
  if (waiting_count < options.waiting_max)
    return waiting_count;
  waiting_count = 0;
  for (auto& [host, waiters] : waiting) {
    std::erase_if(waiters, [](const auto& x) { return x.expired(); });
    waiting_count += waiters.size();
  }
  return waiting_count;
}

client_resolver::client_resolver(resolver_options options)
  : state_(std::make_shared<state>(std::move(options))) {
  // nop
}

client_resolver::~client_resolver() {
  stop();
}

client_resolver::ticket client_resolver::resolve(const std::string& host,
                                                 callback done) {
  auto result = std::make_shared<callback>(std::move(done));
  auto& my = *state_;
  std::unique_lock guard{my.mutex};
  if (my.stopped)
    return result;
  if (auto i = my.cache.find(host);
      i != my.cache.end() && state::clock::now() < i->second.until) {
    auto answer = i->second.answer;
    guard.unlock();
    (*result)(answer);
    return result;
  }
  if (my.count_waiting() >= my.options.waiting_max
      || my.queue.size() >= my.options.waiting_max) {
    guard.unlock();
    (*result)({{}, "too many look-ups are waiting"});
    return result;
  }
  auto [entry, is_new] = my.waiting.try_emplace(host);
  entry->second.push_back(result);
  ++my.waiting_count;
  if (!is_new)
    return result;
  my.queue.push_back(host);
  if (my.idle_threads >= my.queue.size()) {
    my.wake.notify_one();
  } else if (my.threads < my.options.threads_max) {
    my.start_thread();
  }
  return result;
}

void client_resolver::stop() {
  std::unique_lock guard{state_->mutex};
  state_->stopped = true;
  state_->queue.clear();
  state_->waiting.clear();
  state_->wake.notify_all();
}

} // namespace tidegate::http
