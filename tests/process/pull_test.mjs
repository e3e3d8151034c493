// Pull queues: what is received is leased, and nothing is lost or there twice.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { Queue, accepts, refuses, startPull as start } from './support/pull.mjs';
import { patience, until } from './support/time.mjs';

const timeout = 60_000 * patience;

test('a message is received once, and gone when it is acked', { timeout }, async (t) => {
  const { queue } = await start(t);
  const { message_id } = await queue.publish({ big: 1 });
  const [message] = await queue.consume({ max_messages: 10 });
  assert.equal(message.message_id, message_id);
  assert.deepEqual([message.delivery_count, message.status], [1, 'in_flight']);
  assert.deepEqual(await queue.consume(), []);
  await accepts(queue.settle('ack', message));
  const again = await accepts(queue.settle('ack', message));
  assert.equal(again.duplicate, true);
  const { depth, in_flight, acked_total } = await queue.stats();
  assert.deepEqual([depth, in_flight, acked_total], [0, 0, 1]);
});

test('the last lease that ends without an ack moves the message at once', { timeout }, async (t) => {
  const { queue, dead } = await start(t, { max_receive_count: 2 });
  await queue.publish({ n: 1 });
  const [first] = await queue.consume();
  await accepts(queue.settle('nack', first));
  const [second] = await queue.consume({ visibility_timeout: 1 });
  assert.equal(second.delivery_count, 2);
  await until('it is dead', 10, async () => (await queue.stats()).dlq_count === 1);
  await refuses(queue.settle('ack', second), 409, 'QUEUE_MESSAGE_NOT_IN_FLIGHT');
  const [letter] = await dead.consume();
  assert.deepEqual([letter.message_id, letter.delivery_count], [first.message_id, 1]);
  assert.equal(letter.dead_letter.source_queue, 'out');
  assert.equal(letter.dead_letter.delivery_count, 2);
});

test('a redriven message has its id and payload, and counts anew', { timeout }, async (t) => {
  const { queue } = await start(t, { max_receive_count: 1 });
  await queue.publish({ attempt: 7 });
  const [first] = await queue.consume();
  await accepts(queue.settle('nack', first));
  await until('it is dead', 10, async () => (await queue.stats()).dlq_count === 1);
  const { redriven } = await queue.ask('POST', 'dlq/redrive/out', {});
  assert.equal(redriven, 1);
  const [again] = await queue.consume({ wait_seconds: 2 });
  assert.deepEqual([again.message_id, again.delivery_count, again.redrive_count, again.payload, again.dead_letter],
    [first.message_id, 1, 1, { attempt: 7 }, null]);
});

test('a raised max_receive_count counts for messages that are there', { timeout }, async (t) => {
  const { queue } = await start(t, { max_receive_count: 3 });
  await queue.publish(1);
  for (let n = 0; n < 2; ++n)
    await accepts(queue.settle('nack', (await queue.consume())[0]));
  assert.equal((await queue.ask('PATCH', 'update/out', { max_receive_count: 5 })).max_receive_count, 5);
  for (let n = 3; n <= 5; ++n) {
    const [message] = await queue.consume();
    assert.equal(message.delivery_count, n);
    await accepts(queue.settle('nack', message));
  }
  await until('it is dead', 10, async () => (await queue.stats()).dlq_count === 1);
});

test('a handle of an earlier lease changes nothing, whoever holds the message', { timeout }, async (t) => {
  const { queue } = await start(t);
  await queue.publish(1);
  const [first] = await queue.consume();
  await accepts(queue.settle('release', first));
  const [second] = await queue.consume();
  assert.equal(second.delivery_count, 1);
  assert.notEqual(second.receipt_handle, first.receipt_handle);
  await refuses(queue.settle('ack', first), 409, 'QUEUE_MESSAGE_NOT_IN_FLIGHT');
  await accepts(queue.settle('extend', second, { visibility_timeout: 60 }));
  await accepts(queue.settle('ack', second));
  await refuses(queue.settle('nack', second), 409, 'QUEUE_MESSAGE_NOT_IN_FLIGHT');
  await refuses(queue.settle('ack', { message_id: `qmsg_${'0'.repeat(24)}` }), 404, 'QUEUE_MESSAGE_NOT_FOUND');
});

test('a long poll ends when a message becomes available', { timeout }, async (t) => {
  const { queue } = await start(t);
  const wakers = [
    () => queue.publish(1),
    () => queue.publish(2, { delay_seconds: 1 }),
  ];
  for (const wake of wakers) {
    const polled = queue.consume({ wait_seconds: 10 });
    await sleep(100);
    await wake();
    const [message] = await polled;
    await accepts(queue.settle('ack', message));
  }
  assert.deepEqual(await queue.consume({ wait_seconds: 1 }), []);
});

test('an ack publishes the successor in the same commit', { timeout }, async (t) => {
  const { api, queue } = await start(t);
  await queue.publish({ attempt: 1 });
  const [first] = await queue.consume();
  await accepts(queue.settle('ack', first, { publish: { payload: { attempt: 2 } } }));
  const [next] = await queue.consume();
  assert.deepEqual(next.payload, { attempt: 2 });
  await accepts(queue.settle('ack', next, { publish: { queue: 'other', payload: 3 } }));
  const [other] = await new Queue(api, 'other').consume();
  assert.equal(other.payload, 3);
});

test('leases, counts and dead letters survive kill -9', { timeout }, async (t) => {
  const { server, queue } = await start(t, { max_receive_count: 2 });
  await queue.publish(1);
  await queue.consume({ visibility_timeout: 2 });
  await server.killAndStart();
  assert.deepEqual(await queue.consume(), []);
  const [second] = await queue.consume({ wait_seconds: 10, visibility_timeout: 1 });
  assert.equal(second.delivery_count, 2);
  await server.killAndStart();
  await until('it is dead', 10, async () => (await queue.stats()).dlq_count === 1);
  const { available, in_flight, dead_lettered_total } = await queue.stats();
  assert.deepEqual([available, in_flight, dead_lettered_total], [0, 0, 1]);
});

test('what is out of range is refused and named', { timeout }, async (t) => {
  const { queue } = await start(t);
  for (const delay_seconds of [-1, 604801, 1.5, '60', null])
    await refuses(queue.send('POST', 'publish', { queue: 'out', payload: 1, delay_seconds }), 400, 'INVALID_ARGUMENT');
  await queue.publish(1, { delay_seconds: 604800 });
  for (const max_messages of [0, 11])
    await refuses(queue.send('POST', 'consume', { queue: 'out', max_messages }), 400, 'INVALID_ARGUMENT');
});
