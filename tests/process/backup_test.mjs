// `tidegate backup` beside a server under load: the copy is sound and has every
// job that was acknowledged before it began.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { checkAllEnded, checkScan } from './support/conservation.mjs';
import { startPublishers } from './support/publishers.mjs';
import { Queue } from './support/pull.mjs';
import { never, notNow, slowly, startReceiver } from './support/receiver.mjs';
import { run, startServer, temporaryFolder } from './support/server.mjs';
import { patience, until } from './support/time.mjs';

const timeout = 120_000 * patience;

/** Asks SQLite itself, by way of python3, whether a file is sound. */
function integrityOf(file) {
  const script = 'import sqlite3, sys\n'
    + 'db = sqlite3.connect("file:" + sys.argv[1] + "?mode=ro&immutable=1", uri=True)\n'
    + 'print(db.execute("PRAGMA integrity_check").fetchall())';
  return execFileSync('python3', ['-c', script, file], { encoding: 'utf8' }).trim();
}

function backup(data, file) {
  return run(['backup', file, '--data', data]);
}

test('a backup under load has every job that was acknowledged before', { timeout }, async (t) => {
  const receiver = await startReceiver(t, slowly(5, () => ({ status: 200 })), { slim: true });
  const server = await startServer(t);
  await server.api.createQueue('q', { webhookUrl: receiver.url, concurrency: 8 });
  await server.api.createQueue('waiting', { webhookUrl: receiver.url });
  await server.api.pause('waiting');
  const bulk = await server.api.publishBulk('waiting', 20_000);
  const publishers = startPublishers(server, 'q', { pauseMs: 0 });
  await until('load', 10, () => publishers.accepted.length > 200);

  const folder = temporaryFolder(t);
  const copies = [];
  for (const name of ['one', 'two', 'three']) {
    const before = publishers.accepted.slice();
    const file = join(folder, name);
    const { code, out, err } = await backup(server.data, file);
    assert.equal(code, 0, err);
    assert.equal(out, `copied to ${file}\n`);
    const during = publishers.accepted.length - before.length;
    t.diagnostic(`${during} jobs were published during the backup`);
    assert.ok(during > 0, 'the server stood still');
    copies.push({ file, before });
  }
  await publishers.stop();
  assert.deepEqual(publishers.refused, []);
  assert.equal(publishers.unanswered, 0);
  assert.deepEqual(readdirSync(folder).sort(), ['one', 'three', 'two']);

  for (const { file, before } of copies) {
    assert.equal(integrityOf(file), "[('ok',)]");
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const data = temporaryFolder(t);
    renameSync(file, join(data, 'tidegate.db'));
    const restored = await startServer(t, { data });
    assert.equal((await restored.api.queue('waiting')).counts.pending, bulk.length);
    const there = new Set((await restored.api.allJobs('q')).map(({ id }) => id));
    assert.deepEqual(before.filter((id) => !there.has(id)), []);
    await restored.stop();
  }
});

/** Makes queues whose jobs are in every state. Returns how many of each there are. */
async function fillStates(t, api) {
  const webhook = await startReceiver(t, ({ payload }) => ({ done: { status: 200 }, dead: { status: 500 },
    held: notNow(3600), acked: { status: 200 }, flying: never() })[payload]);
  const create = (name, fields) => api.createQueue(name, { webhookUrl: webhook.url, maxAttempts: 1, ...fields });
  await Promise.all([create('done'), create('dead'), create('held'), create('acked', { mode: 'ack' }), create('flying'),
    create('later')]);
  const publish = (name, count, fields) => Promise.all(
    Array.from({ length: count }, () => api.publish(name, name, fields)));
  await Promise.all([publish('done', 7), publish('dead', 5), publish('held', 6), publish('acked', 4), publish('flying', 3),
    publish('later', 8, { delay: 3600 })]);
  const expected = {
    done: { completed: 7 }, dead: { dead: 5 }, acked: { awaitingAck: 4 }, later: { pending: 8 },
  };
  for (const [name, counts] of Object.entries(expected))
    await until(`${name} settled`, 20, async () => {
      const seen = (await api.queue(name)).counts;
      return Object.entries(counts).every(([status, count]) => seen[status] === count);
    });
  await api.gateOnce('held', 'held');
  await until('flying', 10, () => webhook.inFlight === 3);
  return { webhook, expected, counts: { held: 6, flying: 3 } };
}

/** Makes a pull queue with messages in every state. */
async function fillPull(api) {
  const queue = new Queue(api, 'work');
  await queue.create({ max_receive_count: 1 });
  await queue.publishBulk(10);
  for (const message of await queue.consume({ max_messages: 3 }))
    await queue.settle('nack', message);
  for (const message of await queue.consume({ max_messages: 2 }))
    await queue.settle('ack', message);
  await queue.consume({ max_messages: 4, visibility_timeout: 3600 });
  await queue.publishBulk(2, { delay_seconds: 3600 });
  return queue.statsOnce('all moved', ({ dlq_count }) => dlq_count === 3);
}

