#include "storage/schema.hpp"

#include <iterator>
#include <string>

namespace tidegate {

namespace {

// "TIDE": marks the file as ours, for us and for file(1).
constexpr std::int64_t application_id = 0x54494445;

// Only ever append to this list; what has been released is never edited.
// storage/README.md says what a migration has to come with.
constexpr const char* migrations[] = {
  // Version 1. Instants and spans are microseconds. Narrow columns come first,
  // so that reading them never follows a row onto further pages.
  R"(
    CREATE TABLE meta (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      last_queue INTEGER NOT NULL,
      last_job INTEGER NOT NULL,
      probes INTEGER NOT NULL
    ) STRICT;
    INSERT INTO meta VALUES (1, 0, 0, 0);

    CREATE TABLE queues (
      id INTEGER PRIMARY KEY,
      name TEXT NOT NULL UNIQUE,
      paused INTEGER NOT NULL,
      paused_since INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      concurrency INTEGER NOT NULL,
      rate_limit_max INTEGER,
      rate_limit_window INTEGER NOT NULL,
      max_attempts INTEGER NOT NULL,
      max_defers INTEGER NOT NULL,
      backoff_kind INTEGER NOT NULL,
      backoff_delay REAL NOT NULL,
      backoff_factor REAL NOT NULL,
      backoff_max_delay REAL NOT NULL,
      backoff_jitter REAL NOT NULL,
      backoff_steps TEXT NOT NULL,
      timeout INTEGER NOT NULL,
      lifetime INTEGER NOT NULL,
      webhook_url TEXT NOT NULL,
      secret TEXT NOT NULL
    ) STRICT;

    CREATE TABLE headers (
      queue INTEGER NOT NULL,
      n INTEGER NOT NULL,
      name TEXT NOT NULL,
      value TEXT NOT NULL,
      PRIMARY KEY (queue, n)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE gates (
      queue INTEGER PRIMARY KEY,
      state INTEGER NOT NULL,
      release_at INTEGER NOT NULL,
      since INTEGER NOT NULL,
      cause INTEGER NOT NULL,
      caused_by TEXT,
      http_status INTEGER,
      failed_probes INTEGER NOT NULL,
      probe_job TEXT,
      probe_delivery INTEGER,
      probe_verdict INTEGER,
      probe_at INTEGER
    ) STRICT;

    CREATE TABLE rates (
      queue INTEGER PRIMARY KEY,
      starts TEXT NOT NULL
    ) STRICT;

    CREATE TABLE counters (
      queue INTEGER PRIMARY KEY,
      completed INTEGER NOT NULL,
      dead INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE jobs (
      seq INTEGER PRIMARY KEY,
      queue INTEGER NOT NULL,
      due INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      waits_for INTEGER NOT NULL,
      status INTEGER NOT NULL,
      started_delivery INTEGER NOT NULL,
      tag INTEGER NOT NULL,
      eligible_at INTEGER NOT NULL,
      attempts INTEGER NOT NULL,
      defers INTEGER NOT NULL,
      deliveries INTEGER NOT NULL,
      waits_since INTEGER NOT NULL,
      entries INTEGER NOT NULL,
      idempotency_key TEXT
    ) STRICT;

    CREATE TABLE ended (
      seq INTEGER PRIMARY KEY,
      queue INTEGER NOT NULL,
      due INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      waits_for INTEGER NOT NULL,
      status INTEGER NOT NULL,
      started_delivery INTEGER NOT NULL,
      tag INTEGER NOT NULL,
      eligible_at INTEGER NOT NULL,
      attempts INTEGER NOT NULL,
      defers INTEGER NOT NULL,
      deliveries INTEGER NOT NULL,
      waits_since INTEGER NOT NULL,
      entries INTEGER NOT NULL,
      idempotency_key TEXT,
      dead_reason INTEGER NOT NULL,
      ended_at INTEGER,
      last_attempt INTEGER,
      last_delivery INTEGER,
      last_status INTEGER,
      last_error TEXT,
      last_error_code INTEGER,
      last_http_status INTEGER,
      last_took INTEGER,
      last_response_excerpt TEXT,
      last_retry_after INTEGER,
      last_at INTEGER
    ) STRICT;

    CREATE TABLE payloads (
      seq INTEGER PRIMARY KEY,
      bytes BLOB NOT NULL
    ) STRICT;

    CREATE TABLE history (
      seq INTEGER NOT NULL,
      n INTEGER NOT NULL,
      attempt INTEGER NOT NULL,
      delivery INTEGER NOT NULL,
      status INTEGER NOT NULL,
      error TEXT NOT NULL,
      error_code INTEGER NOT NULL,
      http_status INTEGER,
      took INTEGER NOT NULL,
      response_excerpt TEXT NOT NULL,
      retry_after INTEGER,
      at INTEGER NOT NULL,
      PRIMARY KEY (seq, n)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE idempotency (
      queue INTEGER NOT NULL,
      key TEXT NOT NULL,
      seq INTEGER NOT NULL,
      PRIMARY KEY (queue, key)
    ) STRICT, WITHOUT ROWID;
  )",

  // Version 2. Names are unique within a project, which SQLite can only say of
  // a table that is made anew. The tables of jobs are made anew as well: every
  // ended row changes anyway, and narrow columns stay in front. Indexes come
  // last, so that they are filled in one go.
  R"(
    CREATE TABLE new_queues (
      id INTEGER PRIMARY KEY,
      project TEXT NOT NULL,
      name TEXT NOT NULL,
      paused INTEGER NOT NULL,
      paused_since INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      updated_at INTEGER NOT NULL,
      mode INTEGER NOT NULL,
      concurrency INTEGER NOT NULL,
      rate_limit_max INTEGER,
      rate_limit_window INTEGER NOT NULL,
      max_attempts INTEGER NOT NULL,
      max_defers INTEGER NOT NULL,
      backoff_kind INTEGER NOT NULL,
      backoff_delay REAL NOT NULL,
      backoff_factor REAL NOT NULL,
      backoff_max_delay REAL NOT NULL,
      backoff_jitter REAL NOT NULL,
      backoff_steps TEXT NOT NULL,
      timeout INTEGER NOT NULL,
      lifetime INTEGER NOT NULL,
      ack_timeout INTEGER NOT NULL,
      ack_timeout_action INTEGER NOT NULL,
      retention INTEGER NOT NULL,
      dead_letter INTEGER NOT NULL,
      permanent_failure_statuses TEXT NOT NULL,
      key_concurrency INTEGER,
      key_rate_limit_max INTEGER,
      backpressure_scope INTEGER NOT NULL,
      recovery_mode INTEGER NOT NULL,
      recovery_start INTEGER NOT NULL,
      recovery_factor REAL NOT NULL,
      min_hold INTEGER,
      max_hold INTEGER,
      max_depth INTEGER,
      webhook_url TEXT NOT NULL,
      secret TEXT NOT NULL,
      previous_secret TEXT NOT NULL,
      previous_secret_until INTEGER NOT NULL,
      UNIQUE (project, name)
    ) STRICT;
    INSERT INTO new_queues SELECT
      id, 'default', name, paused, paused_since, created_at, updated_at, 0,
      concurrency, rate_limit_max, rate_limit_window, max_attempts, max_defers,
      backoff_kind, backoff_delay, backoff_factor, backoff_max_delay,
      backoff_jitter, backoff_steps, timeout, lifetime, 300000000, 0,
      259200000000, 1, '', NULL, NULL, 0, 0, 1, 2.0, NULL, NULL, NULL,
      webhook_url, secret, '', 0
      FROM queues;
    DROP TABLE queues;
    ALTER TABLE new_queues RENAME TO queues;

    CREATE TABLE new_meta (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      last_queue INTEGER NOT NULL,
      last_job INTEGER NOT NULL,
      last_operation INTEGER NOT NULL,
      last_api_key INTEGER NOT NULL,
      api_keys_version INTEGER NOT NULL,
      probes INTEGER NOT NULL
    ) STRICT;
    INSERT INTO new_meta
      SELECT id, last_queue, last_job, 0, 0, 0, probes FROM meta;
    DROP TABLE meta;
    ALTER TABLE new_meta RENAME TO meta;

    ALTER TABLE gates ADD COLUMN reason TEXT NOT NULL DEFAULT '';
    ALTER TABLE gates ADD COLUMN ramp INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE payloads ADD COLUMN headers TEXT;
    ALTER TABLE payloads ADD COLUMN traceparent TEXT;
    ALTER TABLE payloads ADD COLUMN tracestate TEXT;
    ALTER TABLE history ADD COLUMN replaced BLOB;

    CREATE TABLE new_jobs (
      seq INTEGER PRIMARY KEY,
      queue INTEGER NOT NULL,
      due INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      waits_for INTEGER NOT NULL,
      status INTEGER NOT NULL,
      started_delivery INTEGER NOT NULL,
      priority INTEGER NOT NULL,
      background INTEGER NOT NULL,
      tag INTEGER NOT NULL,
      eligible_at INTEGER NOT NULL,
      attempts INTEGER NOT NULL,
      defers INTEGER NOT NULL,
      deliveries INTEGER NOT NULL,
      waits_since INTEGER NOT NULL,
      entries INTEGER NOT NULL,
      replays INTEGER NOT NULL,
      reported INTEGER NOT NULL,
      reported_delivery INTEGER NOT NULL,
      limit_key TEXT,
      idempotency_key TEXT
    ) STRICT;
    INSERT INTO new_jobs SELECT
      seq, queue, due, expires_at, created_at, waits_for, status,
      started_delivery, 0, 0, tag, eligible_at, attempts, defers, deliveries,
      waits_since, entries, 0, 0, 0, NULL, idempotency_key
      FROM jobs ORDER BY seq;
    DROP TABLE jobs;
    ALTER TABLE new_jobs RENAME TO jobs;

    CREATE TABLE new_ended (
      seq INTEGER PRIMARY KEY,
      queue INTEGER NOT NULL,
      due INTEGER NOT NULL,
      expires_at INTEGER NOT NULL,
      created_at INTEGER NOT NULL,
      waits_for INTEGER NOT NULL,
      status INTEGER NOT NULL,
      started_delivery INTEGER NOT NULL,
      priority INTEGER NOT NULL,
      background INTEGER NOT NULL,
      tag INTEGER NOT NULL,
      eligible_at INTEGER NOT NULL,
      attempts INTEGER NOT NULL,
      defers INTEGER NOT NULL,
      deliveries INTEGER NOT NULL,
      waits_since INTEGER NOT NULL,
      entries INTEGER NOT NULL,
      replays INTEGER NOT NULL,
      reported INTEGER NOT NULL,
      reported_delivery INTEGER NOT NULL,
      dead_reason INTEGER NOT NULL,
      ended_at INTEGER,
      remove_at INTEGER,
      dead_letter INTEGER NOT NULL,
      limit_key TEXT,
      idempotency_key TEXT,
      last_attempt INTEGER,
      last_delivery INTEGER,
      last_status INTEGER,
      last_error TEXT,
      last_error_code INTEGER,
      last_http_status INTEGER,
      last_took INTEGER,
      last_response_excerpt TEXT,
      last_retry_after INTEGER,
      last_at INTEGER
    ) STRICT;
    INSERT INTO new_ended SELECT
      seq, queue, due, expires_at, created_at, waits_for, status,
      started_delivery, 0, 0, tag, eligible_at, attempts, defers, deliveries,
      waits_since, entries, 0, 0, 0, dead_reason, ended_at,
      ended_at + 259200000000, status = 3, NULL, idempotency_key,
      last_attempt, last_delivery, last_status, last_error, last_error_code,
      last_http_status, last_took, last_response_excerpt, last_retry_after,
      last_at
      FROM ended ORDER BY seq;
    DROP TABLE ended;
    ALTER TABLE new_ended RENAME TO ended;
    CREATE INDEX ended_by_removal ON ended (remove_at);
    CREATE INDEX dead_letters ON ended (queue) WHERE dead_letter = 1;

    CREATE TABLE limit_keys (
      queue INTEGER NOT NULL,
      key TEXT NOT NULL,
      state INTEGER NOT NULL,
      release_at INTEGER NOT NULL,
      since INTEGER NOT NULL,
      cause INTEGER NOT NULL,
      caused_by TEXT,
      http_status INTEGER,
      failed_probes INTEGER NOT NULL,
      probe_job TEXT,
      probe_delivery INTEGER,
      probe_verdict INTEGER,
      probe_at INTEGER,
      reason TEXT NOT NULL,
      ramp INTEGER NOT NULL,
      starts TEXT NOT NULL,
      PRIMARY KEY (queue, key)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE operations (
      id INTEGER PRIMARY KEY,
      kind INTEGER NOT NULL,
      queue INTEGER NOT NULL,
      project TEXT NOT NULL,
      queue_name TEXT NOT NULL,
      state INTEGER NOT NULL,
      only_status INTEGER,
      only_limit_key TEXT,
      only_reason INTEGER,
      only_since INTEGER,
      only_until INTEGER,
      jobs_max INTEGER,
      per_second REAL NOT NULL,
      next_before INTEGER NOT NULL,
      total INTEGER NOT NULL,
      done INTEGER NOT NULL,
      started_at INTEGER NOT NULL,
      finished_at INTEGER,
      error TEXT NOT NULL
    ) STRICT;

    CREATE TABLE api_keys (
      id INTEGER PRIMARY KEY,
      digest BLOB NOT NULL,
      project TEXT NOT NULL,
      scopes INTEGER NOT NULL,
      name TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      expires_at INTEGER
    ) STRICT;

    CREATE TABLE usage (
      day INTEGER NOT NULL,
      queue INTEGER NOT NULL,
      key INTEGER NOT NULL,
      project TEXT NOT NULL,
      publishes INTEGER NOT NULL,
      deliveries INTEGER NOT NULL,
      receives INTEGER NOT NULL,
      bytes INTEGER NOT NULL,
      PRIMARY KEY (day, queue, key)
    ) STRICT, WITHOUT ROWID;
  )",
  // Version 3. Pull queues. New columns are empty in most rows, and what is
  // read of all live jobs stands before them.
  R"(
    ALTER TABLE queues ADD COLUMN kind INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE jobs ADD COLUMN source_queue TEXT;
    ALTER TABLE jobs ADD COLUMN source_receives INTEGER;
    ALTER TABLE jobs ADD COLUMN dead_lettered_at INTEGER;
    ALTER TABLE jobs ADD COLUMN key_queue INTEGER;
    ALTER TABLE ended ADD COLUMN source_queue TEXT;
    ALTER TABLE ended ADD COLUMN source_receives INTEGER;
    ALTER TABLE ended ADD COLUMN dead_lettered_at INTEGER;
    ALTER TABLE ended ADD COLUMN key_queue INTEGER;

    CREATE TABLE pull_queues (
      queue INTEGER PRIMARY KEY,
      max_receive_count INTEGER NOT NULL,
      message_retention INTEGER NOT NULL,
      visibility_timeout INTEGER NOT NULL,
      delay INTEGER NOT NULL,
      enable_priority INTEGER NOT NULL,
      dead_letter_queue TEXT NOT NULL
    ) STRICT;

    CREATE TABLE pull_totals (
      queue INTEGER PRIMARY KEY,
      published INTEGER NOT NULL,
      received INTEGER NOT NULL,
      acked INTEGER NOT NULL,
      nacked INTEGER NOT NULL,
      expired INTEGER NOT NULL,
      dead_lettered INTEGER NOT NULL,
      redriven INTEGER NOT NULL,
      retired INTEGER NOT NULL
    ) STRICT;
  )",
  // Version 4. Pull queues that keep an order, redrives of what was published
  // in a dead-letter queue.
  R"(
    ALTER TABLE pull_queues ADD COLUMN fifo INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE operations ADD COLUMN source TEXT NOT NULL DEFAULT '';
  )",
  // Version 5. What the ack of a message published.
  R"(
    ALTER TABLE ended ADD COLUMN published TEXT;
  )",
  // Version 6. Whom a queue trusts.
  R"(
    ALTER TABLE queues ADD COLUMN tls_ca TEXT NOT NULL DEFAULT '';
    ALTER TABLE queues ADD COLUMN tls_insecure INTEGER NOT NULL DEFAULT 0;
  )",
};

