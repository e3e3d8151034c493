// "Why is my job not running?": each gate is shut in turn on a real server, and the
// README has to show what `tidegate jobs explain` says of it, word for word but
// for ids and times.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { cliOf } from './support/cli.mjs';
import { never, notNow, startReceiver } from './support/receiver.mjs';
import { startServer } from './support/server.mjs';
import { patience, until } from './support/time.mjs';

const timeout = 60_000 * patience;
const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

/** Returns text without what differs from run to run. */
function timeless(text) {
  const span = String.raw`\d+ (?:ms|s|min|h|d)(?: \d+ (?:ms|s|min|h))?`;
  return text
    .replace(/job_[0-9a-z]+/g, 'JOB')
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, 'TIME')
    .replace(new RegExp(String.raw`\((?:in ${span}|${span} ago)\)`, 'g'), '(SPAN)')
    .trimEnd();
}

/** What the README shows, by the commands that it shows. */
const shown = [...readme.matchAll(/^\$ build\/tidegate jobs explain \S+\n((?:(?!```|\$ ).*\n)+)/gm)]
  .map(([, output]) => timeless(output));

/** Answers with the next of `answers`, and to all others not at all. */
const inTurn = (...answers) => () => answers.shift() ?? never();

/**
 * How each gate comes to be shut. A scene makes the queue `emails` with the fields
 * that it is given, and returns the job that waits.
 */
const scenes = {
  async hold({ create, api }) {
    await create({}, inTurn(notNow(60)));
    await api.publish('emails', 1);
    await api.gateOnce('emails', 'held');
    return api.publish('emails', 2);
  },
  async probe({ create, api }) {
    await create({}, inTurn(notNow(0.2)));
    await api.publish('emails', 1);
    await api.gateOnce('emails', 'probing');
    return api.publish('emails', 2);
  },
  async paused({ create, api }) {
    await create();
    await api.pause('emails');
    return api.publish('emails', 1);
  },
  async concurrency({ create, api, flying }) {
    await create({ concurrency: 1 });
    await api.publish('emails', 1);
    await flying(1);
    return api.publish('emails', 2);
  },
  async rate({ create, api, flying }) {
    await create({ rateLimitMax: 1, rateLimitWindow: 60 });
    await api.publish('emails', 1);
    await flying(1);
    return api.publish('emails', 2);
  },
  async ramp({ create, api, flying }) {
    await create({ recovery: { mode: 'ramp', start: 1, factor: 2 } }, inTurn(notNow(0.2), { status: 200 }));
    const { id } = await api.publish('emails', 1);
    await api.jobWithStatus(id, 'completed');
    await api.publish('emails', 2);
    await flying(1);
    return api.publish('emails', 3);
  },
  async delay({ create, api }) {
    await create();
    return api.publish('emails', 1, { delay: 3600 });
  },
  async backoff({ create, api }) {
    await create({ backoff: { type: 'fixed', delay: 60 } }, inTurn({ status: 500 }));
    const { id } = await api.publish('emails', 1);
    return api.jobOnce(id, 'failed', ({ attempts }) => attempts === 1);
  },
  async defer({ create, api }) {
    await create({ mode: 'ack' }, inTurn({ status: 202 }));
    const { id } = await api.publish('emails', 1);
    await api.jobWithStatus(id, 'awaiting_ack');
    await api.report(id, 'defer', { retryAfter: 60, scope: 'job' });
    return api.job(id);
  },
  async key_hold({ create, api }) {
    await create({ backpressureScope: 'key' }, inTurn(notNow(60)));
    const { id } = await api.publish('emails', 1, { limitKey: 'tenant-7' });
    await api.jobOnce(id, 'deferred', ({ deferCount }) => deferCount === 1);
    return api.publish('emails', 2, { limitKey: 'tenant-7' });
  },
  async key_probe({ create, api, flying }) {
    await create({ backpressureScope: 'key' }, inTurn(notNow(0.2)));
    const { id } = await api.publish('emails', 1, { limitKey: 'tenant-7' });
    await api.jobOnce(id, 'deferred', ({ deferCount }) => deferCount === 1);
    await flying(1);
    return api.publish('emails', 2, { limitKey: 'tenant-7' });
  },
  async key_concurrency({ create, api, flying }) {
    await create({ keyConcurrency: 1 });
    await api.publish('emails', 1, { limitKey: 'tenant-7' });
    await flying(1);
    return api.publish('emails', 2, { limitKey: 'tenant-7' });
  },
  async key_rate({ create, api, flying }) {
    await create({ keyRateLimitMax: 1, rateLimitWindow: 60 });
    await api.publish('emails', 1, { limitKey: 'tenant-7' });
    await flying(1);
    return api.publish('emails', 2, { limitKey: 'tenant-7' });
  },
  async global_concurrency({ create, api, flying }) {
    await create();
    await api.publish('emails', 1);
    await flying(1);
    return api.publish('emails', 2);
  },
};

/** What a server needs for a gate besides. */
const flagsFor = { global_concurrency: ['--max-in-flight', '1'] };

/** Shuts a gate. Returns the job that waits for it, and a shell. */
async function shut(t, gate) {
  const server = await startServer(t, { flags: ['--allow-target', '127.0.0.0/8', ...(flagsFor[gate] ?? [])] });
  const { api } = server;
  let receiver;
  const world = {
    api,
    async create(fields = {}, answer = never) {
      receiver = await startReceiver(t, answer);
      await api.createQueue('emails', { webhookUrl: receiver.url, ...fields });
    },
    flying: (count) => until(`${count} in flight`, 10, () => receiver.inFlight === count),
  };
  const { id } = await scenes[gate](world);
  await api.jobOnce(id, 'waiting', ({ blockedBy }) => blockedBy.length > 0);
  return { id, api, cli: cliOf(server) };
}

for (const gate of Object.keys(scenes))
  test(`the README shows what is said of the gate ${gate}`, { timeout }, async (t) => {
    const { id, api, cli } = await shut(t, gate);
    const { blockedBy } = await api.job(id);
    assert.equal(blockedBy[0].gate, gate);
    const said = await cli.ask('jobs', 'explain', id);
    t.diagnostic(said);
    assert.ok(shown.includes(timeless(said)), `the README does not show this:\n${said}`);
  });

test('the README shows no more than that, but for the one with several gates', () => {
  assert.equal(shown.length, Object.keys(scenes).length + 1);
  assert.equal(new Set(shown).size, shown.length);
});

test('the table of the README has every gate', () => {
  const rows = [...readme.matchAll(/^\| (`[a-z_`, ]+`) \|/gm)].flatMap(([, cell]) => cell.replaceAll('`', '').split(', '));
  assert.deepEqual(Object.keys(scenes).filter((gate) => !rows.includes(gate)), []);
});
