// Whatever takes a job away while it holds a slot gives the slot back: afterwards
// the queue has all of them and delivers as fast as before.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { checkAllEnded } from './support/conservation.mjs';
import { randomFrom } from './support/random.mjs';
import { never, slowly, startReceiver } from './support/receiver.mjs';
import { startServer } from './support/server.mjs';
import { patience, until } from './support/time.mjs';

const timeout = 120_000 * patience;
const times = 1000;
const concurrency = 20;
const workMs = 10;
const measured = 400;

const work = slowly(workMs, () => ({ status: 200 }));

/** Starts a queue and measures what it can do. */
async function start(t, settings = {}) {
  const receiver = await startReceiver(t, work);
  const server = await startServer(t);
  await server.api.createQueue('q', { webhookUrl: receiver.url, concurrency, maxAttempts: 1, ...settings });
  const well = { receiver, server, api: server.api, accepted: [], removed: [] };
  well.rate = await measure(well);
  return well;
}

/** Publishes, and notes what was accepted. */
async function publish(well, count, fieldsOf) {
  const ids = await well.api.publishBulk('q', count, fieldsOf);
  well.accepted.push(...ids);
  return ids;
}

/** Returns how many jobs a second go through, once all slots are in use. */
async function measure(well) {
  const { receiver, api } = well;
  let begin;
  const begun = new Promise((done) => { begin = done; });
  receiver.answer = (...arrival) => begun.then(() => work(...arrival));
  await api.pause('q');
  const ids = new Set(await publish(well, measured));
  receiver.resetInFlightMax();
  await api.resume('q');
  await until('all slots are in use', 30, () => receiver.inFlight === concurrency);
  const from = Date.now();
  begin();
  const taken = () => receiver.arrivals.slice(-measured).filter(({ id, ended }) => ended && ids.has(id));
  await until('all measured jobs are taken', 30, () => taken().length === measured);
  assert.equal(receiver.inFlightMax, concurrency, 'there are more slots than may be');
  return measured / ((Math.max(...taken().map(({ ended }) => ended)) - from) / 1000);
}

/** Checks that all slots are free again, and that it is as fast as it was. */
async function checkWell(t, well) {
  const { receiver, api } = well;
  await until('nothing is in flight', 10, async () => {
    const { counts } = await api.queue('q');
    return counts.inFlight === 0 && counts.awaitingAck === 0 && receiver.inFlight === 0;
  });
  const rate = await measure(well);
  t.diagnostic(`${Math.round(well.rate)} jobs/s before, ${Math.round(rate)} after`);
  assert.ok(rate > well.rate / 3, `${rate} jobs/s, and ${well.rate} before`);
  await api.drained('q', 20);
  await checkAllEnded(api, 'q', well.accepted, well.removed);
}

const cancelAll = (api, ids) => Promise.all(ids.map((id) => api.send('DELETE', `/v1/jobs/${id}`)));

test('1,000 jobs cancelled while they are delivered leak no slot', { timeout }, async (t) => {
  const well = await start(t);
  const { receiver, api } = well;
  for (let n = 0; n < times; n += concurrency) {
    receiver.answer = never;
    const ids = await publish(well, concurrency);
    await until('all are out', 10, () => receiver.inFlight === concurrency);
    const answers = await cancelAll(api, ids);
    assert.ok(answers.every(({ status }) => status === 200), answers[0].text);
    await until('all are cut', 10, () => receiver.inFlight === 0);
  }
  await checkWell(t, well);
});

test('1,000 jobs cancelled at the moment that they end leak no slot', { timeout }, async (t) => {
  const well = await start(t);
  const { api } = well;
  const answers = [];
  for (let n = 0; n < times; n += 100) {
    const ids = await publish(well, 100);
    answers.push(...await cancelAll(api, ids));
  }
  const cancelled = answers.filter(({ status }) => status === 200).length;
  t.diagnostic(`${cancelled} cancelled, ${times - cancelled} had ended`);
  for (const { status, json } of answers)
    assert.ok(status === 200 || json.code === 'job_completed', JSON.stringify(json));
  await checkWell(t, well);
});

