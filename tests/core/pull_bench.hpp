// A pull queue with the store and the other queues around it, under control.

#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/core/pull_queue.hpp"
#include "tests/core/broken_rule.hpp"
#include "tests/core/moments.hpp"

namespace tidegate::testing {

/// Plays owner, store and webhook of one pull queue. Everything is stored at
/// once, unless the disk is slow, and what waits to be read is read at once.
class pull_bench {
public:
  explicit pull_bench(const pull_settings& settings = {}) {
    queue_.id = queue_id{1};
    queue_.kind = queue_kind::pull;
    queue_.name = "q";
    queue_.pull = settings;
    value_.emplace(queue_snapshot{queue_, {}, {}}, now());
    value_->keep_accounts(true);
  }

  message_id publish(publish_message what = {}) {
    if (what.payload.bytes().empty())
      what.payload = payload{"1"};
    message_id id{job_seq{++last_seq_}, last_seq_ * 31};
    auto made = value_->make_message(what, id, now());
    must(std::holds_alternative<job>(made), "a sound message is taken");
    auto m = std::get<job>(made);
    rows_[id.seq] = m;
    value_->stored(std::move(m), now(), now());
    settle();
    return id;
  }

  /// Returns what a receiver gets that does not wait.
  std::vector<message_view> consume(std::size_t limit = 1) {
    auto waiter = wait(limit, duration{0});
    return handed_.at(waiter);
  }

  waiter_id wait(std::size_t limit, duration wait, gone_flag gone = nullptr) {
    consume_messages what;
    what.limit = limit;
    what.wait = wait;
    what.gone = std::move(gone);
    value_->wait(++last_waiter_, what, now());
    settle();
    return last_waiter_;
  }

  settle_decision say(settle_message::kind what, message_id id,
                      std::optional<receipt> handle = {},
                      duration wait = duration{0}) {
    settle_message m;
    m.what = what;
    m.id = id;
    m.handle = handle;
    m.wait = wait;
    pull_transition t;
    auto decision = value_->settle(m, std::nullopt, now(), t);
    if (std::holds_alternative<read_message>(decision)) {
      auto row = rows_.find(id.seq);
      must(row != rows_.end(), "what is asked for was stored");
      decision = value_->settle(m, job_record{row->second, histories_[id.seq]},
                                now(), t);
    }
    take(std::move(t));
    settle();
    return decision;
  }

  void give_back(const return_messages& what) {
    take(value_->returned(what, now()));
    settle();
  }

  void change(const pull_settings& settings) {
    take(value_->change_settings(settings, now()));
    settle();
  }

  /// Sends a message to queue 2, as if it had come from there.
  void redrive(message_id id) {
    value_->begin_redrive();
    auto t = value_->redrive({{row(id), queue_id{2}}}, now());
    value_->end_redrive();
    take(std::move(t));
    settle();
  }

  void pass(duration d) {
    auto until = elapsed_ + d;
    for (auto round = 0; round < 1000; ++round) {
      auto next = value_->next_wakeup();
      if (!next || *next > at(0).steady + until)
        break;
      elapsed_ = std::max(elapsed_, *next - at(0).steady);
      settle();
    }
    elapsed_ = until;
    settle();
  }

  /// Time passes until the timer fires, but no longer than `most`.
  void pass_to_wakeup(duration most) {
    auto next = value_->next_wakeup();
    auto until = elapsed_ + most;
    elapsed_ = next ? std::clamp(*next - at(0).steady, elapsed_, until) : until;
    settle();
  }

  // -- the webhook ------------------------------------------------------------

  void subscribe(std::uint32_t concurrency = 10,
                 std::optional<std::uint32_t> rate_limit_max = std::nullopt) {
    queue_settings settings;
    settings.webhook_url = "http://127.0.0.1:9/";
    settings.concurrency = concurrency;
    settings.rate_limit_max = rate_limit_max;
    settings.backoff.jitter = 0;
    take(value_->subscribe(settings, "whsec_", now()));
    settle();
  }

  void unsubscribe() {
    take(value_->unsubscribe(now()));
    settle();
  }

  /// Deliveries under way, in the order in which they were started.
  const std::vector<delivery>& under_way() const {
    return under_way_;
  }

  /// Answers the delivery that was started first.
  void answer(const delivery_reply& reply) {
    auto d = under_way_.front();
    under_way_.erase(under_way_.begin());
    take(value_->delivered(d.job.seq, d.number, reply, 0, now()));
    settle();
  }

  /// What was told of deliveries that ended, the oldest first.
  const std::vector<delivery_account>& accounts() const {
    return accounts_;
  }

  // -- the store --------------------------------------------------------------

  /// Nothing is stored until `catch_up` is called.
  bool slow_disk = false;

  void catch_up() {
    slow_disk = false;
    for (auto& t : std::exchange(waiting_, {}))
      store(std::move(t));
    settle();
  }

  void restart() {
    under_way_.clear();
    queue_snapshot stored{queue_, {}, {}};
    for (const auto& [seq, m] : rows_) {
      if (m.id.queue != queue_.id || m.ended_at)
        continue;
      live_job l;
      l.seq = seq;
      l.due = m.due;
      l.eligible_at = m.eligible_at;
      l.created_at = m.created_at;
      l.waits_for = m.waits_for;
      l.status = m.status;
      l.started_delivery = m.started_delivery;
      l.priority = m.priority;
      l.limit_key = m.limit_key;
      l.tag = m.id.tag;
      l.attempts = m.attempts;
      l.deliveries = m.deliveries;
      l.replays = m.replays;
      stored.jobs.push_back(l);
    }
    value_.emplace(stored, now());
    value_->keep_accounts(true);
    settle();
  }

