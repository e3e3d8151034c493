// Finding single jobs, for the store itself and for the readers beside it.

#pragma once

#include <cstdint>
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

  using answer = result<std::optional<found>>;

  explicit job_queries(const sqlite::connection& db);

  /// Returns a live job with its payload, nothing where the queue has no such
  /// live job.
  answer find_live(queue_id queue, job_seq seq);

  /// Returns a live or ended job with its payload, nothing where the queue has
  /// no such job.
  answer find(queue_id queue, job_seq seq);

  /// The same in whichever queue it is.
  answer find(job_seq seq);

  /// Returns a job of a queue without its payload.
  answer find_bare(queue_id queue, job_seq seq);

  /// Returns the job that was published in a queue and has an idempotency key,
  /// with its payload.
  answer find_by_key(queue_id queue, const std::string& key);

private:
  sqlite::statement live_;
  sqlite::statement ended_;
  sqlite::statement bare_live_;
  sqlite::statement bare_ended_;
  sqlite::statement holder_;
};

} // namespace tidegate
