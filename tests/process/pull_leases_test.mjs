// Who is late changes nothing, and a changed max_receive_count counts at once.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { accepts, publishAndReceive, refuses, refusesLate, startPull } from './support/pull.mjs';
import { patience } from './support/time.mjs';

const timeout = 60_000 * patience;

/** All that can be said of a received message. */
const words = {
  ack: {},
  nack: { delay_seconds: 5 },
  extend: { visibility_timeout: 100 },
  release: {},
};

/** Says everything about a message, which is too late. */
async function checkLate(queue, message) {
  for (const [word, fields] of Object.entries(words))
    await refusesLate(queue.settle(word, message, fields));
}

const withoutHandle = ({ message_id }) => ({ message_id });

// -- too late -----------------------------------------------------------------

test('after the end of its lease a worker is late, with the handle and without', { timeout }, async (t) => {
  const { queue } = await startPull(t);
  const message = await publishAndReceive(queue, { visibility_timeout: 1 });
  await queue.statsOnce('it is available', ({ available }) => available === 1);
  await checkLate(queue, message);
  await checkLate(queue, withoutHandle(message));
  const { available, expired_total, acked_total, nacked_total } = await queue.stats();
  assert.deepEqual([available, expired_total, acked_total, nacked_total], [1, 1, 0, 0]);
});

test('while another worker has the message, the handle before is late and harmless', { timeout }, async (t) => {
  const { server, queue } = await startPull(t);
  const first = await publishAndReceive(queue, { visibility_timeout: 1 });
  const [second] = await queue.consume({ wait_seconds: 10, visibility_timeout: 60 });
  assert.equal(second.message_id, first.message_id);
  const before = await queue.stats();
  await checkLate(queue, first);
  assert.deepEqual({ ...await queue.stats(), oldest_age_seconds: 0 }, { ...before, oldest_age_seconds: 0 });
  await server.killAndStart();
  await checkLate(queue, first);
  const { visible_at } = await accepts(queue.settle('extend', second, { visibility_timeout: 600 }));
  assert.ok(Date.parse(visible_at) > Date.parse(second.visible_at));
  await accepts(queue.settle('ack', second));
  await checkLate(queue, first);
});

test('the id alone acts on the present lease, whoever has it', { timeout }, async (t) => {
  const { queue } = await startPull(t);
  await publishAndReceive(queue, { visibility_timeout: 1 });
  const [second] = await queue.consume({ wait_seconds: 10 });
  await accepts(queue.settle('ack', withoutHandle(second)));
  await refusesLate(queue.settle('ack', withoutHandle(second)));
  const { depth, in_flight, acked_total } = await queue.stats();
  assert.deepEqual([depth, in_flight, acked_total], [0, 0, 1]);
});

test('before it was received nothing can be said of a message', { timeout }, async (t) => {
  const { queue } = await startPull(t);
  const available = await queue.publish(1);
  const delayed = await queue.publish(1, { delay_seconds: 60 });
  await checkLate(queue, withoutHandle(available));
  await checkLate(queue, withoutHandle(delayed));
  assert.equal((await queue.stats()).depth, 2);
});

test('of a dead letter nothing can be said at the queue that it came from', { timeout }, async (t) => {
  const { queue, dead } = await startPull(t, { max_receive_count: 1 });
  const message = await publishAndReceive(queue, { visibility_timeout: 1 });
  await queue.statsOnce('it is dead', ({ dlq_count }) => dlq_count === 1);
  await checkLate(queue, message);
  const [letter] = await dead.consume();
  await checkLate(queue, message);
  await checkLate(dead, message);
  await accepts(dead.settle('ack', letter));
});

