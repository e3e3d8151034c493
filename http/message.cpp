#include "http/message.hpp"

#include <algorithm>

#include "http/problem.hpp"

namespace tidegate::http {

namespace {

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

} // namespace

bool same_header_name(std::string_view x, std::string_view y) {
  return std::equal(x.begin(), x.end(), y.begin(), y.end(),
                    [](char a, char b) { return lower(a) == lower(b); });
}

std::optional<std::string_view> find_header(const request_head& head,
                                            std::string_view name) {
  for (const auto& field : head.headers)
    if (same_header_name(field.name, name))
      return field.value;
  return std::nullopt;
}

responder::responder(std::shared_ptr<reply_sink> sink, std::uint64_t number,
                     api_family family)
  : sink_(std::move(sink)), number_(number), family_(family) {
  // nop
}

responder& responder::operator=(responder&& other) noexcept {
  std::swap(sink_, other.sink_);
  std::swap(number_, other.number_);
  std::swap(family_, other.family_);
  return *this;
}

responder::~responder() {
  if (sink_)
    sink_->reply(number_,
                 make_problem(problem::overloaded,
                              "The request was not answered", family_));
}

void responder::operator()(response what) {
  auto sink = std::move(sink_);
  sink->reply(number_, std::move(what));
}

} // namespace tidegate::http
