// What a queue and a job look like from outside.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tidegate/ids.hpp"
#include "tidegate/job.hpp"
#include "tidegate/store.hpp"
#include "tidegate/time.hpp"

namespace tidegate {

/// Anything that keeps a job from going out.
enum class gate_kind : std::uint8_t {
  /// The queue is held until a release time.
  hold,
  /// The queue is held and its one probe is out.
  probe,
  /// An operator paused the queue.
  paused,
  /// As many deliveries are in flight as may be.
  concurrency,
  /// As many deliveries started in the window as may.
  rate,
  /// The publisher asked for a delay.
  delay,
  /// The job failed and waits for its retry.
  backoff,
  /// The downstream or a worker named a time for this job.
  defer,
  /// The limit key is held until a release time.
  key_hold,
  /// The limit key is held and its one probe is out.
  key_probe,
  /// As many deliveries of the limit key are in flight as may be.
  key_concurrency,
  /// As many deliveries of the limit key started in the window as may.
  key_rate,
  /// As many deliveries of all queues are in flight as may be.
  global_concurrency,
  /// The queue comes back from a hold step by step.
  ramp,
};

/// Returns the word of the API, e.g. `concurrency`.
const char* to_string(gate_kind gate);

/// One gate that is shut, and until when.
struct blocked_by {
  gate_kind gate = gate_kind::hold;

  /// Since when it is shut, where that is known.
  std::optional<wall_time> since;

  /// When it opens, where that is a matter of time.
  std::optional<wall_time> until;

  /// One sentence for people.
  std::string reason;

  /// The job that had the gate shut; of one that is probed, the probe.
  std::optional<job_id> caused_by_job;

  bool operator==(const blocked_by&) const = default;
};

/// How many jobs a queue has: each is in one of the first five.
struct queue_counts {
  std::uint64_t pending = 0;
  std::uint64_t processing = 0;
  std::uint64_t awaiting_ack = 0;
  std::uint64_t completed = 0;
  std::uint64_t dead = 0;

  /// Live jobs that wait for a time of their own.
  std::uint64_t scheduled = 0;

  /// Live jobs that could go but for the gate.
  std::uint64_t held = 0;

  /// Live jobs that are being delivered now.
  std::uint64_t in_flight = 0;

  bool operator==(const queue_counts&) const = default;
};

/// A queue with its figures at one moment.
struct queue_view {
  queue_record queue;
  queue_counts counts;

  /// Empty when a job that is due may go now.
  std::vector<blocked_by> blocked;

  /// Age of the oldest live job, if there is one.
  std::optional<duration> oldest_age;
};

/// A limit key that is held, probing or busy.
struct limit_key_view {
  std::string key;
  gate_record gate;
  /// Jobs that are due and wait for their turn.
  std::uint64_t ready = 0;
  std::uint64_t in_flight = 0;
  std::vector<blocked_by> blocked;
};

/// A job with what its queue says about it.
struct job_view {
  job_record record;
  std::string queue_name;

  /// Of the queue as it is set now.
  std::uint64_t max_attempts = 0;
  std::uint64_t max_defers = 0;

  /// Empty when the job may go now, is being delivered or has ended.
  std::vector<blocked_by> blocked;
};

} // namespace tidegate
