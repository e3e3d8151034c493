// A webhook that answers as it is told and remembers what arrived.

import { createServer } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';

/** Answers 200 to everything. */
export const accept = () => ({ status: 200 });

/** Answers "not now, in so many seconds". */
export const notNow = (retryAfter) => ({
  status: 429,
  headers: { 'retry-after': String(retryAfter) },
});

/** An answer that never comes. */
export const never = () => new Promise(() => {});

/**
 * Starts a webhook. `answer` gets each arrival and returns
 * `{status, headers?, body?}`, or nothing where it answered by itself through
 * `arrival.response`. With `tls` it speaks https. A `slim` one remembers of each
 * arrival no more than when it came and for which job: for many of them.
 */
export async function startReceiver(t, answer = accept, { tls, port = 0, slim = false } = {}) {
  const receiver = new Receiver(answer, tls, slim);
  t.after(() => receiver.close());
  await receiver.listen(port);
  return receiver;
}

class Receiver {
  constructor(answer, tls, slim) {
    this.answer = answer;
    this.slim = slim;
    this.arrivals = [];
    this.inFlight = 0;
    this.inFlightMax = 0;
    const take = (request, response) => this.take(request, response);
    this.server = tls ? createTlsServer(tls, take) : createServer(take);
    this.scheme = tls ? 'https' : 'http';
  }

  async listen(port) {
    await new Promise((done, failed) => {
      this.server.once('error', failed);
      this.server.listen(port, '127.0.0.1', done);
    });
    this.port = this.server.address().port;
    this.url = `${this.scheme}://127.0.0.1:${this.port}/`;
  }

  close() {
    return new Promise((done) => {
      this.server.close(done);
      this.server.closeAllConnections();
    });
  }

  async take(request, response) {
    const arrival = { at: Date.now(), headers: request.headers, url: request.url, request, response };
    this.enter(arrival);
    response.once('close', () => this.leave(arrival));
    const chunks = [];
    try {
      for await (const chunk of request)
        chunks.push(chunk);
    } catch {
      return; // the server was killed while it sent
    }
    arrival.body = Buffer.concat(chunks);
    Object.assign(arrival, fieldsOf(arrival));
    this.arrivals.push(this.slim ? { at: arrival.at, id: arrival.id } : arrival);
    const answer = await this.answer(arrival, this);
    if (answer === undefined)
      return;
    arrival.status = answer.status;
    response.writeHead(answer.status, answer.headers).end(answer.body);
  }

  enter() {
    ++this.inFlight;
    this.inFlightMax = Math.max(this.inFlightMax, this.inFlight);
  }

  leave(arrival) {
    arrival.ended = Date.now();
    --this.inFlight;
  }

  /** Forgets the largest number of requests that were open at a time. */
  resetInFlightMax() {
    this.inFlightMax = this.inFlight;
  }

  /** Returns how often each job arrived. */
  deliveriesById() {
    const result = new Map();
    for (const { id } of this.arrivals)
      result.set(id, (result.get(id) ?? 0) + 1);
    return result;
  }

  arrivalsOf(id) {
    return this.arrivals.filter((arrival) => arrival.id === id);
  }
}

/** Returns what the body and the headers say about the job. */
function fieldsOf({ body, headers }) {
  const { id, queue, payload, attempt } = JSON.parse(body);
  return { id, queue, payload, attempt, delivery: Number(headers['x-tidegate-delivery']) };
}

/** Answers like `answer`, after so many milliseconds. */
export function slowly(milliseconds, answer) {
  return async (arrival, receiver) => {
    await sleep(milliseconds);
    return answer(arrival, receiver);
  };
}
