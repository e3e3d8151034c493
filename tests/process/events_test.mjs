// What operators hear as it happens: server-sent events from a real process.

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';

import { openEvents } from './support/events.mjs';
import { startOutage, wasted } from './support/outage.mjs';
import { accept, startReceiver } from './support/receiver.mjs';
import { startServer } from './support/server.mjs';
import { patience, until } from './support/time.mjs';

const timeout = 120_000 * patience;

async function makeKey(api, project, scopes) {
  const { key } = await api.ask('POST', '/v1/keys', { project, scopes });
  return api.as(key);
}

/** Changes a queue `times` times, a few at a time: as many events come. */
async function stir(api, queue, times) {
  let left = times;
  const change = async () => {
    while (left-- > 0)
      await api.ask('PATCH', `/v1/queues/${queue}`, { concurrency: 10 });
  };
  await Promise.all(Array.from({ length: 32 }, change));
}

/** Returns the number that a metric without labels has. */
async function metric(api, name) {
  const text = await (await fetch(`${api.url}/metrics`)).text();
  return Number(text.match(new RegExp(`^${name} (.*)$`, 'm'))[1]);
}

test('a hold is seen from its begin to its end while it lasts', { timeout }, async (t) => {
  const server = await startServer(t);
  const outage = await startOutage(t, server, { jobs: 200, seconds: 3, retryAfter: 4 });
  const stream = await openEvents(t, server.api, '?queue=outage');
  assert.equal(stream.response.headers.get('content-type'), 'text/event-stream');
  assert.equal(stream.response.headers.get('cache-control'), 'no-store');
  await server.api.resume('outage');
  const held = await stream.until('queue.held');
  assert.equal((await server.api.queue('outage')).gate.state, 'held', 'the hold is told before it ends');
  assert.equal(held.data.project, 'default');
  assert.equal(held.data.queue, 'outage');
  assert.equal(held.data.type, 'queue.held');
  assert.equal(held.data.id, held.id);
  assert.equal(held.data.data.cause, 'downstream');
  assert.equal(held.data.data.webhookStatusCode, 429);
  assert.ok(Date.parse(held.data.data.releaseAt) > Date.parse(held.data.time));
  assert.match(held.data.data.job, /^job_/);
  const opened = await stream.until('queue.opened', 20);
  assert.equal(opened.data.data.verdict, 'success');
  const { completed } = await until('all done', 20, async () => {
    const { counts } = await server.api.queue('outage');
    return counts.completed === 200 && counts;
  });
  assert.equal(completed, 200);
  assert.ok(wasted(outage.receiver) > 0);
  assert.deepEqual(new Set(stream.types),
    new Set(['queue.resumed', 'queue.held', 'queue.probing', 'queue.opened']),
    'nothing is told of jobs that complete');
  const numbers = stream.events.map(({ id }) => Number(id.split('-')[1]));
  assert.deepEqual(numbers, [...numbers].sort((a, b) => a - b));
  assert.equal(new Set(numbers).size, numbers.length);
});

test('a release is told as one, in the stream and in the log', { timeout }, async (t) => {
  const server = await startServer(t, { flags: ['--allow-target', '127.0.0.0/8', '--log-level', 'info', '--log-format', 'json'] });
  const { api } = server;
  await api.createQueue('q', { webhookUrl: 'http://127.0.0.1:9/' });
  const stream = await openEvents(t, api, '?queue=q&types=queue.held,queue.released,queue.opened');
  await api.ask('POST', '/v1/queues/q/hold', { retryAfter: 600, reason: 'upgrade' });
  await api.ask('POST', '/v1/queues/q/release');
  const { data } = await stream.until('queue.released');
  assert.deepEqual([data.data.cause, data.data.reason], ['operator', 'upgrade']);
  assert.ok(Date.parse(data.data.releaseAt) <= Date.now());
  assert.deepEqual(stream.types, ['queue.held', 'queue.released']);
  const lines = await until('two lines', 10, () => {
    const all = server.launched.err.split('\n').filter((line) => /"queue":"q".*releaseAt/.test(line)).map(JSON.parse);
    return all.length === 2 && all;
  });
  assert.deepEqual(lines.map(({ level, event }) => [level, event]), [['warn', 'queue.held'], ['info', 'queue.released']]);
});