test('an id that never was is not found, whatever the handle', { timeout }, async (t) => {
  const { queue } = await startPull(t);
  const { message_id, receipt_handle } = await publishAndReceive(queue);
  const forged = [`qmsg_${'0'.repeat(24)}`, 'qmsg_', 'x', message_id.replace(/.$/, (c) => (c === 'a' ? 'b' : 'a'))];
  for (const id of forged)
    for (const [word, fields] of Object.entries(words))
      await refuses(queue.settle(word, { message_id: id, receipt_handle }, fields), 404, 'QUEUE_MESSAGE_NOT_FOUND');
  await refusesLate(queue.settle('ack', { message_id, receipt_handle: 'x' }));
  await accepts(queue.settle('ack', { message_id, receipt_handle }));
});

test('a late ack publishes nothing', { timeout }, async (t) => {
  const { api, queue } = await startPull(t);
  const message = await publishAndReceive(queue, { visibility_timeout: 1 });
  await queue.statsOnce('it is available', ({ available }) => available === 1);
  await refusesLate(queue.settle('ack', message, { publish: { payload: 2 } }));
  const { available, published_total } = await queue.stats();
  assert.deepEqual([available, published_total], [1, 1]);
  await refusesLate(queue.settle('ack', message, { publish: { queue: 'other', payload: 2 } }));
  const other = await api.send('GET', '/v1/queue/stats/other');
  assert.ok(other.status === 404 || other.json.data.published_total === 0, other.text);
});

test('a batch says of each entry what became of it, and does what it can', { timeout }, async (t) => {
  const { queue } = await startPull(t);
  await queue.publishBulk(4);
  const [late, first, second, third] = await queue.consume({ max_messages: 4, visibility_timeout: 60 });
  await accepts(queue.settle('release', late));
  const entry = ({ message_id, receipt_handle }) => ({ message_id, receipt_handle });
  const { results } = await queue.ask('POST', 'ack_batch', {
    queue: 'out',
    entries: [entry(first), entry(late), { message_id: 'x' }, { message_id: 7 }, entry(second), entry(first), entry(third)],
  });
  assert.deepEqual(results.map(({ ok, duplicate, error }) => (ok ? duplicate ?? true : error.code)),
    [true, 'QUEUE_MESSAGE_NOT_IN_FLIGHT', 'QUEUE_MESSAGE_NOT_FOUND', 'INVALID_ARGUMENT', true, true, true]);
  assert.equal(results[5].duplicate, true);
  const { available, in_flight, acked_total } = await queue.stats();
  assert.deepEqual([available, in_flight, acked_total], [1, 0, 3]);
});

test('two workers that ack one lease at once: one does, the other repeats', { timeout }, async (t) => {
  const { queue } = await startPull(t);
  await queue.publishBulk(50);
  const received = await queue.consumeAll();
  const answers = await Promise.all(received.flatMap((message) => [
    accepts(queue.settle('ack', message)), accepts(queue.settle('ack', message))]));
  assert.equal(answers.filter(({ duplicate }) => duplicate).length, 50);
  assert.equal((await queue.stats()).acked_total, 50);
});

// -- many leases that end ------------------------------------------------------

for (const restart of [false, true])
  test(`1,000 messages whose workers are gone are all back${restart ? ', after kill -9, too' : ''}`, { timeout }, async (t) => {
    const { server, queue } = await startPull(t);
    const ids = await queue.publishBulk(1000);
    const received = (await Promise.all(Array.from({ length: 10 }, () => (
      queue.consumeAll({ visibility_timeout: 5 }))))).flat();
    assert.equal(received.length, ids.length);
    const last = Math.max(...received.map(({ visible_at }) => Date.parse(visible_at)));
    if (restart)
      await server.killAndStart();
    await queue.statsOnce('all are back', ({ available }) => available === ids.length);
    t.diagnostic(`${Date.now() - last} ms after the last of them`);
    const again = await queue.consumeAll();
    assert.deepEqual(again.map(({ message_id }) => message_id).sort(), [...ids].sort());
    assert.ok(again.every(({ delivery_count }) => delivery_count === 2));
    const { expired_total, received_total } = await queue.stats();
    assert.deepEqual([expired_total, received_total], [1000, 2000]);
  });

