// What was answered is so: it is stored and in its place, and a call that is repeated
// is answered as the first one was.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { accepts, publishAndReceive, refusesLate, startPull } from './support/pull.mjs';

const timeout = 60_000;

// -- repeats ------------------------------------------------------------------

/** What an answer says, but that it is a repeat. */
function contentOf({ duplicate, ...rest }) {
  return rest;
}

for (const [word, fields] of Object.entries({ ack: {}, nack: { delay_seconds: 1 }, release: {} }))
  test(`the same ${word} again is answered as the first, also after kill -9, and done once`, { timeout }, async (t) => {
    const { server, queue } = await startPull(t);
    const message = await publishAndReceive(queue);
    const first = await accepts(queue.settle(word, message, fields));
    const again = await accepts(queue.settle(word, message, fields));
    await server.killAndStart();
    const late = await accepts(queue.settle(word, message, fields));
    assert.equal(first.duplicate ?? false, false);
    assert.deepEqual([again.duplicate, late.duplicate], [true, true]);
    assert.deepEqual([contentOf(again), contentOf(late)], Array(2).fill(contentOf(first)));
    const { acked_total, nacked_total } = await queue.stats();
    assert.deepEqual([acked_total, nacked_total], [word === 'ack' ? 1 : 0, word === 'nack' ? 1 : 0]);
    for (const other of ['ack', 'nack', 'release'].filter((each) => each !== word))
      await refusesLate(queue.settle(other, message));
  });

test('the nack that made a dead letter can be said again', { timeout }, async (t) => {
  const { server, queue, dead } = await startPull(t, { max_receive_count: 1 });
  const message = await publishAndReceive(queue);
  await accepts(queue.settle('nack', message));
  await queue.statsOnce('it is dead', ({ dlq_count }) => dlq_count === 1);
  assert.equal((await accepts(queue.settle('nack', message))).duplicate, true);
  await server.killAndStart();
  assert.equal((await accepts(queue.settle('nack', message))).duplicate, true);
  const { nacked_total, dead_lettered_total, dlq_count } = await queue.stats();
  assert.deepEqual([nacked_total, dead_lettered_total, dlq_count], [1, 1, 1]);
  assert.equal((await dead.consumeAll()).length, 1);
});

// -- dead letters -------------------------------------------------------------

test('a nack that was answered has made its dead letter, if the server is killed right after, too', { timeout }, async (t) => {
  const { server, queue, dead } = await startPull(t, { max_receive_count: 1 });
  for (let n = 1; n <= 5; ++n) {
    const message = await publishAndReceive(queue);
    await accepts(queue.settle('nack', message));
    await server.killAndStart();
    const { in_flight, nacked_total } = await queue.stats();
    assert.deepEqual([in_flight, nacked_total], [0, n], 'it is still leased');
    assert.equal((await dead.stats()).available, n);
  }
});

test('a redrive is done before it is answered', { timeout }, async (t) => {
  const count = 300;
  const { queue } = await startPull(t, { max_receive_count: 1 });
  await queue.publishBulk(count);
  for (let n = 0; n < 5; ++n) {
    const entries = (await queue.consumeAll()).map(({ message_id }) => ({ message_id }));
    await queue.ask('POST', 'nack_batch', { queue: 'out', entries });
    await queue.statsOnce('all are dead', ({ dlq_count }) => dlq_count === count);
    assert.deepEqual(await queue.redrive(), { redriven: count });
    assert.equal((await queue.stats()).available, count, `redrive ${n + 1}`);
  }
});

test('a redrive takes what a worker put into the dead-letter queue, too', { timeout }, async (t) => {
  const { queue, dead } = await startPull(t);
  const { message_id } = await dead.publish({ attempt: 6 });
  const { items } = await queue.ask('GET', 'dlq/list/out');
  assert.deepEqual(items.map((item) => [item.message_id, item.dead_letter]), [[message_id, null]]);
  assert.deepEqual(await queue.redrive(), { redriven: 1 });
  const [message] = await queue.consume({ wait_seconds: 5 });
  assert.deepEqual([message.message_id, message.payload, message.redrive_count, message.delivery_count],
    [message_id, { attempt: 6 }, 1, 1]);
});

test('a redrive by id takes the message of that very id, and once', { timeout }, async (t) => {
  const { queue, dead } = await startPull(t, { max_receive_count: 1 });
  const message = await publishAndReceive(queue);
  await accepts(queue.settle('nack', message));
  await dead.statsOnce('it is dead', ({ available }) => available === 1);
  const { message_id } = message;
  const forged = message_id.replace(/.$/, (c) => (c === 'a' ? 'b' : 'a'));
  assert.deepEqual(await queue.redrive({ message_ids: [forged] }), { redriven: 0 });
  assert.deepEqual(await queue.redrive({ message_ids: [message_id, message_id] }), { redriven: 1 });
});

test('a redrive takes all messages, whatever their size', { timeout }, async (t) => {
  const { queue } = await startPull(t, { max_receive_count: 1 });
  const count = 40;
  for (let n = 0; n < count; ++n)
    await queue.publish({ n, fill: 'x'.repeat(100_000) });
  for (const message of await queue.consumeAll())
    await accepts(queue.settle('nack', message));
  await queue.statsOnce('all are dead', ({ dlq_count }) => dlq_count === count);
  assert.equal((await queue.redrive({ dry_run: true })).count, count);
  assert.deepEqual(await queue.redrive(), { redriven: count });
});
