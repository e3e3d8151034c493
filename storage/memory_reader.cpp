#include "storage/memory_reader.hpp"

#include <utility>

#include "storage/paging.hpp"

namespace tidegate {

namespace {

bool passes(const job_filter& filter, const job& what,
            std::optional<wall_time> instant) {
  if (filter.status && *filter.status != what.status)
    return false;
  if (filter.limit_key && *filter.limit_key != what.limit_key)
    return false;
  if (filter.reason && *filter.reason != what.dead_reason)
    return false;
  if (filter.since && !(instant && *instant >= *filter.since))
    return false;
  return !filter.until || (instant && *instant < *filter.until);
}

bool is_dead_letter(queue_id queue, const job& what) {
  return what.id.queue == queue && what.dead_letter;
}

bool is_dead_message(queue_id queue, const job& what) {
  return what.id.queue == queue && what.status != job_status::awaiting_ack;
}

bool passes_dead_message(const job_filter& filter, const job& what) {
  job_filter time;
  time.since = filter.since;
  time.until = filter.until;
  return (!filter.reason || what.dead_lettered_at)
         && passes(time, what,
                   what.dead_lettered_at.value_or(what.eligible_at));
}

// The rows of one table below a number, the newest first.
class walk {
public:
  using table = std::map<job_seq, job_record>;

  walk(const table& rows, job_seq before)
    : next_(rows.lower_bound(before)), end_(rows.rend()) {
    // nop
  }

  const job* row() const {
    return next_ == end_ ? nullptr : &next_->second.job;
  }

  void advance() {
    ++next_;
  }

private:
  table::const_reverse_iterator next_;
  table::const_reverse_iterator end_;
};

class memory_reader : public store_reader {
public:
  explicit memory_reader(std::shared_ptr<memory_contents> contents)
    : contents_(std::move(contents)) {
    // nop
  }

  result<std::vector<job>> load(queue_id queue, std::span<const job_seq> seqs,
                                std::size_t payload_bytes_max) override {
    std::lock_guard guard{contents_->mutex};
    std::vector<job> loaded;
    std::size_t bytes = 0;
    for (auto seq : seqs) {
      if (!loaded.empty() && bytes >= payload_bytes_max)
        break;
      auto present = contents_->live.find(seq);
      if (present == contents_->live.end()
          || present->second.job.id.queue != queue)
        continue;
      loaded.push_back(present->second.job);
      bytes += loaded.back().payload.bytes().size();
    }
    return loaded;
  }

  result<std::optional<job_record>> find(job_id id) override {
    std::lock_guard guard{contents_->mutex};
    std::optional<job_record> found;
    if (auto* present = row(id.seq); present && present->job.id == id)
      found = *present;
    return found;
  }

  result<std::optional<job_record>> find_message(job_seq seq,
                                                 std::uint64_t tag) override {
    std::lock_guard guard{contents_->mutex};
    std::optional<job_record> found;
    if (auto* present = row(seq); present && present->job.id.tag == tag)
      found = *present;
    return found;
  }

  result<std::optional<job>>
  find_by_key(queue_id queue, const std::string& idempotency_key) override {
    std::lock_guard guard{contents_->mutex};
    std::optional<job> found;
    auto holder = contents_->keys.find({queue, idempotency_key});
    if (holder != contents_->keys.end())
      found = row(holder->second)->job;
    return found;
  }

  result<job_page> list(const job_page_query& query) override;

  result<std::uint64_t> count_dead_letters(queue_id queue,
                                           const job_filter& filter) override {
    std::lock_guard guard{contents_->mutex};
    std::uint64_t count = 0;
    for (auto& [seq, row] : contents_->ended)
      if (is_dead_letter(queue, row.job)
          && passes(filter, row.job, row.job.ended_at))
        ++count;
    return count;
  }

  result<std::uint64_t> count_dead_messages(queue_id queue,
                                            const job_filter& filter) override {
    std::lock_guard guard{contents_->mutex};
    std::uint64_t count = 0;
    for (auto& [seq, row] : contents_->live)
      if (is_dead_message(queue, row.job)
          && passes_dead_message(filter, row.job))
        ++count;
    return count;
  }

