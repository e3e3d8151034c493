#include "http/metrics.hpp"

#include <initializer_list>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include <prometheus/metric_family.h>
#include <prometheus/metric_type.h>
#include <prometheus/text_serializer.h>

namespace tidegate::http {

namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using label_list = std::vector<ClientMetric::Label>;

constexpr auto counter = MetricType::Counter;
constexpr auto gauge = MetricType::Gauge;

/// Families in the order in which they are printed.
class page {
public:
  /// Begins a family; what is put next belongs to it.
  page& family(MetricType type, std::string name, std::string help) {
    families_.push_back({std::move(name), std::move(help), type, {}});
    return *this;
  }

  page& put(double value, label_list labels = {}) {
    auto& added = add(std::move(labels));
    added.counter.value = value;
    added.gauge.value = value;
    return *this;
  }

  page& put(std::uint64_t value, label_list labels = {}) {
    return put(static_cast<double>(value), std::move(labels));
  }

  /// Puts a histogram; `bound_of` returns the upper bound of a range.
  template <class Counts, class F>
  void put(const Counts& counts, double sum, F bound_of) {
    auto& out = add({}).histogram;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      out.sample_count += counts[i];
      auto is_last = i + 1 == counts.size();
      out.bucket.push_back(
        {out.sample_count,
         is_last ? std::numeric_limits<double>::infinity() : bound_of(i)});
    }
    out.sample_sum = sum;
  }

  void put(const latency_histogram& what) {
    put(what.counts, to_seconds(what.sum), [](std::size_t i) {
      return to_seconds(duration{latency_histogram::bounds[i]});
    });
  }

  std::string print() const {
    return prometheus::TextSerializer{}.Serialize(families_);
  }

private:
  ClientMetric& add(label_list labels) {
    auto& added = families_.back().metric.emplace_back();
    added.label = std::move(labels);
    return added;
  }

  std::vector<MetricFamily> families_;
};

// -- queues -------------------------------------------------------------------

/// Prints what all queues of one kind have, family by family.
class queue_pages {
public:
  queue_pages(page& out, const service_metrics& what) : out_(out) {
    for (const auto& queue : what.queues)
      queues_.push_back(&queue);
    for (auto rest : {&what.other_push, &what.other_pull})
      if (*rest)
        queues_.push_back(&**rest);
  }

  /// Begins a family and calls `put(queue)` for each queue.
  template <class F>
  void each(MetricType type, const char* name, const char* help, F put) {
    out_.family(type, name, help);
    for (auto queue : queues_)
      put(*queue);
  }

  /// The same, with one number a queue.
  template <class F>
  void one(MetricType type, const char* name, const char* help, F number) {
    each(type, name, help,
         [&](const queue_metrics& q) { out_.put(number(q), labels(q)); });
  }

  /// Puts a number where it is not 0, or is `wanted` all the same.
  void put(const queue_metrics& queue, std::uint64_t number, bool wanted,
           std::initializer_list<std::pair<const char*, const char*>> more) {
    if (number == 0 && !wanted)
      return;
    auto all = labels(queue);
    for (const auto& [name, value] : more)
      all.push_back({name, value});
    out_.put(number, std::move(all));
  }

  /// Sums up what is too much to have for each queue.
  latency_histogram sum(latency_histogram (*of)(const queue_metrics&)) const {
    latency_histogram result;
    for (auto queue : queues_)
      result.add(of(*queue));
    return result;
  }

private:
  static label_list labels(const queue_metrics& queue) {
    auto kind = queue.kind == queue_kind::push ? "push" : "pull";
    auto name = queue.name.empty() ? std::string{"other"} : queue.name;
    return {
      {"project", queue.project}, {"queue", std::move(name)}, {"kind", kind}};
  }

  page& out_;
  std::vector<const queue_metrics*> queues_;
};

