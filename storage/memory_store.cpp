#include "tidegate/memory_store.hpp"

#include <unordered_map>
#include <utility>

#include "storage/guarded.hpp"
#include "storage/memory_changes.hpp"
#include "storage/memory_reader.hpp"

namespace tidegate {

namespace {

using contents_ptr = std::shared_ptr<memory_contents>;

live_job narrow(const job& what) {
  return {what.id.seq,           what.due,         what.expires_at,
          what.created_at,       what.waits_for,   what.status,
          what.started_delivery, what.priority,    what.background,
          what.limit_key,        what.eligible_at, what.id.tag,
          what.attempts,         what.deliveries,  what.replays};
}

// -- store --------------------------------------------------------------------

class memory_store : public store {
public:
  explicit memory_store(contents_ptr contents)
    : contents_(std::move(contents)) {
    // nop
  }

  result<std::vector<commit_answer>>
  commit(std::span<const record> batch) override {
    using answer = result<std::vector<commit_answer>>;
    if (broken_)
      return error{
        errc::storage_unavailable,
        "an earlier commit failed and the store has not been reopened"};
    broken_ = true;
    auto done = guarded([&]() -> answer { return commit_now(batch); });
    broken_ = !done;
    return done;
  }

  std::optional<error> reopen() override {
    broken_ = false;
    return std::nullopt;
  }

  result<std::vector<queue_snapshot>> load_queues() override {
    std::lock_guard guard{contents_->mutex};
    std::vector<queue_snapshot> snapshots;
    std::unordered_map<queue_id, std::size_t> place;
    for (auto& [id, queue] : contents_->queues) {
      place.emplace(id, snapshots.size());
      snapshots.push_back({queue, {}, {}});
    }
    for (auto& [seq, stored] : contents_->live)
      snapshots[place.at(stored.job.id.queue)].jobs.push_back(
        narrow(stored.job));
    for (auto& [key, stored] : contents_->limit_keys)
      snapshots[place.at(key.first)].keys.push_back(stored);
    return snapshots;
  }

  result<job_seq> last_job_seq() override {
    std::lock_guard guard{contents_->mutex};
    return contents_->last_job;
  }

  result<queue_id> last_queue_id() override {
    std::lock_guard guard{contents_->mutex};
    return contents_->last_queue;
  }

  result<operation_id> last_operation_id() override {
    std::lock_guard guard{contents_->mutex};
    return contents_->last_operation;
  }

  result<std::unique_ptr<store_reader>> open_reader() override {
    return make_memory_reader(contents_);
  }

private:
  result<std::vector<commit_answer>> commit_now(std::span<const record> batch) {
    std::lock_guard guard{contents_->mutex};
    memory_changes changes{*contents_};
    std::vector<commit_answer> answers(batch.size());
    auto answer = answers.begin();
    for (auto& change : batch)
      if (auto reason = changes.apply(change, *answer++))
        return *reason;
    changes.keep();
    return answers;
  }

  contents_ptr contents_;
  bool broken_ = false;
};

} // namespace

// -- making -------------------------------------------------------------------

std::shared_ptr<memory_contents> make_memory_contents() {
  return std::make_shared<memory_contents>();
}

std::unique_ptr<store> make_memory_store() {
  return make_memory_store(make_memory_contents());
}

std::unique_ptr<store>
make_memory_store(std::shared_ptr<memory_contents> contents) {
  return std::make_unique<memory_store>(std::move(contents));
}

} // namespace tidegate
