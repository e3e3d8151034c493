// All that anybody can do, at random and at once, for as long as one likes
// (SOAK_SECONDS), with kill -9 at random moments, some of them while the server
// starts; after each round everything is counted. `./dev soak` takes an hour.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { checkQueues, createQueues, Crowd, Downstream, finish, removeQueues } from './support/crowd.mjs';
import { pullUsers } from './support/pull_crowd.mjs';
import { randomFrom } from './support/random.mjs';
import { startReceiver } from './support/receiver.mjs';
import { startServer } from './support/server.mjs';

const seconds = Number(process.env.SOAK_SECONDS ?? 40);

/** How long a round loads the server: a short soak has short rounds. */
const loadMs = Math.min(8000, 1000 + seconds * 10);

// Here, and not as a diagnostic of the test, so that it is seen as it happens.
const say = (text) => console.log(`${new Date().toISOString()} ${text}`);

const residentMib = (pid) => (
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024);

class Soak {
  constructor(server, receiver, random) {
    Object.assign(this, { server, receiver, random });
    this.kills = 0;
  }

  async kill() {
    await this.server.kill();
    ++this.kills;
    if (this.random() < 0.2) {
      // While it starts: it reads its file, or writes to it.
      const starting = this.server.start().catch(() => {});
      await sleep(this.random() * 300);
      this.server.signal('SIGKILL');
      await starting;
      await this.server.kill();
      ++this.kills;
    }
    await this.server.start();
  }

  async stop() {
    await Promise.all((this.people ?? []).map((each) => each.stop()));
  }

  /** Loads, kills, and counts. */
  async round() {
    const { server: { api }, random, receiver } = this;
    const downstream = new Downstream(api, random);
    receiver.answer = downstream.answer;
    receiver.arrivals.length = 0;
    await createQueues(api, receiver.url);
    const crowd = new Crowd(api, random);
    const users = pullUsers(api, random);
    await Promise.all(users.map((each) => each.create()));
    this.people = [crowd, ...users];
    this.people.forEach((each) => each.start());
    await sleep(loadMs * (0.2 + random() * 0.8));
    await this.kill();
    await sleep(loadMs * random() * 0.2);
    await this.stop();
    await Promise.all(users.map((each) => each.finish(say)));
    await finish(api, downstream);
    await checkQueues(say, api, receiver, crowd);
    await Promise.all(users.map((each) => each.remove()));
    await removeQueues(api);
  }
}

test('everything at once for a while, with kills at random', { timeout: seconds * 2000 + 180_000 }, async (t) => {
  const random = randomFrom({ diagnostic: say });
  const server = await startServer(t);
  const receiver = await startReceiver(t);
  const soak = new Soak(server, receiver, random);
  t.after(() => soak.stop().catch(() => {}));
  const end = Date.now() + seconds * 1000;
  let rounds = 0;
  while (Date.now() < end) {
    await soak.round();
    say(`round ${++rounds}: ${soak.kills} kills so far, ${residentMib(server.launched.child.pid).toFixed(0)} MiB`);
  }
  assert.ok(rounds > 0);
  t.diagnostic(`${rounds} rounds, ${soak.kills} kills`);
});
