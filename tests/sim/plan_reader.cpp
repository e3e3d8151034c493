#include <algorithm>
#include <set>

#include "http/json_scan.hpp"
#include "tests/sim/plan_fields.hpp"

namespace tidegate::sim {

namespace {

constexpr unsigned depth_max = 10;

/// Where deliveries would go. Nothing is ever sent there.
constexpr char nowhere[] = "http://downstream.invalid/";

/// Reads settings as the API has them.
queue_settings_patch read_queue(object_reader& in, http::complaints& out) {
  auto body = in.raw("queue");
  if (body.empty())
    return {};
  auto path = in.path_of("queue");
  auto read = http::decode_settings_patch(body, nullptr);
  if (auto wrong = std::get_if<http::complaints>(&read)) {
    for (auto& sentence : wrong->form)
      out.add(path, sentence);
    for (auto& [field, message] : wrong->fields)
      out.add(path + "." + field, message);
    return {};
  }
  auto& result = std::get<queue_settings_patch>(read);
  if (result.webhook_url)
    out.add(path + ".webhookUrl", "is not for plans: nothing is called");
  if (result.mode && *result.mode != delivery_mode::standard)
    out.add(path + ".mode", "must be standard: there is no worker in a plan");
  return result;
}

/// Settings before anything that the plan says. Ended jobs are of no interest.
queue_settings basic_settings() {
  queue_settings result;
  result.webhook_url = nowhere;
  return result;
}

variant read_variant(const std::string& path, std::string_view token,
                     const queue_settings& basis, http::complaints& out) {
  object_reader in{path, token, {"name", "naive", "queue"}, out};
  variant result;
  in.require("name");
  result.name = in.text("name", {});
  result.naive = in.flag("naive", false);
  result.settings = apply(basis, read_queue(in, out));
  for (auto& [field, message] : validate(result.settings))
    if (out.empty())
      out.add(in.path_of("queue." + field), message);
  result.settings.retention = duration{0};
  return result;
}

std::vector<variant> read_variants(object_reader& top) {
  auto& out = top.complaints();
  auto basis = apply(basic_settings(), read_queue(top, out));
  std::vector<variant> result;
  std::set<std::string> names;
  for (auto& [path, token] : top.elements("variants", variants_max)) {
    result.push_back(read_variant(path, token, basis, out));
    if (!names.insert(result.back().name).second)
      out.add(path + ".name", "must be another one than those before, got '"
                                + http::shorten(result.back().name) + "'");
  }
  if (top.has("variants") && result.empty() && out.empty())
    out.add("variants", "must be at least 1 variant, got 0");
  return result;
}

std::string place_of(std::string_view text, std::size_t at) {
  auto before = text.substr(0, std::min(at, text.size()));
  auto line = 1 + std::count(before.begin(), before.end(), '\n');
  return " at byte " + std::to_string(at) + ", in line " + std::to_string(line);
}

} // namespace

read_plan parse_plan(std::string_view text,
                     const std::filesystem::path& folder) {
  http::complaints out;
  auto scanned = http::scan_json(text, depth_max);
  if (auto fault = std::get_if<http::json_fault>(&scanned)) {
    out.form.push_back(std::string{"The plan is not valid JSON: "} + fault->what
                       + place_of(text, fault->at));
    return out;
  }
  // The scanner has checked that there is something between the blanks.
  text.remove_prefix(text.find_first_not_of(" \t\r\n"));
  object_reader top{"",
                    text,
                    {"name", "duration", "drain", "arrivals", "downstream",
                     "queue", "variants"},
                    out};
  for (auto name : {"name", "duration", "arrivals", "variants"})
    top.require(name);
  plan result;
  result.name = top.text("name", {});
  result.length = top.seconds("duration", std::chrono::seconds{1}, 0.001,
                              span_max);
  result.drain = top.seconds("drain", std::chrono::hours{24}, 0, span_max);
  result.streams = read_arrivals(top, result.length, folder);
  result.downstream = read_downstream(top);
  result.variants = read_variants(top);
  if (!out.empty())
    return out;
  return result;
}

read_plan load_plan(const std::filesystem::path& file) {
  auto text = read_file(file, plan_bytes_max);
  if (text)
    return parse_plan(*text, file.parent_path());
  http::complaints out;
  out.form.push_back("The file cannot be read, or is longer than "
                     + std::to_string(plan_bytes_max) + " bytes");
  return out;
}

} // namespace tidegate::sim