void put_depths(queue_pages& out) {
  out.each(
    gauge, "tidegate_queue_jobs",
    "Live jobs or messages, by state: of a pull queue pending ones are "
    "available, processing ones in flight.",
    [&](const queue_metrics& q) {
      out.put(q, q.counts.pending, true, {{"state", "pending"}});
      out.put(q, q.counts.processing, true, {{"state", "processing"}});
      auto delayed = q.kind == queue_kind::pull ? q.counts.scheduled : 0;
      out.put(q, q.counts.awaiting_ack, false, {{"state", "awaiting_ack"}});
      out.put(q, delayed, false, {{"state", "delayed"}});
    });
  out.one(gauge, "tidegate_queue_in_flight",
          "Deliveries under way, or messages that are leased.",
          [](const auto& q) { return q.counts.in_flight; });
  out.one(gauge, "tidegate_queue_oldest_age_seconds",
          "Age of the oldest live job or message, 0 where there is none.",
          [](const auto& q) {
            return to_seconds(q.oldest_age.value_or(duration{0}));
          });
}

void put_gates(queue_pages& out) {
  constexpr const char* states[] = {"open", "held", "probing"};
  constexpr gate_state values[] = {gate_state::open, gate_state::held,
                                   gate_state::probing};
  out.each(gauge, "tidegate_queue_gate_state",
           "1 for the state that the gate is in; of other queues how many.",
           [&](const queue_metrics& q) {
             for (std::size_t i = 0; i < std::size(states); ++i)
               out.put(q, q.gates[static_cast<std::size_t>(values[i])], true,
                       {{"state", states[i]}});
           });
  out.one(gauge, "tidegate_queue_paused", "Whether the queue is paused.",
          [](const auto& q) { return q.paused; });
  out.one(counter, "tidegate_queue_held_seconds_total",
          "For how long the gate was not open.",
          [](const auto& q) { return to_seconds(q.counters.held); });
  out.each(counter, "tidegate_queue_probes_total",
           "Probes of the queue and of its limit keys, by verdict.",
           [&](const queue_metrics& q) {
             for (std::uint8_t i = 0; i < q.counters.deliveries.probes.size();
                  ++i)
               out.put(q, q.counters.deliveries.probes[i], i == 0,
                       {{"verdict", to_string(probe_verdict{i})}});
           });
}

void put_deliveries(queue_pages& out) {
  constexpr const char* outcomes[] = {"success", "failed", "deferred",
                                      "aborted"};
  constexpr const char* classes[] = {"none", "1xx", "2xx", "3xx", "4xx", "5xx"};
  out.each(counter, "tidegate_queue_deliveries_total",
           "Deliveries to the webhook, by outcome and class of the status.",
           [&](const queue_metrics& q) {
             for (std::size_t i = 0; i < std::size(outcomes); ++i)
               for (std::size_t n = 0; n < std::size(classes); ++n)
                 out.put(
                   q, q.counters.deliveries.results[i][n], i == 0 && n == 2,
                   {{"outcome", outcomes[i]}, {"status_class", classes[n]}});
           });
  out.one(counter, "tidegate_queue_defers_total",
          "Deliveries that ended in \"not now\", by the webhook's word or the "
          "worker's.",
          [](const auto& q) { return q.counters.defers; });
}

void put_lives(queue_pages& out) {
  out.one(counter, "tidegate_queue_published_total",
          "Jobs or messages that were stored.",
          [](const auto& q) { return q.counters.published; });
  out.one(counter, "tidegate_queue_completed_total",
          "Jobs that were done, or messages that were acked.",
          [](const auto& q) {
            return q.kind == queue_kind::push ? q.counters.completed
                                              : q.totals.acked;
          });
  out.each(
    counter, "tidegate_queue_dead_total",
    "Jobs that were given up on, by reason; messages that went to the "
    "dead-letter queue.",
    [&](const queue_metrics& q) {
      if (q.kind == queue_kind::pull)
        return out.put(q, q.totals.dead_lettered, true,
                       {{"reason", "max_receive_count"}});
      const auto& dead = q.counters.dead;
      // All from the start: where one first shows with its first deaths,
      // Prometheus sees no increase.
      for (std::uint8_t i = 1; i < dead.size(); ++i)
        out.put(q, dead[i], true, {{"reason", to_string(dead_reason{i})}});
    });
  out.each(counter, "tidegate_queue_received_total",
           "Messages that were handed out, each as often as that happened.",
           [&](const queue_metrics& q) {
             out.put(q, q.totals.received, q.kind == queue_kind::pull, {});
           });
}

