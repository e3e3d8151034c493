#include "tidegate/metrics.hpp"

#include <algorithm>

namespace tidegate {

namespace {

void add(queue_counts& sum, const queue_counts& more) {
  sum.pending += more.pending;
  sum.processing += more.processing;
  sum.awaiting_ack += more.awaiting_ack;
  sum.completed += more.completed;
  sum.dead += more.dead;
  sum.scheduled += more.scheduled;
  sum.held += more.held;
  sum.in_flight += more.in_flight;
}

void add(pull_totals& sum, const pull_totals& more) {
  sum.published += more.published;
  sum.received += more.received;
  sum.acked += more.acked;
  sum.nacked += more.nacked;
  sum.expired += more.expired;
  sum.dead_lettered += more.dead_lettered;
  sum.redriven += more.redriven;
  sum.retired += more.retired;
}

} // namespace

void queue_metrics::add(const queue_metrics& more) {
  tidegate::add(counts, more.counts);
  if (more.oldest_age)
    oldest_age = std::max(oldest_age.value_or(duration{0}), *more.oldest_age);
  add_to(gates, more.gates);
  paused += more.paused;
  counters.add(more.counters);
  tidegate::add(totals, more.totals);
}

} // namespace tidegate
