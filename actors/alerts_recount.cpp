// How the ALERTS actor finds, after a restart, deaths that were not told before
// it: queue by queue, among the dead letters.

#include <algorithm>
#include <utility>

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/alerts_actor.hpp"

namespace tidegate {

namespace {

/// Until what failed is tried again.
constexpr duration retry_pause = std::chrono::seconds{1};

/// Dead letters that are read at a time, and how often for one queue: beyond
/// that deaths are not told. Messages come with their payloads.
constexpr std::size_t jobs_page = 1000;
constexpr std::size_t job_pages_max = 10;
constexpr std::size_t messages_page = 100;
constexpr std::size_t message_pages_max = 100;

} // namespace

void alerts_state::begin_recount() {
  if (!options_.settings.dead)
    return;
  // The newest comes first.
  for (const auto& each : past_)
    if (each.mark.cause == alert_cause::job_dead)
      told_.try_emplace(each.mark.whose, each.at);
  if (base_ >= started_)
    return;
  self_->request(queues_, caf::infinite, list_meters{})
    .then(
      [this](const meter_list& all) {
        for (const auto& each : all.items)
          to_recount_.push_back({each.project, each.name});
        recount_next();
      },
      [](const caf::error&) {
        // The registry is gone, and so is everything else.
      });
}

/// Counts one queue after the other, so that nobody has to wait for all of
/// them.
void alerts_state::recount_next() {
  if (to_recount_.empty()) {
    told_.clear();
    return;
  }
  auto r = std::make_shared<recount>();
  r->where = std::move(to_recount_.back());
  to_recount_.pop_back();
  recount_push(r);
}

wall_time alerts_state::told_until(const alerts::subject& whose) const {
  auto i = told_.find(whose);
  return i == told_.end() ? base_ : i->second;
}

void alerts_state::recount_push(const recount_ptr& r) {
  self_
    ->request(registry_, caf::infinite,
              find_queue{r->where.queue, r->where.project})
    .then([this, r](const queue_actor& found) { list_jobs_of(r, found); },
          [this, r](const caf::error& reason) {
            if (from_caf(reason).code == errc::wrong_queue_kind)
              recount_pull(r);
            else
              recount_failed(*r, reason);
          });
}

void alerts_state::recount_pull(const recount_ptr& r) {
  self_
    ->request(registry_, caf::infinite,
              find_pull_queue{r->where.project, r->where.queue, false})
    .then([this,
           r](const pull_queue_actor& found) { list_messages_of(r, found); },
          [this, r](const caf::error& reason) { recount_failed(*r, reason); });
}

void alerts_state::list_jobs_of(const recount_ptr& r,
                                const queue_actor& queue) {
  list_jobs what;
  what.dead_letters = true;
  what.filter.since = told_until(r->where);
  what.filter.until = started_;
  what.before = r->before;
  what.limit = jobs_page;
  self_->request(queue, caf::infinite, std::move(what))
    .then(
      [this, r, queue](const job_list& page) {
        for (const auto& item : page.items) {
          const auto& j = item.record.job;
          if (j.ended_at)
            count_death(*r,
                        {queue_kind::push, 1, *j.ended_at, *j.ended_at, j.id,
                         j.dead_reason},
                        r->where);
        }
        r->before = page.next_before.value_or(job_seq{});
        if (page.next_before && ++r->pages < job_pages_max)
          list_jobs_of(r, queue);
        else
          recounted(*r);
      },
      [this, r](const caf::error& reason) { recount_failed(*r, reason); });
}

/// Any pull queue may hold dead letters, of several others, too.
void alerts_state::list_messages_of(const recount_ptr& r,
                                    const pull_queue_actor& queue) {
  list_dead_messages what;
  what.since = base_;
  what.until = started_;
  what.before = r->before;
  what.limit = messages_page;
  self_->request(queue, caf::infinite, std::move(what))
    .then(
      [this, r, queue](const message_page& page) {
        for (const auto& item : page.items) {
          const auto& m = item.job;
          auto at = m.dead_lettered_at;
          if (at && !m.source_queue.empty())
            count_death(
              *r, {queue_kind::pull, 1, *at, *at, m.id, dead_reason::none},
              {r->where.project, m.source_queue});
        }
        r->before = page.next_before.value_or(job_seq{});
        if (page.next_before && ++r->pages < message_pages_max)
          list_messages_of(r, queue);
        else
          recounted(*r);
      },
      [this, r](const caf::error& reason) { recount_failed(*r, reason); });
}

/// Adds one death, if it is untold.
void alerts_state::count_death(recount& r, alerts::deaths what,
                               alerts::subject whose) const {
  if (what.until < told_until(whose) || what.until >= started_)
    return;
  auto [i, first] = r.found.try_emplace(std::move(whose), what);
  auto& sum = i->second;
  if (first)
    return;
  ++sum.count;
  sum.since = std::min(sum.since, what.since);
  if (sum.until < what.until) {
    sum.until = what.until;
    sum.job = what.job;
    sum.reason = what.reason;
  }
}

void alerts_state::recounted(const recount& r) {
  auto now = now_();
  for (const auto& [whose, what] : r.found)
    alerts_->remember_deaths(whose, what, now);
  recount_next();
  advance();
}

/// A queue that is gone has none. What else failed, such as because the queue
/// is still being recovered, is tried again.
void alerts_state::recount_failed(const recount& r, const caf::error& reason) {
  if (from_caf(reason).code != errc::queue_not_found) {
    to_recount_.push_back(r.where);
    recount_at_ = now_().steady + retry_pause;
    advance();
    return;
  }
  recount_next();
}

} // namespace tidegate
