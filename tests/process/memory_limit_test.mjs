// The server gets no more memory than so much: whoever is not served is told so or
// sees the connection end, and nothing that was acknowledged is lost.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { checkAllEnded } from './support/conservation.mjs';
import { noFaults } from './support/faults.mjs';
import { startReceiver } from './support/receiver.mjs';
import { startServer } from './support/server.mjs';
import { patience, until } from './support/time.mjs';

// A sanitizer takes as much as it likes.
const options = { timeout: 120_000 * patience, skip: noFaults };
const path = '/v1/queues/load/jobs';
const connections = 100;
const seconds = 3;

/**
 * Limits what a process may write to of its own (RLIMIT_DATA: unlike addresses, glibc
 * does not have much of it in reserve); nothing: no limit.
 */
function limit(pid, bytes = 'unlimited') {
  execFileSync('prlimit', ['--pid', String(pid), `--data=${bytes}:unlimited`]);
}

function dataBytes(pid) {
  return Number(/^VmData:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024;
}

/** Publishes as much as it can. Returns what publishers were told. */
async function flood(api, bytes) {
  const told = { accepted: [], refused: 0, unanswered: 0 };
  const payload = 'x'.repeat(bytes);
  const end = Date.now() + seconds * 1000;
  const publishOne = async () => {
    const answer = await api.send('POST', path, { payload }).catch(() => undefined);
    if (answer === undefined) {
      ++told.unanswered;
    } else if (answer.status === 201) {
      told.accepted.push(answer.json.id);
    } else {
      assert.equal(answer.status, 503, answer.text);
      assert.match(answer.headers['retry-after'], /^[1-9]\d*$/);
      ++told.refused;
    }
  };
  await Promise.all(Array.from({ length: connections }, async () => {
    while (Date.now() < end)
      await publishOne();
  }));
  return told;
}

for (const [mib, bytes] of [[0, 2000], [1, 20_000], [8, 100_000], [24, 900_000]])
  test(`a server that gets ${mib} MiB more than it has loses nothing that it acknowledged`, options, async (t) => {
    const receiver = await startReceiver(t, undefined, { slim: true });
    const server = await startServer(t, { sockets: 1000 });
    const { api } = server;
    await api.createQueue('load', { webhookUrl: receiver.url, concurrency: 20 });
    const before = await api.publishMany('load', 50);
    await api.drained('load', 30);
    await api.pause('load');
    const { pid } = server.launched.child;
    let ended;
    server.exited.then((how) => { ended = how; });
    limit(pid, dataBytes(pid) + mib * 1024 * 1024);
    const { accepted, refused, unanswered } = await flood(api, bytes);
    t.diagnostic(`${accepted.length} accepted, ${refused} refused, ${unanswered} unanswered, `
      + (ended === undefined ? 'it lives' : `it ended with ${ended.code ?? ended.signal}`));
    assert.ok(refused + unanswered > 0, 'it had enough');
    if (ended === undefined) {
      limit(pid);
      // It comes to itself, without being started again.
      const id = await until('a publish', 30, async () => {
        const answer = await api.send('POST', path, { payload: 'after' }).catch(() => undefined);
        return answer?.status === 201 && answer.json.id;
      });
      accepted.push(id);
    } else {
      assert.equal(ended.code, 1, server.launched.err);
      assert.match(server.launched.err, /out of memory/);
    }
    await server.kill();
    await server.start();
    await api.resume('load');
    await api.drained('load', 60);
    const there = new Set((await api.allJobs('load')).map(({ id }) => id));
    assert.deepEqual([...before, ...accepted].filter((id) => !there.has(id)), [], 'lost');
    const surplus = there.size - before.length - accepted.length;
    assert.ok(surplus <= unanswered + refused, `${surplus} jobs that nobody asked for`);
    await checkAllEnded(api, 'load', [...there]);
  });
