// examples/ladder.mjs and its server, killed at the worst moments: what is published
// and then acked can be there twice and is never lost; what is published by the ack
// is always there once.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { listen } from '../../examples/tidegate.mjs';
import { startPull } from './support/pull.mjs';
import { randomFrom } from './support/random.mjs';
import { patience, until } from './support/time.mjs';

const timeout = 120_000 * patience;
const program = fileURLToPath(new URL('../../examples/ladder.mjs', import.meta.url));

/** Starts a dispatcher. `kill` ends it as kill -9 does. */
function startLadder(t, { url, key, flags }) {
  const words = ['--url', url, '--queue', 'out', '--timeout', '1', '--lease', '2', ...flags];
  const child = spawn(process.execPath, [program, ...words], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, TIDEGATE_API_KEY: key },
  });
  const exited = new Promise((done) => { child.once('exit', done); });
  const kill = () => {
    child.kill('SIGKILL');
    return exited;
  };
  t.after(kill);
  return { kill };
}

/** Starts a target that always fails, and a queue without a circuit breaker. */
async function start(t) {
  const target = await listen(() => ({ status: 500 }));
  t.after(target.close);
  const started = await startPull(t, { max_receive_count: 0 });
  return { ...started, payload: (n) => ({ target: target.url, body: { n } }) };
}

/**
 * Listens between the dispatcher and the server. The first call of a route is given
 * to `event`, and never answered; `pass` lets the server have it.
 */
async function startBetween(t, { api }, route, event) {
  let happened = false;
  const between = await listen(async (request, body) => {
    const pass = () => api.send(request.method, request.url, body);
    if (!happened && request.url.endsWith(`/${route}`)) {
      happened = true;
      await event(pass);
      request.socket.destroy();
      return { status: 502 };
    }
    try {
      const { status, text } = await pass();
      return { status, body: text };
    } catch {
      request.socket.destroy(); // as the server's end was
      return { status: 502 };
    }
  });
  t.after(between.close);
  return between;
}

/** How many copies there are, wherever. */
async function copies(queue) {
  const { depth, in_flight, dlq_count } = await queue.stats();
  return depth + in_flight + dlq_count;
}

/**
 * Waits until all messages are in the dead-letter queue, `count` of them at least.
 * Returns their payloads.
 */
async function allDead(queue, count) {
  const items = await until('all are dead letters', 60, async () => {
    const { depth, in_flight } = await queue.stats();
    // One that is on its way from queue to queue is seen in neither for a moment.
    const { items: letters } = await queue.ask('GET', `dlq/list/${queue.name}?limit=1000`);
    return depth + in_flight === 0 && letters.length >= count && letters;
  });
  assert.ok(items.every(({ dead_letter }) => dead_letter === null));
  return items.map(({ payload }) => payload);
}

const forms = { 'with --atomic': ['--atomic'], 'without --atomic': [] };

/** Who is killed, before or after which call has been stored, and what is there then. */
const cases = [
  ['with --atomic', 'dispatcher', 'before', 'ack', 1],
  ['with --atomic', 'dispatcher', 'after', 'ack', 1],
  ['with --atomic', 'server', 'before', 'ack', 1],
  ['with --atomic', 'server', 'after', 'ack', 1],
  ['without --atomic', 'dispatcher', 'before', 'publish', 1],
  ['without --atomic', 'dispatcher', 'after', 'publish', 2],
  ['without --atomic', 'dispatcher', 'after', 'ack', 1],
  ['without --atomic', 'server', 'before', 'publish', 1],
  ['without --atomic', 'server', 'after', 'publish', 2],
  ['without --atomic', 'server', 'before', 'ack', 1],
  ['without --atomic', 'server', 'after', 'ack', 1],
];

for (const [form, victim, when, route, count] of cases)
  test(`${form}, the ${victim} killed ${when} the ${route} is stored: ${count} in the end`, { timeout }, async (t) => {
    const { server, api, queue, payload } = await start(t);
    const flags = ['--steps', '1', ...forms[form]];
    let ladder;
    let tell;
    const killed = new Promise((done) => { tell = done; });
    const { url } = await startBetween(t, server, route, async (pass) => {
      if (when === 'after')
        assert.ok((await pass()).status < 300);
      await (victim === 'server' ? server.killAndStart() : ladder.kill());
      tell();
    });
    await queue.publish(payload(1));
    ladder = startLadder(t, { url, key: api.key, flags });
    await killed;
    if (victim === 'dispatcher') {
      assert.equal(await copies(queue), count);
      startLadder(t, { url: api.url, key: api.key, flags });
    }
    const letters = await allDead(queue, count);
    assert.equal(letters.length, count);
    for (const { attempt, error, body } of letters)
      assert.deepEqual([attempt, error, body], [2, 'status 500', { n: 1 }]);
  });

for (const [form, flags] of Object.entries(forms))
  test(`${form}, both killed at random moments: nothing is lost`, { timeout }, async (t) => {
    const random = randomFrom(t);
    const { server, api, queue, payload } = await start(t);
    const numbers = Array.from({ length: 60 }, (_, n) => n);
    await queue.ask('POST', 'publish_batch', { queue: 'out', messages: numbers.map((n) => ({ payload: payload(n) })) });
    const startOne = () => startLadder(t, { url: api.url, key: api.key, flags: ['--steps', '1,1', ...flags] });
    for (let n = 0; n < 10; ++n) {
      const ladder = startOne();
      await sleep(200 + random() * 600);
      if (n % 2 === 1) {
        await server.killAndStart();
        await sleep(random() * 100);
      }
      await ladder.kill();
    }
    startOne();
    const letters = await allDead(queue, numbers.length);
    t.diagnostic(`${letters.length - numbers.length} of ${numbers.length} are there twice`);
    assert.deepEqual([...new Set(letters.map(({ body }) => body.n))].sort((x, y) => x - y), numbers);
    assert.ok(letters.every(({ attempt }) => attempt === 3));
    if (flags.includes('--atomic'))
      assert.equal(letters.length, numbers.length);
  });
