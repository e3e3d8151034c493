#include "actors/operation_book.hpp"

#include <algorithm>
#include <utility>

namespace tidegate {

namespace {

constexpr double slice_max = 100;

/// Slices that one second is divided into.
constexpr double slices_per_second = 10;

/// Slower than that no operation can be asked to be.
constexpr double per_second_min = 0.001;

} // namespace

// -- steps of an operation ----------------------------------------------------

job_filter meant_by(const operation_record& op) {
  auto result = op.filter;
  result.until = std::min(op.filter.until.value_or(op.started_at),
                          op.started_at);
  return result;
}

std::size_t slice_limit(const operation_record& op) {
  auto paced = std::clamp(op.per_second / slices_per_second, 1.0, slice_max);
  auto result = static_cast<std::uint64_t>(paced);
  if (op.limit)
    result = std::min(result, *op.limit - std::min(*op.limit, op.done));
  return static_cast<std::size_t>(result);
}

job_page_query next_slice(const operation_record& op) {
  job_page_query result;
  result.queue = op.queue;
  result.filter = meant_by(op);
  result.limit = slice_limit(op);
  if (op.kind == operation_kind::redrive) {
    result.dead_messages = true;
    result.after = op.position;
  } else {
    result.dead_letters = true;
    result.before = op.position;
  }
  return result;
}

duration time_for(const operation_record& op, std::size_t jobs) {
  return from_seconds(static_cast<double>(jobs)
                      / std::max(op.per_second, per_second_min));
}

operation_record after_slice(const operation_record& op, const job_page& page,
                             wall_time now) {
  auto result = op;
  auto next = op.kind == operation_kind::redrive ? page.next_after
                                                 : page.next_before;
  if (next)
    result.position = *next;
  else
    result = ended(std::move(result), operation_state::done, now);
  return result;
}

operation_record ended(operation_record op, operation_state state,
                       wall_time now, std::string error) {
  op.state = state;
  op.finished_at = now;
  op.error = std::move(error);
  return op;
}

// -- all of them --------------------------------------------------------------

operation_book::entry* operation_book::find(operation_id id) {
  auto i = entries_.find(id);
  return i == entries_.end() ? nullptr : &i->second;
}

const operation_book::entry* operation_book::find(operation_id id) const {
  auto i = entries_.find(id);
  return i == entries_.end() ? nullptr : &i->second;
}

std::vector<operation_record>
operation_book::list(const std::string& project) const {
  std::vector<operation_record> result;
  for (auto i = entries_.rbegin(); i != entries_.rend(); ++i)
    if (i->second.record.project == project)
      result.push_back(i->second.record);
  return result;
}

void operation_book::put(operation_record op, moment now) {
  auto [i, added] = entries_.try_emplace(op.id);
  if (added)
    i->second.next_at = now.steady;
  if (op.state == operation_state::running)
    running_.insert(op.id);
  else
    running_.erase(op.id);
  i->second.record = std::move(op);
}

void operation_book::forget_old() {
  auto i = entries_.begin();
  while (entries_.size() - running_.size() > ended_operations_max) {
    if (i->second.record.state == operation_state::running)
      ++i;
    else
      i = entries_.erase(i);
  }
}

void operation_book::take_over(std::vector<operation_record> stored,
                               moment now) {
  auto unseen = running_;
  for (auto& op : stored) {
    unseen.erase(op.id);
    put(std::move(op), now);
  }
  for (auto id : unseen)
    put(ended(entries_[id].record, operation_state::failed, now.wall,
              "the queue has been deleted"),
        now);
}

void operation_book::pace(entry& e, std::size_t jobs, moment now) {
  e.next_at = std::max(e.next_at + time_for(e.record, jobs), now.steady);
}

std::vector<operation_id> operation_book::due(moment now) const {
  std::vector<operation_id> result;
  for (auto id : running_)
    if (auto& e = entries_.at(id); e.under_way == 0 && e.next_at <= now.steady)
      result.push_back(id);
  return result;
}

std::optional<steady_time> operation_book::next_at() const {
  std::optional<steady_time> result;
  for (auto id : running_)
    if (auto& e = entries_.at(id); e.under_way == 0)
      result = result ? std::min(*result, e.next_at) : e.next_at;
  return result;
}

} // namespace tidegate
