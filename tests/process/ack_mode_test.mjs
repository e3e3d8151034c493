// Ack mode: the webhook takes the job, and what became of it is told later, or
// earlier. Each outcome counts once, whenever the server dies.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { ackWorker, reportUntilAnswered } from './support/callbacks.mjs';
import { checkAllEnded, checkHistory } from './support/conservation.mjs';
import { randomFrom } from './support/random.mjs';
import { startReceiver } from './support/receiver.mjs';
import { startServer } from './support/server.mjs';
import { patience, until } from './support/time.mjs';

const timeout = 60_000 * patience;

async function start(t, answer, settings = {}) {
  const receiver = await startReceiver(t, answer);
  const server = await startServer(t);
  await server.api.createQueue('q', { webhookUrl: receiver.url, mode: 'ack', ...settings });
  return { receiver, server, api: server.api };
}

/** Tells an outcome that has to be taken. */
async function told(api, id, verb, fields) {
  const { status, text, json } = await api.report(id, verb, fields);
  assert.equal(status, 200, `${verb}: ${text}`);
  assert.deepEqual(json, { id, accepted: true });
}

async function refused(api, id, verb, fields, code) {
  const { status, text, json } = await api.report(id, verb, fields);
  assert.equal(status, 409, `${verb}: ${text}`);
  assert.equal(json.code, code);
}

async function checkJobs(api, ids) {
  await checkAllEnded(api, 'q', ids);
  const jobs = await api.jobs(ids);
  jobs.forEach(checkHistory);
  return jobs;
}

// -- a thousand ---------------------------------------------------------------

/** What becomes of a job in the end, and what it takes. */
const plans = [
  { outcomes: ['ack'], attempts: 1, defers: 0, status: 'completed' },
  { outcomes: ['ack'], attempts: 1, defers: 0, status: 'completed' },
  { outcomes: ['nack', 'ack'], attempts: 2, defers: 0, status: 'completed' },
  { outcomes: ['defer', 'ack'], attempts: 1, defers: 1, status: 'completed' },
  { outcomes: ['defer', 'nack', 'ack'], attempts: 2, defers: 1, status: 'completed' },
  { outcomes: ['refuse'], attempts: 1, defers: 0, status: 'dead' },
];

const calls = {
  ack: ['ack', {}],
  nack: ['nack', { reason: 'once more' }],
  refuse: ['nack', { retryable: false, reason: 'never' }],
  defer: ['defer', { retryAfter: 0.2, scope: 'job' }],
};

const planOf = ({ n }) => plans[n % plans.length];

/**
 * Tells the outcome of each delivery before, during or after the response, and
 * tells it again as often as chance will have it.
 */
function tellAtRandom(api, random) {
  const open = new Set();
  const tell = async ({ id, payload, delivery }) => {
    const [verb, fields] = calls[planOf(payload).outcomes[delivery - 1]];
    const times = 1 + Math.floor(random() * 3);
    for (let n = 0; n < times; ++n) {
      const fence = verb !== 'ack' || random() < 0.5 ? { delivery } : {};
      await told(api, id, verb, { ...fields, ...fence });
    }
  };
  const later = (arrival) => {
    const telling = tell(arrival).finally(() => open.delete(telling));
    open.add(telling);
    return telling;
  };
  const moments = [
    async (arrival) => {
      await later(arrival);
      return { status: random() < 0.5 ? 200 : 500 };
    },
    async (arrival) => {
      arrival.response.writeHead(200);
      arrival.response.write('half');
      await later(arrival);
      arrival.response.end();
    },
    (arrival) => {
      arrival.response.once('finish', () => later(arrival));
      return { status: 202 };
    },
  ];
  const answer = (arrival) => moments[Math.floor(random() * moments.length)](arrival);
  const settled = async () => {
    while (open.size > 0)
      await Promise.all(open);
  };
  return { answer, settled };
}

test('1,000 jobs told of before, during and after the response, and repeatedly, count once', { timeout: 120_000 * patience }, async (t) => {
  const settings = { concurrency: 32, backoff: { type: 'fixed', delay: 0.2 } };
  const { receiver, api } = await start(t, undefined, settings);
  const teller = tellAtRandom(api, randomFrom(t));
  receiver.answer = teller.answer;
  const ids = await api.publishBulk('q', 1000);
  await api.drained('q', 60);
  await teller.settled();
  for (const { payload, status, attempts, deferCount, deliveries, history } of await checkJobs(api, ids)) {
    const plan = planOf(payload);
    assert.deepEqual({ status, attempts, deferCount, deliveries },
      { status: plan.status, attempts: plan.attempts, deferCount: plan.defers, deliveries: plan.outcomes.length },
      JSON.stringify(history));
  }
  const { gate } = await api.queue('q');
  assert.equal(gate.state, 'open');
});

