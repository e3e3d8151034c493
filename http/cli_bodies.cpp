// What commands put into the bodies of their calls.

#include <istream>
#include <ostream>

#include "http/cli_session.hpp"

namespace tidegate::http {

namespace {

/// Largest payload that is read from stdin. Unit: bytes.
constexpr std::size_t payload_max = 64 * 1024 * 1024;

} // namespace

std::optional<std::string> read_payload(cli_session& self) {
  auto payload = self.word("payload");
  auto from_stdin = payload == "-";
  if (from_stdin) {
    auto& in = self.world().in;
    payload.clear();
    char part[4096];
    while (payload.size() < payload_max
           && (in.read(part, sizeof part) || in.gcount() > 0))
      payload.append(part, static_cast<std::size_t>(in.gcount()));
  }
  if (is_json(payload))
    return payload;
  auto nothing = payload.find_first_not_of(" \t\r\n") == std::string::npos;
  self.fail(exit_usage,
            "PAYLOAD must be JSON, such as {\"to\": \"a\"} or "
            "\"text\" with its quotes, got "
              + (nothing ? std::string{"nothing"} : printable(payload, 60))
              + (from_stdin ? " on standard input" : ""));
  return std::nullopt;
}

std::optional<std::string> add_headers(json_writer& out,
                                       const std::vector<std::string>& words) {
  if (words.empty())
    return std::nullopt;
  out.key("headers").begin_object();
  for (const auto& word : words) {
    auto colon = word.find(':');
    if (colon == 0 || colon == std::string::npos)
      return word;
    auto value = word.substr(colon + 1);
    value.erase(0, value.find_first_not_of(' '));
    out.member(word.substr(0, colon), value);
  }
  out.end_object();
  return std::nullopt;
}

void add_text(json_writer& out, const cli_session& self, const char* word,
              const char* field) {
  if (self.has(word))
    out.member(field, self.word(word));
}

void add_number(json_writer& out, const cli_session& self, const char* word,
                const char* field) {
  if (self.has(word))
    out.key(field).raw(self.word(word));
}

std::optional<std::string> add_settings(json_writer& out,
                                        const std::vector<std::string>& words) {
  for (const auto& word : words) {
    auto equals = word.find('=');
    if (equals == 0 || equals == std::string::npos)
      return word;
    out.key(word.substr(0, equals)).raw(to_json(word.substr(equals + 1)));
  }
  return std::nullopt;
}

int refuse_setting(cli_session& self, const std::string& word) {
  return self.fail(exit_usage,
                   "--set must be NAME=VALUE, such as concurrency=5, got \""
                     + word + '"');
}

int change(cli_session& self, std::string_view method, const std::string& path,
           std::string_view body, const std::string& done) {
  auto answer = self.ask(method, path, body);
  if (!answer)
    return self.status();
  return self.json() ? self.print_json(*answer) : self.say(done);
}

int say_published(cli_session& self, std::string_view body, const char* what) {
  auto published = read_published(body);
  if (!published)
    return self.fail(exit_unreachable, published.reason().message);
  self.say(published->id);
  if (!published->duplicate)
    return self.status();
  auto& err = self.world().err;
  err << "tidegate: a " << what << " with this key was there already";
  if (!published->status.empty())
    err << ", " << printable(published->status);
  err << (published->payload_mismatch ? ", with another payload\n" : "\n");
  return self.status();
}

} // namespace tidegate::http
