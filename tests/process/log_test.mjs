// The log: one line for each delivery with everything that was decided, one for
// each request, and none of it where the level says so.

import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test } from 'node:test';

import { startReceiver } from './support/receiver.mjs';
import { startServer } from './support/server.mjs';
import { patience, until } from './support/time.mjs';

const timeout = 60_000 * patience;
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

/** Starts a server that logs JSON at `level`. */
function startLogging(t, level) {
  return startServer(t, { flags: ['--allow-target', '127.0.0.0/8', '--log-level', level, '--log-format', 'json'] });
}

/** Returns the lines of the log so far; each has to be one JSON object. */
function linesOf({ launched }) {
  return launched.err.split('\n').slice(0, -1).map((line) => {
    const { time, level, ...rest } = JSON.parse(line);
    assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.match(level, /^(error|warn|info|debug)$/);
    return { level, ...rest };
  });
}

const deliveriesOf = (server, id) => linesOf(server)
  .filter(({ event, job, message }) => event === 'delivery' && (job ?? message) === id);

/** Waits for `count` lines of deliveries of a job. Returns them. */
function deliveriesOnce(server, id, count) {
  return until(`${count} lines of ${id}`, 10, () => {
    const lines = deliveriesOf(server, id);
    assert.ok(lines.length <= count, JSON.stringify(lines));
    return lines.length === count && lines;
  });
}

/** Returns a line without what differs from run to run, and checks that. */
function stable({ durationMs, until: when, heldUntil, ...rest }) {
  assert.ok(durationMs >= 0 && durationMs < 10_000, `${durationMs} ms`);
  for (const instant of [when, heldUntil])
    assert.ok(instant === undefined || !Number.isNaN(Date.parse(instant)), instant);
  return { ...rest, ...(when && { until: true }), ...(heldUntil && { heldUntil: true }) };
}

test('a delivery that went well is one line', { timeout }, async (t) => {
  const receiver = await startReceiver(t);
  const server = await startLogging(t, 'debug');
  await server.api.createQueue('q', { webhookUrl: receiver.url });
  const { json: { id } } = await server.api.send('POST', '/v1/queues/q/jobs', { payload: 1, limitKey: 'tenant' },
    { authorization: `Bearer ${server.key}`, traceparent });
  const [line] = await deliveriesOnce(server, id, 1);
  assert.deepEqual(stable(line), {
    level: 'debug', event: 'delivery', queue: 'q', limitKey: 'tenant', job: id, decision: 'completed',
    delivery: 1, attempt: 1, probe: false, status: 200, gate: 'open', traceparent,
  });
});

test('a job that fails and dies has a line for each delivery', { timeout }, async (t) => {
  const receiver = await startReceiver(t, () => ({ status: 500 }));
  const server = await startLogging(t, 'debug');
  await server.api.createQueue('q', {
    webhookUrl: receiver.url, maxAttempts: 2, backoff: { type: 'fixed', delay: 0.2 } });
  const { id } = await server.api.publish('q', 1);
  const [first, second] = await deliveriesOnce(server, id, 2);
  const common = { level: 'debug', event: 'delivery', queue: 'q', job: id, probe: false, status: 500, gate: 'open' };
  assert.deepEqual(stable(first), { ...common, decision: 'retry', delivery: 1, attempt: 1, until: true });
  assert.deepEqual(stable(second), { ...common, decision: 'dead', delivery: 2, attempt: 2, reason: 'attempts_exhausted' });
  assert.ok(linesOf(server).some(({ level, event, job }) => level === 'warn' && event === 'job.dead' && job === id));
});

