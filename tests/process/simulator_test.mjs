// The server and the simulator live through the same outage, and it comes to the
// same.
//
// How long a request takes is what goes into a plan, not what comes out of it;
// on a busy machine the 20 ms of the receiver take longer. So the plan is given
// the mean that the server measured, over all of its deliveries, and the test
// holds on a machine that is busy as well.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { startOutage, wasted } from './support/outage.mjs';
import { startServer, temporaryFolder } from './support/server.mjs';
import { patience } from './support/time.mjs';

const run = promisify(execFile);
const simulator = join(resolve(process.env.TIDEGATE_BUILD ?? 'build/debug'), 'tidegate-sim');
const planFile = fileURLToPath(new URL('../../examples/plans/outage-429.json', import.meta.url));
const outageSeconds = 10;
const retryAfter = 2;

/** Returns the mean duration of a delivery as the server has it, in seconds. */
async function meanLatency(server) {
  const { text } = await server.api.send('GET', '/metrics');
  const value = (name) => {
    const lines = text.split('\n').filter((line) => line.startsWith(`tidegate_delivery_duration_seconds_${name}`));
    return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
  };
  assert.ok(value('count') > 0, text);
  return value('sum') / value('count');
}

/** Lives through the outage for real. */
async function measure(t, jobs) {
  const server = await startServer(t);
  const { receiver } = await startOutage(t, server, { jobs, seconds: outageSeconds, retryAfter });
  await server.api.resume('outage');
  await server.api.drained('outage', 60);
  const began = Math.min(...receiver.arrivals.map(({ at }) => at));
  const ended = Math.max(...receiver.arrivals.map((arrival) => arrival.ended));
  return { wasted: wasted(receiver), drainedAt: (ended - began) / 1000, latency: await meanLatency(server) };
}

/** Lives through the shipped plan, with so many jobs and this latency. */
async function simulate(t, jobs, latency) {
  const folder = temporaryFolder(t);
  const plan = JSON.parse(readFileSync(planFile, 'utf8'));
  const [outage] = plan.downstream.outages;
  assert.deepEqual([outage.length, outage.retryAfter, outage.status], [outageSeconds, retryAfter, 429]);
  plan.arrivals[0].jobs = jobs;
  Object.assign(plan.downstream, { latency, refusalLatency: latency });
  writeFileSync(join(folder, 'plan.json'), JSON.stringify(plan));
  await run(simulator, [join(folder, 'plan.json'), '--json', join(folder, 'out.json')]);
  const { variants } = JSON.parse(readFileSync(join(folder, 'out.json'), 'utf8'));
  return variants.find(({ name }) => name === 'tidegate');
}

for (const jobs of [2000, 200])
  test(`the simulator agrees with the server about ${jobs} jobs and ten seconds of 429`, { timeout: 120_000 * patience }, async (t) => {
    const real = await measure(t, jobs);
    const simulated = await simulate(t, jobs, real.latency);
    t.diagnostic(`wasted ${real.wasted}, simulated ${simulated.wasted}`);
    t.diagnostic(`drained after ${real.drainedAt} s, simulated ${simulated.drainedAt} s, `
      + `with ${(real.latency * 1000).toFixed(1)} ms a request`);
    assert.equal(simulated.wasted, real.wasted);
    assert.equal(simulated.burned, 0);
    const off = Math.abs(simulated.drainedAt - real.drainedAt) / real.drainedAt;
    // A server that was built to run slowly takes time that is not in the plan.
    if (patience === 1)
      assert.ok(off <= 0.1, `${(off * 100).toFixed(1)} % off`);
  });

test('a plan that makes no sense ends with 2 and names the field', async (t) => {
  const folder = temporaryFolder(t);
  const plan = JSON.parse(readFileSync(planFile, 'utf8'));
  plan.queue.concurrency = 0;
  plan.downstream.outages[0].lenght = 3;
  const file = join(folder, 'plan.json');
  writeFileSync(file, JSON.stringify(plan));
  const { code, stderr, stdout } = await run(simulator, [file]).catch((failed) => failed);
  assert.equal(code, 2);
  assert.equal(stdout, '');
  assert.match(stderr, /downstream\.outages\[0\]\.lenght is not a known field/);
  assert.match(stderr, /queue\.concurrency must be 1 to 10000, got 0/);
});

test('a seed that is none is refused with the range', async () => {
  for (const seed of ['-1', 'x', '1.5', '18446744073709551616']) {
    const { code, stderr } = await run(simulator, [planFile, `--seed=${seed}`]).catch((failed) => failed);
    assert.equal(code, 2, seed);
    assert.match(stderr, /--seed: must be 0 to 18446744073709551615, got/);
  }
});

test('a table that cannot be written is told, and ends with 1', async () => {
  for (const out of ['>/dev/full', '>&-']) {
    const words = ['-c', `"$0" "$1" ${out}`, simulator, planFile];
    const { code, stderr } = await run('sh', words).catch((failed) => failed);
    assert.equal(code, 1, out);
    assert.match(stderr, /the table cannot be written/);
  }
});

test('the same plan and seed give the same files, byte for byte', async (t) => {
  const folder = temporaryFolder(t);
  const plan = JSON.parse(readFileSync(planFile, 'utf8'));
  plan.arrivals[0].jobs = 100;
  plan.downstream.latency = { type: 'lognormal', median: 0.02, p99: 0.2 };
  const file = join(folder, 'plan.json');
  writeFileSync(file, JSON.stringify(plan));
  const live = async (seed, name) => {
    const [json, svg] = [join(folder, `${name}.json`), join(folder, `${name}.svg`)];
    const { stdout } = await run(simulator, [file, '--seed', String(seed), '--json', json, '--svg', svg]);
    return [stdout, readFileSync(json, 'utf8'), readFileSync(svg, 'utf8')];
  };
  const first = await live(3, 'a');
  assert.deepEqual(await live(3, 'b'), first);
  assert.notDeepEqual(await live(4, 'c'), first);
});
