// https: the certificate has to be valid, trusted, and for the name that is called.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { makeAuthority, sign } from './support/certificates.mjs';
import { accept, startReceiver } from './support/receiver.mjs';
import { startServer, temporaryFolder } from './support/server.mjs';
import { patience, until } from './support/time.mjs';

const timeout = 60_000 * patience;

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
  refusesWith(t, 'tls_certificate_issuer_unknown', { names: 'IP:127.0.0.1', trusted: false })));

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

const ended = ({ status }) => status === 'completed' || status === 'dead';

/** Starts a webhook that nobody trusts by default, and a server. */
async function startStrangers(t) {
  const authority = makeAuthority(temporaryFolder(t), 'private');
  const receiver = await startReceiver(t, accept, { tls: sign(authority, 'IP:127.0.0.1') });
  const server = await startServer(t);
  return { receiver, server, api: server.api, ca: readFileSync(authority.ca, 'utf8') };
}

/** Publishes a job and returns what became of it. */
async function outcome(api, queue) {
  const { id } = await api.publish(queue, 1);
  return api.jobOnce(id, 'ended', ended);
}

test('a queue with tlsCa reaches a private authority, others do not', { timeout }, async (t) => {
  const { receiver, server, api, ca } = await startStrangers(t);
  const settings = { webhookUrl: receiver.url, maxAttempts: 1 };
  const made = await api.createQueue('private', { ...settings, tlsCa: ca });
  assert.equal(made.tlsCa, ca);
  await api.createQueue('plain', settings);
  assert.equal((await outcome(api, 'private')).status, 'completed');
  const refused = await outcome(api, 'plain');
  assert.equal(refused.history[0].errorCode, 'tls_certificate_issuer_unknown');
  assert.equal(receiver.arrivals.length, 1);
  await server.killAndStart();
  assert.equal((await api.queue('private')).tlsCa, ca);
  assert.equal((await outcome(api, 'private')).status, 'completed');
  assert.equal((await api.ask('PATCH', '/v1/queues/private', { tlsCa: null })).tlsCa, null);
  assert.equal((await outcome(api, 'private')).status, 'dead');
});

test('only an admin key makes a queue that takes any certificate', { timeout }, async (t) => {
  const { receiver, server, api } = await startStrangers(t);
  const settings = { webhookUrl: receiver.url, maxAttempts: 1 };
  const { key } = await api.ask('POST', '/v1/keys', { project: 'default', scopes: ['manage', 'read'] });
  const manager = api.as(key);
  await manager.createQueue('q', settings);
  for (const [method, path, body] of [
    ['POST', '/v1/queues', { name: 'r', ...settings, tlsInsecure: true }],
    ['PUT', '/v1/queues/q', { ...settings, tlsInsecure: true }],
    ['PATCH', '/v1/queues/q', { tlsInsecure: true }],
  ]) {
    const { status, json } = await manager.send(method, path, body);
    assert.equal(status, 403);
    assert.equal(json.code, 'forbidden');
    assert.match(json.error, /tlsInsecure.*scope admin/);
  }
  assert.equal((await api.queue('q')).tlsInsecure, false);
  assert.equal((await outcome(api, 'q')).status, 'dead');
  assert.equal((await api.ask('PATCH', '/v1/queues/q', { tlsInsecure: true })).tlsInsecure, true);
  assert.equal((await outcome(api, 'q')).status, 'completed');
  assert.match(server.launched.err, /queue q of project default.*not be verified/);
  await manager.ask('PUT', '/v1/queues/q', settings);
  assert.equal((await api.queue('q')).tlsInsecure, false);
  assert.equal((await outcome(api, 'q')).status, 'dead');
});

test('a tlsCa that is no certificate is refused by its name', { timeout }, async (t) => {
  const { receiver, api } = await startStrangers(t);
  const { status, json } = await api.send('POST', '/v1/queues', { name: 'q', webhookUrl: receiver.url, tlsCa: 'hello' });
  assert.equal(status, 400);
  assert.deepEqual(json.error.fieldErrors, {
    tlsCa: ['must be PEM text of one or more certificates, found none'],
  });
});

test('a push subscription may trust a private authority', { timeout }, async (t) => {
  const { receiver, api, ca } = await startStrangers(t);
  await api.ask('POST', '/v1/queue/create', { name: 'out', type: 'standard' });
  const { data } = await api.ask('POST', '/v1/queue/push_subscribe/out', { url: receiver.url, tls_ca: ca });
  assert.equal(data.tls_ca, ca);
  assert.equal(data.tls_insecure, false);
  await api.ask('POST', '/v1/queue/publish', { queue: 'out', payload: { n: 1 } });
  await until('pushed', 20, () => receiver.arrivals.length === 1);
});
