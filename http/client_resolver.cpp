#include "http/client_resolver.hpp"

#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tidegate::http {

struct client_resolver::state {
  using clock = std::chrono::steady_clock;

  struct cached {
    lookup_result answer;
    clock::time_point until;
  };

  explicit state(resolver_options x) : options(std::move(x)) {
    // nop
  }

  void answer(const std::string& host, const lookup_result& result);

  void remember(const std::string& host, const lookup_result& result);

  bool is_full(const std::string& host);

  const resolver_options options;
  std::mutex mutex;
  bool stopped = false;

  // Who waits for a name whose look-up has not ended yet.
  std::map<std::string, std::vector<std::weak_ptr<callback>>> waiting;
  std::size_t waiting_count = 0;

  std::unordered_map<std::string, cached> cache;
};

// Runs with the lock held, so that nothing is called after `stop`.
void client_resolver::state::answer(const std::string& host,
                                    const lookup_result& result) {
  std::lock_guard guard{mutex};
  auto entry = waiting.extract(host);
  if (stopped || entry.empty())
    return;
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

// Returns whether one more may not wait for `host`. Counts those again who have
// given up.
bool client_resolver::state::is_full(const std::string& host) {
  if (waiting.size() >= options.names_max && waiting.count(host) == 0)
    return true;
  if (waiting_count < options.waiting_max)
    return false;
  waiting_count = 0;
  for (auto& [name, waiters] : waiting) {
    std::erase_if(waiters, [](const auto& x) { return x.expired(); });
    waiting_count += waiters.size();
  }
  return waiting_count >= options.waiting_max;
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
  if (my.is_full(host)) {
    guard.unlock();
    (*result)({{}, "too many look-ups are waiting"});
    return result;
  }
  auto [entry, is_new] = my.waiting.try_emplace(host);
  entry->second.push_back(result);
  ++my.waiting_count;
  guard.unlock();
  if (is_new)
    my.options.lookup(host, [weak = std::weak_ptr{state_},
                             host](const lookup_result& found) {
      if (auto home = weak.lock())
        home->answer(host, found);
    });
  return result;
}

void client_resolver::stop() {
  std::lock_guard guard{state_->mutex};
  state_->stopped = true;
  state_->waiting.clear();
}

} // namespace tidegate::http
