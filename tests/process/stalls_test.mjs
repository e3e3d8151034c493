// Webhooks that stop at one step: the delivery ends when it has to, and nobody else
// waits for it.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startNameServer } from './support/name_server.mjs';
import { startReceiver } from './support/receiver.mjs';
import { startServer } from './support/server.mjs';
import { startStalls } from './support/stalls.mjs';
import { patience } from './support/time.mjs';

const timeout = 120_000 * patience;
const deliveryTimeoutMs = 2000;
const graceMs = 200;

/** More than the buffers between two sockets hold. */
const largePayload = 'x'.repeat(12 * 1024 * 1024);

/** The status counts once it is there, whatever becomes of the body. */
const good = new Set(['mid-body', 'a byte of body a second']);

async function start(t) {
  const names = await startNameServer(t, (name) => (name === 'swift.example' ? ['127.0.0.1'] : undefined));
  const server = await startServer(t, {
    flags: ['--allow-target', '127.0.0.0/8', '--dns-server', names.where, '--max-body', '16777216'],
  });
  const stalls = await startStalls(t);
  return { server, stalls };
}

test('whatever step a webhook stops at, the delivery ends at its deadline', { timeout }, async (t) => {
  const { server, stalls } = await start(t);
  const jobs = new Map();
  for (const [step, webhookUrl] of stalls) {
    const queue = step.replaceAll(' ', '-');
    await server.api.createQueue(queue, {
      webhookUrl,
      timeout: deliveryTimeoutMs / 1000,
      // A second delivery would join the look-up of the first one, and end with it.
      maxAttempts: step === 'dns' ? 1 : 3,
      backoff: { type: 'fixed', delay: 0 },
      tlsInsecure: true,
    });
    jobs.set(step, (await server.api.publish(queue, step === 'write' ? largePayload : step)).id);
  }
  for (const [step, id] of jobs) {
    const job = await server.api.jobOnce(id, 'ended', ({ status }) => status === 'completed' || status === 'dead', 30);
    assert.equal(job.status, good.has(step) ? 'completed' : 'dead', `${step}: ${job.lastError}`);
    for (const { errorCode, durationMs } of job.history) {
      assert.equal(errorCode, good.has(step) ? null : 'timeout', `${step}: ${job.lastError}`);
      assert.ok(durationMs >= deliveryTimeoutMs - 10, `${step}: ${durationMs} ms`);
    }
    // On a busy machine one may be late; that all are is a fault.
    const least = Math.min(...job.history.map(({ durationMs }) => durationMs));
    assert.ok(least < deliveryTimeoutMs + graceMs, `${step}: ${least} ms`);
  }
});

test('while webhooks hang in every way, the jobs of others are delivered', { timeout }, async (t) => {
  const { server, stalls } = await start(t);
  const swift = await startReceiver(t);
  await server.api.createQueue('swift', { webhookUrl: `http://swift.example:${swift.port}/`, concurrency: 4 });
  for (const [step, webhookUrl] of stalls) {
    const queue = step.replaceAll(' ', '-');
    await server.api.createQueue(queue, { webhookUrl, timeout: 60, concurrency: 50, tlsInsecure: true });
    await server.api.publishMany(queue, 50);
  }
  await server.api.publishMany('swift', 200);
  const { counts } = await server.api.drained('swift', 20);
  assert.equal(counts.completed, 200);
  // What hangs is still under way, and is given up at once when the server stops.
  for (const step of stalls.keys())
    assert.equal((await server.api.queue(step.replaceAll(' ', '-'))).counts.processing, 50, step);
});
