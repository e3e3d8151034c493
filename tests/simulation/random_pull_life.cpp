// The random life of a pull queue.

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/simulation/life.hpp"

namespace tidegate::testkit {

namespace {

using namespace std::chrono_literals;
using kind = settle_message::kind;

constexpr std::uint32_t concurrency = 2;
constexpr duration lease_time = 30s;

/// Most that `max_receive_count` is ever set to.
constexpr std::uint32_t receives_most = 5;

std::uint64_t live_of(const queue_counts& counts) {
  return counts.pending + counts.processing + counts.awaiting_ack;
}

std::uint64_t live_of(const pull_queue_view& v) {
  return v.available + v.delayed + v.in_flight;
}

/// One queue with its dead-letter queue, its publishers and workers, and a
/// webhook that it is pushed to at times. Every second seed has a fifo queue.
class pull_life : public life {
public:
  explicit pull_life(std::uint64_t seed) : life(seed), fifo_(seed % 2 == 0) {
    pull_settings settings;
    settings.fifo = fifo_;
    settings.max_receive_count = receives_max_;
    settings.visibility_timeout = lease_time;
    settings.message_retention = 30 * 24h;
    w_.create_pull("q", settings);
    w_.create_pull("q.dlq", dead_letter_settings());
    w_.downstream().behave([this](const delivery& d, moment now) {
      auto answer = draw_response();
      note_start(d, answer, now);
      return answer;
    });
  }

private:
  struct lease {
    std::string queue;
    message_id id;
    receipt handle;
    std::string group;
  };

  /// Somebody holds a message.
  struct holding {
    steady_time until;
    std::string group;
  };

  void step() override {
    switch (dice_.below(24)) {
      case 0:
        crash();
        break;
      case 1:
        operate();
        break;
      case 2:
        step_clock(1min);
        break;
      case 3:
        spoil_disk();
        break;
      case 4:
      case 5:
      case 6:
        publish_some();
        break;
      case 7:
      case 8:
      case 9:
      case 10:
        receive_some(dice_.one_in(4) ? "q.dlq" : "q");
        break;
      case 11:
      case 12:
      case 13:
      case 14:
      case 15:
      case 16:
        settle_one();
        break;
      case 17:
        redrive();
        break;
      default:
        pass_one_of({1ms, 500ms, 3s, 20s, 2min});
        break;
    }
  }

  /// Every message can be received and acked.
  void end_well() override {
    w_.faults().commits_until_failure.reset();
    w_.advance(10s);
    unsubscribe();
    w_.advance(5min);
    for (auto rounds = 0; rounds < 200; ++rounds)
      if (!receive_and_ack_all())
        w_.advance(10s);
    for (std::string queue : {"q", "q.dlq"}) {
      expect(live_of(w_.stats(queue)) == 0, "a message never ends");
      expect(live_of(w_.scan(queue)) == 0, "a message is left in the store");
    }
    check_counts();
  }

  bool receive_and_ack_all() {
    auto any = false;
    for (std::string queue : {"q", "q.dlq"})
      for (const auto& message : w_.consume(queue, 10)) {
        any = true;
        note_received(queue, message);
        w_.settle(queue, kind::ack, id_of(message), message.handle);
        held_.erase(message.job.id.seq);
        expect(acked_.insert(message.job.id.seq).second,
               "a message is acked twice");
      }
    return any;
  }

  // -- publishers and workers -------------------------------------------------

  publish_message some_message() {
    publish_message what;
    what.payload = payload{std::to_string(++asked_)};
    if (fifo_)
      what.group = std::string(1, static_cast<char>('a' + dice_.below(3)));
    else if (dice_.one_in(4))
      what.delay = dice_.seconds_below(60);
    return what;
  }

  void publish_some() {
    for (auto n = dice_.below(4); n > 0; --n)
      try_request(
        [&] { accepted_.insert(w_.put("q", some_message()).id.seq); });
  }

  void receive_some(const std::string& queue) {
    auto limit = dice_.from_1_to(3);
    std::vector<message_view> got;
    if (!try_request([&] { got = w_.consume(queue, limit); }))
      return;
    for (const auto& message : got)
      note_received(queue, message);
    if (!got.empty() || (fifo_ && queue == "q"))
      return;
    try_request([&] {
      expect(w_.stats(queue).available == 0,
             "a message is called available and not given");
    });
  }

  void note_received(const std::string& queue, const message_view& message) {
    auto id = id_of(message);
    auto group = group_of(queue, message.job);
    note_given(queue, message.job);
    held_[id.seq] = {w_.now().steady + lease_time, group};
    leases_.push_back({queue, id, *message.handle, group});
  }

  /// Says something about a message that was received some time.
  void settle_one() {
    if (leases_.empty())
      return;
    const auto& l = dice_.any(leases_);
    settle_message what;
    what.id = l.id;
    what.handle = l.handle;
    what.what = static_cast<kind>(dice_.below(4));
    if (what.what == kind::nack)
      what.wait = dice_.seconds_below(40);
    if (what.what == kind::extend)
      what.wait = lease_time;
    if (what.what == kind::ack && l.queue == "q" && dice_.one_in(2))
      what.successor = some_message();
    // Until it is answered, anything may have become of the lease.
    auto held = held_.extract(l.id.seq);
    auto first_ack = what.what == kind::ack
                     && perhaps_acked_.insert(l.id.seq).second;
    auto nothing_done = [&] {
      if (first_ack)
        perhaps_acked_.erase(l.id.seq);
      if (held)
        held_.insert(std::move(held));
    };
    try {
      auto done = w_.ask<message_settled>(w_.pull(l.queue), what);
      if (done.duplicate && what.what != kind::ack)
        nothing_done();
      else
        note_settled(what, done, l.group);
    } catch (const refused& e) {
      if (e.reason.code == errc::message_not_in_flight
          || e.reason.code == errc::message_not_found)
        nothing_done();
    } catch (const std::logic_error&) {
      // Unanswered.
    }
  }

