// What a pull queue says of its messages, and what a receiver then gets: random
// histories.

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/core/dice.hpp"
#include "tests/core/pull_bench.hpp"
#include "tests/core/replies.hpp"

using namespace tidegate;
using namespace tidegate::testing;
using kind = settle_message::kind;

namespace {

constexpr auto seeds = 400u;
constexpr auto length = 80;

/// How far the future is asked: nothing is later but what waits for a receiver.
constexpr auto horizon = std::chrono::seconds{20};

/// More than there ever are.
constexpr std::size_t all = 100;

using ids = std::vector<message_id>;

ids ids_of(const std::vector<message_view>& messages) {
  ids result;
  for (const auto& m : messages)
    result.push_back({m.job.id.seq, m.job.id.tag});
  return result;
}

/// Draws what happens to a queue, and lets it happen.
class fate : private dice {
public:
  explicit fate(unsigned seed)
    : dice(seed), settings_(draw_settings()), world_(settings_) {
    // nop
  }

  pull_bench& world() {
    return world_;
  }

  const pull_settings& settings() const {
    return settings_;
  }

  bool subscribed() const {
    return subscribed_;
  }

  const char* happen();

private:
  using deed = std::pair<const char*, void (fate::*)()>;

  pull_settings draw_settings();

  /// A message that is in the queue, most often one that is leased.
  std::optional<message_id> a_message();

  // What happens.
  void publish();
  void consume();
  void settle();
  void give_back();
  void answer();
  void subscribe_or_not();
  void change();
  void time_passes();
  void die();

  pull_settings settings_;
  pull_bench world_;
  bool subscribed_ = false;
};

pull_settings fate::draw_settings() {
  pull_settings s;
  s.fifo = one_in(2);
  s.enable_priority = !s.fifo && one_in(2);
  s.max_receive_count = one_in(3) ? 0 : from_1_to(4);
  s.visibility_timeout = seconds(from_1_to(5));
  return s;
}

std::optional<message_id> fate::a_message() {
  auto list = world_.live();
  if (!one_in(5))
    std::erase_if(list, [this](auto id) {
      return world_.status(id) != message_status::in_flight;
    });
  if (list.empty())
    return std::nullopt;
  return any(list);
}

void fate::publish() {
  if (world_.live().size() >= 12)
    return;
  publish_message what;
  if (settings_.fifo)
    what.group = std::string(1, static_cast<char>('a' + below(3)));
  else if (one_in(3))
    what.delay = tenths(40);
  if (settings_.enable_priority)
    what.priority = static_cast<std::uint8_t>(below(10));
  world_.publish(what);
}

void fate::consume() {
  if (one_in(3))
    world_.wait(from_1_to(4), tenths(40));
  else
    world_.consume(from_1_to(4));
}

void fate::settle() {
  auto id = a_message();
  if (!id)
    return;
  std::optional<receipt> handle;
  if (one_in(2))
    handle = make_receipt(*id, world_.row(*id).deliveries);
  switch (below(4)) {
    case 0:
      world_.say(kind::ack, *id, handle);
      break;
    case 1:
      world_.say(kind::nack, *id, handle, one_in(2) ? duration{0} : tenths(40));
      break;
    case 2:
      world_.say(kind::release, *id, handle);
      break;
    default:
      world_.say(kind::extend, *id, handle, seconds(from_1_to(4)));
  }
}

void fate::give_back() {
  auto id = a_message();
  if (id && world_.row(*id).started_delivery == 0)
    world_.give_back({{{*id, make_receipt(*id, world_.row(*id).deliveries)}}});
}

void fate::answer() {
  static const delivery_reply replies[] = {
    answered(200),
    answered(200),
    answered(429, {"2"}),
    answered(503, {"0.5"}),
    answered(500),
    answered(404),
    unanswered(delivery_errc::timeout),
    unanswered(delivery_errc::aborted),
  };
  if (!world_.under_way().empty())
    world_.answer(any(replies));
}

void fate::subscribe_or_not() {
  subscribed_ = !subscribed_ || one_in(2);
  if (!subscribed_)
    world_.unsubscribe();
  else
    world_.subscribe(from_1_to(3),
                     one_in(2) ? std::optional{from_1_to(3)} : std::nullopt);
}

void fate::change() {
  settings_.max_receive_count = one_in(3) ? 0 : from_1_to(4);
  settings_.visibility_timeout = seconds(from_1_to(5));
  world_.change(settings_);
}

void fate::time_passes() {
  world_.pass(tenths(30));
}

void fate::die() {
  world_.restart();
}

/// Lets something happen and returns what it was.
const char* fate::happen() {
  static constexpr deed deeds[] = {
    {"publish", &fate::publish},
    {"publish", &fate::publish},
    {"publish", &fate::publish},
    {"consume", &fate::consume},
    {"consume", &fate::consume},
    {"settle", &fate::settle},
    {"settle", &fate::settle},
    {"settle", &fate::settle},
    {"give back", &fate::give_back},
    {"answer", &fate::answer},
    {"answer", &fate::answer},
    {"subscribe or not", &fate::subscribe_or_not},
    {"change", &fate::change},
    {"time passes", &fate::time_passes},
    {"time passes", &fate::time_passes},
    {"die", &fate::die},
  };
  auto [name, what] = any(deeds);
  (this->*what)();
  return name;
}

/// Returns the messages of which a receiver who comes now is told that they
/// can be had: those that are available, of each group only the first one, and
/// none where one of them is out or will come back.
ids available(const pull_bench& w, bool fifo) {
  ids result;
  std::set<std::string> groups;
  std::set<std::string> waiting;
  for (auto id : w.live())
    if (w.status(id) != message_status::available)
      waiting.insert(w.row(id).limit_key);
  for (auto id : w.live()) {
    const auto& group = w.row(id).limit_key;
    if (w.status(id) == message_status::available
        && (!fifo || (!waiting.contains(group) && groups.insert(group).second)))
      result.push_back(id);
  }
  return result;
}

ids sorted(ids list) {
  std::sort(list.begin(), list.end());
  return list;
}

/// A receiver gets what can be had, and in the order in which it is shown.
void require_what_is_told(pull_bench w, bool fifo) {
  auto can_be_had = available(w, fifo);
  ids shown;
  std::set<std::string> groups;
  for (auto seq : w.value().next_messages(all, w.now())) {
    message_id id{seq, seq.value * 31};
    must(w.status(id) == message_status::available,
         "what would be received next is available");
    if (!fifo || groups.insert(w.row(id).limit_key).second)
      shown.push_back(id);
  }
  ids got;
  for (;;) {
    auto more = ids_of(w.consume(10));
    if (more.empty())
      break;
    got.insert(got.end(), more.begin(), more.end());
  }
  must(sorted(got) == sorted(can_be_had), "what is available can be had");
  must(fifo || got == shown, "and comes in the order in which it is shown");
  must(sorted(got) == sorted(shown), "all of it is shown");
}

/// Figures are what is told of the messages one by one.
void require_counted(pull_bench& w) {
  std::map<message_status, std::uint64_t> counts;
  for (auto id : w.live())
    ++counts[w.status(id)];
  auto v = w.value().view(w.now());
  must(v.available == counts[message_status::available], "available");
  must(v.delayed == counts[message_status::delayed], "delayed");
  must(v.in_flight == counts[message_status::in_flight], "in flight");
}

/// Returns when a message can be had, as it is told, if nothing else happens.
std::optional<wall_time> told_of(const pull_bench& w, message_id id) {
  const auto& m = w.row(id);
  auto pushed = m.started_delivery != 0;
  if (w.status(id) == message_status::available || pushed)
    return std::nullopt;
  return m.due;
}

/// What comes from now on, while somebody waits all the time, and when that was
/// told.
class future {
public:
  future(pull_bench w, bool fifo) : world_(std::move(w)), fifo_(fifo) {
    for (auto id : world_.live())
      if (auto when = told_of(world_, id))
        told_[id] = *when;
    for (const auto& [waiter, got] : world_.handed())
      heard_.insert(waiter);
  }

