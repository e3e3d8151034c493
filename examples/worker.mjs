// How do I write a webhook that calls a rate-limited API? It checks who is
// calling, calls the provider, and where the provider says "not now" it says so,
// too: the same status, the same Retry-After. Tidegate does the rest.
//
//   node examples/worker.mjs build/tidegate
//
// starts a server, a provider that allows five calls in two seconds, and the
// worker; publishes twelve jobs and ends when all of them are done.

import assert from 'node:assert/strict';
import { createHmac, timingSafeEqual } from 'node:crypto';

import { binaryFrom, listen, startServer, until } from './tidegate.mjs';

// -- the worker: this part is yours -------------------------------------------

/** Whether `signature` is ours over the bytes of `body`, compared in constant time. */
function isGenuine(body, signature, secret) {
  const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`);
  const given = Buffer.from(signature ?? '');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function makeWorker(secret, callProvider) {
  return async (request, body) => {
    if (!isGenuine(body, request.headers['x-simpleq-signature'], secret))
      return { status: 401 };
    const job = JSON.parse(body);
    const answer = await callProvider(job);
    console.log(`job ${job.payload.n}: the provider said ${answer.status}`);
    const retryAfter = answer.headers.get('retry-after');
    return { status: answer.status, headers: retryAfter ? { 'retry-after': retryAfter } : {} };
  };
}

// -- a provider that allows `limit` calls in `seconds` ------------------------

function makeProvider(limit, seconds) {
  const calls = [];
  return () => {
    const now = Date.now();
    while (calls.length > 0 && calls[0] <= now - seconds * 1000)
      calls.shift();
    if (calls.length < limit) {
      calls.push(now);
      return { status: 200 };
    }
    const wait = Math.ceil((calls[0] + seconds * 1000 - now) / 1000);
    return { status: 429, headers: { 'retry-after': String(wait) } };
  };
}

// -- all of it together -------------------------------------------------------

const provider = await listen(makeProvider(5, 2));
const server = await startServer(binaryFrom(process.argv[2]));
let handle;
const worker = await listen((request, body) => handle(request, body));
const queue = await server.call('POST', '/v1/queues', { name: 'calls', webhookUrl: worker.url });
handle = makeWorker(queue.signingSecret, (job) =>
  fetch(provider.url, { method: 'POST', headers: { 'x-job': job.id } }));

const forged = await fetch(worker.url, {
  method: 'POST',
  headers: { 'x-simpleq-signature': `sha256=${'0'.repeat(64)}` },
  body: '{"payload":{"n":0}}',
});
assert.equal(forged.status, 401);
console.log('a forged delivery was refused');

const ids = [];
for (let n = 1; n <= 12; ++n)
  ids.push((await server.call('POST', '/v1/queues/calls/jobs', { payload: { n } })).id);
await until('all jobs done', 60, async () => {
  const { counts } = await server.call('GET', '/v1/queues/calls');
  return counts.completed === ids.length;
});
const jobs = await Promise.all(ids.map((id) => server.call('GET', `/v1/jobs/${id}`)));
const deferred = jobs.filter((job) => job.deferCount > 0).length;
assert.ok(deferred > 0, 'the provider never said "not now"');
assert.ok(jobs.every((job) => job.attempts === 1), 'an attempt was burned');
console.log(`12 jobs done, ${deferred} of them had to wait, no attempt was burned`);
await server.stop();
await Promise.all([worker.close(), provider.close()]);
