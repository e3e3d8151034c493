// Instructions of the server for one job or message, by callgrind: they are the same
// whatever else the machine does, but for the size of the commits, which depends on
// what comes together.

import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { startServer, until } from '../../examples/tidegate.mjs';
import { publish, startSink, take } from './parts.mjs';

const jobs = Number(process.env.BENCH_JOBS ?? 2000);
const connections = 16;

export const title = `${jobs} jobs or messages of 300 B, ${connections} connections, one thread`;

/** Label, name and digits of each figure. */
export const rows = [
  ['thousands of instructions: a publish', 'published', 0],
  ['a job, published and delivered', 'delivered', 0],
  ['a message, published, received and acked by tens', 'acked', 0],
];

export async function measure(build) {
  const start = await countIn(build, async () => {});
  const each = async (what) => (await countIn(build, what) - start) / jobs / 1000;
  return {
    published: await each(publishOnly),
    delivered: await each(publishAndDeliver),
    acked: await each(publishAndAck),
  };
}

/** Returns how many instructions a server takes that lives through `what`. */
async function countIn(build, what) {
  const folder = await mkdtemp(join(build, 'count-'));
  const program = join(folder, 'tidegate');
  const counts = join(folder, 'callgrind.out');
  await writeFile(program, `#!/bin/sh
exec valgrind --quiet --tool=callgrind --callgrind-out-file=${counts} ${build}/tidegate "$@"
`);
  await chmod(program, 0o755);
  const server = await startServer(program, { flags: ['--threads', '1'], under: folder });
  await what(build, server);
  await server.stop();
  const total = /^totals: (\d+)/m.exec(await readFile(counts, 'utf8'))[1];
  await rm(folder, { recursive: true });
  return Number(total);
}

async function publishOnly(build, server) {
  await server.call('POST', '/v1/queues', { name: 'q', webhookUrl: 'http://127.0.0.1:9/' });
  await server.call('POST', '/v1/queues/q/pause');
  await publish(build, server, { path: '/v1/queues/q/jobs', count: jobs, connections });
}

async function publishAndDeliver(build, server) {
  const sink = await startSink(build);
  await server.call('POST', '/v1/queues', { name: 'q', webhookUrl: `${sink.url}/`, concurrency: connections });
  await publish(build, server, { path: '/v1/queues/q/jobs', count: jobs, connections });
  await until('everything is delivered', 120, async () => (
    (await server.call('GET', '/v1/queues/q')).counts.completed === jobs));
  sink.stop();
}

async function publishAndAck(build, server) {
  await server.call('POST', '/v1/queue/create', { name: 'q', type: 'standard' });
  await publish(build, server, {
    path: '/v1/queue/publish', count: jobs, connections, flags: ['--extra', '"queue":"q"'],
  });
  await take(build, server, { queue: 'q', count: jobs, connections: 4 });
}
