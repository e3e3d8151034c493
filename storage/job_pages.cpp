#include "storage/job_pages.hpp"

#include <optional>
#include <string>

namespace tidegate {

namespace {

using namespace std::string_literals;

// A filter as a condition: parameters 1 to 5 restrict where they are not null.
std::string passes(const char* reason, const char* instant) {
  return "(?1 IS NULL OR status = ?1)"
         " AND (?2 IS NULL OR ifnull(limit_key, '') = ?2)"
         " AND (?3 IS NULL OR "s
         + reason + " = ?3) AND (?4 IS NULL OR " + instant
         + " >= ?4) AND (?5 IS NULL OR " + instant + " < ?5)";
}

// All rows below a number, the newest first, and whether they belong on the
// page. Only the columns that decide are read, and of the rows of other queues
// only the first two.
std::string walk_sql(const char* table, const char* reason) {
  return "SELECT seq, CASE WHEN queue = ?7 THEN " + passes(reason, "created_at")
         + " ELSE 0 END FROM " + table + " WHERE seq < ?6 ORDER BY seq DESC";
}

std::string dead_letters_sql() {
  return "SELECT seq, " + passes("dead_reason", "ended_at")
         + " FROM ended INDEXED BY dead_letters "
           "WHERE seq < ?6 AND queue = ?7 AND dead_letter = 1 "
           "ORDER BY seq DESC";
}

std::string count_sql() {
  return "SELECT count(*) FROM ended INDEXED BY dead_letters WHERE "
         + passes("dead_reason", "ended_at")
         + " AND queue = ?6 AND dead_letter = 1";
}

// Parameters 1 to 5: since, until, queue, the status of what is leased, and
// whether only what was moved is meant.
constexpr char is_dead_message[] =
  "queue = ?3 AND status <> ?4"
  " AND (?5 = 0 OR dead_lettered_at IS NOT NULL)"
  " AND (?1 IS NULL OR coalesce(dead_lettered_at, eligible_at) >= ?1)"
  " AND (?2 IS NULL OR coalesce(dead_lettered_at, eligible_at) < ?2)";

std::string dead_messages_sql() {
  return "SELECT seq, "s + is_dead_message
         + " FROM jobs WHERE seq > ?6 ORDER BY seq";
}

std::string count_messages_sql() {
  return "SELECT count(*) FROM jobs WHERE "s + is_dead_message;
}

void bind_dead_messages(sqlite::execution& use, queue_id queue,
                        const job_filter& filter) {
  use.bind(filter.since)
    .bind(filter.until)
    .bind(queue.value)
    .bind(job_status::awaiting_ack)
    .bind(filter.reason.has_value());
}

void bind_filter(sqlite::execution& use, const job_filter& filter) {
  use.bind(filter.status)
    .bind(filter.limit_key)
    .bind(filter.reason)
    .bind(filter.since)
    .bind(filter.until);
}

// The rows of one table, one at a time.
class walk {
public:
  walk(sqlite::statement& rows, const job_page_query& query)
    : rows_(rows.start()) {
    bind_filter(rows_, query.filter);
    rows_.bind(query.before.value).bind(query.queue.value);
    advance();
  }

  void advance() {
    has_row_ = rows_.next();
    if (has_row_)
      rows_.take(seq_.value).take(fits_);
  }

  bool has_row() const {
    return has_row_;
  }

  std::optional<error> failure() const {
    return rows_.failure();
  }

  job_seq seq() const {
    return seq_;
  }