test('a server on a copy that was made under load has each job once, in one state, and counts right', { timeout }, async (t) => {
  const receiver = await startReceiver(t, slowly(5, () => ({ status: 200 })), { slim: true });
  const server = await startServer(t);
  const { api } = server;
  const { webhook, expected, counts } = await fillStates(t, api);
  const stats = await fillPull(api);
  await api.createQueue('q', { webhookUrl: receiver.url, concurrency: 8 });
  const publishers = startPublishers(server, 'q', { pauseMs: 0 });
  await until('load', 10, () => publishers.accepted.length > 200);
  const before = publishers.accepted.slice();
  const folder = temporaryFolder(t);
  const { code, err } = await backup(server.data, join(folder, 'tidegate.db'));
  assert.equal(code, 0, err);
  await publishers.stop();
  assert.equal(publishers.unanswered, 0);
  await server.kill();
  await until('nothing is delivered', 10, () => webhook.inFlight === 0);

  const restored = await startServer(t, { data: folder });
  const copy = restored.api;
  for (const [name, some] of Object.entries(expected)) {
    const jobs = await checkScan(copy, name);
    assert.equal(jobs.length, Object.values(some)[0], name);
    const seen = (await copy.queue(name)).counts;
    assert.deepEqual({ ...seen, ...some }, seen, name);
  }
  // What was being delivered is delivered again; what was held is held still.
  await until('flying again', 10, () => webhook.inFlight === counts.flying);
  assert.equal((await copy.queue('held')).gate.state, 'held');
  for (const [name, count] of Object.entries(counts))
    assert.equal((await checkScan(copy, name)).length, count, name);
  await copy.drained('q', 30);
  const there = await checkAllEnded(copy, 'q', (await copy.allJobs('q')).map(({ id }) => id));
  const known = new Set(publishers.accepted);
  assert.deepEqual(there.filter(({ id }) => !known.has(id)), [], 'jobs that nobody asked for');
  const ids = new Set(there.map(({ id }) => id));
  assert.deepEqual(before.filter((id) => !ids.has(id)), [], 'lost');
  const { oldest_age_seconds: older, ...figures } = await new Queue(copy, 'work').stats();
  const { oldest_age_seconds: old, ...wanted } = stats;
  assert.ok(older >= old);
  assert.deepEqual(figures, wanted);
  assert.equal((await new Queue(copy, 'work').peek()).length, stats.available);
  await restored.stop();
});

test('a backup never takes the place of a file, and fails in one sentence', { timeout }, async (t) => {
  const server = await startServer(t);
  const folder = temporaryFolder(t);
  const taken = join(folder, 'taken');
  writeFileSync(taken, 'something else');
  const refused = await backup(server.data, taken);
  assert.equal(refused.code, 1);
  assert.equal(refused.err, `tidegate: ${taken} exists already and is not overwritten\n`);
  const nowhere = await backup(server.data, join(folder, 'no', 'folder'));
  assert.equal(nowhere.code, 1);
  assert.match(nowhere.err, /^tidegate: cannot create [^\n]+\n$/);
  const nothing = await backup(folder, join(folder, 'copy'));
  assert.equal(nothing.code, 1);
  assert.match(nothing.err, /does not exist\n$/);
  assert.deepEqual(readdirSync(folder), ['taken']);
});

test('a backup of a server that was stopped, or killed, leaves its data as they are', { timeout }, async (t) => {
  const server = await startServer(t);
  await server.api.createQueue('q', { webhookUrl: 'http://127.0.0.1:9/' });
  await server.api.pause('q');
  const ids = await server.api.publishMany('q', 50);
  const folder = temporaryFolder(t);
  await server.kill();
  const killed = await backup(server.data, join(folder, 'killed'));
  assert.equal(killed.code, 0, killed.err);
  await server.start();
  await server.stop();
  const stopped = await backup(server.data, join(folder, 'stopped'));
  assert.equal(stopped.code, 0, stopped.err);
  await server.start();
  assert.equal((await server.api.jobs(ids)).length, 50);
  for (const name of ['killed', 'stopped']) {
    assert.ok(existsSync(join(folder, name)));
    assert.equal(integrityOf(join(folder, name)), "[('ok',)]");
    const data = temporaryFolder(t);
    renameSync(join(folder, name), join(data, 'tidegate.db'));
    const restored = await startServer(t, { data });
    assert.equal((await restored.api.queue('q')).counts.pending, 50);
    await restored.stop();
  }
});
