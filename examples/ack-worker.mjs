// How do I answer a webhook at once and do the work afterwards? In ack mode the
// 200 only says "I have it"; what became of the job is told by a call later on:
//
//   POST /v1/jobs/:id/ack                           it is done
//   POST /v1/jobs/:id/nack  {"retryable": false}    it never will be
//   POST /v1/jobs/:id/defer {"retryAfter": 2}       not now: nobody's fault
//
//   node examples/ack-worker.mjs build/tidegate [--fenced] [--lossy]
//
// starts a server, a provider that allows five calls in two seconds, and the
// worker; publishes twelve jobs, one of which is no good, and ends when all of
// them have ended. With --fenced the calls say which delivery they are about,
// with --lossy the answer to the first of each kind gets lost.

import assert from 'node:assert/strict';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { binaryFrom, listen, startProxy, startServer, until } from './tidegate.mjs';

const fenced = process.argv.includes('--fenced');
const lossy = process.argv.includes('--lossy');

// -- who is calling? This part is yours. --------------------------------------

/** Most seconds between a delivery's timestamp and our clock. */
const tolerance = 300;

/** Compares in constant time. */
function isSame(given, expected) {
  const [left, right] = [Buffer.from(given ?? ''), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/**
 * Whether the body is signed with the secret, taken as it is printed. While a
 * rotation overlaps, the secret before has a header of its own.
 */
function isSigned(body, headers, secret) {
  const expected = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  return isSame(headers['x-simpleq-signature'], expected)
    || isSame(headers['x-simpleq-signature-previous'], expected);
}

/**
 * The same by Standard Webhooks, where the key is what the secret stands for. It
 * covers the time as well, so what somebody recorded cannot be sent again later.
 */
function isSignedAndFresh(body, headers, secret) {
  const timestamp = headers['webhook-timestamp'];
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= tolerance))
    return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const hmac = createHmac('sha256', key).update(`${headers['webhook-id']}.${timestamp}.`).update(body);
  const expected = `v1,${hmac.digest('base64')}`;
  return (headers['webhook-signature'] ?? '').split(' ').some((given) => isSame(given, expected));
}

// -- the worker: this part is yours -------------------------------------------

class Worker {
  /** Calls made again after this many milliseconds; the last one repeats. */
  static pauses = [50, 200, 1000, 5000];

  /** A call is made this often at most. The ack timeout sees to the rest. */
  static tries = 12;

  constructor({ url, key, secret, callProvider }) {
    Object.assign(this, { url, key, secret, callProvider });
    this.working = new Set();
    this.repeated = 0;
  }

  /** Answers a delivery at once, and sets about it. */
  take(headers, body) {
    if (!isSigned(body, headers, this.secret) || !isSignedAndFresh(body, headers, this.secret))
      return { status: 401 };
    const job = JSON.parse(body);
    const delivery = Number(headers['x-tidegate-delivery']);
    const work = this.work(job, delivery).finally(() => this.working.delete(work));
    this.working.add(work);
    return { status: 200 };
  }

  /** Does the work. However it ends, the queue is told. */
  async work(job, delivery) {
    const [verb, fields] = await this.outcomeOf(job).catch((failure) => (
      ['nack', { reason: failure.message }]));
    console.log(`job ${job.payload.n}: ${verb} ${JSON.stringify(fields)}`);
    await this.report(job, delivery, verb, fields);
  }

  /** Returns the call that tells what became of the job. */
  async outcomeOf(job) {
    if (typeof job.payload.to !== 'string')
      return ['nack', { retryable: false, reason: 'payload.to must be a string' }];
    const answer = await this.callProvider(job);
    if (answer.status === 429)
      return ['defer', { retryAfter: Number(answer.headers.get('retry-after')), reason: 'the provider said 429' }];
    if (!answer.ok)
      return ['nack', { reason: `the provider said ${answer.status}` }];
    return ['ack', {}];
  }

