// SIGTERM: nothing new starts, what is out is finished and recorded, and the
// process ends with 0. Whatever comes next, nothing is lost.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { checkConservation } from './support/conservation.mjs';
import { startPublishers } from './support/publishers.mjs';
import { randomFrom } from './support/random.mjs';
import { accept, never, slowly, startReceiver } from './support/receiver.mjs';
import { startServer } from './support/server.mjs';
import { patience, until } from './support/time.mjs';

const timeout = 60_000 * patience;
const open = 20;
const waiting = 5;

/** Starts a webhook that answers 200 once `release` was called. */
async function startHeldReceiver(t) {
  let release;
  const released = new Promise((done) => { release = done; });
  const receiver = await startReceiver(t, async () => {
    await released;
    return { status: 200 };
  });
  return { receiver, release };
}

/** Starts a server with 20 deliveries under way and 5 jobs behind them. */
async function startBusy(t, receiver, flags = []) {
  const server = await startServer(t, { flags: ['--allow-target', '127.0.0.0/8', ...flags] });
  await server.api.createQueue('busy', { webhookUrl: receiver.url, concurrency: open });
  const ids = await server.api.publishMany('busy', open + waiting);
  await until(`${open} under way`, 10, () => receiver.inFlight === open);
  return { server, ids };
}

async function isDraining(server) {
  await until('readyz 503', 5, async () => {
    const { status } = await server.api.send('GET', '/readyz', undefined, {});
    return status === 503;
  });
}

test('SIGTERM with 20 deliveries under way records all, and repeats none', { timeout }, async (t) => {
  const { receiver, release } = await startHeldReceiver(t);
  const { server, ids } = await startBusy(t, receiver);
  server.signal('SIGTERM');
  await isDraining(server);
  const refused = await server.api.send('POST', '/v1/queues/busy/jobs', { payload: 1 });
  assert.equal(refused.status, 503);
  assert.equal(refused.json.code, 'draining');
  assert.match(refused.headers['retry-after'], /^[1-9][0-9]*$/);
  const out = [...receiver.deliveriesById().keys()];
  assert.equal((await server.api.job(out[0])).status, 'processing');
  assert.equal((await server.api.queue('busy')).counts.inFlight, open);
  release();
  assert.deepEqual(await server.exited, { code: 0, signal: null });
  assert.equal(receiver.arrivals.length, open);
  await server.start();
  for (const job of await server.api.jobs(out)) {
    assert.equal(job.status, 'completed');
    assert.equal(job.history.length, 1);
  }
  await server.api.drained('busy', 10);
  assert.equal(receiver.arrivals.length, open + waiting);
  await checkConservation(t, { api: server.api, queue: 'busy', accepted: ids, receiver });
});

test('an idle server ends at once, and a new connection is refused then', { timeout }, async (t) => {
  const server = await startServer(t);
  const { url } = server.api;
  await server.api.ask('GET', '/v1/queues');
  const from = Date.now();
  assert.deepEqual(await server.stop(), { code: 0, signal: null });
  assert.ok(Date.now() - from < 10_000, `${Date.now() - from} ms`);
  await assert.rejects(fetch(`${url}/healthz`), ({ cause }) => cause.code === 'ECONNREFUSED');
});

test('SIGTERM in the first moment of a server ends it as at any other', { timeout }, async (t) => {
  const server = await startServer(t);
  for (let n = 0; n < 20; ++n) {
    assert.deepEqual(await server.stop(), { code: 0, signal: null });
    await server.start();
  }
});

test('after SIGTERM everything is in the one file of the store', { timeout }, async (t) => {
  const server = await startServer(t);
  for (let n = 0; n < 20; ++n) {
    await server.api.createQueue(`q${n}`, { webhookUrl: 'http://127.0.0.1:9/' });
    assert.deepEqual(await server.stop(), { code: 0, signal: null });
    const left = readdirSync(server.data).filter((name) => /-(wal|shm)$/.test(name));
    assert.deepEqual(left, [], `stop ${n + 1}`);
    await server.start();
  }
});

test('a second SIGTERM ends at once, and loses nothing', { timeout }, async (t) => {
  const { receiver, release } = await startHeldReceiver(t);
  const { server, ids } = await startBusy(t, receiver);
  server.signal('SIGTERM');
  await isDraining(server);
  const from = Date.now();
  server.signal('SIGTERM');
  await server.exited;
  assert.ok(Date.now() - from < 10_000, `${Date.now() - from} ms`);
  release();
  await server.start();
  await server.api.drained('busy', 10);
  const jobs = await checkConservation(t, { api: server.api, queue: 'busy', accepted: ids, receiver });
  assert.ok(jobs.every(({ status, attempts }) => status === 'completed' && attempts === 1));
});

test('--drain-timeout is the longest that a silent webhook is waited for', { timeout }, async (t) => {
  const receiver = await startReceiver(t, never);
  const { server, ids } = await startBusy(t, receiver, ['--drain-timeout', '1']);
  const from = Date.now();
  assert.deepEqual(await server.stop(), { code: 0, signal: null });
  const took = Date.now() - from;
  assert.ok(took >= 900 && took < 10_000, `${took} ms`);
  receiver.answer = accept;
  await server.start();
  await server.api.drained('busy', 10);
  const jobs = await checkConservation(t, { api: server.api, queue: 'busy', accepted: ids, receiver });
  assert.ok(jobs.every(({ status, attempts }) => status === 'completed' && attempts === 1));
});

test('restarts under load repeat no delivery', { timeout }, async (t) => {
  const receiver = await startReceiver(t, slowly(15, accept));
  const server = await startServer(t);
  await server.api.createQueue('load', { webhookUrl: receiver.url });
  const publishers = startPublishers(server, 'load');
  for (let n = 0; n < 5; ++n) {
    await sleep(150);
    assert.deepEqual(await server.stop(), { code: 0, signal: null });
    await server.start();
  }
  await publishers.stop();
  await server.api.drained('load', 30);
  const { accepted, unanswered } = publishers;
  const jobs = await checkConservation(t, { api: server.api, queue: 'load', accepted, unanswered, receiver });
  assert.equal(receiver.arrivals.length, jobs.length);
});

test('SIGTERM and SIGKILL at 20 random moments lose nothing', { timeout: 120_000 * patience }, async (t) => {
  const random = randomFrom(t);
  const receiver = await startReceiver(t, slowly(15, accept));
  const server = await startServer(t);
  await server.api.createQueue('load', { webhookUrl: receiver.url });
  const publishers = startPublishers(server, 'load');
  for (let n = 0; n < 20; ++n) {
    await sleep(50 + random() * 100);
    server.signal('SIGTERM');
    await sleep(random() * 60);
    await server.killAndStart();
  }
  await publishers.stop();
  await server.api.drained('load', 30);
  const { accepted, unanswered } = publishers;
  const jobs = await checkConservation(t, { api: server.api, queue: 'load', accepted, unanswered, receiver });
  assert.ok(jobs.every(({ status, attempts }) => status === 'completed' && attempts === 1));
});
