// A push queue with everything around it that it needs, under full control.

#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "actors/core/push_queue.hpp"
#include "tests/core/fake_store.hpp"
#include "tests/core/moments.hpp"
#include "tests/core/replies.hpp"
#include "tests/core/witness.hpp"

namespace tidegate::testing {

/// Returns settings with a URL, no jitter, and a concurrency of 2.
queue_settings plain_settings();

/// Returns the same in ack mode.
queue_settings ack_settings();

/// Plays owner, store, reader, permits, downstream, workers and operators of
/// one queue. Time stands still but in `pass`. After every event the queue is
/// advanced until it has nothing more to do, and what can be said about every
/// queue at every moment is checked: a `broken_rule` is thrown where it does
/// not hold.
///
/// What is asked about a single job answers with a word: `ok` when it is done
/// and stored, the code of an error, or nothing as long as it is not known yet;
/// then `answers` has it later.
///
/// A value: a copy is a world of its own that goes its own way.
class workbench {
public:
  /// A delivery that has started.
  struct started {
    delivery what;
    std::string key;
    /// When that was decided.
    duration at;
  };

  /// @param permits how many deliveries the server allows; none: no limit
  explicit workbench(const queue_settings& settings = plain_settings(),
                     std::optional<std::uint32_t> permits = std::nullopt);

  // -- publishers -------------------------------------------------------------

  job_id publish(duration delay = duration{0});

  job_id publish(tidegate::publish what);

  job_id publish_for(const std::string& key);

  /// Publishes that many at once.
  void publish_many(std::size_t count, const std::string& key = {});

  // -- the downstream ---------------------------------------------------------

  /// The i-th of what is in flight is answered, 0 being the oldest.
  void answer(std::size_t i, const delivery_reply& reply, double lot = 0);

  /// The oldest delivery of a job that is in flight is answered.
  void answer(job_id job, const delivery_reply& reply, double lot = 0);

  /// All that is in flight now is answered, the oldest first.
  void answer_all(const delivery_reply& reply);

  /// From now on what is to be aborted flies on until it is answered.
  void keep_aborted_flying() {
    aborts_at_once_ = false;
  }

  // -- workers ----------------------------------------------------------------

  using fence = std::optional<std::uint64_t>;
  using answer_text = std::string;

  answer_text ack(job_id job, fence delivery = {});
  answer_text nack(job_id job, bool retryable = true, fence delivery = {});
  answer_text defer(job_id job, duration wait,
                    std::optional<defer_scope> scope = {}, fence delivery = {});
  answer_text touch(job_id job, duration extend, fence delivery = {});
  answer_text report_to_queue(const report& what, double lot = 0);

  /// All answers, in the order of the questions; empty: not known yet.
  const std::vector<std::string>& answers() const {
    return answers_;
  }

  // -- operators --------------------------------------------------------------

  answer_text cancel(job_id job);
  answer_text run_now(job_id job);
  answer_text replay(job_id job, std::optional<payload> edited = {},
                     bool background = false);

  void pause();
  void resume();
  void hold(duration wait, const std::string& reason = {});
  void release();
  void release_key(const std::string& key);
  void rotate_secret(const signing_secret& secret, duration overlap);

  /// Returns how many were removed.
  std::size_t purge(std::optional<bool> delivered = {});
  void remove_ended(const std::vector<job_id>& jobs);

  /// Changes settings by a function on them.
  template <class F>
  void change(F how) {
    auto settings = queue_->settings();
    how(settings);
    change_settings(settings);
  }

  // -- time -------------------------------------------------------------------

  /// Time passes; the timer fires whenever it was set for.
  void pass(duration d);

  /// Time passes until the timer fires. Does nothing where none is set.
  void pass_to_wakeup();

  void step_wall_clock(duration d);

  /// The owner looks after its queue although nothing has happened.
  void look() {
    settle();
  }

  /// The process dies, and after a while another one takes the queue up from
  /// what had been committed.
  void restart(duration down = duration{0});

  // -- store, reader and permits ----------------------------------------------

  /// From now on nothing is committed but by `commit`.
  void keep_commits_back() {
    commits_at_once_ = false;
  }

  /// From now on nothing that is read from the store arrives but by `load`.
  void keep_loads_back() {
    loads_at_once_ = false;
  }

  /// Commits the oldest of what was decided.
  void commit();

  void commit_all();

  /// Lets the oldest of what was read arrive, as it was when it was asked for.
  void load();

  bool has_uncommitted() const {
    return !pending_.empty();
  }

  bool has_loads() const {
    return !reads_.empty();
  }

  /// Other queues take permits, or give them back where `count` is negative.
  void rivals_take(int count);
  void rivals_leave();

