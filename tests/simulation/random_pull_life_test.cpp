// Whatever happens to a pull queue in whatever order: nothing is lost, and
// nobody is given what another one holds.

#include <catch2/catch.hpp>

#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/actors/pull_world.hpp"
#include "tests/simulation/random_options.hpp"

using namespace std::chrono_literals;
using namespace tidegate;
using namespace tidegate::testkit;
using kind = settle_message::kind;

namespace {

/// One queue with its dead-letter queue, and everything that publishers,
/// workers, an operator, a webhook, the disk and the clock may do, as a seed
/// decides. Every second seed has a fifo queue.
class random_pull_life {
public:
  explicit random_pull_life(std::uint64_t seed)
    : lots_(seed), fifo_(seed % 2 == 0), w_(options_of(seed)) {
    pull_settings settings;
    settings.fifo = fifo_;
    settings.max_receive_count = 3;
    settings.visibility_timeout = 30s;
    settings.message_retention = 30 * 24h;
    w_.create_pull("q", settings);
    w_.create_pull("q.dlq", dead_letter_settings());
    w_.downstream().behave(
      [this](const delivery& d, moment) { return answer(d.job.seq); });
  }

  void step() {
    switch (lots_() % 24) {
      case 0:
        w_.crash(std::chrono::milliseconds{lots_() % 5'000});
        break;
      case 1:
        operate();
        break;
      case 2:
        // Whether a lease still runs is told by another clock from now on.
        w_.system().step_wall_clock(
          std::chrono::seconds{static_cast<std::int64_t>(lots_() % 120) - 60});
        held_.clear();
        break;
      case 3:
        w_.faults().commits_until_failure = lots_() % 5;
        w_.faults().failure_keeps_data = lots_() % 2 == 0;
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
        receive_some(lots_() % 4 == 0 ? "q.dlq" : "q");
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
        try_request([&] {
          redrive_messages all;
          all.source = "q";
          w_.ask<redrive_result>(w_.pull("q.dlq"), all);
        });
        break;
      default:
        pass_time();
        break;
    }
  }

  /// Everybody is well again: every message can be received and acked.
  void end_well() {
    w_.faults().commits_until_failure.reset();
    w_.advance(10s);
    try_request(
      [&] { w_.ask<pull_queue_view>(w_.pull("q"), unsubscribe_webhook{}); });
    w_.advance(5min);
    for (auto rounds = 0; rounds < 200; ++rounds) {
      auto busy = false;
      for (std::string queue : {"q", "q.dlq"})
        for (const auto& message : w_.consume(queue, 10)) {
          busy = true;
          note_received(queue, message);
          w_.settle(queue, kind::ack, id_of(message), message.handle);
          CHECK(acked_.insert(message.job.id.seq).second);
        }
      if (!busy)
        w_.advance(10s);
    }
    for (std::string queue : {"q", "q.dlq"}) {
      auto left = w_.stats(queue);
      CHECK(left.available + left.delayed + left.in_flight == 0);
      CHECK(w_.scan(queue).pending + w_.scan(queue).processing == 0);
    }
    for (auto id : accepted_)
      CHECK((acked_.contains(id) || perhaps_acked_.contains(id)));
  }

private:
  struct lease {
    std::string queue;
    message_id id;
    receipt handle;
  };

  template <class F>
  void try_request(F f) {
    try {
      f();
    } catch (const std::exception&) {
      // Refused or unanswered, as may be while the disk fails.
    }
  }

  publish_message some_message() {
    publish_message what;
    what.payload = payload{std::to_string(++published_)};
    if (fifo_)
      what.group = std::string(1, static_cast<char>('a' + lots_() % 3));
    else if (lots_() % 4 == 0)
      what.delay = std::chrono::seconds{lots_() % 60};
    return what;
  }

  void publish_some() {
    for (auto n = lots_() % 4; n > 0; --n)
      try_request(
        [&] { accepted_.insert(w_.put("q", some_message()).id.seq); });
  }

  void receive_some(const std::string& queue) {
    try_request([&] {
      for (const auto& message : w_.consume(queue, 1 + lots_() % 3))
        note_received(queue, message);
    });
  }

  void note_received(const std::string& queue, const message_view& message) {
    auto id = id_of(message);
    check_free(id.seq);
    CHECK(message.job.attempts >= 1);
    auto& count = deliveries_[id.seq];
    CHECK(message.job.deliveries > count);
    count = message.job.deliveries;
    held_[id.seq] = w_.now().steady + 30s;
    leases_.push_back({queue, id, *message.handle});
  }

  /// Nobody else holds it, and nobody was told that it is done.
  void check_free(job_seq id) {
    CHECK_FALSE(acked_.contains(id));
    auto held = held_.find(id);
    if (held != held_.end())
      CHECK(held->second <= w_.now().steady);
  }

  /// Says something about a message that was received some time.
  void settle_one() {
    if (leases_.empty())
      return;
    const auto& l = leases_[lots_() % leases_.size()];
    settle_message what;
    what.id = l.id;
    what.handle = l.handle;
    what.what = static_cast<kind>(lots_() % 4);
    if (what.what == kind::nack)
      what.wait = std::chrono::seconds{lots_() % 40};
    if (what.what == kind::extend)
      what.wait = 30s;
    if (what.what == kind::ack && l.queue == "q" && lots_() % 2 == 0)
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
        note_settled(what, done);
    } catch (const refused& e) {
      if (e.reason.code == errc::message_not_in_flight
          || e.reason.code == errc::message_not_found)
        nothing_done();
    } catch (const std::logic_error&) {
      // Unanswered.
    }
  }

  void note_settled(const settle_message& what, const message_settled& done) {
    if (done.successor)
      accepted_.insert(done.successor->id.seq);
    if (what.what == kind::ack)
      acked_.insert(what.id.seq);
    else if (what.what == kind::extend)
      held_[what.id.seq] = w_.now().steady + 30s;
  }

  response answer(job_seq id) {
    check_free(id);
    auto latency = std::chrono::milliseconds{lots_() % 3'000};
    switch (lots_() % 6) {
      case 0:
        return {429, std::to_string(lots_() % 30), latency};
      case 1:
        return {500, "", latency};
      case 2:
        return {0, "", latency};
      default:
        perhaps_acked_.insert(id);
        return {200, "", latency};
    }
  }

  void operate() {
    try_request([&] {
      switch (lots_() % 3) {
        case 0: {
          patch_pull_queue what;
          what.patch.max_receive_count = 1 + lots_() % 5;
          w_.ask<pull_queue_view>(w_.pull("q"), what);
          break;
        }
        case 1:
          w_.subscribe("q", 2);
          break;
        default:
          w_.ask<pull_queue_view>(w_.pull("q"), unsubscribe_webhook{});
          break;
      }
    });
  }

  void pass_time() {
    constexpr duration spans[] = {1ms, 500ms, 3s, 20s, 2min};
    w_.advance(spans[lots_() % std::size(spans)]);
  }

  std::mt19937_64 lots_;
  bool fifo_;
  std::set<job_seq> accepted_;
  std::set<job_seq> acked_;
  std::set<job_seq> perhaps_acked_;
  std::map<job_seq, steady_time> held_;
  std::map<job_seq, std::uint64_t> deliveries_;
  std::vector<lease> leases_;
  std::uint64_t published_ = 0;
  pull_world w_;
};

} // namespace

TEST_CASE("a random life of a pull queue ends well, whatever the seed") {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    INFO("seed " << seed);
    random_pull_life life{seed};
    for (int i = 0; i < 150; ++i)
      life.step();
    life.end_well();
  }
}
