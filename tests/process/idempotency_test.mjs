// One key is one job, however many ask at once and whenever the server dies.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { randomFrom } from './support/random.mjs';
import { startReceiver } from './support/receiver.mjs';
import { startServer } from './support/server.mjs';
import { patience } from './support/time.mjs';

const timeout = 60_000 * patience;
const publishers = 200;

/**
 * Publishes with one key, on a connection each. Calls `onAnswer` with how many
 * were answered so far. Resolves with all answers that came.
 */
async function publishAll(server, idempotencyKey = 'order-1', onAnswer = () => {}) {
  const body = { payload: { order: 1 }, idempotencyKey };
  const answers = [];
  const one = async () => {
    answers.push(await server.api.send('POST', '/v1/queues/orders/jobs', body));
    onAnswer(answers.length);
  };
  await Promise.allSettled(Array.from({ length: publishers }, one));
  return answers;
}

function countWith(answers, status) {
  return answers.filter((answer) => answer.status === status).length;
}

async function startOrders(t) {
  const receiver = await startReceiver(t);
  const server = await startServer(t, { sockets: publishers });
  await server.api.createQueue('orders', { webhookUrl: receiver.url });
  return { receiver, server };
}

test('200 parallel publishes with one key are one job and one delivery', { timeout }, async (t) => {
  const { receiver, server } = await startOrders(t);
  const answers = await publishAll(server);
  assert.equal(countWith(answers, 201), 1);
  assert.equal(countWith(answers, 200), publishers - 1);
  const ids = new Set(answers.map(({ json }) => json.id));
  assert.equal(ids.size, 1);
  for (const { status, json } of answers) {
    assert.equal(json.duplicate, status === 200 ? true : undefined);
    assert.equal(json.payloadMismatch, undefined);
  }
  const [id] = ids;
  await server.api.jobWithStatus(id, 'completed');
  const { counts } = await server.api.queue('orders');
  assert.equal(counts.completed, 1);
  assert.equal(counts.pending + counts.processing, 0);
  assert.deepEqual([...receiver.deliveriesById()], [[id, 1]]);
});

test('a repeat with another payload gets the first job and is told', { timeout }, async (t) => {
  const { server } = await startOrders(t);
  const first = await server.api.publish('orders', { order: 1 }, { idempotencyKey: 'k' });
  const { status, json } = await server.api.send('POST', '/v1/queues/orders/jobs',
    { payload: { order: 2 }, idempotencyKey: 'k' });
  assert.equal(status, 200);
  assert.equal(json.id, first.id);
  assert.equal(json.payloadMismatch, true);
});

test('one key is still one job when the server is killed among its publishes', { timeout }, async (t) => {
  const { receiver, server } = await startOrders(t);
  const random = randomFrom(t);
  for (let round = 0; round < 5; ++round) {
    const key = `order-${round}`;
    const last = 1 + Math.floor(random() * 20);
    const answered = await publishAll(server, key, (count) => count === last && server.kill());
    await server.killAndStart();
    const later = await publishAll(server, key);
    t.diagnostic(`${answered.length} of ${publishers} were answered before the kill`);
    assert.equal(later.length, publishers);
    const all = [...answered, ...later];
    assert.ok(countWith(all, 201) <= 1, `${countWith(all, 201)} answers say that the job is new`);
    assert.equal(countWith(all, 200) + countWith(all, 201), all.length);
    assert.equal(new Set(all.map(({ json }) => json.id)).size, 1);
    const [{ json: { id } }] = all;
    await server.api.jobWithStatus(id, 'completed');
    assert.ok(receiver.deliveriesById().has(id));
    assert.equal(receiver.deliveriesById().size, round + 1);
    const { counts } = await server.api.queue('orders');
    assert.equal(counts.completed, round + 1);
    assert.equal(counts.pending + counts.processing + counts.dead, 0);
  }
});
