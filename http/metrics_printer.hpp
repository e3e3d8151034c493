// The PRINTER actor: collects metrics and prints them.

#pragma once

#include <functional>
#include <optional>
#include <string>

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/typed_actor.hpp>
#include <caf/typed_response_promise.hpp>

#include "http/metrics.hpp"
#include "tidegate/protocol.hpp"

namespace tidegate::http {

/// Asks for metrics as text: of one project, or of everything and the server.
struct print_metrics_of {
  std::optional<std::string> project;
};

struct metrics_text {
  std::string text;
};

/// Printing thousands of queues takes longer than a socket should wait, so in a
/// server it has a thread of its own.
using metrics_printer =
  caf::typed_actor<caf::replies_to<print_metrics_of>::with<metrics_text>>;

/// What a printer needs.
struct metrics_sources {
  metrics_actor metrics;

  /// Called by the printer.
  std::function<server_figures()> server;

  /// See `collect_metrics`.
  std::size_t queues_max = 1000;
};

metrics_printer::behavior_type
make_metrics_printer(metrics_printer::pointer self, metrics_sources sources);

} // namespace tidegate::http

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::http::print_metrics_of)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tidegate::http::metrics_text)
