// What operators and publishers can ask for besides "deliver this".

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { Webhook } from 'standardwebhooks';

import { checkAllEnded, checkScan } from './support/conservation.mjs';
import { never, startReceiver } from './support/receiver.mjs';
import { startServer } from './support/server.mjs';
import { patience, until } from './support/time.mjs';

const timeout = 60_000 * patience;

async function start(t, answer, settings = {}) {
  const receiver = await startReceiver(t, answer);
  const server = await startServer(t);
  const queue = await server.api.createQueue('q', { webhookUrl: receiver.url, ...settings });
  return { receiver, server, api: server.api, queue };
}

async function refused(api, method, path, body, status, code) {
  const answer = await api.send(method, path, body);
  assert.deepEqual([answer.status, answer.json?.code], [status, code], `${method} ${path}: ${answer.text}`);
  return answer;
}

const gatesOf = ({ blockedBy }) => blockedBy.map(({ gate }) => gate);

// -- hold and release ---------------------------------------------------------

test('a hold by hand keeps jobs back until it is released, with one probe first', { timeout }, async (t) => {
  let release;
  const released = new Promise((done) => { release = done; });
  const { receiver, server, api } = await start(t, () => released.then(() => ({ status: 200 })));
  const held = await api.ask('POST', '/v1/queues/q/hold', { retryAfter: 60, reason: 'the provider is being moved' });
  assert.equal(held.gate.state, 'held');
  assert.equal(held.gate.reason, 'the provider is being moved');
  const ids = await api.publishMany('q', 5);
  const shorter = await api.ask('POST', '/v1/queues/q/hold', { retryAfter: 1 });
  assert.equal(shorter.gate.releaseAt, held.gate.releaseAt);
  await server.killAndStart();
  const { blockedBy } = await api.job(ids[0]);
  assert.deepEqual(blockedBy.map(({ gate, until: end }) => [gate, end]), [['hold', held.gate.releaseAt]]);
  assert.equal((await api.queue('q')).counts.held, 5);
  assert.equal(receiver.arrivals.length, 0);
  await api.ask('POST', '/v1/queues/q/release');
  await until('the probe', 10, () => receiver.arrivals.length === 1);
  const probing = await api.queue('q');
  assert.equal(probing.gate.state, 'probing');
  await sleep(200);
  assert.equal(receiver.arrivals.length, 1);
  release();
  await api.drained('q', 10);
  assert.equal((await api.queue('q')).gate.state, 'open');
  await checkAllEnded(api, 'q', ids);
});

test('a release where nothing waits makes the next job the probe', { timeout }, async (t) => {
  const { api } = await start(t);
  await api.ask('POST', '/v1/queues/q/hold', { retryAfter: '60s' });
  await api.ask('POST', '/v1/queues/q/release');
  assert.notEqual((await api.queue('q')).gate.state, 'open');
  const { id } = await api.publish('q', 1);
  await api.jobWithStatus(id, 'completed');
  const { gate } = await api.gateOnce('q', 'open');
  assert.equal(gate.lastProbe.job, id);
});

test('the same settings put again leave a hold and a pause alone', { timeout }, async (t) => {
  const { receiver, api, queue } = await start(t);
  const held = await api.ask('POST', '/v1/queues/q/hold', { retryAfter: 60 });
  await api.pause('q');
  const { id } = await api.publish('q', 1);
  const put = await api.ask('PUT', '/v1/queues/q', { webhookUrl: queue.webhookUrl });
  assert.deepEqual([put.paused, put.gate], [true, held.gate]);
  assert.deepEqual(new Set(gatesOf(await api.job(id))), new Set(['hold', 'paused']));
  await api.resume('q');
  await sleep(200);
  assert.equal(receiver.arrivals.length, 0);
  await api.ask('POST', '/v1/queues/q/release');
  await api.jobWithStatus(id, 'completed');
});

test('a hold that the clock cannot hold ends at a fixed date, far away, or when it is released', { timeout }, async (t) => {
  const { receiver, server, api } = await start(t);
  await api.ask('POST', '/v1/queues/q/hold', { retryAfter: 1e300 });
  const { gate } = await api.queue('q');
  assert.equal(gate.state, 'held');
  assert.ok(Date.parse(gate.releaseAt) > Date.now() + 365 * 86_400_000, gate.releaseAt);
  const { id } = await api.publish('q', 1);
  await server.killAndStart();
  assert.deepEqual((await api.queue('q')).gate, gate);
  await sleep(300);
  assert.equal(receiver.arrivals.length, 0);
  await api.ask('POST', '/v1/queues/q/release');
  await api.jobWithStatus(id, 'completed');
});

