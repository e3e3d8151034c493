// Limit keys: what one tenant's downstream says is nobody else's business.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ackWorker } from './support/callbacks.mjs';
import { checkAllEnded, checkHistory } from './support/conservation.mjs';
import { notNow, slowly, startReceiver } from './support/receiver.mjs';
import { startServer } from './support/server.mjs';
import { patience, until } from './support/time.mjs';

const timeout = 120_000 * patience;
const workMs = 10;

async function start(t, answer, settings = {}) {
  const receiver = await startReceiver(t, answer);
  const server = await startServer(t);
  const queue = { webhookUrl: receiver.url, backpressureScope: 'key', ...settings };
  await server.api.createQueue('q', queue);
  return { receiver, server, api: server.api };
}

const keyOf = ({ payload }) => payload.key;

/** Publishes jobs that name their key in the payload as well. */
async function publishFor(api, limitKey, count, fields = {}) {
  const jobs = Array.from({ length: count }, () => ({ payload: { key: limitKey }, limitKey, ...fields }));
  const results = [];
  while (results.length < count)
    results.push(...await api.publishBatch('q', jobs.slice(results.length, results.length + 1000)));
  assert.ok(results.every(({ ok }) => ok));
  return results.map(({ id }) => id);
}

/** Returns what the queue tells of a key, if it tells anything. */
async function limitKey(api, name) {
  const { items } = await api.ask('GET', '/v1/queues/q/keys');
  return items.find(({ key }) => key === name);
}

function keyOnce(api, name, state) {
  return until(`key ${name} ${state}`, 10, async () => {
    const key = await limitKey(api, name);
    return key?.gate.state === state && key;
  });
}

/** Waits until all jobs of a tenant were answered 200. */
function allTaken(receiver, name, count, seconds) {
  return until(`all of ${name} taken`, seconds, () => (
    receiver.arrivals.filter(({ payload, status }) => payload.key === name && status === 200).length === count));
}

/** Returns how many jobs a second of a tenant were taken. */
function rateOf({ arrivals }, name) {
  const times = arrivals.filter(({ payload, status }) => payload.key === name && status === 200).map(({ ended }) => ended);
  return times.length / ((Math.max(...times) - Math.min(...times)) / 1000);
}

test('a 429 for one tenant leaves the other at its rate', { timeout }, async (t) => {
  let busy = false;
  const { receiver, api } = await start(t, slowly(workMs, (arrival) => (
    busy && keyOf(arrival) === 'a' ? notNow(6) : { status: 200 })), { concurrency: 8 });
  const alone = await publishFor(api, 'b', 400);
  await allTaken(receiver, 'b', 400, 20);
  const usual = rateOf(receiver, 'b');
  receiver.arrivals.length = 0;

  busy = true;
  await api.pause('q');
  const held = await publishFor(api, 'a', 400);
  const other = await publishFor(api, 'b', 400);
  await api.resume('q');
  await allTaken(receiver, 'b', 400, 20);
  const during = rateOf(receiver, 'b');
  t.diagnostic(`b alone ${Math.round(usual)} jobs/s, beside a tenant that is held ${Math.round(during)}`);
  assert.ok(during > usual / 3, `${during} jobs/s after ${usual}`);
  const refused = receiver.arrivals.filter((arrival) => keyOf(arrival) === 'a');
  assert.ok(refused.length >= 1 && refused.length <= 8, `${refused.length} deliveries to a tenant that is held`);
  const { gate } = await api.queue('q');
  assert.equal(gate.state, 'open');

  const key = await limitKey(api, 'a');
  assert.equal(key.gate.state, 'held');
  assert.equal(key.gate.webhookStatusCode, 429);
  const waiting = held.find((id) => !receiver.arrivals.some((arrival) => arrival.id === id));
  const { blockedBy } = await api.job(waiting);
  assert.ok(blockedBy.some((blocked) => blocked.gate === 'key_hold' && blocked.until === key.gate.releaseAt),
    JSON.stringify(blockedBy));

  busy = false;
  await allTaken(receiver, 'a', 400, 20);
  const [first, second] = receiver.arrivals.filter(({ payload, status }) => payload.key === 'a' && status === 200);
  assert.ok(first.at >= Date.parse(key.gate.releaseAt), 'the probe came too early');
  assert.ok(second.at >= first.ended, 'more than the probe went out');
  await api.drained('q', 10);
  await checkAllEnded(api, 'q', [...alone, ...held, ...other]);
  for (const job of await api.jobs(held)) {
    checkHistory(job);
    assert.equal(job.attempts, 1);
  }
});

test('one job of a tenant does not wait behind 10,000 of another', { timeout }, async (t) => {
  const { receiver, api } = await start(t, undefined, { concurrency: 4 });
  await api.pause('q');
  const many = await publishFor(api, 'a', 10_000);
  const one = await publishFor(api, 'b', 1);
  await api.resume('q');
  const position = await until('b', 20, () => {
    const found = receiver.arrivals.findIndex((arrival) => keyOf(arrival) === 'b');
    return found < 0 ? undefined : `${found}`;
  });
  t.diagnostic(`${position} of a went before`);
  assert.ok(Number(position) <= 8, `${position} of a went before`);
  await api.drained('q', 60);
  await checkAllEnded(api, 'q', [...many, ...one]);
  assert.equal(receiver.arrivals.length, 10_001);
});

