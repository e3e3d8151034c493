// What an operator is told, and how often.

#include "actors/core/alerts.hpp"

#include <catch2/catch.hpp>

#include "tests/core/moments.hpp"
#include "tidegate/messages.hpp"

using namespace std::chrono_literals;
using namespace tidegate;
using namespace tidegate::testing;

namespace {

const alerts::subject mail{"default", "mail"};

/// Everything is told; the window is a minute.
alert_settings everything() {
  return {true, 10s, 100, 30s, 60s};
}

service_event happening(event_kind kind, double n,
                        const alerts::subject& whose = mail) {
  service_event result;
  result.kind = kind;
  result.project = whose.project;
  result.queue = whose.queue;
  result.at = at(n).wall;
  return result;
}

/// A story: things happen at a second, and alerts are taken as they are due.
class story {
public:
  explicit story(const alert_settings& settings = everything())
    : value(settings) {
    // nop
  }

  void die(double n, const alerts::subject& whose = mail) {
    value.happened(happening(event_kind::job_dead, n, whose), at(n));
  }

  void hold(double n, const alerts::subject& whose = mail) {
    auto event = happening(event_kind::queue_held, n, whose);
    event.release_at = at(n + 5).wall;
    value.happened(event, at(n));
  }

  void happen(event_kind kind, double n, const alerts::subject& whose = mail) {
    value.happened(happening(kind, n, whose), at(n));
  }

  /// A look at one queue that finds these figures.
  void look(double n, const alerts::figures& what,
            const alerts::subject& whose = mail) {
    value.begin_look(at(n));
    value.looked_at(whose, what, at(n));
    value.end_look(at(n));
  }

  void look_at_nothing(double n) {
    value.begin_look(at(n));
    value.end_look(at(n));
  }

  std::vector<alert> due(double n, std::size_t max = 1000) {
    return value.due(at(n), max);
  }

  /// Returns the only alert that is due.
  alert only(double n) {
    auto all = due(n);
    REQUIRE(all.size() == 1);
    return all.front();
  }

  /// Returns in how many seconds after midnight something is due; -1: never.
  double next() const {
    auto wakeup = value.next_wakeup();
    return wakeup ? to_seconds(*wakeup - steady_midnight) : -1;
  }

  alerts value;
};

alerts::figures deep(std::uint64_t depth) {
  return {queue_kind::push, depth, {}, {}, {}};
}

alerts::figures old(duration age) {
  return {queue_kind::push, 1, age, {}, {}};
}

alerts::figures shut_since(double n) {
  return {queue_kind::push, 0, {}, at(n).wall, at(n + 3600).wall};
}

} // namespace

// -- deaths -------------------------------------------------------------------

TEST_CASE("deaths of the first second are told together") {
  story s;
  for (int i = 0; i < 50; ++i)
    s.die(1 + i * 0.01);
  CHECK(s.next() == 2);
  CHECK(s.due(1.99).empty());
  auto said = s.only(2);
  CHECK(said.cause == alert_cause::job_dead);
  CHECK(said.state == alert_state::firing);
  CHECK(said.project == "default");
  CHECK(said.queue == "mail");
  CHECK(said.count == 50);
  CHECK(said.since == at(1).wall);
  CHECK(said.until == at(1.49).wall);
  CHECK(said.at == at(2).wall);
  CHECK(said.limit == 0);
}

TEST_CASE("deaths of the window are told at its end, with their number") {
  story s;
  s.die(0);
  CHECK(s.only(1).count == 1);
  s.die(10);
  s.die(59);
  CHECK(s.next() == 61);
  CHECK(s.due(60.9).empty());
  auto said = s.only(61);
  CHECK(said.count == 2);
  CHECK(said.since == at(10).wall);
  CHECK(said.until == at(59).wall);
}

