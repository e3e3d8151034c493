// Calls to pull queues, and a count of what is in them.

import assert from 'node:assert/strict';

import { startServer } from './server.mjs';
import { until } from './time.mjs';

/** Most messages of one call that takes many, and of one receive. */
const batchMax = 1000;
const receiveMax = 10;

/** The pull queue `name` of a server. */
export class Queue {
  constructor(api, name) {
    this.api = api;
    this.name = name;
  }

  async send(method, path, body) {
    return this.api.send(method, `/v1/queue/${path}`, body);
  }

  async ask(method, path, body) {
    return accepts(this.send(method, path, body));
  }

  create(settings = {}) {
    return this.ask('POST', 'create', { name: this.name, type: 'standard', ...settings });
  }

  update(settings) {
    return this.ask('PATCH', `update/${this.name}`, settings);
  }

  publish(payload, fields = {}) {
    return this.ask('POST', 'publish', { queue: this.name, payload, ...fields });
  }

  /** Publishes `count` messages `{n}`. Returns their ids in order of `n`. */
  async publishBulk(count, fields = {}) {
    const ids = [];
    while (ids.length < count) {
      const from = ids.length;
      const messages = Array.from({ length: Math.min(batchMax, count - from) }, (_, n) => (
        { payload: { n: from + n }, ...fields }));
      const { results } = await this.ask('POST', 'publish_batch', { queue: this.name, messages });
      assert.ok(results.every(({ ok }) => ok), JSON.stringify(results.find(({ ok }) => !ok)));
      ids.push(...results.map(({ message_id }) => message_id));
    }
    return ids;
  }

  async consume(fields = {}) {
    return (await this.ask('POST', 'consume', { queue: this.name, ...fields })).items;
  }

  /** Receives until there is nothing, or until there are `most`. */
  async consumeAll(fields = {}, most = Infinity) {
    const all = [];
    while (all.length < most) {
      const some = await this.consume({ max_messages: Math.min(receiveMax, most - all.length), ...fields });
      if (some.length === 0)
        break;
      all.push(...some);
    }
    return all;
  }

  /** Says of a received message that it is done, or whatever `how` is. */
  settle(how, { message_id, receipt_handle }, fields = {}) {
    return this.send('POST', how, { queue: this.name, message_id, receipt_handle, ...fields });
  }

  redrive(fields = {}) {
    return this.ask('POST', `dlq/redrive/${this.name}`, fields);
  }

  /** What is available, at most a thousand. */
  async peek() {
    return (await this.ask('GET', `peek/${this.name}?limit=${batchMax}`)).items;
  }

  stats() {
    return this.ask('GET', `stats/${this.name}`);
  }

  /** Waits until the figures are as `wanted` says. Returns them. */
  statsOnce(what, wanted, seconds = 20) {
    return until(what, seconds, async () => {
      const stats = await this.stats();
      return wanted(stats) && stats;
    });
  }
}

/** Starts a server with the pull queue `out`; `dead` is where its dead letters are. */
export async function startPull(t, settings, options) {
  const server = await startServer(t, options);
  const queue = new Queue(server.api, 'out');
  await queue.create(settings);
  return { server, api: server.api, queue, dead: new Queue(server.api, 'out.dlq') };
}

/** Publishes a message and leases it. */
export async function publishAndReceive(queue, fields) {
  await queue.publish({ n: 1 });
  const [message] = await queue.consume(fields);
  return message;
}

export async function accepts(call) {
  const { status, text, json } = await call;
  assert.ok(status < 300, `${status} ${text}`);
  return json.data;
}

export async function refuses(call, status, code) {
  const answer = await call;
  assert.equal(answer.status, status, answer.text);
  assert.equal(answer.json.error.code, code, answer.text);
  return answer.json.error;
}

export const refusesLate = (call) => refuses(call, 409, 'QUEUE_MESSAGE_NOT_IN_FLIGHT');

/**
 * Checks that each of the messages is available in one of the queues, and once
 * there. None may be leased or delayed. Returns how many each queue has.
 */
export async function checkOnce(queues, ids) {
  const found = [];
  const counts = [];
  for (const queue of queues) {
    const { available, delayed, in_flight } = await queue.stats();
    const items = await queue.peek();
    assert.deepEqual([delayed, in_flight], [0, 0], `${queue.name} is not at rest`);
    assert.equal(items.length, available, `${queue.name} has other messages than it counts`);
    found.push(...items.map(({ message_id }) => message_id));
    counts.push(available);
  }
  assert.equal(new Set(found).size, found.length, 'a message is there twice');
  assert.deepEqual(found.sort(), [...ids].sort());
  return counts;
}
