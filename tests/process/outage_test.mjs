// 1,000 jobs wait, and the downstream says "not now" for ten seconds.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { checkConservation } from './support/conservation.mjs';
import { checkNothingBurned, openWhileHeld, startOutage, wasted, watchGate } from './support/outage.mjs';
import { startServer } from './support/server.mjs';
import { patience } from './support/time.mjs';

test('ten seconds of 429 cost at most 20 deliveries and no attempt', { timeout: 90_000 * patience }, async (t) => {
  const server = await startServer(t);
  const outage = await startOutage(t, server, { jobs: 1000, seconds: 10, retryAfter: 2 });
  const { receiver, ids } = outage;
  const gate = watchGate(server, 'outage');
  await server.api.resume('outage');
  await server.api.drained('outage', 45);
  const drainedAt = Math.max(...receiver.arrivals.map(({ ended }) => ended));
  const states = await gate.stop();
  t.diagnostic(`${wasted(receiver)} wasted, drained ${drainedAt - outage.endsAt()} ms after the outage`);
  const jobs = await checkConservation(t, { api: server.api, queue: 'outage', accepted: ids, receiver });
  assert.ok(wasted(receiver) <= 20, `${wasted(receiver)} deliveries were wasted`);
  assert.equal(receiver.arrivals.length, ids.length + wasted(receiver));
  checkNothingBurned(jobs);
  assert.equal(openWhileHeld(receiver), 1);
  assert.ok(receiver.inFlightMax <= 16);
  assert.ok(states.includes('held') && states.includes('probing'), states.join());
  assert.equal(states.at(-1), 'open');
});