// -- what a call means, by what the job is doing ------------------------------

test('a job awaits its ack, holds a slot meanwhile, and is done by the ack', { timeout }, async (t) => {
  const { receiver, api } = await start(t, undefined, { concurrency: 1 });
  const { id: first } = await api.publish('q', 1);
  const { id: second } = await api.publish('q', 2);
  await api.jobWithStatus(first, 'awaiting_ack');
  const { counts } = await api.queue('q');
  assert.deepEqual([counts.awaitingAck, counts.pending, counts.completed], [1, 1, 0]);
  const waiting = await api.job(second);
  assert.deepEqual(waiting.blockedBy.map(({ gate }) => gate), ['concurrency']);
  await told(api, first, 'ack');
  await api.jobWithStatus(second, 'awaiting_ack');
  assert.equal(receiver.arrivals.length, 2);
  await told(api, second, 'ack', {});
  await told(api, second, 'ack', {});
  await refused(api, second, 'nack', {}, 'job_completed');
  await checkJobs(api, [first, second]);
});

test('calls about an earlier delivery are refused, and change nothing', { timeout }, async (t) => {
  const answers = [{ status: 500 }, { status: 200 }];
  const { api } = await start(t, ({ delivery }) => answers[delivery - 1], { backoff: { type: 'fixed', delay: 0.05 } });
  const { id } = await api.publish('q', 1);
  const before = await api.jobWithStatus(id, 'awaiting_ack');
  await refused(api, id, 'nack', { delivery: 1, retryable: false, reason: 'other' }, 'stale_delivery');
  await refused(api, id, 'touch', { delivery: 1, extend: 5 }, 'stale_delivery');
  await refused(api, id, 'ack', { delivery: 1 }, 'stale_delivery');
  assert.deepEqual(await api.job(id), before);
  await told(api, id, 'ack', { delivery: 2 });
  const [job] = await checkJobs(api, [id]);
  assert.deepEqual([job.attempts, job.deliveries], [2, 2]);
});

test('a repeat that comes when the next delivery is out changes nothing', { timeout }, async (t) => {
  const { api } = await start(t, undefined, { backoff: { type: 'fixed', delay: 0.05 } });
  const { id } = await api.publish('q', 1);
  await api.jobWithStatus(id, 'awaiting_ack');
  await told(api, id, 'nack', { delivery: 1, reason: 'first' });
  const before = await api.jobOnce(id, 'out again', ({ status, deliveries }) => status === 'awaiting_ack' && deliveries === 2);
  await told(api, id, 'nack', { delivery: 1, reason: 'first' });
  assert.deepEqual(await api.job(id), before);
  await told(api, id, 'ack', { delivery: 2 });
  const [job] = await checkJobs(api, [id]);
  assert.deepEqual(job.history.map(({ status, error }) => [status, error]), [['nacked', 'first'], ['success', null]]);
});

test('a late ack completes a job that waits for its retry', { timeout }, async (t) => {
  const { receiver, api } = await start(t, undefined, { backoff: { type: 'fixed', delay: 3600 } });
  const { id } = await api.publish('q', 1);
  await api.jobWithStatus(id, 'awaiting_ack');
  await told(api, id, 'nack');
  await told(api, id, 'ack', { delivery: 1 });
  await checkAllEnded(api, 'q', [id]);
  const { status, attempts, deliveries } = await api.job(id);
  assert.deepEqual([status, attempts, deliveries, receiver.arrivals.length], ['completed', 1, 1, 1]);
});

test('a call that says "not now" holds the queue, and only the ack of its probe opens it', { timeout }, async (t) => {
  const { receiver, api } = await start(t, undefined, { concurrency: 4 });
  const ids = await api.publishMany('q', 8);
  await until('four are out', 10, async () => (await api.queue('q')).counts.awaitingAck === 4);
  await told(api, receiver.arrivals[0].id, 'defer', { retryAfter: '1s', reason: 'busy' });
  const { gate } = await api.queue('q');
  assert.equal(gate.state, 'held');
  for (const { id } of receiver.arrivals.slice(1))
    await told(api, id, 'ack');
  assert.equal((await api.queue('q')).gate.state, 'held');
  await until('the probe', 10, () => receiver.arrivals.length === 5);
  const probe = receiver.arrivals[4];
  assert.ok(probe.at >= Date.parse(gate.releaseAt), 'the probe came too early');
  await api.jobWithStatus(probe.id, 'awaiting_ack');
  await sleep(300);
  assert.equal((await api.queue('q')).gate.state, 'probing');
  assert.equal(receiver.arrivals.length, 5);
  const worker = ackWorker(api, () => ['ack']);
  receiver.answer = worker.answer;
  await told(api, probe.id, 'ack');
  await api.drained('q', 10);
  await worker.settled();
  const jobs = await checkJobs(api, ids);
  assert.equal(jobs.reduce((sum, { deferCount }) => sum + deferCount, 0), 1);
  assert.ok(jobs.every(({ attempts, status }) => attempts === 1 && status === 'completed'));
});

