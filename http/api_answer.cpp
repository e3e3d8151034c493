// From replies to responses.

#include <algorithm>

#include "http/api.hpp"
#include "http/codec.hpp"
#include "http/cursor.hpp"
#include "http/problem.hpp"

namespace tidegate::http {

namespace {

response with_body(unsigned status, std::string body) {
  return {status, {}, std::move(body)};
}

/// Returns the page of `items` that `asked` wants; `number` tells where an item
/// stands, and `wanted` whether that is on the page or behind it. Sets `cursor`
/// where there is more.
template <class T, class Number, class Wanted>
std::span<const T> page_of(const std::vector<T>& items, std::size_t limit,
                           const list_name& list, Number number, Wanted wanted,
                           std::string& cursor) {
  auto first = std::find_if(items.begin(), items.end(), [&](const T& item) {
    return wanted(number(item));
  });
  auto rest = std::span<const T>{first, items.end()};
  if (rest.size() <= limit)
    return rest;
  cursor = make_cursor(list, number(rest[limit - 1]));
  return rest.first(limit);
}

} // namespace

response answer(const call&, const put_queue_result& reply) {
  return with_body(reply.created ? 201 : 200,
                   encode(reply.view, reply.created));
}

response answer(const call& asked, const queue_view& reply) {
  auto what = std::get_if<queue_call>(&asked);
  if (what && !what->refusals.empty())
    return with_body(200, encode(publish_batch_result{}, what->refusals));
  return with_body(200, encode(reply, what && what->shows_secret));
}

response answer(const call& asked, const queue_list& reply) {
  const auto& what = std::get<list_queues>(asked);
  std::string cursor;
  if (!reply.next_after.empty())
    cursor = make_cursor({list_kind::queues, what.project}, reply.next_after);
  return with_body(200, encode(reply, cursor));
}

response answer(const call&, const queue_deleted&) {
  return {204, {}, {}};
}

response answer(const call&, const publish_result& reply) {
  return with_body(reply.duplicate ? 200 : 201, encode(reply));
}

response answer(const call& asked, const publish_batch_result& reply) {
  return with_body(200, encode(reply, std::get<queue_call>(asked).refusals));
}

response answer(const call&, const job_view& reply) {
  return with_body(200, encode(reply));
}

response answer(const call& asked, const job_list& reply) {
  const auto& what = std::get<queue_call>(asked);
  const auto& list = std::get<list_jobs>(what.what);
  auto kind = list.dead_letters ? list_kind::dead_letters : list_kind::jobs;
  std::string cursor;
  if (reply.next_before)
    cursor = make_cursor({kind, what.project, what.queue},
                         reply.next_before->value);
  return with_body(200, encode(reply, list.payloads, cursor));
}

response answer(const call& asked, const jobs_removed& reply) {
  auto result = with_body(200, encode(reply));
  if (family_of(asked) == api_family::messages)
    result.shape = body_shape::data;
  return result;
}

response answer(const call&, const replay_plan& reply) {
  return with_body(200, encode(reply));
}

response answer(const call&, const report_taken& reply) {
  return with_body(200, encode(reply));
}

response answer(const call&, const limit_key_view& reply) {
  return with_body(200, encode(reply));
}

response answer(const call& asked, const limit_key_list& reply) {
  const auto& what = std::get<queue_call>(asked);
  std::string cursor;
  if (!reply.next_after.empty())
    cursor = make_cursor({list_kind::limit_keys, what.project, what.queue},
                         reply.next_after);
  return with_body(200, encode(reply, cursor));
}

response answer(const call&, const operation_record& reply) {
  return with_body(200, encode(reply));
}

response answer(const call& asked, const operation_list& reply) {
  const auto& what = std::get<operations_page>(asked);
  std::string cursor;
  auto page = page_of(
    reply.items, what.limit, {list_kind::operations, what.what.project},
    [](const operation_record& x) { return x.id.value; },
    [&](std::uint64_t x) { return x < what.before; }, cursor);
  return with_body(200, encode(page, cursor));
}

response answer(const call& asked, const api_key_record& reply) {
  return with_body(201, encode(reply, std::get<new_api_key>(asked).key));
}

response answer(const call& asked, const api_key_list& reply) {
  const auto& what = std::get<api_keys_page>(asked);
  std::string cursor;
  auto page = page_of(
    reply.items, what.limit, {list_kind::api_keys},
    [](const api_key_record& x) { return std::uint64_t{x.id.value}; },
    [&](std::uint64_t x) { return x > what.after; }, cursor);
  return with_body(200, encode(page, cursor));
}

response answer(const call&, const api_key_revoked&) {
  return {204, {}, {}};
}

response answer(const call& asked, const usage_list& reply) {
  const auto& [what, by] = std::get<usage_call>(asked);
  return with_body(200, encode(reply, by, what.from_day, what.to_day));
}

response answer(const call&, const ready_for_work&) {
  return with_body(200, R"({"status":"ready"})");
}

response answer(const call& asked, const error& reason) {
  return make_problem(reason, family_of(asked));
}

response alive() {
  return with_body(200, R"({"status":"ok"})");
}

} // namespace tidegate::http
