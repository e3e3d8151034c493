// The names of jobs.

#include "tidegate/ids.hpp"

#include <catch2/catch.hpp>

#include <random>

using namespace tidegate;

namespace {

constexpr job_id largest{queue_id{UINT32_MAX}, job_seq{max_48_bits},
                         max_48_bits};

} // namespace

TEST_CASE("a job's name is job_ and 26 characters") {
  CHECK(to_string(job_id{}) == "job_00000000000000000000000000");
  CHECK(to_string(largest) == "job_7zzzzzzzzzzzzzzzzzzzzzzzzz");
  CHECK(to_string({queue_id{0}, job_seq{0}, 1})
        == "job_00000000000000000000000001");
  CHECK(to_string({queue_id{1}, job_seq{0}, 0})
        == "job_00000020000000000000000000");
  CHECK(to_string({queue_id{0}, job_seq{1}, 0})
        == "job_00000000000000008000000000");
}

TEST_CASE("every job's name leads back to the job") {
  std::mt19937_64 random{1};
  for (auto i = 0; i < 10'000; ++i) {
    job_id id{queue_id{static_cast<std::uint32_t>(random())},
              job_seq{random() & max_48_bits}, random() & max_48_bits};
    REQUIRE(parse_job_id(to_string(id)) == id);
  }
  CHECK(parse_job_id(to_string(largest)) == largest);
  CHECK(parse_job_id(to_string(job_id{})) == job_id{});
}

TEST_CASE("each bit of a job has a place of its own in its name") {
  for (auto bit = 0; bit < 48; ++bit) {
    auto one = std::uint64_t{1} << bit;
    CHECK(parse_job_id(to_string({queue_id{}, job_seq{one}, 0}))->seq.value
          == one);
    CHECK(parse_job_id(to_string({queue_id{}, job_seq{}, one}))->tag == one);
  }
}

TEST_CASE("a text that is no job's name is refused") {
  std::string good = to_string({queue_id{3}, job_seq{77}, 12345});
  REQUIRE(parse_job_id(good));
  std::string text = GENERATE_COPY(
    std::string{}, std::string{"job_"}, good.substr(1), good + "0",
    good.substr(0, good.size() - 1), "JOB_" + good.substr(4),
    "job-" + good.substr(4), " " + good, good + " ", good.substr(4),
    "job_" + std::string(26, 'u'), "job_" + std::string(26, 'i'),
    "job_" + std::string(26, 'l'), "job_" + std::string(26, 'o'),
    "job_" + std::string(26, 'A'), "job_" + std::string(26, '\0'),
    "job_" + std::string(26, '-'), "job_" + std::string(13, '\xc3') + good,
    std::string(1'000'000, '0'), "job_" + std::string(26, '\xff'));
  CHECK_FALSE(parse_job_id(text));
}

TEST_CASE("a name with more than 128 bits is refused") {
  for (auto first : {"8", "9", "f", "g", "z"}) {
    CHECK_FALSE(parse_job_id("job_" + (first + std::string(25, '0'))));
    CHECK_FALSE(parse_job_id("job_" + (first + std::string(25, 'z'))));
  }
}

TEST_CASE("every single wrong character makes a name worthless") {
  auto good = to_string(largest);
  for (std::size_t i = 0; i < good.size(); ++i)
    for (auto wrong : {'U', '!', '\0', '\n', '%'}) {
      auto text = good;
      text[i] = wrong;
      CHECK_FALSE(parse_job_id(text));
    }
}

// -- keys and operations ------------------------------------------------------

TEST_CASE("the names of keys and operations lead back to them") {
  for (auto n : {0u, 1u, 9u, 10u, 77u, UINT32_MAX}) {
    CHECK(parse_api_key_id(to_string(api_key_id{n})) == api_key_id{n});
    CHECK(parse_operation_id(to_string(operation_id{n})) == operation_id{n});
  }
  CHECK(to_string(api_key_id{12}) == "key_12");
  CHECK(to_string(operation_id{UINT64_MAX}) == "op_18446744073709551615");
  CHECK(parse_operation_id("op_18446744073709551615")
        == operation_id{UINT64_MAX});
}

TEST_CASE("a text that is no name of a key or an operation is refused") {
  std::string number = GENERATE("", " 1", "1 ", "+1", "-1", "01", "1.0", "0x1",
                                "1a", "99999999999999999999", "\xc2\xb2");
  CAPTURE(number);
  CHECK_FALSE(parse_api_key_id("key_" + number));
  CHECK_FALSE(parse_operation_id("op_" + number));
}

TEST_CASE("a key's number has 32 bits, and each name has its own prefix") {
  CHECK_FALSE(parse_api_key_id("key_4294967296"));
  CHECK_FALSE(parse_api_key_id("op_1"));
  CHECK_FALSE(parse_api_key_id("KEY_1"));
  CHECK_FALSE(parse_operation_id("key_1"));
  CHECK_FALSE(parse_operation_id("1"));
  CHECK_FALSE(parse_operation_id("op_18446744073709551616"));
}
