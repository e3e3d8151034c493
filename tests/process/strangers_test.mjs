// Clients that want nothing good, or nothing at all: they cost little memory, and
// everybody else is answered.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { noFaults } from './support/faults.mjs';
import { startServer } from './support/server.mjs';
import { patience, until } from './support/time.mjs';

const timeout = 120_000 * patience;
const mebibyte = 1024 * 1024;
// What a sanitizer takes besides tells nothing.
const memoryMax = noFaults ? Infinity : 64 * mebibyte;
const answeredWithinMs = 2000;

/** Returns the memory of a server that is in RAM, in bytes. */
function residentBytes(server) {
  const status = readFileSync(`/proc/${server.launched.child.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)[1]) * 1024;
}

/** Opens `count` connections to a server; all are closed when the test ends. */
async function open(t, server, count) {
  const { hostname, port } = new URL(server.api.url);
  const sockets = [];
  t.after(() => sockets.forEach((socket) => socket.destroy()));
  while (sockets.length < count) {
    const some = Array.from({ length: Math.min(200, count - sockets.length) }, () => connect(port, hostname));
    sockets.push(...some);
    await Promise.all(some.map((socket) => new Promise((done, failed) => {
      socket.once('connect', done);
      socket.once('error', failed);
    })));
  }
  for (const socket of sockets)
    socket.on('error', () => {});
  return sockets;
}

/** Checks that a publisher with a key is served, and memory is about what it was. */
async function checkWell(server, before) {
  for (let n = 0; n < 20; ++n) {
    const from = performance.now();
    await server.api.ask('POST', '/v1/queues/q/jobs', { payload: n });
    assert.ok(performance.now() - from < answeredWithinMs, 'a publisher waits');
  }
  const grown = residentBytes(server) - before;
  assert.ok(grown < memoryMax, `memory has grown by ${Math.round(grown / mebibyte)} MiB`);
}

/** Starts a server with a queue that keeps its jobs. */
async function start(t) {
  const server = await startServer(t);
  await server.api.createQueue('q', { webhookUrl: 'http://127.0.0.1:9/' });
  await server.api.pause('q');
  await checkWell(server, Infinity);
  return { server, before: residentBytes(server) };
}

test('thousands of connections that do nothing cost little, and others are served', { timeout }, async (t) => {
  const { server, before } = await start(t);
  await open(t, server, 9000);
  await checkWell(server, before);
});

test('three hundred clients that send a byte a second keep nobody waiting', { timeout }, async (t) => {
  const { server, before } = await start(t);
  const sockets = await open(t, server, 300);
  const head = 'POST /v1/queues/q/jobs HTTP/1.1\r\nhost: x\r\n';
  for (let n = 0; n < 5; ++n) {
    for (const socket of sockets)
      socket.write(head[n]);
    await checkWell(server, before);
    await sleep(1000);
  }
  const left = () => sockets.filter(({ destroyed, readableEnded }) => !destroyed && !readableEnded).length;
  for (const socket of sockets)
    socket.resume();
  await until('they are cut off when a request has to be there', 20, () => left() === 0);
});

test('a key that asks without end is told to wait, and the other keys are served', { timeout }, async (t) => {
  const server = await startServer(t, { flags: ['--max-request-rate', '50'] });
  const { key } = await server.api.ask('POST', '/v1/keys', { project: 'greedy', scopes: ['read'] });
  const greedy = server.api.as(key);
  const answers = await Promise.all(Array.from({ length: 400 }, () => greedy.send('GET', '/v1/queues')));
  const refused = answers.filter(({ status }) => status === 429);
  assert.ok(answers.every(({ status }) => status === 200 || status === 429));
  assert.ok(answers.length - refused.length >= 50);
  assert.ok(refused.length > 0);
  for (const answer of refused) {
    assert.equal(answer.headers['retry-after'], '1');
    assert.equal(answer.json.code, 'rate_limited');
  }
  // Nobody else waits, those least that have no key.
  assert.equal((await server.api.send('GET', '/v1/queues')).status, 200);
  assert.equal((await server.api.as('sq_live_none').send('GET', '/v1/queues')).status, 401);
  await until('the key is served again', 5, async () => (await greedy.send('GET', '/v1/queues')).status === 200);
});

test('strangers who send without end are cut off, and nothing of it is kept', { timeout }, async (t) => {
  const { server, before } = await start(t);
  const chunk = Buffer.alloc(mebibyte, 'x');
  const sockets = await open(t, server, 20);
  const ended = sockets.map((socket) => new Promise((done) => {
    let sent = 0;
    const pump = () => {
      while (!socket.destroyed && socket.write(chunk))
        sent += chunk.length;
    };
    socket.on('drain', pump);
    socket.once('close', () => done(sent));
    socket.resume();
    socket.write('POST /v1/queues/q/jobs HTTP/1.1\r\nhost: x\r\ncontent-length: 10000000000\r\n\r\n');
    pump();
  }));
  const sent = await Promise.all(ended);
  assert.ok(Math.max(...sent) < 64 * mebibyte, `${Math.max(...sent)} bytes were read of one`);
  await checkWell(server, before);
});
