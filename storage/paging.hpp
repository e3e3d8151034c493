// Where a page of jobs ends.

#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>

#include "tidegate/store.hpp"

namespace tidegate {

/// A page with payloads ends once they come to this, but never before its first
/// job. Unit: bytes.
inline constexpr std::size_t page_bytes_max = 4 * 1024 * 1024;

/// Returns whether live jobs can be on a page.
inline bool wants_live(const job_page_query& query) {
  if (query.dead_letters)
    return false;
  if (query.filter.reason.value_or(dead_reason::none) != dead_reason::none)
    return false;
  auto status = query.filter.status.value_or(job_status::pending);
  return status != job_status::completed && status != job_status::dead;
}

/// Returns whether ended jobs can be on a page.
inline bool wants_ended(const job_page_query& query) {
  auto status = query.filter.status.value_or(job_status::dead);
  return status == job_status::completed || status == job_status::dead;
}

/// Is shown rows in the order of the page and says of each what is to be done
/// with it. A page goes on after it is full until one more row would fit
/// on it, so that the last page is known to be the last.
class paging {
public:
  enum class verdict { take, pass, stop };

  explicit paging(const job_page_query& query)
    : limit_(std::max<std::size_t>(query.limit, 1)),
      rows_max_(std::max<std::size_t>(query.rows_max, 1)) {
    // nop
  }

  /// @param fits whether the row is of the queue and passes the filter
  verdict look(job_seq row, bool fits) {
    if (looked_ == rows_max_) {
      next_ = last_looked_;
      return verdict::stop;
    }
    if (fits && is_full()) {
      next_ = last_taken_;
      return verdict::stop;
    }
    ++looked_;
    last_looked_ = row;
    if (!fits)
      return verdict::pass;
    ++taken_;
    last_taken_ = row;
    return verdict::take;
  }

  /// Says how many bytes of payload the last row that was taken has put on the
  /// page.
  void add_bytes(std::size_t count) {
    bytes_ += count;
  }

  /// Returns the row behind which the next page starts, nothing where the rows
  /// had ended.
  const std::optional<job_seq>& next() const {
    return next_;
  }

private:
  bool is_full() const {
    return taken_ == limit_ || bytes_ >= page_bytes_max;
  }

  std::size_t limit_;
  std::size_t rows_max_;
  std::size_t looked_ = 0;
  std::size_t taken_ = 0;
  std::size_t bytes_ = 0;
  job_seq last_looked_;
  job_seq last_taken_;
  std::optional<job_seq> next_;
};

} // namespace tidegate