test('1,000 jobs cancelled while they await their ack leak no slot', { timeout }, async (t) => {
  const well = await start(t);
  const { api } = well;
  await api.ask('PATCH', '/v1/queues/q', { mode: 'ack' });
  for (let n = 0; n < times; n += concurrency) {
    const ids = await publish(well, concurrency);
    await until('all await', 10, async () => (await api.queue('q')).counts.awaitingAck === concurrency);
    await cancelAll(api, ids);
  }
  await api.ask('PATCH', '/v1/queues/q', { mode: 'standard' });
  await checkWell(t, well);
});

test('1,000 jobs purged behind deliveries leak no slot', { timeout }, async (t) => {
  const well = await start(t);
  const { receiver, api } = well;
  let purged = 0;
  while (purged < times) {
    receiver.answer = slowly(100, work);
    const ids = await publish(well, concurrency + 100);
    await until('all slots are taken', 10, () => receiver.inFlight === concurrency);
    const { count } = await api.ask('POST', '/v1/queues/q/purge');
    assert.ok(count > 0, 'nothing was purged');
    purged += count;
    await api.drained('q', 10);
    const delivered = receiver.deliveriesById();
    well.removed.push(...ids.filter((id) => !delivered.has(id)));
  }
  await checkWell(t, well);
});

test('1,000 jobs whose lifetime ends while they are delivered leak no slot', { timeout }, async (t) => {
  const well = await start(t);
  const { receiver, api } = well;
  await api.ask('PATCH', '/v1/queues/q', { lifetime: 1, concurrency: 250, maxAttempts: 5 });
  const reasons = new Set();
  for (let n = 0; n < times; n += 250) {
    receiver.answer = slowly(1200, () => ({ status: 500 }));
    const ids = await publish(well, 250);
    await until('all are out', 10, () => receiver.inFlight === 250);
    await api.drained('q', 20);
    for (const { status, deadReason, attempts } of await api.jobs(ids)) {
      assert.deepEqual([status, attempts], ['dead', 1]);
      reasons.add(deadReason);
    }
  }
  assert.deepEqual([...reasons], ['lifetime_exceeded']);
  await api.ask('PATCH', '/v1/queues/q', { lifetime: 86400, concurrency, maxAttempts: 1 });
  await checkWell(t, well);
});

test('1,000 jobs under a limit that goes up and down leak no slot', { timeout }, async (t) => {
  const well = await start(t);
  const { api } = well;
  const random = randomFrom(t);
  await publish(well, times);
  let changes = 0;
  while ((await api.queue('q')).counts.completed < times) {
    await api.ask('PATCH', '/v1/queues/q', { concurrency: 1 + Math.floor(random() * 30) });
    ++changes;
    await sleep(10);
  }
  await api.ask('PATCH', '/v1/queues/q', { concurrency });
  t.diagnostic(`${changes} changes`);
  await checkWell(t, well);
});

test('1,000 deliveries that time out or break leak no slot', { timeout }, async (t) => {
  const well = await start(t);
  const { receiver, api } = well;
  await api.ask('PATCH', '/v1/queues/q', { timeout: 0.1, concurrency: 100 });
  receiver.answer = (arrival) => (arrival.payload.n % 2 === 0 ? never() : void arrival.request.socket.destroy());
  await publish(well, times);
  await api.drained('q', 30);
  await api.ask('PATCH', '/v1/queues/q', { timeout: 15, concurrency });
  await checkWell(t, well);
});

test('20 kill -9 under load leak no slot', { timeout }, async (t) => {
  const well = await start(t);
  const { server } = well;
  const random = randomFrom(t);
  for (let n = 0; n < 20; ++n) {
    await publish(well, 50);
    await sleep(random() * 100);
    await server.killAndStart();
  }
  await server.api.drained('q', 30);
  await checkWell(t, well);
});

test('20 kill -9 while jobs await their ack leak no slot', { timeout }, async (t) => {
  const well = await start(t);
  const { server, api } = well;
  await api.ask('PATCH', '/v1/queues/q', { mode: 'ack' });
  const awaiting = await publish(well, concurrency);
  await until('all await', 10, async () => (await api.queue('q')).counts.awaitingAck === concurrency);
  for (let n = 0; n < 20; ++n) {
    await server.killAndStart();
    assert.equal((await api.queue('q')).counts.awaitingAck, concurrency);
  }
  for (const id of awaiting)
    assert.equal((await api.report(id, 'ack')).status, 200);
  await api.ask('PATCH', '/v1/queues/q', { mode: 'standard' });
  await checkWell(t, well);
});