  pull_queue& value() {
    return *value_;
  }

  moment now() const {
    return {at(0).steady + elapsed_, at(0).wall + elapsed_};
  }

  const job& row(message_id id) const {
    return rows_.at(id.seq);
  }

  /// Returns what is told of a message that is in the queue.
  message_status status(message_id id) const {
    return value_->view(job{row(id)}, now()).status;
  }

  /// Messages that are in the queue, the oldest first.
  std::vector<message_id> live() const {
    std::vector<message_id> result;
    for (const auto& [seq, m] : rows_)
      if (value_->is_live(seq))
        result.push_back({seq, m.id.tag});
    return result;
  }

  const std::map<waiter_id, std::vector<message_view>>& handed() const {
    return handed_;
  }

  /// How many moves will find that their queue is gone. The dead-letter queue
  /// is number 2.
  int failing_moves = 0;
  int asked_for_dead_letters = 0;

  /// Not: whoever asks for the dead-letter queue waits.
  bool knows_dead_letters = true;

private:
  void settle() {
    for (auto round = 0; round < 1000; ++round) {
      auto t = value_->advance(now());
      if (t.empty())
        return;
      take(std::move(t));
    }
    must(false, "advance comes to an end");
  }

  void take(pull_transition&& t) {
    if (t.records.empty())
      carry_out(std::move(t.effects));
    else if (slow_disk)
      waiting_.push_back(std::move(t));
    else
      store(std::move(t));
  }

  void store(pull_transition&& t) {
    std::vector<commit_answer> answers(t.records.size());
    for (std::size_t n = 0; n < t.records.size(); ++n)
      apply(t.records[n], answers[n]);
    auto after = value_->committed(t.records, answers, now());
    carry_out(std::move(t.effects));
    if (!after.empty())
      take(std::move(after));
  }

  void apply(const record& r, commit_answer& answer) {
    if (auto update = std::get_if<update_job>(&r)) {
      write(update->job, update->entry);
    } else if (auto end = std::get_if<end_job>(&r)) {
      write(end->job, end->entry);
    } else if (auto move = std::get_if<move_message>(&r)) {
      answer.done = failing_moves == 0;
      if (!answer.done) {
        --failing_moves;
      } else {
        write(move->job, move->entry);
        rows_[move->job.id.seq].id.queue = move->to;
      }
    } else if (auto remove = std::get_if<remove_jobs>(&r)) {
      for (auto seq : remove->seqs)
        answer.live += rows_.erase(seq);
    } else if (auto totals = std::get_if<update_pull_totals>(&r)) {
      queue_.totals = totals->totals;
    } else if (auto settings = std::get_if<update_pull_settings>(&r)) {
      queue_.pull = settings->settings;
    } else if (auto queue = std::get_if<update_queue>(&r)) {
      queue_.settings = queue->settings;
    } else if (auto secrets = std::get_if<update_secrets>(&r)) {
      queue_.secret = secrets->secret;
    } else if (auto gate = std::get_if<update_gate>(&r)) {
      queue_.gate = gate->gate;
    } else if (auto rate = std::get_if<update_rate>(&r)) {
      queue_.rate = rate->rate;
    }
  }

  /// The payload stays as it was published.
  void write(const job& m, const std::optional<history_entry>& entry) {
    if (entry)
      histories_[m.id.seq].push_back(*entry);
    auto& row = rows_.at(m.id.seq);
    auto kept = row.payload;
    row = m;
    row.payload = kept;
  }

  void carry_out(std::vector<pull_effect>&& effects) {
    for (auto& e : effects) {
      if (auto out = std::get_if<hand_out>(&e)) {
        for (const auto& m : out->messages)
          must(rows_.at(m.job.id.seq).attempts == m.job.attempts,
               "a receive is stored before it is handed out");
        must(handed_.emplace(out->waiter, std::move(out->messages)).second,
             "nobody is answered twice");
      } else if (auto load = std::get_if<load_messages>(&e)) {
        std::vector<job> found;
        for (auto seq : load->seqs)
          found.push_back(rows_.at(seq));
        must(value_->loaded(std::move(found)), "what is asked for is there");
      } else if (std::holds_alternative<find_dead_letter_queue>(e)) {
        ++asked_for_dead_letters;
        if (knows_dead_letters)
          value_->found_dead_letter_queue(queue_id{2});
      } else if (auto start = std::get_if<start_delivery>(&e)) {
        const auto& row = rows_.at(start->what.job.seq);
        must(row.started_delivery == start->what.number,
             "a push is stored before it goes out");
        under_way_.push_back(start->what);
      } else if (auto given = std::get_if<give_account>(&e)) {
        accounts_.push_back(given->what);
      }
    }
  }

  duration elapsed_{0};
  queue_record queue_;
  std::optional<pull_queue> value_;
  std::map<job_seq, job> rows_;
  std::map<job_seq, std::vector<history_entry>> histories_;
  std::map<waiter_id, std::vector<message_view>> handed_;
  std::vector<delivery> under_way_;
  std::vector<delivery_account> accounts_;
  std::vector<pull_transition> waiting_;
  std::uint64_t last_seq_ = 0;
  waiter_id last_waiter_ = 0;
};

} // namespace tidegate::testing
