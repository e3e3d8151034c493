// kill -9 while many messages move: afterwards there is one of each, under its own
// id, in one of the queues.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { Queue, accepts, checkOnce, startPull } from './support/pull.mjs';
import { randomFrom } from './support/random.mjs';
import { patience } from './support/time.mjs';

const timeout = 240_000 * patience;
const rounds = Number(process.env.KILLS ?? 8);
const count = 300;
const perCall = 10;

/**
 * Starts some calls and kills the server at a random moment of the time that they
 * took when it lived. Returns, after it has been started again, what those were
 * answered that were, in their places.
 */
async function killWithin(server, milliseconds, random, begin) {
  const calls = Promise.allSettled(begin());
  await sleep(random() * milliseconds);
  await server.killAndStart();
  const answers = (await calls).map(({ value }) => value);
  for (const answer of answers.filter(Boolean))
    assert.ok(answer.status < 300, answer.text);
  return answers;
}

/** Returns how many milliseconds these calls take. */
async function timed(calls) {
  const from = Date.now();
  for (const call of await Promise.all(calls()))
    assert.ok(call.status < 300, call.text);
  return Date.now() - from;
}

function chunksOf(items) {
  const result = [];
  for (let n = 0; n < items.length; n += perCall)
    result.push(items.slice(n, n + perCall));
  return result;
}

/** Starts to nack all of these, ten in a call. */
const nackAll = (queue, messages) => chunksOf(messages).map((entries) => queue.send('POST', 'nack_batch', {
  queue: queue.name,
  entries: entries.map(({ message_id, receipt_handle }) => ({ message_id, receipt_handle })),
}));

/** Counts what is in both queues, in whatever state. */
async function census(queue, dead) {
  const source = await queue.stats();
  const { available, delayed, in_flight } = await dead.stats();
  return { left: source.depth + source.in_flight, moved: available + delayed + in_flight };
}

/** Counts how often a kill came before, amid and after the moves. */
class Moments {
  before = 0;

  amid = 0;

  after = 0;

  note(left, moved) {
    ++this[left === 0 ? 'after' : moved === 0 ? 'before' : 'amid'];
  }
}

async function sendBack(queue, dead, ids) {
  await queue.redrive();
  await queue.statsOnce('all are back', ({ available }) => available === count);
  assert.deepEqual(await checkOnce([queue, dead], ids), [count, 0]);
}

test('kill -9 during nacks that move to the dead-letter queue', { timeout }, async (t) => {
  const random = randomFrom(t);
  const { server, queue, dead } = await startPull(t, { max_receive_count: 1 });
  const ids = await queue.publishBulk(count);
  let received = await queue.consumeAll();
  const took = await timed(() => nackAll(queue, received));
  const moments = new Moments();
  for (let n = 0; n < rounds; ++n) {
    await queue.statsOnce('all are dead', ({ dlq_count }) => dlq_count === count);
    await sendBack(queue, dead, ids);
    received = await queue.consumeAll();
    assert.equal(received.length, count);
    const answers = await killWithin(server, took, random, () => nackAll(queue, received));
    const { left, moved } = await census(queue, dead);
    assert.equal(left + moved, count);
    moments.note(left, moved);
    const letters = new Set((await dead.peek()).map(({ message_id }) => message_id));
    const told = answers.flatMap((answer) => answer?.json.data.results ?? []);
    assert.deepEqual(told.filter(({ message_id }) => !letters.has(message_id)), [], 'was told of, and is not stored');
    // Said again, those that were stored are repeats, and the others are not.
    await timed(() => nackAll(queue, received));
    await queue.statsOnce('all are dead', ({ dlq_count }) => dlq_count === count);
    assert.deepEqual(await checkOnce([queue, dead], ids), [0, count]);
  }
  t.diagnostic(`${took} ms of nacks; kills ${JSON.stringify(moments)}`);
  await server.killAndStart();
  assert.deepEqual(await checkOnce([queue, dead], ids), [0, count]);
  const { dead_lettered_total, nacked_total } = await queue.stats();
  assert.deepEqual([dead_lettered_total, nacked_total], Array(2).fill(count * (rounds + 1)));
});

