// What the benchmarks share: the programs beside the server, a server that is killed,
// and what it takes of the machine.

import { execFile, execFileSync, spawn } from 'node:child_process';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { listeningLine } from '../../examples/tidegate.mjs';

const killedKey = 'sq_live_for_a_server_that_is_killed';

const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK']));

/** Runs a program of the build. Resolves with the line of JSON that it prints. */
async function measureWith(program, words) {
  const { stdout } = await promisify(execFile)(program, words, { timeout: 300_000 });
  return JSON.parse(stdout);
}

/** Publishes and resolves with what bench_load measured. */
export function publish(build, server, { path, count, connections, flags = [] }) {
  return measureWith(`${build}/bench_load`, [
    '--port', new URL(server.url).port, '--key', server.key, '--path', path,
    '--jobs', String(count), '--connections', String(connections), ...flags,
  ]);
}

/** Receives and acks, and resolves with what bench_take measured. */
export function take(build, server, { queue, count, connections, flags = [] }) {
  return measureWith(`${build}/bench_take`, [
    '--port', new URL(server.url).port, '--key', server.key, '--queue', queue,
    '--messages', String(count), '--connections', String(connections), ...flags,
  ]);
}

export async function startSink(build) {
  const child = spawn(`${build}/bench_sink`, { stdio: ['ignore', 'pipe', 'inherit'] });
  process.once('exit', () => child.kill());
  const url = await listeningLine(child.stdout);
  return {
    url,
    reset: () => fetch(`${url}/reset`, { method: 'POST' }),
    stats: async () => (await fetch(`${url}/stats`)).json(),
    stop: () => child.kill(),
  };
}

/** Seconds of CPU that a process has used, from fields 14 and 15 of its stat. */
export function cpuSeconds(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** Bytes of memory that a process has. */
export function residentBytes(pid) {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024;
}

/** Bytes of the files in a folder. */
export function bytesIn(folder) {
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}

/** A payload of so many bytes. */
export const payloadOf = (bytes) => ({ text: 'x'.repeat(bytes - '{"text":""}'.length) });

/**
 * A server that can be killed and started again in the same folder. Resolves when it
 * accepts connections, which it does when it is ready.
 */
export async function startKilled(build, data) {
  const folder = data ?? await mkdtemp(join(build, 'bench-'));
  const child = spawn(`${build}/tidegate`, [
    'serve', '--listen', '127.0.0.1:0', '--data', folder, '--allow-target', '127.0.0.0/8', '--log-level', 'error',
  ], { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, TIDEGATE_API_KEY: killedKey } });
  process.once('exit', () => child.kill('SIGKILL'));
  const exited = new Promise((done) => {
    child.once('exit', done);
  });
  const url = await listeningLine(child.stdout);
  return {
    url,
    key: killedKey,
    pid: child.pid,
    data: folder,
    kill: () => {
      child.kill('SIGKILL');
      return exited;
    },
    clear: () => rm(folder, { recursive: true }),
    call: async (method, path, body) => {
      const response = await fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${killedKey}` },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
      const text = await response.text();
      if (!response.ok)
        throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return text && JSON.parse(text);
    },
  };
}

/**
 * Publishes `count` times the same job, `batch` at a time, calling `pause` after each
 * batch. Resolves with the seconds that it took.
 */
export async function publishMany(server, { queue, job, count, batch = 1000, atOnce = 8, pause = () => {} }) {
  const body = JSON.stringify({ jobs: Array(batch).fill(job) });
  let left = count / batch;
  const from = performance.now();
  await Promise.all(Array.from({ length: atOnce }, async () => {
    while (left-- > 0) {
      await server.call('POST', `/v1/queues/${queue}/jobs/batch`, body);
      await pause();
    }
  }));
  return (performance.now() - from) / 1000;
}
