// Reads whole bodies with the settings of a queue.

#include <array>

#include "http/codec.hpp"
#include "http/codec_fields.hpp"
#include "http/codec_settings_reader.hpp"

namespace tidegate::http {

namespace {

/// What a body with settings comes to.
struct settings_body {
  queue_settings_patch patch;

  /// Set where a queue's name was asked for.
  std::string queue_name;
};

/// Reads `body`. `creating`: the settings have to be complete; `named`: there
/// has to be a name.
decoded<settings_body> decode_body(std::string_view body, bool creating,
                                   bool named, const target_check& check) {
  auto outline = outline_of(body);
  if (auto what = std::get_if<malformed>(&outline))
    return std::move(*what);
  if (auto what = std::get_if<complaints>(&outline))
    return std::move(*what);
  complaints out;
  std::array<std::string_view, setting::names.size()> slots;
  auto known =
    std::span{setting::names}.first(setting::field_count + (named ? 1 : 0));
  assign_fields(std::get<json_outline>(outline).parts, known, slots, {}, out);
  settings_body result;
  if (named && slots[setting::name].empty()) {
    out.add("name", "is required");
  } else if (named) {
    auto text = read_string("name", slots[setting::name], out);
    if (auto finding = text ? validate_queue_name(*text) : std::nullopt)
      out.fields.push_back(std::move(*finding));
    result.queue_name = std::move(text).value_or(std::string{});
  }
  if (creating && slots[setting::webhook_url].empty())
    out.add("webhookUrl", "is required");
  result.patch = read_settings(slots, check, out);
  if (!out.empty())
    return out;
  return result;
}

/// Goes on with `f` where `what` was read, else hands on what is wrong.
template <class T, class F>
decoded<T> convert(decoded<settings_body> what, F f) {
  if (auto wrong = std::get_if<malformed>(&what))
    return std::move(*wrong);
  if (auto wrong = std::get_if<complaints>(&what))
    return std::move(*wrong);
  return f(std::get<settings_body>(what));
}

} // namespace

decoded<create_queue> decode_create_queue(std::string_view body,
                                          const target_check& check) {
  return convert<create_queue>(
    decode_body(body, true, true, check), [](settings_body& read) {
      create_queue result;
      result.name = std::move(read.queue_name);
      result.settings = apply(queue_settings{}, read.patch);
      return result;
    });
}

decoded<queue_settings> decode_settings(std::string_view body,
                                        const target_check& check) {
  return convert<queue_settings>(decode_body(body, true, false, check),
                                 [](settings_body& read) {
                                   return apply(queue_settings{}, read.patch);
                                 });
}

decoded<queue_settings_patch> decode_settings_patch(std::string_view body,
                                                    const target_check& check) {
  return convert<queue_settings_patch>(decode_body(body, false, false, check),
                                       [](settings_body& read) {
                                         return std::move(read.patch);
                                       });
}

} // namespace tidegate::http
