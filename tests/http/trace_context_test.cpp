#include "http/trace_context.hpp"

#include <catch2/catch.hpp>

using namespace tidegate::http;

namespace {

const std::string parent =
  "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

} // namespace

TEST_CASE("a traceparent is what the recommendation says") {
  CHECK(is_traceparent(parent));
  CHECK(is_traceparent("cc" + parent.substr(2)));
  CHECK(is_traceparent("cc" + parent.substr(2) + "-more"));
  const std::vector<std::string> wrong = {
    "",
    parent + "-more",
    parent + "0",
    "ff" + parent.substr(2),
    "0" + parent,
    "cc" + parent.substr(2) + "more",
    "cc" + parent.substr(2) + "-\r\nx: y",
    parent.substr(0, 54),
    "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
    "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0g",
    "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"};
  for (const auto& text : wrong) {
    CAPTURE(text);
    CHECK_FALSE(is_traceparent(text));
  }
}

TEST_CASE("a tracestate is a list of members, none of them twice") {
  for (std::string_view text :
       {"a=1", "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", "a=1 , b=2",
        "1tenant@vendor=x y", "a=1,,b=2"})
    CHECK(is_tracestate(text));
  std::string members;
  for (auto i = 0; i < 33; ++i)
    members += "k" + std::to_string(i) + "=v,";
  for (const auto& text :
       {std::string{}, std::string{"a"}, std::string{"=1"}, std::string{"a="},
        std::string{"A=1"}, std::string{"a=1,a=2"}, std::string{"a=1\r\nb=2"},
        std::string{"a=\x7f"}, std::string{"a==1"}, members,
        "a=" + std::string(511, 'x')}) {
    CAPTURE(text);
    CHECK_FALSE(is_tracestate(text));
  }
}

TEST_CASE("the trace context of a request is taken as a whole or not at all") {
  auto read = [](std::vector<field_view> headers) {
    return read_trace_context(headers);
  };
  CHECK(read({}) == trace_context{});
  CHECK(read({{"TraceParent", parent}}) == trace_context{parent, ""});
  CHECK(read({{"traceparent", parent},
              {"tracestate", "a=1"},
              {"x", "y"},
              {"Tracestate", "b=2"}})
        == trace_context{parent, "a=1,b=2"});
  CHECK(read({{"tracestate", "a=1"}}) == trace_context{});
  CHECK(read({{"traceparent", "x"}, {"tracestate", "a=1"}}) == trace_context{});
  CHECK(read({{"traceparent", parent}, {"traceparent", parent}})
        == trace_context{});
  CHECK(read({{"traceparent", parent}, {"tracestate", "A"}})
        == trace_context{parent, ""});
}
