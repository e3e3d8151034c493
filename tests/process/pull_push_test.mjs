// A pull queue whose messages are pushed to a webhook, and fifo queues.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';

import { Webhook } from 'standardwebhooks';

import { openWhileHeld, wasted } from './support/outage.mjs';
import { accepts, Queue, refuses, startPull } from './support/pull.mjs';
import { notNow, slowly, startReceiver } from './support/receiver.mjs';
import { patience, until } from './support/time.mjs';

const timeout = 90_000 * patience;

function subscribe(queue, url, fields = {}) {
  return queue.ask('POST', `push_subscribe/${queue.name}`, { url, ...fields });
}

function shown(queue) {
  return queue.ask('GET', `push_subscribe/${queue.name}`);
}

test('a webhook gets the message as receivers see it, signed', { timeout }, async (t) => {
  const receiver = await startReceiver(t);
  const { queue } = await startPull(t);
  const { secret } = await subscribe(queue, receiver.url);
  const { message_id } = await queue.publish({ to: 'a@b.com' }, { headers: { 'My header': 'ü' } });
  await queue.statsOnce('the ack', ({ acked_total }) => acked_total === 1);
  const [{ body, headers }] = receiver.arrivals;
  const message = JSON.parse(body);
  assert.equal(message.message_id, message_id);
  assert.deepEqual(
    [message.queue, message.payload, message.status, message.delivery_count, message.headers],
    ['out', { to: 'a@b.com' }, 'in_flight', 1, { 'My header': 'ü' }],
  );
  assert.ok(!('receipt_handle' in message));
  new Webhook(secret).verify(body.toString(), headers);
  assert.equal(headers['webhook-id'], message_id);
  assert.equal(headers['x-simpleq-signature'],
    `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`);
  assert.equal((await queue.stats()).received_total, 1);
});

test('a hundred messages outlast 429 and a kill: one probe at a time, none dead', { timeout }, async (t) => {
  let first;
  const refusing = ({ at }) => at - (first ??= at) < 8000;
  const receiver = await startReceiver(t, slowly(20, (arrival) => (refusing(arrival) ? notNow(2) : { status: 200 })));
  const { server, queue, dead } = await startPull(t, { max_receive_count: 1 });
  await queue.publishBulk(100);
  await subscribe(queue, receiver.url, { concurrency: 16 });
  await until('the hold', 10, async () => (await shown(queue)).state === 'held');
  assert.ok((await shown(queue)).release_at);
  await server.killAndStart();
  const stats = await queue.statsOnce('all of them', ({ acked_total }) => acked_total === 100, 40);
  assert.deepEqual([stats.depth, stats.in_flight, stats.dlq_count, stats.received_total], [0, 0, 0, 100]);
  assert.equal((await shown(queue)).state, 'open');
  assert.ok(wasted(receiver) <= 20, `${wasted(receiver)} deliveries were wasted`);
  assert.equal(openWhileHeld(receiver), 1);
  const done = receiver.arrivals.filter(({ status }) => status === 200);
  assert.equal(new Set(done.map(({ body }) => JSON.parse(body).message_id)).size, 100);
  assert.equal(await dead.send('GET', 'get/out.dlq').then(({ status }) => status), 404);
});

test('what the webhook refuses comes back, then is a dead letter', { timeout }, async (t) => {
  const receiver = await startReceiver(t, () => ({ status: 500 }));
  const { queue, dead } = await startPull(t, { max_receive_count: 2 });
  await subscribe(queue, receiver.url);
  const { message_id } = await queue.publish(1);
  await queue.statsOnce('the dead letter', ({ dlq_count }) => dlq_count === 1);
  assert.deepEqual(receiver.arrivals.map(({ body }) => JSON.parse(body).delivery_count), [1, 2]);
  const [message] = await dead.consume();
  assert.equal(message.message_id, message_id);
  assert.equal(message.dead_letter.delivery_count, 2);
});