TEST_CASE("after a quiet window the next death is told at once") {
  story s;
  s.die(0);
  s.only(1);
  CHECK(s.due(61).empty());
  CHECK(s.value.size() == 0);
  s.die(70);
  CHECK(s.only(71).count == 1);
}

TEST_CASE("a death late in the window is told when that is over") {
  story s;
  s.die(0);
  s.only(1);
  s.die(60.5);
  CHECK(s.next() == 61.5);
  CHECK(s.only(61.5).count == 1);
}

TEST_CASE("an alert names the last job that died, and why") {
  story s;
  auto event = happening(event_kind::job_dead, 1);
  event.job = job_id{queue_id{1}, job_seq{7}, 9};
  event.reason = dead_reason::attempts_exhausted;
  s.value.happened(event, at(1));
  event.job = job_id{queue_id{1}, job_seq{8}, 9};
  event.reason = dead_reason::lifetime_exceeded;
  s.value.happened(event, at(1.5));
  auto said = s.only(2);
  CHECK(said.job == event.job);
  CHECK(said.reason == dead_reason::lifetime_exceeded);
  CHECK(said.kind == queue_kind::push);
}

TEST_CASE("dead messages are told like dead jobs") {
  story s;
  s.happen(event_kind::message_dead, 1);
  auto said = s.only(2);
  CHECK(said.cause == alert_cause::job_dead);
  CHECK(said.kind == queue_kind::pull);
}

TEST_CASE("what somebody cancelled did not die of anything") {
  story s;
  auto event = happening(event_kind::job_dead, 1);
  event.reason = dead_reason::cancelled;
  s.value.happened(event, at(1));
  CHECK(s.value.size() == 0);
}

TEST_CASE("each queue of each project has its own window") {
  story s;
  s.die(0, {"default", "mail"});
  s.die(0, {"acme", "mail"});
  s.die(0, {"default", "sms"});
  CHECK(s.due(1).size() == 3);
}

TEST_CASE("deaths of a queue that is deleted are told nevertheless") {
  story s;
  s.die(0);
  s.happen(event_kind::queue_deleted, 0.5);
  CHECK(s.only(1).count == 1);
}

// -- gates --------------------------------------------------------------------

TEST_CASE("a queue is told when it has been held for long enough") {
  story s;
  s.hold(1);
  CHECK(s.next() == 11);
  CHECK(s.due(10.9).empty());
  auto said = s.only(11);
  CHECK(said.cause == alert_cause::queue_held);
  CHECK(said.span == 10s);
  CHECK(said.limit == 10);
  CHECK(said.since == at(1).wall);
  CHECK(said.until == at(6).wall);
}

TEST_CASE("a hold that ends sooner is not told") {
  story s;
  s.hold(1);
  s.happen(event_kind::queue_opened, 10);
  CHECK(s.next() == -1);
  CHECK(s.value.size() == 0);
}

TEST_CASE("probes that fail prolong a hold and do not begin another") {
  story s;
  s.hold(1);
  s.happen(event_kind::queue_probing, 6);
  s.hold(7);
  auto said = s.only(11);
  CHECK(said.since == at(1).wall);
  CHECK(said.until == at(12).wall);
}

TEST_CASE("a hold that lasts is told once each window") {
  story s;
  s.hold(0);
  CHECK(s.only(10).span == 10s);
  s.hold(30);
  CHECK(s.due(69).empty());
  CHECK(s.next() == 70);
  CHECK(s.only(70).span == 70s);
  CHECK(s.next() == 130);
}

TEST_CASE("the end of a hold is told where its beginning was") {
  story s;
  s.hold(0);
  s.only(10);
  s.happen(event_kind::queue_opened, 25);
  CHECK(s.next() == 25);
  auto said = s.only(25);
  CHECK(said.state == alert_state::resolved);
  CHECK(said.since == at(0).wall);
  CHECK(said.until == at(25).wall);
  CHECK(said.span == 25s);
  CHECK(s.due(1000).empty());
  CHECK(s.value.size() == 0);
}

