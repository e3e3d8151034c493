// What each call of a worker means, by what the job is doing when it comes.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ackWorker } from './support/callbacks.mjs';
import { checkAllEnded, checkHistory } from './support/conservation.mjs';
import { startReceiver } from './support/receiver.mjs';
import { startServer } from './support/server.mjs';
import { patience, until } from './support/time.mjs';

const timeout = 60_000 * patience;
const settings = { mode: 'ack', concurrency: 4, backoff: { type: 'fixed', delay: 600 } };

async function start(t, more = {}) {
  const receiver = await startReceiver(t, ({ payload }) => ({ status: payload.answer ?? 200 }));
  const server = await startServer(t);
  await server.api.createQueue('q', { webhookUrl: receiver.url, ...settings, ...more });
  return { receiver, server, api: server.api };
}

// -- states, and how a job comes into them ------------------------------------

async function publishUntil(api, payload, what, wanted) {
  const { id } = await api.publish('q', payload);
  await api.jobOnce(id, what, wanted);
  return id;
}

const isAwaiting = ({ status }) => status === 'awaiting_ack';

async function awaiting(api) {
  return publishUntil(api, {}, 'awaiting', isAwaiting);
}

/** Returns a way to a job of which this was told. */
function after(verb, fields) {
  return async (api) => {
    const id = await awaiting(api);
    const { status, text } = await api.report(id, verb, fields);
    assert.equal(status, 200, text);
    return id;
  };
}

const states = {
  async 'was never delivered'(api) {
    await api.pause('q');
    return (await api.publish('q', {})).id;
  },
  'awaits its ack': awaiting,
  'waits for a retry after a nack': after('nack', {}),
  'waits for a retry after a 500': (api) => (
    publishUntil(api, { answer: 500 }, 'failed', ({ attempts }) => attempts === 1)),
  'waits for the end of a defer': after('defer', { retryAfter: 600, scope: 'job' }),
  'is completed': after('ack', {}),
  'is dead by a nack': after('nack', { retryable: false }),
  async 'is dead by a 500'(api) {
    await api.ask('PATCH', '/v1/queues/q', { maxAttempts: 1 });
    return publishUntil(api, { answer: 500 }, 'dead', ({ status }) => status === 'dead');
  },
};

// -- what is answered, and what becomes of the job and the gate ---------------

const same = { job: 'same', gate: 'open' };
const holds = { status: 200, job: 'same', gate: 'held' };
const refused = (code) => ({ status: 409, code, ...same });
const nothing = { status: 200, ...same };
const ends = (status) => ({ status: 200, job: status, gate: 'open' });

const expected = {
  'was never delivered': {
    ack: refused('not_awaiting_outcome'), nack: refused('not_awaiting_outcome'), defer: holds, touch: refused('not_awaiting_outcome'),
  },
  'awaits its ack': {
    ack: ends('completed'), nack: ends('processing'), defer: { status: 200, job: 'processing', gate: 'held' }, touch: nothing,
  },
  'waits for a retry after a nack': {
    ack: ends('completed'), nack: nothing, defer: holds, touch: refused('not_awaiting_outcome'),
  },
  'waits for a retry after a 500': {
    ack: ends('completed'), nack: refused('not_awaiting_outcome'), defer: holds, touch: refused('not_awaiting_outcome'),
  },
  'waits for the end of a defer': {
    ack: ends('completed'), nack: refused('not_awaiting_outcome'), touch: refused('not_awaiting_outcome'),
  },
  'is completed': {
    ack: nothing, nack: refused('job_completed'), defer: holds, touch: refused('job_completed'),
  },
  'is dead by a nack': {
    ack: refused('job_dead'), nack: nothing, defer: holds, touch: refused('job_dead'),
  },
  'is dead by a 500': {
    ack: refused('job_dead'), nack: refused('job_dead'), defer: holds, touch: refused('job_dead'),
  },
};

const fieldsOf = {
  ack: undefined,
  nack: (state) => (state === 'is dead by a nack' ? { retryable: false } : {}),
  defer: () => ({ retryAfter: 300, reason: 'busy' }),
  touch: () => ({ extend: 60 }),
};

const counted = ({ status, attempts, deferCount, deliveries, history }) => (
  { status, attempts, deferCount, deliveries, history });

