// Every bound of pull queues: what is beyond it is refused with field, value and
// range, and what is at it is taken and has its effect.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { accepts, refuses, startPull } from './support/pull.mjs';
import { patience } from './support/time.mjs';

const timeout = 60_000 * patience;
const anId = `qmsg_${'0'.repeat(24)}`;

/** Where a whole number with a range is given: how it is asked, and the range. */
const numbers = {
  'publish delay_seconds': ['POST', 'publish', (x) => ({ queue: 'out', payload: 1, delay_seconds: x }), 0, 604800],
  'publish priority': ['POST', 'publish', (x) => ({ queue: 'ranked', payload: 1, priority: x }), 0, 9],
  'consume max_messages': ['POST', 'consume', (x) => ({ queue: 'empty', max_messages: x }), 1, 10],
  'consume visibility_timeout': ['POST', 'consume', (x) => ({ queue: 'empty', visibility_timeout: x }), 1, 43200],
  // At most: it would be waited for.
  'consume wait_seconds': ['POST', 'consume', (x) => ({ queue: 'full', wait_seconds: x }), 0, 20],
  'nack delay_seconds': ['POST', 'nack', (x, id) => ({ queue: 'out', message_id: id, delay_seconds: x }), 0, 604800],
  'extend visibility_timeout': ['POST', 'extend', (x, id) => ({ queue: 'out', message_id: id, visibility_timeout: x }), 1, 43200],
  'ack publish.delay_seconds': [
    'POST', 'ack', (x, id) => ({ queue: 'out', message_id: id, publish: { payload: 1, delay_seconds: x } }), 0, 604800],
  'ack publish.priority': [
    'POST', 'ack', (x, id) => ({ queue: 'out', message_id: id, publish: { queue: 'ranked', payload: 1, priority: x } }), 0, 9],
  'create max_receive_count': ['POST', 'create', (x) => ({ name: `count${x}`, max_receive_count: x }), 0, 1000],
  'create max_retries': ['POST', 'create', (x) => ({ name: `retries${x}`, max_retries: x }), 0, 999],
  'create message_retention_days': ['POST', 'create', (x) => ({ name: `days${x}`, message_retention_days: x }), 1, 30],
  'create visibility_timeout_default': [
    'POST', 'create', (x) => ({ name: `lease${x}`, visibility_timeout_default: x }), 1, 43200],
  'create delay_seconds_default': ['POST', 'create', (x) => ({ name: `delay${x}`, delay_seconds_default: x }), 0, 604800],
  'update max_receive_count': ['PATCH', 'update/empty', (x) => ({ max_receive_count: x }), 0, 1000],
  'update max_retries': ['PATCH', 'update/empty', (x) => ({ max_retries: x }), 0, 999],
  'update message_retention_days': ['PATCH', 'update/empty', (x) => ({ message_retention_days: x }), 1, 30],
  'update visibility_timeout_default': ['PATCH', 'update/empty', (x) => ({ visibility_timeout_default: x }), 1, 43200],
  'update delay_seconds_default': ['PATCH', 'update/empty', (x) => ({ delay_seconds_default: x }), 0, 604800],
  'redrive max_messages': ['POST', 'dlq/redrive/empty', (x) => ({ max_messages: x, dry_run: true }), 1, 1_000_000_000],
  'peek limit': ['GET', (x) => `peek/empty?limit=${x}`, () => undefined, 1, 1000],
  'dlq list limit': ['GET', (x) => `dlq/list/empty?limit=${x}`, () => undefined, 1, 1000],
  'list limit': ['GET', (x) => `list?limit=${x}`, () => undefined, 1, 1000],
};

/** Where a number of entries, bytes or headers has a range. */
const sizes = {
  'publish_batch messages': [
    'publish_batch', (n) => ({ queue: 'out', messages: Array(n).fill({ payload: 1 }) }), 1, 1000],
  'ack_batch entries': ['ack_batch', (n) => ({ queue: 'out', entries: Array(n).fill({ message_id: anId }) }), 1, 1000],
  'nack_batch entries': ['nack_batch', (n) => ({ queue: 'out', entries: Array(n).fill({ message_id: anId }) }), 1, 1000],
  'redrive message_ids': ['dlq/redrive/empty', (n) => ({ message_ids: Array(n).fill(anId) }), 1, 1000],
  'publish idempotency_key': [
    'publish', (n) => ({ queue: 'out', payload: 1, idempotency_key: 'k'.repeat(n) }), 1, 255],
  'create idempotency_key': ['create', (n) => ({ name: 'keyed', idempotency_key: 'k'.repeat(n) }), 1, 255],
  'create name': ['create', (n) => ({ name: 'n'.repeat(n) }), 1, 120],
  'publish queue': ['publish', (n) => ({ queue: 'p'.repeat(n), payload: 1 }), 1, 120],
  'publish headers': ['publish', (n) => ({
    queue: 'out', payload: 1, headers: Object.fromEntries(Array.from({ length: n }, (_, i) => [`h${i}`, 'x'])),
  }), undefined, 32],
};

