// A million jobs that wait: what each costs in memory and on disk, how fast they come
// in, how soon the server is ready again after kill -9, and whether publishers notice.

import { spawn } from 'node:child_process';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { listeningLine } from '../../examples/tidegate.mjs';
import { publish } from './parts.mjs';

const waiting = Number(process.env.BENCH_BACKLOG ?? 1_000_000);
const jobs = Number(process.env.BENCH_JOBS ?? 20_000);
const connections = 64;
const batch = 1000;
const batchesAtOnce = 8;
const key = 'sq_live_for_the_backlog_alone';

export const title = `${waiting} delayed jobs of 300 B, published ${batch} at a time`;

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
  const data = await mkdtemp(join(build, 'backlog-'));
  let server = await start(build, data);
  for (const name of ['waiting', 'other'])
    await call(server, 'POST', '/v1/queues', { name, webhookUrl: 'http://127.0.0.1:9/' });
  await call(server, 'POST', '/v1/queues/other/pause');
  const others = async () => (
    await publish(build, server, { path: '/v1/queues/other/jobs', count: jobs, connections })).per_second;
  await others();
  const empty = await others();
  const before = { memory: residentBytes(server.pid), disk: bytesIn(data) };
  const bulk = waiting / await publishWaiting(server);
  const memory = (residentBytes(server.pid) - before.memory) / waiting;
  const disk = (bytesIn(data) - before.disk) / waiting;
  const full = await others();
  await server.kill();
  const from = performance.now();
  server = await start(build, data);
  const ready = (performance.now() - from) / 1000;
  await server.kill();
  await rm(data, { recursive: true });
  return { bulk, memory, disk, ready, empty, full, ratio: full / empty };
}

/** Resolves when the server accepts connections, which it does when it is ready. */
async function start(build, data) {
  const child = spawn(`${build}/tidegate`, [
    'serve', '--listen', '127.0.0.1:0', '--data', data, '--allow-target', '127.0.0.0/8', '--log-level', 'error',
  ], { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, TIDEGATE_API_KEY: key } });
  process.once('exit', () => child.kill('SIGKILL'));
  const exited = new Promise((done) => {
    child.once('exit', done);
  });
  const kill = () => {
    child.kill('SIGKILL');
    return exited;
  };
  return { url: await listeningLine(child.stdout), key, pid: child.pid, kill };
}

async function call(server, method, path, body) {
  const response = await fetch(server.url + path, {
    method,
    headers: { authorization: `Bearer ${key}` },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok)
    throw new Error(`${method} ${path}: ${response.status} ${text}`);
}

/** Publishes all that is to wait. Resolves with the seconds that it took. */
async function publishWaiting(server) {
  const job = { payload: { text: 'x'.repeat(300 - '{"text":""}'.length) }, delay: 86_400 };
  const body = JSON.stringify({ jobs: Array(batch).fill(job) });
  let left = waiting / batch;
  const from = performance.now();
  const publisher = async () => {
    while (left-- > 0)
      await call(server, 'POST', '/v1/queues/waiting/jobs/batch', body);
  };
  await Promise.all(Array.from({ length: batchesAtOnce }, publisher));
  return (performance.now() - from) / 1000;
}

function residentBytes(pid) {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024;
}

function bytesIn(folder) {
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}
