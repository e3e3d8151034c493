// Calls over kept-alive connections, with bodies byte for byte.

import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';

import { until } from '../../../examples/tidegate.mjs';

const deadline = 30_000;

export class Api {
  constructor(key, sockets) {
    this.key = key;
    this.agent = new Agent({ keepAlive: true, maxSockets: sockets });
  }

  close() {
    this.agent.destroy();
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
      const call = request(this.url + path, {
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
      return queue.counts.pending + queue.counts.processing === 0;
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
    json: text === '' ? undefined : JSON.parse(text),
  };
}
