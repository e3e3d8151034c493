// Calls of workers whose answers get lost, so that they are made again: what was
// told counts once.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startProxy } from '../../examples/tidegate.mjs';
import { Api } from './support/api.mjs';
import { ackWorker } from './support/callbacks.mjs';
import { checkAllEnded, checkHistory } from './support/conservation.mjs';
import { randomFrom } from './support/random.mjs';
import { startReceiver } from './support/receiver.mjs';
import { startServer } from './support/server.mjs';
import { patience } from './support/time.mjs';

const timeout = 120_000 * patience;
const jobs = 200;

/**
 * Seconds until a job comes again. A call without the delivery's number can be told
 * from one about the next delivery only as long as that has not begun.
 */
const pause = 4;

/** What is told of the deliveries of a job, one after the other. */
const plans = [
  ['ack'],
  ['nack', 'ack'],
  ['defer', 'ack'],
  ['defer', 'nack', 'defer', 'ack'],
  ['refuse'],
];

const calls = {
  ack: ['ack', {}],
  nack: ['nack', { reason: 'once more' }],
  refuse: ['nack', { retryable: false }],
  defer: ['defer', { retryAfter: pause, scope: 'job' }],
};

const planOf = ({ n }) => plans[n % plans.length];
const count = (plan, ...verbs) => plan.filter((verb) => verbs.includes(verb)).length;

/** Starts a proxy that loses the answer to every second call or so. */
async function startLossyApi(t, server, random) {
  const lost = { count: 0 };
  const proxy = await startProxy(() => server.api.url, () => {
    const loses = random() < 0.5;
    lost.count += loses;
    return loses;
  });
  const api = new Api(server.key, 32);
  api.url = proxy.url;
  t.after(() => {
    api.close();
    return proxy.close();
  });
  return { api, lost };
}

/** Runs all jobs through a worker whose calls lose their answers. */
async function run(t, options, meanwhile = () => {}) {
  const server = await startServer(t);
  const { api, lost } = await startLossyApi(t, server, randomFrom(t));
  const worker = ackWorker(api, ({ payload, delivery }) => calls[planOf(payload)[delivery - 1] ?? 'ack'], options);
  const receiver = await startReceiver(t, worker.answer);
  await server.api.createQueue('q', {
    webhookUrl: receiver.url,
    mode: 'ack',
    concurrency: 16,
    backoff: { type: 'fixed', delay: pause },
  });
  const ids = await server.api.publishBulk('q', jobs);
  await meanwhile(server);
  await server.api.drained('q', 60);
  await worker.settled();
  await checkAllEnded(server.api, 'q', ids);
  t.diagnostic(`${worker.reports.length} calls were answered in the end, ${lost.count} answers got lost`);
  assert.ok(lost.count > jobs / 2, `only ${lost.count} answers got lost`);
  const all = await server.api.jobs(ids);
  all.forEach(checkHistory);
  return { all, worker };
}

for (const fenced of [false, true])
  test(`what was told and told again counts once${fenced ? ', with the delivery\'s number' : ''}`, { timeout }, async (t) => {
    const { all, worker } = await run(t, { fenced });
    for (const { payload, status, attempts, deferCount, deliveries, history } of all) {
      const plan = planOf(payload);
      assert.deepEqual({ status, attempts, deferCount, deliveries }, {
        status: plan.includes('refuse') ? 'dead' : 'completed',
        attempts: count(plan, 'ack', 'nack', 'refuse'),
        deferCount: count(plan, 'defer'),
        deliveries: plan.length,
      }, JSON.stringify(history));
    }
    const refused = worker.reports.filter(({ answer }) => answer.status !== 200);
    assert.deepEqual(refused.map(({ verb, answer }) => [verb, answer.text]), []);
  });

test('the same with the server killed among them', { timeout }, async (t) => {
  const { all } = await run(t, { fenced: true }, async (server) => {
    for (let n = 0; n < 5; ++n) {
      await new Promise((done) => { setTimeout(done, 400); });
      await server.killAndStart();
    }
  });
  for (const { payload, status, attempts, history } of all) {
    // A delivery that was cut off may have used up a line of the plan.
    assert.ok(attempts <= count(planOf(payload), 'ack', 'nack', 'refuse'), JSON.stringify(history));
    assert.ok(['completed', 'dead'].includes(status));
    assert.equal(history.filter((row) => row.status === 'success').length, status === 'completed' ? 1 : 0);
  }
});
