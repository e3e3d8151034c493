// The words for the enumerations, as API and logs show them.

#include "tidegate/delivery_account.hpp"
#include "tidegate/event.hpp"
#include "tidegate/job.hpp"
#include "tidegate/store.hpp"
#include "tidegate/view.hpp"

namespace tidegate {

const char* to_string(job_status status) {
  switch (status) {
    case job_status::pending:
      return "pending";
    case job_status::processing:
      return "processing";
    case job_status::completed:
      return "completed";
    case job_status::dead:
      return "dead";
    case job_status::awaiting_ack:
      return "awaiting_ack";
  }
  return "unknown";
}

const char* to_string(delivery_decision decision) {
  switch (decision) {
    case delivery_decision::completed:
      return "completed";
    case delivery_decision::awaiting_ack:
      return "awaiting_ack";
    case delivery_decision::retry:
      return "retry";
    case delivery_decision::defer:
      return "defer";
    case delivery_decision::dead:
      return "dead";
    case delivery_decision::again:
      return "again";
    case delivery_decision::known:
      return "known";
  }
  return "unknown";
}

const char* to_string(dead_reason reason) {
  switch (reason) {
    case dead_reason::none:
      return "none";
    case dead_reason::attempts_exhausted:
      return "attempts_exhausted";
    case dead_reason::defer_cap_exhausted:
      return "defer_cap_exhausted";
    case dead_reason::retry_after_exceeds_lifetime:
      return "retry_after_exceeds_lifetime";
    case dead_reason::lifetime_exceeded:
      return "lifetime_exceeded";
    case dead_reason::nack_not_retryable:
      return "nack_not_retryable";
    case dead_reason::ack_timeout:
      return "ack_timeout";
    case dead_reason::cancelled:
      return "cancelled";
  }
  return "unknown";
}

const char* to_string(delivery_status status) {
  switch (status) {
    case delivery_status::success:
      return "success";
    case delivery_status::failed:
      return "failed";
    case delivery_status::deferred:
      return "deferred";
    case delivery_status::interrupted:
      return "interrupted";
    case delivery_status::nacked:
      return "nacked";
    case delivery_status::replayed:
      return "replayed";
    case delivery_status::lease_nacked:
      return "lease_nacked";
    case delivery_status::lease_released:
      return "lease_released";
  }
  return "unknown";
}

const char* to_string(delivery_errc code) {
  switch (code) {
    case delivery_errc::none:
      return "none";
    case delivery_errc::dns_failed:
      return "dns_failed";
    case delivery_errc::target_blocked:
      return "target_blocked";
    case delivery_errc::connect_failed:
      return "connect_failed";
    case delivery_errc::tls_failed:
      return "tls_failed";
    case delivery_errc::tls_certificate_expired:
      return "tls_certificate_expired";
    case delivery_errc::tls_certificate_untrusted:
      return "tls_certificate_untrusted";
    case delivery_errc::tls_certificate_name_mismatch:
      return "tls_certificate_name_mismatch";
    case delivery_errc::tls_certificate_not_yet_valid:
      return "tls_certificate_not_yet_valid";
    case delivery_errc::tls_certificate_self_signed:
      return "tls_certificate_self_signed";
    case delivery_errc::tls_certificate_issuer_unknown:
      return "tls_certificate_issuer_unknown";
    case delivery_errc::connection_reset:
      return "connection_reset";
    case delivery_errc::timeout:
      return "timeout";
    case delivery_errc::malformed_response:
      return "malformed_response";
    case delivery_errc::invalid_url:
      return "invalid_url";
    case delivery_errc::aborted:
      return "aborted";
    case delivery_errc::ack_timeout:
      return "ack_timeout";
  }
  return "unknown";
}

const char* to_string(gate_state state) {
  switch (state) {
    case gate_state::open:
      return "open";
    case gate_state::held:
      return "held";
    case gate_state::probing:
      return "probing";
  }
  return "unknown";
}

const char* to_string(probe_verdict verdict) {
  switch (verdict) {
    case probe_verdict::success:
      return "success";
    case probe_verdict::refused:
      return "refused";
    case probe_verdict::deferred:
      return "deferred";
    case probe_verdict::no_verdict:
      return "no_verdict";
  }
  return "unknown";
}

const char* to_string(hold_cause cause) {
  switch (cause) {
    case hold_cause::none:
      return "none";
    case hold_cause::downstream:
      return "downstream";
    case hold_cause::probe_failed:
      return "probe_failed";
    case hold_cause::worker:
      return "worker";
    case hold_cause::operator_hold:
      return "operator";
  }
  return "unknown";
}

const char* to_string(gate_kind gate) {
  switch (gate) {
    case gate_kind::hold:
      return "hold";
    case gate_kind::probe:
      return "probe";
    case gate_kind::paused:
      return "paused";
    case gate_kind::concurrency:
      return "concurrency";
    case gate_kind::rate:
      return "rate";
    case gate_kind::delay:
      return "delay";
    case gate_kind::backoff:
      return "backoff";
    case gate_kind::defer:
      return "defer";
    case gate_kind::key_hold:
      return "key_hold";
    case gate_kind::key_probe:
      return "key_probe";
    case gate_kind::key_concurrency:
      return "key_concurrency";
    case gate_kind::key_rate:
      return "key_rate";
    case gate_kind::global_concurrency:
      return "global_concurrency";
    case gate_kind::ramp:
      return "ramp";
  }
  return "unknown";
}

const char* to_string(operation_kind kind) {
  switch (kind) {
    case operation_kind::dlq_replay:
      return "dlq_replay";
    case operation_kind::redrive:
      return "redrive";
  }
  return "unknown";
}

const char* to_string(operation_state state) {
  switch (state) {
    case operation_state::running:
      return "running";
    case operation_state::done:
      return "done";
    case operation_state::cancelled:
      return "cancelled";
    case operation_state::failed:
      return "failed";
  }
  return "unknown";
}

const char* to_string(delivery_mode mode) {
  switch (mode) {
    case delivery_mode::standard:
      return "standard";
    case delivery_mode::ack:
      return "ack";
  }
  return "unknown";
}

const char* to_string(ack_timeout_action action) {
  switch (action) {
    case ack_timeout_action::retry:
      return "retry";
    case ack_timeout_action::dead:
      return "dead";
  }
  return "unknown";
}

const char* to_string(backpressure_scope scope) {
  switch (scope) {
    case backpressure_scope::queue:
      return "queue";
    case backpressure_scope::key:
      return "key";
  }
  return "unknown";
}

const char* to_string(event_kind kind) {
  switch (kind) {
    case event_kind::queue_held:
      return "queue.held";
    case event_kind::queue_released:
      return "queue.released";
    case event_kind::queue_probing:
      return "queue.probing";
    case event_kind::queue_opened:
      return "queue.opened";
    case event_kind::queue_paused:
      return "queue.paused";
    case event_kind::queue_resumed:
      return "queue.resumed";
    case event_kind::queue_changed:
      return "queue.changed";
    case event_kind::job_dead:
      return "job.dead";
    case event_kind::job_replayed:
      return "job.replayed";
    case event_kind::queue_secret_rotated:
      return "queue.secret_rotated";
    case event_kind::store_failed:
      return "store.failed";
    case event_kind::store_recovered:
      return "store.recovered";
    case event_kind::queue_created:
      return "queue.created";
    case event_kind::queue_deleted:
      return "queue.deleted";
    case event_kind::message_dead:
      return "message.dead";
    case event_kind::messages_redriven:
      return "messages.redriven";
    case event_kind::operation_started:
      return "operation.started";
    case event_kind::operation_ended:
      return "operation.ended";
    case event_kind::queue_purged:
      return "queue.purged";
    case event_kind::dead_letters_deleted:
      return "dead_letters.deleted";
  }
  return "unknown";
}

} // namespace tidegate
