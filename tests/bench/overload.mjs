// Overload: many more publishers than there is room for, who come again at once.
// What is admitted is stored at the rate of a server that is not overloaded.

import { readFileSync } from 'node:fs';

import { startServer } from '../../examples/tidegate.mjs';
import { publish as publishTo } from './parts.mjs';

const jobs = Number(process.env.BENCH_JOBS ?? 20_000);

/** Large, so that there is room for some 2,300; small enough to be refused politely. */
const size = 12_000;
const few = 64;
const many = Number(process.env.BENCH_CONNECTIONS ?? 6000);

export const title = `${jobs} jobs of ${size} B from ${few} connections, ten times as many calls from ${many}`;

/** Label, name and digits of each figure. */
export const rows = [
  ['publishes/s without overload', 'peak', 0],
  ['publishes/s that were tried', 'tried', 0],
  ['publishes/s that were admitted', 'admitted', 0],
  ['share of the rate without overload', 'share', 2],
  ['p99 of a refusal, ms', 'refusedP99', 1],
  ['memory above idle at most, MiB', 'memory', 0],
];

const memoryMib = (pid, what) => (
  Number(new RegExp(`^${what}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024);

export async function measure(build) {
  const server = await startServer(`${build}/tidegate`, { under: build });
  await server.call('POST', '/v1/queues', { name: 'bench', webhookUrl: 'http://127.0.0.1:9/' });
  await server.call('POST', '/v1/queues/bench/pause');
  const idle = memoryMib(server.pid, 'VmRSS');
  const publish = (count, connections, flags = []) => publishTo(build, server, {
    path: '/v1/queues/bench/jobs', count, connections, flags: ['--size', String(size), ...flags],
  });
  const peak = await publish(jobs, few);
  const flood = await publish(jobs * 10, many, ['--overload']);
  const memory = memoryMib(server.pid, 'VmHWM') - idle;
  await server.stop();
  return {
    peak: peak.per_second,
    tried: flood.per_second,
    admitted: flood.taken_per_second,
    share: flood.taken_per_second / peak.per_second,
    refusedP99: flood.refused_p99_us / 1000,
    memory,
  };
}