test('a defer tells of the hold, and the probe that it was one', { timeout }, async (t) => {
  const answers = [{ status: 429, headers: { 'retry-after': '0.3' } }, { status: 503, headers: { 'retry-after': '0.2' } }];
  const receiver = await startReceiver(t, () => answers.shift() ?? { status: 200 });
  const server = await startLogging(t, 'debug');
  await server.api.createQueue('q', { webhookUrl: receiver.url });
  const { id } = await server.api.publish('q', 1);
  const lines = await deliveriesOnce(server, id, 3);
  const common = { level: 'debug', event: 'delivery', queue: 'q', job: id, attempt: 1 };
  const held = { ...common, decision: 'defer', until: true, gate: 'held', heldUntil: true, cause: 'downstream' };
  assert.deepEqual(lines.map(stable), [
    { ...held, delivery: 1, probe: false, status: 429 },
    { ...held, delivery: 2, probe: true, status: 503 },
    { ...common, delivery: 3, probe: true, status: 200, decision: 'completed', gate: 'open' },
  ]);
  assert.equal(lines[0].until, lines[0].heldUntil);
});

test('in ack mode there is a line for the answer and one for the outcome', { timeout }, async (t) => {
  const receiver = await startReceiver(t, () => ({ status: 202 }));
  const server = await startLogging(t, 'debug');
  await server.api.createQueue('q', { webhookUrl: receiver.url, mode: 'ack', ackTimeout: 1, maxAttempts: 1 });
  const { id } = await server.api.publish('q', 1);
  await server.api.jobWithStatus(id, 'awaiting_ack');
  assert.equal((await server.api.report(id, 'ack')).status, 200);
  const [taken, done] = await deliveriesOnce(server, id, 2);
  assert.deepEqual([taken.decision, taken.status, done.decision, done.reportedBy, done.delivery],
    ['awaiting_ack', 202, 'completed', 'worker', 1]);
  const { id: forgotten } = await server.api.publish('q', 2);
  const [, lapsed] = await deliveriesOnce(server, forgotten, 2);
  assert.deepEqual([lapsed.decision, lapsed.errorCode, lapsed.reason], ['dead', 'ack_timeout', 'attempts_exhausted']);
});

test('a webhook that cannot be reached is told by its stage', { timeout }, async (t) => {
  const server = await startLogging(t, 'debug');
  await server.api.createQueue('q', { webhookUrl: 'http://127.0.0.1:1/', maxAttempts: 1 });
  const { id } = await server.api.publish('q', 1);
  const [line] = await deliveriesOnce(server, id, 1);
  assert.deepEqual([line.decision, line.errorCode, line.status], ['dead', 'connect_failed', undefined]);
});

test('a message that is pushed is one line', { timeout }, async (t) => {
  const receiver = await startReceiver(t);
  const server = await startLogging(t, 'debug');
  await server.api.ask('POST', '/v1/queue/create', { name: 'p', type: 'standard' });
  await server.api.ask('POST', '/v1/queue/push_subscribe/p', { url: receiver.url });
  const { data } = await server.api.ask('POST', '/v1/queue/publish', { queue: 'p', payload: 1 });
  const [line] = await deliveriesOnce(server, data.message_id, 1);
  assert.deepEqual(stable(line), {
    level: 'debug', event: 'delivery', queue: 'p', message: data.message_id, decision: 'completed',
    delivery: 1, attempt: 1, probe: false, status: 200, gate: 'open',
  });
});

test('a request is one line under the id that its answer has, and names what it made', { timeout }, async (t) => {
  const receiver = await startReceiver(t);
  const server = await startLogging(t, 'debug');
  await server.api.createQueue('q', { webhookUrl: receiver.url });
  const headers = { authorization: `Bearer ${server.key}`, 'x-request-id': 'order-17.retry_2' };
  const published = await server.api.send('POST', '/v1/queues/q/jobs', { payload: 1 }, headers);
  assert.equal(published.headers['x-request-id'], 'order-17.retry_2');
  const drawn = await server.api.send('POST', '/v1/queues/none/pause');
  assert.equal(drawn.status, 404);
  const refused = await server.api.send('GET', '/v1/queues', undefined, { 'x-request-id': 'stranger' });
  assert.equal(refused.status, 401);
  const lines = await until('three lines', 10, () => {
    const all = linesOf(server).filter(({ event }) => event === 'request');
    return ['order-17.retry_2', drawn.headers['x-request-id'], 'stranger']
      .map((id) => all.find(({ requestId }) => requestId === id))
      .every((line) => line) && all;
  });
  const of = (id) => lines.find(({ requestId }) => requestId === id);
  assert.deepEqual(stable(of('order-17.retry_2')), {
    level: 'debug', event: 'request', requestId: 'order-17.retry_2', route: 'jobs.publish', subject: 'q',
    made: published.json.id, status: 201, peer: '127.0.0.1',
  });
  assert.deepEqual(stable(of(drawn.headers['x-request-id'])), {
    level: 'debug', event: 'request', requestId: drawn.headers['x-request-id'], route: 'queues.pause', status: 404, peer: '127.0.0.1',
  });
  assert.deepEqual(stable(of('stranger')), {
    level: 'debug', event: 'request', requestId: 'stranger', status: 401, peer: '127.0.0.1',
  });
});

