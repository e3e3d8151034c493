#include "tidegate/sqlite_store.hpp"

#include <optional>
#include <utility>

#include "storage/data_file.hpp"
#include "storage/guarded.hpp"
#include "storage/sqlite_reader.hpp"
#include "storage/sqlite_writer.hpp"

namespace tidegate {

namespace {

error broken() {
  return {errc::storage_unavailable,
          "an earlier commit failed and the store has not been reopened"};
}

/// Says of which file `reason` speaks.
error naming(const std::filesystem::path& file, const error& reason) {
  return {reason.code, file.string() + ": " + reason.message};
}

class sqlite_store : public store {
public:
  sqlite_store(sqlite_options options, data_file_claim claim,
               std::unique_ptr<sqlite_writer> first)
    : options_(std::move(options)), claim_(std::move(claim)),
      writer_(std::move(first)) {
    // nop
  }

  result<std::vector<commit_answer>>
  commit(std::span<const record> batch) override {
    using answer = result<std::vector<commit_answer>>;
    if (broken_)
      return broken();
    // Pessimistic, so that it also holds where the commit throws.
    broken_ = true;
    auto done = guarded([&]() -> answer { return writer_->commit(batch); });
    broken_ = !done;
    return done;
  }

  std::optional<error> reopen() override {
    using answer = std::optional<error>;
    broken_ = true;
    auto reason = guarded([this]() -> answer { return replace_writer(); });
    broken_ = reason.has_value();
    return reason;
  }

  result<std::vector<queue_snapshot>> load_queues() override {
    using answer = result<std::vector<queue_snapshot>>;
    auto loaded =
      guarded([this]() -> answer { return writer_->load_queues(); });
    if (!loaded)
      return naming(options_.file, loaded.reason());
    return loaded;
  }

  result<job_seq> last_job_seq() override {
    using answer = result<job_seq>;
    return guarded([this]() -> answer { return writer_->last_job_seq(); });
  }

  result<queue_id> last_queue_id() override {
    using answer = result<queue_id>;
    return guarded([this]() -> answer { return writer_->last_queue_id(); });
  }

  result<operation_id> last_operation_id() override {
    using answer = result<operation_id>;
    return guarded([this]() -> answer { return writer_->last_operation_id(); });
  }

  result<std::unique_ptr<store_reader>> open_reader() override {
    using answer = result<std::unique_ptr<store_reader>>;
    auto opened = guarded([this]() -> answer {
      return open_sqlite_reader(options_.file, options_.vfs,
                                options_.busy_timeout);
    });
    if (!opened)
      return naming(options_.file, opened.reason());
    return opened;
  }

private:
  // A batch whose commit failed may stand in the log all the same, and would be
  // taken for a good one by whoever reads the log from its beginning, which the
  // first connection does. So the old connection stays open, and with it the
  // knowledge where the log really ends, until the new one has written its
  // probe over the failed batch.
  std::optional<error> replace_writer() {
    auto next = sqlite_writer::open(options_);
    if (!next)
      return next.reason();
    if (auto reason = (*next)->check())
      return reason;
    if (auto reason = (*next)->probe())
      return reason;
    writer_ = std::move(*next);
    return std::nullopt;
  }

  sqlite_options options_;
  data_file_claim claim_;
  std::unique_ptr<sqlite_writer> writer_;
  bool broken_ = false;
};

result<std::unique_ptr<store>> open_now(const sqlite_options& options) {
  auto claim = data_file_claim::make(options.file);
  if (!claim)
    return claim.reason();
  if (auto reason = create_data_file(options.file))
    return *reason;
  auto first = sqlite_writer::open(options);
  if (!first)
    return naming(options.file, first.reason());
  return std::unique_ptr<store>{std::make_unique<sqlite_store>(
    options, std::move(*claim), std::move(*first))};
}

} // namespace

result<std::unique_ptr<store>>
open_sqlite_store(const sqlite_options& options) {
  using answer = result<std::unique_ptr<store>>;
  return guarded([&]() -> answer { return open_now(options); });
}

} // namespace tidegate
