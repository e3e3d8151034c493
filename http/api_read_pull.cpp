// What is asked of pull queues and of the messages in them.

#include <algorithm>

#include "http/api_query.hpp"
#include "http/api_read.hpp"
#include "http/codec_pull.hpp"
#include "http/utf8.hpp"

namespace tidegate::http {

namespace {

constexpr auto family = api_family::messages;

using absence = pull_call::absence;

template <class T>
pull_call to_pull(request& what, std::string queue, T message,
                  absence if_absent = absence::refuse) {
  pull_call result;
  result.project = std::move(what.who.project);
  result.queue = std::move(queue);
  result.what = std::move(message);
  result.if_absent = if_absent;
  return result;
}

/// Makes a call to the queue that the path names.
template <class T>
pull_call
to_pull(request& what, T message, absence if_absent = absence::refuse) {
  return to_pull(what, std::move(what.route.param), std::move(message),
                 if_absent);
}

/// Takes the key of the header in, where that does not contradict the body.
void take_key(const std::optional<std::string>& from_header,
              publish_message& target, complaints& out) {
  if (!from_header)
    return;
  auto wrong = complaint_about_key(*from_header);
  if (!wrong && !is_utf8(*from_header))
    wrong = "must be UTF-8";
  if (!wrong && !target.idempotency_key.empty()
      && target.idempotency_key != *from_header)
    wrong = "must be the idempotency_key of the body where both are given";
  if (wrong)
    out.add("Idempotency-Key", std::move(*wrong));
  target.idempotency_key = *from_header;
}

/// Answers a batch of which nothing is valid.
response refuse_all(const std::vector<std::string>& refusals) {
  response result;
  result.body = encode(message_batch_published{}, {}, refusals);
  result.shape = body_shape::data;
  return result;
}

} // namespace

// -- queues -------------------------------------------------------------------

outcome read_create_pull_queue(request& what, const api_options&) {
  return proceed(
    decode_create_pull_queue(what.body),
    [&](create_pull_queue& queue) -> outcome {
      queue.project = std::move(what.who.project);
      return std::move(queue);
    },
    family);
}

outcome read_patch_pull_queue(request& what, const api_options&) {
  return proceed(
    decode_pull_patch(what.body, what.route.param),
    [&](pull_settings_patch& patch) -> outcome {
      return to_pull(what, patch_pull_queue{std::move(patch)});
    },
    family);
}

outcome read_list_pull_queues(request& what, const api_options&) {
  query_reader query{what.route.query};
  list_pull_queues result;
  result.project = what.who.project;
  result.limit = read_limit(query);
  if (auto after = read_cursor(query, {list_kind::pull_queues, result.project}))
    result.after = std::move(*after);
  return finish(query, std::move(result), family);
}

outcome read_delete_pull_queue(request& what, const api_options&) {
  query_reader query{what.route.query};
  delete_queue result{what.route.param, read_flag(query, "force"),
                      what.who.project, queue_kind::pull};
  return finish(query, std::move(result), family);
}

outcome read_get_pull_queue(request& what, const api_options&) {
  return to_pull(what, get_pull_queue{});
}

outcome read_pull_stats(request& what, const api_options&) {
  auto result = to_pull(what, get_pull_queue{}, absence::empty);
  result.shows = pull_call::aspect::figures;
  return result;
}

outcome read_purge_pull_queue(request& what, const api_options&) {
  return to_pull(what, purge_pull_queue{});
}

// -- push subscriptions -------------------------------------------------------

outcome read_subscribe(request& what, const api_options& options) {
  return proceed(
    decode_push_subscription(what.body, options.complaint_about_target),
    [&](subscribe_webhook& read) -> outcome {
      if (auto refused = forbid_insecure(read.settings.tls_insecure, what.who,
                                         family))
        return std::move(*refused);
      auto result = to_pull(what, std::move(read));
      result.shows = pull_call::aspect::subscription;
      return result;
    },
    family);
}

outcome read_get_subscription(request& what, const api_options&) {
  auto result = to_pull(what, get_pull_queue{});
  result.shows = pull_call::aspect::subscription;
  return result;
}

outcome read_unsubscribe(request& what, const api_options&) {
  return to_pull(what, unsubscribe_webhook{});
}

// -- publishing ---------------------------------------------------------------

outcome read_publish_message(request& what, const api_options&) {
  return proceed(
    decode_publish_message(what.body),
    [&](to_named_queue<publish_message>& read) -> outcome {
      complaints wrong;
      take_key(what.idempotency_key, read.what, wrong);
      if (!wrong.empty())
        return make_problem(wrong, family);
      read.what.by = what.who.key;
      auto if_absent = fits_new_queue(read.what) ? absence::make
                                                 : absence::refuse;
      return to_pull(what, std::move(read.queue), std::move(read.what),
                     if_absent);
    },
    family);
}

outcome read_publish_messages(request& what, const api_options&) {
  return proceed(
    decode_publish_messages(what.body),
    [&](batch_to_queue<publish_message>& batch) -> outcome {
      if (batch.entries.empty())
        return refuse_all(batch.refusals);
      for (auto& message : batch.entries)
        message.by = what.who.key;
      auto makes = std::any_of(batch.entries.begin(), batch.entries.end(),
                               fits_new_queue);
      auto result = to_pull(what, std::move(batch.queue),
                            publish_messages{std::move(batch.entries)},
                            makes ? absence::make : absence::refuse);
      result.refusals = std::move(batch.refusals);
      return result;
    },
    family);
}

// -- work ---------------------------------------------------------------------

outcome read_consume(request& what, const api_options&) {
  return proceed(
    decode_consume(what.body),
    [&](to_named_queue<consume_messages>& read) -> outcome {
      if (read.what.wait > duration{0} && what.watch) {
        what.watch->wanted = true;
        read.what.gone = gone_flag{what.watch, &what.watch->gone};
      }
      return to_pull(what, std::move(read.queue), std::move(read.what),
                     absence::empty);
    },
    family);
}

template <settle_message::kind Kind>
outcome read_settle(request& what, const api_options&) {
  return proceed(
    decode_settle(what.body, Kind),
    [&](to_named_queue<settle_message>& read) -> outcome {
      if (read.what.successor) {
        if (!what.who.scopes.contains(scope::publish))
          return forbid(scope::publish, family);
        read.what.successor->by = what.who.key;
      }
      return to_pull(what, std::move(read.queue), std::move(read.what));
    },
    family);
}

template <settle_message::kind Kind>
outcome read_settle_batch(request& what, const api_options&) {
  return proceed(
    decode_settle_batch(what.body, Kind),
    [&](batch_to_queue<settle_message>& batch) -> outcome {
      if (batch.entries.empty())
        return refuse_all(batch.refusals);
      auto result = to_pull(what, std::move(batch.queue),
                            settle_messages{std::move(batch.entries)});
      result.refusals = std::move(batch.refusals);
      return result;
    },
    family);
}

// -- looking and moving back --------------------------------------------------

outcome read_peek(request& what, const api_options&) {
  constexpr std::size_t shown = 10;
  query_reader query{what.route.query};
  peek_messages result{read_limit(query, shown)};
  return finish(query, to_pull(what, result, absence::empty), family);
}

outcome read_list_dead_messages(request& what, const api_options&) {
  query_reader query{what.route.query};
  list_dead_messages list;
  list.since = read_instant(query, "since");
  list.until = read_instant(query, "until");
  list.limit = read_limit(query);
  if (auto before = read_number_cursor(
        query, {list_kind::dead_messages, what.who.project, what.route.param}))
    list.before = job_seq{*before};
  auto reason = query.find("reason");
  if (reason && *reason != dead_message_reason)
    query.complain("reason", dead_message_reason, *reason);
  auto result = to_pull(what, std::move(list), absence::empty);
  result.of_dead_letters = true;
  result.moved_only = reason.has_value();
  return finish(query, std::move(result), family);
}

outcome read_redrive(request& what, const api_options&) {
  return proceed(
    decode_redrive(what.body),
    [&](redrive_messages& read) -> outcome {
      read.source = what.route.param;
      if (read.source.ends_with(dead_letter_suffix))
        read.source.resize(read.source.size() - dead_letter_suffix.size());
      auto result = to_pull(what, std::move(read), absence::empty);
      result.of_dead_letters = true;
      return result;
    },
    family);
}

template outcome read_settle<settle_message::kind::ack>(request&,
                                                        const api_options&);
template outcome read_settle<settle_message::kind::nack>(request&,
                                                         const api_options&);
template outcome read_settle<settle_message::kind::extend>(request&,
                                                           const api_options&);
template outcome read_settle<settle_message::kind::release>(request&,
                                                            const api_options&);
template outcome
read_settle_batch<settle_message::kind::ack>(request&, const api_options&);
template outcome
read_settle_batch<settle_message::kind::nack>(request&, const api_options&);

} // namespace tidegate::http