test('a stream whose key is revoked ends, and tells nothing more', { timeout }, async (t) => {
  const { api } = await startServer(t);
  const mine = await makeKey(api, 'default', ['read', 'manage']);
  await api.createQueue('q', { webhookUrl: 'http://127.0.0.1:9/' });
  const stream = await openEvents(t, mine);
  await api.pause('q');
  await stream.until('queue.paused');
  const { items } = await api.ask('GET', '/v1/keys');
  const { id } = items.find(({ scopes }) => scopes.join() === 'read,manage');
  assert.equal((await api.send('DELETE', `/v1/keys/${id}`)).status, 204);
  await api.resume('q');
  assert.equal(await stream.ended, 'ended');
  assert.deepEqual(stream.types, ['queue.paused']);
});

test('a reader that comes back misses nothing, by header or by parameter', { timeout }, async (t) => {
  const { api } = await startServer(t);
  await api.createQueue('q', { webhookUrl: 'http://127.0.0.1:9/' });
  const first = await openEvents(t, api);
  await api.pause('q');
  await first.until('queue.paused');
  first.close();
  await api.resume('q');
  await api.createQueue('r', { webhookUrl: 'http://127.0.0.1:9/' });
  const expected = ['queue.resumed', 'queue.created'];
  for (const [query, headers] of [['', { 'last-event-id': first.lastEventId }], [`?lastEventId=${first.lastEventId}`, {}]]) {
    const again = await openEvents(t, api, query, headers);
    await again.until('queue.created');
    assert.deepEqual(again.types, expected);
  }
});

test('a reader that has heard nothing yet knows where it stands', { timeout }, async (t) => {
  const { api } = await startServer(t);
  const first = await openEvents(t, api);
  await until('an id', 5, () => first.lastEventId);
  first.close();
  await api.createQueue('q', { webhookUrl: 'http://127.0.0.1:9/' });
  const again = await openEvents(t, api, `?lastEventId=${first.lastEventId}`);
  await again.until('queue.created');
  assert.deepEqual(again.types, ['queue.created']);
});

test('after a restart, ids go on growing and the gap is told', { timeout }, async (t) => {
  const server = await startServer(t);
  const first = await openEvents(t, server.api);
  await server.api.createQueue('q', { webhookUrl: 'http://127.0.0.1:9/' });
  await first.until('queue.created');
  await server.killAndStart();
  await server.api.pause('q');
  const again = await openEvents(t, server.api, '', { 'last-event-id': first.lastEventId });
  await again.until('queue.paused');
  assert.deepEqual(again.types, ['gap', 'queue.paused']);
  const [before, after] = [first, again].map(({ lastEventId }) => BigInt(lastEventId.split('-')[0]));
  assert.ok(before < after);
});

test('more than the buffer keeps is a gap', { timeout }, async (t) => {
  const { api } = await startServer(t);
  await api.createQueue('q', { webhookUrl: 'http://127.0.0.1:9/' });
  const stream = await openEvents(t, api);
  await until('an id', 5, () => stream.lastEventId);
  const start = stream.lastEventId;
  stream.close();
  await stir(api, 'q', 10_010);
  const again = await openEvents(t, api, `?lastEventId=${start}`);
  await until('10000 events', 20, () => again.events.length === 10_001);
  assert.equal(again.types[0], 'gap');
});

test('a project hears of its own queues only, and types can be chosen', { timeout }, async (t) => {
  const { api } = await startServer(t);
  const acme = await makeKey(api, 'acme', ['read', 'manage']);
  const [own, all, paused] = [await openEvents(t, acme), await openEvents(t, api),
    await openEvents(t, api, '?types=queue.paused,queue.deleted')];
  await api.createQueue('q', { webhookUrl: 'http://127.0.0.1:9/' });
  await acme.createQueue('q', { webhookUrl: 'http://127.0.0.1:9/' });
  await api.pause('q');
  await acme.ask('DELETE', '/v1/queues/q');
  await api.ask('DELETE', '/v1/queues/q');
  for (const stream of [own, all, paused])
    await stream.until('queue.deleted');
  assert.deepEqual(own.types, ['queue.created', 'queue.deleted']);
  assert.ok(own.events.every(({ data }) => data.project === 'acme'));
  assert.deepEqual(all.types, ['queue.created', 'queue.paused', 'queue.deleted']);
  assert.deepEqual(paused.types, ['queue.paused', 'queue.deleted']);
});

