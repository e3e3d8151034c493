-- A file of version 3: a pull queue with a delayed message and two that are
-- leased, one of them with a priority, headers and a key. Never edited.
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE api_keys (
      id INTEGER PRIMARY KEY,
      digest BLOB NOT NULL,
      project TEXT NOT NULL,
      scopes INTEGER NOT NULL,
      name TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      expires_at INTEGER
    ) STRICT;
CREATE TABLE counters (
      queue INTEGER PRIMARY KEY,
      completed INTEGER NOT NULL,
      dead INTEGER NOT NULL
    ) STRICT;
INSERT INTO "counters" VALUES(1,0,0);
CREATE TABLE "ended" (
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
    , source_queue TEXT, source_receives INTEGER, dead_lettered_at INTEGER, key_queue INTEGER) STRICT;
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
    , reason TEXT NOT NULL DEFAULT '', ramp INTEGER NOT NULL DEFAULT 0) STRICT;
INSERT INTO "gates" VALUES(1,0,0,0,0,NULL,NULL,0,NULL,NULL,NULL,NULL,'',0);
CREATE TABLE headers (
      queue INTEGER NOT NULL,
      n INTEGER NOT NULL,
      name TEXT NOT NULL,
      value TEXT NOT NULL,
      PRIMARY KEY (queue, n)
    ) STRICT, WITHOUT ROWID;
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
      at INTEGER NOT NULL, replaced BLOB,
      PRIMARY KEY (seq, n)
    ) STRICT, WITHOUT ROWID;
CREATE TABLE idempotency (
      queue INTEGER NOT NULL,
      key TEXT NOT NULL,
      seq INTEGER NOT NULL,
      PRIMARY KEY (queue, key)
    ) STRICT, WITHOUT ROWID;
INSERT INTO "idempotency" VALUES(1,'one',1);
CREATE TABLE "jobs" (
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
    , source_queue TEXT, source_receives INTEGER, dead_lettered_at INTEGER, key_queue INTEGER) STRICT;
INSERT INTO "jobs" VALUES(1,1,1796038391887650,1796643131584954,1796038331584954,0,4,0,3,0,213168080701967,1796038331584954,1,0,1,0,0,0,0,0,NULL,'one',NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(2,1,1796038392014642,1796643131647605,1796038331647605,0,4,0,0,0,273004550327804,1796038331647605,1,0,1,0,0,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "jobs" VALUES(3,1,1796638331766718,1797243131766718,1796038331766718,1,0,0,0,0,52633660686211,1796638331766718,0,0,0,1796038331766718,0,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL);
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
CREATE TABLE "meta" (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      last_queue INTEGER NOT NULL,
      last_job INTEGER NOT NULL,
      last_operation INTEGER NOT NULL,
      last_api_key INTEGER NOT NULL,
      api_keys_version INTEGER NOT NULL,
      probes INTEGER NOT NULL
    ) STRICT;
INSERT INTO "meta" VALUES(1,1,0,0,0,0,0);
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
CREATE TABLE payloads (
      seq INTEGER PRIMARY KEY,
      bytes BLOB NOT NULL
    , headers TEXT, traceparent TEXT, tracestate TEXT) STRICT;
INSERT INTO "payloads" VALUES(1,X'7B226E223A317D',replace(replace('a: b\r\n','\r',char(13)),'\n',char(10)),NULL,NULL);
INSERT INTO "payloads" VALUES(2,X'7B226E223A327D',NULL,NULL,NULL);
INSERT INTO "payloads" VALUES(3,X'7B226E223A337D',NULL,NULL,NULL);
CREATE TABLE pull_queues (
      queue INTEGER PRIMARY KEY,
      max_receive_count INTEGER NOT NULL,
      message_retention INTEGER NOT NULL,
      visibility_timeout INTEGER NOT NULL,
      delay INTEGER NOT NULL,
      enable_priority INTEGER NOT NULL,
      dead_letter_queue TEXT NOT NULL
    ) STRICT;
INSERT INTO "pull_queues" VALUES(1,5,604800000000,60000000,2000000,1,'dead');
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
INSERT INTO "pull_totals" VALUES(1,3,2,0,0,0,0,0,0);
CREATE TABLE "queues" (
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
      previous_secret_until INTEGER NOT NULL, kind INTEGER NOT NULL DEFAULT 0,
      UNIQUE (project, name)
    ) STRICT;
INSERT INTO "queues" VALUES(1,'default','kept',0,0,1796038331498296,1796038331498296,0,10,NULL,1000000,3,50,0,1.0,2.0,3600.0,0.2,'',15000000,86400000000,300000000,0,259200000000,1,'',NULL,NULL,0,0,1,2.0,NULL,NULL,NULL,'','','',0,1);
CREATE TABLE rates (
      queue INTEGER PRIMARY KEY,
      starts TEXT NOT NULL
    ) STRICT;
INSERT INTO "rates" VALUES(1,'');
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
INSERT INTO "usage" VALUES(20787,1,0,'default',3,0,2,21);
CREATE INDEX ended_by_removal ON ended (remove_at);
CREATE INDEX dead_letters ON ended (queue) WHERE dead_letter = 1;
COMMIT;
PRAGMA application_id = 1414087749;
PRAGMA user_version = 3;