void put_queues(page& out, const service_metrics& what) {
  queue_pages queues{out, what};
  put_depths(queues);
  put_gates(queues);
  put_deliveries(queues);
  put_lives(queues);
  out.family(MetricType::Histogram, "tidegate_delivery_duration_seconds",
             "From the start of a POST to its end, over all queues.");
  out.put(queues.sum(
    [](const queue_metrics& q) { return q.counters.deliveries.latency; }));
  out.family(MetricType::Histogram, "tidegate_publish_duration_seconds",
             "From the arrival of a publish at its queue to its commit, over "
             "all queues.");
  out.put(queues.sum(
    [](const queue_metrics& q) { return q.counters.publish_latency; }));
}

// -- the server ---------------------------------------------------------------

void put_commits(page& out, const commit_metrics& what) {
  out.family(MetricType::Histogram, "tidegate_commit_duration_seconds",
             "How long commits took.");
  out.put(what.latency);
  out.family(MetricType::Histogram, "tidegate_commit_records",
             "How many records were committed at once.");
  out.put(what.batches, static_cast<double>(what.records), [](std::size_t i) {
    return static_cast<double>(commit_metrics::batch_bounds[i]);
  });
  out
    .family(counter, "tidegate_commit_failures_total",
            "Commits that the store refused.")
    .put(what.failures);
  out
    .family(gauge, "tidegate_commit_backlog_records",
            "Records that wait for their commit.")
    .put(what.backlog);
}

void put_server(page& out, const service_metrics& what,
                const server_figures& server) {
  out.family(gauge, "tidegate_data_bytes", "Size of the data file.")
    .put(server.data_bytes);
  out
    .family(gauge, "tidegate_wal_bytes",
            "Size of the write-ahead log of the data file.")
    .put(server.wal_bytes);
  out.family(gauge, "tidegate_actors", "Actors that run.").put(what.actors);
  out.family(gauge, "tidegate_http_connections", "Connections that are open.")
    .put(server.connections);
  out
    .family(counter, "tidegate_events_total",
            "Events that have happened, see /v1/events.")
    .put(what.events.numbered);
  out.family(gauge, "tidegate_event_streams", "Event streams that are open.")
    .put(what.events.streams);
  out
    .family(counter, "tidegate_event_streams_dropped_total",
            "Event streams whose reader was too slow.")
    .put(what.events.dropped);
}

/// Under the names that all clients of Prometheus use.
void put_process(page& out, const process_figures& what) {
  out.family(gauge, "process_resident_memory_bytes", "Resident memory.")
    .put(what.resident_bytes);
  out.family(gauge, "process_virtual_memory_bytes", "Virtual memory.")
    .put(what.virtual_bytes);
  out
    .family(counter, "process_cpu_seconds_total",
            "User and system time on the processor.")
    .put(what.cpu_seconds);
  out.family(gauge, "process_open_fds", "Open file descriptors.")
    .put(what.open_files);
  out.family(gauge, "process_max_fds", "Most open file descriptors.")
    .put(what.open_files_max);
  out.family(gauge, "process_threads", "Threads.").put(what.threads);
  out
    .family(gauge, "process_start_time_seconds",
            "When the process was started, since the Unix epoch.")
    .put(what.start_seconds);
}

} // namespace

std::string print_metrics(const service_metrics& what,
                          const std::optional<server_figures>& server) {
  page out;
  put_queues(out, what);
  if (server) {
    put_commits(out, what.commits);
    put_server(out, what, *server);
    put_process(out, server->process);
  }
  return out.print();
}

} // namespace tidegate::http
