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

/// The order of turns within a lane, smaller first: priorities 9 to 0 are 0 to
/// 9, and the background comes last.
constexpr std::uint8_t priority_max = 9;
constexpr std::uint8_t background_rank = 15;

std::uint8_t to_rank(const due_heap::entry& job) {
  return job.background
           ? background_rank
           : static_cast<std::uint8_t>(priority_max - job.priority);
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

struct due_heap::turn_order {
  static auto key(const node& n) {
    return std::tuple{std::uint64_t{n.rank}, n.due, std::uint64_t{n.seq}};
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
  auto key = Order::key(at(moving));
  while (i > 0) {
    auto parent = (i - 1) / 2;
    if (!(key < Order::key(at(h[parent]))))
      break;
    h[i] = h[parent];
    Order::index(at(h[i])) = static_cast<position>(i);
    i = parent;
  }
  h[i] = moving;
  Order::index(at(moving)) = static_cast<position>(i);
}

template <class Order>
void due_heap::sift_down(heap& h, std::size_t i) {
  auto moving = h[i];
  auto key = Order::key(at(moving));
  for (;;) {
    auto child = 2 * i + 1;
    if (child >= h.size())
      break;
    if (child + 1 < h.size()
        && Order::key(at(h[child + 1])) < Order::key(at(h[child])))
      ++child;
    if (!(Order::key(at(h[child])) < key))
      break;
    h[i] = h[child];
    Order::index(at(h[i])) = static_cast<position>(i);
    i = child;
  }
  h[i] = moving;
  Order::index(at(moving)) = static_cast<position>(i);
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
  sift_down<Order>(h, Order::index(at(last)));
}

// -- the tables ---------------------------------------------------------------

due_heap::due_heap() {
  acquire_lane({});
  pin({});
}

std::optional<due_heap::position> due_heap::locate(job_seq seq) const {
  auto i = std::lower_bound(nodes_.begin(), nodes_.end(), seq.value,
                            [](const node& n, std::uint64_t value) {
                              return n.seq < value;
                            });
  if (i != nodes_.end() && i->seq == seq.value && place_of(*i) != place::gone)
    return static_cast<position>(i - nodes_.begin());
  if (stray_positions_.empty())
    return std::nullopt;
  auto stray = stray_positions_.find(seq.value);
  if (stray == stray_positions_.end())
    return std::nullopt;
  return stray->second;
}

due_heap::position due_heap::located(job_seq seq) const {
  auto p = locate(seq);
  assert(p);
  return *p;
}

due_heap::position due_heap::place_new(const node& n) {
  if (nodes_.empty() || nodes_.back().seq < n.seq) {
    nodes_.push_back(n);
    return static_cast<position>(nodes_.size() - 1);
  }
  position p = 0;
  if (free_strays_.empty()) {
    p = static_cast<position>(strays_.size()) | stray_bit;
    strays_.push_back(n);
  } else {
    p = free_strays_.back();
    free_strays_.pop_back();
    at(p) = n;
  }
  stray_positions_.emplace(std::uint64_t{n.seq}, p);
  return p;
}

void due_heap::drop_stray(position p) {
  stray_positions_.erase(std::uint64_t{at(p).seq});
  free_strays_.push_back(p);
  if (stray_positions_.empty()) {
    strays_ = {};
    free_strays_ = {};
    stray_positions_ = {};
  }
}

void due_heap::count_wall(const node& n, int by) {
  if (wait_kind{static_cast<std::uint8_t>(n.waits_for)} == wait_kind::run_at)
    by_wall_ += static_cast<std::size_t>(by);
}

void due_heap::enter(position p, place where) {
  auto& n = at(p);
  n.where = static_cast<std::uint8_t>(where);
  if (where == place::out)
    return;
  push<due_order>(by_due_, p);
  push<expiry_order>(by_expiry_, p);
  count_wall(n, 1);
  if (!n.delivered)
    ++fresh_;
}

void due_heap::leave(position p) {
  auto& n = at(p);
  auto where = place_of(n);
  n.where = static_cast<std::uint8_t>(place::gone);
  if (where == place::out)
    return;
  if (where == place::ready) {
    remove<turn_order>(lanes_[n.lane]->by_turn, n.in_order);
    --ready_;
    update_ring(n.lane);
  } else {
    remove<due_order>(by_due_, n.in_order);
    count_wall(n, -1);
  }
  remove<expiry_order>(by_expiry_, n.in_expiry);
  if (!n.delivered)
    --fresh_;
}

void due_heap::compact() {
  constexpr std::size_t gone_min = 64;
  auto kept_count = live_ - stray_positions_.size();
  auto gone = nodes_.size() - kept_count;
  if (gone < gone_min || gone < kept_count)
    return;
  std::size_t kept = 0;
  for (auto& n : nodes_) {
    auto where = place_of(n);
    if (where == place::gone)
      continue;
    auto p = static_cast<position>(kept);
    if (where != place::out) {
      auto& order = where == place::ready ? lanes_[n.lane]->by_turn : by_due_;
      order[n.in_order] = p;
      by_expiry_[n.in_expiry] = p;
    }
    nodes_[kept++] = n;
  }
  nodes_.resize(kept);
  first_live_ = 0;
  if (nodes_.capacity() > 4 * kept + gone_min) {
    nodes_.shrink_to_fit();
    by_due_.shrink_to_fit();
    by_expiry_.shrink_to_fit();
    for (auto& l : lanes_)
      if (l)
        l->by_turn.shrink_to_fit();
  }
}

// -- jobs ---------------------------------------------------------------------

void due_heap::reserve(std::size_t jobs) {
  nodes_.reserve(jobs);
  by_due_.reserve(jobs);
}

void due_heap::add(const entry& job, std::string_view limit_key) {
  assert(!job.out && !locate(job.seq));
  node n{};
  n.seq = job.seq.value & max_48_bits;
  n.waits_for = static_cast<std::uint8_t>(job.waits_for) & 15;
  n.rank = to_rank(job) & 15;
  n.delivered = job.delivered;
  n.due = job.due;
  n.expires = job.expires;
  n.created = to_unix_seconds(job.created_at);
  n.lane = acquire_lane(limit_key);
  ++lanes_[n.lane]->jobs;
  auto p = place_new(n);
  ++live_;
  enter(p, place::waiting);
}

void due_heap::take_out(job_seq seq) {
  auto p = located(seq);
  leave(p);
  at(p).delivered = 1;
  enter(p, place::out);
}

void due_heap::put_back(job_seq seq, steady_time due, wait_kind waits_for) {
  auto p = located(seq);
  auto& n = at(p);
  assert(place_of(n) == place::out);
  n.due = due;
  n.waits_for = static_cast<std::uint8_t>(waits_for) & 15;
  enter(p, place::waiting);
}

void due_heap::reschedule(job_seq seq, steady_time due, wait_kind waits_for) {
  auto p = located(seq);
  leave(p);
  auto& n = at(p);
  n.due = due;
  n.waits_for = static_cast<std::uint8_t>(waits_for) & 15;
  enter(p, place::waiting);
}

void due_heap::erase(job_seq seq) {
  auto p = located(seq);
  leave(p);
  auto lane = at(p).lane;
  --lanes_[lane]->jobs;
  drop_if_idle(lane);
  --live_;
  if (p & stray_bit)
    drop_stray(p);
  compact();
}

void due_heap::make_ready(position p) {
  auto& n = at(p);
  n.where = static_cast<std::uint8_t>(place::ready);
  count_wall(n, -1);
  push<turn_order>(lanes_[n.lane]->by_turn, p);
  ++ready_;
  update_ring(n.lane);
}

void due_heap::mature(steady_time now) {
  while (!by_due_.empty() && at(by_due_.front()).due <= now) {
    auto p = by_due_.front();
    remove<due_order>(by_due_, 0);
    make_ready(p);
  }
}

void due_heap::make_due(wait_kind what, steady_time now,
                        std::optional<lane_id> lane) {
  std::vector<position> found;
  for (auto p : by_due_)
    if (wait_kind{static_cast<std::uint8_t>(at(p).waits_for)} == what
        && (!lane || at(p).lane == *lane))
      found.push_back(p);
  for (auto p : found) {
    auto& n = at(p);
    n.due = std::min(n.due, now);
    sift_up<due_order>(by_due_, n.in_order);
  }
}

void due_heap::shift(wait_kind what, duration by) {
  std::vector<position> found;
  for (auto p : by_due_)
    if (wait_kind{static_cast<std::uint8_t>(at(p).waits_for)} == what)
      found.push_back(p);
  for (auto p : found) {
    auto& n = at(p);
    n.due += by;
    n.expires += by;
    sift_up<due_order>(by_due_, n.in_order);
    sift_down<due_order>(by_due_, n.in_order);
    sift_up<expiry_order>(by_expiry_, n.in_expiry);
    sift_down<expiry_order>(by_expiry_, n.in_expiry);
  }
}

void due_heap::shift_expiry(duration by) {
  for (auto* nodes : {&nodes_, &strays_})
    for (auto& n : *nodes)
      n.expires += by;
}

std::optional<due_heap::entry> due_heap::find(job_seq seq) const {
  auto p = locate(seq);
  if (!p)
    return std::nullopt;
  const auto& n = at(*p);
  entry result;
  result.seq = seq;
  result.due = n.due;
  result.expires = n.expires;
  result.created_at = wall_time{std::chrono::seconds{n.created}};
  result.waits_for = wait_kind{static_cast<std::uint8_t>(n.waits_for)};
  result.delivered = n.delivered;
  result.out = place_of(n) == place::out;
  result.background = n.rank == background_rank;
  if (!result.background)
    result.priority = static_cast<std::uint8_t>(priority_max - n.rank);
  result.lane = n.lane;
  return result;
}

// -- jobs that are ready ------------------------------------------------------

job_seq due_heap::first_ready(lane_id lane) const {
  return job_seq{at(lanes_[lane]->by_turn.front()).seq};
}

std::vector<job_seq> due_heap::ready_front(lane_id lane,
                                           std::size_t count) const {
  // Walks down from the root, always to the smallest that has been seen.
  const auto& h = lanes_[lane]->by_turn;
  auto later = [this, &h](std::size_t a, std::size_t b) {
    return turn_order::key(at(h[b])) < turn_order::key(at(h[a]));
  };
  std::vector<std::size_t> seen;
  auto see = [&](std::size_t i) {
    if (i < h.size()) {
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
    result.push_back(job_seq{at(h[i]).seq});
    see(2 * i + 1);
    see(2 * i + 2);
  }
  return result;
}

std::vector<job_seq> due_heap::ready_front(std::size_t count) const {
  std::vector<lane_id> lanes;
  for (auto l = first_lane_; l && lanes.size() < count; l = lane_after(*l))
    lanes.push_back(*l);
  std::vector<job_seq> result;
  for (auto l : lanes) {
    auto share = (count + lanes.size() - 1) / lanes.size();
    auto front = ready_front(l, share);
    result.insert(result.end(), front.begin(), front.end());
  }
  return result;
}

std::size_t due_heap::ready(lane_id lane) const {
  return lanes_[lane]->by_turn.size();
}

// -- the rest -----------------------------------------------------------------

std::optional<job_seq> due_heap::first_expired(steady_time now) const {
  if (by_expiry_.empty() || at(by_expiry_.front()).expires > now)
    return std::nullopt;
  return job_seq{at(by_expiry_.front()).seq};
}

std::optional<steady_time> due_heap::next_due() const {
  if (by_due_.empty())
    return std::nullopt;
  return at(by_due_.front()).due;
}

std::optional<steady_time> due_heap::next_expiry() const {
  if (by_expiry_.empty())
    return std::nullopt;
  return at(by_expiry_.front()).expires;
}

std::optional<wall_time> due_heap::oldest() const {
  while (first_live_ < nodes_.size()
         && place_of(nodes_[first_live_]) == place::gone)
    ++first_live_;
  std::optional<std::uint32_t> created;
  if (first_live_ < nodes_.size())
    created = nodes_[first_live_].created;
  for (const auto& n : strays_)
    if (place_of(n) != place::gone)
      created = std::min(created.value_or(n.created), n.created);
  if (!created)
    return std::nullopt;
  return wall_time{std::chrono::seconds{*created}};
}

std::vector<job_seq> due_heap::idle(idle_range& range,
                                    std::size_t count) const {
  std::vector<job_seq> result;
  auto take = [&](const node& n) {
    auto where = place_of(n);
    if (n.seq <= range.last.value && where != place::out && where != place::gone
        && (!range.delivered || n.delivered == *range.delivered))
      result.push_back(job_seq{n.seq});
  };
  for (auto i = strays_.begin(); i != strays_.end() && result.size() < count;
       ++i)
    take(*i);
  auto i = std::upper_bound(nodes_.begin(), nodes_.end(), range.after.value,
                            [](std::uint64_t value, const node& n) {
                              return value < n.seq;
                            });
  for (; i != nodes_.end() && result.size() < count; ++i) {
    take(*i);
    range.after.value = i->seq;
  }
  return result;
}

} // namespace tidegate
