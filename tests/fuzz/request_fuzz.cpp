// The bytes of a connection as a client may send them, up to the call that they
// come to.

#include "http/api.hpp"
#include "http/request_reader.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace tidegate::fuzz {

namespace {

using namespace http;
using step = request_reader::step;

constexpr std::size_t header_bytes_max = 2048;
constexpr std::size_t body_bytes_max = 8192;

/// Lets in whoever has the key `sq_live_fuzz`, with all scopes.
const key_ring& keys() {
  static const key_ring ring{[] {
    key_set own;
    own.add(digest_of("sq_live_fuzz"), scope_set::all());
    return own;
  }()};
  return ring;
}

const api_options& options() {
  static const api_options result{
    [](const std::string&) { return std::nullopt; }, 0,
    [] { return wall_time{std::chrono::seconds{1'790'000'000}}; }};
  return result;
}

void check_refusal(const response& refused) {
  must(refused.status >= 400 && refused.status < 600,
       "a refusal has the status of one");
  must(!refused.body.empty(), "a refusal says why");
}

/// Returns what a request comes to, as a line.
std::string outcome_of(const admission& let_in, std::string body) {
  request what;
  what.route = let_in.route;
  what.who = let_in.who;
  what.trace = let_in.trace;
  what.idempotency_key = let_in.idempotency_key;
  what.body = std::move(body);
  what.id = "req";
  what.peer = std::make_shared<const std::string>("192.0.2.1");
  auto read = read_call(what, options());
  if (auto answer = std::get_if<response>(&read)) {
    // Some things are answered at once.
    if (answer->status != 200 && answer->status != 304)
      check_refusal(*answer);
    return std::to_string(answer->status) + " " + answer->body;
  }
  return "call " + std::to_string(std::get<call>(read).index());
}

/// Reads a connection whose bytes come in pieces of at most `piece`. Returns
/// what each request came to.
std::vector<std::string> read(std::string_view bytes, std::size_t piece) {
  request_reader reader{header_bytes_max};
  std::vector<std::string> lines;
  std::variant<admission, refusal> admitted;
  for (;;) {
    switch (reader.advance()) {
      case step::need_more: {
        if (bytes.empty())
          return lines;
        auto room = reader.prepare();
        must(!room.empty(), "there is room for more");
        auto count = std::min({piece, bytes.size(), room.size()});
        std::memcpy(room.data(), bytes.data(), count);
        bytes.remove_prefix(count);
        reader.commit(count);
        break;
      }
      case step::head:
        admitted = admit(reader.head(), keys(), {{}, options().now()});
        if (auto refused = std::get_if<refusal>(&admitted)) {
          check_refusal(refused->answer);
          lines.push_back("refused " + std::to_string(refused->answer.status));
          return lines;
        }
        if (reader.is_too_large(body_bytes_max)) {
          lines.push_back("too large");
          return lines;
        }
        if (reader.announced() % 4 == 3) {
          // As of a publish that there is no room for.
          lines.push_back("dropped");
          reader.skip_body();
        } else {
          reader.read_body(body_bytes_max);
        }
        break;
      case step::complete: {
        auto body = reader.take_body();
        must(body.size() <= body_bytes_max, "no body is larger than allowed");
        lines.push_back(
          outcome_of(std::get<admission>(admitted), std::move(body)));
        if (!reader.keep_alive())
          return lines;
        reader.next();
        break;
      }
      case step::fault:
        lines.push_back("fault "
                        + std::to_string(static_cast<int>(reader.fault())));
        return lines;
    }
  }
}

/// Returns whether two readings of one connection are the same. Of what breaks
/// off in the middle of a head, one may see a fault and the other wait for
/// more.
bool agree(std::vector<std::string> one, std::vector<std::string> other) {
  if (one.size() > other.size())
    std::swap(one, other);
  if (other.size() == one.size() + 1 && other.back().starts_with("fault"))
    other.pop_back();
  return one == other;
}

} // namespace

void run(std::string_view input) {
  chooser choose{input};
  auto piece = choose.below(64) + 1;
  auto whole = read(choose.rest(), choose.rest().size() + 1);
  auto parts = read(choose.rest(), piece);
  must(agree(whole, parts), "how bytes are cut does not matter");
}

} // namespace tidegate::fuzz