test('a request that never gets to a route has a line, too', { timeout }, async (t) => {
  const server = await startLogging(t, 'debug');
  const { port, hostname } = new URL(server.api.url);
  const key = `authorization: Bearer ${server.key}\r\n`;
  const answerTo = (text) => new Promise((done, failed) => {
    let answer = '';
    connect(Number(port), hostname).on('error', failed).on('data', (part) => { answer += part; })
      .on('close', () => done(answer)).end(text);
  });
  for (const [text, status, route, given] of [
    ['NONSENSE\r\n\r\n', 400, undefined],
    [`GET / HTTP/1.1\r\nhost: a\r\nx-long: ${'x'.repeat(20_000)}\r\n\r\n`, 431, undefined],
    [`POST /v1/queues HTTP/1.1\r\nhost: a\r\n${key}content-length: 99999999\r\n\r\n`, 413, 'queues.create'],
    ['GET /nowhere HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n', 401, undefined],
    ['POST / HTTP/1.1\r\nhost: a\r\nx-request-id: mine\r\ntransfer-encoding: gzip\r\n\r\n', 501, undefined, 'mine'],
  ]) {
    const answer = await answerTo(text);
    assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `));
    const [, id] = answer.match(/x-request-id: (\S+)/i);
    assert.ok(!given || id === given, id);
    const line = await until(`a line of ${status}`, 10, () => linesOf(server)
      .find(({ event, requestId }) => event === 'request' && requestId === id));
    assert.deepEqual(stable(line), {
      level: 'debug', event: 'request', requestId: id, ...(route && { route }), status, peer: '127.0.0.1' });
  }
});

test('at the usual level there are holds and dead jobs, but no line for each delivery or request', { timeout }, async (t) => {
  const receiver = await startReceiver(t, ({ payload }) => ({ status: payload }));
  const server = await startLogging(t, 'info');
  await server.api.createQueue('q', { webhookUrl: receiver.url, maxAttempts: 1 });
  const { id: good } = await server.api.publish('q', 200);
  await server.api.jobWithStatus(good, 'completed');
  const { id: bad } = await server.api.publish('q', 500);
  await server.api.jobWithStatus(bad, 'dead');
  const dead = await until('a line of the dead job', 10, () => (
    linesOf(server).find(({ event, job }) => event === 'job.dead' && job === bad)));
  assert.equal(dead.level, 'warn');
  assert.deepEqual(linesOf(server).filter(({ event }) => event === 'delivery' || event === 'request'), []);
});

test('for people a line is words', { timeout }, async (t) => {
  const receiver = await startReceiver(t, () => ({ status: 500 }));
  const server = await startServer(t, { flags: ['--allow-target', '127.0.0.0/8', '--log-level', 'debug', '--log-format', 'text'] });
  await server.api.createQueue('q', { webhookUrl: receiver.url, maxAttempts: 1 });
  const { id } = await server.api.publish('q', 1);
  const line = await until('a line', 10, () => server.launched.err.split('\n').find((each) => each.includes(` delivery q ${id} `)));
  assert.match(line, / debug delivery q job_\w+ dead delivery=1 attempt=1 status=500 durationMs=[\d.]+ reason=attempts_exhausted gate=open$/);
});
