// kill -9 at every step of everything that happens to messages of pull queues:
// each is in one place afterwards, and what was answered stays so.

import assert from 'node:assert/strict';

import { matrix, replying, storing } from './support/kill_steps.mjs';
import { Queue, checkOnce } from './support/pull.mjs';

const steps = [...storing, ...replying];

/** Makes the queue of a cell. Returns it, and where its dead letters are. */
async function create(cell, settings = {}) {
  const queue = new Queue(cell.api, cell.queue);
  await queue.create(settings);
  return { queue, dead: new Queue(cell.api, `${cell.queue}.dlq`) };
}

/** Publishes a message and leases it. */
async function lease(cell, settings) {
  const queues = await create(cell, settings);
  const { message_id } = await queues.queue.publish({ n: 1 });
  const [message] = await queues.queue.consume();
  return { ...queues, message, id: message_id };
}

/** Makes a call that the kill may leave without an answer. */
async function call(cell, path, body) {
  cell.begin('commit');
  return (await cell.call('POST', `/v1/queue/${path}`, body))?.data;
}

/** Says of a leased message what `how` is, at the step and then once more. */
async function settle(cell, how, { message_id, receipt_handle }, fields = {}) {
  const body = { queue: cell.queue, message_id, receipt_handle, ...fields };
  const told = await call(cell, how, body);
  const again = () => new Queue(cell.api, cell.queue).ask('POST', how, body);
  return { told, again };
}

/** Checks whether a change is stored, where that is certain. */
function checkStored(cell, told, isStored, what) {
  if (told || cell.stored !== undefined)
    assert.equal(isStored, cell.stored !== false, what);
}

/** Says it again: a repeat where it was stored. Returns what is answered. */
async function repeat(cell, { told, again }) {
  const answer = await again();
  checkStored(cell, told, answer.duplicate ?? false, JSON.stringify(answer));
  return answer;
}

/** Receives and acks what has to be there, and only that. */
async function takeOnly(queue, id) {
  const [message, ...others] = await queue.consumeAll();
  assert.equal(message?.message_id, id);
  assert.deepEqual(others, []);
  assert.equal((await queue.settle('ack', message)).status, 200);
  return message;
}

matrix('publish a message', steps, async (cell) => {
  const { queue } = await create(cell);
  const body = { queue: cell.queue, payload: { n: 1 }, idempotency_key: 'once' };
  const told = await call(cell, 'publish', body);
  return async () => {
    const there = await queue.peek();
    assert.ok(there.length <= 1);
    checkStored(cell, told, there.length === 1, `${there.length} messages`);
    const { message_id } = await queue.ask('POST', 'publish', body);
    assert.equal(message_id, (told ?? there[0] ?? { message_id }).message_id);
    assert.deepEqual(await checkOnce([queue], [message_id]), [1]);
    await takeOnly(queue, message_id);
    const { published_total, acked_total } = await queue.stats();
    assert.deepEqual([published_total, acked_total], [1, 1]);
  };
});

matrix('consume', steps, async (cell) => {
  const { queue } = await create(cell, { visibility_timeout_default: 1 });
  const { message_id } = await queue.publish({ n: 1 });
  const told = await call(cell, 'consume', { queue: cell.queue });
  return async () => {
    const { in_flight, available } = await queue.stats();
    assert.equal(in_flight + available, 1);
    const [message] = told?.items ?? [];
    if (message) {
      // Its receipt handle is as good as before.
      assert.equal((await queue.settle('ack', message)).status, 200);
      return;
    }
    // Who asked has not got it, and it comes back when the lease ends.
    await queue.statsOnce('it is available', (stats) => stats.available === 1);
    const { delivery_count } = await takeOnly(queue, message_id);
    checkStored(cell, told, delivery_count === 2, `${delivery_count} receives`);
  };
});

