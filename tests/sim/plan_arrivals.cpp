#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "tests/sim/plan_fields.hpp"

namespace tidegate::sim {

/// Returns the word of the plan.
static const char* to_string(stream::kind kind) {
  switch (kind) {
    case stream::kind::steady:
      return "steady";
    case stream::kind::poisson:
      return "poisson";
    case stream::kind::burst:
      return "burst";
    case stream::kind::trace:
      return "trace";
  }
  return "unknown";
}

namespace {

constexpr double rate_min = 1e-6;
constexpr double rate_max = 100'000;
constexpr std::uint64_t burst_max = 1'000'000;

/// Returns the instant that a line of a trace names, nothing where it is none.
std::optional<duration> read_instant(std::string_view line) {
  double seconds = -1;
  auto end = line.data() + line.size();
  auto [rest, failed] = std::from_chars(line.data(), end, seconds);
  if (failed != std::errc{} || rest != end || !(seconds >= 0)
      || seconds > span_max)
    return std::nullopt;
  return duration{std::llround(seconds * 1e6)};
}

void read_rate(object_reader& in, stream& s, duration length) {
  in.require("rate");
  s.rate = in.number("rate", 1, rate_min, rate_max);
  s.from = in.seconds("from", duration{0}, 0, to_seconds(length));
  s.to = in.seconds("to", length, to_seconds(s.from), to_seconds(length));
}

void read_burst(object_reader& in, stream& s, duration length) {
  in.require("jobs");
  s.jobs = in.integer("jobs", 1, 1, burst_max);
  s.from = in.seconds("at", duration{0}, 0, to_seconds(length));
  s.times = in.integer("times", 1, 1, burst_max);
  s.every = in.seconds("every", std::chrono::hours{1}, 0.001, span_max);
}

void read_instants(object_reader& in, stream& s, duration length,
                   const std::filesystem::path& folder) {
  in.require("file");
  auto file = in.text("file", {});
  if (!file.empty())
    s.trace = read_trace(in.path_of("file"), folder / file, length,
                         in.complaints());
}

/// Complains of fields that say nothing about a stream of this type.
void refuse_others(object_reader& in, stream::kind type) {
  struct rule {
    const char* field;
    bool fits;
  };
  auto paced = type == stream::kind::steady || type == stream::kind::poisson;
  auto burst = type == stream::kind::burst;
  for (auto [field, fits] :
       {rule{"rate", paced}, rule{"from", paced}, rule{"to", paced},
        rule{"jobs", burst}, rule{"at", burst}, rule{"times", burst},
        rule{"every", burst}, rule{"file", type == stream::kind::trace}})
    if (!fits && in.has(field))
      in.complaints().add(in.path_of(field), std::string{"is not for type '"}
                                               + to_string(type) + "'");
}

stream read_stream(const std::string& path, std::string_view token,
                   duration length, const std::filesystem::path& folder,
                   http::complaints& out) {
  using kind = stream::kind;
  object_reader in{path,
                   token,
                   {"name", "type", "rate", "from", "to", "jobs", "at", "every",
                    "times", "file", "keys"},
                   out};
  stream s;
  in.require("type");
  s.type =
    in.word("type", kind::steady,
            std::array{kind::steady, kind::poisson, kind::burst, kind::trace});
  s.name = in.text("name", "jobs");
  s.keys = in.integer("keys", 0, 0, keys_max);
  refuse_others(in, s.type);
  if (s.type == kind::burst)
    read_burst(in, s, length);
  else if (s.type == kind::trace)
    read_instants(in, s, length, folder);
  else
    read_rate(in, s, length);
  return s;
}

} // namespace

double expected_jobs(const stream& s) {
  switch (s.type) {
    case stream::kind::burst:
      return static_cast<double>(s.jobs) * static_cast<double>(s.times);
    case stream::kind::trace:
      return static_cast<double>(s.trace.size());
    default:
      return s.rate * to_seconds(s.to - s.from);
  }
}

std::vector<duration> read_trace(const std::string& path,
                                 const std::filesystem::path& file,
                                 duration length, http::complaints& out) {
  std::vector<duration> result;
  auto text = read_file(file, trace_bytes_max);
  if (!text) {
    out.add(path, "cannot be read, or is longer than "
                    + std::to_string(trace_bytes_max) + " bytes");
    return result;
  }
  std::string_view rest = *text;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.empty() || line.front() == '#')
      continue;
    auto at = read_instant(line);
    auto earliest = result.empty() ? duration{0} : result.back();
    if (!at || *at < earliest || *at > length || result.size() == trace_max) {
      out.add(path, "line " + std::to_string(number) + " must be a number of "
                      + "seconds from that of the line before to `duration`, "
                      + "one of at most " + std::to_string(trace_max)
                      + ", got '" + http::shorten(line) + "'");
      break;
    }
    result.push_back(*at);
  }
  return result;
}

std::vector<stream> read_arrivals(object_reader& top, duration length,
                                  const std::filesystem::path& folder) {
  std::vector<stream> result;
  auto& out = top.complaints();
  double jobs = 0;
  for (auto& [path, token] : top.elements("arrivals", streams_max)) {
    result.push_back(read_stream(path, token, length, folder, out));
    jobs += expected_jobs(result.back());
    auto last = result.size() - 1;
    for (std::size_t i = 0; i < last; ++i)
      if (result[i].name == result[last].name)
        out.add(path + ".name", "must be another one than that of arrivals["
                                  + std::to_string(i) + "], got '"
                                  + http::shorten(result[i].name) + "'");
  }
  if (jobs > jobs_max)
    out.add("arrivals", "must be at most 5000000 jobs, got "
                          + std::to_string(std::llround(jobs)));
  if (top.has("arrivals") && result.empty() && out.empty())
    out.add("arrivals", "must be at least 1 stream, got 0");
  return result;
}

} // namespace tidegate::sim
