// kill -9 at every step of everything that happens to the jobs of push queues:
// nothing is lost or there twice, what was answered stays so, and a delivery is
// made at most once more.

import assert from 'node:assert/strict';

import { checkAllEnded, checkHistory } from './support/conservation.mjs';
import { commits, matrix, replying, sending, storing } from './support/kill_steps.mjs';
import { until } from './support/time.mjs';

const retryAfter = 0.2;

/** Waits until the queue is at rest with this one job, and returns that. */
async function onlyJob(cell, id) {
  await cell.api.drained(cell.queue, 20);
  await checkAllEnded(cell.api, cell.queue, [id]);
  const job = await cell.api.job(id);
  if (job.replayCount === 0)
    checkHistory(job);
  assert.deepEqual([...new Set(cell.arrivals.map((arrival) => arrival.id))], [id]);
  return job;
}

/** Checks a number that is `stored`, or one less where that is not certain. */
function checkCount(cell, count, stored, what) {
  assert.ok(count === stored || (cell.stored !== true && count === stored - 1), `${what}: ${count}`);
}

// -- publishing ---------------------------------------------------------------

matrix('publish', [...storing, ...replying, ...sending], async (cell) => {
  const { api, queue } = cell;
  const job = { payload: { n: 1 }, idempotencyKey: 'once' };
  await cell.create();
  cell.begin('commit', 'send');
  const told = await cell.call('POST', `/v1/queues/${queue}/jobs`, job);
  return async () => {
    const there = (await api.allJobs(queue)).map(({ id }) => id);
    assert.ok(there.length <= 1 && cell.arrivals.every(({ id }) => there.includes(id)));
    if (told || cell.stored !== undefined)
      assert.equal(there.length, cell.stored === false ? 0 : 1);
    const { id } = await api.publish(queue, job.payload, job);
    assert.deepEqual([id], there.length > 0 ? there : [id]);
    assert.ok(told === undefined || told.id === id);
    const { status, attempts } = await onlyJob(cell, id);
    assert.deepEqual([status, attempts], ['completed', 1]);
    cell.checkDeliveries(1, { again: true });
  };
});

// -- deliveries ---------------------------------------------------------------

/**
 * Publishes a job that is delivered a little later, so that nothing else is stored
 * meanwhile. The first answer of its webhook is `first`.
 */
async function deliver(cell, settings, first) {
  await cell.create(settings, () => {
    cell.begin('commit');
    return cell.arrivals.length === 1 ? first : { status: 200 };
  });
  const { id } = await cell.api.publish(cell.queue, { n: 1 }, { delay: 0.1 });
  cell.begin('send');
  return id;
}

/** A kill at the send leaves the webhook's first answer to the next delivery. */
const delivering = [...sending, ...storing];

matrix('complete', delivering, async (cell) => {
  const id = await deliver(cell, {}, { status: 200 });
  return async () => {
    const { status, attempts } = await onlyJob(cell, id);
    assert.deepEqual([status, attempts], ['completed', 1]);
    cell.checkDeliveries(1);
  };
});

matrix('retry', delivering, async (cell) => {
  const id = await deliver(cell, {}, { status: 500 });
  return async () => {
    const { status, attempts } = await onlyJob(cell, id);
    assert.equal(status, 'completed');
    checkCount(cell, attempts, 2, 'attempts');
    cell.checkDeliveries(2);
  };
});

matrix('defer', delivering, async (cell) => {
  const headers = { 'retry-after': String(retryAfter) };
  const id = await deliver(cell, {}, { status: 429, headers });
  return async () => {
    const { status, attempts, deferCount } = await onlyJob(cell, id);
    assert.deepEqual([status, attempts], ['completed', 1]);
    checkCount(cell, deferCount, 1, 'defers');
    cell.checkDeliveries(2);
    const [first, second] = cell.arrivals;
    if (cell.stored)
      assert.ok(second.at - first.at >= retryAfter * 1000 - 5, `held for ${second.at - first.at} ms`);
    await cell.api.gateOnce(cell.queue, 'open');
  };
});

matrix('dead-letter', delivering, async (cell) => {
  const failing = { status: 500 };
  const id = await deliver(cell, { maxAttempts: 1 }, failing);
  cell.answers.set(cell.queue, () => {
    cell.begin('commit');
    return failing;
  });
  return async () => {
    const { status, attempts, deadReason } = await onlyJob(cell, id);
    assert.deepEqual([status, attempts, deadReason], ['dead', 1, 'attempts_exhausted']);
    const { items } = await cell.api.ask('GET', `/v1/queues/${cell.queue}/dlq`);
    assert.deepEqual(items.map((item) => item.id), [id]);
    cell.checkDeliveries(1);
  };
});

// -- coming back --------------------------------------------------------------

/** Makes dead jobs, whose webhook takes them from now on. Returns their ids. */
async function makeDead(cell, count) {
  await cell.create({ maxAttempts: 1 }, () => ({ status: 500 }));
  const ids = await cell.api.publishMany(cell.queue, count);
  await cell.api.drained(cell.queue, 20);
  cell.answers.set(cell.queue, () => ({ status: 200 }));
  return ids;
}