test('a fenced repeat of a defer does not lengthen the hold, and a later one does', { timeout }, async (t) => {
  const { api } = await start(t);
  const [id, other] = await api.publishMany('q', 2);
  await api.jobWithStatus(id, 'awaiting_ack');
  await api.jobWithStatus(other, 'awaiting_ack');
  await told(api, id, 'defer', { retryAfter: 30, delivery: 1 });
  const before = await api.queue('q');
  await sleep(50);
  await told(api, id, 'defer', { retryAfter: 30, delivery: 1 });
  assert.deepEqual((await api.queue('q')).gate, before.gate);
  await told(api, other, 'defer', { retryAfter: 10, delivery: 1 });
  assert.equal((await api.queue('q')).gate.releaseAt, before.gate.releaseAt);
  const counted = await api.jobs([id, other]);
  assert.deepEqual(counted.map(({ deferCount, attempts }) => [deferCount, attempts]), [[1, 0], [1, 0]]);
});

test('no call is taken on a queue in standard mode', { timeout }, async (t) => {
  const { api } = await start(t, undefined, { mode: 'standard' });
  const { id } = await api.publish('q', 1);
  await api.jobWithStatus(id, 'completed');
  for (const [verb, fields] of [['ack'], ['nack', {}], ['defer', { retryAfter: 1 }], ['touch', { extend: 1 }]])
    await refused(api, id, verb, fields, 'not_ack_mode');
  await checkJobs(api, [id]);
});

test('a limit that was lowered counts the jobs that await their ack', { timeout }, async (t) => {
  const { receiver, api } = await start(t, undefined, { concurrency: 10 });
  const ids = await api.publishMany('q', 12);
  await until('ten await', 10, async () => (await api.queue('q')).counts.awaitingAck === 10);
  await api.ask('PATCH', '/v1/queues/q', { concurrency: 3 });
  const out = receiver.arrivals.map(({ id }) => id);
  for (const id of out.slice(0, 7))
    await told(api, id, 'ack');
  await sleep(200);
  assert.equal(receiver.arrivals.length, 10);
  const worker = ackWorker(api, () => ['ack']);
  receiver.answer = worker.answer;
  for (const id of out.slice(7))
    await told(api, id, 'ack');
  await api.drained('q', 10);
  await worker.settled();
  await checkJobs(api, ids);
});

test('touch puts the end of the wait for an ack off', { timeout }, async (t) => {
  const { receiver, api } = await start(t, undefined, { ackTimeout: 1, ackTimeoutAction: 'dead' });
  const [touched, left] = await api.publishMany('q', 2);
  await api.jobWithStatus(touched, 'awaiting_ack');
  await told(api, touched, 'touch', { extend: 30, delivery: 1 });
  const job = await api.jobWithStatus(left, 'dead', 10);
  assert.equal(job.deadReason, 'ack_timeout');
  assert.equal((await api.job(touched)).status, 'awaiting_ack');
  await told(api, touched, 'ack');
  assert.equal(receiver.arrivals.length, 2);
  await checkJobs(api, [touched, left]);
});

test('jobs that await their ack do not keep a server from ending, and calls are answered meanwhile', { timeout }, async (t) => {
  let release;
  const released = new Promise((done) => { release = done; });
  const { receiver, server, api } = await start(t, ({ payload }) => (
    payload.n === 2 ? released.then(() => ({ status: 200 })) : { status: 200 }));
  const ids = await api.publishMany('q', 3);
  await until('two await, one is out', 10, async () => (
    (await api.queue('q')).counts.awaitingAck === 2 && receiver.arrivals.length === 3));
  server.signal('SIGTERM');
  await until('readyz 503', 5, async () => (await api.send('GET', '/readyz', undefined, {})).status === 503);
  await told(api, ids[0], 'ack');
  release();
  assert.deepEqual(await server.exited, { code: 0, signal: null });
  await server.start();
  const states = (await api.jobs(ids)).map(({ status }) => status);
  assert.deepEqual(states, ['completed', 'awaiting_ack', 'awaiting_ack']);
  assert.equal(receiver.arrivals.length, 3);
  await told(api, ids[1], 'ack', { delivery: 1 });
  await told(api, ids[2], 'ack', { delivery: 1 });
  await checkJobs(api, ids);
});

