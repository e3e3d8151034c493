// https: the certificate has to be valid, trusted, and for the name that is called.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { makeAuthority, sign } from './support/certificates.mjs';
import { accept, startReceiver } from './support/receiver.mjs';
import { startServer, temporaryFolder } from './support/server.mjs';

const timeout = 60_000;

/**
 * Delivers one job over https to a webhook whose certificate is for `names`,
 * called by `host`. Returns the job after its first delivery.
 */
async function deliver(t, { names, host = '127.0.0.1', trusted = true, days }) {
  const authority = makeAuthority(temporaryFolder(t), 'authority');
  const receiver = await startReceiver(t, accept, { tls: sign(authority, names, days) });
  const flags = trusted ? ['--trusted-ca', authority.ca] : [];
  const server = await startServer(t, { flags: ['--allow-target', '127.0.0.0/8', ...flags] });
  const webhookUrl = `https://${host}:${receiver.port}/hook`;
  await server.api.createQueue('q', { webhookUrl, maxAttempts: 1 });
  const { id } = await server.api.publish('q', { secret: true });
  const job = await server.api.jobOnce(id, 'ended', ({ status }) => status === 'completed' || status === 'dead');
  return { job, receiver };
}

async function refusesWith(t, errorCode, setup) {
  const { job, receiver } = await deliver(t, setup);
  assert.equal(job.status, 'dead');
  assert.equal(job.attempts, 1);
  assert.equal(job.history[0].errorCode, errorCode, job.lastError);
  assert.equal(job.history[0].webhookStatusCode, null);
  assert.equal(receiver.arrivals.length, 0);
}

test('a certificate of a --trusted-ca for the address is good', { timeout }, async (t) => {
  const { job, receiver } = await deliver(t, { names: 'IP:127.0.0.1' });
  assert.equal(job.status, 'completed', job.lastError);
  assert.equal(receiver.arrivals[0].url, '/hook');
});

test('a certificate for the name is good, and the name is asked for', { timeout }, async (t) => {
  const { job, receiver } = await deliver(t, { names: 'DNS:localhost', host: 'localhost' });
  assert.equal(job.status, 'completed', job.lastError);
  assert.equal(receiver.arrivals[0].request.socket.servername, 'localhost');
  assert.equal(receiver.arrivals[0].headers.host, `localhost:${receiver.port}`);
});

test('a certificate for another name is refused', { timeout }, (t) => (
  refusesWith(t, 'tls_certificate_name_mismatch', { names: 'DNS:other.example,IP:127.0.0.2' })));

test('a certificate of an unknown authority is refused', { timeout }, (t) => (
  refusesWith(t, 'tls_certificate_untrusted', { names: 'IP:127.0.0.1', trusted: false })));

test('a certificate that has run out is refused', { timeout }, (t) => (
  refusesWith(t, 'tls_certificate_expired', { names: 'IP:127.0.0.1', days: '-1' })));

test('a webhook that does not speak TLS is a failure', { timeout }, async (t) => {
  const receiver = await startReceiver(t);
  const server = await startServer(t);
  const webhookUrl = receiver.url.replace('http:', 'https:');
  await server.api.createQueue('q', { webhookUrl, maxAttempts: 1 });
  const { id } = await server.api.publish('q', 1);
  const job = await server.api.jobWithStatus(id, 'dead');
  assert.equal(job.history[0].errorCode, 'tls_failed');
});
