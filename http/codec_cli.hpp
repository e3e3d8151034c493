// What the command line reads out of the API's answers, and how it shows it.
// Every reading function fails where the answer is not what a Tidegate server
// sends. Members that are not known are passed over or shown as they are, so
// that a newer server can be asked.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "http/cli_text.hpp"
#include "tidegate/error.hpp"
#include "tidegate/time.hpp"

namespace tidegate::http {

// -- lists --------------------------------------------------------------------

enum class cli_list : std::uint8_t {
  queues,
  jobs,
  dead_letters,
  operations,
  pull_queues,
  messages,
  dead_messages,
};

/// Returns an empty table with the headings of a list.
text_table table_of(cli_list what);

/// What came with one page.
struct cli_page {
  std::size_t items = 0;

  /// Where the list goes on; empty: nowhere.
  std::string next_cursor;
};

/// Adds the items of a page to a table that `table_of(what)` made.
result<cli_page> add_page(cli_list what, std::string_view body, wall_time now,
                          text_table& to);

// -- one thing ----------------------------------------------------------------

/// Return several lines.
result<std::string> show_queue(std::string_view body, wall_time now);
result<std::string> show_job(std::string_view body, wall_time now);
result<std::string> show_operation(std::string_view body, wall_time now);

/// Shows a pull queue: what it is, what is in it and, where `subscription` is
/// not empty, where it is pushed to.
result<std::string>
show_pull_queue(std::string_view queue, std::string_view stats,
                std::string_view subscription, wall_time now);

/// Says in sentences why a job is not running, until when, and what an operator
/// can do about it. `queue` is what the server says about the job's queue.
result<std::string> explain_job(std::string_view job, std::string_view queue,
                                wall_time now);

/// Says what a replay would do, from the answer to a dry run.
result<std::string> show_dry_run(std::string_view body, wall_time now);

/// The same of a redrive.
result<std::string> show_dry_redrive(std::string_view body, wall_time now);

/// Shows one event of `/v1/events` in one line.
result<std::string> show_event(std::string_view data);

/// Prints a queue or a job as it came, but for what may be secret in it: the
/// values of `headers`, and of `webhookUrl` user name, password and query.
std::string without_secrets(std::string_view object);

// -- changes ------------------------------------------------------------------

/// Says that a job is due now, or what it waits for all the same: `job` is what
/// the call that ends its delay or backoff answered.
result<std::string> say_run_now(std::string_view job, wall_time now);

/// Says until when a queue is held after a hold by hand: `after` is what that
/// answered, and `before` the queue as it was, empty where that is not known.
result<std::string> say_held(const std::string& queue, std::string_view before,
                             std::string_view after, wall_time now);

/// Says what a release came to: `what` is the queue or limit key, and `after`
/// what that answered.
result<std::string> say_released(const std::string& what,
                                 std::string_view after);

/// Whether a limit key is open with nothing to deliver, as one is that no job
/// has ever had.
bool is_idle_key(std::string_view answer);

/// Whether a list is empty. False for what is no list.
bool has_no_items(std::string_view page);

// -- answers ------------------------------------------------------------------

/// How far an operation is.
struct cli_operation {
  std::string id;
  std::string state;
  std::uint64_t done = 0;
  std::uint64_t total = 0;
  std::string error;
};

result<cli_operation> read_operation(std::string_view body);

/// Returns the operation that a redrive has become, or nothing.
std::string read_operation_id(std::string_view body);

/// What became of publishing a job or a message.
struct cli_published {
  std::string id;
  std::string status;
  bool duplicate = false;
  bool payload_mismatch = false;
};

result<cli_published> read_published(std::string_view body);

/// Reads `{"count": n}`, or another member, also out of its envelope.
result<std::uint64_t> read_count(std::string_view body,
                                 const char* member = "count");

/// Reads the queue's name out of a job.
result<std::string> read_queue_of(std::string_view job);

/// Returns one printable sentence about an answer that is no success, whatever
/// its body is.
std::string refusal_of(unsigned status, std::string_view body);

/// Returns the code of a refusal as the routes of push queues spell it, such as
/// `wrong_queue_kind`, whichever they are; empty where there is none.
std::string code_of_refusal(std::string_view body);

} // namespace tidegate::http