// -- kill -9 ------------------------------------------------------------------

test('jobs that a kill finds awaiting their ack await it still, and hold their slots', { timeout }, async (t) => {
  const { receiver, server, api } = await start(t, undefined, { concurrency: 20 });
  const ids = await api.publishMany('q', 30);
  await until('twenty await', 10, async () => (await api.queue('q')).counts.awaitingAck === 20);
  const awaiting = receiver.arrivals.map(({ id }) => id);
  const before = await api.jobs(awaiting);
  await server.killAndStart();
  const { counts } = await api.queue('q');
  assert.deepEqual([counts.awaitingAck, counts.pending], [20, 10]);
  assert.deepEqual(await api.jobs(awaiting), before);
  await sleep(300);
  assert.equal(receiver.arrivals.length, 20);
  const worker = ackWorker(api, () => ['ack']);
  receiver.answer = worker.answer;
  for (const id of awaiting)
    await told(api, id, 'ack');
  await api.drained('q', 20);
  await worker.settled();
  for (const { attempts, deliveries } of await checkJobs(api, ids))
    assert.deepEqual([attempts, deliveries], [1, 1]);
});

test('a delivery that a kill cuts off is made again under another number', { timeout }, async (t) => {
  const { receiver, server, api } = await start(t, () => undefined);
  const { id } = await api.publish('q', 1);
  await until('it arrived', 10, () => receiver.arrivals.length === 1);
  await server.kill();
  receiver.answer = () => ({ status: 200 });
  await server.start();
  await api.jobWithStatus(id, 'awaiting_ack');
  assert.deepEqual(receiver.arrivals.map(({ delivery, attempt }) => [delivery, attempt]), [[1, 1], [2, 1]]);
  await refused(api, id, 'nack', { delivery: 1 }, 'stale_delivery');
  await told(api, id, 'ack', { delivery: 2 });
  const [job] = await checkJobs(api, [id]);
  assert.deepEqual(job.history.map(({ delivery, status }) => [delivery, status]), [[1, 'interrupted'], [2, 'success']]);
  assert.deepEqual([job.attempts, job.deliveries], [1, 2]);
});

test('a queue that a call held is held until the same moment after a kill', { timeout }, async (t) => {
  const { receiver, server, api } = await start(t, undefined, { concurrency: 2 });
  const ids = await api.publishMany('q', 6);
  await until('two are out', 10, async () => (await api.queue('q')).counts.awaitingAck === 2);
  const [first, second] = receiver.arrivals.map(({ id }) => id);
  await told(api, first, 'defer', { retryAfter: 2 });
  const before = await api.queue('q');
  await server.killAndStart();
  const after = await api.queue('q');
  assert.deepEqual(after.gate, before.gate);
  assert.deepEqual(after.counts, before.counts);
  const worker = ackWorker(api, () => ['ack']);
  receiver.answer = worker.answer;
  await told(api, second, 'ack');
  await api.drained('q', 20);
  await worker.settled();
  assert.ok(receiver.arrivals[2].at >= Date.parse(before.gate.releaseAt), 'the probe came too early');
  for (const { attempts } of await checkJobs(api, ids))
    assert.equal(attempts, 1);
});

test('a probe that a kill finds awaiting its ack opens the queue by it, and at most one more goes out', { timeout }, async (t) => {
  const { receiver, server, api } = await start(t, undefined, { concurrency: 4 });
  const ids = await api.publishMany('q', 8);
  await until('four are out', 10, async () => (await api.queue('q')).counts.awaitingAck === 4);
  await told(api, receiver.arrivals[0].id, 'defer', { retryAfter: 0.5 });
  for (const { id } of receiver.arrivals.slice(1))
    await told(api, id, 'ack');
  await until('the probe', 10, () => receiver.arrivals.length === 5);
  await api.jobWithStatus(receiver.arrivals[4].id, 'awaiting_ack');
  await server.killAndStart();
  await sleep(1000);
  const { gate } = await api.queue('q');
  assert.notEqual(gate.state, 'open');
  const probes = receiver.arrivals.slice(4);
  assert.ok(probes.length <= 2, `${probes.length - 1} more were sent`);
  const worker = ackWorker(api, () => ['ack']);
  receiver.answer = worker.answer;
  for (const { id } of probes)
    await reportUntilAnswered(api, id, 'ack');
  await api.drained('q', 20);
  await worker.settled();
  assert.equal((await api.queue('q')).gate.state, 'open');
  for (const { attempts, status } of await checkJobs(api, ids))
    assert.deepEqual([attempts, status], [1, 'completed']);
});