TEST_CASE("a gate that comes and goes is told once each window") {
  story s;
  s.hold(0);
  s.only(10);
  s.happen(event_kind::queue_opened, 11);
  CHECK(s.only(11).state == alert_state::resolved);
  s.hold(12);
  s.happen(event_kind::queue_opened, 25);
  CHECK(s.due(25).empty());
  s.hold(40);
  CHECK(s.next() == 70);
  auto again = s.only(70);
  CHECK(again.state == alert_state::firing);
  CHECK(again.since == at(40).wall);
}

TEST_CASE("limit keys are not queues") {
  story s;
  auto event = happening(event_kind::queue_held, 0);
  event.limit_key = "tenant";
  s.value.happened(event, at(0));
  CHECK(s.value.size() == 0);
  s.hold(1);
  event.kind = event_kind::queue_opened;
  s.value.happened(event, at(2));
  CHECK(s.due(11).size() == 1);
}

TEST_CASE("a queue that is deleted is held no more") {
  story s;
  s.hold(0);
  s.only(10);
  s.happen(event_kind::queue_deleted, 20);
  CHECK(s.only(20).state == alert_state::resolved);
  s.hold(100);
  s.happen(event_kind::queue_deleted, 101);
  CHECK(s.due(1000).empty());
}

// -- figures ------------------------------------------------------------------

TEST_CASE("a depth is told when it is passed, not when it is reached") {
  story s;
  s.look(0, deep(100));
  CHECK(s.due(0).empty());
  s.look(10, deep(101));
  auto said = s.only(10);
  CHECK(said.cause == alert_cause::queue_depth);
  CHECK(said.count == 101);
  CHECK(said.limit == 100);
  CHECK(said.since == at(10).wall);
  CHECK_FALSE(said.until);
  s.look(20, deep(500));
  CHECK(s.due(69).empty());
  s.look(71, deep(400));
  CHECK(s.only(71).count == 400);
  s.look(80, deep(7));
  auto end = s.only(80);
  CHECK(end.state == alert_state::resolved);
  CHECK(end.count == 7);
  CHECK(end.until == at(80).wall);
}

TEST_CASE("what lasts is told with figures of that moment, not of before") {
  story s;
  s.look(0, {queue_kind::push, 101, 31s, {}, {}});
  CHECK(s.due(0).size() == 2);
  s.look(59, {queue_kind::push, 150, 90s, {}, {}});
  CHECK(s.next() == -1);
  CHECK(s.due(68).empty());
  s.look(69, {queue_kind::push, 300, 100s, {}, {}});
  auto again = s.due(69);
  REQUIRE(again.size() == 2);
  CHECK(again[0].count == 300);
  CHECK(again[1].span == 100s);
  for (const auto& said : again)
    CHECK(said.since == at(0).wall);
}

TEST_CASE("an age is told when it is passed, but not of dead letters") {
  story s;
  s.look(0, old(30s));
  CHECK(s.due(0).empty());
  s.look(10, old(31s));
  auto said = s.only(10);
  CHECK(said.cause == alert_cause::queue_age);
  CHECK(said.span == 31s);
  CHECK(said.limit == 30);
  CHECK(said.count == 0);
  s.look(20, {});
  CHECK(s.only(20).state == alert_state::resolved);
  story dead;
  dead.look(0, old(1h), {"default", "mail.dlq"});
  CHECK(dead.value.size() == 0);
}

TEST_CASE("depth, age, gate and deaths of one queue are told apart") {
  story s;
  s.die(0);
  s.look(0, {queue_kind::pull, 101, 31s, at(-10).wall, {}});
  CHECK(s.due(0).size() == 3);
  CHECK(s.only(1).cause == alert_cause::job_dead);
}

