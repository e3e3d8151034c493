#include "tests/sim/svg.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace tidegate::sim {

namespace {

std::string escape(std::string_view text) {
  std::string result;
  for (char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else
      result += c;
  }
  return result;
}

/// Coordinates to a tenth of a pixel.
std::string px(double value) {
  return to_decimal(value, 1);
}

std::string attribute(const char* name, std::string_view value) {
  return std::string{" "} + name + "=\"" + std::string{value} + "\"";
}

std::string joined(const std::vector<point>& points) {
  std::string result;
  for (auto [x, y] : points)
    result += (result.empty() ? "M" : "L") + px(x) + " " + px(y);
  return result;
}

double first_at_least(double wanted, double unit,
                      std::initializer_list<double> factors) {
  for (auto factor : factors)
    if (factor * unit >= wanted)
      return factor * unit;
  return 0;
}

} // namespace

std::string to_decimal(double value, int digits) {
  std::array<char, 400> buffer;
  auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                           std::chars_format::fixed, digits)
               .ptr;
  std::string result{buffer.data(), end};
  if (digits > 0) {
    result.erase(result.find_last_not_of('0') + 1);
    if (result.back() == '.')
      result.pop_back();
  }
  return result == "-0" ? "0" : result;
}

svg_document::svg_document(double width, double height, std::string_view style,
                           std::string_view title) {
  auto w = px(width);
  auto h = px(height);
  out_ = "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\""
         + attribute("width", w) + attribute("height", h)
         + attribute("viewBox", "0 0 " + w + " " + h) + ">\n<title>"
         + escape(title) + "</title>\n<style>\n" + std::string{style}
         + "</style>\n";
  rect("paper", {0, 0}, width, height);
}

std::string svg_document::begin(const char* element, const char* looks) const {
  return std::string{"<"} + element + attribute("class", looks);
}

void svg_document::rect(const char* looks, point corner, double width,
                        double height) {
  out_ += begin("rect", looks) + attribute("x", px(corner.x))
          + attribute("y", px(corner.y)) + attribute("width", px(width))
          + attribute("height", px(height)) + "/>\n";
}

void svg_document::line(const char* looks, point from, point to) {
  out_ += begin("line", looks) + attribute("x1", px(from.x))
          + attribute("y1", px(from.y)) + attribute("x2", px(to.x))
          + attribute("y2", px(to.y)) + "/>\n";
}

void svg_document::path(const char* looks, const std::vector<point>& points) {
  if (!points.empty())
    out_ += begin("path", looks) + attribute("d", joined(points)) + "/>\n";
}

void svg_document::area(const char* looks, const std::vector<point>& points,
                        double floor) {
  if (points.empty())
    return;
  auto outline = points;
  outline.push_back({points.back().x, floor});
  outline.push_back({points.front().x, floor});
  out_ += begin("path", looks) + attribute("d", joined(outline) + "Z") + "/>\n";
}

void svg_document::text(const char* looks, point at, const char* anchor,
                        std::string_view content) {
  out_ += begin("text", looks) + attribute("x", px(at.x))
          + attribute("y", px(at.y)) + attribute("text-anchor", anchor) + ">"
          + escape(content) + "</text>\n";
}

std::string svg_document::take() {
  return std::move(out_) + "</svg>\n";
}

scale scale_for(double largest, int steps) {
  if (!(largest > 0))
    return {1, 1};
  auto wanted = largest / steps;
  auto unit = std::pow(10, std::floor(std::log10(wanted)));
  auto step = first_at_least(wanted * (1 - 1e-9), unit, {1, 2, 5, 10});
  return {step * std::ceil(largest / step - 1e-9), step};
}

time_scale time_scale_for(double seconds, int steps) {
  constexpr double minute = 60;
  constexpr double hour = 3'600;
  constexpr double day = 86'400;
  auto wanted = seconds / steps;
  if (seconds <= 3 * minute)
    return {seconds, scale_for(seconds, steps).step, 1, "s"};
  if (seconds <= 3 * hour)
    return {seconds,
            first_at_least(wanted, minute, {1, 2, 5, 10, 15, 20, 30, 60}),
            minute, "min"};
  if (seconds <= 3 * day)
    return {seconds, first_at_least(wanted, hour, {1, 2, 3, 6, 12, 24}), hour,
            "h"};
  return {seconds, day * scale_for(seconds / day, steps).step, day, "days"};
}

} // namespace tidegate::sim