test('a new webhook URL releases a hold: the next job is the probe, and goes there', { timeout }, async (t) => {
  const { receiver, api } = await start(t, () => ({ status: 429, headers: { 'retry-after': '3600' } }), { concurrency: 1 });
  const ids = await api.publishMany('q', 3);
  await api.gateOnce('q', 'held');
  const other = await startReceiver(t);
  await api.ask('PATCH', '/v1/queues/q', { webhookUrl: other.url });
  await api.drained('q', 10);
  assert.deepEqual([receiver.arrivals.length, other.arrivals.length], [1, 3]);
  const jobs = await checkAllEnded(api, 'q', ids);
  assert.ok(jobs.every(({ status, attempts }) => status === 'completed' && attempts === 1));
});

// -- purge --------------------------------------------------------------------

test('a purge removes what waits, says how much, and leaves what is out', { timeout }, async (t) => {
  let release;
  const released = new Promise((done) => { release = done; });
  const { receiver, api } = await start(t, () => released.then(() => ({ status: 200 })), { concurrency: 3 });
  const ids = await api.publishMany('q', 20);
  const delayed = await api.publishBulk('q', 5, () => ({ delay: 60 }));
  await until('three are out', 10, () => receiver.inFlight === 3);
  const out = receiver.arrivals.map(({ id }) => id);
  assert.deepEqual(await api.ask('POST', '/v1/queues/q/purge'), { count: 22 });
  assert.deepEqual(await api.ask('POST', '/v1/queues/q/purge', {}), { count: 0 });
  release();
  await api.drained('q', 10);
  const removed = [...ids, ...delayed].filter((id) => !out.includes(id));
  for (const id of removed.slice(0, 3))
    await refused(api, 'GET', `/v1/jobs/${id}`, undefined, 404, 'job_not_found');
  await checkAllEnded(api, 'q', [...ids, ...delayed], removed);
  assert.equal(receiver.arrivals.length, 3);
});

test('a purge of one status leaves the other, and a restart brings nothing back', { timeout }, async (t) => {
  const { server, api } = await start(t, () => ({ status: 500 }), { backoff: { type: 'fixed', delay: 600 } });
  const failed = await api.publishBulk('q', 4);
  await until('all failed', 10, async () => (await api.queue('q')).counts.processing === 4
    && (await api.queue('q')).counts.inFlight === 0);
  const pending = await api.publishBulk('q', 6, () => ({ delay: 60 }));
  assert.deepEqual(await api.ask('POST', '/v1/queues/q/purge', { status: 'processing' }), { count: 4 });
  await server.killAndStart();
  const left = await checkScan(api, 'q');
  assert.deepEqual(left.map(({ id }) => id), [...pending].reverse());
  assert.deepEqual(await api.ask('POST', '/v1/queues/q/purge', { status: 'pending' }), { count: 6 });
  await checkAllEnded(api, 'q', [...failed, ...pending], [...failed, ...pending]);
});

// -- rotation -----------------------------------------------------------------

