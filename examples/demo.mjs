// What does a hold look like? A downstream that takes jobs, then says "429, in
// two seconds" for eight seconds, then takes jobs again, and a line every half a
// second about what the queue does meanwhile.
//
//   node examples/demo.mjs build/tidegate        (or ./dev demo)

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

import { binaryFrom, listen, startServer } from './tidegate.mjs';

const jobsPerSecond = 20;
const publishSeconds = 15;
const outage = { from: 4, to: 12, retryAfter: 2 };
const giveUpAfter = 60;

const paint = process.stdout.isTTY && !process.env.NO_COLOR
  ? (code, text) => `\x1b[${code}m${text}\x1b[0m`
  : (_, text) => text;
const colours = { open: 32, held: 31, probing: 33 };

const start = Date.now();
const elapsed = () => (Date.now() - start) / 1000;

// -- the downstream -----------------------------------------------------------

const seen = { taken: 0, refused: 0 };

const downstream = await listen(async () => {
  await sleep(30);
  const now = elapsed();
  if (now >= outage.from && now < outage.to) {
    ++seen.refused;
    return { status: 429, headers: { 'retry-after': String(outage.retryAfter) } };
  }
  ++seen.taken;
  return { status: 200 };
});

// -- the publisher ------------------------------------------------------------

const server = await startServer(binaryFrom(process.argv[2]));
await server.call('POST', '/v1/queues', { name: 'demo', webhookUrl: downstream.url, concurrency: 8 });

async function publish() {
  const ids = [];
  while (elapsed() < publishSeconds) {
    const { id } = await server.call('POST', '/v1/queues/demo/jobs', { payload: { n: ids.length } });
    ids.push(id);
    await sleep(Math.max(0, ids.length / jobsPerSecond - elapsed()) * 1000);
  }
  return ids;
}

// -- the timeline -------------------------------------------------------------

/** Says what the gate does: its state, and how long a hold still lasts. */
function describe(gate) {
  const left = (Date.parse(gate.releaseAt) - Date.now()) / 1000;
  const wait = gate.state === 'held' && left > 0 ? ` ${left.toFixed(1)} s left` : '';
  return paint(colours[gate.state], gate.state.toUpperCase() + wait);
}

function row({ counts, gate }) {
  const backlog = counts.pending + counts.processing;
  const bar = '#'.repeat(Math.min(40, Math.ceil(backlog / 5)));
  console.log([
    elapsed().toFixed(1).padStart(5),
    String(backlog).padStart(8),
    String(seen.taken).padStart(7),
    String(seen.refused).padStart(4),
    ` ${describe(gate)} ${bar}`,
  ].join(' '));
}

/** Prints until all is done. Returns the states that the gate was seen in. */
async function watch(published) {
  const states = [];
  let ids;
  published.then((all) => { ids = all; });
  let nextRow = 0;
  for (;;) {
    const queue = await server.call('GET', '/v1/queues/demo');
    const changed = queue.gate.state !== states.at(-1);
    if (changed)
      states.push(queue.gate.state);
    if (changed || elapsed() >= nextRow) {
      row(queue);
      nextRow = elapsed() + 0.5;
    }
    if (ids && queue.counts.completed + queue.counts.dead === ids.length)
      return states;
    assert.ok(elapsed() < giveUpAfter, `not done after ${giveUpAfter} s`);
    await sleep(20);
  }
}

console.log(`${jobsPerSecond} jobs/s for ${publishSeconds} s; from second ${outage.from} to `
  + `${outage.to} the downstream answers 429 with Retry-After: ${outage.retryAfter}\n`);
console.log('    s  backlog   taken  429  gate');
const published = publish();
const states = await watch(published);
const ids = await published;
const { counts } = await server.call('GET', '/v1/queues/demo');
const jobs = await Promise.all(ids.map((id) => server.call('GET', `/v1/jobs/${id}`)));
const burned = jobs.filter((job) => job.attempts > 1).length;

console.log(`
${ids.length} jobs, ${counts.completed} completed, ${counts.dead} dead
${seen.refused} deliveries were refused in ${outage.to - outage.from} s of outage, ${burned} attempts were burned
gate: ${states.join(' > ')}`);
await server.stop();
await downstream.close();

assert.equal(counts.completed, ids.length);
assert.equal(burned, 0);
assert.ok(states.includes('held'), 'the gate was never seen held');
