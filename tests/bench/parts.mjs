// What the benchmarks share: the programs beside the server, and its CPU time.

import { execFile, execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

import { listeningLine } from '../../examples/tidegate.mjs';

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
