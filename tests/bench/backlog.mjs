// A million jobs that wait: what each costs in memory and on disk, how fast they come
// in, how soon the server is ready again after kill -9, and whether publishers notice.

import { bytesIn, payloadOf, publish, publishMany, residentBytes, startKilled } from './parts.mjs';

const waiting = Number(process.env.BENCH_BACKLOG ?? 1_000_000);
const jobs = Number(process.env.BENCH_JOBS ?? 20_000);
const connections = 64;

export const title = `${waiting} delayed jobs of 300 B, published by thousands`;

/** Label, name and digits of each figure. */
export const rows = [
  ['jobs/s, in batches', 'bulk', 0],
  ['bytes of memory for each that waits', 'memory', 1],
  ['bytes on disk for each', 'disk', 0],
  ['seconds until ready after kill -9', 'ready', 2],
  ['publishes/s of another queue, nothing waits', 'empty', 0],
  ['publishes/s of another queue, they wait', 'full', 0],
  ['the second to the first', 'ratio', 3],
];

export async function measure(build) {
  let server = await startKilled(build);
  for (const name of ['waiting', 'other'])
    await server.call('POST', '/v1/queues', { name, webhookUrl: 'http://127.0.0.1:9/' });
  await server.call('POST', '/v1/queues/other/pause');
  const others = async () => (
    await publish(build, server, { path: '/v1/queues/other/jobs', count: jobs, connections })).per_second;
  await others();
  const empty = await others();
  const before = { memory: residentBytes(server.pid), disk: bytesIn(server.data) };
  const job = { payload: payloadOf(300), delay: 86_400 };
  const bulk = waiting / await publishMany(server, { queue: 'waiting', job, count: waiting });
  const memory = (residentBytes(server.pid) - before.memory) / waiting;
  const disk = (bytesIn(server.data) - before.disk) / waiting;
  const full = await others();
  await server.kill();
  const from = performance.now();
  server = await startKilled(build, server.data);
  const ready = (performance.now() - from) / 1000;
  await server.kill();
  await server.clear();
  return { bulk, memory, disk, ready, empty, full, ratio: full / empty };
}
