#include "config/config_file.hpp"

#include <catch2/catch.hpp>

#include <fstream>

#include <unistd.h>

using namespace tidegate::config;

namespace {

using sentences = std::vector<std::string>;

/// A file that is gone after the test.
class scratch_file {
public:
  explicit scratch_file(const std::string& text)
    : path_(std::filesystem::temp_directory_path()
            / ("config_test." + std::to_string(getpid()) + ".toml")) {
    std::ofstream{path_} << text;
  }

  ~scratch_file() {
    std::filesystem::remove(path_);
  }

  const std::filesystem::path& path() const {
    return path_;
  }

private:
  std::filesystem::path path_;
};

} // namespace

TEST_CASE("a file sets what it names") {
  auto content = read_text(
    "threads = 3\n"
    "allow_target = ['10.0.0.0/8', '::1/128']\n"
    "listen = '[::1]:0'\n"
    "publish_price = 0.00002\n",
    "x.toml");
  CHECK(content.problems.empty());
  settings out;
  CHECK(assign(content.assignments, out) == std::nullopt);
  settings expected;
  expected.threads = 3;
  expected.allow_target = {"10.0.0.0/8", "::1/128"};
  expected.listen_host = "::1";
  expected.listen_port = 0;
  expected.publish_price = 0.00002;
  CHECK(out == expected);
}

TEST_CASE("an unknown key is a problem with its line") {
  auto content = read_text("threads = 3\n\nmax_boddy = 4096\n", "x.toml");
  CHECK(content.problems
        == sentences{"x.toml:3: max_boddy is not a known key"});
}

TEST_CASE("a section is an unknown key, too") {
  auto content = read_text("[server]\nthreads = 3\n", "x.toml");
  CHECK(content.problems == sentences{"x.toml:1: server is not a known key"});
}

TEST_CASE("no value is turned into another type") {
  auto [line, sentence] = GENERATE(table<const char*, const char*>({
    {"threads = '3'", "x.toml:1: threads must be a whole number, got a string"},
    {"threads = 3.0",
     "x.toml:1: threads must be a whole number, got a number with a point"},
    {"threads = true",
     "x.toml:1: threads must be a whole number, got true or false"},
    {"publish_price = '1'",
     "x.toml:1: publish_price must be a number, got a string"},
    {"listen = 8080", "x.toml:1: listen must be a string, got a whole number"},
    {"allow_target = '10.0.0.0/8'",
     "x.toml:1: allow_target must be an array of strings, got a string"},
    {"allow_target = [10]",
     "x.toml:1: allow_target must be an array of strings, got an array"},
  }));
  CHECK(read_text(line, "x.toml").problems == sentences{sentence});
}

TEST_CASE("what is not TOML is a problem with its line") {
  auto content = read_text("threads = 3\nlisten 8080\n", "x.toml");
  REQUIRE(content.problems.size() == 1);
  CHECK(content.problems[0].starts_with("x.toml:2: "));
}

TEST_CASE("a key that is given twice is a problem") {
  auto content = read_text("threads = 3\nthreads = 4\n", "x.toml");
  REQUIRE(content.problems.size() == 1);
  CHECK(content.problems[0].starts_with("x.toml:2: "));
}

TEST_CASE("a file is checked to its end, in the order of its lines") {
  scratch_file file{"threads = 999\nzebra = 1\naardvark = 2\n"};
  auto name = file.path().string();
  CHECK(check_file(file.path()).problems
        == sentences{name
                       + ":1: threads must be a whole number from 0 to "
                         "256, got 999",
                     name + ":2: zebra is not a known key",
                     name + ":3: aardvark is not a known key"});
}

TEST_CASE("a file without end is read to its bound") {
  CHECK(check_file("/dev/zero").problems
        == sentences{"/dev/zero cannot be read: it is larger than 1 MiB"});
}

TEST_CASE("what lacks the other half of a pair is a problem of the file") {
  scratch_file file{"alert_depth = 5\n"};
  CHECK(check_file(file.path()).problems
        == sentences{file.path().string()
                     + ": alert_depth is set without alert_url: nobody is "
                       "told"});
}

TEST_CASE("what a file sets is there to be checked further") {
  scratch_file file{"threads = 3\n"};
  CHECK(check_file(file.path()).with.threads == 3);
}

TEST_CASE("an empty file is right") {
  scratch_file file{""};
  CHECK(check_file(file.path()).problems.empty());
}

TEST_CASE("a file that cannot be read is a problem") {
  CHECK(check_file("/nonexistent/x.toml").problems
        == sentences{"/nonexistent/x.toml cannot be read"});
  CHECK(check_file("/").problems == sentences{"/ cannot be read"});
}
