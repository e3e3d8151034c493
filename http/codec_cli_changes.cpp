// What became of a change, out of the answer: it need not be what was asked
// for.

#include <nlohmann/json.hpp>

#include "http/codec_cli.hpp"
#include "http/codec_cli_read.hpp"

namespace tidegate::http {

namespace {

using nlohmann::json;

/// Two answers about one end of a hold differ by less than this: the server
/// reckons it anew for each.
constexpr duration same_end{50'000};

/// Whether the hold that `after` shows is an earlier one, which a shorter hold
/// has not moved. `before` is null where nobody could look.
bool is_earlier_hold(const json& before, const json& after) {
  auto earlier = time_of(member_of(before, "releaseAt"));
  auto end = time_of(member_of(after, "releaseAt"));
  if (earlier && end && *end - *earlier < same_end)
    return true;
  return text_of(member_of(after, "cause")) != "operator";
}

json gate_of(std::string_view body) {
  auto document = read_object(body);
  return document ? member_of(*document, "gate") : json{};
}

} // namespace

result<std::string> say_held(const std::string& queue, std::string_view before,
                             std::string_view after, wall_time now) {
  auto gate = gate_of(after);
  auto until = time_of(member_of(gate, "releaseAt"));
  auto state = text_of(member_of(gate, "state"));
  if (state.empty())
    return not_tidegate();
  if (state == "open" || !until)
    return printable(queue + " is " + state) + '\n';
  auto end = print_instant(*until, now);
  if (state == "probing")
    return printable("the probe of " + queue + " is out: " + queue
                     + " stays held until " + end
                     + " if the verdict comes before, and then another probe "
                       "tests it")
           + '\n';
  auto text = is_earlier_hold(gate_of(before), gate)
                ? queue + " stays held until " + end
                    + ": a hold does not shorten one that ends later"
                : "held " + queue + " until " + end;
  return printable(text) + '\n';
}

result<std::string> say_released(const std::string& what,
                                 std::string_view after) {
  auto state = text_of(member_of(gate_of(after), "state"));
  if (state.empty())
    return not_tidegate();
  if (state == "open")
    return printable(what + " is open: no hold was there to be ended") + '\n';
  if (state == "probing")
    return printable("the probe of " + what + " is out: it opens " + what
                     + " if it succeeds")
           + '\n';
  return printable("released " + what
                   + ": the next job that can go is its probe")
         + '\n';
}

bool is_idle_key(std::string_view answer) {
  auto key = read_object(answer);
  return key && text_of(member_of(member_of(*key, "gate"), "state")) == "open"
         && count_of(member_of(*key, "ready")) == 0
         && count_of(member_of(*key, "inFlight")) == 0;
}

bool has_no_items(std::string_view page) {
  auto document = read_object(page);
  if (!document)
    return false;
  const auto& items = member_of(*document, "items");
  return items.is_array() && items.empty();
}

} // namespace tidegate::http