function simpleq(secret, body) {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

/** Delivers one job. Returns what arrived. */
async function deliver(api, receiver) {
  const { id } = await api.publish('q', { any: 'thing' });
  await api.jobWithStatus(id, 'completed');
  return receiver.arrivalsOf(id)[0];
}

test('while a rotation overlaps both secrets verify, and afterwards the new one alone', { timeout }, async (t) => {
  const { receiver, server, api, queue } = await start(t);
  const old = queue.signingSecret;
  const rotated = await api.ask('POST', '/v1/queues/q/signing-secret/rotate', { overlap: 3 });
  const secret = rotated.signingSecret;
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.notEqual(secret, old);
  await server.killAndStart();
  const during = await deliver(api, receiver);
  for (const each of [old, secret])
    assert.equal(new Webhook(each).verify(during.body, during.headers).id, during.id);
  assert.equal(during.headers['x-simpleq-signature'], simpleq(secret, during.body));
  assert.equal(during.headers['x-simpleq-signature-previous'], simpleq(old, during.body));
  const shown = await api.ask('GET', '/v1/queues/q/signing-secret');
  assert.equal(shown.signingSecret, secret);
  const left = Date.parse(rotated.previousSecretUntil) - Date.now();
  await sleep(Math.max(0, left) + 50);
  const after = await deliver(api, receiver);
  assert.equal(new Webhook(secret).verify(after.body, after.headers).id, after.id);
  assert.throws(() => new Webhook(old).verify(after.body, after.headers));
  assert.equal(after.headers['x-simpleq-signature-previous'], undefined);
  assert.equal((await api.ask('GET', '/v1/queues/q')).signingSecret, undefined);
});

test('a rotation without an overlap ends the old secret at once', { timeout }, async (t) => {
  const { receiver, api, queue } = await start(t);
  const { signingSecret } = await api.ask('POST', '/v1/queues/q/signing-secret/rotate', { overlap: 0 });
  const arrival = await deliver(api, receiver);
  assert.equal(arrival.headers['webhook-signature'].split(' ').length, 1);
  assert.equal(arrival.headers['x-simpleq-signature'], simpleq(signingSecret, arrival.body));
  assert.equal(arrival.headers['x-simpleq-signature-previous'], undefined);
  assert.throws(() => new Webhook(queue.signingSecret).verify(arrival.body, arrival.headers));
});

// -- depth --------------------------------------------------------------------

test('beyond maxDepth a publish is 429 until there is room', { timeout }, async (t) => {
  const { server, api } = await start(t, undefined, { maxDepth: 3 });
  await api.pause('q');
  const ids = [];
  for (let n = 0; n < 3; ++n)
    ids.push((await api.publish('q', { n }, { idempotencyKey: `k${n}` })).id);
  const { headers } = await refused(api, 'POST', '/v1/queues/q/jobs', { payload: 4 }, 429, 'queue_full');
  assert.match(headers['retry-after'], /^[1-9][0-9]*$/);
  const repeat = await api.publish('q', { n: 0 }, { idempotencyKey: 'k0' });
  assert.deepEqual([repeat.id, repeat.duplicate], [ids[0], true]);
  await server.killAndStart();
  await refused(api, 'POST', '/v1/queues/q/jobs', { payload: 4 }, 429, 'queue_full');
  await api.ask('DELETE', `/v1/jobs/${ids[2]}`);
  const results = await api.publishBatch('q', [{ payload: 5 }, { payload: 6 }]);
  assert.deepEqual(results.map(({ ok, code }) => [ok, code]), [[true, undefined], [false, 'queue_full']]);
  ids.push(results[0].id);
  await api.ask('PATCH', '/v1/queues/q', { maxDepth: 1 });
  const { json } = await refused(api, 'POST', '/v1/queues/q/jobs', { payload: 6 }, 429, 'queue_full');
  assert.equal(json.error, "Queue 'q' has its 1 live job that maxDepth allows");
  await api.ask('PATCH', '/v1/queues/q', { maxDepth: null });
  ids.push((await api.publish('q', 7)).id);
  await api.resume('q');
  await api.drained('q', 10);
  await checkAllEnded(api, 'q', ids);
});

test('maxDepth is exact when many publish at once', { timeout }, async (t) => {
  const { api } = await start(t, undefined, { maxDepth: 50 });
  await api.pause('q');
  const numbers = Array.from({ length: 200 }, (_, n) => n);
  const answers = await Promise.all(numbers.map((n) => api.send('POST', '/v1/queues/q/jobs', { payload: n })));
  assert.equal(answers.filter(({ status }) => status === 201).length, 50);
  assert.equal(answers.filter(({ json }) => json.code === 'queue_full').length, 150);
  assert.equal((await checkScan(api, 'q')).length, 50);
});

// -- lifetime -----------------------------------------------------------------

test('a job expires during a hold, a pause, and while the server is down', { timeout }, async (t) => {
  const { receiver, server, api } = await start(t, undefined, { lifetime: 1 });
  await api.ask('POST', '/v1/queues/q/hold', { retryAfter: 60 });
  const held = await api.publish('q', 1);
  const expired = await api.jobWithStatus(held.id, 'dead');
  assert.equal(expired.deadReason, 'lifetime_exceeded');
  const lived = Date.parse(expired.deadAt) - Date.parse(expired.createdAt);
  assert.ok(lived >= 1000 && lived < 10_000, `${lived} ms`);
  await api.pause('q');
  const paused = await api.publish('q', 2);
  await api.jobWithStatus(paused.id, 'dead');
  const waiting = await api.publish('q', 3);
  await server.kill();
  await sleep(1200);
  await server.start();
  const late = await api.jobWithStatus(waiting.id, 'dead');
  assert.deepEqual([late.deadReason, late.attempts], ['lifetime_exceeded', 0]);
  await checkAllEnded(api, 'q', [held.id, paused.id, waiting.id]);
  assert.equal(receiver.arrivals.length, 0);
});

test('a lifetime counts from the end of the delay', { timeout }, async (t) => {
  const { api } = await start(t, undefined, { lifetime: 1 });
  const { id } = await api.publish('q', 1, { delay: 2 });
  await api.jobWithStatus(id, 'completed');
  await checkAllEnded(api, 'q', [id]);
});

// -- run now ------------------------------------------------------------------

test('run-now delivers a delayed job at once, and only once', { timeout }, async (t) => {
  const { receiver, api } = await start(t);
  const from = Date.now();
  const { id } = await api.publish('q', 1, { delay: 5 });
  await api.ask('POST', `/v1/jobs/${id}/run-now`);
  await api.jobWithStatus(id, 'completed');
  assert.ok(receiver.arrivals[0].at - from < 5000, `${receiver.arrivals[0].at - from} ms`);
  await sleep(5300 - (Date.now() - from));
  assert.equal(receiver.arrivals.length, 1);
  await refused(api, 'POST', `/v1/jobs/${id}/run-now`, undefined, 409, 'job_completed');
  await checkAllEnded(api, 'q', [id]);
});

test('run-now ends a backoff, and counts as the retry', { timeout }, async (t) => {
  const { receiver, api } = await start(t, ({ attempt }) => ({ status: attempt === 1 ? 500 : 200 }),
    { backoff: { type: 'fixed', delay: 600 } });
  const { id } = await api.publish('q', 1);
  await api.jobOnce(id, 'failed', ({ attempts }) => attempts === 1);
  await api.ask('POST', `/v1/jobs/${id}/run-now`);
  const job = await api.jobWithStatus(id, 'completed');
  assert.deepEqual([job.attempts, job.deliveries, receiver.arrivals.length], [2, 2, 2]);
});

test('run-now does not pass a pause or a hold', { timeout }, async (t) => {
  const { receiver, api } = await start(t);
  await api.pause('q');
  await api.ask('POST', '/v1/queues/q/hold', { retryAfter: 60 });
  const { id } = await api.publish('q', 1, { delay: 60 });
  const job = await api.ask('POST', `/v1/jobs/${id}/run-now`);
  assert.deepEqual(new Set(gatesOf(job)), new Set(['paused', 'hold']));
  await sleep(200);
  assert.equal(receiver.arrivals.length, 0);
});

// -- cancel -------------------------------------------------------------------

test('cancelling a job that is being delivered cuts the connection and frees its slot', { timeout }, async (t) => {
  const { receiver, api } = await start(t, never, { concurrency: 1 });
  const { id } = await api.publish('q', 1);
  await until('it is out', 10, () => receiver.inFlight === 1);
  receiver.answer = () => ({ status: 200 });
  const cancelled = await api.ask('DELETE', `/v1/jobs/${id}`);
  assert.deepEqual([cancelled.status, cancelled.deadReason], ['dead', 'cancelled']);
  await until('the connection is cut', 5, () => receiver.inFlight === 0);
  assert.equal(receiver.arrivals[0].status, undefined);
  const next = await api.publish('q', 2);
  await api.jobWithStatus(next.id, 'completed');
  await refused(api, 'DELETE', `/v1/jobs/${id}`, undefined, 409, 'job_dead');
  await refused(api, 'DELETE', `/v1/jobs/${next.id}`, undefined, 409, 'job_completed');
  assert.deepEqual((await api.ask('GET', '/v1/queues/q/dlq')).items, []);
  await checkAllEnded(api, 'q', [id, next.id]);
  const { attempts } = await api.job(id);
  assert.equal(attempts, 0);
});

test('cancelling the probe makes another job the probe at once', { timeout }, async (t) => {
  const { receiver, api } = await start(t, never, { concurrency: 4 });
  await api.ask('POST', '/v1/queues/q/hold', { retryAfter: 0.2 });
  const ids = await api.publishMany('q', 4);
  await until('the probe is out', 10, () => receiver.inFlight === 1);
  receiver.answer = () => ({ status: 200 });
  await api.ask('DELETE', `/v1/jobs/${receiver.arrivals[0].id}`);
  await api.drained('q', 5);
  const jobs = await checkAllEnded(api, 'q', ids);
  assert.equal(jobs.filter(({ status }) => status === 'completed').length, 3);
  assert.equal((await api.queue('q')).gate.state, 'open');
});

test('a waiting, a delayed and an awaiting job can be cancelled, and stay so after a kill', { timeout }, async (t) => {
  const { receiver, server, api } = await start(t, undefined, { mode: 'ack', concurrency: 1 });
  const awaiting = (await api.publish('q', 1)).id;
  await api.jobWithStatus(awaiting, 'awaiting_ack');
  const waiting = (await api.publish('q', 2)).id;
  const delayed = (await api.publish('q', 3, { delay: 60 })).id;
  for (const id of [waiting, delayed, awaiting])
    await api.ask('DELETE', `/v1/jobs/${id}`);
  await server.killAndStart();
  const late = await api.report(awaiting, 'ack');
  assert.deepEqual([late.status, late.json.code], [409, 'job_dead']);
  const jobs = await checkAllEnded(api, 'q', [awaiting, waiting, delayed]);
  assert.ok(jobs.every(({ deadReason }) => deadReason === 'cancelled'));
  assert.equal(receiver.arrivals.length, 1);
});

// -- what a publisher may say -------------------------------------------------

test('runAt is when a job goes, also across a kill', { timeout }, async (t) => {
  const { receiver, server, api } = await start(t);
  const at = Date.now() + 2000;
  const { id } = await api.publish('q', 1, { runAt: new Date(at).toISOString() });
  await server.killAndStart();
  const job = await api.job(id);
  assert.equal(Date.parse(job.scheduledFor), at);
  assert.equal(job.status, 'pending');
  await api.jobWithStatus(id, 'completed');
  const late = receiver.arrivals[0].at - at;
  assert.ok(late >= 0 && late < 10_000, `${late} ms after its time`);
  const past = await api.publish('q', 2, { runAt: '2020-01-01T00:00:00Z' });
  await api.jobWithStatus(past.id, 'completed');
  await refused(api, 'POST', '/v1/queues/q/jobs', { payload: 1, delay: 1, runAt: new Date(at).toISOString() }, 400, 'validation_failed');
});

test('the higher priority goes first, and of one priority who came first', { timeout }, async (t) => {
  const { receiver, server, api } = await start(t, undefined, { concurrency: 1 });
  await api.pause('q');
  const priorities = [0, 5, 9, undefined, 5, 1, 9, 0];
  const jobs = priorities.map((priority, n) => ({ payload: { n, priority: priority ?? 0 }, priority }));
  await api.publishBatch('q', jobs);
  await server.killAndStart();
  await api.resume('q');
  await api.drained('q', 10);
  assert.deepEqual(receiver.arrivals.map(({ payload }) => payload.n), [2, 6, 1, 4, 5, 0, 3, 7]);
  await refused(api, 'POST', '/v1/queues/q/jobs', { payload: 1, priority: 10 }, 400, 'validation_failed');
});

test('headers of a job go before those of its queue, and ours before both', { timeout }, async (t) => {
  const { receiver, server, api } = await start(t, undefined, { headers: { 'X-Queue': 'q', 'X-Both': 'queue' } });
  await api.pause('q');
  const { id } = await api.publish('q', 1, { headers: { 'X-Job': 'j;b="c"', 'x-both': 'job' } });
  await server.killAndStart();
  await api.resume('q');
  await api.jobWithStatus(id, 'completed');
  const { headers } = receiver.arrivals[0];
  assert.deepEqual([headers['x-queue'], headers['x-job'], headers['x-both']], ['q', 'j;b="c"', 'job']);
  for (const name of ['X-Simpleq-Signature', 'Webhook-Id', 'Host', 'Content-Length', 'X-Tidegate-Delivery', 'X A'])
    await refused(api, 'POST', '/v1/queues/q/jobs', { payload: 1, headers: { [name]: 'x' } }, 400, 'validation_failed');
  await refused(api, 'POST', '/v1/queues/q/jobs', { payload: 1, headers: { 'X-A': 'a\r\nX-B: b' } }, 400, 'validation_failed');
});

test('the trace context of a publish arrives with every delivery', { timeout }, async (t) => {
  const { receiver, server, api } = await start(t, ({ attempt }) => ({ status: attempt === 1 ? 500 : 200 }),
    { backoff: { type: 'fixed', delay: 0.5 } });
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const { status, json } = await api.send('POST', '/v1/queues/q/jobs', { payload: 1 },
    { authorization: `Bearer ${api.key}`, traceparent, tracestate: 'congo=t61rcWkgMzE' });
  assert.equal(status, 201);
  await api.jobOnce(json.id, 'failed once', ({ attempts }) => attempts === 1);
  await server.killAndStart();
  await api.jobWithStatus(json.id, 'completed');
  assert.equal(receiver.arrivals.length, 2);
  for (const { headers } of receiver.arrivals)
    assert.deepEqual([headers.traceparent, headers.tracestate], [traceparent, 'congo=t61rcWkgMzE']);
  const arrival = await deliver(api, receiver);
  assert.equal(arrival.headers.traceparent, undefined);
});

test('permanentFailureStatuses give a job up at its first such answer', { timeout }, async (t) => {
  const { receiver, api } = await start(t, ({ payload }) => ({ status: payload.answer }),
    { permanentFailureStatuses: [404, 422], backoff: { type: 'fixed', delay: 0.02 } });
  const gone = await api.publish('q', { answer: 404 });
  const other = await api.publish('q', { answer: 400 });
  const { deadReason, attempts } = await api.jobWithStatus(gone.id, 'dead');
  assert.deepEqual([deadReason, attempts], ['nack_not_retryable', 1]);
  const retried = await api.jobWithStatus(other.id, 'dead');
  assert.deepEqual([retried.deadReason, retried.attempts], ['attempts_exhausted', 3]);
  assert.equal(receiver.arrivals.length, 4);
});

test('a queue that is deleted by force takes its jobs along, and its name is free', { timeout }, async (t) => {
  const { receiver, server, api, queue } = await start(t, never);
  const ids = await api.publishMany('q', 3);
  await until('they are out', 10, () => receiver.inFlight === 3);
  await refused(api, 'DELETE', '/v1/queues/q', undefined, 409, 'queue_not_empty');
  assert.equal((await api.send('DELETE', '/v1/queues/q?force=true')).status, 204);
  await until('the connections are cut', 5, () => receiver.inFlight === 0);
  await server.killAndStart();
  for (const id of ids)
    await refused(api, 'GET', `/v1/jobs/${id}`, undefined, 404, 'job_not_found');
  const again = await api.createQueue('q', { webhookUrl: receiver.url });
  assert.notEqual(again.signingSecret, queue.signingSecret);
  assert.deepEqual(await checkScan(api, 'q'), []);
});

test('--max-in-flight bounds what is out over all queues, and they take turns', { timeout }, async (t) => {
  const receiver = await startReceiver(t, async () => {
    await sleep(20);
    return { status: 200 };
  });
  const server = await startServer(t, { flags: ['--allow-target', '127.0.0.0/8', '--max-in-flight', '3'] });
  for (const name of ['many', 'few'])
    await server.api.createQueue(name, { webhookUrl: receiver.url, concurrency: 10 });
  const ids = await server.api.publishMany('many', 60);
  const few = await server.api.publishMany('few', 3);
  await until('a queue says what it waits for', 10, async () => {
    const { blockedBy } = await server.api.queue('many');
    return blockedBy.some(({ gate }) => gate === 'global_concurrency');
  });
  await server.api.drained('few', 20);
  assert.ok((await server.api.queue('many')).counts.pending > 0, 'the few had to wait for the many');
  await server.api.drained('many', 30);
  assert.equal(receiver.inFlightMax, 3);
  await checkAllEnded(server.api, 'many', ids);
  await checkAllEnded(server.api, 'few', few);
});
