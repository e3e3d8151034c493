// Long polls: whatever makes a message available ends them, they are served in
// order of arrival, and who is gone gets nothing and costs no delivery.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { Queue, accepts, startPull } from './support/pull.mjs';
import { patience, until } from './support/time.mjs';

const timeout = 60_000 * patience;
const wait_seconds = 20;

/** Much less than `wait_seconds`, and more than a busy machine needs. */
const soon = 8;

/** How long a request is given to arrive, and the end of a connection to be seen. */
const settling = 500;

/** Receives one message and makes its lease the caller's. */
async function lease(queue, fields = {}) {
  const [message] = await queue.consume(fields);
  assert.ok(message, 'there is nothing to receive');
  return message;
}

/** What makes a message available: what has to be there before, and the event. */
const wakers = {
  'a publish': [() => {}, (queue) => queue.publish(1)],
  'a batch': [() => {}, (queue) => queue.publishBulk(1)],
  'the end of a delay': [() => {}, (queue) => queue.publish(1, { delay_seconds: 1 })],
  'the end of a delay that began before': [(queue) => queue.publish(1, { delay_seconds: 1 }), () => {}],
  'a nack': [
    (queue) => queue.publish(1).then(() => lease(queue)),
    (queue, message) => accepts(queue.settle('nack', message)),
  ],
  'the end of a delay of a nack': [
    (queue) => queue.publish(1).then(() => lease(queue)),
    (queue, message) => accepts(queue.settle('nack', message, { delay_seconds: 1 })),
  ],
  'a batch of nacks': [
    (queue) => queue.publish(1).then(() => lease(queue)),
    (queue, { message_id }) => queue.ask('POST', 'nack_batch', { queue: queue.name, entries: [{ message_id }] }),
  ],
  'a release': [
    (queue) => queue.publish(1).then(() => lease(queue)),
    (queue, message) => accepts(queue.settle('release', message)),
  ],
  'the end of a lease': [
    (queue) => queue.publish(1).then(() => lease(queue, { visibility_timeout: 1 })),
    () => {},
  ],
  'a lease that was cut short': [
    (queue) => queue.publish(1).then(() => lease(queue)),
    (queue, message) => accepts(queue.settle('extend', message, { visibility_timeout: 1 })),
  ],
  'an ack that publishes': [
    (queue) => queue.publish(1).then(() => lease(queue)),
    (queue, message) => accepts(queue.settle('ack', message, { publish: { payload: 2 } })),
  ],
  'an ack of another queue that publishes': [
    async (queue) => {
      const other = new Queue(queue.api, 'other');
      await other.publish(1);
      return lease(other);
    },
    (queue, message) => accepts(new Queue(queue.api, 'other').settle('ack', message, {
      publish: { queue: queue.name, payload: 2 },
    })),
  ],
  'a redrive': [
    async (queue) => {
      await queue.update({ max_receive_count: 1 });
      await queue.publish(1);
      await accepts(queue.settle('nack', await lease(queue)));
      await queue.statsOnce('it is dead', ({ dlq_count }) => dlq_count === 1);
    },
    (queue) => queue.redrive(),
  ],
};

test('a long poll ends at whatever makes a message available', { timeout }, async (t) => {
  const { api } = await startPull(t);
  const took = {};
  await Promise.all(Object.entries(wakers).map(async ([what, [before, wake]], n) => {
    const queue = new Queue(api, `q${n}`);
    await queue.create();
    const prepared = await before(queue);
    const poll = queue.consume({ wait_seconds });
    await sleep(settling);
    const from = Date.now();
    await wake(queue, prepared);
    const items = await poll;
    took[what] = Date.now() - from;
    assert.equal(items.length, 1, what);
    assert.ok(took[what] < soon * 1000, `${what}: ${took[what]} ms`);
  }));
  t.diagnostic(`ms: ${JSON.stringify(took)}`);
});

test('a dead letter ends the wait at the dead-letter queue, the first one, too', { timeout }, async (t) => {
  const { queue, dead } = await startPull(t, { max_receive_count: 1 });
  for (let n = 0; n < 2; ++n) {
    const { message_id } = await queue.publish(n);
    const poll = dead.consume({ wait_seconds });
    await sleep(settling);
    await accepts(queue.settle('nack', await lease(queue)));
    const from = Date.now();
    const [letter] = await poll;
    t.diagnostic(`${Date.now() - from} ms`);
    assert.equal(letter.message_id, message_id);
    assert.ok(Date.now() - from < soon * 1000);
  }
});

test('a long poll with nothing to come ends empty when its time is over', { timeout }, async (t) => {
  const { queue } = await startPull(t);
  await queue.publish(1, { delay_seconds: 600 });
  const from = Date.now();
  assert.deepEqual(await queue.consume({ wait_seconds: 2 }), []);
  const took = Date.now() - from;
  t.diagnostic(`${took} ms`);
  assert.ok(took >= 2000 && took < soon * 1000, `${took} ms`);
  const { received_total, delayed } = await queue.stats();
  assert.deepEqual([received_total, delayed], [0, 1]);
});

