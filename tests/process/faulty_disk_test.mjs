// A disk that is full, fails, or does not sync, under the real server: nothing is
// acknowledged that is not stored, and once the disk is well the server is, too.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { checkAllEnded } from './support/conservation.mjs';
import { Faults, noFaults } from './support/faults.mjs';
import { startPublishers } from './support/publishers.mjs';
import { Queue, checkOnce } from './support/pull.mjs';
import { startReceiver } from './support/receiver.mjs';
import { launch, startServer } from './support/server.mjs';
import { patience, until } from './support/time.mjs';

const timeout = 240_000 * patience;
const options = { timeout, skip: noFaults };
const path = '/v1/queues/load/jobs';

async function start(t, settings = {}) {
  const faults = new Faults(t);
  const receiver = await startReceiver(t);
  const server = await startServer(t, { env: faults.env });
  await server.api.createQueue('load', {
    webhookUrl: receiver.url, backoff: { type: 'fixed', delay: 0.05 }, ...settings,
  });
  return { faults, receiver, server, api: server.api };
}

/** Checks that this says "not now" because of the disk, and when to come again. */
function checkRefused({ status, headers, json, text }) {
  assert.equal(status, 503, text);
  assert.ok(json.code === 'storage_unavailable' || json.error.code === 'UNAVAILABLE', text);
  assert.match(headers['retry-after'], /^[1-9]\d*$/);
}

/** Publishes until that is refused, and some more. Returns what was accepted. */
async function publishIntoTrouble(api, after) {
  const accepted = [];
  await until('the refusal', 20, async () => {
    const answer = await api.send('POST', path, { payload: 'into trouble' });
    if (answer.status === 201)
      accepted.push(answer.json.id);
    else
      checkRefused(answer);
    return answer.status !== 201;
  });
  for (let n = 0; n < after; ++n)
    checkRefused(await api.send('POST', path, { payload: 'in trouble' }));
  return accepted;
}

/** Publishes until that works again. Returns the id. */
function publishAgain(api) {
  return until('recovery', 20, async () => {
    const { status, json } = await api.send('POST', path, { payload: 'recovered' });
    return status === 201 && json.id;
  });
}

/** Checks that exactly what was accepted is there and has ended well. */
async function checkAll(api, accepted) {
  await api.drained('load', 60);
  const jobs = await checkAllEnded(api, 'load', accepted);
  assert.ok(jobs.every(({ status }) => status === 'completed'));
}

// -- every fault, at several calls in turn ------------------------------------

const troubles = {
  'is full': ['full', 'disk'],
  'fails to write': ['fail', 'write'],
  'writes half': ['tear', 'write'],
  'fails to sync': ['fail', 'sync'],
};

for (const [what, [action, kind]] of Object.entries(troubles))
  test(`a disk that ${what} for a while loses nothing, and nothing is told that is not stored`, options, async (t) => {
    const { faults, receiver, server, api } = await start(t);
    const { pid } = server.launched.child;
    const pull = new Queue(api, 'pull');
    await pull.create();
    await pull.publish({ n: 1 });
    const [leased] = await pull.consume();
    await api.createQueue('quiet', { webhookUrl: receiver.url });
    const { id: quiet } = await api.publish('quiet', 'before');
    await api.jobWithStatus(quiet, 'completed');
    const publishers = startPublishers(server, 'load');
    t.after(() => publishers.stop());
    const accepted = [];
    for (const at of [1, 2, 3, 6]) {
      faults.arm(action, kind, { at, count: 0 });
      accepted.push(...await publishIntoTrouble(api, 8));
      checkRefused(await pull.settle('ack', leased));
      checkRefused(await pull.send('POST', 'publish', { queue: 'pull', payload: 1 }));
      // Queues that had nothing to store do not notice.
      assert.equal((await api.job(quiet)).payload, 'before');
      assert.equal((await api.queue('quiet')).counts.completed, 1);
      assert.equal((await api.send('GET', '/readyz')).status, 503);
      assert.equal((await api.send('GET', '/healthz')).status, 200);
      assert.ok(faults.hits.length > 0);
      faults.calm();
      accepted.push(await publishAgain(api));
      await until('readiness', 20, async () => (await api.send('GET', '/readyz')).status === 200);
    }
    await until('the ack', 20, async () => (await pull.settle('ack', leased)).status === 200);
    await publishers.stop();
    assert.equal(publishers.unanswered, 0);
    assert.ok(publishers.refused.length > 0);
    assert.deepEqual(publishers.refused.filter((code) => code !== 'storage_unavailable'), []);
    accepted.push(...publishers.accepted);
    t.diagnostic(`${accepted.length} accepted, ${publishers.refused.length} refused, ${receiver.arrivals.length} deliveries`);
    assert.equal(server.launched.child.pid, pid);
    await checkAll(api, accepted);
    await server.killAndStart();
    await checkAll(api, accepted);
    assert.deepEqual(await checkOnce([pull], []), [0]);
    assert.equal((await pull.stats()).published_total, 1);
    // Nobody was delivered to for nothing: once, and once more for each trouble.
    const most = Math.max(...receiver.deliveriesById().values());
    assert.ok(most <= 5, `a job was delivered ${most} times`);
    const known = new Set([...accepted, quiet]);
    assert.deepEqual(receiver.arrivals.filter(({ id }) => !known.has(id)), []);
  });

