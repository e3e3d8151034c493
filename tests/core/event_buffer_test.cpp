// Numbers of events, and how far back they reach.

#include "actors/core/event_buffer.hpp"

#include <catch2/catch.hpp>

using namespace tidegate;

namespace {

const wall_time start{std::chrono::seconds{1'767'225'600}};

constexpr std::size_t plenty = 1 << 20;

service_event make(std::string queue) {
  service_event result;
  result.queue = std::move(queue);
  return result;
}

/// Returns the queues of all that follows `id`, with blanks between them.
std::string read(const event_buffer& buffer, event_id id) {
  std::string result;
  for (auto e = buffer.after(id); e; e = buffer.after(e->id))
    result += (result.empty() ? "" : " ") + e->event.queue;
  return result;
}

} // namespace

TEST_CASE("events are numbered from the start of the service") {
  event_buffer buffer{start, 10, plenty};
  CHECK(to_string(buffer.newest()) == "1767225600000000-0");
  CHECK(to_string(buffer.add(make("a")).id) == "1767225600000000-1");
  CHECK(to_string(buffer.add(make("b")).id) == "1767225600000000-2");
  CHECK(buffer.newest() == buffer.after({buffer.newest().era, 1})->id);
}

TEST_CASE("numbers of a later start are larger") {
  event_buffer first{start, 10, plenty};
  event_buffer second{after(start, duration{1}), 10, plenty};
  for (auto i = 0; i < 5; ++i)
    first.add(make("a"));
  CHECK(first.newest() < second.newest());
}

TEST_CASE("a reader goes on after what it had last") {
  event_buffer buffer{start, 10, plenty};
  for (auto queue : {"a", "b", "c"})
    buffer.add(make(queue));
  auto era = buffer.newest().era;
  CHECK(read(buffer, {era, 0}) == "a b c");
  CHECK(read(buffer, {era, 2}) == "c");
  CHECK(read(buffer, {era, 3}).empty());
}

TEST_CASE("the oldest events go first, and it is known that they are gone") {
  event_buffer buffer{start, 2, plenty};
  auto era = buffer.newest().era;
  for (auto queue : {"a", "b", "c", "d"})
    buffer.add(make(queue));
  CHECK(buffer.size() == 2);
  CHECK_FALSE(buffer.reaches_back_to({era, 1}));
  CHECK(buffer.reaches_back_to({era, 2}));
  CHECK(buffer.oldest_place() == event_id{era, 2});
  CHECK(read(buffer, buffer.oldest_place()) == "c d");
}

TEST_CASE(
  "a number of another start or of the future is none of the buffer's") {
  event_buffer buffer{start, 2, plenty};
  buffer.add(make("a"));
  auto era = buffer.newest().era;
  CHECK(buffer.reaches_back_to({era, 1}));
  CHECK_FALSE(buffer.reaches_back_to({era, 2}));
  CHECK_FALSE(buffer.reaches_back_to({era - 1, 1}));
  CHECK_FALSE(buffer.reaches_back_to({era + 1, 0}));
}

TEST_CASE("bytes are bounded, but the newest event stays") {
  event_buffer buffer{start, 100, 10'000};
  for (auto i = 0; i < 50; ++i)
    buffer.add(make(std::string(1'000, 'x')));
  CHECK(buffer.size() > 1);
  CHECK(buffer.size() < 10);
  buffer.add(make(std::string(20'000, 'x')));
  CHECK(buffer.size() == 1);
}

TEST_CASE("what is no number of an event is refused") {
  CHECK(parse_event_id("1767225600000000-42")
        == event_id{1'767'225'600'000'000, 42});
  for (auto text : {"", "-", "1", "1-", "-1", "1-2-3", "1- 2", "a-1", "-1-2",
                    "1--2", "1-99999999999999999999", "1-2 "})
    CHECK_FALSE(parse_event_id(text));
}