  /**
   * Makes the call until there is an answer that counts. It is safe to repeat: the
   * same outcome again changes nothing. Should the job have been delivered once
   * more meanwhile, a repeat would be taken for that delivery's outcome; the
   * number of the delivery, which makes the call fenced, rules this out.
   */
  async report(job, delivery, verb, fields) {
    const body = JSON.stringify(fenced ? { ...fields, delivery } : fields);
    for (let n = 0; n < Worker.tries; ++n) {
      if (n > 0) {
        ++this.repeated;
        await sleep(Worker.pauses[Math.min(n, Worker.pauses.length) - 1]);
      }
      const status = await this.post(`/v1/jobs/${job.id}/${verb}`, body);
      // 409: what became of it is known already, and it was something else.
      if (status < 500 && status !== 429)
        return;
    }
  }

  /** Returns the status, 599 where the connection was lost. */
  async post(path, body) {
    try {
      const answer = await fetch(this.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${this.key}`, 'content-type': 'application/json' },
        body,
        signal: AbortSignal.timeout(10_000),
      });
      await answer.arrayBuffer();
      return answer.status;
    } catch {
      return 599;
    }
  }
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

/** Says of the first call of each kind that its answer gets lost. */
function makeLoss() {
  const seen = new Set();
  return ({ url }) => {
    const verb = url.split('/').at(-1);
    return lossy && seen.size < seen.add(verb).size;
  };
}

const provider = await listen(makeProvider(5, 2));
const server = await startServer(binaryFrom(process.argv[2]));
const proxy = await startProxy(() => server.url, makeLoss());
let worker;
const webhook = await listen(({ headers }, body) => worker.take(headers, body));
const queue = await server.call('POST', '/v1/queues', {
  name: 'calls',
  webhookUrl: webhook.url,
  mode: 'ack',
  ackTimeout: 30,
});
worker = new Worker({
  url: proxy.url,
  key: server.key,
  secret: queue.signingSecret,
  // Work can be delivered twice. The provider knows by the id that it is the same.
  callProvider: (job) => fetch(provider.url, { method: 'POST', headers: { 'idempotency-key': job.id } }),
});

/** Signs as the server does, at a time of our choice. */
function forge(body, timestamp) {
  const key = Buffer.from(queue.signingSecret.slice(6), 'base64');
  const hmac = createHmac('sha256', key).update(`forged.${timestamp}.${body}`);
  return {
    'x-simpleq-signature': `sha256=${createHmac('sha256', queue.signingSecret).update(body).digest('hex')}`,
    'webhook-id': 'forged',
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${hmac.digest('base64')}`,
  };
}

const now = Math.floor(Date.now() / 1000);
for (const [body, headers] of [
  ['{"payload":{"n":1}}', forge('{"payload":{"n":0}}', now)],
  ['{"payload":{"n":0}}', forge('{"payload":{"n":0}}', now - 2 * tolerance)],
  ['{"payload":{"n":0}}', {}],
]) {
  const { status } = await fetch(webhook.url, { method: 'POST', headers, body });
  assert.equal(status, 401);
}
console.log('a changed, an old and an unsigned delivery were refused');

const bad = 7;
const ids = [];
for (let n = 1; n <= 12; ++n) {
  const payload = n === bad ? { n } : { n, to: 'a@b.com' };
  ids.push((await server.call('POST', '/v1/queues/calls/jobs', { payload })).id);
}
await until('all jobs ended', 60, async () => {
  const { counts } = await server.call('GET', '/v1/queues/calls');
  return counts.completed + counts.dead === ids.length;
});
await Promise.all(worker.working);

const jobs = await Promise.all(ids.map((id) => server.call('GET', `/v1/jobs/${id}`)));
const [refused] = jobs.splice(bad - 1, 1);
assert.equal(refused.status, 'dead');
assert.equal(refused.deadReason, 'nack_not_retryable');
assert.ok(jobs.every((job) => job.status === 'completed'));
assert.ok(jobs.every((job) => job.attempts === 1), 'an attempt was burned');
assert.ok(jobs.every((job) => job.deliveries === job.attempts + job.deferCount), 'an outcome was counted twice');
const deferred = jobs.filter((job) => job.deferCount > 0).length;
assert.ok(deferred > 0, 'the provider never said "not now"');
assert.equal(worker.repeated, lossy ? 3 : 0);
console.log(`11 jobs done, ${deferred} of them had to wait, no attempt was burned; `
  + `1 was refused; ${worker.repeated} calls were repeated`);
await server.stop();
await Promise.all([webhook.close(), provider.close(), proxy.close()]);
