// Publishers, workers and operators of push queues who do everything that can be
// done, at random and at once, and what has to be so when they have stopped.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

import { reportUntilAnswered } from './callbacks.mjs';
import { checkAllEnded, checkHistory } from './conservation.mjs';
import { slowly } from './receiver.mjs';
import { until } from './time.mjs';

const concurrency = 12;

const settings = {
  concurrency,
  keyConcurrency: 8,
  maxAttempts: 2,
  maxDefers: 20,
  backoff: { type: 'fixed', delay: 0.05, jitter: 0.5 },
};

/** The queues that these people use, and in what they differ. */
const queues = {
  plain: {},
  keyed: { backpressureScope: 'key' },
  acked: { mode: 'ack', ackTimeout: 1 },
  ramped: { recovery: { mode: 'ramp', start: 1, factor: 2 }, permanentFailureStatuses: [404] },
};

/** Draws from a list. */
const oneOf = (random, list) => list[Math.floor(random() * list.length)];

export async function createQueues(api, webhookUrl) {
  for (const [name, more] of Object.entries(queues))
    await api.createQueue(name, { webhookUrl, ...settings, ...more });
}

export async function removeQueues(api) {
  for (const name of Object.keys(queues))
    await api.ask('DELETE', `/v1/queues/${name}?force=true`);
}

/** A downstream in all sorts of trouble, until it is `mended`. */
export class Downstream {
  constructor(api, random) {
    this.api = api;
    this.random = random;
    this.mended = false;
    this.open = new Set();
    this.answer = this.answer.bind(this);
  }

  async answer(arrival) {
    if (arrival.queue === 'acked')
      arrival.response.once('finish', () => this.tellLater(arrival));
    if (this.mended)
      return { status: 200 };
    await sleep(this.random() * 20);
    const lot = this.random();
    if (lot < 0.01)
      return void arrival.request.socket.destroy();
    if (lot < 0.04)
      return { status: 429, headers: { 'retry-after': '0.05' } };
    return { status: lot < 0.15 ? 500 : lot < 0.2 ? 404 : 200 };
  }

  tellLater(arrival) {
    const told = this.tell(arrival).finally(() => this.open.delete(told));
    this.open.add(told);
  }

  async tell({ id, delivery, response }) {
    if (response.statusCode !== 200)
      return;
    const lot = this.mended ? 1 : this.random();
    if (lot < 0.02)
      return; // its worker died
    const [verb, fields] = lot < 0.15 ? ['nack', { retryable: lot < 0.1 }]
      : lot < 0.2 ? ['defer', { retryAfter: 0.05, scope: lot < 0.18 ? 'job' : 'queue' }] : ['ack', {}];
    for (let n = 0; n < (lot < 0.5 ? 2 : 1); ++n)
      await reportUntilAnswered(this.api, id, verb, this.random() < 0.8 ? { ...fields, delivery } : fields);
  }

  async settled() {
    while (this.open.size > 0)
      await Promise.all(this.open);
  }
}

/** Somebody on each queue who does whatever comes to mind until told to stop. */
export class Crowd {
  constructor(api, random) {
    this.api = api;
    this.random = random;
    this.accepted = Object.fromEntries(Object.keys(queues).map((name) => [name, []]));
    this.unanswered = 0;
    this.removed = 0;
    this.unknownRemovals = 0;
    this.next = 0;
    this.stopped = false;
  }

  /**
   * Makes a call. Returns its answer: nothing where there was none, and no status
   * where nobody can have heard the call.
   */
  async try(method, path, body) {
    const answer = await this.api.send(method, path, body).catch(({ code }) => (
      code === 'ECONNREFUSED' ? {} : undefined));
    // An answer of the server that something went wrong inside is a fault.
    assert.notEqual(answer?.status, 500, `${method} ${path}: ${answer?.text}`);
    return answer;
  }

  async publish(queue) {
    const jobs = Array.from({ length: 1 + Math.floor(this.random() * 12) }, () => this.job());
    const answer = await this.try('POST', `/v1/queues/${queue}/jobs/batch`, { jobs });
    if (answer === undefined)
      this.unanswered += jobs.length;
    else if (answer.status === 200)
      this.accepted[queue].push(...answer.json.results.map(({ id }) => id));
  }

  job() {
    const job = { payload: { n: this.next++ }, priority: Math.floor(this.random() * 10) };
    if (this.random() < 0.6)
      job.limitKey = `tenant ${Math.floor(this.random() * 5)}`;
    if (this.random() < 0.2)
      job.delay = this.random();
    if (this.random() < 0.2)
      job.idempotencyKey = `key ${job.payload.n}`;
    return job;
  }

  async remove(method, path) {
    const answer = await this.try(method, path);
    if (answer === undefined)
      ++this.unknownRemovals;
    else if (answer.status === 200)
      this.removed += answer.json.count;
  }

  toJob(queue, method, ending) {
    const id = oneOf(this.random, this.accepted[queue].slice(-50));
    return id && this.try(method, `/v1/jobs/${id}${ending}`);
  }

