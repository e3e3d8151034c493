// Ten thousand queues with one job each: what each costs in memory, and what all of
// them cost while nothing happens.

import { setTimeout as sleep } from 'node:timers/promises';

import { startServer } from '../../examples/tidegate.mjs';
import { cpuSeconds, payloadOf, residentBytes } from './parts.mjs';

const queues = Number(process.env.BENCH_QUEUES ?? 10_000);
const warming = 500;
const callsAtOnce = 16;
const idleSeconds = 10;

export const title = `${queues} queues with a job each that is due tomorrow`;

/** Label, name and digits of each figure. */
export const rows = [
  ['queues/s, made and given a job', 'made', 0],
  ['KB of memory for each', 'memory', 2],
  [`CPU seconds of ${idleSeconds} idle ones, ${warming} queues`, 'cpuBefore', 2],
  [`CPU seconds of ${idleSeconds} idle ones, all queues`, 'cpu', 2],
];

export async function measure(build) {
  const server = await startServer(`${build}/tidegate`, { under: build });
  // Caches, and the threads' own memory, are there in any case.
  await make(server, 'warming', warming);
  const cpuBefore = await idle(server);
  const before = residentBytes(server.pid);
  const from = performance.now();
  await make(server, 'q', queues);
  const made = queues / ((performance.now() - from) / 1000);
  const cpu = await idle(server);
  const memory = (residentBytes(server.pid) - before) / 1024 / queues;
  await server.stop();
  return { made, memory, cpuBefore, cpu };
}

/** Makes `count` queues, and publishes a job to each. */
async function make(server, prefix, count) {
  let next = 0;
  await Promise.all(Array.from({ length: callsAtOnce }, async () => {
    while (next < count) {
      const name = `${prefix}${next++}`;
      await server.call('POST', '/v1/queues', { name, webhookUrl: 'http://127.0.0.1:9/' });
      await server.call('POST', `/v1/queues/${name}/jobs`, { payload: payloadOf(300), delay: 86_400 });
    }
  }));
}

/** Lets nothing happen. Resolves with the CPU seconds that the server took. */
async function idle(server) {
  // Until what was begun has been done.
  await sleep(3000);
  const before = cpuSeconds(server.pid);
  await sleep(idleSeconds * 1000);
  return cpuSeconds(server.pid) - before;
}
