// The METRICS actor: asks everybody how it is, for whoever wants to know.

#pragma once

#include <cstddef>
#include <memory>

#include <caf/typed_response_promise.hpp>

#include "actors/environment.hpp"
#include "actors/metrics_protocol.hpp"
#include "tidegate/protocol.hpp"

namespace tidegate {

/// Counts nothing itself. Queues are asked a few at a time, so that neither
/// they nor this actor have a long list of messages before them.
class metrics_state {
public:
  explicit metrics_state(metrics_actor::pointer self);

  static inline const char* name = "tidegate.metrics";

  template <class T>
  using promise = caf::typed_response_promise<T>;

  void open(environment_ptr env, meter_directory queues, events_actor events);

  promise<service_metrics> handle(collect_metrics& request);

private:
  struct scrape;

  void begin(std::shared_ptr<scrape> s, meter_list& all);
  void ask_more(std::shared_ptr<scrape> s);
  void finish(scrape& s);

  metrics_actor::pointer self_;
  environment_ptr env_;
  meter_directory queues_;
  events_actor events_;
  std::size_t under_way_ = 0;
};

metrics_actor::behavior_type
make_metrics(metrics_actor::stateful_pointer<metrics_state> self,
             environment_ptr env, meter_directory queues, events_actor events);

} // namespace tidegate
