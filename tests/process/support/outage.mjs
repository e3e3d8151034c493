// A downstream that is out of order from its first delivery on, for some seconds.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

import { notNow, slowly, startReceiver } from './receiver.mjs';

const concurrency = 16;
const workMs = 20;

/**
 * Starts a webhook that takes 20 ms for each request, and a queue to it with
 * `jobs` jobs that wait behind a pause. `answerProbe` may delay what a delivery
 * during the outage is answered.
 */
export async function startOutage(t, server, { jobs, seconds, retryAfter, whileRefused = () => {} }) {
  let first;
  const refuses = ({ at }) => at - (first ??= at) < seconds * 1000;
  const receiver = await startReceiver(t, slowly(workMs, async (arrival) => {
    if (!refuses(arrival))
      return { status: 200 };
    await whileRefused(arrival);
    return notNow(retryAfter);
  }));
  await server.api.createQueue('outage', { webhookUrl: receiver.url, concurrency });
  await server.api.pause('outage');
  const ids = await server.api.publishMany('outage', jobs);
  return { receiver, ids, endsAt: () => first + seconds * 1000 };
}

/** Notes what states the gate is seen in, until `stop` is called. */
export function watchGate(server, queue) {
  const states = [];
  let stopped = false;
  const watching = (async () => {
    while (!stopped) {
      const { gate } = await server.api.queue(queue);
      if (gate.state !== states.at(-1))
        states.push(gate.state);
      await sleep(5);
    }
  })();
  return {
    async stop() {
      stopped = true;
      await watching;
      return states;
    },
  };
}

/**
 * Returns the largest number of requests that were open at a time between the
 * end of the first 16 and the first that was answered 200.
 */
export function openWhileHeld({ arrivals }) {
  const from = Math.max(...arrivals.slice(0, concurrency).map(({ ended }) => ended));
  const success = arrivals.find(({ status }) => status === 200);
  const during = arrivals.filter(({ at }) => at > from && at < success.ended);
  const openAt = (moment) => during.filter(({ at, ended }) => at <= moment && ended > moment).length;
  return Math.max(...during.map(({ at }) => openAt(at)));
}

export function wasted({ arrivals }) {
  return arrivals.filter(({ status }) => status !== 200).length;
}

/** Checks that the outage cost no job an attempt. */
export function checkNothingBurned(jobs) {
  const burned = jobs.filter(({ attempts, status }) => attempts !== 1 || status !== 'completed');
  assert.deepEqual(burned, []);
}