/** Checks that each of the jobs had one more life, and that it ended well. */
async function checkLives(cell, ids) {
  await cell.api.drained(cell.queue, 20);
  await checkAllEnded(cell.api, cell.queue, ids);
  for (const { status, replayCount, attempts } of await cell.api.jobs(ids))
    assert.deepEqual([status, replayCount, attempts], ['completed', 1, 1]);
  cell.checkDeliveries(2, { again: true });
}

matrix('replay', [...storing, ...replying, ...sending], async (cell) => {
  const [id] = await makeDead(cell, 1);
  cell.begin('commit', 'send');
  const told = await cell.call('POST', `/v1/jobs/${id}/replay`);
  return async () => {
    const { replayCount } = await cell.api.job(id);
    if (told || cell.stored !== undefined)
      assert.equal(replayCount, cell.stored === false ? 0 : 1);
    if (replayCount === 0)
      await cell.api.ask('POST', `/v1/jobs/${id}/replay`);
    await checkLives(cell, [id]);
  };
});

matrix('replay of many', [...storing, ...replying, ...commits, ...sending], async (cell) => {
  const ids = await makeDead(cell, 3);
  const path = `/v1/queues/${cell.queue}/dlq/replay`;
  cell.begin('commit', 'send');
  const told = await cell.call('POST', path, {});
  return async () => {
    const { items } = await cell.api.ask('GET', '/v1/operations');
    const known = items.filter(({ queue }) => queue === cell.queue);
    assert.ok(told === undefined || known.some(({ id }) => id === told.id), 'the operation is lost');
    const { id } = known[0] ?? await cell.api.ask('POST', path, {});
    const { done } = await cell.api.operationOnce(id, 'done', ({ state }) => state === 'done');
    assert.equal(done, 3);
    await checkLives(cell, ids);
  };
});

// -- ack mode -----------------------------------------------------------------

/** Publishes a job, waits until its worker has it, and tells what came of it. */
async function report(cell, verb, fields = {}) {
  await cell.create({ mode: 'ack' });
  const { id } = await cell.api.publish(cell.queue, { n: 1 });
  await cell.api.jobWithStatus(id, 'awaiting_ack');
  cell.begin('commit');
  const body = { ...fields, delivery: 1 };
  const told = await cell.call('POST', `/v1/jobs/${id}/${verb}`, body);
  return { id, told, again: () => cell.api.ask('POST', `/v1/jobs/${id}/${verb}`, body) };
}

/** What the job is like after the restart, whatever else its worker says. */
async function checkStored(cell, { id, told }, isStored) {
  const job = await cell.api.job(id);
  if (told || cell.stored !== undefined)
    assert.equal(isStored(job), cell.stored !== false, JSON.stringify(job));
}

/** Has the worker ack the second delivery, and returns the job. */
async function ackSecond(cell, id) {
  await cell.api.jobOnce(id, 'delivered again', ({ status, deliveries }) => (
    status === 'awaiting_ack' && deliveries === 2));
  await cell.api.ask('POST', `/v1/jobs/${id}/ack`, { delivery: 2 });
  cell.checkDeliveries(2, { again: false });
  return onlyJob(cell, id);
}

matrix('ack', [...storing, ...replying], async (cell) => {
  const call = await report(cell, 'ack');
  return async () => {
    await checkStored(cell, call, ({ status }) => status === 'completed');
    await call.again();
    const { status, attempts } = await onlyJob(cell, call.id);
    assert.deepEqual([status, attempts], ['completed', 1]);
    cell.checkDeliveries(1, { again: false });
  };
});

matrix('nack', [...storing, ...replying], async (cell) => {
  const call = await report(cell, 'nack');
  return async () => {
    await checkStored(cell, call, ({ history }) => history.some(({ status }) => status === 'nacked'));
    const { history } = await cell.api.job(call.id);
    if (history.length === 0)
      await call.again();
    const { status, attempts } = await ackSecond(cell, call.id);
    assert.deepEqual([status, attempts], ['completed', 2]);
  };
});

matrix('nack for good', [...storing, ...replying], async (cell) => {
  const call = await report(cell, 'nack', { retryable: false });
  return async () => {
    await checkStored(cell, call, ({ status }) => status === 'dead');
    await call.again();
    const { deadReason, attempts } = await onlyJob(cell, call.id);
    assert.deepEqual([deadReason, attempts], ['nack_not_retryable', 1]);
    cell.checkDeliveries(1, { again: false });
  };
});

matrix('defer by the worker', [...storing, ...replying], async (cell) => {
  const call = await report(cell, 'defer', { retryAfter });
  return async () => {
    await checkStored(cell, call, ({ deferCount }) => deferCount === 1);
    const { deferCount } = await cell.api.job(call.id);
    if (deferCount === 0)
      await call.again();
    const job = await ackSecond(cell, call.id);
    assert.deepEqual([job.status, job.attempts, job.deferCount], ['completed', 1, 1]);
    await cell.api.gateOnce(cell.queue, 'open');
  };
});

matrix('the 200 of ack mode', delivering, async (cell) => {
  const id = await deliver(cell, { mode: 'ack' }, { status: 200 });
  return async () => {
    await until('awaiting', 20, async () => (await cell.api.job(id)).status === 'awaiting_ack');
    await cell.api.ask('POST', `/v1/jobs/${id}/ack`);
    const { status, attempts } = await onlyJob(cell, id);
    assert.deepEqual([status, attempts], ['completed', 1]);
    cell.checkDeliveries(1);
  };
});
