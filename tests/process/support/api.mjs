// Calls over kept-alive connections, with bodies byte for byte.

import assert from 'node:assert/strict';
import * as http from 'node:http';
import * as https from 'node:https';

import { patience, until } from './time.mjs';

const deadline = 30_000 * patience;

export class Api {
  /** `ca`: PEM text of whom to trust; with it the server speaks https. */
  constructor(key, sockets, ca) {
    this.key = key;
    this.ca = ca;
    this.agent = new (ca ? https : http).Agent({ keepAlive: true, maxSockets: sockets, ca });
    this.request = (ca ? https : http).request;
  }

  close() {
    this.agent.destroy();
    this.others?.forEach((other) => other.close());
  }

  /** Returns the same server as somebody with another key sees it. */
  as(key) {
    const other = new Api(key, 16, this.ca);
    Object.defineProperty(other, 'url', { get: () => this.url });
    (this.others ??= []).push(other);
    return other;
  }

  /**
   * Makes one call. A body that is a string or a buffer goes out as it is.
   * Rejects only where there is no answer.
   */
  async send(method, path, body, headers = { authorization: `Bearer ${this.key}` }) {
    if (this.url === undefined)
      throw Object.assign(new Error('no server is running'), { code: 'ECONNREFUSED' });
    const bytes = encode(body);
    return new Promise((done, failed) => {
      const call = this.request(this.url + path, {
        method,
        agent: this.agent,
        headers: bytes === undefined ? headers : { ...headers, 'content-length': bytes.length },
        timeout: deadline,
      });
      call.once('timeout', () => call.destroy(new Error(`no answer to ${method} ${path}`)));
      call.once('error', failed);
      call.once('response', (response) => collect(response).then(done, failed));
      call.end(bytes);
    });
  }

  /** Makes a call that has to succeed. Returns what its answer says. */
  async ask(method, path, body) {
    const { status, text, json } = await this.send(method, path, body);
    assert.ok(status < 300, `${method} ${path}: ${status} ${text}`);
    return json;
  }

  createQueue(name, settings) {
    return this.ask('POST', '/v1/queues', { name, ...settings });
  }

  queue(name) {
    return this.ask('GET', `/v1/queues/${name}`);
  }

  pause(name) {
    return this.ask('POST', `/v1/queues/${name}/pause`);
  }

  resume(name) {
    return this.ask('POST', `/v1/queues/${name}/resume`);
  }

  publish(queue, payload, fields = {}) {
    return this.ask('POST', `/v1/queues/${queue}/jobs`, { payload, ...fields });
  }

  /** Publishes `count` jobs. Returns their ids, in order of their payloads `{n}`. */
  async publishMany(queue, count) {
    const numbers = Array.from({ length: count }, (_, n) => n);
    const answers = await Promise.all(numbers.map((n) => this.publish(queue, { n })));
    return answers.map(({ id }) => id);
  }

  job(id) {
    return this.ask('GET', `/v1/jobs/${id}`);
  }

  jobs(ids) {
    return Promise.all(ids.map((id) => this.job(id)));
  }

  /** Publishes many jobs at a time. Returns what became of each. */
  async publishBatch(queue, jobs) {
    const { results } = await this.ask('POST', `/v1/queues/${queue}/jobs/batch`, { jobs });
    assert.equal(results.length, jobs.length);
    return results;
  }

  /** Publishes `count` jobs `{n, ...}`, a thousand at a time. Returns their ids. */
  async publishBulk(queue, count, fieldsOf = () => ({})) {
    const ids = [];
    while (ids.length < count) {
      const from = ids.length;
      const jobs = Array.from({ length: Math.min(1000, count - from) }, (_, n) => (
        { payload: { n: from + n }, ...fieldsOf(from + n) }));
      for (const { ok, id, error } of await this.publishBatch(queue, jobs)) {
        assert.ok(ok, JSON.stringify(error));
        ids.push(id);
      }
    }
    return ids;
  }

  /**
   * Reads a list to its end, page by page. `between` is called after each page but
   * the last.
   */
  async list(path, { limit = 1000, between = () => {} } = {}) {
    const items = [];
    let cursor = null;
    do {
      if (cursor !== null)
        await between(items);
      const url = `${path}${path.includes('?') ? '&' : '?'}limit=${limit}`;
      const page = await this.ask('GET', cursor === null ? url : `${url}&cursor=${encodeURIComponent(cursor)}`);
      assert.ok(page.items.length <= limit, `${page.items.length} rows on a page of ${limit}`);
      items.push(...page.items);
      cursor = page.nextCursor;
    } while (cursor !== null);
    return items;
  }

  /** Returns all jobs of a queue, newest first, without payload and history. */
  allJobs(queue, options) {
    return this.list(`/v1/queues/${queue}/jobs`, options);
  }

  /** Tells what became of a job: `verb` is ack, nack, defer or touch. */
  report(id, verb, fields) {
    return this.send('POST', `/v1/jobs/${id}/${verb}`, fields);
  }

  /** Waits until the operation is as `wanted` says. Returns it. */
  operationOnce(id, what, wanted, seconds = 60) {
    return until(`operation ${what}`, seconds, async () => {
      const operation = await this.ask('GET', `/v1/operations/${id}`);
      return wanted(operation) && operation;
    });
  }

  /** Waits until the gate of a queue is in this state. Returns the queue. */
  gateOnce(name, state, seconds = 20) {
    return until(`queue ${name} ${state}`, seconds, async () => {
      const queue = await this.queue(name);
      return queue.gate.state === state && queue;
    });
  }

  /** Waits until the job is as `wanted` says. Returns it. */
  jobOnce(id, what, wanted, seconds = 20) {
    return until(`job ${what}`, seconds, async () => {
      const job = await this.job(id);
      return wanted(job) && job;
    });
  }

  jobWithStatus(id, status, seconds) {
    return this.jobOnce(id, status, (job) => job.status === status, seconds);
  }

  /** Waits until all jobs of the queue have ended. Returns the queue. */
  async drained(name, seconds) {
    let queue;
    const isDrained = async () => {
      queue = await this.queue(name);
      const { pending, processing, awaitingAck } = queue.counts;
      return pending + processing + awaitingAck === 0;
    };
    await until(`queue ${name} drained`, seconds, isDrained).catch((late) => {
      const { gate, blockedBy, counts } = queue;
      throw new Error(`${late.message}: ${JSON.stringify({ gate, blockedBy, counts })}`);
    });
    return queue;
  }
}

function encode(body) {
  if (body === undefined || Buffer.isBuffer(body))
    return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

async function collect(response) {
  const chunks = [];
  for await (const chunk of response)
    chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  const text = bytes.toString();
  return {
    status: response.statusCode,
    headers: response.headers,
    text,
    json: response.headers['content-type'] === 'application/json' ? JSON.parse(text) : undefined,
  };
}
