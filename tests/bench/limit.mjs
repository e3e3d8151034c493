// A downstream that says "not now" for ten seconds while jobs wait: what that wastes,
// and how soon all is well again.

import { setTimeout as sleep } from 'node:timers/promises';

import { listen, startServer, until } from '../../examples/tidegate.mjs';

const waiting = [2000, 200];
const concurrency = 16;
const workMs = 20;
const outageMs = 10_000;
const retryAfter = 2;

export const title = `${outageMs / 1000} s of 429 with Retry-After: ${retryAfter}, concurrency ${concurrency}, `
  + `a request takes ${workMs} ms`;

/** Label, name and digits of each figure. */
export const rows = waiting.flatMap((jobs) => [
  [`${jobs} jobs wait: deliveries wasted`, `wasted${jobs}`, 0],
  ['attempts burned', `burned${jobs}`, 0],
  ['jobs dead', `dead${jobs}`, 0],
  ['most open at a time before the first success', `open${jobs}`, 0],
  ['ms from the end of the outage to a delivery', `gap${jobs}`, 0],
  ['seconds from there until all are delivered', `drain${jobs}`, 2],
]);

export async function measure(build) {
  const figures = {};
  for (const jobs of waiting)
    for (const [name, figure] of Object.entries(await liveThrough(build, jobs)))
      figures[`${name}${jobs}`] = figure;
  return figures;
}

/** Publishes so many jobs and lets them meet an outage. */
async function liveThrough(build, jobs) {
  const downstream = await startDownstream();
  const server = await startServer(`${build}/tidegate`, { under: build });
  await server.call('POST', '/v1/queues', {
    name: 'bench', webhookUrl: `${downstream.url}/`, concurrency, maxAttempts: 5,
  });
  await server.call('POST', '/v1/queues/bench/pause');
  for (let n = 0; n < jobs; n += 200)
    await server.call('POST', '/v1/queues/bench/jobs/batch', { jobs: Array(200).fill({ payload: 'x'.repeat(298) }) });
  await server.call('POST', '/v1/queues/bench/resume');
  await until('everything has ended', 60, async () => {
    const { counts } = await server.call('GET', '/v1/queues/bench');
    return counts.completed + counts.dead === jobs;
  });
  const ended = await allJobs(server);
  await server.stop();
  await downstream.close();
  const { wasted, open, firstAfter, last, endsAt } = downstream.seen;
  return {
    wasted,
    // Each took one attempt, and whoever took more has lost them to the outage.
    burned: ended.reduce((sum, { attempts, status }) => sum + attempts - (status === 'completed' ? 1 : 0), 0),
    dead: ended.filter(({ status }) => status === 'dead').length,
    open,
    gap: firstAfter - endsAt,
    drain: (last - firstAfter) / 1000,
  };
}

/** Listens. The outage begins with the first delivery. */
async function startDownstream() {
  const seen = { wasted: 0, open: 0 };
  let inFlight = 0;
  const { url, close } = await listen(async () => {
    const now = performance.now();
    seen.endsAt ??= now + outageMs;
    const refuses = now < seen.endsAt;
    ++inFlight;
    if (!refuses)
      seen.firstAfter ??= now;
    await sleep(workMs);
    // The first sixteen are out before anybody can know.
    if (seen.wasted >= concurrency && seen.last === undefined)
      seen.open = Math.max(seen.open, inFlight);
    --inFlight;
    if (refuses) {
      ++seen.wasted;
      return { status: 429, headers: { 'retry-after': String(retryAfter) } };
    }
    seen.last = performance.now();
    return { status: 200 };
  });
  return { url, close, seen };
}

async function allJobs(server) {
  const jobs = [];
  for (let cursor = null; jobs.length === 0 || cursor !== null;) {
    const from = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page = await server.call('GET', `/v1/queues/bench/jobs?limit=1000${from}`);
    jobs.push(...page.items);
    cursor = page.nextCursor;
  }
  return jobs;
}
