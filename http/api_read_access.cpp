// What is asked about operations, API keys and usage.

#include <algorithm>

#include "http/api_query.hpp"
#include "http/api_read.hpp"
#include "http/codec.hpp"

namespace tidegate::http {

outcome read_list_operations(request& what, const api_options&) {
  query_reader query{what.route.query};
  operations_page result{{what.who.project}};
  result.limit = read_limit(query);
  if (auto before =
        read_number_cursor(query, {list_kind::operations, result.what.project}))
    result.before = *before;
  return finish(query, std::move(result));
}

template <class T>
outcome read_operation(request& what, const api_options&) {
  auto id = parse_operation_id(what.route.param);
  if (!id)
    return make_problem(problem::not_found, "There is no such operation");
  return T{std::move(what.who.project), *id};
}

outcome read_create_api_key(request& what, const api_options& options) {
  return proceed(decode_api_key(what.body, options.now()),
                 [](api_key_record& record) -> outcome {
                   new_api_key result;
                   result.key = make_api_key();
                   auto digest = digest_of(result.key);
                   record.digest.assign(digest.begin(), digest.end());
                   result.what.key = std::move(record);
                   return result;
                 });
}

outcome read_list_api_keys(request& what, const api_options&) {
  query_reader query{what.route.query};
  api_keys_page result;
  result.limit = read_limit(query);
  if (auto after = read_number_cursor(query, {list_kind::api_keys}))
    result.after = *after;
  return finish(query, result);
}

outcome read_revoke_api_key(request& what, const api_options&) {
  auto id = parse_api_key_id(what.route.param);
  if (!id)
    return make_problem(problem::not_found, "There is no such API key");
  return revoke_api_key{*id};
}

outcome read_usage(request& what, const api_options& options) {
  constexpr std::int64_t days_shown = 30;
  auto today =
    std::chrono::floor<std::chrono::days>(options.now().time_since_epoch())
      .count();
  query_reader query{what.route.query};
  usage_call result;
  result.what.project = std::move(what.who.project);
  auto from = read_day(query, "from");
  auto to = read_day(query, "to");
  result.what.to_day = to ? *to
                          : std::max<std::int64_t>(today, from.value_or(0));
  result.what.from_day = from.value_or(result.what.to_day - days_shown + 1);
  if (result.what.from_day > result.what.to_day)
    query.complain("from", "a day up to the one in to", *query.find("from"));
  result.by = read_usage_by(query).value_or(usage_by::queue);
  return finish(query, std::move(result));
}

template outcome read_operation<get_operation>(request&, const api_options&);
template outcome read_operation<cancel_operation>(request&, const api_options&);

} // namespace tidegate::http
