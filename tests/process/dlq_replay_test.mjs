// A bulk replay of dead jobs: answered at once, out of the way of live jobs, and
// finished whatever happens to the server. DEAD_JOBS sets how many there are.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { checkAllEnded, checkScan } from './support/conservation.mjs';
import { slowly, startReceiver } from './support/receiver.mjs';
import { startServer } from './support/server.mjs';
import { patience, until } from './support/time.mjs';

const deadJobs = Number(process.env.DEAD_JOBS ?? 5000);
const timeout = (120_000 + deadJobs * 10) * patience;
const concurrency = 64;
const settings = { concurrency, maxAttempts: 1 };

const broken = () => ({ status: 500 });
const well = () => ({ status: 200 });

/** Makes `count` dead jobs in queue `q`. Returns their ids. */
async function startDead(t, count, fieldsOf) {
  const receiver = await startReceiver(t, broken, { slim: true });
  const server = await startServer(t);
  await server.api.createQueue('q', { webhookUrl: receiver.url, ...settings });
  const ids = await server.api.publishBulk('q', count, fieldsOf);
  await until('all dead', 60 + count / 200, async () => (await server.api.queue('q')).counts.dead === count);
  return { receiver, server, api: server.api, ids };
}

/** Starts a replay. Says how long the answer took. Returns the operation. */
async function replay(t, api, filter = {}) {
  const from = performance.now();
  const operation = await api.ask('POST', '/v1/queues/q/dlq/replay', filter);
  t.diagnostic(`replay answered after ${Math.round(performance.now() - from)} ms`);
  return operation;
}

/** Publishes live jobs one after the other. Returns how long each took to arrive. */
async function measureLive(api, receiver, count) {
  const times = [];
  for (let n = 0; n < count; ++n) {
    const from = Date.now();
    const seen = receiver.arrivals.length;
    const { id } = await api.publish('q', { live: n });
    await until('a live job arrives', 30, () => receiver.arrivals.slice(seen).find((arrival) => arrival.id === id));
    times.push(receiver.arrivals.slice(seen).find((arrival) => arrival.id === id).at - from);
    await sleep(10);
  }
  return times.sort((a, b) => a - b);
}

const p99 = (times) => times[Math.ceil(times.length * 0.99) - 1];

test('live jobs go at once while dead ones are replayed, and a kill does not end it', { timeout }, async (t) => {
  const { receiver, server, api, ids } = await startDead(t, deadJobs);
  receiver.answer = well;
  const before = await measureLive(api, receiver, 50);
  receiver.arrivals.length = 0;

  const started = await replay(t, api, { perSecond: Math.min(1000, deadJobs / 8) });
  assert.equal(started.kind, 'dlq_replay');
  assert.equal(started.queue, 'q');
  assert.equal(started.state, 'running');
  assert.ok(started.done < deadJobs, 'it was answered when all was done');
  const during = await measureLive(api, receiver, 50);
  t.diagnostic(`a live job arrives after p50 ${during[25]} ms, p99 ${p99(during)} ms; `
    + `without a replay p50 ${before[25]} ms, p99 ${p99(before)} ms`);
  const meanwhile = await api.ask('GET', `/v1/operations/${started.id}`);
  t.diagnostic(`replayed ${meanwhile.done} of ${meanwhile.total} by then`);
  assert.ok(p99(during) < 5000, `a live job waited ${p99(during)} ms`);

  receiver.answer = slowly(50, well);
  await api.operationOnce(started.id, 'under way', ({ done }) => done >= deadJobs / 2);
  const out = receiver.inFlight;
  await server.killAndStart();
  const resumed = await api.ask('GET', `/v1/operations/${started.id}`);
  assert.equal(resumed.total, deadJobs);
  assert.ok(resumed.done < deadJobs, 'it was done when the kill came');
  const finished = await api.operationOnce(started.id, 'done', ({ state }) => state === 'done', 60 + deadJobs / 100);
  assert.equal(finished.done, deadJobs);
  assert.ok(finished.finishedAt);
  await api.drained('q', 60 + deadJobs / 200);

  const again = receiver.deliveriesById();
  const missing = ids.filter((id) => !again.has(id));
  assert.deepEqual(missing, [], 'not delivered again');
  const twice = ids.filter((id) => again.get(id) > 1);
  t.diagnostic(`${twice.length} were delivered twice, ${out} were open at the kill`);
  assert.ok(twice.length <= concurrency, `${twice.length} were delivered twice`);
  assert.ok(twice.every((id) => again.get(id) === 2));
  const jobs = await checkScan(api, 'q');
  const replayed = jobs.filter(({ replayCount }) => replayCount === 1);
  assert.equal(replayed.length, deadJobs);
  assert.ok(jobs.every(({ status, attempts }) => status === 'completed' && attempts === 1));
  const { counts } = await api.queue('q');
  assert.deepEqual([counts.completed, counts.dead, counts.inFlight], [deadJobs + 100, 0, 0]);
});