  void require_foretold() {
    for (auto end = world_.now().wall + horizon; world_.now().wall < end;) {
      auto waiter = world_.wait(1, horizon);
      hear();
      while (!world_.handed().contains(waiter) && world_.now().wall < end) {
        world_.pass_to_wakeup(horizon);
        hear();
      }
    }
    for (const auto& [id, when] : told_)
      must(fifo_ || !world_.value().is_live(id.seq),
           "what is told to come comes");
  }

private:
  /// Looks at what was handed out just now.
  void hear() {
    for (const auto& [waiter, got] : world_.handed())
      if (heard_.insert(waiter).second)
        for (auto id : ids_of(got))
          take(id);
  }

  void take(message_id id) {
    auto i = told_.find(id);
    if (i == told_.end())
      return;
    must(world_.now().wall >= i->second, "nothing comes before its time");
    // In a group it may have to wait for others.
    must(fifo_ || world_.now().wall == i->second,
         "what waits for a time comes at that time");
    told_.erase(i);
  }

  pull_bench world_;
  bool fifo_;
  std::map<message_id, wall_time> told_;
  std::set<waiter_id> heard_;
};

/// What may be pushed is pushed, and what is shut says so.
void require_pushed(pull_bench& w, bool fifo) {
  auto v = w.value().view(w.now());
  const auto& gate = v.queue.gate;
  must(v.posts == w.under_way().size(), "what is under way is told");
  auto shut = gate.state == gate_state::probing
              || (gate.state == gate_state::held
                  && gate.release_at > w.now().wall);
  auto full = w.under_way().size() >= v.queue.settings.concurrency;
  auto max = v.queue.settings.rate_limit_max;
  std::uint64_t started = 0;
  for (const auto& start : v.queue.rate)
    started += start.count;
  auto spent = max && started >= *max;
  must(shut || full || spent || available(w, fifo).empty(),
       "what may be pushed is pushed");
}

} // namespace

TEST_CASE(
  "what is told of a message is what receivers get, whatever the "
  "seed") {
  for (unsigned seed = 0; seed < seeds; ++seed) {
    tell_of_seed(seed, [&](progress& p) {
      fate f{seed};
      auto& w = f.world();
      for (; p.step < length; ++p.step) {
        p.last = f.happen();
        require_counted(w);
        if (f.subscribed()) {
          require_pushed(w, f.settings().fifo);
          continue;
        }
        require_what_is_told(w, f.settings().fifo);
        future{w, f.settings().fifo}.require_foretold();
      }
    });
  }
}
