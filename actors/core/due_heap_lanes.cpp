// The lanes of a due heap: who has a turn, and whose it is.

#include <cassert>

#include "actors/core/due_heap.hpp"

namespace tidegate {

// -- lanes --------------------------------------------------------------------

lane_id due_heap::acquire_lane(std::string_view limit_key) {
  if (limit_key.empty() && !lanes_.empty())
    return 0;
  if (auto i = keys_.find(limit_key); i != keys_.end())
    return i->second;
  auto id = static_cast<lane_id>(lanes_.size());
  if (free_lanes_.empty()) {
    lanes_.emplace_back();
  } else {
    id = free_lanes_.back();
    free_lanes_.pop_back();
  }
  lane added;
  added.key = std::make_shared<const std::string>(limit_key);
  keys_.emplace(*added.key, id);
  lanes_[id] = lane_box{std::move(added)};
  return id;
}

void due_heap::drop_if_idle(lane_id id) {
  auto& l = *lanes_[id];
  if (l.jobs > 0 || l.pins > 0)
    return;
  keys_.erase(*l.key);
  lanes_[id] = {};
  free_lanes_.push_back(id);
  // Millions of keys that have come and gone leave nothing behind.
  if (keys_.size() == 1) {
    lanes_.resize(1);
    lanes_.shrink_to_fit();
    free_lanes_ = {};
    keys_.rehash(0);
  }
}

std::optional<lane_id> due_heap::find_lane(std::string_view limit_key) const {
  auto i = keys_.find(limit_key);
  if (i == keys_.end())
    return std::nullopt;
  return i->second;
}

const std::string& due_heap::key_of(lane_id lane) const {
  return *lanes_[lane]->key;
}

lane_id due_heap::pin(std::string_view limit_key) {
  auto id = acquire_lane(limit_key);
  ++lanes_[id]->pins;
  return id;
}

void due_heap::unpin(lane_id lane) {
  assert(lanes_[lane]->pins > 0);
  open(lane);
  --lanes_[lane]->pins;
  drop_if_idle(lane);
}

void due_heap::shut(lane_id lane) {
  assert(lanes_[lane]->pins > 0);
  lanes_[lane]->is_shut = true;
  update_ring(lane);
}

void due_heap::open(lane_id lane) {
  lanes_[lane]->is_shut = false;
  update_ring(lane);
}

void due_heap::update_ring(lane_id id) {
  auto& l = *lanes_[id];
  auto has_turn = !l.is_shut && !l.by_turn.empty();
  if (has_turn && !l.in_ring)
    link(id);
  else if (!has_turn && l.in_ring)
    unlink(id);
}

void due_heap::link(lane_id id) {
  auto& l = *lanes_[id];
  l.in_ring = true;
  if (!first_lane_) {
    first_lane_ = id;
    l.previous = id;
    l.next = id;
    return;
  }
  auto& first = *lanes_[*first_lane_];
  l.next = *first_lane_;
  l.previous = first.previous;
  lanes_[first.previous]->next = id;
  first.previous = id;
}

void due_heap::unlink(lane_id id) {
  auto& l = *lanes_[id];
  l.in_ring = false;
  if (l.next == id) {
    first_lane_.reset();
    return;
  }
  lanes_[l.previous]->next = l.next;
  lanes_[l.next]->previous = l.previous;
  if (first_lane_ == id)
    first_lane_ = l.next;
}

std::optional<lane_id> due_heap::first_lane() const {
  return first_lane_;
}

std::optional<lane_id> due_heap::lane_after(lane_id lane) const {
  auto next = lanes_[lane]->next;
  if (next == first_lane_)
    return std::nullopt;
  return next;
}

void due_heap::end_turn(lane_id lane) {
  if (!lanes_[lane]->in_ring)
    return;
  unlink(lane);
  link(lane);
}

} // namespace tidegate
