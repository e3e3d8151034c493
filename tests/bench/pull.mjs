// Pull queues: what is published over HTTP is received, ten at a time, and acked.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

import { startServer } from '../../examples/tidegate.mjs';
import { cpuSeconds, publish, take } from './parts.mjs';

const messages = Number(process.env.BENCH_MESSAGES ?? 100_000);
const publishers = 32;
const consumers = 8;
const queue = 'bench';

export const title = `${messages} messages of 300 B, ${publishers} publishers, ${consumers} consumers of 10`;

/** Label, name and digits of each figure. */
export const rows = [
  ['publishes/s, each after its fsync', 'publishes', 0],
  ['p99 of these, ms', 'publishP99', 2],
  ['messages/s of a backlog, acked ten at a time', 'drained', 0],
  ['messages/s, published and acked at once', 'both', 0],
  ['CPU seconds of the server for 10,000 of these', 'cpu', 2],
  ['messages/s at once, an ack for each', 'oneByOne', 0],
  ['CPU seconds of the server for 10,000 of these', 'oneByOneCpu', 2],
];

export async function measure(build) {
  const server = await startServer(`${build}/tidegate`, { under: build });
  await server.call('POST', '/v1/queue/create', { name: queue, type: 'standard' });
  const publishAll = () => publish(build, server, {
    path: '/v1/queue/publish', count: messages, connections: publishers, flags: ['--extra', `"queue":"${queue}"`],
  });
  const takeAll = (flags) => take(build, server, { queue, count: messages, connections: consumers, flags });

  const load = await publishAll();
  const drained = await takeAll();
  await atRest(server);
  const both = await atOnce(server, publishAll, () => takeAll());
  const oneByOne = await atOnce(server, publishAll, () => takeAll(['--one-by-one']));
  await server.stop();
  return {
    publishes: load.per_second,
    publishP99: load.p99_us / 1000,
    drained: drained.per_second,
    both: both.perSecond,
    cpu: both.cpu,
    oneByOne: oneByOne.perSecond,
    oneByOneCpu: oneByOne.cpu,
  };
}

/** From the first publish to the last ack. CPU is that of the server's process alone. */
async function atOnce(server, publishAll, takeAll) {
  const before = cpuSeconds(server.pid);
  const [load, taken] = await Promise.all([publishAll(), takeAll()]);
  const cpu = (cpuSeconds(server.pid) - before) * (10_000 / messages);
  await atRest(server);
  return { perSecond: messages / ((taken.last_us - load.start_us) / 1e6), cpu };
}

/** Checks that nothing is left, and lets the server see that its clients have gone. */
async function atRest(server) {
  const { data } = await server.call('GET', `/v1/queue/stats/${queue}`);
  assert.deepEqual([data.depth, data.in_flight, data.dlq_count], [0, 0, 0], 'something is left');
  assert.equal(data.acked_total, data.published_total);
  await sleep(500);
}
