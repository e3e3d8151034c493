// A file layer for SQLite whose disk fails on command, and loses what was not
// synced when the power is cut.

#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

struct sqlite3_vfs;

namespace tidegate::test {

/// A disk that every open file of one `failing_vfs` is on. Its steps are the
/// calls that read, write, cut, sync, create or remove a file.
class shaky_disk {
public:
  enum class trouble {
    /// The step fails, the next one works.
    once,
    /// The step and every later one fails.
    lasting,
    /// The same, and the step itself is half done where it writes.
    torn,
  };

  /// Counts steps from here on; the n-th, from 0, is the first to fail.
  void fail_at(std::uint64_t n, trouble what);

  /// Lets every step work from now on and no longer counts them.
  void heal();

  /// Returns whether any step has failed since `fail_at`.
  bool has_failed() const {
    return failed_;
  }

  /// What becomes of writes that were not synced when the power is cut: none is
  /// on the disk, all are, or `random` says so for each, in whole or in part.
  enum class unsynced { lost, kept, drawn };

  /// Writes into `target` what could be on the disk after a power cut now.
  void cut_power(const std::filesystem::path& target, unsynced fate,
                 std::mt19937_64& random) const;

  // -- for the file layer -----------------------------------------------------

  /// Counts a step and returns whether it fails.
  bool step();

  /// Returns whether a failing write still writes its first half.
  bool tears() const {
    return trouble_ == trouble::torn;
  }

  void opened(const std::string& name);
  void wrote(const std::string& name, std::int64_t offset, std::string bytes);
  void cut(const std::string& name, std::int64_t size);
  void synced(const std::string& name);
  void removed(const std::string& name);

private:
  struct change {
    std::int64_t offset = 0;
    std::string bytes;
    bool cuts = false;
  };

  struct file {
    std::string synced;
    std::vector<change> pending;
  };

  static void apply(std::string& content, const change& what);
  static void draw(change& what, std::mt19937_64& random);

  std::map<std::string, file> files_;
  std::uint64_t steps_left_ = 0;
  trouble trouble_ = trouble::once;
  bool armed_ = false;
  bool failed_ = false;
};

/// Registers a file layer on `disk` for as long as it lives. No real sync is
/// made: what counts as durable is what `disk` says.
class failing_vfs {
public:
  /// @param name what `sqlite_options::vfs` calls it
  failing_vfs(shaky_disk& disk, const char* name);
  failing_vfs(const failing_vfs&) = delete;
  failing_vfs& operator=(const failing_vfs&) = delete;
  ~failing_vfs();

private:
  sqlite3_vfs* layer_;
};

} // namespace tidegate::test
