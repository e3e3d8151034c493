// The end of the write-ahead log is missing or damaged.

#include <catch2/catch.hpp>

#include <fstream>
#include <iterator>

#include "random_history.hpp"
#include "worlds.hpp"

using namespace tidegate;
using namespace tidegate::test;

namespace {

std::string contents_of(const std::filesystem::path& file) {
  std::ifstream in{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

void write_file(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream{file, std::ios::binary} << bytes;
}

// A store whose batches are all still in the log, none in the file.
struct logged {
  static constexpr auto batches = 12;

  logged() {
    sqlite_options options;
    options.file = directory.path() / "data.db";
    options.log_pages = 1'000'000;
    open_good(options);
    auto disk = open_good(options);
    memory_world model;
    random_history history{3};
    remember(model.disk(), options);
    for (auto n = 0; n < batches; ++n) {
      auto batch = history.next(model.disk());
      test::commit(*disk, batch);
      test::commit(model.disk(), batch);
      remember(model.disk(), options);
    }
    file = contents_of(options.file);
    log = contents_of(log_of(options.file));
  }

  static std::filesystem::path log_of(std::filesystem::path name) {
    name += "-wal";
    return name;
  }

  void remember(store& model, const sqlite_options& options) {
    log_sizes.push_back(contents_of(log_of(options.file)).size());
    states.push_back(*model.load_queues());
  }

  // Opens a copy with another log and says whether it is as after n batches.
  bool is_after(int n, const std::string& other_log) const {
    temporary_directory copy;
    sqlite_options options;
    options.file = copy.path() / "data.db";
    write_file(options.file, file);
    write_file(log_of(options.file), other_log);
    auto found = open_good(options)->load_queues();
    REQUIRE(found);
    return same(*found, states[static_cast<std::size_t>(n)]);
  }

  static bool same(const std::vector<queue_snapshot>& left,
                   const std::vector<queue_snapshot>& right) {
    return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                      [](auto& a, auto& b) {
                        return a.queue == b.queue && a.jobs == b.jobs;
                      });
  }

  temporary_directory directory;
  std::vector<std::size_t> log_sizes;
  std::vector<std::vector<queue_snapshot>> states;
  std::string file;
  std::string log;
};

} // namespace

TEST_CASE("a log that was cut off anywhere holds every batch before the cut") {
  logged before;
  for (auto n = 0; n <= logged::batches; ++n) {
    auto size = before.log_sizes[static_cast<std::size_t>(n)];
    CAPTURE(n, size);
    CHECK(before.is_after(n, before.log.substr(0, size)));
    if (n == logged::batches)
      break;
    auto next = before.log_sizes[static_cast<std::size_t>(n) + 1];
    if (next == size)
      continue;
    CHECK(before.is_after(n, before.log.substr(0, size + 1)));
    CHECK(before.is_after(n, before.log.substr(0, (size + next) / 2)));
    CHECK(before.is_after(n, before.log.substr(0, next - 1)));
  }
}

TEST_CASE(
  "damage in the log takes back the batches from there on and no "
  "others") {
  logged before;
  for (auto n = 0; n < logged::batches; ++n) {
    auto begin = before.log_sizes[static_cast<std::size_t>(n)];
    auto end = before.log_sizes[static_cast<std::size_t>(n) + 1];
    for (auto place : {begin + 40, end - 1}) {
      if (end == begin)
        continue;
      CAPTURE(n, place);
      auto damaged = before.log;
      damaged[place] ^= 1;
      CHECK(before.is_after(n, damaged));
    }
  }
}
