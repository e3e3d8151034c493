#include "http/key_commands.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "http/cli_text.hpp"
#include "http/iso8601.hpp"
#include "http/json_writer.hpp"
#include "http/keys.hpp"
#include "tidegate/queue_settings.hpp"

namespace tidegate::http {

namespace {

constexpr std::size_t name_max = 200;

error refuse(std::string sentence) {
  return {errc::validation_failed, std::move(sentence)};
}

// -- scopes -------------------------------------------------------------------

std::vector<std::string_view> names_of(std::uint8_t bits) {
  std::vector<std::string_view> names;
  for (auto each : all_scopes)
    if (scope_set::from_bits(bits).contains(each))
      names.emplace_back(to_string(each));
  return names;
}

std::string join(const std::vector<std::string_view>& words) {
  std::string text;
  for (auto word : words)
    text.append(text.empty() ? "" : ",").append(word);
  return text;
}

result<std::uint8_t> read_scopes(std::string_view text) {
  std::uint8_t bits = 0;
  while (true) {
    auto word = text.substr(0, text.find(','));
    auto known =
      std::find_if(all_scopes.begin(), all_scopes.end(),
                   [&](scope each) { return word == to_string(each); });
    if (known == all_scopes.end())
      return refuse(
        "--scopes must be some of publish,work,read,manage,admin, "
        "got \""
        + std::string{word} + '"');
    bits = static_cast<std::uint8_t>(bits | scope_set{*known}.bits());
    if (word.size() == text.size())
      return bits;
    text.remove_prefix(word.size() + 1);
  }
}

// -- printing -----------------------------------------------------------------

std::vector<std::string> cells_of(const api_key_record& key) {
  return {to_string(key.id),
          key.project,
          join(names_of(key.scopes)),
          key.name.empty() ? "-" : key.name,
          to_iso8601(key.created_at),
          key.expires_at ? to_iso8601(*key.expires_at) : "never"};
}

} // namespace

// -- making -------------------------------------------------------------------

result<new_key> make_key(const key_wish& wish, wall_time now) {
  if (auto wrong = validate_project_name(wish.project))
    return refuse("--project " + wrong->message);
  auto bits = read_scopes(wish.scopes);
  if (!bits)
    return bits.reason();
  if (wish.name.size() > name_max || !is_printable(wish.name))
    return refuse("--name must be at most " + std::to_string(name_max)
                  + " bytes on one line");
  new_key made;
  if (wish.expires_at) {
    made.record.expires_at = parse_iso8601(*wish.expires_at);
    if (!made.record.expires_at || *made.record.expires_at <= now)
      return refuse(
        "--expires-at must be a time to come, such as "
        "2030-01-31T00:00:00Z, got \""
        + *wish.expires_at + '"');
  }
  made.key = make_api_key();
  auto digest = digest_of(made.key);
  made.record.digest.assign(digest.begin(), digest.end());
  made.record.project = wish.project;
  made.record.scopes = *bits;
  made.record.name = wish.name;
  made.record.created_at = now;
  return made;
}

std::string print_created(const new_key& made) {
  auto cells = cells_of(made.record);
  return made.key + "\nid       " + cells[0] + "\nproject  " + cells[1]
         + "\nscopes   " + cells[2] + "\nname     " + cells[3] + "\nexpires  "
         + cells[5] + '\n';
}

std::string print_key_table(std::span<const api_key_record> keys) {
  text_table table{{"ID", "PROJECT", "SCOPES", "NAME", "CREATED", "EXPIRES"}};
  for (auto& key : keys)
    table.add(cells_of(key));
  return table.print();
}

std::string print_key_json(std::span<const api_key_record> keys) {
  json_writer out;
  out.begin_array();
  for (auto& key : keys) {
    out.begin_object()
      .member("id", to_string(key.id))
      .member("project", key.project);
    out.key("scopes").begin_array();
    for (auto name : names_of(key.scopes))
      out.value(name);
    out.end_array();
    if (key.name.empty())
      out.key("name").null();
    else
      out.member("name", key.name);
    out.member("createdAt", to_iso8601(key.created_at));
    if (key.expires_at)
      out.member("expiresAt", to_iso8601(*key.expires_at));
    else
      out.key("expiresAt").null();
    out.end_object();
  }
  out.end_array();
  return out.take() + '\n';
}

} // namespace tidegate::http
