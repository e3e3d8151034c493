// A push queue with everything around it that it needs, under full control.

#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actors/core/push_queue.hpp"
#include "tests/core/fake_store.hpp"
#include "tests/core/gate_oracle.hpp"
#include "tests/core/moments.hpp"
#include "tests/core/replies.hpp"

namespace tidegate::testing {

/// Returns settings with a URL, no jitter, and a concurrency of 2.
queue_settings plain_settings();

/// Plays owner, store and downstream of one queue. Time stands still but in
/// `pass`. After every event the queue is advanced until it has nothing more to
/// do, and what can be said about every queue at every moment is checked: a
/// `broken_rule` is thrown where it does not hold.
///
/// A value: a copy is a world of its own that goes its own way.
class workbench {
public:
  /// A delivery that has started.
  struct started {
    delivery what;
    /// When that was decided.
    duration at;
  };

  explicit workbench(const queue_settings& settings = plain_settings());

  // -- what happens -----------------------------------------------------------

  job_id publish(duration delay = duration{0});

  /// Publishes that many at once.
  void publish_many(std::size_t count);

  /// The i-th of what is in flight is answered, 0 being the oldest.
  void answer(std::size_t i, const delivery_reply& reply, double lot = 0);

  void answer(job_id job, const delivery_reply& reply, double lot = 0);

  /// All that is in flight now is answered, the oldest first.
  void answer_all(const delivery_reply& reply);

  void pause();

  void resume();

  /// Changes settings by a function on them.
  template <class F>
  void change(F how) {
    auto settings = queue_->settings();
    how(settings);
    change_settings(settings);
  }

  /// Time passes; the timer fires whenever it was set for.
  void pass(duration d);

  /// Time passes until the timer fires. Does nothing where none is set.
  void pass_to_wakeup();

  void step_wall_clock(duration d);

  /// The process dies, and after a while another one takes the queue up from
  /// what had been committed.
  void restart(duration down = duration{0});

  // -- the store --------------------------------------------------------------

  /// From now on nothing is committed but by `commit`.
  void keep_commits_back();

  /// From now on no job is read from the store but by `load`.
  void keep_loads_back();

  /// Commits the oldest of what was decided.
  void commit();

  void commit_all();

  void load();

  bool has_uncommitted() const {
    return !pending_.empty();
  }

  bool has_loads() const {
    return !loads_.empty();
  }

  // -- what is seen -----------------------------------------------------------

  push_queue& queue() {
    return *queue_;
  }

  const push_queue& queue() const {
    return *queue_;
  }

  const fake_store& store() const {
    return store_;
  }

  moment now() const;

  /// Since the beginning of the test.
  duration elapsed() const {
    return elapsed_;
  }

  const std::vector<delivery>& in_flight() const {
    return in_flight_;
  }

  /// Every delivery that has ever started, the oldest first.
  const std::vector<started>& log() const {
    return log_;
  }

  const std::vector<service_event>& events() const {
    return events_;
  }

  queue_view view() {
    return queue_->view(now());
  }

  job_view view(job_id job) {
    return queue_->view(store_.at(job.seq), now());
  }

  /// Returns the job as it is stored.
  const job& stored(job_id id) const {
    return store_.at(id.seq).job;
  }

  const std::vector<history_entry>& history(job_id id) const {
    return store_.at(id.seq).history;
  }

  /// Returns the words for what blocks a job, in order.
  std::vector<std::string> blocked(job_id job);

  gate_state gate() {
    return view().queue.gate.state;
  }

  /// Jobs whose publish has been answered.
  std::size_t accepted() const {
    return accepted_;
  }

private:
  struct pending {
    transition what;
    std::optional<job> published;
    moment made;
    gate_oracle after;
  };

  void change_settings(const queue_settings& settings);
  void take(transition&& t);
  void carry_out(std::vector<effect>&& effects);
  void deliver_load(const std::vector<job_seq>& seqs);
  void commit_oldest();
  void settle();
  bool is_small() const;
  std::set<job_seq> may_go_by_explain();

  /// Returns how many effects of a kind wait for their commit.
  template <class T>
  std::size_t count_undone() const;

  bool awaits_loads() const;
  void check_starts(const transition& t, const std::set<job_seq>& may_go);
  void check_rate() const;
  void check();
  void check_counts();
  void check_gate();

  duration elapsed_{0};
  steady_time steady_origin_ = steady_midnight;
  wall_time wall_origin_ = midnight;
  std::uint64_t last_seq_ = 0;
  std::size_t accepted_ = 0;

  fake_store store_;
  std::optional<push_queue> queue_;
  bool commits_at_once_ = true;
  bool loads_at_once_ = true;
  std::deque<pending> pending_;
  std::deque<std::vector<job_seq>> loads_;
  std::vector<delivery> in_flight_;
  std::vector<started> log_;
  std::vector<service_event> events_;

  gate_oracle oracle_;
  gate_oracle committed_oracle_;
};

} // namespace tidegate::testing