test('a replay that is cancelled stops where it is', { timeout }, async (t) => {
  const { receiver, api, ids } = await startDead(t, 500);
  receiver.answer = well;
  const { id } = await replay(t, api, { perSecond: 50 });
  await api.operationOnce(id, 'under way', ({ done }) => done > 0);
  const { state } = await api.ask('DELETE', `/v1/operations/${id}`);
  assert.equal(state, 'cancelled');
  await sleep(300);
  const stopped = await api.ask('GET', `/v1/operations/${id}`);
  assert.ok(stopped.done > 0 && stopped.done < stopped.total, JSON.stringify(stopped));
  await api.drained('q', 20);
  await sleep(500);
  assert.deepEqual(await api.ask('GET', `/v1/operations/${id}`), stopped);
  const { counts } = await api.queue('q');
  assert.deepEqual([counts.completed, counts.dead], [stopped.done, 500 - stopped.done]);
  await checkAllEnded(api, 'q', ids);
  const listed = await api.ask('GET', '/v1/operations');
  assert.ok(listed.items.some((item) => item.id === id && item.state === 'cancelled'));
  const { id: second } = await replay(t, api);
  await api.operationOnce(second, 'done', (operation) => operation.state === 'done');
  await api.drained('q', 20);
  const jobs = await checkAllEnded(api, 'q', ids);
  assert.ok(jobs.every(({ status, replayCount }) => status === 'completed' && replayCount === 1));
});

test('a replay goes on where SIGTERM stopped it', { timeout }, async (t) => {
  const { receiver, server, api, ids } = await startDead(t, 300);
  receiver.answer = well;
  receiver.arrivals.length = 0;
  const { id } = await replay(t, api, { perSecond: 100 });
  await api.operationOnce(id, 'under way', ({ done }) => done > 0);
  assert.deepEqual(await server.stop(), { code: 0, signal: null });
  await server.start();
  const { done, total } = await api.operationOnce(id, 'done', ({ state }) => state === 'done');
  assert.deepEqual([done, total], [300, 300]);
  await api.drained('q', 20);
  await checkAllEnded(api, 'q', ids);
  assert.equal(receiver.arrivals.length, 300);
});

test('a replay of a queue that is deleted ends', { timeout }, async (t) => {
  const { receiver, server, api } = await startDead(t, 300);
  receiver.answer = well;
  const { id } = await replay(t, api, { perSecond: 50 });
  await api.operationOnce(id, 'under way', ({ done }) => done > 0);
  await api.ask('DELETE', '/v1/queues/q?force=true');
  const ended = await api.operationOnce(id, 'ended', ({ state }) => state !== 'running', 10);
  assert.ok(['failed', 'cancelled'].includes(ended.state), ended.state);
  await server.killAndStart();
  assert.deepEqual(await api.ask('GET', `/v1/operations/${id}`), ended);
});

test('perSecond is the most that a replay lets go in a second', { timeout }, async (t) => {
  const { receiver, api } = await startDead(t, 100);
  receiver.answer = well;
  receiver.arrivals.length = 0;
  const { id } = await replay(t, api, { perSecond: 25 });
  await api.operationOnce(id, 'done', ({ state }) => state === 'done');
  await api.drained('q', 20);
  const times = receiver.arrivals.map(({ at }) => at);
  const took = times.at(-1) - times[0];
  t.diagnostic(`100 at 25 a second took ${took} ms`);
  assert.equal(times.length, 100);
  assert.ok(took > 2500, `${took} ms`);
});

test('a dry run says what would be replayed, and replays nothing', { timeout }, async (t) => {
  const { receiver, api } = await startDead(t, 60, (n) => ({ limitKey: n % 3 === 0 ? 'a' : 'b' }));
  const delivered = receiver.arrivals.length;
  const cases = [
    [{}, 60],
    [{ limitKey: 'a' }, 20],
    [{ limitKey: 'c' }, 0],
    [{ reason: 'attempts_exhausted' }, 60],
    [{ reason: 'ack_timeout' }, 0],
    [{ limit: 11 }, 11],
    [{ limit: 3 }, 3],
    [{ since: new Date(Date.now() + 60_000).toISOString() }, 0],
    [{ until: new Date(Date.now() + 60_000).toISOString() }, 60],
  ];
  for (const [filter, count] of cases) {
    const plan = await api.ask('POST', '/v1/queues/q/dlq/replay', { ...filter, dryRun: true });
    assert.equal(plan.count, count, JSON.stringify(filter));
    assert.ok(plan.sample.length <= count && (count === 0 || plan.sample.length > 0), JSON.stringify(filter));
  }
  assert.equal((await api.queue('q')).counts.dead, 60);
  assert.deepEqual((await api.ask('GET', '/v1/operations')).items, []);
  assert.equal(receiver.arrivals.length, delivered);
});

