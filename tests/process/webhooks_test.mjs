// What webhooks do in the wild: redirects, answers without an end, connections
// that close, and not being there.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { never, startReceiver } from './support/receiver.mjs';
import { startServer } from './support/server.mjs';
import { patience } from './support/time.mjs';

const timeout = 60_000 * patience;

async function start(t, answer, settings = {}) {
  const receiver = await startReceiver(t, answer);
  const server = await startServer(t);
  await server.api.createQueue('q', { webhookUrl: receiver.url, maxAttempts: 1, ...settings });
  return { receiver, server };
}

/** Delivers one job once. Returns it as it ended, with its only history row. */
async function deliverOnce(t, answer, settings) {
  const { receiver, server } = await start(t, answer, settings);
  const { id } = await server.api.publish('q', 1);
  const job = await server.api.jobOnce(id, 'ended', ({ status }) => status === 'completed' || status === 'dead');
  assert.equal(job.history.length, 1);
  return { receiver, job, row: job.history[0] };
}

for (const status of [301, 302, 303, 307, 308])
  test(`a redirect (${status}) is a failure and is not followed`, { timeout }, async (t) => {
    const answer = ({ url }) => (url === '/login' ? { status: 200 } : { status, headers: { location: '/login' } });
    const { receiver, job, row } = await deliverOnce(t, answer);
    assert.equal(job.status, 'dead');
    assert.equal(row.status, 'failed');
    assert.equal(row.webhookStatusCode, status);
    assert.deepEqual(receiver.arrivals.map(({ url }) => url), ['/']);
  });

/** Answers with a body that never ends. */
function endless(status) {
  return ({ response }) => {
    response.writeHead(status);
    const timer = setInterval(() => response.write('x'.repeat(64 * 1024)), 1);
    response.once('close', () => clearInterval(timer));
  };
}

test('a good answer whose body never ends is a success, soon', { timeout }, async (t) => {
  const { job, row } = await deliverOnce(t, endless(200), { timeout: 5 });
  assert.equal(job.status, 'completed');
  assert.ok(row.responseExcerpt.length <= 2048);
  assert.ok(row.durationMs < 4900, `${row.durationMs} ms`);
});

test('a bad answer whose body never ends is a failure with an excerpt', { timeout }, async (t) => {
  const { job, row } = await deliverOnce(t, endless(500), { timeout: 5 });
  assert.equal(job.status, 'dead');
  assert.equal(row.webhookStatusCode, 500);
  assert.match(row.responseExcerpt, /^x+$/);
});

test('a body that stalls is given up at the deadline, and the status counts', { timeout }, async (t) => {
  const stall = ({ response }) => {
    response.writeHead(200);
    response.write('half');
  };
  const { job, row } = await deliverOnce(t, stall, { timeout: 0.5 });
  assert.equal(job.status, 'completed');
  assert.ok(row.durationMs < 10_000, `${row.durationMs} ms`);
});

test('no answer within the timeout is a failure', { timeout }, async (t) => {
  const { job, row } = await deliverOnce(t, never, { timeout: 0.5 });
  assert.equal(job.status, 'dead');
  assert.equal(row.errorCode, 'timeout');
  assert.ok(row.durationMs >= 490 && row.durationMs < 10_000, `${row.durationMs} ms`);
});

test('header lines without an end are a failure within the deadline', { timeout }, async (t) => {
  const endlessHead = ({ request: { socket } }) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    const timer = setInterval(() => socket.write('x-more: and more\r\n'), 5);
    socket.once('close', () => clearInterval(timer));
  };
  const { job, row } = await deliverOnce(t, endlessHead, { timeout: 1 });
  assert.equal(job.status, 'dead');
  assert.ok(['timeout', 'malformed_response'].includes(row.errorCode), row.errorCode);
  assert.ok(row.durationMs < 10_000, `${row.durationMs} ms`);
});

test('a connection that closes without an answer is a failure', { timeout }, async (t) => {
  const { job, row } = await deliverOnce(t, ({ request }) => void request.socket.destroy());
  assert.equal(job.status, 'dead');
  assert.equal(row.errorCode, 'connection_reset');
});

test('an answer that is no HTTP is a failure', { timeout }, async (t) => {
  const { job, row } = await deliverOnce(t, ({ request }) => void request.socket.end('hello\r\n\r\n'));
  assert.equal(job.status, 'dead');
  assert.equal(row.errorCode, 'malformed_response');
});

test('bytes that are no text, from a webhook that fails, are stored and shown', { timeout }, async (t) => {
  const { job, row } = await deliverOnce(t, () => ({ status: 500, body: Buffer.from([0, 0xff, 0x41, 0xc3]) }));
  assert.equal(job.status, 'dead');
  assert.ok(row.responseExcerpt.includes('A'), JSON.stringify(row));
});

test('an interim answer is passed over', { timeout }, async (t) => {
  const { job } = await deliverOnce(t, ({ response }) => {
    response.writeProcessing();
    return { status: 200 };
  });
  assert.equal(job.status, 'completed');
});

test('a webhook that closes idle connections fails no job', { timeout }, async (t) => {
  const closeSoon = ({ request: { socket }, response }) => {
    response.once('finish', () => setTimeout(() => socket.destroy(), Math.random() * 6));
    return { status: 200 };
  };
  const { server } = await start(t, closeSoon, { concurrency: 4 });
  const ids = [];
  for (let n = 0; n < 300; ++n) {
    ids.push((await server.api.publish('q', n)).id);
    await sleep(n % 4);
  }
  await server.api.drained('q', 20);
  for (const { status, attempts, deliveries, history } of await server.api.jobs(ids))
    assert.deepEqual({ status, attempts, deliveries, rows: history.length },
      { status: 'completed', attempts: 1, deliveries: 1, rows: 1 });
});

test('a webhook that is not there yet is tried until it is', { timeout }, async (t) => {
  const earlier = await startReceiver(t);
  const { port, url } = earlier;
  await earlier.close();
  const server = await startServer(t);
  await server.api.createQueue('q', { webhookUrl: url, maxAttempts: 100, backoff: { type: 'fixed', delay: 0.1 } });
  const { id } = await server.api.publish('q', 1);
  const refused = await server.api.jobOnce(id, 'failed twice', ({ attempts }) => attempts >= 2);
  assert.equal(refused.history[0].errorCode, 'connect_failed');
  const receiver = await startReceiver(t, undefined, { port });
  await server.api.jobWithStatus(id, 'completed');
  assert.equal(receiver.arrivals.length, 1);
});

test('a hanging webhook does not slow the queue of another', { timeout }, async (t) => {
  const { server } = await start(t, never, { concurrency: 10 });
  const swift = await startReceiver(t);
  await server.api.createQueue('swift', { webhookUrl: swift.url });
  await server.api.publishMany('q', 50);
  const from = Date.now();
  await server.api.publishMany('swift', 50);
  await server.api.drained('swift', 10);
  assert.ok(Date.now() - from < 15_000, `${Date.now() - from} ms`);
});
