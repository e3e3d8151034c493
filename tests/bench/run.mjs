// Measures a release build on this machine and prints a table.
//
//   node tests/bench/run.mjs push build/release     (or ./dev bench)
//   node tests/bench/run.mjs pull build/release     (or ./dev bench pull)
//   node tests/bench/run.mjs watch build/release    (or ./dev bench watch)
//   node tests/bench/run.mjs count build/release    (or ./dev bench count)
//   node tests/bench/run.mjs backlog build/release  (or ./dev bench backlog)
//   node tests/bench/run.mjs ended build/release    (or ./dev bench ended)
//   node tests/bench/run.mjs overload build/release (or ./dev bench overload)
//   node tests/bench/run.mjs limit build/release    (or ./dev bench limit)
//   node tests/bench/run.mjs queues build/release   (or ./dev bench queues)
//   node tests/bench/run.mjs stalls build/release   (or ./dev bench stalls)
//
// Everything shares the cores, so figures are to compare with others from the same
// machine. Data is put beside the build, not in /tmp, which may be memory.

import assert from 'node:assert/strict';
import { cpus } from 'node:os';
import { resolve } from 'node:path';

import * as backlog from './backlog.mjs';
import * as count from './count.mjs';
import * as ended from './ended.mjs';
import * as limit from './limit.mjs';
import * as overload from './overload.mjs';
import * as pull from './pull.mjs';
import * as push from './push.mjs';
import * as queues from './queues.mjs';
import * as stalls from './stalls.mjs';
import * as watch from './watch.mjs';

const repetitions = Number(process.env.BENCH_REPETITIONS ?? 3);
const benchmarks = {
  push, pull, watch, count, backlog, ended, overload, limit, queues, stalls,
};

const [what = 'push', buildDirectory = 'build/release'] = process.argv.slice(2);

function median(values) {
  const sorted = [...values].sort((x, y) => x - y);
  return sorted[Math.floor(sorted.length / 2)];
}

assert.ok(Object.hasOwn(benchmarks, what), `there is no benchmark '${what}', only ${Object.keys(benchmarks).join(', ')}`);
const { title, rows, measure } = benchmarks[what];
const runs = [];
for (let i = 0; i < repetitions; ++i)
  runs.push(await measure(resolve(buildDirectory)));
console.log(`${title}, ${cpus().length} cores, `
  + `median of ${repetitions} (smallest to largest)\n`);
for (const [label, name, digits] of rows) {
  const values = runs.map((run) => run[name]);
  const [middle, low, high] = [median(values), Math.min(...values), Math.max(...values)]
    .map((x) => x.toFixed(digits));
  console.log(`${label.padEnd(48)} ${middle.padStart(9)}  (${low} to ${high})`);
}
