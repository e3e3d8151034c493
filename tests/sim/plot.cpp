// Draws the plots: a column for each variant, a row for each series.

#include <algorithm>
#include <cmath>
#include <functional>

#include "tests/sim/report.hpp"
#include "tests/sim/svg.hpp"

namespace tidegate::sim {

namespace {

constexpr char style[] = R"(text{font:12px system-ui,sans-serif;fill:#59636e}
.paper{fill:#fff}.name{font-size:16px;font-weight:600;fill:#1f2328}
.head{font-size:14px;font-weight:600;fill:#1f2328}.row{font-weight:600}
.grid{stroke:#d1d9e0;stroke-width:1}.axis{stroke:#818b98;stroke-width:1}
path{fill:none;stroke-width:1.5;stroke-linejoin:round}
.blue{stroke:#0969da}.blue-area{fill:#0969da;fill-opacity:.15}
.green{stroke:#1a7f37}.green-area{fill:#1a7f37;fill-opacity:.15}
.red{stroke:#cf222e}.red-area{fill:#cf222e;fill-opacity:.15}
.violet{stroke:#8250df}.violet-area{fill:#8250df;fill-opacity:.15}
.outage{fill:#818b98;fill-opacity:.16}
.open{fill:#aceebb}.held{fill:#bc4c00}.probing{fill:#eac54f}
@media (prefers-color-scheme:dark){text{fill:#9198a1}.paper{fill:#0d1117}
.name,.head{fill:#f0f6fc}.grid{stroke:#2a313c}.axis{stroke:#656c76}
.blue{stroke:#58a6ff}.blue-area{fill:#58a6ff}
.green{stroke:#3fb950}.green-area{fill:#3fb950}
.red{stroke:#f85149}.red-area{fill:#f85149}
.violet{stroke:#ab7df8}.violet-area{fill:#ab7df8}
.open{fill:#1b4a2a}.held{fill:#f0883e}.probing{fill:#e3b341}}
)";

// Pixels.
constexpr double left = 64;
constexpr double right = 20;
constexpr double top = 104;
constexpr double bottom = 50;
constexpr double column_gap = 30;
constexpr double row_gap = 38;
constexpr double band_height = 24;

/// A series, drawn as a line over its area.
struct series {
  const char* title;
  const char* looks;
  const char* area_looks;
  double height;

  /// Of a span that lasts so many seconds.
  std::function<double(const bucket&, double)> value;
};

std::vector<series> series_of(std::span<const outcome> results) {
  std::vector<series> all = {
    {"Backlog, jobs", "blue", "blue-area", 120,
     [](const bucket& b, double) { return b.backlog; }},
    {"Deliveries a second", "green", "green-area", 84,
     [](const bucket& b, double span) { return b.deliveries / span; }},
    {"Turned away, deliveries a second", "red", "red-area", 84,
     [](const bucket& b, double span) { return b.refused / span; }}};
  auto has_keys = [](const outcome& o) { return o.key_holds > 0; };
  if (std::any_of(results.begin(), results.end(), has_keys))
    all.push_back(
      {"Limit keys held or probing, on average", "violet", "violet-area", 60,
       [](const bucket& b, double span) { return b.keys_shut / span; }});
  return all;
}

std::string tick_of(double value) {
  return value < 1'000 ? to_decimal(value, 3)
                       : to_words(static_cast<std::uint64_t>(value));
}

/// Spans that are wide enough to be seen.
struct spans {
  double seconds = 1;
  std::vector<bucket> buckets;
};

spans widen(const timeline& times, std::size_t spans_max) {
  auto& all = times.buckets();
  auto group = std::max<std::size_t>(1,
                                     (all.size() + spans_max - 1) / spans_max);
  spans result;
  result.seconds = to_seconds(times.width()) * static_cast<double>(group);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (i % group == 0)
      result.buckets.push_back(all[i]);
    else
      result.buckets.back().merge(all[i]);
  return result;
}

class drawing {
public:
  drawing(const plan& what, std::uint64_t seed,
          std::span<const outcome> results);

  std::string draw();

private:
  double column_left(std::size_t i) const {
    return left + static_cast<double>(i) * (column_width_ + column_gap);
  }

  double x_of(std::size_t column, double seconds) const {
    return column_left(column)
           + std::min(1.0, seconds / time_.max) * column_width_;
  }

  static double width_of(std::size_t columns);
  static double height_of(const std::vector<series>& rows);
  static double seconds_of(std::span<const outcome> results);

  void draw_heads();

  /// Shades the outages behind everything that is drawn from here to `height`
  /// below.
  void shade_outages(std::size_t column, double height);

  void draw_row(const series& row);
  void draw_row_of(std::size_t column, const series& row, const scale& values);
  void draw_band();
  void draw_legend();
  void draw_time_axis(std::size_t column);

  /// Steps of a value over time.
  std::vector<point> steps(std::size_t column, double height,
                           const std::function<double(std::size_t)>& share);

  const plan& plan_;
  std::uint64_t seed_;
  std::span<const outcome> results_;
  std::vector<series> rows_;
  double column_width_;
  double width_;
  svg_document svg_;
  time_scale time_;
  std::vector<spans> spans_;

  /// The upper edge of what is drawn next.
  double y_ = top;
};

double drawing::width_of(std::size_t columns) {
  constexpr double all[] = {760, 420, 300, 240};
  return all[std::min<std::size_t>(columns, 4) - 1];
}

double drawing::height_of(const std::vector<series>& rows) {
  auto result = top + band_height + bottom;
  for (auto& row : rows)
    result += row.height + row_gap;
  return result;
}

double drawing::seconds_of(std::span<const outcome> results) {
  double result = 0;
  for (auto& o : results) {
    auto all = to_seconds(o.times.width())
               * static_cast<double>(o.times.buckets().size());
    result = std::max(result, all);
  }
  return result;
}

drawing::drawing(const plan& what, std::uint64_t seed,
                 std::span<const outcome> results)
  : plan_(what), seed_(seed), results_(results), rows_(series_of(results)),
    column_width_(width_of(results.size())),
    width_(column_left(results.size()) - column_gap + right),
    svg_(width_, height_of(rows_), style, what.name),
    time_(time_scale_for(seconds_of(results),
                         std::max(3, static_cast<int>(column_width_ / 60)))) {
  for (auto& o : results)
    spans_.push_back(widen(o.times, static_cast<std::size_t>(column_width_)));
}

void drawing::draw_heads() {
  svg_.text("name", {left, 28}, "start", plan_.name);
  for (std::size_t i = 0; i < results_.size(); ++i) {
    auto& o = results_[i];
    svg_.text("head", {column_left(i), 54}, "start", o.name);
    auto says = to_words(o.refused) + " wasted, " + to_words(o.burned)
                + " burned, " + to_words(o.dead) + " dead";
    svg_.text("note", {column_left(i), 71}, "start", says);
  }
}

std::vector<point>
drawing::steps(std::size_t column, double height,
               const std::function<double(std::size_t)>& share) {
  std::vector<point> result;
  auto& s = spans_[column];
  for (std::size_t i = 0; i < s.buckets.size(); ++i) {
    auto y = y_ + height * (1 - share(i));
    auto from = x_of(column, s.seconds * static_cast<double>(i));
    auto to = x_of(column, s.seconds * static_cast<double>(i + 1));
    // What is level needs no point in its middle.
    if (!result.empty() && std::abs(result.back().y - y) < 0.05)
      result.back().x = to;
    else
      result.insert(result.end(), {{from, y}, {to, y}});
  }
  return result;
}

void drawing::shade_outages(std::size_t column, double height) {
  for (auto& out : plan_.downstream.outages) {
    auto from = x_of(column, to_seconds(out.from));
    auto to = x_of(column, to_seconds(out.from + out.length));
    if (to > from)
      svg_.rect("outage", {from, y_}, std::max(1.0, to - from), height);
  }
}

void drawing::draw_row_of(std::size_t column, const series& row,
                          const scale& values) {
  auto x = column_left(column);
  shade_outages(column, row.height);
  for (double v = 0; v <= values.max * (1 + 1e-9); v += values.step) {
    auto y = y_ + row.height * (1 - v / values.max);
    svg_.line(v == 0 ? "axis" : "grid", {x, y}, {x + column_width_, y});
    if (column == 0)
      svg_.text("tick", {x - 8, y + 4}, "end", tick_of(v));
  }
  auto& s = spans_[column];
  auto line = steps(column, row.height, [&](std::size_t i) {
    return row.value(s.buckets[i], s.seconds) / values.max;
  });
  svg_.area(row.area_looks, line, y_ + row.height);
  svg_.path(row.looks, line);
}

void drawing::draw_row(const series& row) {
  double largest = 0;
  for (auto& s : spans_)
    for (auto& b : s.buckets)
      largest = std::max(largest, row.value(b, s.seconds));
  svg_.text("row", {left, y_ - 10}, "start", row.title);
  auto values = scale_for(largest, row.height > 100 ? 4 : 3);
  for (std::size_t i = 0; i < results_.size(); ++i)
    draw_row_of(i, row, values);
  y_ += row.height + row_gap;
}

/// Held below, probing on top of it; the rest is open.
void drawing::draw_band() {
  for (std::size_t i = 0; i < results_.size(); ++i) {
    auto& s = spans_[i];
    auto held = [&](std::size_t n) { return s.buckets[n].held / s.seconds; };
    auto shut = [&](std::size_t n) {
      return std::min(1.0, held(n) + s.buckets[n].probing / s.seconds);
    };
    auto end = s.seconds * static_cast<double>(s.buckets.size());
    svg_.rect("open", {column_left(i), y_}, x_of(i, end) - column_left(i),
              band_height);
    svg_.area("probing", steps(i, band_height, shut), y_ + band_height);
    svg_.area("held", steps(i, band_height, held), y_ + band_height);
    draw_time_axis(i);
  }
}

void drawing::draw_legend() {
  double x = left;
  svg_.text("row", {x, y_ - 10}, "start", "Gate, share of time");
  x += 142;
  struct entry {
    const char* looks;
    const char* word;
    double width;
  };
  auto outages = !plan_.downstream.outages.empty();
  for (auto [looks, word, width] :
       {entry{"open", "open", 58}, entry{"held", "held", 54},
        entry{"probing", "probing", 74}, entry{"outage", "outage", 0}}) {
    if (width == 0 && !outages)
      continue;
    svg_.rect(looks, {x, y_ - 20}, 11, 11);
    svg_.text("tick", {x + 16, y_ - 10}, "start", word);
    x += width;
  }
}

void drawing::draw_time_axis(std::size_t column) {
  auto y = y_ + band_height;
  for (double t = 0; t <= time_.max * (1 + 1e-9); t += time_.step) {
    auto x = x_of(column, t);
    svg_.line("axis", {x, y}, {x, y + 5});
    svg_.text("tick", {x, y + 19}, "middle", to_decimal(t / time_.unit, 3));
  }
  svg_.text("tick", {column_left(column) + column_width_ / 2, y + 37}, "middle",
            std::string{"time, "} + time_.name);
}

std::string drawing::draw() {
  draw_heads();
  for (auto& row : rows_)
    draw_row(row);
  draw_legend();
  draw_band();
  return svg_.take();
}

} // namespace

std::string to_svg(const plan& what, std::uint64_t seed,
                   std::span<const outcome> results) {
  return drawing{what, seed, results}.draw();
}

} // namespace tidegate::sim