  result<std::vector<job_id>> removable(wall_time now,
                                        std::size_t limit) override {
    std::lock_guard guard{contents_->mutex};
    std::vector<job_id> ids;
    for (auto& [due, id] : contents_->removals) {
      if (due.first > now || ids.size() == limit)
        break;
      ids.push_back(id);
    }
    return ids;
  }

  result<std::vector<operation_record>> operations() override {
    std::lock_guard guard{contents_->mutex};
    std::vector<operation_record> all;
    for (auto& [id, row] : contents_->operations)
      all.push_back(row);
    return all;
  }

  result<std::vector<api_key_record>> api_keys() override {
    std::lock_guard guard{contents_->mutex};
    std::vector<api_key_record> all;
    for (auto& [id, row] : contents_->api_keys)
      all.push_back(row);
    return all;
  }

  result<std::uint64_t> api_keys_version() override {
    std::lock_guard guard{contents_->mutex};
    return contents_->api_keys_version;
  }

  result<std::vector<usage_record>> usage(const std::string& project,
                                          std::int64_t from_day,
                                          std::int64_t to_day) override {
    std::lock_guard guard{contents_->mutex};
    std::vector<usage_record> all;
    for (auto& [key, row] : contents_->usage) {
      if (row.project != project || row.day < from_day || row.day > to_day)
        continue;
      auto& one = all.emplace_back(row);
      auto queue = contents_->queues.find(row.queue);
      if (queue != contents_->queues.end())
        one.queue_name = queue->second.name;
    }
    return all;
  }

private:
  job_page list_dead_messages(const job_page_query& query) const;

  /// Returns a job, live or ended, null where there is none.
  const job_record* row(job_seq seq) const {
    for (auto* table : {&contents_->live, &contents_->ended})
      if (auto present = table->find(seq); present != table->end())
        return &present->second;
    return nullptr;
  }

  std::shared_ptr<memory_contents> contents_;
};

result<job_page> memory_reader::list(const job_page_query& query) {
  std::lock_guard guard{contents_->mutex};
  if (query.dead_messages)
    return list_dead_messages(query);
  job_page page;
  paging rule{query};
  walk live{contents_->live, query.before};
  walk ended{contents_->ended, query.before};
  while (true) {
    auto* left = wants_live(query) ? live.row() : nullptr;
    auto* right = wants_ended(query) ? ended.row() : nullptr;
    auto live_is_newer = left && (!right || left->id.seq > right->id.seq);
    auto* next = live_is_newer ? left : right;
    if (!next)
      break;
    (live_is_newer ? live : ended).advance();
    if (query.dead_letters && !is_dead_letter(query.queue, *next))
      continue;
    auto instant = query.dead_letters ? next->ended_at : next->created_at;
    auto fits = next->id.queue == query.queue
                && passes(query.filter, *next, instant);
    auto verdict = rule.look(next->id.seq, fits);
    if (verdict == paging::verdict::stop)
      break;
    if (verdict == paging::verdict::pass)
      continue;
    auto& added = page.jobs.emplace_back(*next);
    if (!query.payloads)
      added.payload = payload{};
    rule.add_bytes(added.payload.bytes().size());
  }
  page.next_before = rule.next();
  return page;
}

job_page memory_reader::list_dead_messages(const job_page_query& query) const {
  job_page page;
  paging rule{query};
  auto row = contents_->live.upper_bound(query.after);
  for (; row != contents_->live.end(); ++row) {
    auto& each = row->second.job;
    auto fits = is_dead_message(query.queue, each)
                && passes_dead_message(query.filter, each);
    auto verdict = rule.look(each.id.seq, fits);
    if (verdict == paging::verdict::stop)
      break;
    if (verdict == paging::verdict::pass)
      continue;
    auto& added = page.jobs.emplace_back(each);
    if (!query.payloads)
      added.payload = payload{};
    rule.add_bytes(added.payload.bytes().size());
  }
  page.next_after = rule.next();
  return page;
}

} // namespace

std::unique_ptr<store_reader>
make_memory_reader(std::shared_ptr<memory_contents> contents) {
  return std::make_unique<memory_reader>(std::move(contents));
}

} // namespace tidegate