for (const [state, make] of Object.entries(states))
  for (const [verb, wanted] of Object.entries(expected[state]))
    test(`${verb} of a job that ${state}: ${wanted.status}${wanted.job === 'same' ? '' : `, ${wanted.job}`}`, { timeout }, async (t) => {
      const { receiver, server, api } = await start(t);
      const id = await make(api);
      const before = counted(await api.job(id));
      const delivered = receiver.arrivals.length;
      for (const restarted of [false, true]) {
        if (restarted) // the answer stands, and is given again
          await server.killAndStart();
        const answer = await api.report(id, verb, fieldsOf[verb]?.(state));
        assert.equal(answer.status, wanted.status, `${restarted ? 'after a kill: ' : ''}${answer.text}`);
        if (wanted.code)
          assert.equal(answer.json.code, wanted.code);
        const job = await api.job(id);
        if (wanted.job === 'same')
          assert.deepEqual(counted(job), before);
        else
          assert.equal(job.status, wanted.job);
        checkOneRowEach(job);
        assert.equal((await api.queue('q')).gate.state, wanted.gate);
      }
      assert.equal(receiver.arrivals.length, delivered);
    });

/** No outcome is told twice in the history, however often it was reported. */
function checkOneRowEach({ history }) {
  const rows = history.map(({ delivery, status }) => `${delivery} ${status}`);
  assert.equal(new Set(rows).size, rows.length, JSON.stringify(history));
}

// -- what is wrong with a call ------------------------------------------------

const wrong = [
  ['defer', {}, 'retryAfter'], ['defer', { retryAfter: -1 }, 'retryAfter'], ['defer', { retryAfter: 'soon' }, 'retryAfter'],
  ['defer', { retryAfter: 1, scope: 'all' }, 'scope'], ['nack', { retryable: 'no' }, 'retryable'],
  ['nack', { reason: 'x'.repeat(501) }, 'reason'], ['ack', { delivery: 0 }, 'delivery'], ['ack', { deliver: 1 }, 'deliver'],
  ['touch', {}, 'extend'], ['touch', { extend: 0 }, 'extend'], ['touch', { extend: 604_801 }, 'extend'],
];

test('what is wrong with a call is named, and it changes nothing', { timeout }, async (t) => {
  const { api } = await start(t);
  const id = await awaiting(api);
  const before = await api.job(id);
  for (const [verb, body, field] of wrong) {
    const { status, text, json } = await api.report(id, verb, body);
    assert.equal(status, 400, `${verb} ${JSON.stringify(body)}: ${text}`);
    assert.deepEqual(Object.keys(json.error.fieldErrors), [field]);
  }
  assert.equal((await api.report('no-such-job', 'ack', {})).status, 404);
  assert.deepEqual(await api.job(id), before);
  const { status } = await api.report(id, 'nack', { reason: 'ä'.repeat(500) });
  assert.equal(status, 200);
});

// -- budgets ------------------------------------------------------------------

test('the defer after the last that is allowed makes a job dead, and holds the queue', { timeout }, async (t) => {
  const { receiver, api } = await start(t, { maxDefers: 2 });
  const worker = ackWorker(api, ({ delivery }) => ['defer', { retryAfter: delivery < 3 ? 0.05 : 300 }]);
  receiver.answer = worker.answer;
  const { id } = await api.publish('q', 1);
  const job = await api.jobWithStatus(id, 'dead');
  assert.deepEqual([job.deadReason, job.deferCount, job.attempts, job.deliveries], ['defer_cap_exhausted', 3, 0, 3]);
  assert.equal((await api.queue('q')).gate.state, 'held');
  checkHistory(job);
  await worker.settled();
  await checkAllEnded(api, 'q', [id]);
});

test('a defer past the lifetime makes a job dead, holds the queue, and is answered 200', { timeout }, async (t) => {
  const { api } = await start(t, { lifetime: 60 });
  const id = await awaiting(api);
  const { status } = await api.report(id, 'defer', { retryAfter: 3600 });
  assert.equal(status, 200);
  const job = await api.jobWithStatus(id, 'dead');
  assert.deepEqual([job.deadReason, job.deferCount], ['retry_after_exceeds_lifetime', 1]);
  const { gate } = await api.queue('q');
  assert.equal(gate.state, 'held');
  assert.ok(Date.parse(gate.releaseAt) > Date.now() + 3_500_000);
  await checkAllEnded(api, 'q', [id]);
});

