// Prints messages and what became of what was asked of them.

#include "http/codec_pull.hpp"
#include "http/codec_write.hpp"
#include "http/message_json.hpp"

namespace tidegate::http {

namespace {

constexpr std::size_t result_bytes = 160;

// -- results ------------------------------------------------------------------

void published_members(json_writer& out, const message_published& result,
                       std::string_view queue) {
  out.member("message_id", to_string(result.id))
    .member("queue", queue)
    .member("published_at", exact_time(result.published_at))
    .member("visible_at", exact_time(result.visible_at));
  if (result.duplicate)
    out.member("duplicate", true);
}

void settled_members(json_writer& out, const message_settled& result,
                     settle_message::kind kind) {
  out.member("message_id", to_string(result.id));
  if (kind != settle_message::kind::ack && result.visible_at != wall_time{})
    out.member("visible_at", exact_time(result.visible_at));
  if (result.duplicate)
    out.member("duplicate", true);
  if (result.successor) {
    out.key("published").begin_object();
    published_members(out, *result.successor, result.successor_queue);
    out.end_object();
  }
}

/// Prints one result for each of `refusals`: that, or the next of `results` by
/// way of `write`.
template <class T, class F>
std::string print_results(const std::vector<std::variant<T, error>>& results,
                          const std::vector<std::string>& refusals, F write) {
  json_writer out;
  out.reserve(32 + refusals.size() * result_bytes);
  out.begin_object().key("results").begin_array();
  std::size_t next = 0;
  for (const auto& refusal : refusals) {
    if (!refusal.empty()) {
      out.raw(refusal);
      continue;
    }
    if (next == results.size())
      break;
    auto n = next++;
    if (auto reason = std::get_if<error>(&results[n])) {
      out.raw(refused_entry(*reason, api_family::messages));
      continue;
    }
    out.begin_object().member("ok", true);
    write(out, std::get<T>(results[n]), n);
    out.end_object();
  }
  out.end_array().end_object();
  return out.take();
}

} // namespace

// -- messages -----------------------------------------------------------------

std::string encode(const messages_received& received) {
  std::size_t room = 64;
  for (const auto& item : received.items)
    room += room_for(item);
  json_writer out;
  out.reserve(room);
  out.begin_object().key("items").begin_array();
  for (const auto& item : received.items)
    write_message(out, item);
  end_items(out, {});
  return out.take();
}

std::string encode_messages(const std::vector<message_view>& items,
                            std::size_t bytes_max, std::string last_cursor,
                            const cursor_maker& cursor_after) {
  json_writer out;
  out.begin_object().key("items").begin_array();
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    bytes += room_for(items[i]);
    if (i > 0 && bytes > bytes_max) {
      end_items(out, cursor_after(items[i - 1]));
      return out.take();
    }
    write_message(out, items[i]);
  }
  end_items(out, last_cursor);
  return out.take();
}

std::string encode(const redrive_result& result, bool dry_run) {
  json_writer out;
  out.begin_object();
  if (result.operation) {
    out.member("operation_id", to_string(result.operation->id)).end_object();
    return out.take();
  }
  if (!dry_run) {
    out.member("redriven", result.count).end_object();
    return out.take();
  }
  out.member("count", result.count).key("sample").begin_array();
  for (const auto& item : result.sample)
    write_message(out, item);
  out.end_array().end_object();
  return out.take();
}

// -- results ------------------------------------------------------------------

std::string encode(const message_published& result, std::string_view queue) {
  json_writer out;
  out.reserve(result_bytes + queue.size());
  out.begin_object();
  published_members(out, result, queue);
  out.end_object();
  return out.take();
}

std::string encode(const message_batch_published& results,
                   std::string_view queue,
                   const std::vector<std::string>& refusals) {
  return print_results(results.results, refusals,
                       [=](json_writer& out, const auto& result, std::size_t) {
                         published_members(out, result, queue);
                       });
}

std::string encode(const message_settled& result, settle_message::kind kind) {
  json_writer out;
  out.reserve(result_bytes);
  out.begin_object();
  settled_members(out, result, kind);
  out.end_object();
  return out.take();
}

std::string encode(const messages_settled& results,
                   const settle_messages& asked,
                   const std::vector<std::string>& refusals) {
  return print_results(results.results, refusals,
                       [&](json_writer& out, const auto& result,
                           std::size_t n) {
                         settled_members(out, result, asked.entries.at(n).what);
                       });
}

} // namespace tidegate::http
