-- A file of version 1: one queue, a live job with a key and one failure, a
-- completed one, and the traces of a queue that was removed. Never edited.
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE meta (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      last_queue INTEGER NOT NULL,
      last_job INTEGER NOT NULL,
      probes INTEGER NOT NULL
    ) STRICT;
INSERT INTO meta VALUES(1,5,9,0);
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
INSERT INTO queues VALUES(1,'kept',0,0,1735689600000001,1735689600000002,10,7,1000000,3,50,2,1.0,2.0,3600.0,0.2000000000000000111,'0.1 1 333333.3333333333 ',15000000,86400000000,'http://127.0.0.1:1/hook','whsec_c2VjcmV0');
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
    ) STRICT;
INSERT INTO gates VALUES(1,0,0,0,0,NULL,NULL,0,NULL,NULL,NULL,NULL);
CREATE TABLE rates (
      queue INTEGER PRIMARY KEY,
      starts TEXT NOT NULL
    ) STRICT;
INSERT INTO rates VALUES(1,'');
CREATE TABLE counters (
      queue INTEGER PRIMARY KEY,
      completed INTEGER NOT NULL,
      dead INTEGER NOT NULL
    ) STRICT;
INSERT INTO counters VALUES(1,1,0);
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
INSERT INTO jobs VALUES(1,1,1735689600010000,1735776005000001,1735689600000001,2,1,0,7919,1735689605000001,1,0,1,1735689600009000,1,'key');
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
INSERT INTO ended VALUES(2,1,1735689605000002,1735776005000002,1735689600000002,0,2,0,15838,1735689605000002,2,0,2,1735689600000002,1,NULL,0,1735689600020000,2,2,0,'',0,200,0,'',NULL,1735689600020000);
CREATE TABLE payloads (
      seq INTEGER PRIMARY KEY,
      bytes BLOB NOT NULL
    ) STRICT;
INSERT INTO payloads VALUES(1,X'7b226e756d626572223a20317d');
INSERT INTO payloads VALUES(2,X'7b226e756d626572223a20327d');
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
INSERT INTO history VALUES(1,1,1,1,1,CAST(X'6e6f00706520ff' AS TEXT),9,500,1234,'<html>',2000000,1735689600001000);
INSERT INTO history VALUES(2,1,1,1,1,CAST(X'6e6f00706520ff' AS TEXT),9,500,1234,'<html>',2000000,1735689600001000);
CREATE TABLE idempotency (
      queue INTEGER NOT NULL,
      key TEXT NOT NULL,
      seq INTEGER NOT NULL,
      PRIMARY KEY (queue, key)
    ) STRICT, WITHOUT ROWID;
INSERT INTO idempotency VALUES(1,'key',1);
COMMIT;
PRAGMA application_id = 1414087749;
PRAGMA user_version = 1;
