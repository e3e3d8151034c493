// Reading jobs back, for the store itself and for the readers beside it.

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "storage/sqlite.hpp"
#include "tidegate/store.hpp"

namespace tidegate {

/// Finds single jobs, live or ended.
class job_queries {
public:
  /// A job without its history. `entries` counts the entries that it ever had
  /// in `history`; `last` is the one that came with its end.
  struct found {
    job_record record;
    std::uint64_t entries = 0;
    std::optional<history_entry> last;
  };

  explicit job_queries(const sqlite::connection& db);

  /// Returns a live job, nothing where the queue has no such live job.
  result<std::optional<found>> find_live(queue_id queue, job_seq seq);

  /// Returns a live or ended job, nothing where the queue has no such job.
  result<std::optional<found>> find(queue_id queue, job_seq seq);

private:
  sqlite::statement live_;
  sqlite::statement ended_;
};

/// Opens a connection of its own that cannot write. Each call is one short
/// transaction, so that a reader never keeps the log from being moved into the
/// file for longer than a call takes.
result<std::unique_ptr<store_reader>>
open_sqlite_reader(const std::filesystem::path& file, const std::string& vfs,
                   std::chrono::milliseconds busy_timeout);

} // namespace tidegate
