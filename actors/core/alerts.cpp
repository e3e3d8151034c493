#include "actors/core/alerts.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <utility>

#include "tidegate/messages.hpp"

namespace tidegate {

namespace {

constexpr std::array lasting_causes = {
  alert_cause::queue_held, alert_cause::queue_depth, alert_cause::queue_age};

bool is_own(const alerts::subject& whose) {
  return whose.project == default_project && whose.queue == alerts_queue;
}

/// Whether it is seen by looks only.
bool is_measured(alert_cause cause) {
  return cause == alert_cause::queue_depth || cause == alert_cause::queue_age;
}

std::uint64_t whole_seconds(std::chrono::seconds span) {
  return static_cast<std::uint64_t>(span.count());
}

} // namespace

const char* to_string(alert_cause cause) {
  switch (cause) {
    case alert_cause::job_dead:
      return "job_dead";
    case alert_cause::queue_held:
      return "queue_held";
    case alert_cause::queue_depth:
      return "queue_depth";
    case alert_cause::queue_age:
      return "queue_age";
  }
  return "unknown";
}

const char* to_string(alert_state state) {
  switch (state) {
    case alert_state::firing:
      return "firing";
    case alert_state::resolved:
      return "resolved";
  }
  return "unknown";
}

alerts::alerts(const alert_settings& settings) : settings_(settings) {
  // nop
}

bool alerts::watches(alert_cause cause) const {
  return cause == alert_cause::job_dead ? settings_.dead : limit_of(cause) > 0;
}

std::uint64_t alerts::limit_of(alert_cause cause) const {
  switch (cause) {
    case alert_cause::job_dead:
      return 0;
    case alert_cause::queue_held:
      return whole_seconds(settings_.held);
    case alert_cause::queue_depth:
      return settings_.depth;
    case alert_cause::queue_age:
      return whole_seconds(settings_.age);
  }
  return 0;
}

/// Returns the end where nothing of the kind is kept. Whoever gets an entry
/// calls `reschedule` when it has changed it.
auto alerts::find_or_make(alert_cause cause, const subject& whose)
  -> entry_map::iterator {
  if (!watches(cause) || is_own(whose))
    return entries_.end();
  auto i = entries_.find({cause, whose});
  if (i != entries_.end())
    return i;
  if (entries_.size() == entries_max) {
    ++overlooked_;
    return entries_.end();
  }
  return entries_.emplace(key{cause, whose}, entry{}).first;
}

// -- facts --------------------------------------------------------------------

void alerts::happened(const service_event& event, moment now) {
  subject whose{event.project, event.queue};
  auto ago = std::max(duration{0}, now.wall - event.at);
  switch (event.kind) {
    case event_kind::job_dead:
    case event_kind::message_dead:
      if (event.reason != dead_reason::cancelled)
        died(event, now);
      break;
    case event_kind::queue_held:
    case event_kind::queue_released:
    case event_kind::queue_probing:
      if (event.limit_key.empty())
        shut(whose, event.is_message ? queue_kind::pull : queue_kind::push, ago,
             event.release_at, now);
      break;
    case event_kind::queue_opened:
      if (event.limit_key.empty())
        over(alert_cause::queue_held, whose, now);
      break;
    case event_kind::queue_deleted:
      for (auto cause : lasting_causes)
        if (auto i = entries_.find({cause, whose});
            i != entries_.end() && i->second.on)
          gone(i, now);
      break;
    default:
      break;
  }
}

void alerts::died(const service_event& event, moment now) {
  auto i = find_or_make(alert_cause::job_dead, {event.project, event.queue});
  if (i == entries_.end())
    return;
  auto& e = i->second;
  if (!e.on) {
    begin(e, duration{0}, now);
    e.since = event.at;
    e.count = 0;
  }
  e.kind = event.kind == event_kind::message_dead ? queue_kind::pull
                                                  : queue_kind::push;
  ++e.count;
  e.until = event.at;
  e.job = event.job;
  e.reason = event.reason;
  reschedule(i, now);
}

void alerts::shut(const subject& whose, queue_kind kind, duration for_so_long,
                  std::optional<wall_time> until, moment now) {
  auto i = find_or_make(alert_cause::queue_held, whose);
  if (i == entries_.end())
    return;
  auto& e = i->second;
  // What happens while the first look goes on says less than that look about
  // gates that were shut before.
  auto longer = look_ == 1 && now.steady - e.since_steady < for_so_long;
  if (!e.on || e.assumed || longer)
    begin(e, for_so_long, now);
  e.kind = kind;
  e.until = until ? until : e.until;
  e.look = look_;
  reschedule(i, now);
}

void alerts::begin(entry& e, duration ago, moment now) const {
  e.on = true;
  e.assumed = false;
  e.gone = false;
  e.since = now.wall - ago;
  e.since_steady = now.steady - ago;
  e.until.reset();
}

void alerts::over(alert_cause cause, const subject& whose, moment now) {
  auto i = entries_.find({cause, whose});
  if (i != entries_.end() && i->second.on)
    over(i, now);
}

void alerts::over(entry_map::iterator i, moment now) {
  auto& e = i->second;
  e.on = false;
  e.assumed = false;
  e.until = now.wall;
  reschedule(i, now);
}

void alerts::gone(entry_map::iterator i, moment now) {
  i->second.gone = true;
  over(i, now);
}

// -- looks --------------------------------------------------------------------

void alerts::begin_look(moment now) {
  ++look_;
  look_before_begun_ = look_begun_;
  look_begun_ = now.steady;
}

void alerts::looked_at(const subject& whose, const figures& what, moment now) {
  // One that is held no longer and that nobody waits for keeps nobody waiting.
  auto idle = what.depth == 0 && what.held_until
              && *what.held_until <= now.wall;
  if (what.shut_since && !idle) {
    auto shut_for = std::max(duration{0}, now.wall - *what.shut_since);
    // At the look before it was open, or was known to be shut.
    if (look_ > 1)
      shut_for = std::min(shut_for, now.steady - look_before_begun_);
    shut(whose, what.kind, shut_for, what.held_until, now);
  } else {
    over(alert_cause::queue_held, whose, now);
  }
  measured(alert_cause::queue_depth, whose, what, what.depth > settings_.depth,
           now);
  measured(alert_cause::queue_age, whose, what,
           what.oldest_age > settings_.age && !whose.queue.ends_with(".dlq"),
           now);
}

void alerts::measured(alert_cause cause, const subject& whose,
                      const figures& what, bool passed, moment now) {
  auto i = passed ? find_or_make(cause, whose) : entries_.find({cause, whose});
  if (i == entries_.end())
    return;
  auto& e = i->second;
  e.kind = what.kind;
  e.count = what.depth;
  e.span = what.oldest_age.value_or(duration{0});
  e.look = look_;
  if (!passed && e.on)
    over(i, now);
  if (!passed)
    return;
  if (!e.on)
    begin(e, duration{0}, now);
  e.assumed = false;
  reschedule(i, now);
}

void alerts::unanswered(const subject& whose) {
  for (auto cause : lasting_causes)
    if (auto i = entries_.find({cause, whose}); i != entries_.end())
      i->second.look = look_;
}

void alerts::end_look(moment now) {
  for (auto i = entries_.begin(); i != entries_.end();) {
    auto at = i++;
    const auto& e = at->second;
    if (at->first.cause != alert_cause::job_dead && e.on && e.look < look_)
      gone(at, now);
  }
}

void alerts::remember(alert_cause cause, alert_state state,
                      const subject& whose, wall_time at, wall_time since,
                      moment now) {
  auto i = find_or_make(cause, whose);
  if (i == entries_.end())
    return;
  auto& e = i->second;
  auto ago = std::max(duration{0}, now.wall - at);
  auto lasts = cause != alert_cause::job_dead;
  if (state == alert_state::firing)
    e.said = now.steady - ago;
  e.open = lasts && state == alert_state::firing;
  if (e.open && !e.on) {
    begin(e, std::max(duration{0}, now.wall - since), now);
    e.assumed = true;
  }
  if (!e.open && e.assumed)
    e.on = e.assumed = false;
  reschedule(i, now);
}

void alerts::remember_deaths(const subject& whose, const deaths& what,
                             moment now) {
  if (what.count == 0)
    return;
  auto i = find_or_make(alert_cause::job_dead, whose);
  if (i == entries_.end())
    return;
  auto& e = i->second;
  auto first = !e.on;
  if (first) {
    begin(e, duration{0}, now);
    e.count = 0;
  }
  e.kind = what.kind;
  e.since = first ? what.since : std::min(e.since, what.since);
  e.count += what.count;
  if (!e.until || *e.until <= what.until) {
    e.until = what.until;
    e.job = what.job;
    e.reason = what.reason;
  }
  reschedule(i, now);
}

// -- alerts -------------------------------------------------------------------

/// Returns when it has to be looked after, nothing where only a fact can change
/// something. An entry of which nothing is to be known has its turn now.
std::optional<steady_time> alerts::turn_of(alert_cause cause, const entry& e,
                                           moment now) const {
  if (e.assumed)
    return std::nullopt;
  auto free = e.said ? after(*e.said, settings_.window) : now.steady;
  if (!e.on)
    return e.open ? now.steady : free;
  // Where it has to wait, the look after that has newer figures.
  if (is_measured(cause))
    return free <= now.steady ? std::optional{now.steady} : std::nullopt;
  duration wait{0};
  if (cause == alert_cause::job_dead)
    wait = gathering;
  else if (cause == alert_cause::queue_held)
    wait = settings_.held;
  return e.said ? std::max(free, after(e.since_steady, wait))
                : after(e.since_steady, wait);
}

/// Gives an entry its turn, or drops it where nothing is to be known of it any
/// more.
void alerts::reschedule(entry_map::iterator i, moment now) {
  auto& e = i->second;
  if (e.turn)
    turns_.erase(*e.turn);
  e.turn.reset();
  auto at = turn_of(i->first.cause, e, now);
  auto idle = !e.on && !e.open;
  if (idle && *at <= now.steady)
    entries_.erase(i);
  else if (at)
    e.turn = turns_.emplace(*at, &i->first);
}

std::vector<alert> alerts::due(moment now, std::size_t max) {
  std::vector<alert> result;
  while (!turns_.empty() && turns_.begin()->first <= now.steady
         && result.size() < max) {
    auto i = entries_.find(*turns_.begin()->second);
    auto& e = i->second;
    if (e.on || e.open)
      result.push_back(tell(i, now));
    if (e.on) {
      e.said = now.steady;
      e.open = i->first.cause != alert_cause::job_dead;
      e.on = e.open;
    } else {
      e.open = false;
    }
    reschedule(i, now);
  }
  return result;
}

alert alerts::tell(entry_map::iterator i, moment now) const {
  const auto& [what, e] = *i;
  alert result;
  result.cause = what.cause;
  result.state = e.on ? alert_state::firing : alert_state::resolved;
  result.project = what.whose.project;
  result.queue = what.whose.queue;
  result.kind = e.kind;
  result.at = now.wall;
  result.since = e.since;
  result.until = e.until;
  result.limit = limit_of(what.cause);
  if (what.cause == alert_cause::queue_held)
    result.span = now.steady - e.since_steady;
  else if (what.cause == alert_cause::queue_age)
    result.span = e.span;
  else
    result.count = e.count;
  result.job = e.job;
  result.reason = e.reason;
  result.gone = e.gone;
  return result;
}

std::optional<steady_time> alerts::next_wakeup() const {
  if (turns_.empty())
    return std::nullopt;
  return turns_.begin()->first;
}

// -- marks --------------------------------------------------------------------

namespace {

/// Lower case: firing; upper case: resolved. By cause.
constexpr std::string_view firing_letters = "dhqa";
constexpr std::string_view resolved_letters = "-HQA";

/// Deaths are not undone.
constexpr char unsaid = '-';

} // namespace

std::string to_key(const alert& what) {
  auto letters = what.state == alert_state::firing ? firing_letters
                                                   : resolved_letters;
  auto second = std::chrono::floor<std::chrono::seconds>(what.at)
                  .time_since_epoch()
                  .count();
  std::array<char, 20> digits;
  auto end =
    std::to_chars(digits.data(), digits.data() + digits.size(), second, 36).ptr;
  std::string result{letters[static_cast<std::size_t>(what.cause)]};
  result += '/' + what.project + '/' + what.queue + '/';
  return result.append(digits.data(), end);
}

std::optional<alert_mark> parse_alert_key(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t from = 0; from <= text.size();) {
    auto slash = std::min(text.find('/', from), text.size());
    parts.push_back(text.substr(from, slash - from));
    from = slash + 1;
  }
  if (parts.size() != 4 || parts[0].size() != 1 || parts[1].empty()
      || parts[2].empty() || parts[3].empty())
    return std::nullopt;
  std::int64_t second = 0;
  auto last = parts[3].data() + parts[3].size();
  auto [end, ec] = std::from_chars(parts[3].data(), last, second, 36);
  if (ec != std::errc{} || end != last)
    return std::nullopt;
  auto firing = firing_letters.find(parts[0].front());
  auto resolved = resolved_letters.find(parts[0].front());
  if (firing == resolved || parts[0].front() == unsaid)
    return std::nullopt;
  alert_mark result;
  result.state = firing != std::string_view::npos ? alert_state::firing
                                                  : alert_state::resolved;
  result.cause = static_cast<alert_cause>(std::min(firing, resolved));
  result.whose = {std::string{parts[1]}, std::string{parts[2]}};
  return result;
}

} // namespace tidegate