test('only the jobs that fit the filter are replayed, the rest stays dead', { timeout }, async (t) => {
  const { receiver, api, ids } = await startDead(t, 60, (n) => ({ limitKey: n % 3 === 0 ? 'a' : 'b' }));
  receiver.answer = well;
  const { id } = await replay(t, api, { limitKey: 'a', limit: 15 });
  await api.operationOnce(id, 'done', ({ state, done }) => state === 'done' && done === 15);
  await api.drained('q', 20);
  const jobs = await checkAllEnded(api, 'q', ids);
  const completed = jobs.filter(({ status }) => status === 'completed');
  assert.equal(completed.length, 15);
  const newest = jobs.filter(({ limitKey }) => limitKey === 'a').slice(0, 15).map((job) => job.id);
  assert.deepEqual(completed.map((job) => job.id), newest);
});

test('jobs that are named are replayed, those of them that are dead letters', { timeout }, async (t) => {
  const { receiver, api, ids } = await startDead(t, 20);
  receiver.answer = well;
  const { id: live } = await api.publish('q', 1);
  await api.drained('q', 10);
  const named = [...ids.slice(5, 9), live];
  const { status, text, json } = await api.send('POST', '/v1/queues/q/dlq/replay', { ids: named, dryRun: true });
  assert.equal(status, 200, text);
  assert.equal(json.count, 4, text);
  assert.deepEqual(new Set(json.sample.map(({ id }) => id)), new Set(ids.slice(5, 9)));
  const { id } = await replay(t, api, { ids: named });
  const operation = await api.operationOnce(id, 'done', ({ state }) => state === 'done');
  assert.deepEqual([operation.total, operation.done], [4, 4]);
  await api.drained('q', 10);
  const jobs = await checkAllEnded(api, 'q', [...ids, live]);
  const replayed = jobs.filter(({ replayCount }) => replayCount > 0).map((job) => job.id);
  assert.deepEqual(new Set(replayed), new Set(ids.slice(5, 9)));
});

test('operations are listed newest first, page by page, also after a kill', { timeout }, async (t) => {
  const { server, api } = await startDead(t, 5);
  const ids = [];
  for (let n = 0; n < 5; ++n) {
    const { id } = await replay(t, api, { limitKey: 'nobody' });
    await api.operationOnce(id, 'done', ({ state }) => state === 'done');
    ids.unshift(id);
  }
  for (const restarted of [false, true]) {
    if (restarted)
      await server.killAndStart();
    const listed = await api.list('/v1/operations', { limit: 2 });
    assert.deepEqual(listed.map(({ id, state, total }) => [id, state, total]), ids.map((id) => [id, 'done', 0]));
  }
  assert.equal((await api.send('GET', '/v1/operations/no-such-operation')).status, 404);
});

test('one job is replayed with fresh budgets, its history, and another payload', { timeout }, async (t) => {
  const receiver = await startReceiver(t, broken);
  const server = await startServer(t);
  const { api } = server;
  await api.createQueue('q', { webhookUrl: receiver.url, maxAttempts: 2, backoff: { type: 'fixed', delay: 0.02 } });
  const { id } = await api.publish('q', { to: 'wrong' });
  await api.jobWithStatus(id, 'dead');
  const refused = await api.send('POST', '/v1/jobs/no-such-job/replay', {});
  assert.equal(refused.status, 404);
  receiver.answer = ({ attempt }) => ({ status: attempt === 1 ? 500 : 200 });
  await api.ask('POST', `/v1/jobs/${id}/replay`, { payload: { to: 'right' } });
  const job = await api.jobWithStatus(id, 'completed');
  assert.deepEqual([job.attempts, job.deliveries, job.replayCount], [2, 4, 1]);
  assert.deepEqual(receiver.arrivals.map(({ attempt, delivery, payload }) => [attempt, delivery, payload.to]),
    [[1, 1, 'wrong'], [2, 2, 'wrong'], [1, 3, 'right'], [2, 4, 'right']]);
  assert.ok(JSON.stringify(job.history).includes('"to":"wrong"'), 'the first payload is nowhere');
  assert.equal(job.history.filter(({ status }) => status === 'failed').length, 3);
  const late = await api.send('POST', `/v1/jobs/${id}/replay`, {});
  assert.deepEqual([late.status, late.json.code], [409, 'not_dead']);
  await checkAllEnded(api, 'q', [id]);
});

test('dead letters can be listed and removed, and cancelled jobs are none', { timeout }, async (t) => {
  const { api, ids } = await startDead(t, 30);
  await api.pause('q');
  const { id: cancelled } = await api.publish('q', 1);
  await api.ask('DELETE', `/v1/jobs/${cancelled}`);
  const letters = await api.list('/v1/queues/q/dlq', { limit: 7 });
  assert.deepEqual(new Set(letters.map(({ id }) => id)), new Set(ids));
  const { count } = await api.ask('DELETE', '/v1/queues/q/dlq?reason=attempts_exhausted');
  assert.equal(count, 30);
  assert.deepEqual(await api.list('/v1/queues/q/dlq'), []);
  assert.equal((await api.send('GET', `/v1/jobs/${ids[0]}`)).status, 404);
  const [left] = await checkAllEnded(api, 'q', [...ids, cancelled], ids);
  assert.deepEqual([left.id, left.deadReason], [cancelled, 'cancelled']);
});