test('a call that is wrong is told so', { timeout }, async (t) => {
  const { api } = await startServer(t);
  const publisher = await makeKey(api, 'acme', ['publish']);
  assert.equal((await openEvents(t, publisher)).status, 403);
  assert.equal((await openEvents(t, { url: api.url, key: 'none' })).status, 401);
  for (const [query, field] of [['?types=queue.held,nonsense', 'types'], ['?lastEventId=7', 'lastEventId'],
    ['?queue=.', 'queue'], ['?colour=red', 'colour']]) {
    const refused = await openEvents(t, api, query);
    assert.equal(refused.status, 400);
    assert.ok(field in (await refused.response.json()).error.fieldErrors, query);
  }
});

test('messages that are given up on and brought back are told', { timeout }, async (t) => {
  const { api } = await startServer(t);
  const stream = await openEvents(t, api);
  await api.ask('POST', '/v1/queue/create', { name: 'out', max_receive_count: 1 });
  await api.ask('POST', '/v1/queue/publish', { queue: 'out', payload: 1 });
  const { data: { items: [{ message_id, receipt_handle }] } } =
    await api.ask('POST', '/v1/queue/consume', { queue: 'out' });
  await api.ask('POST', '/v1/queue/nack', { queue: 'out', message_id, receipt_handle });
  const dead = await stream.until('message.dead');
  assert.equal(dead.data.data.message, message_id);
  await api.ask('POST', '/v1/queue/dlq/redrive/out', {});
  const back = await stream.until('messages.redriven');
  assert.equal(back.data.data.count, 1);
});

test('ten readers that read nothing do not stop publishing, and are dropped', { timeout }, async (t) => {
  const receiver = await startReceiver(t, accept, { slim: true });
  const { api } = await startServer(t);
  await api.createQueue('q', { webhookUrl: receiver.url });
  await api.createQueue('noise', { webhookUrl: receiver.url });
  const { hostname, port } = new URL(api.url);
  const slow = Array.from({ length: 10 }, () => {
    const socket = connect({ host: hostname, port: Number(port) });
    t.after(() => socket.destroy());
    socket.on('error', () => {});
    socket.write(`GET /v1/events HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${api.key}\r\n\r\n`);
    socket.pause();
    return socket;
  });
  await until('ten streams', 10, async () => await metric(api, 'tidegate_event_streams') === 10);
  const quick = await openEvents(t, api, '?queue=noise&types=queue.changed');
  const ids = [];
  const publish = (async () => {
    for (let i = 0; i < 500; ++i)
      ids.push((await api.publish('q', { i })).id);
  })();
  // About 200 bytes each: far more than what is kept for ten slow sockets.
  while (await metric(api, 'tidegate_event_streams_dropped_total') < 10)
    await stir(api, 'noise', 1000);
  await publish;
  assert.equal(ids.length, 500);
  await until('all delivered', 20, async () => (await api.queue('q')).counts.completed === 500);
  assert.ok(quick.events.length > 1000, 'who reads is not held up');
  assert.equal(await metric(api, 'tidegate_event_streams'), 1);
  slow.forEach((socket) => socket.destroy());
});

test('a reader that goes away is noticed', { timeout }, async (t) => {
  const { api } = await startServer(t);
  const stream = await openEvents(t, api);
  assert.equal(await metric(api, 'tidegate_event_streams'), 1);
  stream.close();
  await until('no stream', 5, async () => await metric(api, 'tidegate_event_streams') === 0);
});

test('the 101st stream is refused', { timeout }, async (t) => {
  const { api } = await startServer(t);
  const streams = await Promise.all(Array.from({ length: 100 }, () => openEvents(t, api)));
  assert.ok(streams.every(({ status }) => status === 200));
  const refused = await openEvents(t, api);
  assert.equal(refused.status, 503);
  assert.match(refused.response.headers.get('retry-after'), /^[0-9]+$/);
  streams[0].close();
  await until('a place', 5, async () => {
    const stream = await openEvents(t, api);
    return stream.status === 200;
  });
});

test('there is a sign of life every 15 s', { timeout }, async (t) => {
  const { api } = await startServer(t);
  const stream = await openEvents(t, api);
  await until('a comment', 17, () => stream.comments > 0);
});

test('SIGTERM ends streams, after what they still had to tell', { timeout }, async (t) => {
  const server = await startServer(t);
  const stream = await openEvents(t, server.api);
  await server.api.createQueue('q', { webhookUrl: 'http://127.0.0.1:9/' });
  const before = Date.now();
  server.signal('SIGTERM');
  assert.deepEqual(await server.exited, { code: 0, signal: null });
  assert.ok(Date.now() - before < 10_000, 'it waited for those who listen');
  assert.equal(await stream.ended, 'ended');
  assert.deepEqual(stream.types, ['queue.created']);
});
