#include "tests/testkit/faulty_store.hpp"

#include <algorithm>
#include <utility>

namespace tidegate::testkit {

namespace {

error failure(const char* what) {
  return {errc::storage_unavailable, what};
}

class faulty_store : public store {
public:
  faulty_store(std::unique_ptr<store> real,
               std::shared_ptr<store_faults> faults)
    : real_(std::move(real)), faults_(std::move(faults)) {
    // nop
  }

  result<std::vector<commit_answer>>
  commit(std::span<const record> batch) override {
    if (broken_)
      return failure("the store has not been reopened");
    if (fails_now()) {
      broken_ = true;
      ++faults_->failures;
      if (faults_->failure_keeps_data)
        static_cast<void>(real_->commit(batch));
      return failure("the disk said no");
    }
    ++faults_->commits;
    faults_->batch_max = std::max(faults_->batch_max, batch.size());
    return real_->commit(batch);
  }

  std::optional<error> reopen() override {
    if (faults_->down)
      return failure("the disk is gone");
    broken_ = false;
    return real_->reopen();
  }

  result<std::vector<queue_snapshot>> load_queues() override {
    if (faults_->down)
      return failure("the disk is gone");
    return real_->load_queues();
  }

  result<job_seq> last_job_seq() override {
    return real_->last_job_seq();
  }

  result<queue_id> last_queue_id() override {
    return real_->last_queue_id();
  }

  result<operation_id> last_operation_id() override {
    return real_->last_operation_id();
  }

  result<std::unique_ptr<store_reader>> open_reader() override {
    return real_->open_reader();
  }

private:
  bool fails_now() {
    if (faults_->down)
      return true;
    auto& left = faults_->commits_until_failure;
    if (!left || (*left)-- > 0)
      return false;
    left.reset();
    return true;
  }

  std::unique_ptr<store> real_;
  std::shared_ptr<store_faults> faults_;
  bool broken_ = false;
};

} // namespace

std::unique_ptr<store> make_faulty_store(std::unique_ptr<store> real,
                                         std::shared_ptr<store_faults> faults) {
  return std::make_unique<faulty_store>(std::move(real), std::move(faults));
}

} // namespace tidegate::testkit
