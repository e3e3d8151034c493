// How a pull queue actor moves messages back to where they came from: they are
// read, then the queues found that they came from, then they are moved.

#include <algorithm>
#include <unordered_map>

#include <caf/make_message.hpp>
#include <caf/result.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include "actors/operation_book.hpp"
#include "actors/pull_actor.hpp"

namespace tidegate {

namespace {

constexpr std::size_t sample_max = 10;

/// Messages a second where nobody says how many.
constexpr double usual_pace = 1000;

job_filter meant_by(const redrive_messages& request) {
  job_filter result;
  result.since = request.since;
  result.until = request.until;
  // Which one does not matter: there is only one.
  if (request.moved_only)
    result.reason = dead_reason::attempts_exhausted;
  return result;
}

bool fits(const job& m, const job_filter& filter) {
  auto at = m.dead_lettered_at.value_or(m.eligible_at);
  return m.status != job_status::awaiting_ack
         && (!filter.reason || m.dead_lettered_at)
         && (!filter.since || at >= *filter.since)
         && (!filter.until || at < *filter.until);
}

std::uint64_t count_moves(const std::vector<record>& records) {
  auto moves = std::count_if(records.begin(), records.end(), [](const auto& r) {
    return std::holds_alternative<move_message>(r);
  });
  return static_cast<std::uint64_t>(moves);
}

/// Returns how many of the moves in `message` have taken place.
std::uint64_t count_moved(const committed& message) {
  std::uint64_t result = 0;
  for (std::size_t n = 0; n < message.records.size(); ++n)
    if (std::holds_alternative<move_message>(message.records[n]))
      result += message.answers[n].done;
  return result;
}

} // namespace

/// Messages that are being moved back, or shown as if they were.
struct pull_state::redrive {
  std::uint64_t generation = 0;
  job_filter filter;
  std::string source;
  std::uint64_t limit = redriven_at_once_max;

  /// Those that were named, in order, and how many have been asked for.
  std::vector<message_id> named;
  std::size_t asked = 0;

  std::vector<job> messages;
  std::unordered_map<std::string, std::optional<queue_id>> sources;
  std::size_t missing = 0;

  /// Called when all has been read. Else they are moved.
  std::function<void(redrive&)> read;

  /// Called with what moves them.
  std::function<void(pull_transition&&)> decided;
  std::function<void(const error&)> failed;

  void name(std::vector<message_id> ids) {
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    named = std::move(ids);
  }

  void take(job&& m) {
    auto is_meant = named.empty()
                    || std::binary_search(named.begin(), named.end(),
                                          message_id{m.id.seq, m.id.tag});
    if (messages.size() >= limit || !is_meant || !fits(m, filter))
      return;
    if (messages.size() >= sample_max)
      m.payload = {};
    messages.push_back(std::move(m));
  }