test('kill -9 while the disk fails keeps what was acknowledged', options, async (t) => {
  const { faults, server, api } = await start(t);
  const accepted = [];
  let refused = 0;
  for (const [action, kind] of Object.values(troubles)) {
    faults.arm(action, kind, { at: 3, count: 0 });
    accepted.push(...await publishIntoTrouble(api, 3));
    refused += 4;
    await server.kill();
    faults.calm();
    await server.start();
    accepted.push(await publishAgain(api));
  }
  await api.drained('load', 60);
  const there = (await api.allJobs('load')).map(({ id }) => id);
  assert.deepEqual(accepted.filter((id) => !there.includes(id)), [], 'lost');
  // A batch whose commit failed may stand in the log when the process dies.
  assert.ok(there.length <= accepted.length + refused);
  await checkAllEnded(api, 'load', there);
});

// -- moving the log into the file ---------------------------------------------

/** Publishes more than the log holds before it is moved into the file. */
async function publishMuch(api, calls) {
  const accepted = [];
  const payload = 'x'.repeat(200_000);
  for (let n = 0; n < calls; ++n) {
    const answer = await api.send('POST', path, { payload }).catch(() => undefined);
    if (answer === undefined)
      break;
    assert.equal(answer.status, 201, answer.text);
    accepted.push(answer.json.id);
  }
  return accepted;
}

test('a log that cannot be moved into the file delays nobody, and is moved later', options, async (t) => {
  const { faults, server, api } = await start(t);
  const accepted = [];
  for (const action of ['full', 'fail', 'tear']) {
    faults.arm(action, 'checkpoint', { at: 2, count: 0 });
    accepted.push(...await publishMuch(api, 30));
    assert.ok(faults.hits.length > 0, 'the log was not moved');
    faults.calm();
    accepted.push(await publishAgain(api));
    await checkAll(api, accepted);
    await server.killAndStart();
    await checkAll(api, accepted);
  }
});

test('kill -9 while the log is moved into the file loses nothing', options, async (t) => {
  const { faults, server, api } = await start(t);
  const accepted = [];
  for (const [action, at] of [['kill_before', 1], ['kill_after', 1], ['kill_after', 7]]) {
    faults.arm(action, 'checkpoint', { at });
    accepted.push(...await publishMuch(api, 100));
    assert.deepEqual(faults.hits, [`${action} checkpoint`]);
    await server.exited;
    faults.calm();
    await server.start();
    await api.drained('load', 60);
    const there = (await api.allJobs('load')).map(({ id }) => id);
    assert.deepEqual(accepted.filter((id) => !there.includes(id)), [], 'lost');
    // The publish that got no answer may be there.
    const surplus = there.filter((id) => !accepted.includes(id));
    assert.ok(surplus.length <= 1, `${surplus.length} jobs that nobody asked for`);
    accepted.push(...surplus);
  }
  await checkAll(api, accepted);
});

test('a sync that does nothing costs nothing where only the process dies', options, async (t) => {
  const { faults, server, api } = await start(t);
  faults.arm('lie', 'sync', { count: 0 });
  const accepted = await api.publishMany('load', 50);
  assert.ok(faults.hits.length > 0);
  await server.killAndStart();
  await checkAll(api, accepted);
});

test('a server whose disk fails at start says so and ends, and starts later', options, async (t) => {
  const { faults, server, api } = await start(t);
  const { id } = await api.publish('load', 1);
  await server.kill();
  for (const action of ['full', 'fail']) {
    faults.arm(action, 'disk', { count: 0 });
    const failed = launch(['serve', '--listen', '127.0.0.1:0', '--data', server.data], server.env);
    assert.equal((await failed.exited).code, 1);
    assert.match(failed.err, /tidegate\.db: .*disk/);
  }
  faults.calm();
  await server.start();
  await checkAll(api, [id]);
});

// -- a store that somebody else has locked ------------------------------------

/** Locks the data file for writing in another process. Returns what ends that. */
async function lock(t, file) {
  const script = `
import sqlite3, sys
file = sqlite3.connect(sys.argv[1], isolation_level=None)
file.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
sys.stdin.read()
`;
  const child = spawn('python3', ['-c', script, file], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  await new Promise((done) => {
    createInterface(child.stdout).once('line', done);
  });
  return () => new Promise((done) => {
    child.once('exit', done);
    child.stdin.end();
  });
}

test('a store that is locked for a second delays publishes, and one that is for longer refuses them', { timeout }, async (t) => {
  const receiver = await startReceiver(t);
  const server = await startServer(t);
  const { api } = server;
  await api.createQueue('load', { webhookUrl: receiver.url });
  await api.createQueue('quiet', { webhookUrl: receiver.url });
  const { id: quiet } = await api.publish('quiet', 1);
  await api.jobWithStatus(quiet, 'completed');
  const accepted = [];
  const file = `${server.data}/tidegate.db`;

  let unlock = await lock(t, file);
  const delayed = api.publish('load', 2);
  await sleep(1000);
  assert.equal((await api.job(quiet)).payload, 1);
  await unlock();
  accepted.push((await delayed).id);

  unlock = await lock(t, file);
  accepted.push(...await publishIntoTrouble(api, 1));
  assert.equal((await api.job(quiet)).payload, 1);
  await unlock();
  accepted.push(await publishAgain(api));
  await checkAll(api, accepted);
  await server.killAndStart();
  await checkAll(api, accepted);
});
