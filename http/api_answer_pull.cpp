// From the replies of pull queues to responses.

#include <algorithm>

#include "http/api.hpp"
#include "http/codec_pull.hpp"
#include "http/cursor.hpp"
#include "http/problem.hpp"

namespace tidegate::http {

namespace {

/// Bytes of a page of messages, which have their payloads with them.
constexpr std::size_t page_bytes_max = 8 * 1024 * 1024;

response with_data(unsigned status, std::string data) {
  response result;
  result.status = status;
  result.body = std::move(data);
  result.shape = body_shape::data;
  return result;
}

const pull_call& pull_call_in(const call& asked) {
  return std::get<pull_call>(asked);
}

api_family family_of_call(const auto&) {
  return api_family::jobs;
}

api_family family_of_call(const create_pull_queue&) {
  return api_family::messages;
}

api_family family_of_call(const list_pull_queues&) {
  return api_family::messages;
}

api_family family_of_call(const pull_call&) {
  return api_family::messages;
}

api_family family_of_call(const delete_queue& what) {
  return what.kind == queue_kind::pull ? api_family::messages
                                       : api_family::jobs;
}

response show_subscription(const pull_call& asked,
                           const pull_queue_view& view) {
  if (view.queue.settings.webhook_url.empty())
    return make_problem(
      {errc::not_found, "Queue '" + asked.queue + "' has no push subscription"},
      api_family::messages);
  auto subscribes = std::holds_alternative<subscribe_webhook>(asked.what);
  return with_data(200, encode_subscription(view, subscribes));
}

// What an empty queue would answer.

pull_queue_view nothing_in(const pull_call& asked, const get_pull_queue&) {
  pull_queue_view result;
  result.queue.name = asked.queue;
  result.queue.pull = dead_letter_settings();
  return result;
}

messages_received nothing_in(const pull_call&, const consume_messages&) {
  return {};
}

message_page nothing_in(const pull_call&, const peek_messages&) {
  return {};
}

message_page nothing_in(const pull_call&, const list_dead_messages&) {
  return {};
}

redrive_result nothing_in(const pull_call&, const redrive_messages&) {
  return {};
}

error nothing_in(const pull_call& asked, const auto&) {
  return {errc::queue_not_found, "Queue '" + asked.queue + "' not found"};
}

} // namespace

api_family family_of(const call& what) {
  return std::visit([](const auto& x) { return family_of_call(x); }, what);
}

// -- queues -------------------------------------------------------------------

response answer(const call&, const pull_queue_created& reply) {
  return with_data(reply.created ? 201 : 200, encode(reply.view));
}

response answer(const call& asked, const pull_queue_view& reply) {
  const auto& what = pull_call_in(asked);
  if (std::holds_alternative<unsubscribe_webhook>(what.what))
    return {204, {}, {}};
  switch (what.shows) {
    case pull_call::aspect::figures:
      return with_data(200, encode_stats(reply));
    case pull_call::aspect::subscription:
      return show_subscription(what, reply);
    case pull_call::aspect::settings:
      break;
  }
  return with_data(200, encode(reply));
}

response answer(const call& asked, const pull_queue_list& reply) {
  const auto& what = std::get<list_pull_queues>(asked);
  std::string cursor;
  if (!reply.next_after.empty())
    cursor = make_cursor({list_kind::pull_queues, what.project},
                         reply.next_after);
  return with_data(200, encode(reply, cursor));
}

// -- publishing ---------------------------------------------------------------

response answer(const call& asked, const message_published& reply) {
  return with_data(reply.duplicate ? 200 : 201,
                   encode(reply, pull_call_in(asked).queue));
}

response answer(const call& asked, const message_batch_published& reply) {
  const auto& what = pull_call_in(asked);
  return with_data(200, encode(reply, what.queue, what.refusals));
}

// -- work ---------------------------------------------------------------------

response answer(const call&, const messages_received& reply) {
  return with_data(200, encode(reply));
}

response answer(const call& asked, const message_settled& reply) {
  const auto& what = pull_call_in(asked);
  const auto& said = std::get<settle_message>(what.what);
  return with_data(200, encode(reply, said.what));
}

response answer(const call& asked, const messages_settled& reply) {
  const auto& what = pull_call_in(asked);
  return with_data(200, encode(reply, std::get<settle_messages>(what.what),
                               what.refusals));
}

// -- looking and moving back --------------------------------------------------

response answer(const call& asked, const message_page& reply) {
  const auto& what = pull_call_in(asked);
  auto cursor_of = [&](job_seq before) {
    if (!std::holds_alternative<list_dead_messages>(what.what))
      return std::string{};
    return make_cursor({list_kind::dead_messages, what.project, what.queue},
                       before.value);
  };
  auto items = reply.items;
  if (what.moved_only)
    std::erase_if(items, [](const message_view& x) {
      return x.job.source_queue.empty();
    });
  auto last = reply.next_before ? cursor_of(*reply.next_before) : std::string{};
  return with_data(200, encode_messages(items, page_bytes_max, std::move(last),
                                        [&](const message_view& item) {
                                          return cursor_of(item.job.id.seq);
                                        }));
}

response answer(const call& asked, const redrive_result& reply) {
  const auto& what = std::get<redrive_messages>(pull_call_in(asked).what);
  return with_data(200, encode(reply, what.dry_run));
}

response answer_for_empty(const pull_call& asked) {
  return std::visit(
    [&](const auto& what) {
      return answer(call{asked}, nothing_in(asked, what));
    },
    asked.what);
}

} // namespace tidegate::http
