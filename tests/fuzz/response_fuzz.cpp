// Responses as a webhook may send them.

#include "actors/core/outcome.hpp"
#include "actors/core/utf8.hpp"
#include "http/client_response.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <algorithm>
#include <string>
#include <tuple>

namespace tidegate::fuzz {

namespace {

using http::response_reader;
using state = response_reader::state;

/// What came of a response: whether it is one, and what it says.
struct reading {
  state end = state::head;
  bool reusable = false;
  delivery_reply reply;

  auto tied() const {
    return std::tie(end, reusable, reply.http_status, reply.retry_after,
                    reply.date, reply.excerpt);
  }
};

bool goes_on(const response_reader& reader) {
  return reader.now() == state::head || reader.now() == state::body;
}

/// Reads `bytes` as they come in pieces of at most `piece`, and then the end.
reading read(std::string_view bytes, std::size_t piece) {
  response_reader reader{{1024, 4096, 256}};
  std::string waiting;
  while (goes_on(reader) && !bytes.empty()) {
    auto count = std::min(piece, bytes.size());
    waiting.append(bytes.substr(0, count));
    bytes.remove_prefix(count);
    for (;;) {
      auto taken = reader.feed(waiting);
      must(taken <= waiting.size(), "no more is taken than there is");
      waiting.erase(0, taken);
      if (taken == 0 || waiting.empty() || !goes_on(reader))
        break;
    }
  }
  if (goes_on(reader))
    reader.end_of_stream();
  reading result;
  result.end = reader.now();
  must(result.end != state::body, "the end of the stream ends the body");
  result.reusable = reader.reusable();
  if (result.end == state::done)
    reader.move_to(result.reply);
  else if (result.end == state::malformed)
    must(!reader.complaint().empty(), "what is malformed has a reason");
  // Where it breaks off before its head is complete, it is none either way.
  if (result.end == state::head)
    result.end = state::malformed;
  return result;
}

} // namespace

void run(std::string_view input) {
  chooser choose{input};
  auto piece = choose.below(64) + 1;
  auto whole = read(choose.rest(), choose.rest().size() + 1);
  auto parts = read(choose.rest(), piece);
  must(whole.tied() == parts.tied(), "how bytes are cut does not matter");
  if (whole.end != state::done)
    return;
  must(whole.reply.http_status.has_value(), "a response has a status");
  must(whole.reply.excerpt.size() <= 256, "an excerpt is short");
  auto what = judge(whole.reply, wall_time{});
  auto is_2xx = *whole.reply.http_status / 100 == 2;
  must(is_2xx == (what.what == outcome::kind::success),
       "2xx and nothing else is success");
}

} // namespace tidegate::fuzz
