#include "tests/sim/report.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <vector>

#include "tests/sim/svg.hpp"

namespace tidegate::sim {

namespace {

using namespace std::chrono_literals;

using row = std::vector<std::string>;

constexpr char nothing[] = "-";

/// Returns `12 h 5 min` and the like.
std::string two_units(std::int64_t large, const char* large_name,
                      std::int64_t small, const char* small_name) {
  auto result = std::to_string(large) + " " + large_name;
  if (small > 0)
    result += " " + std::to_string(small) + " " + small_name;
  return result;
}

template <class T>
std::string or_nothing(const std::optional<T>& value) {
  return value ? to_words(*value) : nothing;
}

class table {
public:
  explicit table(std::span<const outcome> results) : results_(results) {
    // nop
  }

  /// Adds a row, unless there is nothing to say of any variant.
  template <class F>
  void add(std::string title, F value) {
    row line{std::move(title)};
    for (auto& each : results_)
      line.push_back(value(each));
    auto tells = [](const std::string& word) { return word != nothing; };
    if (std::any_of(line.begin() + 1, line.end(), tells))
      rows_.push_back(std::move(line));
  }

  void add_latency(const std::string& title,
                   const std::function<percentiles(const outcome&)>& of) {
    struct column {
      const char* name;
      duration percentiles::*value;
    };
    for (auto [name, value] :
         {column{"p50", &percentiles::p50}, column{"p90", &percentiles::p90},
          column{"p99", &percentiles::p99}, column{"max", &percentiles::max}})
      add(title + ", " + name, [&](const outcome& o) {
        auto p = of(o);
        return p.count == 0 ? nothing : to_words(p.*value);
      });
  }

  /// Returns the lines, titles to the left and values to the right.
  std::string print() const {
    std::vector<std::size_t> widths(results_.size() + 1);
    for (auto& line : rows_)
      for (std::size_t i = 0; i < line.size(); ++i)
        widths[i] = std::max(widths[i], line[i].size());
    std::string result;
    for (auto& line : rows_) {
      result += line[0] + std::string(widths[0] - line[0].size(), ' ');
      for (std::size_t i = 1; i < line.size(); ++i)
        result += std::string(2 + widths[i] - line[i].size(), ' ') + line[i];
      result += '\n';
    }
    return result;
  }

private:
  std::span<const outcome> results_;
  std::vector<row> rows_;
};

void add_counts(table& t) {
  t.add("", [](auto& o) { return o.name; });
  t.add("jobs", [](auto& o) { return to_words(o.published); });
  t.add("completed", [](auto& o) { return to_words(o.completed); });
  t.add("dead", [](auto& o) { return to_words(o.dead); });
  t.add("left when the plan ended",
        [](auto& o) { return to_words(o.unfinished); });
  t.add("deliveries", [](auto& o) { return to_words(o.deliveries); });
  t.add("wasted deliveries", [](auto& o) { return to_words(o.refused); });
  t.add("attempts burned", [](auto& o) { return to_words(o.burned); });
  t.add("holds", [](auto& o) { return to_words(o.holds + o.key_holds); });
}

void add_times(table& t) {
  t.add("drained at", [](auto& o) { return or_nothing(o.drained_at); });
  t.add("time to drain", [](auto& o) { return or_nothing(o.drain); });
  t.add("in flight, most", [](auto& o) { return to_words(o.in_flight_max); });
  t.add("in flight, most in the 1st second after recovery",
        [](auto& o) { return or_nothing(o.recovery_in_flight_max); });
  t.add("deliveries in the 1st second after recovery",
        [](auto& o) { return or_nothing(o.recovery_deliveries_max); });
}

} // namespace

std::string to_words(std::uint64_t number) {
  auto result = std::to_string(number);
  for (auto i = static_cast<std::ptrdiff_t>(result.size()) - 3; i > 0; i -= 3)
    result.insert(static_cast<std::size_t>(i), ",");
  return result;
}

std::string to_words(duration span) {
  auto ms = std::chrono::round<std::chrono::milliseconds>(span).count();
  if (ms < 1'000)
    return std::to_string(ms) + " ms";
  if (ms < 120'000)
    return to_decimal(static_cast<double>(ms) / 1e3, ms < 10'000 ? 2 : 1)
           + " s";
  auto s = (ms + 500) / 1'000;
  if (s < 7'200)
    return two_units(s / 60, "min", s % 60, "s");
  auto minutes = (s + 30) / 60;
  return two_units(minutes / 60, "h", minutes % 60, "min");
}

std::string to_table(const plan& what, std::uint64_t seed,
                     std::span<const outcome> results) {
  table t{results};
  add_counts(t);
  add_times(t);
  t.add_latency("publish to success",
                [](const outcome& o) { return o.latency; });
  if (what.streams.size() > 1)
    for (std::size_t i = 0; i < what.streams.size(); ++i)
      t.add_latency("  " + what.streams[i].name,
                    [i](const outcome& o) { return o.streams[i].second; });
  return what.name + " (seed " + std::to_string(seed) + ")\n\n" + t.print();
}

} // namespace tidegate::sim
