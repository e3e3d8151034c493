// What all commands of the command line do alike: ask, complain, page through
// lists. Included by http/cli_*.cpp only.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "http/cli_commands.hpp"
#include "http/codec_cli.hpp"

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

  /// The same for `/v1/jobs/<job>`.
  std::string job_path(std::string_view behind = {}) const;

  // -- asking -----------------------------------------------------------------

  /// Makes a call that has to succeed and returns the body of its answer.
  std::optional<std::string> ask(std::string_view method, std::string_view path,
                                 std::string_view body = {});

  /// See `cli_client`. Says nothing where it fails.
  result<cli_answer> follow(std::string_view path, std::string_view headers,
                            const std::function<void(std::string_view)>& take) {
    return client_.follow(path, headers, take);
  }

  /// Shows a whole list, page by page, up to the word `limit`. `path` has its
  /// query but for `limit` and `cursor`.
  int list(cli_list what, const std::string& path);

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
  const cli_call& call_;
  const cli_world& world_;
  cli_client client_;
  int status_ = exit_done;
};

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

int operations_list(cli_session& self);
int operations_show(cli_session& self);
int operations_cancel(cli_session& self);

int tail(cli_session& self);

} // namespace tidegate::http
