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
