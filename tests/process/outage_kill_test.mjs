// A hold outlives kill -9: the same release time, and one probe.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { checkConservation } from './support/conservation.mjs';
import { checkNothingBurned, openWhileHeld, startOutage, wasted } from './support/outage.mjs';
import { startServer } from './support/server.mjs';
import { patience, until } from './support/time.mjs';

const timeout = 60_000 * patience;
const burst = 16;

/** Waits until the first burst was refused and all of that is on the disk. */
async function burstIsStored(server, receiver) {
  await until('burst refused', 10, () => receiver.arrivals.length >= burst
    && receiver.arrivals.slice(0, burst).every(({ ended }) => ended));
  for (const { id } of receiver.arrivals.slice(0, burst))
    await server.api.jobOnce(id, 'deferred', ({ deferCount }) => deferCount === 1);
}

async function finish(t, server, { receiver, ids }, wastedMax) {
  await server.api.drained('outage', 30);
  const jobs = await checkConservation(t, { api: server.api, queue: 'outage', accepted: ids, receiver });
  checkNothingBurned(jobs);
  t.diagnostic(`${wasted(receiver)} wasted`);
  assert.ok(wasted(receiver) <= wastedMax, `${wasted(receiver)} deliveries were wasted`);
  assert.equal(openWhileHeld(receiver), 1);
  return jobs;
}

test('a queue that was killed while held is held until the same moment', { timeout }, async (t) => {
  const server = await startServer(t);
  const outage = await startOutage(t, server, { jobs: 1000, seconds: 5, retryAfter: 2 });
  const { receiver } = outage;
  await server.api.resume('outage');
  await burstIsStored(server, receiver);
  const before = await server.api.queue('outage');
  assert.equal(before.gate.state, 'held');
  await server.killAndStart();
  const after = await server.api.queue('outage');
  assert.deepEqual(after.gate, before.gate);
  assert.deepEqual(after.counts, before.counts);
  assert.equal(receiver.arrivals.length, burst);
  await until('probe', 5, () => receiver.arrivals.length > burst);
  const probe = receiver.arrivals[burst];
  assert.ok(probe.at >= Date.parse(before.gate.releaseAt), 'the probe came too early');
  await finish(t, server, outage, burst + 3);
});

test('a queue that was killed while probing sends one more probe', { timeout }, async (t) => {
  const server = await startServer(t);
  let arrived = 0;
  const whileRefused = () => {
    ++arrived;
    return arrived > burst ? sleep(1000) : undefined;
  };
  const outage = await startOutage(t, server, { jobs: 1000, seconds: 5, retryAfter: 2, whileRefused });
  const { receiver } = outage;
  await server.api.resume('outage');
  await burstIsStored(server, receiver);
  const { gate } = await server.api.queue('outage');
  await until('probe', 5, () => receiver.arrivals.length > burst);
  const probing = await server.api.queue('outage');
  assert.equal(probing.gate.state, 'probing');
  await server.kill();
  await until('the webhook saw it die', 5, () => receiver.inFlight === 0);
  receiver.resetInFlightMax();
  await server.start();
  const { id, delivery } = receiver.arrivals[burst];
  const job = await server.api.jobOnce(id, 'interrupted',
    ({ history }) => history.some(({ status }) => status === 'interrupted'));
  const row = job.history.find(({ status }) => status === 'interrupted');
  assert.equal(row.delivery, delivery);
  assert.equal(row.attempt, 1);
  assert.equal(job.attempts, 0);
  const again = await server.api.queue('outage');
  assert.equal(again.gate.releaseAt, gate.releaseAt);
  await until('second probe answered', 5, () => receiver.arrivals[burst + 1]?.ended);
  assert.equal(receiver.inFlightMax, 1);
  const jobs = await finish(t, server, outage, burst + 3);
  const interrupted = jobs.flatMap(({ history }) => history)
    .filter(({ status }) => status === 'interrupted');
  assert.equal(interrupted.length, 1);
});