test('nacks spend the attempts, and the last one makes a job dead', { timeout }, async (t) => {
  const { receiver, api } = await start(t, { maxAttempts: 3, backoff: { type: 'fixed', delay: 0.05 } });
  const worker = ackWorker(api, ({ delivery }) => ['nack', { reason: `no. ${delivery} \u0000 ä` }]);
  receiver.answer = worker.answer;
  const { id } = await api.publish('q', 1);
  const job = await api.jobWithStatus(id, 'dead');
  assert.deepEqual([job.deadReason, job.attempts, job.deliveries], ['attempts_exhausted', 3, 3]);
  assert.deepEqual(job.history.map(({ error }) => error.replace(/[^a-zä0-9. ]/g, '')), ['no. 1  ä', 'no. 2  ä', 'no. 3  ä']);
  checkHistory(job);
  await worker.settled();
  await checkAllEnded(api, 'q', [id]);
});

// -- the probe ----------------------------------------------------------------

/** Starts a queue whose probe is out and awaits its ack, and three behind it. */
async function startProbing(t, more) {
  const { receiver, server, api } = await start(t, more);
  await api.ask('POST', '/v1/queues/q/hold', { retryAfter: 0.05 });
  const ids = await api.publishMany('q', 4);
  await api.gateOnce('q', 'probing');
  const queue = await api.queue('q');
  const probe = await api.jobOnce(receiver.arrivals[0]?.id ?? ids[0], 'is the probe', isAwaiting).catch(() => undefined);
  assert.ok(probe, JSON.stringify(queue));
  return { receiver, server, api, ids, probe: probe.id };
}

test('a probe that is nacked for good opens the queue: the downstream works', { timeout }, async (t) => {
  const { receiver, api, probe, ids } = await startProbing(t);
  const worker = ackWorker(api, () => ['ack']);
  receiver.answer = worker.answer;
  await api.report(probe, 'nack', { retryable: false });
  await api.drained('q', 10);
  await worker.settled();
  const { gate } = await api.queue('q');
  assert.equal(gate.state, 'open');
  const jobs = await checkAllEnded(api, 'q', ids);
  assert.equal(jobs.filter(({ status }) => status === 'completed').length, 3);
});

test('a probe that is nacked without a verdict holds the queue again, and another is the next', { timeout }, async (t) => {
  const { receiver, api, probe } = await startProbing(t);
  const before = Date.now();
  await api.report(probe, 'nack', { reason: 'I cannot tell' });
  const after = Date.now();
  const held = await api.queue('q');
  assert.equal(held.gate.state, 'held');
  assert.equal(held.gate.failedProbes, 1);
  const release = Date.parse(held.gate.releaseAt);
  assert.ok(release > before + 500 && release <= after + 1000, `${release - before} ms`);
  await api.gateOnce('q', 'probing');
  await until('the next probe has arrived', 10, () => receiver.arrivals.length > 1);
  await api.jobOnce(receiver.arrivals[1].id, 'is the next probe', isAwaiting);
  assert.notEqual(receiver.arrivals[1].id, probe);
  assert.equal(receiver.arrivals.length, 2);
});

test('a probe whose ack does not come holds the queue again', { timeout }, async (t) => {
  const { receiver, api, probe } = await startProbing(t, { ackTimeout: 1 });
  const held = await api.gateOnce('q', 'held');
  assert.equal(held.gate.failedProbes, 1);
  const job = await api.job(probe);
  assert.deepEqual(job.history.map(({ status, errorCode }) => [status, errorCode]), [['failed', 'ack_timeout']]);
  assert.equal(receiver.arrivals.length, 1);
});

test('a late ack of an earlier probe does not move the gate', { timeout }, async (t) => {
  const { receiver, api, probe } = await startProbing(t);
  await api.report(probe, 'nack');
  await api.gateOnce('q', 'probing');
  await until('the next probe has arrived', 10, () => receiver.arrivals.length > 1);
  await api.jobOnce(receiver.arrivals[1].id, 'is the next probe', isAwaiting);
  const { status } = await api.report(probe, 'ack', { delivery: 1 });
  assert.equal(status, 200);
  assert.equal((await api.job(probe)).status, 'completed');
  assert.equal((await api.queue('q')).gate.state, 'probing');
  assert.equal(receiver.arrivals.length, 2);
});