matrix('ack of a message', steps, async (cell) => {
  const { queue, message } = await lease(cell);
  const said = await settle(cell, 'ack', message);
  return async () => {
    const { in_flight } = await queue.stats();
    checkStored(cell, said.told, in_flight === 0, `${in_flight} in flight`);
    await repeat(cell, said);
    assert.deepEqual(await checkOnce([queue], []), [0]);
    assert.equal((await queue.stats()).acked_total, 1);
  };
});

matrix('nack of a message', steps, async (cell) => {
  const { queue, message, id } = await lease(cell);
  const said = await settle(cell, 'nack', message);
  return async () => {
    await repeat(cell, said);
    assert.deepEqual(await checkOnce([queue], [id]), [1]);
    assert.equal((await takeOnly(queue, id)).delivery_count, 2);
    assert.equal((await queue.stats()).nacked_total, 1);
  };
});

// The first dead letter makes their queue, in a commit of its own.
matrix('dead-letter of a message', [...steps, 'after the second commit'], async (cell) => {
  const { queue, dead, message, id } = await lease(cell, { max_receive_count: 1 });
  const said = await settle(cell, 'nack', message);
  return async () => {
    const { in_flight, dlq_count } = await queue.stats();
    assert.equal(in_flight + dlq_count, 1, 'not one copy');
    await repeat(cell, said);
    await queue.statsOnce('it is dead', (stats) => stats.dlq_count === 1);
    assert.deepEqual(await checkOnce([queue, dead], [id]), [0, 1]);
    const [{ dead_letter }] = await dead.peek();
    assert.deepEqual([dead_letter.source_queue, dead_letter.delivery_count], [cell.queue, 1]);
    assert.equal((await queue.stats()).dead_lettered_total, 1);
  };
});

matrix('dead-letter when the lease ends', storing, async (cell) => {
  const { queue, dead } = await create(cell, { max_receive_count: 1, visibility_timeout_default: 1 });
  const { message_id } = await queue.publish({ n: 1 });
  await queue.consume();
  cell.begin('commit');
  return async () => {
    await queue.statsOnce('it is dead', ({ dlq_count }) => dlq_count === 1);
    assert.deepEqual(await checkOnce([queue, dead], [message_id]), [0, 1]);
    const { dead_lettered_total, expired_total } = await queue.stats();
    assert.deepEqual([dead_lettered_total, expired_total], [1, 1]);
  };
});

matrix('redrive', steps, async (cell) => {
  const { queue, dead, message, id } = await lease(cell, { max_receive_count: 1 });
  await queue.settle('nack', message);
  await queue.statsOnce('it is dead', ({ dlq_count }) => dlq_count === 1);
  const told = await call(cell, `dlq/redrive/${cell.queue}`, {});
  return async () => {
    const [back] = await checkOnce([queue, dead], [id]);
    checkStored(cell, told, back === 1, `${back} are back`);
    assert.equal((await queue.redrive()).redriven, 1 - back);
    assert.deepEqual(await checkOnce([queue, dead], [id]), [1, 0]);
    const { redrive_count, delivery_count } = await takeOnly(queue, id);
    assert.deepEqual([redrive_count, delivery_count], [1, 1]);
    assert.equal((await dead.stats()).redriven_total, 1);
  };
});

matrix('ack that publishes', steps, async (cell) => {
  const { queue, message } = await lease(cell);
  const other = new Queue(cell.api, `${cell.queue}.next`);
  await other.create();
  const said = await settle(cell, 'ack', message, { publish: { queue: other.name, payload: { n: 2 } } });
  return async () => {
    const { in_flight } = await queue.stats();
    const { available } = await other.stats();
    assert.equal(in_flight + available, 1, 'lost, or there twice');
    checkStored(cell, said.told, available === 1, `${available} successors`);
    const { published } = await repeat(cell, said);
    assert.equal(published.message_id, (said.told ?? { published }).published.message_id);
    assert.deepEqual(await checkOnce([queue, other], [published.message_id]), [0, 1]);
    assert.deepEqual((await takeOnly(other, published.message_id)).payload, { n: 2 });
  };
});
