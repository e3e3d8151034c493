-- A file of version 5: what version_2.sql has, brought there. Never edited.
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE headers (
      queue INTEGER NOT NULL,
      n INTEGER NOT NULL,
      name TEXT NOT NULL,
      value TEXT NOT NULL,
      PRIMARY KEY (queue, n)
    ) STRICT, WITHOUT ROWID;
INSERT INTO headers VALUES(1,1,'x-b','2');
INSERT INTO headers VALUES(1,2,'x-a','');
INSERT INTO headers VALUES(1,3,'x-b','1');
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
INSERT INTO gates VALUES(1,2,1735689600000005,1735689600000004,3,'job_000000200000000k800000jkf3',429,3,'job_0000003zzzzzzzzzr000000000',9,3,1735689600000006,CAST(X'7468652074656e616e74277320ff2071756f7461' AS TEXT),12);
CREATE TABLE rates (
      queue INTEGER PRIMARY KEY,
      starts TEXT NOT NULL
    ) STRICT;
INSERT INTO rates VALUES(1,'1735689600000001 4 ');
CREATE TABLE counters (
      queue INTEGER PRIMARY KEY,
      completed INTEGER NOT NULL,
      dead INTEGER NOT NULL
    ) STRICT;
INSERT INTO counters VALUES(1,1,1);
CREATE TABLE payloads (
      seq INTEGER PRIMARY KEY,
      bytes BLOB NOT NULL
    , headers TEXT, traceparent TEXT, tracestate TEXT) STRICT;
INSERT INTO payloads VALUES(1,X'7b226e756d626572223a20317d',replace(replace('x-b: 2: two\r\nx-a: \r\nx-b: 1\r\n','\r',char(13)),'\n',char(10)),'00-0af7651916cd43dd8448eb211c80319c-01','vendor=1');
INSERT INTO payloads VALUES(2,X'7b226e756d626572223a20327d',replace(replace('x-b: 2: two\r\nx-a: \r\nx-b: 1\r\n','\r',char(13)),'\n',char(10)),'00-0af7651916cd43dd8448eb211c80319c-01','vendor=1');
INSERT INTO payloads VALUES(3,X'7b226e756d626572223a20337d',replace(replace('x-b: 2: two\r\nx-a: \r\nx-b: 1\r\n','\r',char(13)),'\n',char(10)),'00-0af7651916cd43dd8448eb211c80319c-01','vendor=1');
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
INSERT INTO history VALUES(1,1,1,1,1,CAST(X'6e6f00706520ff' AS TEXT),9,500,1234,'<html>',2000000,1735689600001000,NULL);
INSERT INTO history VALUES(2,1,1,1,1,CAST(X'6e6f00706520ff' AS TEXT),9,500,1234,'<html>',2000000,1735689600001000,NULL);
INSERT INTO history VALUES(3,1,0,0,5,'',0,NULL,0,'',NULL,1735689600060000,NULL);
CREATE TABLE idempotency (
      queue INTEGER NOT NULL,
      key TEXT NOT NULL,
      seq INTEGER NOT NULL,
      PRIMARY KEY (queue, key)
    ) STRICT, WITHOUT ROWID;
INSERT INTO idempotency VALUES(1,'dead',3);
INSERT INTO idempotency VALUES(1,'key',1);
CREATE TABLE IF NOT EXISTS "queues" (
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
INSERT INTO queues VALUES(1,'acme','kept',0,0,1735689600000001,1735689600000002,1,10,7,1000000,3,50,2,1.0,2.0,3600.0,0.2000000000000000111,'0.1 1 333333.3333333333 ',15000000,86400000000,77000000,1,88000000,0,'404 599 300 ',3,4,1,1,5,1.1000000000000000888,1000000,99000000,123456789012,'http://127.0.0.1:1/hook','whsec_c2VjcmV0','whsec_b2xk',1735689600000003,0);
CREATE TABLE IF NOT EXISTS "meta" (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      last_queue INTEGER NOT NULL,
      last_job INTEGER NOT NULL,
      last_operation INTEGER NOT NULL,
      last_api_key INTEGER NOT NULL,
      api_keys_version INTEGER NOT NULL,
      probes INTEGER NOT NULL
    ) STRICT;
INSERT INTO meta VALUES(1,5,9,1,1,1,0);
CREATE TABLE IF NOT EXISTS "jobs" (
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
INSERT INTO jobs VALUES(1,1,1735689600010000,1735776005000001,1735689600000001,2,1,0,1,0,7919,1735689605000001,1,0,1,1735689600009000,1,0,2,1,'tenant 1','key',NULL,NULL,NULL,NULL);
CREATE TABLE IF NOT EXISTS "ended" (
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
    , source_queue TEXT, source_receives INTEGER, dead_lettered_at INTEGER, key_queue INTEGER, published TEXT) STRICT;
INSERT INTO ended VALUES(2,1,1735689605000002,1735776005000002,1735689600000002,0,2,0,2,0,15838,1735689605000002,2,0,2,1735689600000002,1,0,1,2,0,1735689600020000,1735689600050000,0,'tenant 2',NULL,2,2,0,'',0,200,0,'',NULL,1735689600020000,NULL,NULL,NULL,NULL,NULL);
INSERT INTO ended VALUES(3,1,1735689600060000,1735689600070000,1735689600000003,0,3,0,3,1,23757,1735689600060000,0,0,0,1735689600060000,1,1,0,0,4,1735689600030000,1735689600040000,1,'tenant 0','dead',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
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
INSERT INTO limit_keys VALUES(1,'a',2,1735689600000005,1735689600000004,3,'job_000000200000000k800000jkf3',429,3,'job_0000003zzzzzzzzzr000000000',9,3,1735689600000006,CAST(X'7468652074656e616e74277320ff2071756f7461' AS TEXT),12,'1735689600000001 4 1735689600000002 100000 ');
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
    , source TEXT NOT NULL DEFAULT '') STRICT;
INSERT INTO operations VALUES(1,0,1,'acme','queue-1',0,3,'key',6,1735689600000001,1735689600000002,100,12.5,281474976710655,50,7,1735689600000003,NULL,'','');
CREATE TABLE api_keys (
      id INTEGER PRIMARY KEY,
      digest BLOB NOT NULL,
      project TEXT NOT NULL,
      scopes INTEGER NOT NULL,
      name TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      expires_at INTEGER
    ) STRICT;
INSERT INTO api_keys VALUES(1,X'00ff6669727374','acme',5,'first',1735689600000001,1735689600000002);
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
INSERT INTO usage VALUES(20089,1,0,'acme',2,3,0,26);
INSERT INTO usage VALUES(20089,1,1,'acme',1,0,0,13);
INSERT INTO usage VALUES(20089,5,0,'acme',1,0,0,13);
CREATE TABLE pull_queues (
      queue INTEGER PRIMARY KEY,
      max_receive_count INTEGER NOT NULL,
      message_retention INTEGER NOT NULL,
      visibility_timeout INTEGER NOT NULL,
      delay INTEGER NOT NULL,
      enable_priority INTEGER NOT NULL,
      dead_letter_queue TEXT NOT NULL
    , fifo INTEGER NOT NULL DEFAULT 0) STRICT;
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
CREATE INDEX ended_by_removal ON ended (remove_at);
CREATE INDEX dead_letters ON ended (queue) WHERE dead_letter = 1;
COMMIT;
PRAGMA application_id = 1414087749;
PRAGMA user_version = 5;