  bool fits() const {
    return fits_;
  }

private:
  sqlite::execution rows_;
  bool has_row_ = false;
  job_seq seq_;
  bool fits_ = false;
};

// Returns the walk whose next row is the newer one, null where both have ended.
walk* newer(std::optional<walk>& one, std::optional<walk>& other) {
  auto* left = one && one->has_row() ? &*one : nullptr;
  auto* right = other && other->has_row() ? &*other : nullptr;
  if (left && right)
    return left->seq() > right->seq() ? left : right;
  return left ? left : right;
}

} // namespace

job_pages::job_pages(const sqlite::connection& db)
  : jobs_(db), live_(db, walk_sql("jobs", "0")),
    ended_(db, walk_sql("ended", "dead_reason")),
    dead_letters_(db, dead_letters_sql()),
    dead_messages_(db, dead_messages_sql()), count_(db, count_sql()),
    count_messages_(db, count_messages_sql()),
    removable_(db,
               "SELECT queue, seq, tag FROM ended INDEXED BY ended_by_removal "
               "WHERE remove_at <= ? "
               "ORDER BY remove_at, seq LIMIT ?") {
  // nop
}

// A job stands in one of the two tables, never in both, and keeps its number
// when it moves: pages that go down by number neither skip nor repeat one.
result<job_page> job_pages::list(const job_page_query& query) {
  if (query.dead_messages)
    return list_dead_messages(query);
  std::optional<walk> live;
  std::optional<walk> ended;
  if (wants_live(query))
    live.emplace(live_, query);
  if (wants_ended(query))
    ended.emplace(query.dead_letters ? dead_letters_ : ended_, query);
  job_page page;
  paging rule{query};
  while (auto* next = newer(live, ended)) {
    auto verdict = rule.look(next->seq(), next->fits());
    if (verdict == paging::verdict::stop)
      break;
    if (verdict == paging::verdict::take)
      if (auto reason = add(query, next->seq(), page, rule))
        return *reason;
    next->advance();
  }
  for (auto* each : {&live, &ended})
    if (*each)
      if (auto reason = (*each)->failure())
        return *reason;
  page.next_before = rule.next();
  return page;
}

result<job_page> job_pages::list_dead_messages(const job_page_query& query) {
  job_page page;
  paging rule{query};
  auto row = dead_messages_.start();
  bind_dead_messages(row, query.queue, query.filter);
  row.bind(query.after.value);
  while (row.next()) {
    job_seq seq;
    auto fits = false;
    row.take(seq.value).take(fits);
    auto verdict = rule.look(seq, fits);
    if (verdict == paging::verdict::stop)
      break;
    if (verdict == paging::verdict::take)
      if (auto reason = add(query, seq, page, rule))
        return *reason;
  }
  if (auto reason = row.failure())
    return *reason;
  page.next_after = rule.next();
  return page;
}

std::optional<error> job_pages::add(const job_page_query& query, job_seq seq,
                                    job_page& page, paging& rule) {
  auto found = query.payloads ? jobs_.find(query.queue, seq)
                              : jobs_.find_bare(query.queue, seq);
  if (!found)
    return found.reason();
  if (!*found)
    return std::nullopt;
  page.jobs.push_back(std::move((*found)->record.job));
  rule.add_bytes(page.jobs.back().payload.bytes().size());
  return std::nullopt;
}

result<std::uint64_t> job_pages::count_dead_letters(queue_id queue,
                                                    const job_filter& filter) {
  auto row = count_.start();
  bind_filter(row, filter);
  row.bind(queue.value);
  std::uint64_t count = 0;
  if (row.next())
    row.take(count);
  if (auto reason = row.failure())
    return *reason;
  return count;
}

result<std::uint64_t> job_pages::count_dead_messages(queue_id queue,
                                                     const job_filter& filter) {
  auto row = count_messages_.start();
  bind_dead_messages(row, queue, filter);
  std::uint64_t count = 0;
  if (row.next())
    row.take(count);
  if (auto reason = row.failure())
    return *reason;
  return count;
}

result<std::vector<job_id>> job_pages::removable(wall_time now,
                                                 std::size_t limit) {
  std::vector<job_id> ids;
  auto row = removable_.start();
  row.bind(now).bind(limit);
  while (row.next()) {
    auto& id = ids.emplace_back();
    row.take(id.queue.value).take(id.seq.value).take(id.tag);
  }
  if (auto reason = row.failure())
    return *reason;
  return ids;
}

} // namespace tidegate
