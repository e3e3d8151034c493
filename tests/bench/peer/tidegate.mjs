// Tidegate as one of several servers in a benchmark that measures them alike, see
// ../README.md. TIDEGATE is the path of the binary of a release.

import { Pool } from 'undici';

import { daemon, waitPort } from '../lib/util.mjs';
import { wire } from './wire.mjs';

const key = 'sq_live_peerbench000000000000000000000000';
const name = 'hooks';
const publishers = 64;

/** Push and pull queues, with a client as users have it, and with one that costs less. */
export const variants = {
  'tidegate-push': {},
  'tidegate-push-wire': { wire: true },
  'tidegate-pull': { pull: true },
  'tidegate-pull-wire': { pull: true, wire: true },
};

export const limitModes = ['hold'];

export async function server({ dir, port, log }) {
  if (!process.env.TIDEGATE)
    throw new Error('TIDEGATE is not set: the path of the tidegate binary');
  const words = ['serve', '--listen', `127.0.0.1:${port}`, '--data', dir, '--allow-target', '127.0.0.0/8',
    '--log-level', 'error'];
  const child = daemon(process.env.TIDEGATE, words, { log, env: { TIDEGATE_API_KEY: key } });
  // It listens when all of its data is there.
  await waitPort(port);
  return { pids: [child.pid], stop: () => child.kill('SIGTERM'), kill: () => child.kill('SIGKILL') };
}

/** Returns `{request, close}`: one call, with an answer of `{status, text}`. */
async function connectTo(port, headers, connections, pipelined) {
  if (!pipelined) {
    const pool = new Pool(`http://127.0.0.1:${port}`, { connections, pipelining: 1 });
    const request = async (method, path, body) => {
      const answer = await pool.request({ method, path, headers, body });
      return { status: answer.statusCode, text: await answer.body.text() };
    };
    return { request, close: () => pool.close() };
  }
  const sockets = await Promise.all(Array.from({ length: Math.ceil(connections / 8) }, () => wire(port, headers)));
  let next = 0;
  return {
    request: (...words) => sockets[next++ % sockets.length].request(...words),
    close: () => sockets.forEach((socket) => socket.close()),
  };
}

async function client({ port, v }, connections) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const { request, close } = await connectTo(port, headers, connections, v.wire);
  const call = async (method, path, body) => {
    const { status, text } = await request(method, path, body && JSON.stringify(body));
    if (status >= 300)
      throw Object.assign(new Error(`${method} ${path}: ${status} ${text.slice(0, 200)}`), { status });
    const answer = text === '' ? {} : JSON.parse(text);
    // Pull queues wrap their answers.
    return answer.data ?? answer;
  };
  return { call, close };
}

/** A push queue is paused until there is a worker. One that is there stays as it is. */
async function makeQueue({ call }, { sink, v }) {
  try {
    if (v.pull) {
      await call('POST', '/v1/queue/create', { name, type: 'standard' });
      return;
    }
    await call('POST', '/v1/queues', {
      name, webhookUrl: `http://127.0.0.1:${sink}/hook`, concurrency: 64, maxAttempts: 5,
      backoff: { type: 'fixed', delay: 2 },
    });
    await call('POST', `/v1/queues/${name}/pause`);
  } catch (reason) {
    if (reason.status !== 409)
      throw reason;
  }
}

export async function producer(world) {
  const { call, close } = await client(world, publishers);
  await makeQueue({ call }, world);
  const jobOf = (payload, options) => (
    options?.delayMs ? { payload, delay: Math.ceil(options.delayMs / 1000) } : { payload });
  const counts = async () => (await call('GET', `/v1/queues/${name}`)).counts;
  return {
    publish: (payload, options) => (world.v.pull
      ? call('POST', '/v1/queue/publish', { queue: name, payload })
      : call('POST', `/v1/queues/${name}/jobs`, jobOf(payload, options))),
    bulk: async (payloads, options) => {
      const jobs = payloads.map((payload) => jobOf(payload, options));
      const { results } = await call('POST', `/v1/queues/${name}/jobs/batch`, { jobs });
      if (!results.every((result) => result.ok))
        throw new Error('a job of a batch was refused');
    },
    pending: async () => {
      const { pending, processing, awaitingAck } = await counts();
      return pending + processing + awaitingAck;
    },
    dead: async () => (await counts()).dead,
    close,
  };
}

/** It delivers by itself: this opens the queue. */
export async function worker(world) {
  const { call, close } = await client(world, 1);
  await call('PATCH', `/v1/queues/${name}`, { concurrency: world.concurrency });
  await call('POST', `/v1/queues/${name}/resume`);
  return {
    close: async () => {
      await call('POST', `/v1/queues/${name}/pause`).catch(() => {});
      close();
    },
  };
}

export async function puller(world) {
  const { call, close } = await client(world, 1);
  return {
    async receive(count) {
      const { items } = await call('POST', '/v1/queue/consume', {
        queue: name, max_messages: count, visibility_timeout: 60,
      });
      const entries = items.map(({ message_id, receipt_handle }) => ({ message_id, receipt_handle }));
      return {
        items: items.map(({ payload }) => payload),
        ack: () => call('POST', '/v1/queue/ack_batch', { queue: name, entries }),
      };
    },
    close,
  };
}
