// Requests, store, reader and permits of the workbench.

#include <algorithm>

#include "tests/core/broken_rule.hpp"
#include "tests/core/workbench.hpp"

namespace tidegate::testing {

// -- requests about one job ---------------------------------------------------

auto workbench::ask(request&& what) -> answer_text {
  what.place = answers_.size();
  answers_.emplace_back();
  auto place = what.place;
  decide(what, nullptr);
  settle();
  return answers_[place];
}

job_decision workbench::decision_of(const request& what,
                                    const job_record* found) {
  auto job = what.order.job;
  switch (what.what) {
    case request::kind::report:
      return queue_->reported(what.order, found, what.lot, now());
    case request::kind::cancel:
      return queue_->cancel(job, found, now());
    case request::kind::run_now:
      return queue_->run_now(job, found, now());
    case request::kind::replay:
      break;
  }
  return queue_->replay(job, found, what.edited, what.background, now());
}

void workbench::decide(const request& what, const job_record* found) {
  auto before = truth_;
  watch_request(what, found);
  auto decision = decision_of(what, found);
  if (auto t = std::get_if<transition>(&decision)) {
    take(std::move(*t), what.place);
    return;
  }
  truth_ = before;
  if (auto reason = std::get_if<error>(&decision))
    answers_[what.place] = to_string(reason->code);
  else if (pending_.empty())
    read(what);
  else
    pending_.back().reads.push_back(what);
}

/// Tells the witness what a request means if it is taken.
void workbench::watch_request(const request& what, const job_record* found) {
  const auto& order = what.order;
  if (what.what == request::kind::cancel)
    truth_.cancelled(order.job);
  if (what.what != request::kind::report)
    return;
  auto owed = truth_.owed(order.job);
  auto current = owed && order.delivery.value_or(*owed) == *owed;
  const auto& settings = queue_->settings();
  if (order.what == report::kind::touch) {
    auto awaiting = truth_.awaiting();
    if (current && std::count(awaiting.begin(), awaiting.end(), order.job) > 0)
      truth_.touched(order.job, order.wait, elapsed_);
  } else if (current) {
    truth_.reported(order, settings, elapsed_);
  } else if (order.what == report::kind::defer && !is_repeat(order, found)) {
    auto key = found ? found->job.limit_key : key_of(order.job);
    truth_.only_held(order, key, settings, elapsed_);
  }
}

/// Returns whether the delivery that a fence names has been deferred already,
/// by what is stored, was read, or will be stored.
bool workbench::is_repeat(const report& what, const job_record* found) const {
  auto same = [&](const history_entry& entry) {
    return entry.delivery == what.delivery
           && entry.status == delivery_status::deferred;
  };
  auto tells = [&](const job_record& r) {
    return std::any_of(r.history.begin(), r.history.end(), same);
  };
  auto stored = store_.find(what.job);
  if ((found && tells(*found)) || (stored && tells(*stored)))
    return true;
  for (const auto& p : pending_)
    for (const auto& r : p.what.records) {
      auto update = std::get_if<update_job>(&r);
      auto end = std::get_if<end_job>(&r);
      if (update && update->job.id == what.job && update->entry
          && same(*update->entry))
        return true;
      if (end && end->job.id == what.job && end->entry && same(*end->entry))
        return true;
    }
  return false;
}

std::string workbench::key_of(job_id job) const {
  auto found = store_.find(job);
  return found ? found->job.limit_key : std::string{};
}

// -- the reader ---------------------------------------------------------------

bool workbench::awaits_permits() const {
  auto result = permits_asked_ > 0;
  for_each_undone<take_permits>([&](const auto&) { result = true; });
  return result;
}

bool workbench::awaits_loads() const {
  auto result = std::any_of(reads_.begin(), reads_.end(),
                            [](const auto& r) { return !r.wanted; });
  for_each_undone<load_jobs>([&](const auto&) { result = true; });
  return result;
}

void workbench::read(const request& what) {
  reading r;
  r.wanted = what;
  r.found = store_.find(what.order.job);
  if (loads_at_once_)
    arrive(std::move(r));
  else
    reads_.push_back(std::move(r));
}

void workbench::load() {
  if (reads_.empty())
    return;
  auto r = std::move(reads_.front());
  reads_.pop_front();
  arrive(std::move(r));
  settle();
}

void workbench::arrive(reading&& what) {
  if (!what.wanted) {
    auto t = queue_->loaded(std::move(what.loaded), now());
    must(t.has_value(), "what is asked for is there");
    note_lapses(*t);
    take(std::move(*t));
  } else if (what.found) {
    decide(*what.wanted, &*what.found);
  } else {
    queue_->unwatch(what.wanted->order.job.seq);
    answers_[what.wanted->place] = "job_not_found";
  }
}

// -- the store ----------------------------------------------------------------

void workbench::take(transition&& t, std::optional<std::size_t> place) {
  note_forgotten(t);
  if (t.records.empty()) {
    carry_out(std::move(t.effects));
    if (place && pending_.empty())
      answers_[*place] = "ok";
    else if (place)
      pending_.back().answers.push_back(*place);
    return;
  }
  pending p;
  p.what = std::move(t);
  p.after = truth_;
  if (place)
    p.answers.push_back(*place);
  pending_.push_back(std::move(p));
}

void workbench::commit() {
  if (pending_.empty())
    return;
  commit_oldest();
  settle();
}

void workbench::commit_all() {
  while (!pending_.empty())
    commit();
}

void workbench::commit_oldest() {
  auto p = std::move(pending_.front());
  pending_.pop_front();
  std::vector<commit_answer> answers;
  for (const auto& r : p.what.records)
    answers.push_back(store_.apply(r));
  committed_truth_ = p.after;
  take(queue_->committed(p.what.records, answers, now()));
  if (p.published && answers.front().existing) {
    queue_->not_stored();
  } else if (p.published) {
    ++accepted_;
    queue_->stored(std::move(*p.published), p.made, now());
  }
  carry_out(std::move(p.what.effects));
  for (auto place : p.answers)
    answers_[place] = "ok";
  for (const auto& r : p.reads)
    read(r);
}

void workbench::carry_out(std::vector<effect>&& effects) {
  for (auto& e : effects) {
    if (auto start = std::get_if<start_delivery>(&e)) {
      carry_out(*start);
    } else if (auto stop = std::get_if<stop_delivery>(&e)) {
      for (const auto& d : in_flight_)
        if (d.job.seq == stop->job && d.number == stop->number)
          aborted_.push_back({stop->job, stop->number});
    } else if (auto loads = std::get_if<load_jobs>(&e)) {
      carry_out(*loads);
    } else if (auto asked = std::get_if<take_permits>(&e)) {
      permits_asked_ = asked->count;
    } else if (auto left = std::get_if<leave_permits>(&e)) {
      free_permits_ += left->count;
    } else if (auto told = std::get_if<emit>(&e)) {
      events_.push_back(told->event);
    } else if (auto given = std::get_if<give_account>(&e)) {
      accounts_.push_back(given->what);
    }
  }
}

void workbench::carry_out(const start_delivery& what) {
  const auto& d = what.what;
  in_flight_.push_back(d);
  log_.push_back({d, key_of(d.job), d.started_at - wall_origin_});
  const auto& settings = queue_->settings();
  check_rate(log_.back(), settings.rate_limit_max, false);
  if (!log_.back().key.empty())
    check_rate(log_.back(), settings.key_rate_limit_max, true);
  auto is_token = d.probe || settings.mode == delivery_mode::ack;
  must(!tokens_[d.job.seq].contains(d.number), "no token is used twice");
  if (is_token)
    tokens_[d.job.seq].insert(d.number);
}

void workbench::carry_out(const load_jobs& what) {
  std::set<job_seq> asked{what.seqs.begin(), what.seqs.end()};
  must(!asked.empty() && asked.size() == what.seqs.size(),
       "what is asked for has a name, and one only");
  reading r;
  r.loaded = store_.load(what.seqs);
  if (loads_at_once_)
    arrive(std::move(r));
  else
    reads_.push_back(std::move(r));
}

// -- permits ------------------------------------------------------------------

void workbench::rivals_take(int count) {
  rivals_ += static_cast<std::uint32_t>(count);
  free_permits_ -= static_cast<std::uint32_t>(count);
  settle();
}

void workbench::rivals_leave() {
  rivals_take(-static_cast<int>(rivals_));
}

/// They come one by one, whenever there is one.
void workbench::share_permits() {
  if (permits_asked_ == 0 || free_permits_ == 0)
    return;
  --permits_asked_;
  --free_permits_;
  queue_->granted(1);
}

} // namespace tidegate::testing
