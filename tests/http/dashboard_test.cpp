// The dashboard's files, as they stand in the binary.

#include "http/dashboard.hpp"

#include <set>

#include <catch2/catch.hpp>

using namespace tidegate::http;

namespace {

std::string header(const response& what, std::string_view name) {
  for (const auto& [key, value] : what.headers)
    if (key == name)
      return value;
  return {};
}

} // namespace

TEST_CASE("the page is there, and each file once") {
  std::set<std::string_view> names;
  for (const auto& file : dashboard_files()) {
    CAPTURE(file.name);
    CHECK(names.insert(file.name).second);
    CHECK_FALSE(file.bytes.empty());
    CHECK(file.etag.starts_with('"'));
    CHECK(file.etag.ends_with('"'));
    auto sent = answer_with_file(file.name, {});
    CHECK(sent.status == 200);
    CHECK(sent.body == file.bytes);
    CHECK(sent.content_type == file.content_type);
  }
  CHECK(names.contains("index.html"));
}

TEST_CASE("every file comes with a policy that allows nothing inline") {
  for (const auto& tags : {std::optional<std::string>{}, {"*"}}) {
    auto sent = answer_with_file("index.html", tags);
    auto policy = header(sent, "content-security-policy");
    CHECK(policy.starts_with("default-src 'none'; script-src 'self'; "));
    CHECK(policy.find("unsafe") == std::string::npos);
    CHECK(policy.find("frame-ancestors 'none'") != std::string::npos);
    CHECK(header(sent, "x-content-type-options") == "nosniff");
    CHECK(header(sent, "referrer-policy") == "no-referrer");
    CHECK(header(sent, "cache-control") == "no-cache");
  }
}

TEST_CASE("a file that the browser has is not sent again") {
  std::string tag{dashboard_files()[0].etag};
  auto status = [](const std::string& tags) {
    return answer_with_file(dashboard_files()[0].name, tags).status;
  };
  CHECK(status(tag) == 304);
  CHECK(status("W/" + tag) == 304);
  CHECK(status("\"other\", " + tag) == 304);
  CHECK(status(tag + ", \"other\"") == 304);
  CHECK(status("*") == 304);
  CHECK(status("") == 200);
  CHECK(status("\"other\"") == 200);
  CHECK(status(tag + "x") == 200);
  CHECK(answer_with_file(dashboard_files()[0].name, tag).body.empty());
}

TEST_CASE("what is no file of the dashboard is not found") {
  for (auto name : {"", "nothing.js", "../index.html", "/etc/passwd"})
    CHECK(answer_with_file(name, {}).status == 404);
}
