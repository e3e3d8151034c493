// Kills the real server at a named step of one operation, starts it again, and lets
// the operation say whether all is as it has to be.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Faults, noFaults } from './faults.mjs';
import { startReceiver } from './receiver.mjs';
import { startServer } from './server.mjs';
import { patience } from './time.mjs';

/**
 * Where a kill comes. `stored` says whether what the operation changes is certainly
 * on the disk then, or certainly not; between the write and its sync it is in the
 * system's memory, which outlives the process, but nobody has promised that.
 */
const all = {
  'before the send': { stage: 'send', rule: ['kill_before', 'send_out'] },
  'after the send': { stage: 'send', rule: ['kill_after', 'send_out'] },
  'amid the write': { stage: 'commit', rule: ['kill_after', 'write'], at: 2, stored: false },
  'before the commit': { stage: 'commit', rule: ['kill_before', 'sync'] },
  'after the commit': { stage: 'commit', rule: ['kill_after', 'sync'], stored: true },
  'before the reply': { stage: 'commit', rule: ['kill_before', 'send_in'], stored: true },
  'after the reply': { stage: 'commit', rule: ['kill_after', 'send_in'], stored: true },
  'after the second commit': { stage: 'commit', rule: ['kill_after', 'sync'], at: 2, stored: true },
  'after the third commit': { stage: 'commit', rule: ['kill_after', 'sync'], at: 3, stored: true },
};

export const sending = ['before the send', 'after the send'];
export const storing = ['amid the write', 'before the commit', 'after the commit'];
export const replying = ['before the reply', 'after the reply'];
export const commits = ['after the second commit', 'after the third commit'];

let cells = 0;

/** One step of one operation, on a queue of its own. */
class Cell {
  constructor(world, step) {
    Object.assign(this, world);
    this.step = all[step];
    this.stored = this.step === undefined ? true : this.step.stored;
    this.queue = `q${++cells}`;
    this.api = this.server.api;
  }

  /** From here on the step may be reached, where it is in one of these stages. */
  begin(...stages) {
    if (!this.begun && this.step && stages.includes(this.step.stage)) {
      this.begun = true;
      this.faults.arm(...this.step.rule, { at: this.step.at });
    }
  }

  /** Makes a call that the kill may leave without an answer. Returns what it says. */
  async call(method, path, body) {
    const answer = await this.api.send(method, path, body).catch(() => undefined);
    assert.ok(answer === undefined || answer.status < 300, answer?.text);
    return answer?.json;
  }

  /** Makes the queue; `answer` is what its webhook does with each arrival. */
  async create(settings, answer = () => ({ status: 200 })) {
    this.answers.set(this.queue, answer);
    await this.api.createQueue(this.queue, {
      webhookUrl: this.receiver.url,
      concurrency: 1,
      maxAttempts: 2,
      backoff: { type: 'fixed', delay: 0.05, jitter: 0 },
      ...settings,
    });
  }

  /** What the webhook got of this queue. */
  get arrivals() {
    return this.receiver.arrivals.filter(({ queue }) => queue === this.queue);
  }

  /**
   * Checks how often each job came: as often as without a kill, or, with `again`,
   * once more. The one that was out may not have arrived.
   */
  checkDeliveries(without, { again = this.stored !== true } = {}) {
    const ids = this.arrivals.map(({ id }) => id);
    for (const id of new Set(ids)) {
      const count = ids.filter((other) => other === id).length;
      const [least, most] = [without - (this.died ? 1 : 0), without + (again ? 1 : 0)];
      assert.ok(count >= least && count <= most, `${id}: ${count} deliveries, ${without} without a kill`);
    }
  }

  /** Waits for the kill, and starts the server again. */
  async dieAndStart() {
    const late = setTimeout(() => this.server.signal('SIGKILL'), 20_000);
    await this.server.exited;
    clearTimeout(late);
    const { hits } = this.faults;
    this.faults.calm();
    this.died = true;
    await this.server.start();
    assert.deepEqual(hits, [this.step.rule.join(' ')], 'the step was not reached');
  }
}

async function startWorld(t) {
  const faults = new Faults(t);
  const answers = new Map();
  const receiver = await startReceiver(t, (arrival) => answers.get(arrival.queue)(arrival));
  const server = await startServer(t, { env: faults.env });
  return { server, faults, receiver, answers };
}

/**
 * Makes a test of an operation: without a kill, and with one at each of the steps.
 * `operate` gets a cell, does the operation, and returns what checks the outcome,
 * called once the server runs again.
 */
export function matrix(name, steps, operate) {
  test(`${name}, killed at every step`, { timeout: 240_000 * patience, skip: noFaults }, async (t) => {
    const world = await startWorld(t);
    for (const step of ['never', ...steps])
      await t.test(`${name}: ${step}`, async () => {
        const cell = new Cell(world, step);
        const check = await operate(cell);
        if (step !== 'never')
          await cell.dieAndStart();
        await check();
      });
  });
}
