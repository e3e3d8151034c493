// kill -9 at random moments, under load: what was accepted is delivered and ends.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { checkConservation } from './support/conservation.mjs';
import { startPublishers } from './support/publishers.mjs';
import { randomFrom } from './support/random.mjs';
import { notNow, startReceiver } from './support/receiver.mjs';
import { startServer } from './support/server.mjs';

const kills = 10;
const settings = { concurrency: 16, maxAttempts: 4, backoff: { type: 'fixed', delay: 0.05 } };

/** Refuses some, fails some, and always fails every fiftieth job. */
function mixed(random) {
  return ({ payload }) => {
    if (payload.n % 50 === 0)
      return { status: 500 };
    const lot = random();
    if (lot < 0.02)
      return notNow(0.05);
    return { status: lot < 0.05 ? 500 : 200 };
  };
}

test('ten kill -9 at random moments lose nothing and invent nothing', { timeout: 120_000 }, async (t) => {
  const random = randomFrom(t);
  const receiver = await startReceiver(t, mixed(random));
  const server = await startServer(t);
  await server.api.createQueue('load', { webhookUrl: receiver.url, ...settings });
  const publishers = startPublishers(server, 'load');
  for (let n = 0; n < kills; ++n) {
    await sleep(100 + random() * 400);
    await server.killAndStart();
  }
  await sleep(200);
  await publishers.stop();
  await server.api.drained('load', 60);
  const { accepted, unanswered, refused } = publishers;
  const jobs = await checkConservation(t, { api: server.api, queue: 'load', accepted, unanswered, receiver });
  assert.equal(refused, 0);
  assert.ok(accepted.length > 500, `only ${accepted.length} were accepted`);
  for (const { payload, status, attempts, deadReason } of jobs.filter(({ status }) => status === 'dead')) {
    assert.equal(deadReason, 'attempts_exhausted');
    assert.equal(attempts, settings.maxAttempts, `${payload.n} ${status}`);
  }
  for (const { payload, status } of jobs.filter(({ payload }) => payload.n % 50 === 0))
    assert.equal(status, 'dead', `job ${payload.n} never succeeded`);
  for (const { attempts, deliveries, deferCount } of jobs)
    assert.equal(deliveries >= attempts + deferCount, true);
});

test('50 restarts leave one stuck job one job', { timeout: 120_000 }, async (t) => {
  const receiver = await startReceiver(t, () => notNow(3600));
  const server = await startServer(t);
  await server.api.createQueue('stuck', { webhookUrl: receiver.url });
  const { id } = await server.api.publish('stuck', 1);
  const before = await server.api.jobOnce(id, 'deferred', ({ deferCount }) => deferCount === 1);
  for (let n = 0; n < 50; ++n)
    await server.killAndStart();
  assert.deepEqual(await server.api.job(id), before);
  const { counts } = await server.api.queue('stuck');
  assert.equal(counts.pending + counts.processing + counts.completed + counts.dead, 1);
  assert.equal(receiver.arrivals.length, 1);
});
