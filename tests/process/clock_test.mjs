// The wall clock of a running server is set, an hour or a day, forwards and
// backwards: waits go on as they began, a time that was named comes when the clock
// says so, and nothing is lost.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { checkAllEnded, checkConservation } from './support/conservation.mjs';
import { WallClock, noFaults } from './support/faults.mjs';
import { startPublishers } from './support/publishers.mjs';
import { Queue } from './support/pull.mjs';
import { randomFrom } from './support/random.mjs';
import { accept, notNow, startReceiver } from './support/receiver.mjs';
import { startServer } from './support/server.mjs';
import { patience, until } from './support/time.mjs';

const options = { timeout: 300_000 * patience, skip: noFaults };
const hour = 3_600_000;
const day = 24 * hour;
const steps = { 'an hour forwards': hour, 'an hour backwards': -hour, 'a day forwards': day, 'a day backwards': -day };

const waitSeconds = 6;

/** How much later than at the earliest moment something may come: less than any step. */
const graceMs = 60_000;

/** A queue that follows the clock looks at it every five seconds. */
const lookMs = 5000;

async function start(t, answer = accept) {
  const clock = new WallClock(t);
  const receiver = await startReceiver(t, answer);
  const server = await startServer(t, { env: clock.env });
  return { clock, receiver, server, api: server.api };
}

/** Resolves with the arrivals of a job once there are `count`. */
function arrived(receiver, id, count, ms) {
  return until(`delivery ${count} of ${id}`, ms / 1000, () => {
    const arrivals = receiver.arrivalsOf(id);
    return arrivals.length >= count && arrivals;
  });
}

/** Checks that a wait that began at `from` ended in time at `at`. */
function checkWait(what, from, at) {
  const took = at - from;
  assert.ok(took >= waitSeconds * 1000 - 5, `${what}: after ${took} ms`);
  assert.ok(took <= waitSeconds * 1000 + graceMs, `${what}: after ${took} ms`);
}

/** Says "not now", or fails, at the first delivery. */
function onceUnwell({ queue, delivery }) {
  if (delivery > 1 || queue === 'delayed')
    return { status: 200 };
  return queue === 'held' ? notNow(waitSeconds) : { status: 500 };
}

for (const [what, step] of Object.entries(steps))
  test(`a clock that is set ${what} moves no wait`, options, async (t) => {
    const { clock, receiver, api } = await start(t, onceUnwell);
    const settings = { webhookUrl: receiver.url, backoff: { type: 'fixed', delay: waitSeconds, jitter: 0 } };
    for (const name of ['held', 'failed', 'delayed'])
      await api.createQueue(name, settings);
    await api.createQueue('paused', { ...settings, lifetime: 60 });
    await api.pause('paused');
    const pull = new Queue(api, 'pull');
    await pull.create();
    await pull.publish(1);

    const { id: paused } = await api.publish('paused', 1);
    const ids = { held: (await api.publish('held', 1)).id, failed: (await api.publish('failed', 1)).id };
    const from = {};
    for (const name of ['held', 'failed'])
      from[name] = (await arrived(receiver, ids[name], 1, graceMs))[0].at;
    await api.gateOnce('held', 'held');
    // These two begin before they are answered.
    from.delayed = Date.now();
    ids.delayed = (await api.publish('delayed', 1, { delay: waitSeconds })).id;
    from.leased = Date.now();
    const [leased] = await pull.consume({ visibility_timeout: waitSeconds });
    clock.set(step);

    const heldFor = Date.parse((await api.queue('held')).gate.releaseAt) - clock.in(0);
    assert.ok(Math.abs(heldFor) <= waitSeconds * 1000, `held for ${heldFor} ms by its own clock`);
    const [again] = await pull.consume({ wait_seconds: 2 * waitSeconds });
    checkWait('leased', from.leased, Date.now());
    assert.equal(again.message_id, leased.message_id);
    assert.equal((await pull.settle('ack', again)).status, 200);
    for (const [name, id] of Object.entries(ids)) {
      const count = name === 'delayed' ? 1 : 2;
      const arrivals = await arrived(receiver, id, count, graceMs);
      checkWait(name, from[name], arrivals[count - 1].at);
      await api.jobWithStatus(id, 'completed');
      await checkAllEnded(api, name, [id]);
    }
    assert.equal((await api.job(paused)).status, 'pending', 'it has not lived for a minute');
    await api.resume('paused');
    await api.jobWithStatus(paused, 'completed');
  });

