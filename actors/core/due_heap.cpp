#include "actors/core/due_heap.hpp"

#include <algorithm>
#include <cassert>
#include <tuple>

namespace tidegate {

namespace {

std::uint32_t to_unix_seconds(wall_time t) {
  auto seconds = t.time_since_epoch().count() / 1'000'000;
  return static_cast<std::uint32_t>(
    std::clamp<std::int64_t>(seconds, 0, UINT32_MAX));
}

} // namespace

// -- heaps of positions -------------------------------------------------------

struct due_heap::due_order {
  static auto key(const node& n) {
    return std::tuple{n.due, std::uint64_t{n.seq}};
  }

  static position& index(node& n) {
    return n.in_order;
  }
};

struct due_heap::expiry_order {
  static auto key(const node& n) {
    return std::tuple{n.expires, std::uint64_t{n.seq}};
  }

  static position& index(node& n) {
    return n.in_expiry;
  }
};

template <class Order>
void due_heap::sift_up(heap& h, std::size_t i) {
  auto moving = h[i];
  auto key = Order::key(nodes_[moving]);
  while (i > 0) {
    auto parent = (i - 1) / 2;
    if (!(key < Order::key(nodes_[h[parent]])))
      break;
    h[i] = h[parent];
    Order::index(nodes_[h[i]]) = static_cast<position>(i);
    i = parent;
  }
  h[i] = moving;
  Order::index(nodes_[moving]) = static_cast<position>(i);
}

template <class Order>
void due_heap::sift_down(heap& h, std::size_t i) {
  auto moving = h[i];
  auto key = Order::key(nodes_[moving]);
  for (;;) {
    auto child = 2 * i + 1;
    if (child >= h.size())
      break;
    if (child + 1 < h.size()
        && Order::key(nodes_[h[child + 1]]) < Order::key(nodes_[h[child]]))
      ++child;
    if (!(Order::key(nodes_[h[child]]) < key))
      break;
    h[i] = h[child];
    Order::index(nodes_[h[i]]) = static_cast<position>(i);
    i = child;
  }
  h[i] = moving;
  Order::index(nodes_[moving]) = static_cast<position>(i);
}

template <class Order>
void due_heap::push(heap& h, position p) {
  h.push_back(p);
  sift_up<Order>(h, h.size() - 1);
}

template <class Order>
void due_heap::remove(heap& h, std::size_t i) {
  auto last = h.back();
  h.pop_back();
  if (i == h.size())
    return;
  h[i] = last;
  sift_up<Order>(h, i);
  sift_down<Order>(h, Order::index(nodes_[last]));
}

// -- the table ----------------------------------------------------------------

std::optional<due_heap::position> due_heap::locate(job_seq seq) const {
  auto i = std::lower_bound(nodes_.begin(), nodes_.end(), seq.value,
                            [](const node& n, std::uint64_t value) {
                              return n.seq < value;
                            });
  if (i == nodes_.end() || i->seq != seq.value
      || place{static_cast<std::uint8_t>(i->where)} == place::gone)
    return std::nullopt;
  return static_cast<position>(i - nodes_.begin());
}

due_heap::position due_heap::located(job_seq seq) const {
  auto p = locate(seq);
  assert(p);
  return *p;
}

void due_heap::enter(position p, place where) {
  auto& n = nodes_[p];
  n.where = static_cast<std::uint8_t>(where);
  if (where == place::out)
    return;
  push<due_order>(where == place::ready ? by_turn_ : by_due_, p);
  push<expiry_order>(by_expiry_, p);
  if (!n.delivered)
    ++fresh_;
}

void due_heap::leave(position p) {
  auto& n = nodes_[p];
  auto where = place{static_cast<std::uint8_t>(n.where)};
  n.where = static_cast<std::uint8_t>(place::gone);
  if (where == place::out)
    return;
  remove<due_order>(where == place::ready ? by_turn_ : by_due_, n.in_order);
  remove<expiry_order>(by_expiry_, n.in_expiry);
  if (!n.delivered)
    --fresh_;
}

void due_heap::compact() {
  constexpr std::size_t gone_min = 64;
  auto gone = nodes_.size() - live_;
  if (gone < gone_min || gone < live_)
    return;
  std::size_t kept = 0;
  for (auto& n : nodes_) {
    if (place{static_cast<std::uint8_t>(n.where)} == place::gone)
      continue;
    auto p = static_cast<position>(kept);
    switch (place{static_cast<std::uint8_t>(n.where)}) {
      case place::waiting:
        by_due_[n.in_order] = p;
        by_expiry_[n.in_expiry] = p;
        break;
      case place::ready:
        by_turn_[n.in_order] = p;
        by_expiry_[n.in_expiry] = p;
        break;
      default:
        break;
    }
    nodes_[kept++] = n;
  }
  nodes_.resize(kept);
  first_live_ = 0;
  if (nodes_.capacity() > 4 * kept + gone_min) {
    nodes_.shrink_to_fit();
    by_due_.shrink_to_fit();
    by_turn_.shrink_to_fit();
    by_expiry_.shrink_to_fit();
  }
}

void due_heap::add(const entry& job) {
  assert(nodes_.empty() || nodes_.back().seq < job.seq.value);
  assert(!job.out);
  node n{};
  n.seq = job.seq.value & max_48_bits;
  n.waits_for = static_cast<std::uint8_t>(job.waits_for) & 15;
  n.delivered = job.delivered;
  n.due = job.due;
  n.expires = job.expires;
  n.created = to_unix_seconds(job.created_at);
  nodes_.push_back(n);
  ++live_;
  enter(static_cast<position>(nodes_.size() - 1), place::waiting);
}

void due_heap::take_out(job_seq seq) {
  auto p = located(seq);
  leave(p);
  nodes_[p].delivered = 1;
  enter(p, place::out);
}

void due_heap::put_back(job_seq seq, steady_time due, wait_kind waits_for) {
  auto p = located(seq);
  assert(place{static_cast<std::uint8_t>(nodes_[p].where)} == place::out);
  nodes_[p].due = due;
  nodes_[p].waits_for = static_cast<std::uint8_t>(waits_for) & 15;
  enter(p, place::waiting);
}

void due_heap::erase(job_seq seq) {
  leave(located(seq));
  --live_;
  compact();
}

void due_heap::mature(steady_time now) {
  while (!by_due_.empty() && nodes_[by_due_.front()].due <= now) {
    auto p = by_due_.front();
    remove<due_order>(by_due_, 0);
    nodes_[p].where = static_cast<std::uint8_t>(place::ready);
    push<due_order>(by_turn_, p);
  }
}

void due_heap::make_due(wait_kind what, steady_time now) {
  std::vector<position> found;
  for (auto p : by_due_)
    if (wait_kind{static_cast<std::uint8_t>(nodes_[p].waits_for)} == what)
      found.push_back(p);
  for (auto p : found) {
    auto& n = nodes_[p];
    n.due = std::min(n.due, now);
    sift_up<due_order>(by_due_, n.in_order);
  }
}

std::optional<due_heap::entry> due_heap::find(job_seq seq) const {
  auto p = locate(seq);
  if (!p)
    return std::nullopt;
  const auto& n = nodes_[*p];
  entry result;
  result.seq = seq;
  result.due = n.due;
  result.expires = n.expires;
  result.created_at = wall_time{std::chrono::seconds{n.created}};
  result.waits_for = wait_kind{static_cast<std::uint8_t>(n.waits_for)};
  result.delivered = n.delivered;
  result.out = place{static_cast<std::uint8_t>(n.where)} == place::out;
  return result;
}

std::optional<job_seq> due_heap::first_ready() const {
  if (by_turn_.empty())
    return std::nullopt;
  return job_seq{nodes_[by_turn_.front()].seq};
}

std::vector<job_seq> due_heap::ready_front(std::size_t count) const {
  // Walks down from the root, always to the smallest that has been seen.
  auto later = [this](std::size_t a, std::size_t b) {
    return due_order::key(nodes_[by_turn_[b]])
           < due_order::key(nodes_[by_turn_[a]]);
  };
  std::vector<std::size_t> seen;
  auto see = [&](std::size_t i) {
    if (i < by_turn_.size()) {
      seen.push_back(i);
      std::push_heap(seen.begin(), seen.end(), later);
    }
  };
  std::vector<job_seq> result;
  see(0);
  while (!seen.empty() && result.size() < count) {
    std::pop_heap(seen.begin(), seen.end(), later);
    auto i = seen.back();
    seen.pop_back();
    result.push_back(job_seq{nodes_[by_turn_[i]].seq});
    see(2 * i + 1);
    see(2 * i + 2);
  }
  return result;
}

std::optional<job_seq> due_heap::first_expired(steady_time now) const {
  if (by_expiry_.empty() || nodes_[by_expiry_.front()].expires > now)
    return std::nullopt;
  return job_seq{nodes_[by_expiry_.front()].seq};
}

std::optional<steady_time> due_heap::next_due() const {
  if (by_due_.empty())
    return std::nullopt;
  return nodes_[by_due_.front()].due;
}

std::optional<steady_time> due_heap::next_expiry() const {
  if (by_expiry_.empty())
    return std::nullopt;
  return nodes_[by_expiry_.front()].expires;
}

std::optional<wall_time> due_heap::oldest() const {
  while (first_live_ < nodes_.size()
         && place{static_cast<std::uint8_t>(nodes_[first_live_].where)}
              == place::gone)
    ++first_live_;
  if (first_live_ == nodes_.size())
    return std::nullopt;
  return wall_time{std::chrono::seconds{nodes_[first_live_].created}};
}

} // namespace tidegate
