// Reading many jobs at once: pages, dead letters, what may be removed.

#pragma once

#include <cstdint>
#include <vector>

#include "storage/job_queries.hpp"
#include "storage/paging.hpp"
#include "storage/sqlite.hpp"
#include "tidegate/store.hpp"

namespace tidegate {

/// Each call is made in a read transaction of the caller's. See `store_reader`.
class job_pages {
public:
  explicit job_pages(const sqlite::connection& db);

  result<job_page> list(const job_page_query& query);

  result<std::uint64_t> count_dead_letters(queue_id queue,
                                           const job_filter& filter);

  result<std::uint64_t> count_dead_messages(queue_id queue,
                                            const job_filter& filter);

  result<std::vector<job_id>> removable(wall_time now, std::size_t limit);

private:
  result<job_page> list_dead_messages(const job_page_query& query);
  std::optional<error> add(const job_page_query& query, job_seq seq,
                           job_page& page, paging& rule);

  job_queries jobs_;
  sqlite::statement live_;
  sqlite::statement ended_;
  sqlite::statement dead_letters_;
  sqlite::statement dead_messages_;
  sqlite::statement count_;
  sqlite::statement count_messages_;
  sqlite::statement removable_;
};

} // namespace tidegate