test('tenants take turns, whatever they have waiting', { timeout }, async (t) => {
  const { receiver, api } = await start(t, undefined, { concurrency: 1 });
  await api.pause('q');
  const ids = [...await publishFor(api, 'a', 60), ...await publishFor(api, 'b', 20), ...await publishFor(api, 'c', 20)];
  await api.resume('q');
  await api.drained('q', 20);
  const early = receiver.arrivals.slice(0, 60).map(keyOf);
  for (const name of ['a', 'b', 'c'])
    assert.equal(early.filter((key) => key === name).length, 20, early.join(''));
  await checkAllEnded(api, 'q', ids);
});

test('keyConcurrency bounds each tenant, and concurrency all of them', { timeout }, async (t) => {
  const open = { a: 0, b: 0, c: 0 };
  const most = { a: 0, b: 0, c: 0 };
  const { receiver, api } = await start(t, async (arrival, self) => {
    const key = keyOf(arrival);
    most[key] = Math.max(most[key], ++open[key]);
    const answer = await slowly(workMs, () => ({ status: 200 }))(arrival, self);
    --open[key];
    return answer;
  }, { concurrency: 5, keyConcurrency: 2 });
  await api.pause('q');
  const ids = [];
  for (const key of ['a', 'b', 'c'])
    ids.push(...await publishFor(api, key, 60));
  await api.resume('q');
  await api.drained('q', 20);
  assert.deepEqual(most, { a: 2, b: 2, c: 2 });
  assert.equal(receiver.inFlightMax, 5);
  await checkAllEnded(api, 'q', ids);
});

test('keyRateLimitMax bounds what starts for each tenant in any window', { timeout }, async (t) => {
  const { receiver, api } = await start(t, undefined, { concurrency: 50, keyRateLimitMax: 5 });
  await api.pause('q');
  const ids = [...await publishFor(api, 'a', 15), ...await publishFor(api, 'b', 15)];
  await api.resume('q');
  await api.drained('q', 20);
  for (const name of ['a', 'b']) {
    const times = receiver.arrivals.filter((arrival) => keyOf(arrival) === name).map(({ at }) => at);
    for (let n = 5; n < times.length; ++n)
      assert.ok(times[n] - times[n - 5] > 900, `six of ${name} within ${times[n] - times[n - 5]} ms`);
  }
  await checkAllEnded(api, 'q', ids);
});

test('a key that is held can be listed and released: its next job is the probe', { timeout }, async (t) => {
  let busy = true;
  const { receiver, api } = await start(t, () => (busy ? notNow(3600) : { status: 200 }), { concurrency: 1 });
  const ids = await publishFor(api, 'te/nant ä', 3);
  await keyOnce(api, 'te/nant ä', 'held');
  busy = false;
  const released = await api.send('POST', `/v1/queues/q/keys/${encodeURIComponent('te/nant ä')}/release`);
  assert.equal(released.status, 200, released.text);
  await api.drained('q', 10);
  assert.equal(await limitKey(api, 'te/nant ä'), undefined, 'an idle key is listed');
  await checkAllEnded(api, 'q', ids);
  assert.equal(receiver.arrivals.length, 4);
});

test('a held key is held until the same moment after a kill, and others are not', { timeout }, async (t) => {
  let busy = true;
  const { receiver, server, api } = await start(t, (arrival) => (
    busy && keyOf(arrival) === 'a' ? notNow(3) : { status: 200 }), { concurrency: 1 });
  const held = await publishFor(api, 'a', 5);
  const before = await keyOnce(api, 'a', 'held');
  await server.killAndStart();
  const after = await limitKey(api, 'a');
  assert.deepEqual(after.gate, before.gate);
  const others = await publishFor(api, 'b', 5);
  await allTaken(receiver, 'b', 5, 5);
  busy = false;
  await allTaken(receiver, 'a', 5, 10);
  const first = receiver.arrivals.find(({ payload, status }) => payload.key === 'a' && status === 200);
  assert.ok(first.at >= Date.parse(before.gate.releaseAt), 'the probe came too early');
  await api.drained('q', 10);
  await checkAllEnded(api, 'q', [...held, ...others]);
});

test('a call that says "not now" for the key holds the key, in ack mode', { timeout }, async (t) => {
  const { receiver, api } = await start(t, undefined, { mode: 'ack', backpressureScope: 'queue', concurrency: 8 });
  let busy = true;
  const worker = ackWorker(api, (arrival) => (
    busy && keyOf(arrival) === 'a' ? ['defer', { retryAfter: 1, scope: 'key' }] : ['ack']));
  receiver.answer = worker.answer;
  const ids = [...await publishFor(api, 'a', 20), ...await publishFor(api, 'b', 20)];
  await keyOnce(api, 'a', 'held');
  busy = false;
  assert.equal((await api.queue('q')).gate.state, 'open');
  await api.drained('q', 20);
  await worker.settled();
  await checkAllEnded(api, 'q', ids);
  const jobs = await api.jobs(ids);
  jobs.forEach(checkHistory);
  assert.ok(jobs.every(({ attempts, status }) => attempts === 1 && status === 'completed'));
});
