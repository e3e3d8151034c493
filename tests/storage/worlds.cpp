#include "worlds.hpp"

#include <catch2/catch.hpp>
#include <stdlib.h>

namespace tidegate::test {

namespace {

// Memory where there is such a thing: no test depends on a real disk, which
// would only make them slow.
std::filesystem::path temporary_root() {
  std::filesystem::path memory = "/dev/shm";
  if (std::filesystem::is_directory(memory))
    return memory;
  return std::filesystem::temp_directory_path();
}

template <class T>
T value(result<T> answer) {
  REQUIRE(answer);
  return std::move(*answer);
}

} // namespace

// -- helpers ------------------------------------------------------------------

temporary_directory::temporary_directory() {
  auto pattern = (temporary_root() / "tidegate-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr)
    throw std::runtime_error("cannot make a temporary directory");
  path_ = pattern;
}

temporary_directory::~temporary_directory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::unique_ptr<store> open_good(const sqlite_options& options) {
  auto opened = open_sqlite_store(options);
  if (!opened)
    throw std::runtime_error(opened.reason().message);
  return std::move(*opened);
}

std::vector<commit_answer> commit(store& where, std::vector<record> batch) {
  auto answers = where.commit(batch);
  if (!answers)
    throw std::runtime_error(answers.reason().message);
  REQUIRE(answers->size() == batch.size());
  return std::move(*answers);
}

std::unique_ptr<store_reader> open_reader(store& where) {
  auto reader = where.open_reader();
  REQUIRE(reader);
  return std::move(*reader);
}

std::optional<job_record> find(store& where, job_id id) {
  auto found = open_reader(where)->find(id);
  REQUIRE(found);
  return std::move(*found);
}

std::optional<job> message_of(store& where, job_id id) {
  auto found = open_reader(where)->find_message(id.seq, id.tag);
  REQUIRE(found);
  if (!*found)
    return std::nullopt;
  return std::move((*found)->job);
}

// -- worlds -------------------------------------------------------------------

memory_world::memory_world()
  : contents_(make_memory_contents()), store_(make_memory_store(contents_)) {
  // nop
}

void memory_world::restart() {
  store_.reset();
  store_ = make_memory_store(contents_);
}

sqlite_world::sqlite_world() {
  restart();
}

void sqlite_world::restart() {
  store_.reset();
  sqlite_options options;
  options.file = directory_.path() / "data.db";
  store_ = open_good(options);
}

// -- pictures -----------------------------------------------------------------

namespace {

// Pages so small that a queue has several.
void add_pages(store_reader& reader, queue_id queue, bool dead_letters,
               picture& taken) {
  job_page_query query;
  query.queue = queue;
  query.dead_letters = dead_letters;
  query.limit = 7;
  query.rows_max = 20;
  query.payloads = dead_letters;
  for (auto more = true; more;) {
    auto page = reader.list(query);
    REQUIRE(page);
    more = page->next_before.has_value();
    query.before = page->next_before.value_or(job_seq{});
    taken.pages.push_back({std::move(page->jobs), page->next_before});
  }
}

void add(std::vector<std::optional<job_picture>>& to,
         std::optional<job_record> found) {
  auto& slot = to.emplace_back();
  if (found)
    slot = job_picture{found->job, found->history, found->history_dropped};
}

void add_queues(store& of, store_reader& reader, picture& taken) {
  auto queues = of.load_queues();
  REQUIRE(queues);
  for (auto& snapshot : *queues) {
    auto id = snapshot.queue.id;
    taken.queues.push_back(snapshot.queue);
    taken.live.push_back(snapshot.jobs);
    taken.limit_keys.push_back(snapshot.keys);
    add_pages(reader, id, false, taken);
    add_pages(reader, id, true, taken);
    taken.dead_letters.push_back(value(reader.count_dead_letters(id, {})));
  }
}

} // namespace

picture take_picture(store& of, const std::vector<job_id>& ids) {
  picture taken;
  auto reader = open_reader(of);
  add_queues(of, *reader, taken);
  for (auto& id : ids) {
    add(taken.jobs, value(reader->find(id)));
    add(taken.messages, value(reader->find_message(id.seq, id.tag)));
  }
  taken.removable = value(reader->removable(far_future, 1'000'000));
  taken.operations = value(reader->operations());
  taken.api_keys = value(reader->api_keys());
  taken.api_keys_version = value(reader->api_keys_version());
  taken.usage = value(reader->usage("acme", -1'000'000, 1'000'000));
  taken.last_job = value(of.last_job_seq());
  taken.last_queue = value(of.last_queue_id());
  taken.last_operation = value(of.last_operation_id());
  return taken;
}

} // namespace tidegate::test
