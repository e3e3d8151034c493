// Millions of jobs that have ended, beside a million that wait: what they cost in
// memory and on disk, what they cost others, and how it goes when they are removed.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

import { until } from '../../examples/tidegate.mjs';
import { bytesIn, payloadOf, publish, publishMany, residentBytes, startKilled, startSink } from './parts.mjs';

const waiting = Number(process.env.BENCH_BACKLOG ?? 1_000_000);
const ended = Number(process.env.BENCH_ENDED ?? 5_000_000);
const jobs = Number(process.env.BENCH_JOBS ?? 20_000);
const connections = 64;

/** Seconds that ended jobs are kept: more than it takes until all are there. */
const retention = Number(process.env.BENCH_RETENTION ?? 600);

/** Most jobs that are published before they are delivered. */
const aheadMax = 50_000;

export const title = `${ended} jobs of 300 B that have ended, beside ${waiting} that wait`;

/** Label, name and digits of each figure. */
export const rows = [
  ['jobs/s, published in batches and delivered', 'through', 0],
  ['bytes of memory for each that has ended', 'memory', 1],
  ['bytes on disk for each', 'disk', 0],
  ['seconds until ready after kill -9', 'ready', 2],
  ['publishes/s of another queue, nothing there', 'empty', 0],
  ['publishes/s of another queue, all there', 'full', 0],
  ['the second to the first', 'ratio', 3],
  ['ms of a queue with its counts, the slowest of 50', 'view', 1],
  ['ms of a page of ended jobs, the slowest of 50', 'page', 1],
  ['jobs/s, removed once their retention is over', 'removed', 0],
  ['publishes/s of another queue meanwhile', 'removing', 0],
  ['p99 of these, ms', 'removingP99', 2],
  ['the longest of these, ms', 'removingMax', 1],
];

export async function measure(build) {
  const sink = await startSink(build);
  let server = await startKilled(build);
  for (const name of ['waiting', 'other', 'ended'])
    await server.call('POST', '/v1/queues', { name, webhookUrl: `${sink.url}/`, concurrency: connections, retention });
  await server.call('POST', '/v1/queues/other/pause');
  const others = () => publish(build, server, { path: '/v1/queues/other/jobs', count: jobs, connections });
  await others();
  const empty = (await others()).per_second;
  const later = { payload: payloadOf(300), delay: 86_400 };
  await publishMany(server, { queue: 'waiting', job: later, count: waiting });
  const before = { memory: residentBytes(server.pid), disk: bytesIn(server.data) };
  const through = await end(server);
  const endedAt = Date.now();
  const memory = (residentBytes(server.pid) - before.memory) / ended;
  const disk = (bytesIn(server.data) - before.disk) / ended;
  const full = (await others()).per_second;
  const view = await slowest(() => countsOf(server));
  const page = await slowestPage(server);
  assert.equal((await countsOf(server)).completed, ended, 'some are removed already: BENCH_RETENTION is too short');
  await server.kill();
  await sleep(endedAt + retention * 1000 - Date.now());
  const from = performance.now();
  server = await startKilled(build, server.data);
  const ready = (performance.now() - from) / 1000;
  const removal = await remove(server, others);
  await server.kill();
  await server.clear();
  sink.stop();
  return { through, memory, disk, ready, empty, full, ratio: full / empty, view, page, ...removal };
}

const countsOf = async (server) => (await server.call('GET', '/v1/queues/ended')).counts;

/** Publishes and delivers what is to end. Resolves with the rate of this. */
async function end(server) {
  const from = performance.now();
  await publishMany(server, {
    queue: 'ended',
    job: { payload: payloadOf(300) },
    count: ended,
    atOnce: 4,
    pause: async () => {
      while ((await countsOf(server)).pending > aheadMax)
        await sleep(100);
    },
  });
  await until('all have ended', 600, async () => (await countsOf(server)).completed === ended);
  return ended / ((performance.now() - from) / 1000);
}

/** Resolves with the milliseconds of the slowest of 50 calls. */
async function slowest(ask) {
  let most = 0;
  for (let n = 0; n < 50; ++n) {
    const from = performance.now();
    await ask();
    most = Math.max(most, performance.now() - from);
  }
  return most;
}

/** The same of pages of ended jobs, one after the other. */
function slowestPage(server) {
  let cursor = '';
  return slowest(async () => {
    const page = await server.call('GET', `/v1/queues/ended/jobs?status=completed&limit=100${cursor}`);
    cursor = `&cursor=${encodeURIComponent(page.nextCursor)}`;
  });
}

/** Publishes to another queue until all are removed whose retention is over. */
async function remove(server, others) {
  const from = performance.now();
  const loads = [];
  await until('all are removed', 1200, async () => {
    const { completed } = await countsOf(server);
    if (completed > 0)
      loads.push(await others());
    return completed === 0;
  });
  const seconds = (performance.now() - from) / 1000;
  const mean = loads.reduce((sum, { per_second }) => sum + per_second, 0) / loads.length;
  return {
    removed: ended / seconds,
    removing: mean,
    removingP99: Math.max(...loads.map(({ p99_us }) => p99_us)) / 1000,
    removingMax: Math.max(...loads.map(({ max_us }) => max_us)) / 1000,
  };
}
