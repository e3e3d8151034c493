// Measures a release build on this machine and prints a table.
//
//   node tests/bench/run.mjs push build/release     (or ./dev bench)
//
// Server, publisher and downstream share the cores, so figures are to compare
// with others from the same machine. Data is put beside the build, not in /tmp,
// which may be memory.

import assert from 'node:assert/strict';
import { execFile, execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import { listeningLine, startServer, until } from '../../examples/tidegate.mjs';

const repetitions = Number(process.env.BENCH_REPETITIONS ?? 3);
const jobs = Number(process.env.BENCH_JOBS ?? 20_000);
const connections = 64;
const rate = 200;
const rateSeconds = 10;

const [what = 'push', buildDirectory = 'build/release'] = process.argv.slice(2);
const build = resolve(buildDirectory);
const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK']));

// -- the parts ----------------------------------------------------------------

async function startSink() {
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

/** Publishes and resolves with what bench_load measured. */
async function publish(server, count, flags = []) {
  const { stdout } = await promisify(execFile)(`${build}/bench_load`, [
    '--port', new URL(server.url).port, '--path', '/v1/queues/bench/jobs', '--key', server.key,
    '--jobs', String(count), '--connections', String(connections), ...flags,
  ]);
  return JSON.parse(stdout);
}

/** Seconds of CPU that a process has used, from fields 14 and 15 of its stat. */
function cpuSeconds(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** Waits until the sink has `count` jobs and resolves with its figures. */
function delivered(sink, count) {
  return until(`${count} deliveries`, 120, async () => {
    const stats = await sink.stats();
    return stats.unique >= count && stats;
  });
}

// -- the phases ---------------------------------------------------------------

/** Publishes are answered after the fsync; nothing is delivered meanwhile. */
async function publishOnly(server) {
  await server.call('POST', '/v1/queues/bench/pause');
  const load = await publish(server, jobs);
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
async function bothAtOnce(server, sink) {
  await sink.reset();
  const before = cpuSeconds(server.pid);
  const load = await publish(server, jobs);
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
async function atRate(server, sink) {
  await sink.reset();
  const count = rate * rateSeconds;
  await publish(server, count, ['--rate', String(rate)]);
  const stats = await delivered(sink, count);
  return { p50: stats.p50_us / 1000, p99: stats.p99_us / 1000 };
}

async function measure() {
  const sink = await startSink();
  const server = await startServer(`${build}/tidegate`, { under: build });
  await server.call('POST', '/v1/queues', {
    name: 'bench', webhookUrl: `${sink.url}/`, concurrency: connections,
  });
  const figures = {
    ...await publishOnly(server),
    ...await drain(server, sink),
    ...await bothAtOnce(server, sink),
  };
  await sleep(1000);
  Object.assign(figures, await atRate(server, sink));
  await server.stop();
  sink.stop();
  return figures;
}

// -- the table ----------------------------------------------------------------

const rows = [
  ['publishes/s, each after its fsync', 'publishes', 0],
  ['p99 of these, ms', 'publishP99', 2],
  ['deliveries/s of a backlog', 'drained', 0],
  ['jobs/s, published and delivered at once', 'both', 0],
  ['CPU seconds of the server for 10,000 of these', 'cpu', 2],
  [`p50 at ${rate}/s, publish to downstream, ms`, 'p50', 2],
  [`p99 at ${rate}/s, publish to downstream, ms`, 'p99', 2],
];

function median(values) {
  const sorted = [...values].sort((x, y) => x - y);
  return sorted[Math.floor(sorted.length / 2)];
}

assert.equal(what, 'push', `there is no benchmark '${what}', only push`);
const runs = [];
for (let i = 0; i < repetitions; ++i)
  runs.push(await measure());
console.log(`${jobs} jobs of 300 B, ${connections} connections, ${cpus().length} cores, `
  + `median of ${repetitions} (smallest to largest)\n`);
for (const [label, name, digits] of rows) {
  const values = runs.map((run) => run[name]);
  const [middle, low, high] = [median(values), Math.min(...values), Math.max(...values)]
    .map((x) => x.toFixed(digits));
  console.log(`${label.padEnd(48)} ${middle.padStart(9)}  (${low} to ${high})`);
}
