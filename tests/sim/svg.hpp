// Writes SVG 1.1 documents, element by element.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tidegate::sim {

/// Returns `value` with so many digits after the point at most, without zeros
/// at the end: the same wherever it runs.
/// @pre `value` is finite
std::string to_decimal(double value, int digits);

/// A point of the drawing. Unit: pixels, downwards.
struct point {
  double x = 0;
  double y = 0;
};

/// A document of a given size. Looks come by class from a style sheet.
class svg_document {
public:
  /// `style`: CSS. `title`: what it shows, for those who do not see it.
  svg_document(double width, double height, std::string_view style,
               std::string_view title);

  void rect(const char* looks, point corner, double width, double height);

  void line(const char* looks, point from, point to);

  /// Draws a line through all points.
  void path(const char* looks, const std::vector<point>& points);

  /// Fills what is between the points and a horizontal line at `floor`.
  void area(const char* looks, const std::vector<point>& points, double floor);

  /// `anchor`: `start`, `middle` or `end` of the text is at the point.
  void text(const char* looks, point at, const char* anchor,
            std::string_view content);

  /// Returns the document. It can be used no more.
  std::string take();

private:
  std::string begin(const char* element, const char* looks) const;

  std::string out_;
};

/// Values on an axis that are easily read: 0, and multiples of 1, 2 or 5 times
/// a power of ten.
struct scale {
  /// The end of the axis, at least the largest value.
  double max = 1;
  double step = 1;
};

/// Returns a scale for values up to `largest` in at most `steps` steps.
scale scale_for(double largest, int steps);

/// The same of a time axis: seconds, minutes, hours or days.
struct time_scale {
  double max = 1;
  double step = 1;

  /// Seconds in a unit, and what it is called.
  double unit = 1;
  const char* name = "s";
};

/// Returns a scale that ends at `seconds`.
time_scale time_scale_for(double seconds, int steps);

} // namespace tidegate::sim
