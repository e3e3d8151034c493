// Which call of a process is to go wrong, and how.

#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace tidegate::shim {

/// What a call is made on. The first three are of the kind `disk`, too.
enum class kind {
  /// a write to the log, or to another file beside the data file
  write,
  /// a sync of one of these
  sync,
  /// a write to the data file itself, or its sync
  checkpoint,
  /// bytes into a connection that this process opened
  send_out,
  /// bytes into a connection that this process accepted
  send_in,
};

enum class action {
  /// the call is made
  pass,
  /// the process is killed before the call is made
  kill_before,
  /// the process is killed after the call was made, before it returns
  kill_after,
  /// the call is not made and fails with ENOSPC
  full,
  /// the call is not made and fails with EIO
  fail,
  /// the first half is written, and the call fails with EIO
  tear,
  /// the call is not made and succeeds
  lie,
  /// the call is made half a second later
  slow,
};

/// One line of the control file: `ACTION KIND FIRST COUNT`, by the names of the
/// enums; FIRST counts from 1, COUNT is 0 for every later call.
struct rule {
  action what = action::pass;
  std::string kind;
  std::uint64_t first = 1;
  std::uint64_t count = 1;
  std::uint64_t seen = 0;
};

/// The rules in the file that $FAULTS_CONTROL names, read again at each call.
/// Calls count from the moment that the file has changed. A file that is not
/// there has no rules. Each call that goes wrong adds a line `ACTION KIND` to
/// the file of the same name with `.hits` behind. Safe from several threads.
class rule_book {
public:
  /// Counts a call and says what becomes of it.
  action judge(kind what);

  /// Ends the process. No other call is judged meanwhile.
  [[noreturn]] void die();

private:
  void reload();
  void note(const rule& broken, kind what);

  std::mutex mutex_;
  std::string text_;
  std::vector<rule> rules_;
};

/// The one of this process.
rule_book& rules();

} // namespace tidegate::shim
