// Everything that publishers, workers and operators can do, at random and at once,
// while the server is killed: afterwards each job is where it has to be, no slot is
// missing, and nothing waits for ever.

import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { checkQueues, createQueues, Crowd, Downstream, finish } from './support/crowd.mjs';
import { randomFrom } from './support/random.mjs';
import { startReceiver } from './support/receiver.mjs';
import { startServer } from './support/server.mjs';
import { patience } from './support/time.mjs';

const kills = Number(process.env.KILLS ?? 10);
const timeout = (120_000 + kills * 2000) * patience;

test('everything at once, and kills among it', { timeout }, async (t) => {
  const random = randomFrom(t);
  const server = await startServer(t);
  const { api } = server;
  const downstream = new Downstream(api, random);
  const receiver = await startReceiver(t, downstream.answer);
  await createQueues(api, receiver.url);
  const crowd = new Crowd(api, random);
  crowd.start();
  for (let n = 0; n < kills; ++n) {
    await sleep(300 + random() * 700);
    await server.killAndStart();
  }
  await sleep(300);
  await crowd.stop();
  await finish(api, downstream);
  await checkQueues((text) => t.diagnostic(text), api, receiver, crowd);
});
