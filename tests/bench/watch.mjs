// What it costs the publishers that operators look: ten readers of events that do
// not read, and a dashboard on a thousand queues.

import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { startServer } from '../../examples/tidegate.mjs';
import { publish as publishTo } from './parts.mjs';

const jobs = Number(process.env.BENCH_JOBS ?? 20_000);
const connections = 64;
const queues = 1000;
const slowReaders = 10;
const rounds = 3;

export const title = `${jobs} jobs of 300 B, ${connections} connections, ${queues} queues, `
  + `${slowReaders} readers of events that do not read and a dashboard`;

/** Label, name and digits of each figure. */
export const rows = [
  ['publishes/s, nobody looks', 'alone', 0],
  ['publishes/s while they look', 'watched', 0],
  ['the second to the first', 'ratio', 3],
];

export async function measure(build) {
  const server = await startServer(`${build}/tidegate`, { under: build });
  for (let n = 0; n < queues; ++n)
    await server.call('POST', '/v1/queues', { name: `q${n}`, webhookUrl: 'http://127.0.0.1:9/' });
  await server.call('POST', '/v1/queues/q0/pause');
  const publish = async () => (
    await publishTo(build, server, { path: '/v1/queues/q0/jobs', count: jobs, connections })).per_second;
  const moving = repeat(() => movements(server));
  await publish();
  const [alone, watched] = [[], []];
  // In turn, so that what the machine does meanwhile meets both.
  for (let n = 0; n < rounds; ++n) {
    alone.push(await publish());
    const watchers = startWatchers(server);
    watched.push(await publish());
    await watchers.stop();
  }
  await moving.stop();
  await server.stop();
  const [one, other] = [alone, watched].map((all) => all.reduce((sum, x) => sum + x, 0) / rounds);
  return { alone: one, watched: other, ratio: other / one };
}

/** Does something again and again until it is stopped. */
function repeat(what) {
  let stopped = false;
  const done = (async () => {
    while (!stopped)
      await what();
  })();
  return {
    stop: () => {
      stopped = true;
      return done;
    },
  };
}

/** Makes events, ten a second or so, whether somebody reads them or not. */
async function movements(server) {
  await server.call('POST', '/v1/queues/q1/hold', { retryAfter: 60, reason: 'x'.repeat(500) });
  await server.call('POST', '/v1/queues/q1/release');
  await sleep(200);
}

function startWatchers(server) {
  const readers = Array.from({ length: slowReaders }, () => readSlowly(server));
  const dashboard = repeat(async () => {
    const from = performance.now();
    await Promise.all(['/v1/queues?limit=1000', '/v1/queue/list?limit=1000'].map((path) => readAndForget(server, path)));
    // With each event it looks again, but not all the time: as http/dashboard/live.js.
    await sleep(Math.max(250, Math.min(20 * (performance.now() - from), 5000)));
  });
  return {
    stop: () => {
      readers.forEach((socket) => socket.destroy());
      return dashboard.stop();
    },
  };
}

/** Asks for events and reads none of them. */
function readSlowly(server) {
  const { hostname, port } = new URL(server.url);
  const socket = connect(port, hostname);
  socket.on('error', () => {});
  socket.pause();
  socket.write(`GET /v1/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${server.key}\r\n\r\n`);
  return socket;
}

async function readAndForget(server, path) {
  const response = await fetch(server.url + path, { headers: { authorization: `Bearer ${server.key}` } });
  await response.arrayBuffer();
}
