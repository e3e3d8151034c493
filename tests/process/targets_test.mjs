// Only public addresses are called, unless an operator allows more.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startReceiver } from './support/receiver.mjs';
import { startServer } from './support/server.mjs';

const timeout = 60_000;

const literals = [
  'http://127.0.0.1/', 'http://2130706433/', 'http://0x7f.1/', 'http://0177.0.0.1/', 'http://[::1]/',
  'http://[::ffff:127.0.0.1]/', 'http://10.1.2.3/', 'http://169.254.169.254/latest/meta-data', 'http://0.0.0.0/',
  'http://192.168.0.1:8080/', 'http://[fd00::1]/', 'http://localhost/', 'http://localhost.:8080/',
];

test('a literal private address is refused, and the setting that would allow it is named', { timeout }, async (t) => {
  const server = await startServer(t, { flags: [] });
  for (const webhookUrl of literals) {
    const { status, json } = await server.api.send('POST', '/v1/queues', { name: 'q', webhookUrl });
    assert.equal(status, 400, webhookUrl);
    assert.equal(json.code, 'validation_failed');
    assert.match(json.error.fieldErrors.webhookUrl[0], /allow-target/, webhookUrl);
  }
  assert.deepEqual((await server.api.ask('GET', '/v1/queues')).items, []);
});

test('an address that is no longer allowed is not called, and the job says so', { timeout }, async (t) => {
  const receiver = await startReceiver(t);
  const server = await startServer(t);
  await server.api.createQueue('q', { webhookUrl: receiver.url, maxAttempts: 1 });
  await server.stop();
  server.flags = [];
  await server.start();
  const { id } = await server.api.publish('q', 1);
  const job = await server.api.jobWithStatus(id, 'dead');
  assert.equal(job.history[0].errorCode, 'target_blocked');
  assert.match(job.lastError, /allow-target/);
  assert.equal(receiver.arrivals.length, 0);
});