  void note_settled(const settle_message& what, const message_settled& done,
                    const std::string& group) {
    if (done.successor)
      accepted_.insert(done.successor->id.seq);
    if (what.what == kind::ack)
      acked_.insert(what.id.seq);
    else if (what.what == kind::extend)
      held_[what.id.seq] = {w_.now().steady + lease_time, group};
  }

  // -- operators and the webhook ----------------------------------------------

  void operate() {
    switch (dice_.below(3)) {
      case 0:
        change_receives_max(dice_.from_1_to(receives_most));
        break;
      case 1:
        watch_.forget();
        try_request([&] { w_.subscribe("q", concurrency); });
        break;
      default:
        unsubscribe();
        break;
    }
  }

  void unsubscribe() {
    watch_.forget();
    try_request(
      [&] { w_.ask<pull_queue_view>(w_.pull("q"), unsubscribe_webhook{}); });
  }

  /// What is not answered may be in force or not.
  void change_receives_max(std::uint32_t most) {
    patch_pull_queue what;
    what.patch.max_receive_count = most;
    auto done =
      try_request([&] { w_.ask<pull_queue_view>(w_.pull("q"), what); });
    receives_max_ = done ? most : std::max(receives_max_, most);
    for (auto& [id, budget] : budgets_)
      budget = std::max<std::uint64_t>(budget, receives_max_);
  }

  void redrive() {
    try_request([&] {
      redrive_messages all;
      all.source = "q";
      w_.ask<redrive_result>(w_.pull("q.dlq"), all);
    });
  }

  response draw_response() {
    auto latency = dice_.ms_below(3'000);
    switch (dice_.below(6)) {
      case 0:
        return {429, std::to_string(dice_.below(30)), latency};
      case 1:
        return {500, "", latency};
      case 2:
        return {0, "", latency};
      default:
        return {200, "", latency};
    }
  }

  void note_start(const delivery& d, const response& answer, moment now) {
    watch(d, answer, now);
    note_given("q", d.message->job);
    if (answer.status == 200)
      perhaps_acked_.insert(d.job.seq);
  }

  void memory_lost() override {
    // A lease is stored before it is granted: it runs on.
  }

  void clock_set() override {
    // Whether a lease still runs is told by another clock from now on.
    held_.clear();
  }

  // -- what must be so --------------------------------------------------------

  std::string group_of(const std::string& queue, const job& message) const {
    return fifo_ && queue == "q" ? message.limit_key : std::string{};
  }

  /// A message is given to somebody: nobody else holds it, nor another one of
  /// its group, nobody was told that it is done, and it was not given too
  /// often.
  void note_given(const std::string& queue, const job& message) {
    auto seq = message.id.seq;
    auto now = w_.now().steady;
    expect(!acked_.contains(seq), "a message is given that was acked");
    auto group = group_of(queue, message);
    for (const auto& [other, h] : held_)
      expect(h.until <= now
               || (other != seq && (group.empty() || h.group != group)),
             other == seq ? "a message is given that somebody holds"
                          : "two messages of a group are out");
    auto& count = deliveries_[seq];
    expect(message.deliveries > count, "the number of a delivery comes twice");
    count = message.deliveries;
    expect(message.attempts >= 1, "a receive is not counted");
    if (queue != "q")
      return;
    // What was given back counts again, whatever may be by now.
    auto& budget = budgets_.try_emplace(seq, receives_most).first->second;
    expect(message.attempts <= budget,
           "a message is received more often than may be");
    budget = std::max<std::uint64_t>(receives_max_, message.attempts);
  }

  void check() override {
    expect(w_.downstream().in_flight() <= concurrency,
           "more is in flight than may be");
    for (std::string queue : {"q", "q.dlq"})
      try_request([&] {
        auto told = w_.stats(queue);
        auto stored = w_.scan(queue);
        // One that leaves is in flight until it has left.
        auto least = stored.awaiting_ack;
        expect(live_of(told) == live_of(stored) && told.in_flight >= least
                 && told.in_flight <= least + stored.processing,
               "the figures are not those of the store");
      });
    check_counts();
  }

  /// Nothing is lost and nothing added.
  void check_counts() {
    auto left = live_of(w_.scan("q")) + live_of(w_.scan("q.dlq"));
    auto owed = std::count_if(accepted_.begin(), accepted_.end(), [&](auto id) {
      return !acked_.contains(id) && !perhaps_acked_.contains(id);
    });
    expect(left >= static_cast<std::uint64_t>(owed), "a message is lost");
    expect(left + acked_.size() <= asked_,
           "there are more messages than were asked for");
  }

  bool fifo_;

  /// The setting of the queue, and for each message the largest since it was
  /// received last, or how often it had been by then.
  std::uint32_t receives_max_ = 3;
  std::map<job_seq, std::uint64_t> budgets_;

  /// Messages whose publish was answered, whose ack was, and whose ack was sent
  /// or may have been.
  std::set<job_seq> accepted_;
  std::set<job_seq> acked_;
  std::set<job_seq> perhaps_acked_;
  std::uint64_t asked_ = 0;

  std::map<job_seq, holding> held_;
  std::map<job_seq, std::uint64_t> deliveries_;
  std::vector<lease> leases_;
};

} // namespace

std::unique_ptr<life> make_pull_life(std::uint64_t seed) {
  return std::make_unique<pull_life>(seed);
}

} // namespace tidegate::testkit