test('a job for a time that was named goes when the clock says so', options, async (t) => {
  const { clock, receiver, api } = await start(t);
  await api.createQueue('q', { webhookUrl: receiver.url });
  const { id: later } = await api.publish('q', 1, { runAt: clock.in(hour).toISOString() });
  clock.set(hour + 1000);
  await arrived(receiver, later, 1, lookMs + graceMs);

  const { id: soon } = await api.publish('q', 2, { runAt: clock.in(graceMs / 2).toISOString() });
  clock.set(0);
  await sleep(lookMs + 3000);
  assert.deepEqual(receiver.arrivalsOf(soon), []);
  clock.set(hour + graceMs);
  await arrived(receiver, soon, 1, lookMs + graceMs);
  await api.drained('q', 10);
  await checkAllEnded(api, 'q', [later, soon]);
});

test('a server that starts again holds until the same time on the wall clock', options, async (t) => {
  let seconds = 3600;
  const { clock, receiver, server, api } = await start(t, () => (seconds > 0 ? notNow(seconds) : { status: 200 }));
  const gate = async () => (await api.queue('q')).gate;
  await api.createQueue('q', { webhookUrl: receiver.url });
  const { id } = await api.publish('q', 1);
  await api.gateOnce('q', 'held');
  // Forwards beyond it: the hold is over.
  seconds = waitSeconds;
  await server.kill();
  clock.set(hour + 1000);
  await server.start();
  await arrived(receiver, id, 2, graceMs);
  const held = await until('the second hold', graceMs / 1000, async () => {
    const now = await gate();
    return now.state === 'held' && Math.abs(Date.parse(now.releaseAt) - clock.in(0)) < graceMs && now;
  });
  // Back again: it is an hour longer by the machine's clock, until the same time.
  seconds = 0;
  await server.kill();
  clock.set(0);
  await server.start();
  assert.equal((await gate()).releaseAt, held.releaseAt);
  await sleep(waitSeconds * 1000 + 500);
  assert.equal(receiver.arrivalsOf(id).length, 2);
  await server.kill();
  clock.set(hour + graceMs);
  await server.start();
  await arrived(receiver, id, 3, graceMs);
  await api.jobWithStatus(id, 'completed');
  await checkAllEnded(api, 'q', [id]);
});

test('a clock that is set again and again under load loses nothing', options, async (t) => {
  const random = randomFrom(t);
  const { clock, receiver, server, api } = await start(t, () => {
    const lot = random();
    return lot < 0.02 ? notNow(0.1) : { status: lot < 0.1 ? 500 : 200 };
  });
  await api.createQueue('load', {
    webhookUrl: receiver.url, concurrency: 16, maxAttempts: 5, backoff: { type: 'fixed', delay: 0.1 },
  });
  const publishers = startPublishers(server, 'load');
  for (let n = 0; n < 40; ++n) {
    clock.set(Math.round((2 * random() - 1) * (n % 2 === 0 ? hour : day)));
    await sleep(100);
  }
  await publishers.stop();
  assert.equal(publishers.unanswered, 0);
  assert.deepEqual(publishers.refused, []);
  const { accepted } = publishers;
  await api.drained('load', 30);
  await checkConservation(t, { api, queue: 'load', accepted, receiver });
  assert.ok(accepted.length > 100, `only ${accepted.length} were accepted`);
  await server.killAndStart();
  await checkAllEnded(api, 'load', accepted);
});
