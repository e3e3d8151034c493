#include "http/dashboard.hpp"

#include <algorithm>

#include "http/problem.hpp"

namespace tidegate::http {

namespace {

/// Scripts, styles and calls of this origin and nothing else; no inline script
/// or style, no frame around it.
constexpr std::string_view policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; "
  "connect-src 'self'; img-src 'self' data:; base-uri 'none'; "
  "form-action 'none'; frame-ancestors 'none'";

/// Whether a list of tags has `tag`; `*` stands for any. Weak tags count as
/// the strong ones, as the comparison for `If-None-Match` has it.
bool lists(std::string_view tags, std::string_view tag) {
  if (tags == "*")
    return true;
  // Tags of ours have no quotes or commas in them.
  for (auto at = tags.find(tag); at != std::string_view::npos;
       at = tags.find(tag, at + 1))
    if (auto end = at + tag.size();
        end == tags.size() || tags[end] == ',' || tags[end] == ' ')
      return true;
  return false;
}

} // namespace

response answer_with_file(std::string_view name,
                          const std::optional<std::string>& if_none_match) {
  auto files = dashboard_files();
  auto file = std::find_if(files.begin(), files.end(),
                           [&](const auto& x) { return x.name == name; });
  if (file == files.end())
    return make_problem(problem::not_found);
  response result;
  result.headers = {{"etag", std::string{file->etag}},
                    {"cache-control", "no-cache"},
                    {"content-security-policy", std::string{policy}},
                    {"x-content-type-options", "nosniff"},
                    {"referrer-policy", "no-referrer"}};
  if (if_none_match && lists(*if_none_match, file->etag)) {
    result.status = 304;
    return result;
  }
  result.content_type = file->content_type;
  result.body = file->bytes;
  return result;
}

} // namespace tidegate::http
