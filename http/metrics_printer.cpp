#include "http/metrics_printer.hpp"

#include <utility>

#include <caf/result.hpp>
#include <caf/typed_behavior.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace tidegate::http {

metrics_printer::behavior_type
make_metrics_printer(metrics_printer::pointer self, metrics_sources sources) {
  return {
    [self, sources](const print_metrics_of& what) {
      auto answer = self->make_response_promise<metrics_text>();
      auto whole_server = !what.project;
      self
        ->request(sources.metrics, caf::infinite,
                  collect_metrics{what.project, sources.queues_max})
        .then(
          [answer, whole_server,
           server = sources.server](const service_metrics& all) mutable {
            auto figures = whole_server ? std::optional{server()}
                                        : std::nullopt;
            answer.deliver(metrics_text{print_metrics(all, figures)});
          },
          [answer](const caf::error& reason) mutable {
            answer.deliver(reason);
          });
      return answer;
    },
  };
}

} // namespace tidegate::http
