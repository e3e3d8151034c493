// Jobs that have ended are removed when their retention is over, and their keys are
// free again.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { checkAllEnded, checkScan } from './support/conservation.mjs';
import { startReceiver } from './support/receiver.mjs';
import { startServer } from './support/server.mjs';
import { patience, until } from './support/time.mjs';

const timeout = 60_000 * patience;

/** Answers what the payload asks for. */
const asAsked = ({ payload }) => ({ status: payload.answer ?? 200 });

async function start(t, settings) {
  const receiver = await startReceiver(t, asAsked);
  const server = await startServer(t);
  await server.api.createQueue('q', { webhookUrl: receiver.url, maxAttempts: 1, ...settings });
  return { receiver, server, api: server.api };
}

/** Waits until the counters say that nothing that ended is left. */
function allRemoved(api, seconds = 20) {
  return until('all removed', seconds, async () => {
    const { counts } = await api.queue('q');
    return counts.completed + counts.dead === 0;
  });
}

async function isGone(api, ids) {
  for (const id of ids) {
    const { status, json } = await api.send('GET', `/v1/jobs/${id}`);
    assert.deepEqual([status, json.code], [404, 'job_not_found']);
  }
}

for (const retention of [0, 1])
  test(`with a retention of ${retention} s completed and dead jobs go, and the waiting stay`, { timeout }, async (t) => {
    const { receiver, api } = await start(t, { retention });
    const ended = await api.publishBulk('q', 300, (n) => ({ idempotencyKey: `k${n}`, payload: { n, answer: n % 3 === 0 ? 500 : 200 } }));
    const waiting = await api.publishBulk('q', 10, () => ({ delay: 3600 }));
    await until('all delivered', 20, () => receiver.arrivals.length === 300);
    await allRemoved(api);
    await isGone(api, [ended[0], ended[1], ended[299]]);
    const left = await checkScan(api, 'q');
    assert.deepEqual(left.map(({ id }) => id), [...waiting].reverse());
    assert.deepEqual(await api.list('/v1/queues/q/dlq'), []);
    const again = await api.publish('q', { n: 0 }, { idempotencyKey: 'k0' });
    assert.equal(again.duplicate, undefined);
    assert.ok(!ended.includes(again.id));
  });

test('a job is kept as long as its retention says, and its key with it', { timeout }, async (t) => {
  const { api } = await start(t, { retention: 2 });
  const { id } = await api.publish('q', {}, { idempotencyKey: 'k' });
  const { completedAt } = await api.jobWithStatus(id, 'completed');
  const repeat = await api.publish('q', {}, { idempotencyKey: 'k' });
  assert.deepEqual([repeat.id, repeat.duplicate], [id, true]);
  await allRemoved(api);
  const kept = Date.now() - Date.parse(completedAt);
  assert.ok(kept >= 1900, `it was removed after ${kept} ms`);
  const next = await api.publish('q', {}, { idempotencyKey: 'k' });
  assert.notEqual(next.id, id);
  assert.equal(next.duplicate, undefined);
});

test('what ends while the server is down goes when it is up, and what is kept stays', { timeout }, async (t) => {
  const { server, api } = await start(t, { retention: 1 });
  await api.publishBulk('q', 50);
  await api.drained('q', 20);
  await server.kill();
  await sleep(1200);
  await server.start();
  await allRemoved(api);
  await api.ask('PATCH', '/v1/queues/q', { retention: 3600 });
  const kept = await api.publishBulk('q', 20);
  await api.drained('q', 20);
  await server.killAndStart();
  await sleep(1200);
  await checkAllEnded(api, 'q', kept);
});

test('kills among removals leave counters that equal a scan', { timeout }, async (t) => {
  const { receiver, server, api } = await start(t, { retention: 0, concurrency: 32 });
  let sent = 0;
  for (let n = 0; n < 5; ++n) {
    await api.publishBulk('q', 400);
    sent += 400;
    await sleep(150);
    await server.killAndStart();
  }
  await api.drained('q', 30);
  await allRemoved(api);
  assert.deepEqual(await checkScan(api, 'q'), []);
  assert.equal(receiver.deliveriesById().size, sent);
});

test('a replayed job is kept anew from its second end on', { timeout }, async (t) => {
  const { receiver, api } = await start(t, { retention: 2 });
  const { id } = await api.publish('q', { answer: 500 });
  await api.jobWithStatus(id, 'dead');
  await sleep(1200);
  receiver.answer = () => ({ status: 200 });
  await api.ask('POST', `/v1/jobs/${id}/replay`);
  const { completedAt } = await api.jobWithStatus(id, 'completed');
  await allRemoved(api);
  const kept = Date.now() - Date.parse(completedAt);
  assert.ok(kept >= 1900, `it was removed after ${kept} ms`);
  await isGone(api, [id]);
});
