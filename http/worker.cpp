#include "http/worker.hpp"

#include <vector>

#include "http/session.hpp"

namespace tidegate::http {

bool connection_count::take() {
  if (value_.fetch_add(1) < max_)
    return true;
  give_back();
  return false;
}

void connection_count::give_back() {
  if (value_.fetch_sub(1) == 1)
    notify();
}

void connection_count::when_none(std::function<void()> f) {
  {
    std::lock_guard guard{mutex_};
    when_none_ = std::move(f);
  }
  notify();
}

void connection_count::notify() {
  std::function<void()> f;
  {
    std::lock_guard guard{mutex_};
    if (value_.load() == 0)
      f.swap(when_none_);
  }
  if (f)
    f();
}

namespace {

/// Copies, because a session that closes leaves the set; holds each, because it
/// may have no other owner.
std::vector<std::shared_ptr<session>>
snapshot(const std::unordered_set<session*>& sessions) {
  std::vector<std::shared_ptr<session>> result;
  result.reserve(sessions.size());
  for (auto x : sessions)
    if (auto strong = x->weak_from_this().lock())
      result.push_back(std::move(strong));
  return result;
}

} // namespace

void worker::drain() {
  draining = true;
  for (const auto& x : snapshot(sessions))
    x->drain();
}

void worker::abort() {
  draining = true;
  for (const auto& x : snapshot(sessions))
    x->close();
}

} // namespace tidegate::http
