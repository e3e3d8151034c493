// The server with a certificate of its own.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectPlain } from 'node:net';
import { test } from 'node:test';
import { connect } from 'node:tls';

import { makeAuthority, sign } from './support/certificates.mjs';
import { startReceiver } from './support/receiver.mjs';
import { run, startServer, temporaryFolder } from './support/server.mjs';
import { patience, until } from './support/time.mjs';

const timeout = 60_000 * patience;
const names = 'IP:127.0.0.1';

async function startTls(t) {
  const authority = makeAuthority(temporaryFolder(t), 'authority');
  const { certFile, keyFile } = sign(authority, names);
  const ca = readFileSync(authority.ca, 'utf8');
  const flags = ['--allow-target', '127.0.0.0/8', '--tls-cert', certFile, '--tls-key', keyFile];
  const server = await startServer(t, { flags, ca });
  return { authority, certFile, keyFile, ca, server, api: server.api, port: Number(new URL(server.api.url).port) };
}

/** Returns the fingerprint of the certificate that a new connection gets. */
function shownBy({ port, ca }) {
  return new Promise((done, failed) => {
    const socket = connect({ host: '127.0.0.1', port, ca, ALPNProtocols: ['http/1.1'] }, () => {
      const { fingerprint256 } = socket.getPeerCertificate();
      assert.equal(socket.alpnProtocol, 'http/1.1');
      socket.end();
      done(fingerprint256);
    });
    socket.once('error', failed);
  });
}

test('with a certificate everything works over https', { timeout }, async (t) => {
  const receiver = await startReceiver(t);
  const { server, api } = await startTls(t);
  assert.match(api.url, /^https:/);
  await api.createQueue('q', { webhookUrl: receiver.url });
  const { id } = await api.publish('q', { n: 1 });
  await api.jobWithStatus(id, 'completed');
  assert.deepEqual(await server.stop(), { code: 0, signal: null });
  assert.equal(server.launched.err, '');
});

test('plain HTTP to the TLS port is not answered', { timeout }, async (t) => {
  const { port, api } = await startTls(t);
  const answer = await new Promise((done) => {
    const socket = connectPlain(port, '127.0.0.1', () => socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n'));
    let text = '';
    socket.on('data', (bytes) => { text += bytes; });
    socket.once('error', () => {});
    socket.once('close', () => done(text));
  });
  assert.ok(!answer.includes('HTTP/1.1'), answer);
  assert.equal((await api.send('GET', '/healthz')).status, 200);
});

test('SIGHUP changes the certificate while requests run', { timeout }, async (t) => {
  const world = await startTls(t);
  const { server, api } = world;
  await api.createQueue('q', { webhookUrl: 'http://127.0.0.1:9/' });
  await api.pause('q');
  let running = true;
  let published = 0;
  const workers = Array.from({ length: 8 }, async () => {
    while (running) {
      await api.publish('q', 1);
      ++published;
    }
  });
  const seen = [await shownBy(world)];
  for (let n = 0; n < 3; ++n) {
    const before = published;
    sign(world.authority, names);
    server.signal('SIGHUP');
    await until('a new certificate', 20, async () => !seen.includes(await shownBy(world)));
    seen.push(await shownBy(world));
    await until('more requests', 20, () => published > before);
  }
  running = false;
  await Promise.all(workers);
  assert.equal((await api.queue('q')).counts.pending, published);
  assert.deepEqual(await server.stop(), { code: 0, signal: null });
});

test('a bad file at SIGHUP leaves the certificate as it was', { timeout }, async (t) => {
  const world = await startTls(t);
  const before = await shownBy(world);
  writeFileSync(world.certFile, 'hello');
  world.server.signal('SIGHUP');
  await until('a complaint', 20, () => world.server.launched.err.includes(world.certFile));
  assert.match(world.server.launched.err, /stays as it was/);
  assert.equal(await shownBy(world), before);
  assert.equal((await world.api.send('GET', '/readyz')).status, 200);
});

test('a certificate that never comes keeps the server from nothing', { timeout }, async (t) => {
  const world = await startTls(t);
  const before = await shownBy(world);
  rmSync(world.certFile);
  execFileSync('mkfifo', [world.certFile]);
  world.server.signal('SIGHUP');
  await until('a complaint', 20, () => world.server.launched.err.includes(world.certFile));
  assert.equal(await shownBy(world), before);
  // Somebody has it open, and writes nothing.
  const pipe = openSync(world.certFile, 'r+');
  t.after(() => closeSync(pipe));
  world.server.signal('SIGHUP');
  assert.deepEqual(await world.server.stop(), { code: 0, signal: null });
});

test('SIGHUP without a certificate changes nothing', { timeout }, async (t) => {
  const server = await startServer(t);
  server.signal('SIGHUP');
  assert.equal((await server.api.send('GET', '/readyz')).status, 200);
  assert.deepEqual(await server.stop(), { code: 0, signal: null });
});

test('a certificate without a key, or the other way round: exit 2', { timeout }, async (t) => {
  const data = ['--data', temporaryFolder(t)];
  const alone = await run(['serve', ...data, '--tls-cert', '/x.pem']);
  assert.equal(alone.code, 2);
  assert.match(alone.err, /^tidegate: tls_cert is set without tls_key: [^\n]+\n$/);
  const other = await run(['serve', ...data], { TIDEGATE_TLS_KEY: '/x.key' });
  assert.equal(other.code, 2);
  assert.match(other.err, /^tidegate: tls_key is set without tls_cert: [^\n]+\n$/);
});

test('files that cannot be used: exit 1, and which one', { timeout }, async (t) => {
  const folder = temporaryFolder(t);
  const authority = makeAuthority(folder, 'authority');
  const { certFile } = sign(authority, names);
  const serve = (cert, key) => run(['serve', '--listen', '127.0.0.1:0', '--data', folder,
    '--tls-cert', cert, '--tls-key', key]);
  for (const [cert, key, complaint] of [
    ['/nowhere.pem', authority.caKey, /\/nowhere\.pem cannot be read/],
    [certFile, '/nowhere.key', /\/nowhere\.key cannot be read/],
    [certFile, authority.caKey, /does not belong to the certificate/],
  ]) {
    const { code, out, err } = await serve(cert, key);
    assert.equal(code, 1);
    assert.equal(out, '');
    assert.match(err, complaint);
  }
});
