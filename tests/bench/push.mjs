// Push queues: what is published over HTTP is delivered to a webhook.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

import { startServer, until } from '../../examples/tidegate.mjs';
import { cpuSeconds, publish as publishTo, startSink } from './parts.mjs';

const jobs = Number(process.env.BENCH_JOBS ?? 20_000);
const connections = 64;
const rate = 200;
const rateSeconds = 10;

export const title = `${jobs} jobs of 300 B, ${connections} connections`;

/** Label, name and digits of each figure. */
export const rows = [
  ['publishes/s, each after its fsync', 'publishes', 0],
  ['p99 of these, ms', 'publishP99', 2],
  ['deliveries/s of a backlog', 'drained', 0],
  ['jobs/s, published and delivered at once', 'both', 0],
  ['CPU seconds of the server for 10,000 of these', 'cpu', 2],
  [`p50 at ${rate}/s, publish to downstream, ms`, 'p50', 2],
  [`p99 at ${rate}/s, publish to downstream, ms`, 'p99', 2],
];

export async function measure(build) {
  const sink = await startSink(build);
  const server = await startServer(`${build}/tidegate`, { under: build });
  await server.call('POST', '/v1/queues', {
    name: 'bench', webhookUrl: `${sink.url}/`, concurrency: connections,
  });
  const publish = (count, flags) => (
    publishTo(build, server, { path: '/v1/queues/bench/jobs', count, connections, flags }));
  const figures = {
    ...await publishOnly(server, publish),
    ...await drain(server, sink),
    ...await bothAtOnce(server, sink, publish),
  };
  await sleep(1000);
  Object.assign(figures, await atRate(sink, publish));
  await server.stop();
  sink.stop();
  return figures;
}

/** Waits until the sink has `count` jobs and resolves with its figures. */
function delivered(sink, count) {
  return until(`${count} deliveries`, 120, async () => {
    const stats = await sink.stats();
    return stats.unique >= count && stats;
  });
}

/** Publishes are answered after the fsync; nothing is delivered meanwhile. */
async function publishOnly(server, publish) {
  await server.call('POST', '/v1/queues/bench/pause');
  const load = await publish(jobs);
  return { publishes: load.per_second, publishP99: load.p99_us / 1000 };
}

/** Delivers what `publishOnly` left. */
async function drain(server, sink) {
  await sink.reset();
  await server.call('POST', '/v1/queues/bench/resume');
  const stats = await delivered(sink, jobs);
  return { drained: jobs / ((stats.last_us - stats.first_us) / 1e6) };
}

/** Publishes and delivers at once; CPU is that of the server's process alone. */
async function bothAtOnce(server, sink, publish) {
  await sink.reset();
  const before = cpuSeconds(server.pid);
  const load = await publish(jobs);
  const stats = await delivered(sink, jobs);
  await until('everything stored', 60, async () => {
    const { counts } = await server.call('GET', '/v1/queues/bench');
    return counts.pending + counts.processing === 0;
  });
  assert.equal(stats.double, 0, 'a job was delivered twice');
  return {
    both: jobs / ((stats.last_us - load.start_us) / 1e6),
    cpu: (cpuSeconds(server.pid) - before) * (10_000 / jobs),
  };
}

/** Latency from when a publish is due to when the downstream has the job. */
async function atRate(sink, publish) {
  await sink.reset();
  const count = rate * rateSeconds;
  await publish(count, ['--rate', String(rate)]);
  const stats = await delivered(sink, count);
  return { p50: stats.p50_us / 1000, p99: stats.p99_us / 1000 };
}
