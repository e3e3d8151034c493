#include "http/cli_session.hpp"

#include <charconv>
#include <ostream>

#include "http/iso8601.hpp"
#include "http/json_scan.hpp"
#include "http/json_writer.hpp"

namespace tidegate::http {

namespace {

constexpr std::size_t page_max = 1000;
constexpr std::size_t limit_default = 100;
constexpr std::size_t limit_max = 1'000'000;
constexpr unsigned depth_max = 128;

/// Reads the word `limit`; nothing where it is out of range.
std::optional<std::size_t> read_limit(const std::string& text,
                                      std::size_t limit_max) {
  if (text.empty())
    return limit_default;
  std::size_t limit = 0;
  auto last = text.data() + text.size();
  auto [end, failure] = std::from_chars(text.data(), last, limit);
  if (failure != std::errc{} || end != last || limit == 0 || limit > limit_max)
    return std::nullopt;
  return limit;
}

} // namespace

std::string percent_encode(std::string_view text) {
  constexpr char digits[] = "0123456789ABCDEF";
  std::string result;
  for (auto c : text) {
    auto byte = static_cast<unsigned char>(c);
    auto plain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')
                 || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_'
                 || c == '~';
    if (plain)
      result += c;
    else
      result.append({'%', digits[byte >> 4], digits[byte & 15]});
  }
  return result;
}

bool is_json(std::string_view text) {
  auto scanned = scan_json(text, depth_max);
  return std::holds_alternative<json_outline>(scanned);
}

std::string to_json(const std::string& word) {
  if (is_json(word))
    return word;
  json_writer out;
  out.value(word);
  return out.take();
}

void add_query(std::string& path, std::string_view name,
               std::string_view value) {
  if (value.empty())
    return;
  path += path.find('?') == std::string::npos ? '?' : '&';
  path.append(name).append("=").append(percent_encode(value));
}

cli_session::cli_session(const cli_call& call, const cli_world& world,
                         cli_client client)
  : call_(call), world_(world), client_(std::move(client)) {
  // nop
}

// -- words --------------------------------------------------------------------

std::string cli_session::word(const char* name) const {
  const auto& given = all(name);
  return given.empty() ? std::string{} : given.back();
}

const std::vector<std::string>& cli_session::all(const char* name) const {
  static const std::vector<std::string> none;
  auto given = call_.words.find(name);
  return given == call_.words.end() ? none : given->second;
}

std::string cli_session::time(const char* name) const {
  auto text = word(name);
  if (text.empty())
    return text;
  auto ago = parse_span(text);
  return ago ? to_iso8601(world_.now() - *ago) : text;
}

std::string cli_session::queue_path(std::string_view behind) const {
  return "/v1/queues/" + percent_encode(word("queue")) + std::string{behind};
}

std::string cli_session::pull_path(std::string_view what) const {
  return "/v1/queue/" + std::string{what} + '/' + percent_encode(word("queue"));
}

std::string cli_session::job_path(std::string_view behind) const {
  return "/v1/jobs/" + percent_encode(word("job")) + std::string{behind};
}

// -- asking -------------------------------------------------------------------

std::optional<std::string> cli_session::ask(std::string_view method,
                                            std::string_view path,
                                            std::string_view body) {
  auto answer = client_.call(method, path, body);
  if (!answer) {
    fail(exit_unreachable, answer.reason().message);
    return std::nullopt;
  }
  if (answer->status < 200 || answer->status > 299) {
    refuse(*answer);
    return std::nullopt;
  }
  return std::move(answer->body);
}

void cli_session::refuse(const cli_answer& answer) {
  auto sentence = refusal_of(answer.status, answer.body);
  sentence += hint_on(call_, code_of_refusal(answer.body), sentence);
  fail(exit_refused, sentence);
}

std::optional<std::string> cli_session::look_for(std::string_view path,
                                                 bool& missing) {
  auto answer = client_.call("GET", path, {});
  missing = answer && answer->status == 404;
  if (missing)
    return std::nullopt;
  if (!answer)
    fail(exit_unreachable, answer.reason().message);
  else if (answer->status != 200)
    refuse(*answer);
  else
    return std::move(answer->body);
  return std::nullopt;
}

bool cli_session::is_missing(std::string_view path) {
  auto answer = client_.call("GET", path, {});
  return answer && answer->status == 404;
}

std::string cli_session::glance(std::string_view path) {
  auto answer = client_.call("GET", path, {});
  return answer && answer->status == 200 ? answer->body : std::string{};
}

/// Reads a list up to its limit into a table. With `--json` its pages are
/// printed at once. Nothing where that failed.
std::optional<text_table>
cli_session::read_list(cli_list what, const std::string& path,
                       std::size_t limit_max, bool& more) {
  auto limit = read_limit(word("limit"), limit_max);
  if (!limit) {
    fail(exit_usage, "--limit must be a whole number from 1 to "
                       + std::to_string(limit_max) + ", got \"" + word("limit")
                       + '"');
    return std::nullopt;
  }
  auto table = table_of(what);
  cli_page page;
  while (true) {
    auto next = path;
    add_query(next, "limit",
              std::to_string(std::min(page_max, *limit - table.rows())));
    add_query(next, "cursor", page.next_cursor);
    auto body = ask("GET", next);
    if (!body)
      return std::nullopt;
    auto added = add_page(what, *body, world_.now(), table);
    if (!added) {
      fail(exit_unreachable, added.reason().message);
      return std::nullopt;
    }
    if (json())
      print_json(*body);
    page = *added;
    more = !page.next_cursor.empty();
    if (!more || table.rows() >= *limit)
      return table;
  }
}

int cli_session::list(cli_list what, const std::string& path) {
  return show_list(what, path, limit_max);
}

int cli_session::list_page(cli_list what, const std::string& path) {
  return show_list(what, path, page_max);
}

int cli_session::show_list(cli_list what, const std::string& path,
                           std::size_t limit_max) {
  auto more = false;
  auto table = read_list(what, path, limit_max, more);
  if (!table || json())
    return status_;
  world_.out << table->print();
  if (more)
    world_.err << "tidegate: there may be more than these " << table->rows()
               << ": --limit shows them\n";
  return status_;
}

int cli_session::list_more(cli_list what, const std::string& path) {
  auto more = false;
  auto table = read_list(what, path, limit_max, more);
  if (!table || json() || table->rows() == 0)
    return status_;
  world_.out << '\n' << table->print();
  if (more)
    world_.err << "tidegate: there may be more than these " << table->rows()
               << " pull queues: --limit shows them\n";
  return status_;
}

// -- ending -------------------------------------------------------------------

int cli_session::fail(cli_exit status, const std::string& sentence) {
  world_.err << "tidegate: " << printable(sentence) << '\n';
  return status_ = status;
}

int cli_session::print_json(std::string_view body) {
  world_.out << body << (body.ends_with('\n') ? "" : "\n");
  return status_;
}

int cli_session::print(const result<std::string>& text) {
  if (!text)
    return fail(exit_unreachable, text.reason().message);
  world_.out << *text;
  return status_;
}

int cli_session::say(const std::string& line) {
  world_.out << printable(line) << '\n';
  return status_;
}

} // namespace tidegate::http
