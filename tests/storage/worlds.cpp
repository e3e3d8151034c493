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

std::optional<job_record> find(store& where, job_id id) {
  auto reader = where.open_reader();
  REQUIRE(reader);
  auto found = (*reader)->find(id);
  REQUIRE(found);
  return std::move(*found);
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

picture take_picture(store& of, const std::vector<job_id>& ids) {
  picture taken;
  auto queues = of.load_queues();
  REQUIRE(queues);
  for (auto& snapshot : *queues) {
    taken.queues.push_back(snapshot.queue);
    taken.live.push_back(snapshot.jobs);
  }
  auto reader = of.open_reader();
  REQUIRE(reader);
  for (auto& id : ids) {
    auto found = (*reader)->find(id);
    REQUIRE(found);
    auto& slot = taken.jobs.emplace_back();
    if (*found)
      slot = job_picture{(*found)->job, (*found)->history,
                         (*found)->history_dropped};
  }
  auto last_job = of.last_job_seq();
  auto last_queue = of.last_queue_id();
  REQUIRE(last_job);
  REQUIRE(last_queue);
  taken.last_job = *last_job;
  taken.last_queue = *last_queue;
  return taken;
}

} // namespace tidegate::test