test('a subscription is shown, changed and ended', { timeout }, async (t) => {
  const receiver = await startReceiver(t);
  const { queue } = await startPull(t);
  await refuses(queue.send('GET', 'push_subscribe/out'), 404, 'NOT_FOUND');
  await refuses(queue.send('DELETE', 'push_subscribe/out'), 404, 'NOT_FOUND');
  const { secret } = await subscribe(queue, receiver.url, { secret: 'whsec_test_secret', concurrency: 3 });
  assert.equal(secret, 'whsec_test_secret');
  const again = await subscribe(queue, receiver.url, { rate_limit_max: 7, timeout: 2.5 });
  assert.equal(again.secret, secret);
  assert.deepEqual(await shown(queue), {
    queue: 'out', url: receiver.url, concurrency: 10, rate_limit_max: 7, timeout: 2.5,
    tls_ca: null, tls_insecure: false, state: 'open', release_at: null, in_flight: 0,
  });
  assert.equal((await queue.send('DELETE', 'push_subscribe/out')).status, 204);
  await queue.publish(1);
  assert.equal((await queue.consume()).length, 1);
  assert.equal(receiver.arrivals.length, 0);
});

for (const [field, value, range] of [
  ['url', 'ftp://x/', 'http'],
  ['url', 'http://10.0.0.1/', 'allow-target'],
  ['concurrency', 0, '1 to 10000'],
  ['concurrency', 1.5, '1 to 10000'],
  ['rate_limit_max', 100_001, '1 to 100000'],
  ['timeout', 0, '0.1 to 900'],
  ['secret', 'short', '8 to 256'],
  ['secret', 'with a space', 'printable'],
  ['fields', 1, 'not a known field'],
])
  test(`a subscription with ${field} ${JSON.stringify(value)} is refused`, { timeout }, async (t) => {
    const { queue } = await startPull(t);
    const call = queue.send('POST', 'push_subscribe/out', { url: 'http://127.0.0.1:9/', [field]: value });
    const { message } = await refuses(call, 400, 'INVALID_ARGUMENT');
    assert.ok(message.includes(field), message);
    assert.ok(message.includes(range), message);
  });

test('a fifo queue keeps the order of each group', { timeout }, async (t) => {
  const { server, api } = await startPull(t);
  const queue = new Queue(api, 'line');
  await queue.create({ type: 'fifo' });
  for (const n of [0, 1, 2, 3, 4, 5])
    await queue.publish(n, { message_group_id: n % 2 ? 'odd' : 'even' });
  const got = [];
  while (got.length < 6) {
    const round = await queue.consume({ max_messages: 10 });
    assert.equal(round.length, 2);
    await server.killAndStart();
    assert.deepEqual(await queue.consume({ max_messages: 10 }), []);
    got.push(...round.map(({ payload }) => payload));
    for (const message of round)
      await accepts(queue.settle('ack', message));
  }
  assert.deepEqual(got, [0, 1, 2, 3, 4, 5]);
});

test('what a fifo queue cannot take is refused', { timeout }, async (t) => {
  const { api } = await startPull(t);
  const queue = new Queue(api, 'line');
  await queue.create({ type: 'fifo' });
  const publish = (fields) => queue.send('POST', 'publish', { queue: 'line', payload: 1, ...fields });
  for (const [field, fields] of [
    ['message_group_id', {}],
    ['message_group_id', { message_group_id: '' }],
    ['delay_seconds', { message_group_id: 'a', delay_seconds: 1 }],
    ['priority', { message_group_id: 'a', priority: 1 }],
    ['deduplication_id', { message_group_id: 'a', deduplication_id: 'd', idempotency_key: 'k' }],
  ]) {
    const { message } = await refuses(publish(fields), 400, 'INVALID_ARGUMENT');
    assert.ok(message.includes(field), message);
  }
  await refuses(queue.send('PATCH', 'update/line', { enable_priority: true }), 400, 'INVALID_ARGUMENT');
  await refuses(queue.send('POST', 'create', { name: 'line' }), 409, 'QUEUE_ALREADY_EXISTS');
  const first = await accepts(publish({ message_group_id: 'a', deduplication_id: 'd' }));
  const second = await accepts(publish({ message_group_id: 'a', deduplication_id: 'd' }));
  assert.deepEqual([second.message_id, second.duplicate], [first.message_id, true]);
});