/** Of the field's name, the part that it is called in an answer. */
const fieldOf = (what) => what.split(' ').at(-1);

async function start(t) {
  const started = await startPull(t, { max_receive_count: 0 });
  const { api } = started;
  const create = (settings) => api.ask('POST', '/v1/queue/create', settings);
  await create({ name: 'empty' });
  await create({ name: 'ranked', enable_priority: true });
  await create({ name: 'full' });
  const send = (method, path, body) => api.send(method, `/v1/queue/${path}`, body);
  return { ...started, send };
}

/** Checks that it is refused, with what it was, and what it may be. */
async function checkRefused(call, what, { value, range }) {
  const error = await refuses(call, 400, 'INVALID_ARGUMENT');
  const field = fieldOf(what);
  for (const part of [field, value, range])
    assert.ok(error.message.includes(part), `${what}: '${error.message}' does not say ${part}`);
  assert.ok(Object.keys(error.details.fieldErrors).some((name) => name.startsWith(field)), JSON.stringify(error.details));
}

test('a number beyond its range is refused with field, value and range', { timeout }, async (t) => {
  const { queue, send } = await start(t);
  await queue.publish(1);
  const [{ message_id }] = await queue.consume();
  for (const [what, [method, path, body, min, max]] of Object.entries(numbers)) {
    const pathOf = (x) => (typeof path === 'function' ? path(encodeURIComponent(x)) : path);
    const inBody = method !== 'GET';
    for (const x of [min - 1, max + 1, 1.5, 1e300, ...inBody ? [`${min}`, true, [], null] : ['x', '']]) {
      const value = inBody ? JSON.stringify(x) : String(x);
      const range = inBody ? `from ${min} to ${max}` : `${min} to ${max}`;
      await checkRefused(send(method, pathOf(x), body(x, message_id)), what, { value, range });
    }
  }
  const { in_flight, nacked_total, acked_total, depth } = await queue.stats();
  assert.deepEqual([in_flight, nacked_total, acked_total, depth], [1, 0, 0, 0], 'a refused call had an effect');
  const { status } = await send('GET', 'get/retries1000');
  assert.equal(status, 404);
});

test('a number at either end of its range is taken', { timeout }, async (t) => {
  const { queue, send } = await start(t);
  for (const [what, [method, path, body, min, max]] of Object.entries(numbers))
    for (const x of [min, max]) {
      if (path === 'consume')
        await send('POST', 'publish', { queue: 'full', payload: 1 });
      const { message_id } = await queue.publish(what);
      const [message] = await queue.consumeAll({}, 1);
      assert.equal(message.message_id, message_id);
      const answer = await send(method, typeof path === 'function' ? path(x) : path, body(x, message_id));
      assert.ok(answer.status < 300, `${what} ${x}: ${answer.text}`);
      // What is leased for a second would come back in the middle of the next one.
      await send('POST', 'ack', { queue: 'out', message_id });
      await send('POST', 'purge/out');
      if (what.startsWith('create') || what.startsWith('update')) {
        const name = what.startsWith('create') ? answer.json.data.name : 'empty';
        const shown = await accepts(send('GET', `get/${name}`));
        assert.equal(what.endsWith('max_retries') ? shown.max_receive_count - 1 : shown[fieldOf(what)], x, what);
      }
    }
});

test('too many and too few of something are refused with field, number and range', { timeout }, async (t) => {
  const { send } = await start(t);
  for (const [what, [path, body, min, max]] of Object.entries(sizes)) {
    const range = min === undefined ? `at most ${max}` : `${min} to ${max}`;
    for (const n of [...min === undefined ? [] : [min - 1], max + 1])
      await checkRefused(send('POST', path, body(n)), what, { value: `got ${n}`, range });
    for (const n of [min ?? 0, max]) {
      const answer = await send('POST', path, body(n));
      assert.ok(answer.status < 300, `${what} ${n}: ${answer.text}`);
    }
  }
});