  std::uint32_t free_permits() const {
    return free_permits_;
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

  const witness& truth() const {
    return truth_;
  }

  moment now() const;

  /// Since the beginning of the test.
  duration elapsed() const {
    return elapsed_;
  }

  const std::vector<delivery>& in_flight() const {
    return in_flight_;
  }

  /// Returns whether a job is being delivered.
  bool flies(job_id job) const;

  /// Jobs that await their ack, the oldest first.
  std::vector<job_id> awaiting() const {
    return truth_.awaiting();
  }

  /// Every delivery that has ever started, the oldest first.
  const std::vector<started>& log() const {
    return log_;
  }

  const std::vector<service_event>& events() const {
    return events_;
  }

  /// What was told of deliveries that ended, the oldest first.
  const std::vector<delivery_account>& accounts() const {
    return accounts_;
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

  gate_record key_gate(const std::string& key) {
    return queue_->view_key(key, now()).gate;
  }

  unsigned restarts() const {
    return restarts_;
  }

  /// Jobs whose publish has been answered.
  std::size_t accepted() const {
    return accepted_;
  }

private:
  /// What somebody wants of one job.
  struct request {
    enum class kind { report, cancel, run_now, replay };

    kind what = kind::report;
    /// `what.job` is the job, whatever is wanted.
    report order;
    std::optional<payload> edited;
    bool background = false;
    double lot = 0;
    /// Where its answer goes.
    std::size_t place = 0;
  };

  /// What has been read and has not arrived.
  struct reading {
    /// Jobs that were asked for by number, or one for a request.
    std::vector<job> loaded;
    std::optional<request> wanted;
    std::optional<job_record> found;
  };

  struct pending {
    transition what;
    std::optional<job> published;
    moment made;
    witness after;
    std::vector<request> reads;
    std::vector<std::size_t> answers;
  };

  // What happens.
  void change_settings(const queue_settings& settings);
  void take(transition&& t, std::optional<std::size_t> place = {});
  answer_text ask(request&& what);
  void decide(const request& what, const job_record* found);
  job_decision decision_of(const request& what, const job_record* found);
  void watch_request(const request& what, const job_record* found);
  bool is_repeat(const report& what, const job_record* found) const;
  std::string key_of(job_id job) const;
  void settle();
  void end_aborted();

  // Store, reader and permits.
  void read(const request& what);
  void arrive(reading&& what);
  void commit_oldest();
  void carry_out(std::vector<effect>&& effects);
  void carry_out(const start_delivery& what);
  void carry_out(const load_jobs& what);
  void share_permits();
  bool awaits_loads() const;
  bool awaits_permits() const;

  /// Calls `f` with each effect of a kind that waits for its commit.
  template <class T, class F>
  void for_each_undone(F f) const {
    for (const auto& p : pending_)
      for (const auto& e : p.what.effects)
        if (auto what = std::get_if<T>(&e))
          f(*what);
  }

  // What holds at every moment.
  bool is_small() const;
  std::optional<std::set<job_seq>> may_go_by_explain();
  bool is_settled(job_seq seq) const;
  bool note_lapses(const transition& t);
  void note_forgotten(const transition& t);
  bool is_deserted(const std::string& key) const;
  void check_starts(const transition& t,
                    const std::optional<std::set<job_seq>>& may_go);
  void check_rate(const started& last, std::optional<std::uint32_t> max,
                  bool of_key) const;
  std::size_t started_in_window(const started& last, bool of_key) const;
  void check();
  void check_gates();
  void check_gate(const gate_record& seen, const gate_oracle& truth) const;
  void check_key_gate(const std::string& key, const gate_oracle& truth);
  void check_explain();
  void check_counts();
  void check_subsets(const queue_view& v);
  void check_stored(const queue_view& v);
  void check_permits() const;
  void check_memory() const;

  duration elapsed_{0};
  steady_time steady_origin_ = steady_midnight;
  wall_time wall_origin_ = midnight;
  std::uint64_t last_seq_ = 0;
  std::size_t accepted_ = 0;
  unsigned restarts_ = 0;
  /// Deliveries of which it was decided that they start.
  std::size_t starts_ = 0;
  /// When a limit on starts was set last.
  duration limits_set_{-1};
  /// Until when what had started by then may still be known.
  duration starts_count_until_{-1};
  /// The wall clock was set, which no timer tells.
  bool clock_stepped_ = false;

  fake_store store_;
  std::optional<push_queue> queue_;
  bool commits_at_once_ = true;
  bool loads_at_once_ = true;
  bool aborts_at_once_ = true;
  std::deque<pending> pending_;
  std::deque<reading> reads_;
  std::vector<delivery> in_flight_;
  std::vector<std::pair<job_seq, std::uint64_t>> aborted_;
  std::vector<started> log_;
  std::vector<service_event> events_;
  std::vector<delivery_account> accounts_;
  std::vector<std::string> answers_;
  /// Numbers of deliveries that are tokens.
  std::map<job_seq, std::set<std::uint64_t>> tokens_;

  std::optional<std::uint32_t> permits_;
  std::uint32_t rivals_ = 0;
  std::uint32_t free_permits_ = 0;
  std::uint32_t permits_asked_ = 0;

  /// The largest budgets that there have ever been.
  std::uint32_t attempts_max_ = 0;
  std::uint32_t defers_max_ = 0;

  witness truth_;
  witness committed_truth_;
};

} // namespace tidegate::testing