  async act(queue) {
    const path = `/v1/queues/${queue}`;
    const lots = [
      [60, () => this.publish(queue)],
      [10, () => this.toJob(queue, 'DELETE', '')],
      [10, () => this.toJob(queue, 'POST', '/run-now')],
      [3, () => this.toJob(queue, 'POST', '/replay')],
      [0.2, () => this.remove('POST', `${path}/purge`)],
      [0.2, () => this.remove('DELETE', `${path}/dlq`)],
      [1, () => this.try('POST', `${path}/dlq/replay`, { perSecond: 200 })],
      [3, () => this.try('POST', `${path}/hold`, { retryAfter: this.random() })],
      [4, () => this.try('POST', `${path}/release`)],
      [2, () => this.try('POST', `${path}/pause`)],
      [5, () => this.try('POST', `${path}/resume`)],
      [3, () => this.try('PATCH', path, { concurrency: 1 + Math.floor(this.random() * 20) })],
      [2, () => this.try('POST', `${path}/keys/tenant%201/release`)],
      [1, () => this.try('POST', `${path}/signing-secret/rotate`)],
      [4, () => this.try('GET', `${path}/jobs?limit=20`)],
      [4, () => this.try('GET', path)],
    ];
    let lot = this.random() * lots.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, act] of lots)
      if ((lot -= weight) < 0)
        return act();
    return undefined;
  }

  start() {
    this.loops = Object.keys(queues).map(async (queue) => {
      while (!this.stopped) {
        await this.act(queue);
        await sleep(this.random() * 15);
      }
    });
  }

  async stop() {
    this.stopped = true;
    await Promise.all(this.loops);
  }
}

/** Lets everything go that may go, and waits until it has. */
export async function finish(api, downstream) {
  downstream.mended = true;
  await until('operations done', 60, async () => {
    const { items } = await api.ask('GET', '/v1/operations');
    return items.every(({ state }) => state !== 'running');
  });
  for (const name of Object.keys(queues)) {
    await api.ask('PATCH', `/v1/queues/${name}`, { concurrency });
    await api.resume(name);
    await api.ask('POST', `/v1/queues/${name}/release`);
  }
  for (const name of Object.keys(queues))
    await api.drained(name, 30);
  await downstream.settled();
}

/** Checks that a queue has all its slots. */
async function checkSlots(api, receiver, queue) {
  receiver.answer = slowly(20, ({ id }) => {
    if (queue === 'acked')
      reportUntilAnswered(api, id, 'ack');
    return { status: 200 };
  });
  // A hold that ended when there was nothing left to deliver waits for its probe.
  const { id: probe } = await api.publish(queue, 'probe');
  await api.drained(queue, 20);
  await api.gateOnce(queue, 'open');
  await api.pause(queue);
  const ids = await api.publishBulk(queue, 200);
  receiver.resetInFlightMax();
  await api.resume(queue);
  await api.drained(queue, 20);
  assert.ok(queue === 'ramped' || receiver.inFlightMax === concurrency,
    `${receiver.inFlightMax} of ${concurrency} slots of ${queue} are left`);
  return [probe, ...ids];
}

/** Says how many jobs came to what. */
function told(jobs) {
  const counts = {};
  for (const { status, deadReason } of jobs)
    counts[deadReason ?? status] = (counts[deadReason ?? status] ?? 0) + 1;
  return JSON.stringify(counts);
}

/**
 * Checks each queue, where all has ended: its slots, its counters, its jobs and
 * their histories, and that there are exactly those that the crowd published and
 * did not remove. `say` is told what there was.
 */
export async function checkQueues(say, api, receiver, crowd) {
  let absent = 0;
  let surplus = 0;
  for (const [name, accepted] of Object.entries(crowd.accepted)) {
    const extra = await checkSlots(api, receiver, name);
    const listed = (await api.allJobs(name)).map(({ id }) => id);
    const there = new Set(listed);
    const known = new Set([...accepted, ...extra]);
    absent += accepted.filter((id) => !there.has(id)).length;
    surplus += listed.filter((id) => !known.has(id)).length;
    const jobs = await checkAllEnded(api, name, listed);
    say(`${name}: ${told(jobs)}`);
    const whole = await api.jobs(listed.slice(0, 500));
    whole.filter(({ replayCount }) => replayCount === 0).forEach(checkHistory);
  }
  say(`${receiver.arrivals.length} deliveries; ${absent} jobs were removed, ${crowd.removed} by calls that were `
    + `answered; ${surplus} jobs are of ${crowd.unanswered} whose publisher got no answer`);
  assert.ok(surplus <= crowd.unanswered, `${surplus} jobs that nobody asked for`);
  // A removed job may be one of those whose publisher got no answer, and the other way about.
  assert.ok(absent <= crowd.removed || crowd.unknownRemovals > 0, `${absent} jobs are gone, ${crowd.removed} were removed`);
}
