// What does the ladder do with a target that is well, one that fails now and then,
// and one that is down?
//
//   node examples/ladder-demo.mjs build/tidegate [--atomic]
//
// starts a server, the targets and ladder.mjs with steps of seconds; publishes a
// message for each target; and when the one that is down has got as far as the
// dead-letter queue, mends it and has its message sent back. Ends after that.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { binaryFrom, listen, startServer, until } from './tidegate.mjs';

const steps = [1, 1, 2, 2, 3]; // instead of 60, 300, 1800, 7200, 43200
const timeout = 0.5; // instead of 10
const queue = 'webhook-out';

// -- the targets --------------------------------------------------------------

const never = () => new Promise(() => {});
const seen = { well: [], flaky: [], down: [] };
let mended = false;

const behaviours = {
  well: () => ({ status: 200 }),
  flaky: (nth) => [() => ({ status: 500 }), never, () => ({ status: 204 })][nth - 1](),
  // Mended, it needs a while: what is redriven has a whole ladder before it.
  down: (nth) => ({ status: mended && nth > steps.length + 2 ? 200 : 503 }),
};

const targets = await listen((request, body) => {
  const name = request.url.slice(1);
  seen[name].push({ at: Date.now(), body: JSON.parse(body) });
  return behaviours[name](seen[name].length);
});

// -- all of it together -------------------------------------------------------

const server = await startServer(binaryFrom(process.argv[2]));
const ask = async (method, path, body) => (await server.call(method, `/v1/queue/${path}`, body)).data;
await ask('POST', 'create', { name: queue, type: 'standard' });

const ladder = spawn(process.execPath, [
  fileURLToPath(new URL('ladder.mjs', import.meta.url)), '--url', server.url, '--queue', queue,
  '--steps', steps.join(), '--timeout', String(timeout), ...process.argv.slice(3),
], { stdio: 'inherit', env: { ...process.env, TIDEGATE_API_KEY: server.key } });
const ended = new Promise((done) => { ladder.once('exit', done); });
process.once('exit', () => ladder.kill('SIGKILL'));

const published = {};
for (const name of Object.keys(seen)) {
  const payload = { target: `${targets.url}/${name}`, body: { to: name, big: '9007199254740993' } };
  published[name] = await ask('POST', 'publish', { queue, payload });
}

const [letter] = await until('the last step is done', 60, async () => {
  const { items } = await ask('GET', `dlq/list/${queue}`);
  return items.length > 0 && items;
});

/** Checks how often a target was called, and that each step was waited for. */
function checkTries(name, count) {
  const calls = seen[name];
  assert.equal(calls.length, count, `${name} was called ${calls.length} times`);
  assert.ok(calls.every(({ body }) => body.to === name && body.big === '9007199254740993'));
  for (let n = 1; n < count; ++n) {
    const gap = (calls[n].at - calls[n - 1].at) / 1000;
    assert.ok(gap >= steps[n - 1] && gap < steps[n - 1] + 5, `${name}: ${gap} s between tries ${n} and ${n + 1}`);
  }
}

checkTries('well', 1);
checkTries('flaky', 3);
checkTries('down', steps.length + 1);
assert.deepEqual([letter.payload.attempt, letter.payload.error], [steps.length + 1, 'status 503']);
assert.equal(letter.dead_letter, null, 'the ladder ended, not the count of receives');
const idle = await until('nothing is left', 10, async () => {
  const stats = await ask('GET', `stats/${queue}`);
  return stats.depth + stats.in_flight === 0 && stats;
});
assert.deepEqual([idle.dlq_count, idle.dead_lettered_total], [1, 0]);
assert.equal(idle.received_total, seen.well.length + seen.flaky.length + seen.down.length);
console.log(`dead after ${letter.payload.attempt} tries; now its target is mended`);

mended = true;
const { redriven } = await ask('POST', `dlq/redrive/${queue}`, {});
assert.equal(redriven, 1);
await until('the message is taken', 20, () => seen.down.length === steps.length + 3);
const end = await until('nothing is left', 10, async () => {
  const stats = await ask('GET', `stats/${queue}`);
  return stats.depth + stats.in_flight + stats.dlq_count === 0 && stats;
});
assert.equal(end.acked_total, end.received_total);
console.log(`redriven and taken; ${end.received_total} receives, as many acks, nothing is left`);

ladder.kill('SIGTERM');
assert.equal(await ended, 0);
await server.stop();
await targets.close();
