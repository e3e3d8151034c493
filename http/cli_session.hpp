// What all commands of the command line do alike: ask, complain, page through
// lists. Included by http/cli_*.cpp only.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "http/cli_commands.hpp"
#include "http/codec_cli.hpp"
#include "http/json_writer.hpp"

namespace tidegate::http {

/// Returns `text` as one segment of a path or one value of a query (RFC 3986).
std::string percent_encode(std::string_view text);

/// Returns the value that a word stands for: itself where it is JSON, else a
/// string of it.
std::string to_json(const std::string& word);

/// Whether `text` is a JSON text.
bool is_json(std::string_view text);

/// One run of one command. Functions that return nothing have said what is
/// wrong, and `status()` is what the command has to end with.
class cli_session {
public:
  cli_session(const cli_call& call, const cli_world& world, cli_client client);

  const cli_world& world() const {
    return world_;
  }

  // -- words ------------------------------------------------------------------

  bool json() const {
    return call_.json;
  }

  /// Returns the word of that name, empty where it was not given.
  std::string word(const char* name) const;

  bool has(const char* name) const {
    return call_.words.contains(name);
  }

  const std::vector<std::string>& all(const char* name) const;

  /// Returns the time that a word stands for: itself, or what is so long ago
  /// where it is a span.
  std::string time(const char* name) const;

  /// Returns `/v1/queues/<queue>` for the word `queue`, and what is behind it.
  std::string queue_path(std::string_view behind = {}) const;

  /// Returns `/v1/queue/<what>/<queue>`.
  std::string pull_path(std::string_view what) const;

  /// The same for `/v1/jobs/<job>`.
  std::string job_path(std::string_view behind = {}) const;

  // -- asking -----------------------------------------------------------------

  /// Makes a call that has to succeed and returns the body of its answer.
  std::optional<std::string> ask(std::string_view method, std::string_view path,
                                 std::string_view body = {});

  /// The same for a thing that may not be there: `missing` is set then, and
  /// nothing is said.
  std::optional<std::string> look_for(std::string_view path, bool& missing);

  /// Whether the server says that there is no such thing. Where it says
  /// anything else, or nothing, this is false, and nothing is said of it.
  bool is_missing(std::string_view path);

  /// Returns what is at `path`, empty where that cannot be read. Says nothing.
  std::string glance(std::string_view path);

  /// See `cli_client`. Says nothing where it fails.
  result<cli_answer> follow(std::string_view path, std::string_view headers,
                            const std::function<void(std::string_view)>& take) {
    return client_.follow(path, headers, take);
  }

  /// Shows a whole list, page by page, up to the word `limit`. `path` has its
  /// query but for `limit` and `cursor`.
  int list(cli_list what, const std::string& path);

  /// The same for a list that has one page only, of at most 1000.
  int list_page(cli_list what, const std::string& path);

  /// The same below another list, and nothing where there are no items.
  int list_more(cli_list what, const std::string& path);

  // -- ending -----------------------------------------------------------------

  int status() const {
    return status_;
  }

  /// Says in one sentence what is wrong.
  int fail(cli_exit status, const std::string& sentence);

  /// Prints an answer as it came, with a line feed.
  int print_json(std::string_view body);

  /// Prints the text that was made of an answer, or says that it could not be
  /// understood.
  int print(const result<std::string>& text);

  /// Prints one line.
  int say(const std::string& line);

private:
  int show_list(cli_list what, const std::string& path, std::size_t limit_max);
  std::optional<text_table> read_list(cli_list what, const std::string& path,
                                      std::size_t limit_max, bool& more);
  void refuse(const cli_answer& answer);

  const cli_call& call_;
  const cli_world& world_;
  cli_client client_;
  int status_ = exit_done;
};

// -- complaints ---------------------------------------------------------------

/// Returns what makes no sense about a command's words, whatever the server
/// would say, in one sentence.
std::optional<std::string> complaint_about(const cli_call& call);

/// Returns what to add to the sentence of a refusal for somebody who gave this
/// command: the one that does it; empty where there is nothing to add. `code`
/// is that of the refusal, see `code_of_refusal`.
std::string hint_on(const cli_call& call, std::string_view code,
                    std::string_view sentence);

// -- parts of bodies ----------------------------------------------------------

/// Returns the word `payload`, or what stands on standard input for `-`.
/// Nothing where it is not JSON, which was said.
std::optional<std::string> read_payload(cli_session& self);

/// Adds a word as a string, or as the number that it is, where it was given.
void add_text(json_writer& out, const cli_session& self, const char* word,
              const char* field);
void add_number(json_writer& out, const cli_session& self, const char* word,
                const char* field);

/// Adds the words `header`, each `NAME:VALUE`, as the member `headers`. Returns
/// the one that is none.
std::optional<std::string> add_headers(json_writer& out,
                                       const std::vector<std::string>& words);

/// Adds the words `set`, each `NAME=VALUE`, as members. Returns the one that is
/// none.
std::optional<std::string> add_settings(json_writer& out,
                                        const std::vector<std::string>& words);

/// Says that a word of `set` is none.
int refuse_setting(cli_session& self, const std::string& word);

/// Calls; says `done`, or with `--json` what the server answers.
int change(cli_session& self, std::string_view method, const std::string& path,
           std::string_view body, const std::string& done);

/// Says the id of what was published, a `what`, and whether it was there
/// already.
int say_published(cli_session& self, std::string_view body, const char* what);

/// Waits until an operation has ended, of which `body` is what the server says,
/// and says that so many were `done`. On a terminal it shows how far it is.
int follow_operation(cli_session& self, std::string body, const char* done);

std::string operation_path(const std::string& id);

/// Adds `name=value` to a path, if the value is not empty.
void add_query(std::string& path, std::string_view name,
               std::string_view value);

// -- commands -----------------------------------------------------------------

int queues_list(cli_session& self);
int queues_show(cli_session& self);
int queues_create(cli_session& self);
int queues_update(cli_session& self);
int queues_pause(cli_session& self);
int queues_resume(cli_session& self);
int queues_hold(cli_session& self);
int queues_release(cli_session& self);
int queues_delete(cli_session& self);

int jobs_list(cli_session& self);
int jobs_show(cli_session& self);
int jobs_publish(cli_session& self);
int jobs_cancel(cli_session& self);
int jobs_run_now(cli_session& self);
int jobs_explain(cli_session& self);
int jobs_replay(cli_session& self);

int dead_letters_list(cli_session& self);
int dead_letters_replay(cli_session& self);
int dead_letters_delete(cli_session& self);

int pull_list(cli_session& self);
int pull_show(cli_session& self);
int pull_create(cli_session& self);
int pull_update(cli_session& self);
int pull_publish(cli_session& self);
int pull_peek(cli_session& self);
int pull_purge(cli_session& self);
int pull_delete(cli_session& self);
int pull_dead_letters(cli_session& self);
int pull_redrive(cli_session& self);

int operations_list(cli_session& self);
int operations_show(cli_session& self);
int operations_cancel(cli_session& self);

int tail(cli_session& self);

} // namespace tidegate::http
