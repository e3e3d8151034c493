// Whatever state a job and its queue are in, kill -9 leaves them there.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { notNow, startReceiver } from './support/receiver.mjs';
import { startServer } from './support/server.mjs';
import { patience, until } from './support/time.mjs';

const timeout = 60_000 * patience;

/** Seconds in which a server is killed and started twice. */
const delay = 2 * patience;

/** Answers what the payload asks for. */
const asAsked = ({ payload }) => payload.answer ?? { status: 200 };

async function start(t, settings = {}) {
  const receiver = await startReceiver(t, asAsked);
  const server = await startServer(t);
  await server.api.createQueue('q', { webhookUrl: receiver.url, ...settings });
  return { receiver, server };
}

/** Returns all that can be read of the queue and the jobs, but for their age. */
async function readAll(server, ids) {
  const { oldestAgeSeconds, ...queue } = await server.api.queue('q');
  return { queue, jobs: await server.api.jobs(ids) };
}

/** Kills and starts the server. Checks that nothing changed and nothing was sent. */
async function checkUnchanged(server, receiver, ids) {
  const before = await readAll(server, ids);
  const delivered = receiver.arrivals.length;
  await server.killAndStart();
  assert.deepEqual(await readAll(server, ids), before);
  await server.killAndStart();
  assert.deepEqual(await readAll(server, ids), before);
  assert.equal(receiver.arrivals.length, delivered);
  return before;
}

test('a delayed job is delayed until the same moment', { timeout }, async (t) => {
  const { receiver, server } = await start(t);
  const { id } = await server.api.publish('q', {}, { delay });
  const { jobs: [job], queue } = await checkUnchanged(server, receiver, [id]);
  assert.equal(job.status, 'pending');
  assert.deepEqual(job.blockedBy.map(({ gate }) => gate), ['delay']);
  assert.equal(queue.counts.scheduled, 1);
  await server.api.jobWithStatus(id, 'completed');
  assert.ok(receiver.arrivals[0].at >= Date.parse(job.scheduledFor));
  assert.equal(Date.parse(job.scheduledFor), Date.parse(job.createdAt) + delay * 1000);
});

test('a job that waits for its retry waits until the same moment', { timeout }, async (t) => {
  const { receiver, server } = await start(t, { backoff: { type: 'fixed', delay } });
  const answers = [{ status: 500, body: 'broken' }, { status: 200 }];
  receiver.answer = () => answers.shift();
  const { id } = await server.api.publish('q', {});
  await server.api.jobOnce(id, 'failed once', ({ attempts }) => attempts === 1);
  const { jobs: [job] } = await checkUnchanged(server, receiver, [id]);
  assert.equal(job.status, 'processing');
  assert.deepEqual(job.blockedBy.map(({ gate }) => gate), ['backoff']);
  assert.equal(job.history[0].responseExcerpt, 'broken');
  const { attempts, deliveries } = await server.api.jobWithStatus(id, 'completed');
  assert.deepEqual({ attempts, deliveries }, { attempts: 2, deliveries: 2 });
  assert.ok(receiver.arrivals[1].at >= Date.parse(job.scheduledFor));
});

test('a held queue, the job that was deferred and the job behind it stay', { timeout }, async (t) => {
  const { receiver, server } = await start(t);
  const deferred = await server.api.publish('q', { answer: notNow(3600) });
  await server.api.jobOnce(deferred.id, 'deferred', ({ deferCount }) => deferCount === 1);
  const waiting = await server.api.publish('q', {});
  const ids = [deferred.id, waiting.id];
  const { queue, jobs } = await checkUnchanged(server, receiver, ids);
  assert.equal(queue.gate.state, 'held');
  assert.equal(queue.gate.causedByJob, deferred.id);
  assert.equal(queue.gate.webhookStatusCode, 429);
  assert.deepEqual([queue.counts.scheduled, queue.counts.held], [1, 1]);
  assert.deepEqual(jobs.map(({ status }) => status), ['processing', 'pending']);
  assert.deepEqual(jobs[1].blockedBy.map(({ gate }) => gate), ['hold']);
});

test('a paused queue stays paused, and goes on where it was', { timeout }, async (t) => {
  const { receiver, server } = await start(t);
  await server.api.pause('q');
  const { id } = await server.api.publish('q', {});
  const { queue, jobs: [job] } = await checkUnchanged(server, receiver, [id]);
  assert.equal(queue.paused, true);
  assert.deepEqual(job.blockedBy.map(({ gate }) => gate), ['paused']);
  await server.api.resume('q');
  await server.api.jobWithStatus(id, 'completed');
});

test('a completed and a dead job stay what they are', { timeout }, async (t) => {
  const { receiver, server } = await start(t, { maxAttempts: 2, backoff: { type: 'fixed', delay: 0.05 } });
  const completed = await server.api.publish('q', {});
  const dead = await server.api.publish('q', { answer: { status: 500 } });
  await server.api.jobWithStatus(completed.id, 'completed');
  await server.api.jobWithStatus(dead.id, 'dead');
  const { queue, jobs } = await checkUnchanged(server, receiver, [completed.id, dead.id]);
  assert.equal(jobs[1].deadReason, 'attempts_exhausted');
  assert.equal(jobs[1].history.length, 2);
  assert.deepEqual([queue.counts.completed, queue.counts.dead], [1, 1]);
});

test('a delivery that a kill cut off is made again at once, and costs no attempt', { timeout }, async (t) => {
  const { receiver, server } = await start(t);
  let cut = false;
  receiver.answer = () => (cut ? { status: 200 } : undefined);
  const { id } = await server.api.publish('q', {});
  await until('it arrived', 10, () => receiver.arrivals.length === 1);
  cut = true;
  await server.killAndStart();
  const { attempts, deadReason } = await server.api.jobWithStatus(id, 'completed', 5);
  assert.deepEqual({ attempts, deadReason }, { attempts: 1, deadReason: null });
  assert.equal(receiver.arrivals.length, 2);
});

test('a rate limit holds across a kill', { timeout }, async (t) => {
  const { receiver, server } = await start(t, { rateLimitMax: 5, rateLimitWindow: 3 });
  const ids = await server.api.publishMany('q', 12);
  await until('the first five', 10, () => receiver.arrivals.length === 5);
  for (const { id } of receiver.arrivals)
    await server.api.jobWithStatus(id, 'completed');
  await server.killAndStart();
  await server.api.drained('q', 20);
  assert.equal(receiver.arrivals.length, ids.length);
  const times = receiver.arrivals.map(({ at }) => at);
  for (let n = 5; n < times.length; ++n)
    assert.ok(times[n] - times[n - 5] > 3000 - 100 * patience, `six started within ${times[n] - times[n - 5]} ms`);
});

test('settings that were changed stay changed, and the secret stays', { timeout }, async (t) => {
  const { receiver, server } = await start(t);
  await server.api.ask('PATCH', '/v1/queues/q', { concurrency: 3, headers: { 'X-A': 'b' } });
  const { queue } = await checkUnchanged(server, receiver, []);
  assert.equal(queue.concurrency, 3);
  await server.api.ask('DELETE', '/v1/queues/q');
  await server.killAndStart();
  assert.equal((await server.api.send('GET', '/v1/queues/q')).status, 404);
});
