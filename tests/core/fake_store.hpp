// A store that is nothing but maps, and stricter than a real one.

#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tidegate/store.hpp"

namespace tidegate::testing {

/// Holds what has been committed of one queue. Throws `broken_rule` where a
/// record asks for something that cannot be meant.
class fake_store {
public:
  using job_map = std::map<job_seq, job_record>;

  explicit fake_store(queue_record queue);

  commit_answer apply(const record& what);

  /// Returns those that are live, in the order of `seqs`.
  std::vector<job> load(std::span<const job_seq> seqs) const;

  /// Returns what a queue is taken up from.
  queue_snapshot snapshot() const;

  /// Returns a job, live or ended. @pre it is stored
  const job_record& at(job_seq seq) const;

  /// Returns a job, live or ended, or nothing.
  std::optional<job_record> find(job_id id) const;

  const job_map& live() const {
    return live_;
  }

  const job_map& ended() const {
    return ended_;
  }

  const std::map<std::string, limit_key_record>& keys() const {
    return keys_;
  }

  /// How many jobs have been removed.
  std::uint64_t removed() const {
    return removed_;
  }

  const queue_record& queue() const {
    return queue_;
  }

private:
  commit_answer add(const job& j);
  job_record& update(const job& j, const std::optional<history_entry>& entry);
  void end(const job& j, const std::optional<history_entry>& entry);
  commit_answer revive(const job& j, const history_entry& entry);
  commit_answer remove(const std::vector<job_seq>& seqs);
  void keep_key(const limit_key_record& key);

  queue_record queue_;
  job_map live_;
  job_map ended_;
  std::map<std::string, limit_key_record> keys_;
  std::uint64_t removed_ = 0;
};

} // namespace tidegate::testing
