// Alerts as their receiver gets them. Part of the codec.

#pragma once

#include <string>

#include "tidegate/alert.hpp"

namespace tidegate::http {

/// Prints an alert as JSON: the payload of the job that delivers it.
std::string encode(const alert& what);

/// Says an alert in one sentence, without its times.
std::string describe(const alert& what);

} // namespace tidegate::http
