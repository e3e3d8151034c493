#include "tests/actors/back_office.hpp"

#include <algorithm>
#include <utility>

#include <caf/exit_reason.hpp>
#include <caf/result.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace tidegate::testkit {

/// Sent to itself: what it was told has taken its time.
struct time_is_up {
  std::function<void()> finish;
};

} // namespace tidegate::testkit

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::testkit::time_is_up)

namespace tidegate::testkit {

namespace {

using disk_ptr = std::shared_ptr<fake_disk>;

error no_disk() {
  return {errc::storage_unavailable, "the disk is gone"};
}

// -- what is read -------------------------------------------------------------

job_page dead_messages_of(const fake_disk& disk, const job_page_query& what) {
  job_page result;
  for (auto& [seq, job] : disk.ended) {
    auto fits =
      job.id.queue == what.queue && seq > what.after && job.dead_lettered_at
      && (!what.filter.until || *job.dead_lettered_at < *what.filter.until);
    if (!fits)
      continue;
    if (result.jobs.size() == what.limit) {
      result.next_after = result.jobs.back().id.seq;
      break;
    }
    result.jobs.push_back(job);
  }
  return result;
}

job_page page_of(const fake_disk& disk, const job_page_query& what) {
  if (what.dead_messages)
    return dead_messages_of(disk, what);
  job_page result;
  for (auto i = disk.ended.rbegin(); i != disk.ended.rend(); ++i) {
    auto& job = i->second;
    auto fits = job.id.queue == what.queue && job.id.seq < what.before
                && job.dead_letter == what.dead_letters && job.ended_at
                && (!what.filter.until || *job.ended_at < *what.filter.until);
    if (!fits)
      continue;
    if (result.jobs.size() == what.limit) {
      result.next_before = result.jobs.back().id.seq;
      break;
    }
    result.jobs.push_back(job);
  }
  return result;
}

removable_jobs removable_of(const fake_disk& disk, const find_removable& what) {
  std::vector<const job*> due;
  for (auto& [seq, job] : disk.ended)
    if (job.remove_at && *job.remove_at <= what.now)
      due.push_back(&job);
  std::stable_sort(due.begin(), due.end(), [](auto a, auto b) {
    return *a->remove_at < *b->remove_at;
  });
  due.resize(std::min(due.size(), what.limit));
  removable_jobs result;
  for (auto job : due)
    result.ids.push_back(job->id);
  return result;
}

api_keys_read keys_of(const fake_disk& disk, const read_api_keys& what) {
  if (what.known == disk.keys_version)
    return {disk.keys_version, std::nullopt};
  return {disk.keys_version, disk.keys};
}

operations_read operations_of(const fake_disk& disk) {
  operations_read result;
  for (auto& [id, op] : disk.operations)
    result.items.push_back(op);
  return result;
}

/// Reads what `f` reads, if there is a disk.
template <class F>
auto read(const disk_ptr& disk, F f) -> caf::result<decltype(f())> {
  ++disk->reads;
  if (disk->down)
    return to_caf(no_disk());
  return f();
}

reader_actor::behavior_type fake_reader(reader_actor::pointer, disk_ptr disk) {
  return {
    [](const read_jobs&) { return jobs_read{}; },
    [](const find_job&) { return job_record{}; },
    [](const find_job_by_key&) { return job_by_key{}; },
    [](const find_message&) { return message_found{}; },
    [=](const job_page_query& x) {
      return read(disk, [&] { return page_of(*disk, x); });
    },
    [](const count_dead_letters&) { return dead_letter_count{}; },
    [=](const find_removable& x) {
      return read(disk, [&] { return removable_of(*disk, x); });
    },
    [=](read_operations) {
      return read(disk, [&] { return operations_of(*disk); });
    },
    [=](const read_api_keys& x) {
      return read(disk, [&] { return keys_of(*disk, x); });
    },
    [=](const get_usage&) {
      return read(disk, [&] { return usage_list{disk->usage}; });
    },
  };
}

// -- what is written ----------------------------------------------------------

commit_answer apply(fake_disk& disk, const record& what) {
  commit_answer result;
  if (auto add = std::get_if<insert_operation>(&what)) {
    disk.operations[add->operation.id] = add->operation;
    disk.last_operation = std::max(disk.last_operation, add->operation.id);
  } else if (auto update = std::get_if<update_operation>(&what)) {
    if (auto i = disk.operations.find(update->operation.id);
        i != disk.operations.end())
      i->second = update->operation;
  } else if (auto key = std::get_if<insert_api_key>(&what)) {
    disk.keys.push_back(key->key);
    auto number = static_cast<std::uint32_t>(++disk.keys_version);
    disk.keys.back().id = result.key = api_key_id{number};
  } else if (auto gone = std::get_if<remove_api_key>(&what)) {
    result.done = std::erase_if(disk.keys,
                                [&](const auto& k) { return k.id == gone->id; })
                  > 0;
    ++disk.keys_version;
  }
  return result;
}

persistence_actor::behavior_type
fake_persistence(persistence_actor::pointer self, disk_ptr disk) {
  return {
    [=](commit_request& request, const committer& sender) {
      std::vector<commit_answer> answers;
      auto stored = disk->commit([&] {
        for (const auto& what : request.records)
          answers.push_back(apply(*disk, what));
      });
      if (stored)
        self->send(sender, committed{request.ticket, request.records, answers});
      else
        self->send(sender, commit_failed{request.ticket, no_disk(), {}});
    },
    [](flush) {},
    [](attach_queue) { return queue_snapshot{}; },
    [](load_queues) { return stored_queues{}; },
    [](check_store) { return store_usable{}; },
    [=](read_last_operation) {
      return read(disk, [&] { return last_operation{disk->last_operation}; });
    },
  };
}

// -- queues -------------------------------------------------------------------

struct queue_desk {
  std::shared_ptr<fake_queue> queue;
  disk_ptr disk;
  virtual_system* system;
};

using fake_queue_actor = queue_upkeep::extend<caf::reacts_to<time_is_up>>;

/// Answers with what `work` returns once that has taken its time.
template <class Answer>
caf::typed_response_promise<Answer>
answer_later(fake_queue_actor::pointer self, const queue_desk& desk,
             std::function<std::optional<Answer>()> work) {
  auto answer = self->make_response_promise<Answer>();
  auto& q = *desk.queue;
  q.under_way_max = std::max(q.under_way_max, ++q.under_way);
  auto finish = [=, queue = desk.queue, life = q.life]() mutable {
    --queue->under_way;
    std::optional<Answer> result;
    if (life == queue->life)
      result = work();
    if (result)
      answer.deliver(std::move(*result));
    else
      answer.deliver(to_caf(no_disk()));
  };
  if (q.takes == duration{0})
    finish();
  else
    self->delayed_send(self, q.takes, time_is_up{finish});
  return answer;
}

std::optional<jobs_removed> remove_from(const queue_desk& desk,
                                        const remove_ended& what) {
  jobs_removed result;
  if (desk.queue->passes_over)
    return result;
  auto stored = desk.disk->commit([&] {
    for (auto seq : what.seqs)
      result.count += desk.disk->ended.erase(seq);
  });
  return stored ? std::optional{result} : std::nullopt;
}

std::optional<slice_replayed> replay_on(const queue_desk& desk,
                                        const replay_slice& what) {
  slice_replayed result{what.progress};
  auto stored = desk.disk->commit([&] {
    for (auto id : what.ids) {
      if (desk.disk->ended.erase(id.seq) == 0)
        continue;
      ++desk.disk->replayed[id.seq];
      ++result.progress.done;
    }
    apply(*desk.disk, update_operation{result.progress});
  });
  return stored ? std::optional{result} : std::nullopt;
}

fake_queue_actor::behavior_type fake_queue_of(fake_queue_actor::pointer self,
                                              queue_desk desk) {
  return {
    [=](const remove_ended& x) {
      desk.queue->removals.push_back(
        {desk.system->now().steady, x.seqs.size()});
      return answer_later<jobs_removed>(self, desk,
                                        [=] { return remove_from(desk, x); });
    },
    [=](const replay_slice& x) {
      desk.queue->slices.push_back({desk.system->now().steady, x.ids.size()});
      return answer_later<slice_replayed>(self, desk,
                                          [=] { return replay_on(desk, x); });
    },
    [](permits_granted) {},
    [](time_is_up& x) { x.finish(); },
  };
}

using known_queues = std::map<queue_id, queue_upkeep>;

queue_directory::behavior_type
fake_directory(queue_directory::pointer, std::shared_ptr<known_queues> known) {
  return {[known](find_upkeep x) -> caf::result<queue_upkeep> {
    auto i = known->find(x.id);
    if (i == known->end())
      return to_caf({errc::queue_not_found, "no such queue"});
    return i->second;
  }};
}

moment some_moment() {
  // 2026-01-01T00:00:00Z
  return {steady_time{std::chrono::seconds{1}},
          wall_time{std::chrono::seconds{1'767'225'600}}};
}

} // namespace

bool fake_disk::commit(const std::function<void()>& what) {
  auto fails = down;
  if (auto& left = commits_until_failure; !fails && left && (*left)-- == 0) {
    fails = true;
    left.reset();
  }
  if (!fails || (failure_keeps_data && !down))
    what();
  return !fails;
}

void fake_disk::add_dead(queue_id queue, std::uint64_t seq, wall_time ended_at,
                         wall_time remove_at) {
  job result;
  result.id = {queue, job_seq{seq}, seq};
  result.status = job_status::dead;
  result.dead_letter = true;
  result.ended_at = ended_at;
  result.remove_at = remove_at;
  ended[job_seq{seq}] = result;
}

void fake_disk::add_dead_message(queue_id queue, std::uint64_t seq,
                                 wall_time moved_at) {
  job result;
  result.id = {queue, job_seq{seq}, seq};
  result.dead_lettered_at = moved_at;
  ended[job_seq{seq}] = result;
}

back_office::back_office(std::uint64_t seed)
  : system_(std::make_unique<virtual_system>(some_moment(), seed)),
    disk_(std::make_shared<fake_disk>()),
    known_(std::make_shared<known_queues>()) {
  auto& host = system_->get();
  for (std::uint32_t number : {1, 2}) {
    auto q = std::make_shared<fake_queue>();
    q->id = queue_id{number};
    queues_[q->id] = q;
    known_->emplace(q->id, host.spawn(fake_queue_of,
                                      queue_desk{q, disk_, system_.get()}));
  }
  auto env = std::make_shared<environment>();
  env->now = [system = system_.get()] { return system->now(); };
  env->persistence = host.spawn(fake_persistence, disk_);
  env->browser = host.spawn(fake_reader, disk_);
  env_ = env;
  directory_ = host.spawn(fake_directory, known_);
}

back_office::~back_office() {
  auto stop = [](const auto& actor) {
    caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
  };
  for (auto& [id, actor] : *known_)
    stop(actor);
  stop(env_->persistence);
  stop(env_->browser);
  stop(directory_);
  system_->run();
}

} // namespace tidegate::testkit