TEST_CASE("what is off is not told and costs nothing") {
  story s{alert_settings{false, 0s, 0, 0s, 60s}};
  s.die(0);
  s.hold(0);
  s.look(0, {queue_kind::push, 1'000'000, 24h, at(-86'400).wall, {}});
  CHECK(s.value.size() == 0);
  CHECK(s.next() == -1);
}

TEST_CASE("nothing is told of the queue that alerts go through") {
  story s;
  const alerts::subject own{default_project, alerts_queue};
  s.die(0, own);
  s.hold(0, own);
  s.look(0, {queue_kind::push, 1'000'000, 24h, at(-86'400).wall, {}}, own);
  CHECK(s.value.size() == 0);
  s.die(0, {"acme", alerts_queue});
  CHECK(s.due(1).size() == 1);
}

// -- looks --------------------------------------------------------------------

TEST_CASE("the first look finds the gates that were shut before the start") {
  story s;
  s.look(0, shut_since(-8));
  CHECK(s.next() == 2);
  auto said = s.only(2);
  CHECK(said.span == 10s);
  CHECK(said.since == at(-8).wall);
  CHECK(said.until == at(3592).wall);
}

TEST_CASE("the first look knows better than an event since when it is shut") {
  story s;
  s.hold(0);
  s.look(0.1, shut_since(-9));
  CHECK(s.next() == 1);
  s.hold(0.5);
  CHECK(s.only(2).since == at(-9).wall);
}

TEST_CASE("a later look does not take earlier holds for the present one") {
  story s;
  s.look(0, {});
  // What it says was so before it opened, of which this look heard late.
  s.look(10, shut_since(-90));
  CHECK(s.next() == 10);
  CHECK(s.only(10).since == at(0).wall);
}

TEST_CASE("a hold that ran out is told as long as somebody waits for it") {
  story s;
  s.hold(0);
  alerts::figures ran_out{queue_kind::push, 1, {}, at(0).wall, at(5).wall};
  s.look(9, ran_out);
  CHECK(s.only(10).state == alert_state::firing);
  ran_out.depth = 0;
  s.look(19, ran_out);
  CHECK(s.only(19).state == alert_state::resolved);
  s.look(29, ran_out);
  CHECK(s.due(1000).empty());
}

TEST_CASE("an empty queue that is held by hand is told all the same") {
  story s;
  s.look(0, shut_since(-20));
  CHECK(s.only(0).cause == alert_cause::queue_held);
}

TEST_CASE("a look that finds a gate open ends the hold") {
  story s;
  s.look(0, {});
  s.hold(1);
  s.only(11);
  s.look(20, {});
  CHECK(s.only(20).state == alert_state::resolved);
}

TEST_CASE("a queue that a look does not find is gone") {
  story s;
  s.look(0, {queue_kind::push, 101, 31s, at(-10).wall, {}});
  CHECK(s.due(0).size() == 3);
  s.look_at_nothing(10);
  auto ends = s.due(10);
  CHECK(ends.size() == 3);
  for (const auto& end : ends) {
    CHECK(end.state == alert_state::resolved);
    CHECK(end.gone);
  }
  CHECK(s.due(1000).empty());
  CHECK(s.value.size() == 0);
}

TEST_CASE("a queue that cannot say how it is stays as it was") {
  story s;
  s.look(0, deep(101));
  s.only(0);
  s.value.begin_look(at(10));
  s.value.unanswered(mail);
  s.value.end_look(at(10));
  CHECK(s.due(60).empty());
  s.look(61, deep(102));
  auto said = s.only(61);
  CHECK(said.state == alert_state::firing);
  CHECK(said.since == at(0).wall);
}

TEST_CASE("what begins while a look goes on is not taken for gone") {
  story s;
  s.look_at_nothing(0);
  s.value.begin_look(at(10));
  s.hold(10.5);
  s.value.end_look(at(11));
  CHECK(s.only(20.5).state == alert_state::firing);
}

// -- restarts -----------------------------------------------------------------

TEST_CASE("what was said before a restart is not said again in its window") {
  story s;
  for (auto cause : {alert_cause::job_dead, alert_cause::queue_held,
                     alert_cause::queue_depth, alert_cause::queue_age})
    s.value.remember(cause, alert_state::firing, mail, at(-20).wall,
                     at(-20).wall, at(0));
  CHECK(s.next() == 40);
  s.die(1);
  s.look(1, {queue_kind::push, 101, 31s, at(-49).wall, {}});
  CHECK(s.due(39.9).empty());
  s.look(40, {queue_kind::push, 101, 31s, at(-49).wall, {}});
  auto all = s.due(40);
  CHECK(all.size() == 4);
  for (const auto& said : all)
    CHECK(said.state == alert_state::firing);
}

TEST_CASE("what ended while the server was down is told after the first look") {
  story s;
  s.value.remember(alert_cause::queue_depth, alert_state::firing, mail,
                   at(-20).wall, at(-100).wall, at(0));
  CHECK(s.due(0).empty());
  s.look(1, deep(3));
  auto end = s.only(1);
  CHECK(end.state == alert_state::resolved);
  CHECK(end.since == at(-100).wall);
  CHECK(end.count == 3);
  CHECK_FALSE(end.gone);
}

TEST_CASE("a queue that is gone after a restart is told as over") {
  story s;
  s.value.remember(alert_cause::queue_held, alert_state::firing, mail,
                   at(-500).wall, at(-500).wall, at(0));
  CHECK(s.due(100).empty());
  s.look_at_nothing(100);
  auto end = s.only(100);
  CHECK(end.state == alert_state::resolved);
  CHECK(end.gone);
}

TEST_CASE("what was over before a restart is not told as over again") {
  story s;
  s.value.remember(alert_cause::queue_held, alert_state::firing, mail,
                   at(-20).wall, at(-30).wall, at(0));
  s.value.remember(alert_cause::queue_held, alert_state::resolved, mail,
                   at(-10).wall, at(-30).wall, at(0));
  s.look_at_nothing(1);
  CHECK(s.due(39).empty());
  s.look(39, shut_since(24));
  CHECK(s.due(39).empty());
  CHECK(s.only(40).state == alert_state::firing);
}

TEST_CASE("a death that is heard of before the past is told in its window") {
  story s;
  s.die(0);
  s.value.remember(alert_cause::job_dead, alert_state::firing, mail,
                   at(-20).wall, at(-20).wall, at(0.5));
  CHECK(s.due(39).empty());
  CHECK(s.only(40).count == 1);
}

TEST_CASE("deaths that a restart left untold are told with those after it") {
  constexpr job_id last{queue_id{1}, job_seq{7}, 9};
  auto deaths = [](std::uint64_t count, double since, double until) {
    return alerts::deaths{
      queue_kind::push, count, at(since).wall,
      at(until).wall,   last,  dead_reason::lifetime_exceeded};
  };
  story s;
  s.value.remember(alert_cause::job_dead, alert_state::firing, mail,
                   at(-20).wall, at(-20).wall, at(0));
  s.die(1);
  s.value.remember_deaths(mail, deaths(7, -18, -3), at(2));
  s.value.remember_deaths(mail, deaths(0, -99, 0), at(2));
  s.value.remember_deaths({"default", "sms"}, deaths(3, -5, -4), at(2));
  auto other = s.only(3);
  CHECK(other.count == 3);
  CHECK(other.since == at(-5).wall);
  CHECK(other.until == at(-4).wall);
  CHECK(other.job == last);
  CHECK(other.reason == dead_reason::lifetime_exceeded);
  CHECK(s.next() == 40);
  auto said = s.only(40);
  CHECK(said.count == 8);
  CHECK(said.since == at(-18).wall);
  CHECK(said.until == at(1).wall);
  CHECK(said.job != last);
}

TEST_CASE("a gate that is still shut after a restart has its times as before") {
  story s;
  s.value.remember(alert_cause::queue_held, alert_state::firing, mail,
                   at(-20).wall, at(-30).wall, at(0));
  s.look(1, shut_since(-30.000'5));
  auto said = s.only(40);
  CHECK(said.since == at(-30.000'5).wall);
  CHECK(said.until == at(3569.999'5).wall);
}

TEST_CASE("a release moves the time until which a queue is held") {
  story s;
  s.hold(0);
  auto event = happening(event_kind::queue_released, 4);
  event.release_at = at(4).wall;
  s.value.happened(event, at(4));
  CHECK(s.only(10).until == at(4).wall);
  s.happen(event_kind::queue_opened, 11);
  CHECK(s.only(11).state == alert_state::resolved);
}

TEST_CASE("an alert that seems to be of the future was said just now") {
  story s;
  s.value.remember(alert_cause::job_dead, alert_state::firing, mail,
                   at(5000).wall, at(5000).wall, at(0));
  s.die(1);
  CHECK(s.next() == 60);
}

TEST_CASE("the mark of an alert says which one it was") {
  alert what;
  what.project = "acme";
  what.queue = "a.b_c-d";
  what.at = at(0.7).wall;
  what.cause = GENERATE(alert_cause::job_dead, alert_cause::queue_held,
                        alert_cause::queue_depth, alert_cause::queue_age);
  what.state = what.cause == alert_cause::job_dead
                 ? alert_state::firing
                 : GENERATE(alert_state::firing, alert_state::resolved);
  auto mark = parse_alert_key(to_key(what));
  REQUIRE(mark);
  CHECK(*mark == alert_mark{what.cause, what.state, {"acme", "a.b_c-d"}});
  auto later = what;
  later.at = at(1).wall;
  CHECK(to_key(what) != to_key(later));
}

TEST_CASE("marks of the longest names fit into an idempotency key") {
  alert what;
  what.project = std::string(120, 'p');
  what.queue = std::string(120, 'q') + ".dlq";
  what.at = wall_time{std::chrono::seconds{78'364'164'095}};
  CHECK(to_key(what).size() == 255);
  CHECK(parse_alert_key(to_key(what)));
}

TEST_CASE("a key that somebody else chose is no mark") {
  auto text = GENERATE("", "order-1", "d", "d/default/mail", "d/default/mail/",
                       "d//mail/1", "d/default//1", "x/default/mail/1",
                       "-/default/mail/1", "dd/default/mail/1",
                       "d/default/mail/1/", "d/default/mail/!",
                       "/default/mail/1", "////");
  CHECK_FALSE(parse_alert_key(text));
}

// -- bounds -------------------------------------------------------------------

TEST_CASE("what is due is handed out piece by piece, and all of it") {
  story s;
  for (int i = 0; i < 10; ++i)
    s.die(0, {"default", "q" + std::to_string(i)});
  CHECK(s.due(1, 4).size() == 4);
  CHECK(s.due(1, 0).empty());
  CHECK(s.next() == 1);
  CHECK(s.due(1, 4).size() == 4);
  CHECK(s.due(1, 4).size() == 2);
  CHECK(s.next() == 61);
}

TEST_CASE("memory is bounded, and what does not fit is counted") {
  story s;
  for (std::size_t i = 0; i < alerts::entries_max + 7; ++i)
    s.die(0, {"default", "q" + std::to_string(i)});
  CHECK(s.value.size() == alerts::entries_max);
  CHECK(s.value.overlooked() == 7);
  CHECK(s.due(1, 100'000).size() == alerts::entries_max);
  CHECK(s.due(61, 100'000).empty());
  CHECK(s.value.size() == 0);
}

TEST_CASE("the wall clock may step, the window stays") {
  story s;
  s.die(0);
  s.only(1);
  // An hour back.
  moment now{at(10).steady, at(-3590).wall};
  auto event = happening(event_kind::job_dead, -3590);
  s.value.happened(event, now);
  CHECK(s.next() == 61);
}
