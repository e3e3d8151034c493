#include "actors/core/event_buffer.hpp"

#include <charconv>

namespace tidegate {

namespace {

/// What an event takes in memory, roughly.
std::size_t size_of(const service_event& event) {
  auto result = sizeof(numbered_event) + event.project.size()
                + event.queue.size() + event.limit_key.size()
                + event.detail.size();
  if (event.operation)
    result += event.operation->queue_name.size()
              + event.operation->source.size() + event.operation->error.size();
  return result;
}

/// Reads a whole text as a number without a sign.
template <class T>
std::optional<T> parse_number(std::string_view text) {
  T result{};
  auto end = text.data() + text.size();
  auto [rest, failed] = std::from_chars(text.data(), end, result);
  if (failed != std::errc{} || rest != end || text.front() == '-')
    return std::nullopt;
  return result;
}

} // namespace

std::string to_string(event_id id) {
  return std::to_string(id.era) + '-' + std::to_string(id.number);
}

std::optional<event_id> parse_event_id(std::string_view text) {
  auto dash = text.find('-');
  if (dash == std::string_view::npos)
    return std::nullopt;
  auto era = parse_number<std::int64_t>(text.substr(0, dash));
  auto number = parse_number<std::uint64_t>(text.substr(dash + 1));
  if (!era || !number)
    return std::nullopt;
  return event_id{*era, *number};
}

event_buffer::event_buffer(wall_time era, std::size_t count_max,
                           std::size_t bytes_max)
  : era_(era.time_since_epoch().count()), count_max_(count_max),
    bytes_max_(bytes_max) {
  // nop
}

const numbered_event& event_buffer::add(service_event&& event) {
  bytes_ += size_of(event);
  events_.push_back({{era_, next_++}, std::move(event)});
  while (events_.size() > count_max_
         || (bytes_ > bytes_max_ && events_.size() > 1))
    drop_oldest();
  return events_.back();
}

void event_buffer::drop_oldest() {
  bytes_ -= size_of(events_.front().event);
  events_.pop_front();
}

bool event_buffer::reaches_back_to(event_id id) const {
  return id.era == era_ && id.number < next_ && id >= oldest_place();
}

const numbered_event* event_buffer::after(event_id id) const {
  auto index = id.number - oldest_place().number;
  return index < events_.size() ? &events_[index] : nullptr;
}

} // namespace tidegate
