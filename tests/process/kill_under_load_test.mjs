// kill -9 at random moments, under load: what was accepted is delivered and ends.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { checkConservation } from './support/conservation.mjs';
import { startPublishers } from './support/publishers.mjs';
import { randomFrom } from './support/random.mjs';
import { notNow, startReceiver } from './support/receiver.mjs';
import { startServer } from './support/server.mjs';
import { patience } from './support/time.mjs';

const kills = 10;
const settings = { concurrency: 16, maxAttempts: 4, backoff: { type: 'fixed', delay: 0.05 } };

/**
 * Says "not now" to some and fails some. Never takes every fiftieth job, with a
 * status that is a verdict on a probe: nothing but 500 would keep the queue shut.
 */
function mixed(random) {
  return ({ payload }) => {
    if (payload.n % 50 === 0)
      return { status: 404 };
    const lot = random();
    if (lot < 0.02)
      return notNow(0.05);
    return { status: lot < 0.05 ? 500 : 200 };
  };
}

test('ten kill -9 at random moments lose nothing and invent nothing', { timeout: 120_000 * patience }, async (t) => {
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
  assert.deepEqual(refused, [], server.log);
  assert.ok(accepted.length > 100, `only ${accepted.length} were accepted`);
  for (const { attempts, deadReason } of jobs.filter(({ status }) => status === 'dead'))
    assert.deepEqual({ attempts, deadReason }, { attempts: settings.maxAttempts, deadReason: 'attempts_exhausted' });
  for (const { payload, status } of jobs.filter(({ payload }) => payload.n % 50 === 0))
    assert.equal(status, 'dead', `job ${payload.n} never succeeded`);
  for (const { attempts, deliveries, deferCount } of jobs)
    assert.ok(deliveries >= attempts + deferCount, `${deliveries} < ${attempts} + ${deferCount}`);
});

test('50 restarts leave one stuck job one job', { timeout: 120_000 * patience }, async (t) => {
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
