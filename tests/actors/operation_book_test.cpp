// What is kept of operations, and what their next step is.

#include "actors/operation_book.hpp"

#include <catch2/catch.hpp>

using namespace std::chrono_literals;
using namespace tidegate;

namespace {

constexpr moment noon{steady_time{100s}, wall_time{1'000'000s}};

operation_record
some_operation(std::uint64_t number,
               operation_state state = operation_state::running) {
  operation_record op;
  op.id = operation_id{number};
  op.project = "p";
  op.state = state;
  op.per_second = 100;
  op.started_at = noon.wall;
  return op;
}

} // namespace

TEST_CASE("a slice is what a tenth of a second takes, within bounds") {
  auto op = some_operation(1);
  op.per_second = 0.1;
  CHECK(slice_limit(op) == 1);
  op.per_second = 59;
  CHECK(slice_limit(op) == 5);
  op.per_second = 10'000;
  CHECK(slice_limit(op) == 100);
  CHECK(time_for(op, 100) == 10ms);
  op.limit = 7;
  op.done = 4;
  CHECK(slice_limit(op) == 3);
  op.done = 8;
  CHECK(slice_limit(op) == 0);
}

TEST_CASE("the question for a slice leaves out what dies after the start") {
  auto op = some_operation(1);
  op.position = job_seq{50};
  CHECK(next_slice(op).filter.until == noon.wall);
  CHECK(next_slice(op).before == job_seq{50});
  CHECK(next_slice(op).dead_letters);
  op.filter.until = noon.wall - 1h;
  CHECK(next_slice(op).filter.until == noon.wall - 1h);
  op.filter.until = noon.wall + 1h;
  CHECK(next_slice(op).filter.until == noon.wall);
}

TEST_CASE("a redrive asks for the oldest messages that were there") {
  auto op = some_operation(1);
  op.kind = operation_kind::redrive;
  op.position = job_seq{50};
  CHECK(next_slice(op).dead_messages);
  CHECK_FALSE(next_slice(op).dead_letters);
  CHECK(next_slice(op).after == job_seq{50});
  CHECK(next_slice(op).filter.until == noon.wall);
  job_page page;
  page.next_after = job_seq{90};
  CHECK(after_slice(op, page, noon.wall).position == job_seq{90});
  page.next_after.reset();
  CHECK(after_slice(op, page, noon.wall).state == operation_state::done);
}

TEST_CASE("the slice on the last page ends the operation") {
  auto op = some_operation(1);
  job_page page;
  page.next_before = job_seq{9};
  CHECK(after_slice(op, page, noon.wall).state == operation_state::running);
  CHECK(after_slice(op, page, noon.wall).position == job_seq{9});
  page.next_before.reset();
  CHECK(after_slice(op, page, noon.wall).state == operation_state::done);
  CHECK(after_slice(op, page, noon.wall).finished_at == noon.wall);
}

TEST_CASE("the newest thousand that have ended are kept, and all that run") {
  operation_book book;
  for (std::uint64_t n = 1; n <= 1500; ++n)
    book.put(some_operation(n, n % 10 == 0 ? operation_state::running
                                           : operation_state::done),
             noon);
  book.forget_old();
  auto kept = book.list("p");
  CHECK(kept.size() == ended_operations_max + 150);
  CHECK(kept.front().id == operation_id{1500});
  CHECK(book.find(operation_id{10}));
  CHECK_FALSE(book.find(operation_id{11}));
  CHECK(book.find(operation_id{1499}));
}

TEST_CASE("one that runs here and is not stored went with its queue") {
  operation_book book;
  book.put(some_operation(1), noon);
  book.put(some_operation(2), noon);
  auto further = some_operation(2);
  further.done = 5;
  book.take_over({further, some_operation(3)}, noon);
  CHECK(book.find(operation_id{1})->record.state == operation_state::failed);
  CHECK(book.find(operation_id{2})->record.done == 5);
  CHECK(book.due(noon) == std::vector{operation_id{2}, operation_id{3}});
}

TEST_CASE("an operation that is paced is due when its time has come") {
  operation_book book;
  book.put(some_operation(1), noon);
  book.pace(*book.find(operation_id{1}), 10, noon);
  CHECK(book.due(noon).empty());
  CHECK(book.next_at() == noon.steady + 100ms);
  auto later = noon;
  later.steady += 5s;
  CHECK(book.due(later).size() == 1);
  book.pace(*book.find(operation_id{1}), 10, later);
  CHECK(book.next_at() == later.steady);
  book.find(operation_id{1})->under_way = 1;
  CHECK_FALSE(book.next_at());
}