error refusal(std::string message) {
  return {errc::storage_unavailable, std::move(message)};
}

std::optional<error> migrate_to(sqlite::connection& db, int version) {
  sqlite::transaction step{db, sqlite::transaction::kind::write};
  if (step.failure())
    return step.failure();
  if (auto reason = db.execute(migrations[version - 1]))
    return reason;
  auto mark = "PRAGMA user_version = " + std::to_string(version)
              + "; PRAGMA application_id = " + std::to_string(application_id);
  if (auto reason = db.execute(mark))
    return reason;
  return step.commit();
}

} // namespace

const int schema_version = static_cast<int>(std::size(migrations));

std::optional<error> refuse_foreign(sqlite::connection& db) {
  auto owner = db.integer("PRAGMA application_id");
  if (!owner)
    return owner.reason();
  auto tables = db.integer("SELECT count(*) FROM sqlite_schema");
  if (!tables)
    return tables.reason();
  auto version = db.integer("PRAGMA user_version");
  if (!version)
    return version.reason();
  auto fresh = *owner == 0 && *tables == 0 && *version == 0;
  if (!fresh && *owner != application_id)
    return refusal("the file is a database of another program");
  if (*version > schema_version)
    return refusal("the file has version " + std::to_string(*version)
                   + " of the tables, this program knows them up to version "
                   + std::to_string(schema_version));
  return std::nullopt;
}

std::optional<error> migrate(sqlite::connection& db) {
  auto version = db.integer("PRAGMA user_version");
  if (!version)
    return version.reason();
  for (auto next = static_cast<int>(*version) + 1; next <= schema_version;
       ++next)
    if (auto reason = migrate_to(db, next))
      return reason;
  return std::nullopt;
}

} // namespace tidegate
