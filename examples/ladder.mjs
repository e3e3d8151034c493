// How do I retry on a ladder of delays, of a minute up to half a day? A dispatcher
// that receives ten messages at a time from a pull queue and POSTs what each holds.
// What fails is published again, one attempt up and to be received after the next
// delay; what failed after the last delay is put into the dead-letter queue.
//
//   TIDEGATE_API_KEY=… node examples/ladder.mjs --url http://127.0.0.1:8080 \
//     --queue webhook-out [--atomic] [--steps 60,300,1800,7200,43200] \
//     [--timeout 10] [--lease 60]
//
// A payload is {"target": "https://…", "body": …}, to which `attempt` is added. The
// message is acked last. Without --atomic that is a call of its own after the
// publish: a crash between the two leaves two messages, never none. With --atomic
// the ack carries the publish: one call, one commit, and always one message.
//
// Either way a target can get a body twice: when we crash after it has answered.
// SIGTERM ends this program after the messages that it has.
// ladder-demo.mjs shows it at work.

import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

// Calls are made again after this many milliseconds; the last one repeats.
const pauses = [50, 200, 1000, 5000];

// A call is made this often at most. The end of the lease sees to the rest.
const tries = 12;

class Ladder {
  constructor({ url, key, queue, atomic, steps, timeout, lease }) {
    Object.assign(this, { url, key, queue, atomic, steps, timeout, lease });
    this.stopping = new AbortController();
  }

  async run() {
    while (!this.stopping.signal.aborted) {
      const messages = await this.receive();
      await Promise.all(messages.map((message) => this.take(message).catch((failure) => (
        console.log(`${message.message_id} is left alone: ${failure.cause?.message ?? failure.message}`)))));
    }
  }

  stop() {
    this.stopping.abort();
  }

  async receive() {
    try {
      const { items } = await this.ask('consume', {
        queue: this.queue, max_messages: 10, visibility_timeout: this.lease, wait_seconds: 20,
      }, this.stopping.signal);
      return items;
    } catch (failure) {
      if (this.stopping.signal.aborted)
        return [];
      console.log(`nothing received: ${failure.cause?.message ?? failure.message}`);
      await sleep(1000);
      return [];
    }
  }

  /** Makes one try, and stores what comes after it before the message is acked. */
  async take(message) {
    const attempt = attemptOf(message);
    const error = await this.post(message.payload);
    if (error === undefined) {
      console.log(`try ${attempt} of ${message.payload.target}: done`);
      return this.ack(message);
    }
    const next = this.successorOf(message, attempt, error);
    console.log(`try ${attempt} of ${message.payload.target}: ${error}, `
      + (next.delay_seconds === undefined ? 'the last' : `again in ${next.delay_seconds} s`));
    if (this.atomic)
      return this.ack(message, { publish: next });
    await this.repeat('publish', next);
    return this.ack(message);
  }

  /** Returns the publish that takes the place of a message whose try failed. */
  successorOf({ payload }, attempt, error) {
    if (attempt > this.steps.length)
      return { queue: `${this.queue}.dlq`, payload: { ...payload, attempt, error } };
    return {
      queue: this.queue,
      payload: { ...payload, attempt: attempt + 1 },
      delay_seconds: this.steps[attempt - 1],
    };
  }

  /** Calls the target. Returns what went wrong, if something did. */
  async post({ target, body }) {
    try {
      const answer = await fetch(target, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
        redirect: 'manual', // a login page is not the target
        signal: AbortSignal.timeout(this.timeout * 1000),
      });
      await answer.arrayBuffer();
      return answer.ok ? undefined : `status ${answer.status}`;
    } catch (failure) {
      return failure.cause?.message ?? failure.message;
    }
  }

  /** With the handle a repeat changes nothing, and a lease that is over is refused. */
  ack({ message_id, receipt_handle }, fields = {}) {
    return this.repeat('ack', { queue: this.queue, message_id, receipt_handle, ...fields });
  }

  /** Makes a call until there is an answer that counts. */
  async repeat(route, body) {
    for (let n = 1; ; ++n) {
      try {
        return await this.ask(route, body, AbortSignal.timeout(10_000));
      } catch (failure) {
        const isVerdict = failure.status < 500 && failure.status !== 429;
        if (isVerdict || n === tries)
          throw failure;
        await sleep(pauses[Math.min(n, pauses.length) - 1]);
      }
    }
  }

  async ask(route, body, signal) {
    const answer = await fetch(`${this.url}/v1/queue/${route}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal,
    });
    const { data, error } = await answer.json();
    if (!answer.ok)
      throw Object.assign(new Error(`${route}: ${answer.status} ${error.message}`), { status: answer.status });
    return data;
  }
}

/** The number of the try. What was redriven starts at the foot of the ladder. */
function attemptOf({ payload, redrive_count }) {
  return redrive_count > 0 ? 1 : payload.attempt ?? 1;
}

const { values } = parseArgs({
  options: {
    url: { type: 'string', default: 'http://127.0.0.1:8080' },
    queue: { type: 'string', default: 'webhook-out' },
    atomic: { type: 'boolean', default: false },
    steps: { type: 'string', default: '60,300,1800,7200,43200' },
    timeout: { type: 'string', default: '10' },
    lease: { type: 'string', default: '60' },
  },
});
const ladder = new Ladder({
  ...values,
  key: process.env.TIDEGATE_API_KEY,
  steps: values.steps.split(',').map(Number),
  timeout: Number(values.timeout),
  lease: Number(values.lease),
});
process.once('SIGTERM', () => ladder.stop());
await ladder.run();