test('names and values of headers have bounds', { timeout }, async (t) => {
  const { queue, send } = await start(t);
  const publish = (headers) => send('POST', 'publish', { queue: 'out', payload: 1, headers });
  for (const [headers, value, range] of [
    [{ '': 'x' }, 'got 0', '1 to 128 bytes'],
    [{ ['n'.repeat(129)]: 'x' }, 'got 129', '1 to 128 bytes'],
    [{ n: 'v'.repeat(4097) }, 'got 4097', 'at most 4096 bytes'],
  ])
    await checkRefused(publish(headers), 'publish headers', { value, range });
  const most = { ['n'.repeat(128)]: 'v'.repeat(4096), e: '' };
  await accepts(publish(most));
  const [message] = await queue.consume();
  assert.deepEqual(message.headers, most);
});

test('an entry of a batch that is beyond a bound is refused by itself', { timeout }, async (t) => {
  const { queue } = await start(t);
  const { results } = await queue.ask('POST', 'publish_batch', {
    queue: 'out', messages: [{ payload: 0, delay_seconds: 604801 }, { payload: 1 }, { payload: 2, priority: 10 }, {}],
  });
  assert.deepEqual(results.map(({ ok, error }) => ok || [error.code, error.message]), [
    ['INVALID_ARGUMENT', 'delay_seconds must be a whole number from 0 to 604800, got 604801'],
    true,
    ['INVALID_ARGUMENT', 'priority must be a whole number from 0 to 9, got 10'],
    ['INVALID_ARGUMENT', 'payload is required'],
  ]);
  const [{ message_id, payload }] = await queue.consume({ max_messages: 10 });
  assert.equal(payload, 1);
  const nacks = await queue.ask('POST', 'nack_batch', {
    queue: 'out', entries: [{ message_id, delay_seconds: 604801 }, { message_id, delay_seconds: 604800 }],
  });
  assert.deepEqual(nacks.results.map(({ ok, error }) => ok || error.message),
    ['delay_seconds must be a whole number from 0 to 604800, got 604801', true]);
});

test('the longest delay is a week to the microsecond, and survives kill -9', { timeout }, async (t) => {
  const { server, queue } = await start(t);
  const week = 604800;
  const published = await queue.publish(1, { delay_seconds: week });
  assert.match(published.visible_at, /\.\d{6}Z$/);
  const isWeek = (from, to) => Date.parse(to) - Date.parse(from) === week * 1000 && from.slice(-7) === to.slice(-7);
  assert.ok(isWeek(published.published_at, published.visible_at), JSON.stringify(published));
  await queue.publish(2);
  const [message] = await queue.consume();
  await accepts(queue.settle('ack', message, { publish: { payload: 3, delay_seconds: week } }));
  await server.killAndStart();
  const { delayed, available } = await queue.stats();
  assert.deepEqual([delayed, available], [2, 0]);
});

test('what is no message, and fields that there are not, are refused and named', { timeout }, async (t) => {
  const { send } = await start(t);
  for (const [path, body, field] of [
    ['publish', { queue: 'out' }, 'payload'],
    ['publish', { queue: 'out', payload: null }, 'payload'],
    ['publish', { payload: 1 }, 'queue'],
    ['publish', { queue: 'out', payload: 1, delaySeconds: 1 }, 'delaySeconds'],
    ['publish', { queue: 'out', payload: 1, priority: 1 }, 'priority'],
    ['consume', { queue: 'out', max_message: 1 }, 'max_message'],
    ['ack', { queue: 'out' }, 'message_id'],
    ['ack', { queue: 'out', message_id: anId, publish: {} }, 'publish.payload'],
    ['ack', { queue: 'out', message_id: anId, publish: { payload: 1, x: 1 } }, 'publish.x'],
    ['extend', { queue: 'out', message_id: anId }, 'visibility_timeout'],
    ['create', { name: 'x', type: 'lifo' }, 'type'],
    ['create', { name: 'x', max_receive_count: 3, max_retries: 3 }, 'max_retries'],
    ['create', { name: 'x', dead_letter_queue: 'x' }, 'dead_letter_queue'],
    ['dlq/redrive/out', { since: 'yesterday' }, 'since'],
    ['dlq/redrive/out', { reason: 'bad luck' }, 'reason'],
  ]) {
    const { message } = await refuses(send('POST', path, body), 400, 'INVALID_ARGUMENT');
    assert.ok(message.includes(field), `${path} ${JSON.stringify(body)}: ${message}`);
  }
  await refuses(send('PATCH', 'update/out', { max_receive_cuont: 5 }), 400, 'INVALID_ARGUMENT');
  await refuses(send('POST', 'publish', '{"queue":"out","payload":1,"queue":"out"}'), 400, 'INVALID_ARGUMENT');
});
