// The long-running operations, how far each has come, and what is next.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tidegate/ids.hpp"
#include "tidegate/job.hpp"
#include "tidegate/store.hpp"
#include "tidegate/time.hpp"

namespace tidegate {

// -- steps of an operation ----------------------------------------------------

/// Returns which dead letters are meant: none that died after the operation
/// began.
job_filter meant_by(const operation_record& op);

/// Returns how many jobs the next slice has at most: what is done in a tenth of
/// a second, but 1 to 100, and no more than are left until the limit.
/// 0: the limit is reached.
std::size_t slice_limit(const operation_record& op);

/// Returns the question for the next slice: of the dead letters that are meant
/// and left, the newest for a replay, the oldest for a redrive.
/// @pre `slice_limit(op) > 0`
job_page_query next_slice(const operation_record& op);

/// Returns how long `jobs` take at the operation's pace.
duration time_for(const operation_record& op, std::size_t jobs);

/// Returns the operation as it is once the slice on `page` is done, but for
/// what the slice adds to `done`.
operation_record after_slice(const operation_record& op, const job_page& page,
                             wall_time now);

/// Returns the operation as it is once it has ended with `state`.
operation_record ended(operation_record op, operation_state state,
                       wall_time now, std::string error = {});

// -- all of them --------------------------------------------------------------

/// Most operations that have ended and are kept: the newest ones.
inline constexpr std::size_t ended_operations_max = 1000;

/// Knows all operations that run, and those that have ended last.
class operation_book {
public:
  struct entry {
    operation_record record;

    /// Slices and changes of it that are under way.
    std::size_t under_way = 0;

    /// When the next slice may begin.
    steady_time next_at{};
  };

  /// Returns one, or nothing where it is not known.
  entry* find(operation_id id);
  const entry* find(operation_id id) const;

  /// Returns those of one project, newest first.
  std::vector<operation_record> list(const std::string& project) const;

  /// Adds an operation or replaces what is known of it.
  void put(operation_record op, moment now);

  /// Takes over what is stored. One that runs here and is not stored was
  /// removed together with its queue.
  /// @pre nothing is under way
  void take_over(std::vector<operation_record> stored, moment now);

  /// Sets when the slice after one of `jobs` jobs may begin. Time that was lost
  /// is not made up for.
  void pace(entry& e, std::size_t jobs, moment now);

  /// Forgets those that ended longest ago where there are too many.
  void forget_old();

  /// Returns those that run and whose next slice may begin.
  std::vector<operation_id> due(moment now) const;

  /// Returns when the next slice of any may begin, nothing where none waits.
  std::optional<steady_time> next_at() const;

private:
  std::map<operation_id, entry> entries_;
  std::set<operation_id> running_;
};

} // namespace tidegate