test('kill -9 at the moment that many leases end', { timeout }, async (t) => {
  const random = randomFrom(t);
  const { server, queue, dead } = await startPull(t, { max_receive_count: 1 });
  const ids = await queue.publishBulk(count);
  for (let n = 0; n < rounds; ++n) {
    // A lease ends two seconds after its receive. This takes a while, and so do they.
    const from = Date.now();
    const receives = Array.from({ length: 10 }, () => queue.consumeAll({ visibility_timeout: 2 }));
    assert.equal((await Promise.all(receives)).flat().length, count);
    const took = Date.now() - from;
    await sleep(2000 - took + random() * (took + 100));
    await server.killAndStart();
    await queue.statsOnce('all are dead', ({ dlq_count }) => dlq_count === count);
    assert.deepEqual(await checkOnce([queue, dead], ids), [0, count]);
    for (const { dead_letter } of await dead.peek())
      assert.deepEqual([dead_letter.source_queue, dead_letter.delivery_count], ['out', 1]);
    await sendBack(queue, dead, ids);
  }
  const { dead_lettered_total, expired_total } = await queue.stats();
  assert.deepEqual([dead_lettered_total, expired_total], Array(2).fill(count * rounds));
});

test('kill -9 during a redrive', { timeout }, async (t) => {
  const random = randomFrom(t);
  const { server, queue, dead } = await startPull(t, { max_receive_count: 1 });
  const ids = await queue.publishBulk(count);
  const die = async () => {
    await timed(() => nackAll(queue, received));
    await queue.statsOnce('all are dead', ({ dlq_count }) => dlq_count === count);
  };
  let received = await queue.consumeAll();
  await die();
  const some = () => chunksOf(ids).map((message_ids) => queue.send('POST', 'dlq/redrive/out', { message_ids }));
  const took = await timed(some);
  const moments = new Moments();
  for (let n = 1; n <= rounds; ++n) {
    await queue.statsOnce('all are back', ({ available }) => available === count);
    received = await queue.consumeAll();
    assert.equal(received.length, count);
    assert.ok(received.every(({ redrive_count, delivery_count }) => redrive_count === n && delivery_count === 1));
    await die();
    // All in one commit, or ten in each of many.
    const begin = n % 2 === 0 ? some : () => [queue.send('POST', 'dlq/redrive/out', {})];
    const answers = await killWithin(server, took, random, begin);
    const [back, left] = await checkOnce([queue, dead], ids);
    moments.note(left, back);
    const told = answers.reduce((sum, answer) => sum + (answer?.json.data.redriven ?? 0), 0);
    assert.ok(back >= told, `${told} were told of, ${back} are back`);
    if (n % 2 === 1)
      assert.ok(back === 0 || left === 0, `${back} of one commit are back`);
    const { redriven } = await queue.redrive();
    assert.equal(redriven, left);
  }
  t.diagnostic(`${took} ms of redrives; kills ${JSON.stringify(moments)}`);
  await server.killAndStart();
  assert.deepEqual(await checkOnce([queue, dead], ids), [count, 0]);
  const payloads = new Map((await queue.peek()).map(({ message_id, payload }) => [message_id, payload.n]));
  assert.deepEqual(ids.map((id) => payloads.get(id)), ids.map((_, n) => n));
});

test('kill -9 during acks that publish: one of the two is there, and once', { timeout }, async (t) => {
  const random = randomFrom(t);
  const { server, api, queue } = await startPull(t);
  // To and fro, and within a queue.
  const path = [queue, new Queue(api, 'other'), queue, queue];
  await queue.publishBulk(count);
  const moments = new Moments();
  let took;
  for (let n = 0; n <= rounds; ++n) {
    const [from, to] = [path[n % path.length], path[(n + 1) % path.length]];
    const received = await from.consumeAll({}, count);
    assert.deepEqual(received.map(({ payload }) => payload.n).sort((x, y) => x - y), received.map((_, i) => i));
    const begin = () => received.map((message) => from.settle('ack', message, {
      publish: { queue: to.name, payload: { n: message.payload.n, round: n + 1 } },
    }));
    if (n === 0) {
      took = await timed(begin);
      continue;
    }
    const told = (await killWithin(server, took, random, begin)).map((answer) => answer?.json.data);
    const [source, target] = [await from.stats(), await to.stats()];
    assert.equal(source.in_flight + target.available, count, 'lost, or there twice');
    moments.note(source.in_flight, target.available);
    // The same calls again: what was stored before the kill is not stored again.
    const answers = await Promise.all(begin().map((call) => accepts(call)));
    const repeats = answers.filter(({ duplicate }) => duplicate);
    assert.equal(repeats.length, target.available);
    for (const [i, first] of told.entries())
      assert.ok(first === undefined || answers[i].duplicate, 'was told of, and was not stored');
    const items = await to.peek();
    assert.equal(items.length, count);
    assert.ok(items.every(({ payload }) => payload.round === n + 1));
  }
  t.diagnostic(`${took} ms of acks; kills ${JSON.stringify(moments)}`);
});