// -- max_receive_count --------------------------------------------------------

test('max_receive_count raised from 3 to 5 during the third lease: a fourth and a fifth follow', { timeout }, async (t) => {
  const { server, queue, dead } = await startPull(t, { max_receive_count: 3 });
  await queue.publish({ n: 1 });
  for (let n = 1; n <= 2; ++n)
    await accepts(queue.settle('nack', (await queue.consume())[0]));
  const [third] = await queue.consume({ visibility_timeout: 1 });
  assert.equal(third.delivery_count, 3);
  const changed = await queue.update({ max_receive_count: 5 });
  assert.equal(changed.max_receive_count, 5);
  await server.killAndStart();
  assert.equal((await queue.ask('GET', 'get/out')).max_receive_count, 5);
  for (const count of [4, 5]) {
    const [message] = await queue.consume({ wait_seconds: 10, visibility_timeout: 1 });
    assert.equal(message.delivery_count, count);
  }
  await queue.statsOnce('it is dead', ({ dlq_count }) => dlq_count === 1);
  const [letter] = await dead.peek();
  assert.deepEqual([letter.message_id, letter.dead_letter.delivery_count], [third.message_id, 5]);
});

test('max_receive_count lowered is judged when a lease ends', { timeout }, async (t) => {
  const { queue, dead } = await startPull(t, { max_receive_count: 5 });
  await queue.publishBulk(2);
  for (let n = 1; n <= 3; ++n)
    for (const message of await queue.consume({ max_messages: 2 }))
      await accepts(queue.settle('nack', message));
  const [leased] = await queue.consume();
  assert.equal(leased.delivery_count, 4);
  await queue.update({ max_receive_count: 2 });
  const { available, in_flight, dlq_count } = await queue.stats();
  assert.deepEqual([available, in_flight, dlq_count], [1, 1, 0], 'no lease has ended');
  const [waiting] = await queue.consume();
  assert.equal(waiting.delivery_count, 4, 'what waited is received once more');
  for (const message of [leased, waiting])
    await accepts(queue.settle('nack', message));
  await queue.statsOnce('both are dead', (stats) => stats.dlq_count === 2);
  assert.deepEqual((await dead.peek()).map(({ dead_letter }) => dead_letter.delivery_count), [4, 4]);
});

test('with a max_receive_count of 0 nothing is ever dead, until it is set', { timeout }, async (t) => {
  const { queue } = await startPull(t, { max_receive_count: 0 });
  await queue.publish(1);
  for (let n = 1; n <= 20; ++n) {
    const [message] = await queue.consume();
    assert.equal(message.delivery_count, n);
    await accepts(queue.settle('nack', message));
  }
  await queue.update({ max_receive_count: 3 });
  await accepts(queue.settle('nack', (await queue.consume())[0]));
  await queue.statsOnce('it is dead', ({ dlq_count }) => dlq_count === 1);
});

test('a release counts no delivery, so it never makes a dead letter', { timeout }, async (t) => {
  const { queue } = await startPull(t, { max_receive_count: 2 });
  await queue.publish(1);
  for (let n = 0; n < 10; ++n) {
    const [message] = await queue.consume();
    assert.equal(message.delivery_count, 1);
    await accepts(queue.settle('release', message));
  }
  const { available, dlq_count } = await queue.stats();
  assert.deepEqual([available, dlq_count], [1, 0]);
});

// -- dead-letter queues ------------------------------------------------------

test('a queue that becomes a dead-letter queue by an ack that publishes is one', { timeout }, async (t) => {
  const { queue, dead } = await startPull(t);
  const message = await publishAndReceive(queue);
  await accepts(queue.settle('ack', message, { publish: { queue: dead.name, payload: 1 } }));
  const { max_receive_count, message_retention_days } = await queue.ask('GET', `get/${dead.name}`);
  assert.deepEqual([max_receive_count, message_retention_days], [0, 14]);
});
