// What was answered is so: it is stored and in its place, and a call that is repeated
// is answered as the first one was.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { accepts, publishAndReceive, Queue, refuses, refusesLate, startPull } from './support/pull.mjs';
import { patience } from './support/time.mjs';

const timeout = 60_000 * patience;

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

test('the same nack again is answered as the first while another worker has the message', { timeout }, async (t) => {
  const { queue } = await startPull(t);
  const message = await publishAndReceive(queue);
  const first = await accepts(queue.settle('nack', message));
  const [second] = await queue.consume();
  const again = await accepts(queue.settle('nack', message));
  assert.deepEqual(again, { ...contentOf(first), duplicate: true });
  await accepts(queue.settle('ack', second));
});

test('the same nack again is answered as the first after another one of a later lease', { timeout }, async (t) => {
  const { queue } = await startPull(t, { max_receive_count: 0 });
  const message = await publishAndReceive(queue);
  await accepts(queue.settle('nack', message));
  const [second] = await queue.consume();
  await accepts(queue.settle('nack', second));
  const again = await accepts(queue.settle('nack', message));
  assert.equal(again.duplicate, true);
  assert.equal((await queue.stats()).nacked_total, 2);
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

test('an ack that publishes, said again, publishes once and says what it published', { timeout }, async (t) => {
  const { server, queue } = await startPull(t);
  const message = await publishAndReceive(queue);
  const fields = { publish: { payload: { n: 2 } } };
  const first = await accepts(queue.settle('ack', message, fields));
  assert.match(first.published.message_id, /^qmsg_/);
  const again = await accepts(queue.settle('ack', message, fields));
  await server.killAndStart();
  const late = await accepts(queue.settle('ack', message, fields));
  assert.deepEqual([again.duplicate, late.duplicate], [true, true]);
  assert.equal((await queue.stats()).available, 1);
  assert.deepEqual([again.published?.message_id, late.published?.message_id], Array(2).fill(first.published.message_id));
});

test('a repeat says where the first call published, whatever it asks for itself, and makes no queue', { timeout }, async (t) => {
  const { api, queue } = await startPull(t);
  const message = await publishAndReceive(queue);
  const publish = (name) => ({ publish: { queue: name, payload: 1 } });
  const first = await accepts(queue.settle('ack', message, publish('next')));
  assert.equal(first.published.queue, 'next');
  for (const fields of [{}, publish('other'), { publish: { payload: 1, message_group_id: 'g' } }]) {
    const again = await accepts(queue.settle('ack', message, fields));
    assert.deepEqual(again, { ...first, duplicate: true });
  }
  assert.equal((await api.send('GET', '/v1/queue/stats/other')).status, 404);
});

test('an entry that stands twice in a batch is done once, and the second one is a repeat', { timeout }, async (t) => {
  const { queue } = await startPull(t);
  await queue.publishBulk(3);
  const [one, two, three] = (await queue.consume({ max_messages: 3 }))
    .map(({ message_id, receipt_handle }) => ({ message_id, receipt_handle }));
  const stale = { ...two, receipt_handle: one.receipt_handle };
  const { results } = await queue.ask('POST', 'ack_batch', { queue: 'out', entries: [one, one, stale, two, three, two] });
  assert.deepEqual(results.map(({ ok, duplicate }) => [ok, duplicate ?? false]),
    [[true, false], [true, true], [false, false], [true, false], [true, false], [true, true]]);
  const again = await queue.ask('POST', 'ack_batch', { queue: 'out', entries: [three, two, one] });
  assert.deepEqual(again.results.map(({ duplicate }) => duplicate), [true, true, true]);
  assert.deepEqual([(await queue.stats()).acked_total, (await queue.stats()).in_flight], [3, 0]);
});

// -- dead letters -------------------------------------------------------------

test('a nack that was answered has made its dead letter, if the server is killed right after, too', { timeout }, async (t) => {
  const { server, queue, dead } = await startPull(t, { max_receive_count: 1 });
  for (let n = 1; n <= 5; ++n) {
    const message = await publishAndReceive(queue);
    await accepts(queue.settle('nack', message));
    await server.killAndStart();
    // It leaves once its dead-letter queue is found, or made.
    const { nacked_total } = await queue.statsOnce('it has left', ({ in_flight }) => in_flight === 0);
    assert.equal(nacked_total, n);
    await dead.statsOnce(`${n} are dead letters`, ({ available }) => available === n);
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

// -- figures ------------------------------------------------------------------

test('what was published is counted, over restarts of either kind', { timeout }, async (t) => {
  const { server, queue } = await startPull(t);
  await queue.publishBulk(5);
  await queue.publish(6, { idempotency_key: 'k' });
  await queue.publish(6, { idempotency_key: 'k' });
  await server.killAndStart();
  assert.equal((await queue.stats()).published_total, 6);
  await queue.publish(7);
  await server.stop();
  await server.start();
  assert.equal((await queue.stats()).published_total, 7);
});

test('a purge says how many messages it removed', { timeout }, async (t) => {
  const { queue } = await startPull(t);
  await queue.publishBulk(1200);
  await queue.publish(1, { delay_seconds: 600 });
  await queue.consume();
  assert.deepEqual(await queue.ask('POST', 'purge/out'), { count: 1200 });
  const { depth, in_flight } = await queue.stats();
  assert.deepEqual([depth, in_flight], [0, 1]);
});

// -- what is refused ----------------------------------------------------------

test('a publish that no new queue could take makes none', { timeout }, async (t) => {
  const { api } = await startPull(t);
  for (const fields of [{ priority: 4 }, { message_group_id: 'g' }])
    await refuses(api.send('POST', '/v1/queue/publish', { queue: 'typo', payload: 1, ...fields }), 404, 'QUEUE_NOT_FOUND');
  await refuses(api.send('GET', '/v1/queue/stats/typo'), 404, 'QUEUE_NOT_FOUND');
});

test('dead letters go to no queue that cannot take them', { timeout }, async (t) => {
  const { api, queue } = await startPull(t);
  await api.createQueue('push', { webhookUrl: 'http://127.0.0.1:9/' });
  await refuses(api.send('POST', '/v1/queue/create', { name: 'a', type: 'standard', dead_letter_queue: 'push' }), 409, 'WRONG_QUEUE_KIND');
  await refuses(queue.send('PATCH', 'update/out', { dead_letter_queue: 'push' }), 409, 'WRONG_QUEUE_KIND');
});

test('the longest name has a dead-letter queue, too', { timeout }, async (t) => {
  const { api } = await startPull(t);
  const queue = new Queue(api, 'q'.repeat(120));
  await queue.create({ max_receive_count: 1 });
  const message = await publishAndReceive(queue);
  await accepts(queue.settle('nack', message));
  await queue.statsOnce('it is dead', ({ dlq_count }) => dlq_count === 1);
  const [dead] = await new Queue(api, `${queue.name}.dlq`).consume();
  assert.equal(dead.message_id, message.message_id);
  await refuses(api.send('POST', '/v1/queue/create', { name: `${queue.name}x`, type: 'standard' }), 400, 'INVALID_ARGUMENT');
});
