// Only public addresses are called, unless an operator allows more.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startNameServer } from './support/name_server.mjs';
import { startReceiver } from './support/receiver.mjs';
import { startServer } from './support/server.mjs';
import { patience, until } from './support/time.mjs';

const timeout = 60_000 * patience;

const literals = [
  'http://127.0.0.1/', 'http://2130706433/', 'http://0x7f.1/', 'http://0177.0.0.1/', 'http://[::1]/',
  'http://[::ffff:127.0.0.1]/', 'http://10.1.2.3/', 'http://169.254.169.254/latest/meta-data', 'http://0.0.0.0/',
  'http://192.168.0.1:8080/', 'http://[fd00::1]/', 'http://[fe80::1]/', 'http://[64:ff9b::7f00:1]/', 'http://0/',
  'http://localhost/', 'http://localhost.:8080/',
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

const privateAddresses = [
  '127.0.0.1', '127.1.2.3', '0.0.0.0', '10.1.2.3', '169.254.169.254', '192.168.0.1', '::1', 'fe80::1', 'fd00::1',
  '64:ff9b::7f00:1',
];

test('a name that resolves to a private address is not called, and the job says why', { timeout }, async (t) => {
  const names = await startNameServer(t, (name) => [privateAddresses[Number(name.slice(1).split('.')[0])]]);
  const server = await startServer(t, { flags: ['--dns-server', names.where] });
  for (const [n, address] of privateAddresses.entries()) {
    await server.api.createQueue(`q${n}`, { webhookUrl: `http://h${n}.example/`, maxAttempts: 1 });
    const { id } = await server.api.publish(`q${n}`, 1);
    const job = await server.api.jobWithStatus(id, 'dead');
    assert.equal(job.history[0].errorCode, 'target_blocked', `${address}: ${job.lastError}`);
    assert.match(job.lastError, /allow-target/);
  }
});

test('a name that moves to a private address is judged at each connection', { timeout }, async (t) => {
  const receiver = await startReceiver(t, () => ({ status: 200, headers: { connection: 'close' } }));
  let address = '127.0.0.1';
  const names = await startNameServer(t, () => [address]);
  const server = await startServer(t, { flags: ['--allow-target', '127.0.0.1/32', '--dns-server', names.where] });
  await server.api.createQueue('q', { webhookUrl: `http://moves.example:${receiver.port}/`, maxAttempts: 1 });
  const before = await server.api.publish('q', 1);
  await server.api.jobWithStatus(before.id, 'completed');
  address = '127.0.0.2';
  await until('the answer before is forgotten', 10, async () => {
    const { id } = await server.api.publish('q', 2);
    const { status, history } = await server.api.jobOnce(id, 'ended', (job) => /completed|dead/.test(job.status));
    return status === 'dead' && history[0].errorCode === 'target_blocked';
  });
  const arrived = receiver.arrivals.length;
  const { id } = await server.api.publish('q', 3);
  await server.api.jobWithStatus(id, 'dead');
  assert.equal(receiver.arrivals.length, arrived);
});

test('a name server that is silent keeps nobody from stopping the server', { timeout }, async (t) => {
  const names = await startNameServer(t, () => undefined);
  const server = await startServer(t, { flags: ['--dns-server', names.where, '--drain-timeout', '0'] });
  await server.api.createQueue('q', { webhookUrl: 'http://stuck.example/', timeout: 60 });
  const { id } = await server.api.publish('q', 1);
  await until('it is asked', 10, () => names.asked.includes('stuck.example'));
  const { code } = await server.stop();
  assert.equal(code, 0);
  await server.start();
  assert.notEqual((await server.api.job(id)).status, 'dead');
});