test('an ack timeout that ends while the server is down is a failure, and is retried', { timeout }, async (t) => {
  const settings = { ackTimeout: 1, backoff: { type: 'fixed', delay: 0.05 } };
  const { receiver, server, api } = await start(t, undefined, settings);
  const ids = await api.publishMany('q', 5);
  await until('all await', 10, async () => (await api.queue('q')).counts.awaitingAck === 5);
  await server.kill();
  await sleep(1200);
  const worker = ackWorker(api, () => ['ack']);
  receiver.answer = worker.answer;
  await server.start();
  await api.drained('q', 10);
  await worker.settled();
  for (const { attempts, deliveries, history } of await checkJobs(api, ids)) {
    assert.deepEqual([attempts, deliveries], [2, 2]);
    assert.deepEqual(history.map(({ status, errorCode }) => [status, errorCode]),
      [['failed', 'ack_timeout'], ['success', null]]);
  }
});

test('ackTimeoutAction dead gives up at the same moment in spite of a kill', { timeout }, async (t) => {
  const { receiver, server, api } = await start(t, undefined, { ackTimeout: 2, ackTimeoutAction: 'dead' });
  const ids = await api.publishMany('q', 5);
  await until('all await', 10, async () => (await api.queue('q')).counts.awaitingAck === 5);
  await server.killAndStart();
  assert.equal((await api.queue('q')).counts.awaitingAck, 5);
  await api.drained('q', 10);
  const answered = new Map(receiver.arrivals.map(({ id, ended }) => [id, ended]));
  for (const { id, attempts, deliveries, deadReason, deadAt } of await checkJobs(api, ids)) {
    assert.deepEqual([attempts, deliveries, deadReason], [1, 1, 'ack_timeout']);
    assert.ok(Date.parse(deadAt) - answered.get(id) >= 1900, `${Date.parse(deadAt) - answered.get(id)} ms`);
  }
  await refused(api, ids[0], 'ack', {}, 'job_dead');
});

test('ten kills among calls lose no outcome, and count none twice', { timeout: 120_000 * patience }, async (t) => {
  const random = randomFrom(t);
  const settings = { concurrency: 16, maxAttempts: 100, backoff: { type: 'fixed', delay: 0.02 } };
  const { receiver, server, api } = await start(t, undefined, settings);
  const lots = [['nack', { reason: 'again' }], ['defer', { retryAfter: 0.02, scope: 'job' }], ['ack'], ['ack']];
  const worker = ackWorker(api, () => lots[Math.floor(random() * lots.length)], { fenced: true });
  receiver.answer = worker.answer;
  const ids = await api.publishBulk('q', 2000);
  for (let n = 0; n < 10; ++n) {
    await sleep(100 + random() * 300);
    await server.killAndStart();
  }
  await api.drained('q', 60);
  await worker.settled();
  const jobs = await checkJobs(api, ids);
  const rows = jobs.flatMap(({ id, history }) => history.map((row) => ({ id, ...row })));
  const interrupted = rows.filter(({ status }) => status === 'interrupted');
  const taken = worker.reports.filter(({ answer }) => answer.status === 200);
  t.diagnostic(`${worker.reports.length} calls, ${taken.length} taken, ${interrupted.length} deliveries interrupted`);
  assert.ok(jobs.every(({ status }) => status === 'completed'));
  const statusOf = { ack: 'success', nack: 'nacked', defer: 'deferred' };
  const outcomes = new Map(rows.filter(({ status }) => status !== 'interrupted')
    .map(({ id, delivery, status }) => [`${id} ${delivery}`, status]));
  const cut = new Set(interrupted.map(({ id, delivery }) => `${id} ${delivery}`));
  for (const { id, delivery, verb } of taken) {
    // An ack of what was done anyway, and a "not now", are taken of any delivery.
    if (verb === 'nack' || !cut.has(`${id} ${delivery}`))
      assert.equal(outcomes.get(`${id} ${delivery}`), statusOf[verb], `${id} ${delivery}`);
  }
  const said = new Set(worker.reports.map(({ id, delivery, verb }) => `${id} ${delivery} ${statusOf[verb]}`));
  for (const [which, status] of outcomes)
    assert.ok(said.has(`${which} ${status}`), `nobody told ${which} ${status}`);
});
