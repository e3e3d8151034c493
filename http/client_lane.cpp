#include "http/client_lane.hpp"

#include <algorithm>

#include "http/client_exchange.hpp"

namespace tidegate::http {

client_lane::client_lane(asio::io_context& context,
                         std::shared_ptr<client_shared> shared)
  : shared_(std::move(shared)), timer_(context) {
  // nop
}

// -- exchanges ----------------------------------------------------------------

void client_lane::run(std::shared_ptr<client_exchange> what,
                      net_clock::time_point deadline) {
  auto position = exchanges_.emplace(deadline, what);
  arm(deadline);
  what->start(position);
  if (stopped_)
    what->on_abort();
}

void client_lane::hasten(deadline_map::iterator& position,
                         net_clock::time_point at) {
  if (position->first <= at)
    return;
  auto node = exchanges_.extract(position);
  node.key() = at;
  position = exchanges_.insert(std::move(node));
  arm(at);
}

void client_lane::remove(deadline_map::iterator position) {
  exchanges_.erase(position);
}

void client_lane::stop() {
  stopped_ = true;
  while (!exchanges_.empty()) {
    // Ending takes it out of the map.
    auto first = exchanges_.begin()->second;
    first->on_abort();
  }
  for (auto& [origin, list] : idle_)
    for (auto& entry : list)
      entry.connection->close();
  idle_.clear();
  idle_count_ = 0;
  timer_.cancel();
}

// -- idle connections ---------------------------------------------------------

std::shared_ptr<client_connection>
client_lane::take_idle(const std::string& origin) {
  auto i = idle_.find(origin);
  if (i == idle_.end())
    return nullptr;
  auto& list = i->second;
  auto now = net_clock::now();
  std::shared_ptr<client_connection> result;
  while (!list.empty() && !result) {
    auto newest = std::move(list.back());
    list.pop_back();
    --idle_count_;
    if (newest.until > now && newest.connection->is_fresh())
      result = std::move(newest.connection);
    else
      newest.connection->close();
  }
  if (list.empty())
    idle_.erase(i);
  return result;
}

void client_lane::give_back(const std::string& origin,
                            std::shared_ptr<client_connection> connection) {
  const auto& options = shared_->options;
  auto i = idle_.find(origin);
  auto count = i == idle_.end() ? 0 : i->second.size();
  if (stopped_ || count >= options.idle_per_origin_max
      || idle_count_ >= options.idle_max) {
    connection->close();
    return;
  }
  connection->shrink();
  auto until = net_clock::now() + options.idle_timeout;
  idle_[origin].push_back({std::move(connection), until});
  ++idle_count_;
  next_expiry_ = std::min(next_expiry_, until);
  arm(next_expiry_);
}

void client_lane::close_expired(net_clock::time_point now) {
  next_expiry_ = net_clock::time_point::max();
  for (auto i = idle_.begin(); i != idle_.end();) {
    auto& list = i->second;
    auto first_alive = std::find_if(list.begin(), list.end(),
                                    [&](auto& x) { return x.until > now; });
    std::for_each(list.begin(), first_alive,
                  [](auto& x) { x.connection->close(); });
    idle_count_ -= static_cast<std::size_t>(first_alive - list.begin());
    list.erase(list.begin(), first_alive);
    if (!list.empty())
      next_expiry_ = std::min(next_expiry_, list.front().until);
    i = list.empty() ? idle_.erase(i) : std::next(i);
  }
}

// -- time ---------------------------------------------------------------------

void client_lane::arm(net_clock::time_point at) {
  if (at >= armed_for_ || stopped_)
    return;
  armed_for_ = at;
  timer_.expires_at(at);
  timer_.async_wait([self = shared_from_this()](error_code failure) {
    if (!failure)
      self->on_timer();
  });
}

void client_lane::on_timer() {
  armed_for_ = net_clock::time_point::max();
  auto now = net_clock::now();
  while (!exchanges_.empty() && exchanges_.begin()->first <= now) {
    // Ending takes it out of the map.
    auto first = exchanges_.begin()->second;
    first->on_deadline();
  }
  if (next_expiry_ <= now)
    close_expired(now);
  if (!exchanges_.empty())
    arm(exchanges_.begin()->first);
  if (next_expiry_ != net_clock::time_point::max())
    arm(next_expiry_);
}

} // namespace tidegate::http
