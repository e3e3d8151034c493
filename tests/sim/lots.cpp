#include "tests/sim/lots.hpp"

#include <cmath>
#include <numbers>

namespace tidegate::sim {

namespace {

/// The normal distribution has 99 % below this many deviations.
constexpr double deviations_of_p99 = 2.3263478740408408;

} // namespace

duration to_duration(double seconds) {
  return duration{std::llround(seconds * 1e6)};
}

double lots::exponential(double mean) {
  return -mean * std::log1p(-share());
}

/// Box and Muller 1958, of whose two numbers one is taken.
double lots::normal() {
  auto radius = std::sqrt(exponential(2));
  return radius * std::cos(2 * std::numbers::pi * share());
}

duration lots::draw(const latency_model& model) {
  auto a = to_seconds(model.a);
  auto b = to_seconds(model.b);
  switch (model.type) {
    case latency_model::kind::fixed:
      break;
    case latency_model::kind::uniform:
      return to_duration(a + (b - a) * share());
    case latency_model::kind::exponential:
      return to_duration(exponential(a));
    case latency_model::kind::lognormal:
      return to_duration(
        a * std::exp(normal() * std::log(b / a) / deviations_of_p99));
  }
  return model.a;
}

} // namespace tidegate::sim
