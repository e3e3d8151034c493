// Much more than the server can store, on a disk that takes half a second for each
// sync: memory stays where it was, who is refused is told so, and what was admitted
// is stored and delivered.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { Faults, noFaults } from './support/faults.mjs';
import { Queue } from './support/pull.mjs';
import { startReceiver } from './support/receiver.mjs';
import { startServer } from './support/server.mjs';
import { patience } from './support/time.mjs';

const timeout = 240_000 * patience;
const memoryMaxMib = 128;

/** Memory of the process now (`VmRSS`), or at most so far (`VmHWM`). */
function memoryMib(server, what) {
  const status = readFileSync(`/proc/${server.launched.child.pid}/status`, 'utf8');
  return Number(new RegExp(`^${what}:\\s+(\\d+) kB$`, 'm').exec(status)[1]) / 1024;
}

/** Publishers that come again at once, whatever they are told. */
class Flood {
  constructor(api, path, body, jobs) {
    Object.assign(this, { api, path, jobs, body: Buffer.from(JSON.stringify(body)) });
    this.accepted = 0;
    this.refused = [];
    this.unanswered = 0;
  }

  async publish() {
    const from = performance.now();
    const answer = await this.api.send('POST', this.path, this.body).catch(() => undefined);
    if (answer === undefined) {
      ++this.unanswered;
    } else if (answer.status < 300) {
      const refused = answer.json.results?.filter(({ ok }) => !ok) ?? [];
      this.accepted += this.jobs - refused.length;
      assert.deepEqual(refused.filter(({ code }) => code !== 'overloaded'), []);
    } else {
      assert.deepEqual([answer.status, answer.json.code, answer.headers['retry-after']], [503, 'overloaded', '1']);
      this.refused.push(performance.now() - from);
      await sleep(50);
    }
  }

  run(connections, seconds) {
    const end = Date.now() + seconds * 1000;
    return Promise.all(Array.from({ length: connections }, async () => {
      while (Date.now() < end)
        await this.publish();
    }));
  }

  get told() {
    const sorted = this.refused.sort((x, y) => x - y);
    return `${this.accepted} jobs accepted, ${sorted.length} publishes refused, half of them within `
      + `${sorted[Math.floor(sorted.length / 2)]?.toFixed(0)} ms, ${this.unanswered} unanswered`;
  }
}

/** Starts a server that stores slowly, with a queue that is paused. */
async function start(t) {
  const faults = new Faults(t);
  const receiver = await startReceiver(t, undefined, { slim: true });
  const server = await startServer(t, { env: faults.env, sockets: 10_000 });
  const { api } = server;
  await api.createQueue('load', { webhookUrl: receiver.url, concurrency: 20 });
  // What it takes in any case: caches, and threads' own memory.
  await api.publishMany('load', 500);
  await api.drained('load', 60);
  await api.pause('load');
  receiver.arrivals.length = 0;
  return { faults, receiver, server, api, idle: memoryMib(server, 'VmRSS') };
}

function checkMemory(t, server, idle) {
  const peak = memoryMib(server, 'VmHWM');
  t.diagnostic(`${idle.toFixed(0)} MiB idle, ${peak.toFixed(0)} MiB at most`);
  assert.ok(peak - idle <= memoryMaxMib, `${(peak - idle).toFixed(0)} MiB more than idle`);
}

async function checkStored(api, flood) {
  const { counts } = await api.queue('load');
  assert.ok(counts.pending >= flood.accepted, `${counts.pending} of ${flood.accepted} are there`);
  assert.ok(counts.pending <= flood.accepted + flood.unanswered * flood.jobs, `${counts.pending} are there`);
  return counts.pending;
}

const floods = {
  'large jobs': { connections: 300, path: 'jobs', jobs: 1, body: { payload: 'x'.repeat(1_000_000) } },
  'large batches': {
    connections: 60, path: 'jobs/batch', jobs: 100, body: { jobs: Array(100).fill({ payload: 'x'.repeat(100_000) }) },
  },
  'batches of small jobs': {
    connections: 200, path: 'jobs/batch', jobs: 1000, body: { jobs: Array(1000).fill({ payload: 'x'.repeat(300) }) },
  },
};

for (const [what, { connections, path, jobs, body }] of Object.entries(floods))
  test(`ten times as many ${what} as there is room for leave memory where it is`, { timeout, skip: noFaults }, async (t) => {
    const { faults, server, api, idle } = await start(t);
    const pull = new Queue(api, 'pull');
    await pull.create();
    await pull.publish(1);
    const [message] = await pull.consume();
    faults.arm('slow', 'sync', { count: 0 });
    const flood = new Flood(api, `/v1/queues/load/${path}`, body, jobs);
    const running = flood.run(connections, 4);
    await sleep(2000);
    // What makes room again gets through.
    assert.equal((await api.send('GET', '/healthz')).status, 200);
    assert.equal((await pull.settle('ack', message)).status, 200);
    await running;
    t.diagnostic(flood.told);
    checkMemory(t, server, idle);
    assert.ok(flood.refused.length > 0, 'nobody was refused');
    assert.ok(flood.accepted > 0, 'nothing was admitted');
    faults.calm();
    await checkStored(api, flood);
    await api.publish('load', 'after');
    await server.killAndStart();
    assert.ok((await api.queue('load')).counts.pending > flood.accepted);
  });

test('what was admitted in an overload is delivered', { timeout, skip: noFaults }, async (t) => {
  const { faults, receiver, server, api, idle } = await start(t);
  faults.arm('slow', 'sync', { count: 0 });
  const flood = new Flood(api, '/v1/queues/load/jobs', { payload: 'x'.repeat(400_000) }, 1);
  await flood.run(400, 2);
  t.diagnostic(flood.told);
  assert.ok(flood.refused.length > 0, 'nobody was refused');
  const stored = await checkStored(api, flood);
  faults.calm();
  await api.resume('load');
  const { counts } = await api.drained('load', 120);
  assert.equal(counts.completed, 500 + stored);
  assert.equal(receiver.deliveriesById().size, stored);
  checkMemory(t, server, idle);
});
