// A redrive of many messages: answered at once, and finished whatever happens to
// the server, with each message in one place. DEAD_MESSAGES sets how many there are.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { accepts, Queue, refuses, startPull } from './support/pull.mjs';
import { patience, until } from './support/time.mjs';

const deadMessages = Number(process.env.DEAD_MESSAGES ?? 4000);
const timeout = (120_000 + deadMessages * 20) * patience;

const workers = 8;

/** Messages that one commit of an operation moves at most. */
const slice = 100;

/** Has several workers call `work` until it returns false. */
function together(work) {
  return Promise.all(Array.from({ length: workers }, async () => {
    while (await work())
      ;
  }));
}

/** Makes `count` messages of queue `out` dead letters. Returns their ids. */
async function startDead(t, count) {
  const { server, queue, dead } = await startPull(t, { max_receive_count: 1 });
  const ids = await queue.publishBulk(count);
  await together(async () => {
    const got = await queue.consume({ max_messages: 10 });
    if (got.length === 0)
      return false;
    const entries = got.map(({ message_id, receipt_handle }) => ({ message_id, receipt_handle }));
    await queue.ask('POST', 'nack_batch', { queue: 'out', entries });
    return true;
  });
  await until('all are dead', 60, async () => (await dead.stats()).depth === count);
  return { server, api: server.api, queue, dead, ids };
}

/** Receives and acks everything in a queue. Returns it. */
async function takeAll(queue) {
  const all = [];
  await together(async () => {
    const got = await queue.consume({ max_messages: 10 });
    all.push(...got);
    if (got.length > 0)
      await queue.ask('POST', 'ack_batch', {
        queue: queue.name, entries: got.map(({ message_id, receipt_handle }) => ({ message_id, receipt_handle })),
      });
    return got.length > 0;
  });
  return all;
}

test('a redrive goes on after a kill, and each message is there once', { timeout }, async (t) => {
  const { server, api, queue, dead, ids } = await startDead(t, deadMessages);
  const plan = await queue.redrive({ dry_run: true });
  assert.equal(plan.count, deadMessages);
  assert.deepEqual(plan.sample.map(({ message_id }) => message_id), ids.slice(0, 10));
  const { operation_id, redriven } = await queue.redrive();
  assert.equal(redriven, undefined);
  const started = await api.ask('GET', `/v1/operations/${operation_id}`);
  assert.deepEqual([started.kind, started.queue, started.total], ['redrive', 'out.dlq', deadMessages]);
  await api.operationOnce(operation_id, 'under way', ({ done }) => done >= deadMessages / 4);
  await server.killAndStart();
  const resumed = await api.ask('GET', `/v1/operations/${operation_id}`);
  assert.equal(resumed.state, 'running', 'it was done when the kill came');
  // It goes on between the calls; a slice that is there may not be counted yet.
  const { depth } = await queue.stats();
  const { done } = await api.ask('GET', `/v1/operations/${operation_id}`);
  assert.ok(resumed.done <= depth && depth <= done + slice, `${resumed.done} to ${done}, there are ${depth}`);
  const finished = await api.operationOnce(operation_id, 'done', ({ state }) => state === 'done');
  assert.equal(finished.done, deadMessages);
  assert.deepEqual([(await queue.stats()).depth, (await dead.stats()).depth], [deadMessages, 0]);
  assert.equal((await dead.stats()).redriven_total, deadMessages);
  const all = await takeAll(queue);
  assert.deepEqual(all.map(({ message_id }) => message_id).sort(), [...ids].sort());
  assert.ok(all.every((m) => m.redrive_count === 1 && m.delivery_count === 1 && m.dead_letter === null));
  assert.ok(all.every(({ message_id, payload }) => ids[payload.n] === message_id));
});

test('a redrive keeps its pace, and stops where it is cancelled', { timeout }, async (t) => {
  const { api, queue, dead } = await startDead(t, 100);
  const from = performance.now();
  const { operation_id } = await queue.redrive({ per_second: 20 });
  await api.operationOnce(operation_id, 'under way', ({ done }) => done >= 20);
  const took = performance.now() - from;
  const cancelled = await api.ask('DELETE', `/v1/operations/${operation_id}`);
  assert.equal(cancelled.state, 'cancelled');
  assert.ok(took > 700, `20 at 20 a second took ${took} ms`);
  await sleep(500);
  assert.deepEqual(await api.ask('GET', `/v1/operations/${operation_id}`), cancelled);
  const { depth } = await queue.stats();
  assert.equal(depth, cancelled.done);
  assert.equal((await dead.stats()).depth, 100 - depth);
  assert.deepEqual(await queue.redrive(), { redriven: 100 - depth });
});

test('up to a thousand are moved before the answer, by filter or by name', { timeout }, async (t) => {
  const { api, queue, dead, ids } = await startDead(t, 30);
  const soon = new Date(Date.now() + 60_000).toISOString();
  assert.deepEqual(await queue.redrive({ since: soon }), { redriven: 0 });
  assert.equal((await queue.redrive({ until: soon, dry_run: true })).count, 30);
  assert.deepEqual(await queue.redrive({ message_ids: ids.slice(20, 25) }), { redriven: 5 });
  assert.deepEqual(await queue.redrive({ max_messages: 7 }), { redriven: 7 });
  const left = await takeAll(dead);
  assert.deepEqual(left.map(({ message_id }) => message_id).sort(), [...ids.slice(7, 20), ...ids.slice(25)].sort());
  for (const fields of [{ max_messages: 0 }, { per_second: 0 }, { per_second: 1, message_ids: ids.slice(0, 1) }])
    await refuses(queue.send('POST', 'dlq/redrive/out', fields), 400, 'INVALID_ARGUMENT');
  assert.deepEqual((await api.ask('GET', '/v1/operations')).items, []);
});

test('a message is found in its queue and where that gave up on it', { timeout }, async (t) => {
  const { api, queue, ids } = await startDead(t, 1);
  const [dead] = ids;
  const other = new Queue(api, 'other');
  await other.create();
  const { message_id: elsewhere } = await other.publish(1);
  await refuses(queue.settle('ack', { message_id: dead }), 409, 'QUEUE_MESSAGE_NOT_IN_FLIGHT');
  await refuses(queue.settle('ack', { message_id: elsewhere }), 404, 'QUEUE_MESSAGE_NOT_FOUND');
  await refuses(other.settle('ack', { message_id: dead }), 404, 'QUEUE_MESSAGE_NOT_FOUND');
  await refuses(other.settle('ack', { message_id: elsewhere }), 409, 'QUEUE_MESSAGE_NOT_IN_FLIGHT');
  await other.consume();
  await accepts(other.settle('ack', { message_id: elsewhere }));
});