test('long polls are served in order of arrival, and one message ends one', { timeout }, async (t) => {
  const { queue } = await startPull(t);
  const served = [];
  const polls = [];
  for (let n = 0; n < 5; ++n) {
    polls.push(queue.consume({ wait_seconds, max_messages: 10 }).then((items) => served.push([n, items])));
    await sleep(100);
  }
  for (let n = 0; n < 5; ++n) {
    await queue.publish({ n });
    await until('one is served', soon, () => served.length === n + 1);
  }
  await Promise.all(polls);
  assert.deepEqual(served.map(([n, items]) => [n, items.map(({ payload }) => payload.n)]),
    [[0, [0]], [1, [1]], [2, [2]], [3, [3]], [4, [4]]]);
});

test('a server that stops answers who waits, and loses nothing', { timeout }, async (t) => {
  const { server, queue } = await startPull(t);
  const polls = Array.from({ length: 10 }, () => queue.consume({ wait_seconds }));
  await sleep(settling);
  const from = Date.now();
  const { code } = await server.stop();
  assert.equal(code, 0);
  assert.deepEqual((await Promise.all(polls)).flat(), []);
  assert.ok(Date.now() - from < soon * 1000, 'the stop waited for those who wait');
});

// -- clients that are gone ----------------------------------------------------

/** The bytes of a long poll. */
function pollRequest({ api }, fields = {}) {
  const body = JSON.stringify({ queue: 'out', wait_seconds, ...fields });
  return `POST /v1/queue/consume HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${api.key}\r\n`
    + `content-length: ${body.length}\r\n\r\n${body}`;
}

/** Starts long polls over connections of their own. Returns the sockets. */
async function startPolls(queue, count, fields) {
  const { port } = new URL(queue.api.url);
  return Promise.all(Array.from({ length: count }, () => new Promise((done, failed) => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.once('error', failed);
    socket.write(pollRequest(queue, fields), () => done(socket));
  })));
}

/** Checks that all these messages can be received, as their first delivery. */
async function checkUntouched(queue, ids) {
  const { received_total, available } = await queue.stats();
  assert.deepEqual([received_total, available], [0, ids.length]);
  const items = await queue.consumeAll();
  assert.deepEqual(items.map(({ message_id }) => message_id), ids);
  assert.ok(items.every(({ delivery_count }) => delivery_count === 1));
}

const endings = {
  'closed their connections': (socket) => socket.destroy(),
  'reset their connections': (socket) => socket.resetAndDestroy(),
  'closed their half': (socket) => socket.end(),
};

for (const [how, end] of Object.entries(endings))
  test(`100 long polls whose clients ${how} get nothing and count nothing`, { timeout }, async (t) => {
    const { queue } = await startPull(t);
    const sockets = await startPolls(queue, 100);
    t.after(() => sockets.forEach((socket) => socket.destroy()));
    await sleep(settling);
    sockets.forEach(end);
    await sleep(settling);
    await checkUntouched(queue, await queue.publishBulk(100));
  });

// Reads port and request from its arguments, and polls a hundred times.
const dyingClient = `
  const { connect } = require('node:net');
  const [port, request] = process.argv.slice(1);
  let written = 0;
  for (let n = 0; n < 100; ++n)
    connect(port, '127.0.0.1').write(request, () => { if (++written === 100) console.log('all sent'); });
`;

test('100 long polls of a process that was killed get nothing, and who waits behind them does', { timeout }, async (t) => {
  const { queue } = await startPull(t);
  const child = spawn(process.execPath, ['-e', dyingClient, new URL(queue.api.url).port, pollRequest(queue)],
    { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  await new Promise((done) => { child.stdout.once('data', done); });
  await sleep(settling);
  const poll = queue.consume({ wait_seconds });
  await sleep(settling);
  child.kill('SIGKILL');
  await sleep(settling);
  const from = Date.now();
  const { message_id } = await queue.publish(0);
  const [message] = await poll;
  assert.deepEqual([message.message_id, message.delivery_count], [message_id, 1]);
  assert.ok(Date.now() - from < soon * 1000);
  const { received_total, in_flight } = await queue.stats();
  assert.deepEqual([received_total, in_flight], [1, 1]);
});

test('what is handed out to clients at the moment that they die comes again', { timeout }, async (t) => {
  const { queue } = await startPull(t, { max_receive_count: 0 });
  const ids = [];
  for (let n = 0; n < 10; ++n) {
    const sockets = await startPolls(queue, 20, { visibility_timeout: 1 });
    await sleep(100);
    const publishing = queue.publishBulk(20);
    await sleep(n);
    sockets.forEach((socket) => socket.resetAndDestroy());
    ids.push(...await publishing);
  }
  await queue.statsOnce('all are available', ({ available }) => available === ids.length);
  const items = await queue.consumeAll();
  assert.deepEqual(items.map(({ message_id }) => message_id).sort(), [...ids].sort());
  const counted = items.filter(({ delivery_count }) => delivery_count > 1).length;
  t.diagnostic(`${counted} of ${ids.length} were written to a client that died after`);
  const { received_total } = await queue.stats();
  assert.equal(received_total, items.reduce((sum, { delivery_count }) => sum + delivery_count, 0));
});