  /// Returns the queue to which a message goes.
  const std::string& source_of(const job& m) const {
    return m.source_queue.empty() ? source : m.source_queue;
  }
};

// -- what is asked for --------------------------------------------------------

auto pull_state::handle(const redrive_messages& request)
  -> promise<redrive_result> {
  auto answer = self_->make_response_promise<redrive_result>();
  if (auto reason = unfit_for_work())
    return answer.deliver(to_caf(*reason));
  if (request.ids.empty())
    redrive_all(request, answer);
  else
    redrive_named(request, answer);
  return answer;
}

void pull_state::redrive_named(const redrive_messages& request,
                               promise<redrive_result> answer) {
  auto r = std::make_shared<redrive>();
  r->filter = meant_by(request);
  r->source = request.source;
  r->limit = std::min(request.limit.value_or(r->limit), r->limit);
  r->name(request.ids);
  answer_when_moved(r, answer);
  if (request.dry_run)
    r->read = [this, answer](redrive& all) mutable {
      redrive_result plan{all.messages.size(), {}, {}};
      all.messages.resize(std::min(all.messages.size(), sample_max));
      for (auto& m : all.messages)
        plan.sample.push_back(queue_->view(std::move(m), env_->now()));
      answer.deliver(std::move(plan));
    };
  begin_redrive(*r);
  read_named(r);
}

void pull_state::redrive_all(const redrive_messages& request,
                             promise<redrive_result> answer) {
  self_
    ->request(env_->browser, caf::infinite,
              tidegate::count_dead_letters{id_, meant_by(request), true})
    .then(
      [this, request, answer](dead_letter_count found) mutable {
        auto count = std::min(found.count, request.limit.value_or(found.count));
        if (auto reason = unfit_for_work())
          answer.deliver(to_caf(*reason));
        else if (request.dry_run)
          plan_redrive(request, count, answer);
        else if (request.per_second || count > redriven_at_once_max)
          start_redrive(request, count, answer);
        else
          redrive_now(request, answer);
      },
      [answer](const caf::error& reason) mutable { answer.deliver(reason); });
}

void pull_state::plan_redrive(const redrive_messages& request,
                              std::uint64_t count,
                              promise<redrive_result> answer) {
  auto r = std::make_shared<redrive>();
  r->filter = meant_by(request);
  r->limit = std::min<std::uint64_t>(count, sample_max);
  r->failed = [answer](const error& reason) mutable {
    answer.deliver(to_caf(reason));
  };
  r->read = [this, count, answer](redrive& all) mutable {
    redrive_result plan{count, {}, {}};
    for (auto& m : all.messages)
      plan.sample.push_back(queue_->view(std::move(m), env_->now()));
    answer.deliver(std::move(plan));
  };
  begin_redrive(*r);
  job_page_query first;
  first.payloads = true;
  read_pages(r, first);
}

void pull_state::start_redrive(const redrive_messages& request,
                               std::uint64_t total,
                               promise<redrive_result> answer) {
  operation_record o;
  o.kind = operation_kind::redrive;
  o.queue = id_;
  o.project = project_;
  o.queue_name = name_;
  o.filter = meant_by(request);
  o.source = request.source;
  o.limit = request.limit;
  o.per_second = request.per_second.value_or(usual_pace);
  o.total = total;
  o.started_at = env_->now().wall;
  self_->request(env_->operations, caf::infinite, start_operation{o})
    .then(
      [answer, total](const operation_record& started) mutable {
        answer.deliver(redrive_result{total, {}, started});
      },
      [answer](const caf::error& reason) mutable { answer.deliver(reason); });
}

void pull_state::redrive_now(const redrive_messages& request,
                             promise<redrive_result> answer) {
  auto r = std::make_shared<redrive>();
  r->filter = meant_by(request);
  r->source = request.source;
  r->limit = std::min(request.limit.value_or(r->limit), r->limit);
  answer_when_moved(r, answer);
  begin_redrive(*r);
  read_pages(r, {});
}

void pull_state::answer_when_moved(redrive_ptr r,
                                   promise<redrive_result> answer) {
  r->failed = [answer](const error& reason) mutable {
    answer.deliver(to_caf(reason));
  };
  r->decided = [this, answer](pull_transition&& t) {
    auto count = std::make_shared<std::uint64_t>(0);
    run(
      std::move(t),
      [answer, count](const auto& failed) mutable {
        if (failed)
          answer.deliver(to_caf(*failed));
        else
          answer.deliver(redrive_result{*count, {}, {}});
      },
      [count](const committed& message) { *count = count_moved(message); });
    advance();
  };
}

auto pull_state::handle(const replay_slice& request)
  -> promise<slice_replayed> {
  auto answer = self_->make_response_promise<slice_replayed>();
  if (auto reason = unfit_for_work())
    return answer.deliver(to_caf(*reason));
  auto r = std::make_shared<redrive>();
  r->filter = tidegate::meant_by(request.progress);
  r->source = request.progress.source;
  std::vector<message_id> ids;
  for (auto id : request.ids)
    ids.push_back({id.seq, id.tag});
  r->name(std::move(ids));
  r->failed = [answer](const error& reason) mutable {
    answer.deliver(to_caf(reason));
  };
  r->decided = [this, answer, asked = request.progress](pull_transition&& t) {
    store_slice(asked, std::move(t), answer);
  };
  begin_redrive(*r);
  read_named(r);
  return answer;
}

/// Stores a slice and how far its operation is then. Where a queue has been
/// deleted on the way there, that is counted after all.
void pull_state::store_slice(operation_record progress, pull_transition&& t,
                             promise<slice_replayed> answer) {
  auto done = std::make_shared<operation_record>(std::move(progress));
  auto moves = count_moves(t.records);
  auto not_moved = std::make_shared<std::uint64_t>(0);
  done->done += moves;
  t.records.push_back(update_operation{*done});
  run(
    std::move(t),
    [this, done, not_moved, answer](const auto& failed) mutable {
      if (failed) {
        answer.deliver(to_caf(*failed));
      } else if (*not_moved == 0) {
        answer.deliver(slice_replayed{*done});
      } else {
        done->done -= *not_moved;
        store_slice(*done, {}, answer);
      }
    },
    [moves, not_moved](const committed& message) {
      *not_moved = moves - count_moved(message);
    });
  advance();
}

// -- one step after the other -------------------------------------------------

void pull_state::begin_redrive(redrive& r) {
  r.generation = generation_;
  queue_->begin_redrive();
}

void pull_state::fail_redrive(redrive& r, const error& reason) {
  if (r.generation == generation_ && queue_)
    queue_->end_redrive();
  r.failed(reason);
}

/// Reads the messages that were named, in as many steps as their payloads take.
void pull_state::read_named(redrive_ptr r) {
  std::vector<job_seq> seqs;
  for (auto n = r->asked; n < r->named.size(); ++n)
    seqs.push_back(r->named[n].seq);
  if (seqs.empty()) {
    find_sources(r);
    return;
  }
  self_->request(env_->browser, caf::infinite, read_jobs{id_, std::move(seqs)})
    .then(
      [this, r](jobs_read& found) {
        auto last = found.jobs.empty() ? job_seq{max_48_bits}
                                       : found.jobs.back().id.seq;
        while (r->asked < r->named.size() && r->named[r->asked].seq <= last)
          ++r->asked;
        for (auto& m : found.jobs)
          r->take(std::move(m));
        read_named(r);
      },
      [this, r](const caf::error& reason) {
        fail_redrive(*r, from_caf(reason));
      });
}

/// Reads messages from the oldest on, until there are enough of them.
void pull_state::read_pages(redrive_ptr r, job_page_query next) {
  next.queue = id_;
  next.filter = r->filter;
  next.dead_messages = true;
  next.limit = r->limit - r->messages.size();
  self_->request(env_->browser, caf::infinite, next)
    .then(
      [this, r, next](job_page& page) mutable {
        for (auto& m : page.jobs)
          r->take(std::move(m));
        if (!page.next_after || r->messages.size() >= r->limit) {
          find_sources(r);
          return;
        }
        next.after = *page.next_after;
        read_pages(r, next);
      },
      [this, r](const caf::error& reason) {
        fail_redrive(*r, from_caf(reason));
      });
}

void pull_state::find_sources(redrive_ptr r) {
  for (const auto& m : r->messages)
    r->sources.try_emplace(r->source_of(m));
  r->missing = r->sources.size();
  if (r->missing == 0 || r->read) {
    move_back(r);
    return;
  }
  auto one_less = [this, r] {
    if (--r->missing == 0)
      move_back(r);
  };
  for (const auto& [source, number] : r->sources)
    self_
      ->request(queues_, caf::infinite,
                find_pull_impl{project_, source, {}, false, false})
      .then(
        [this, r, source = source, one_less](const pull_impl_actor& other) {
          self_->request(other, caf::infinite, get_depth{})
            .then(
              [r, source, one_less](pull_queue_depth depth) {
                r->sources[source] = depth.id;
                one_less();
              },
              [one_less](const caf::error&) { one_less(); });
        },
        [one_less](const caf::error&) { one_less(); });
}

void pull_state::move_back(redrive_ptr r) {
  auto reason = unfit_for_work();
  if (!reason && r->generation != generation_)
    reason = error{errc::storage_unavailable, "the queue has been recovered"};
  if (reason) {
    fail_redrive(*r, *reason);
    return;
  }
  if (r->read) {
    queue_->end_redrive();
    r->read(*r);
    return;
  }
  std::vector<pull_queue::redrive_target> targets;
  for (auto& m : r->messages)
    if (auto to = r->sources[r->source_of(m)]; to && *to != id_)
      targets.push_back({std::move(m), *to});
  auto t = queue_->redrive(targets, env_->now());
  queue_->end_redrive();
  r->decided(std::move(t));
}

} // namespace tidegate
