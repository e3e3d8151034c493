// Webhooks that hang in a server with a hundred queues: what the other queues notice.

import { startServer, until } from '../../examples/tidegate.mjs';
import { startStalls } from '../process/support/stalls.mjs';
import { publish as publishTo, startSink } from './parts.mjs';

const queues = 99;
const rate = 400;
const seconds = Number(process.env.BENCH_SECONDS ?? 5);
const rounds = 3;
const hangingConcurrency = 50;
const hangingJobs = 1000;

/** Steps at which a webhook hangs, as `startStalls` names them. */
const steps = ['connect', 'first byte', 'mid-body', 'a byte a second'];

export const title = `${queues} queues at ${rate} jobs/s of 300 B together, and one that hangs with `
  + `${hangingConcurrency} deliveries`;

/** Label, name and digits of each figure. */
export const rows = [
  ['p99, publish to downstream, nobody hangs, ms', 'alone', 2],
  ...steps.flatMap((step) => [
    [`p99, one hangs (${step}), ms`, `p99 ${step}`, 2],
    ['that to the one without', `ratio ${step}`, 2],
  ]),
  ['p99, one hangs at each step, ms', 'p99 all', 2],
  ['that to the one without', 'ratio all', 2],
];

export async function measure(build) {
  const endings = [];
  const stalls = await startStalls({ after: (end) => endings.push(end) });
  const sink = await startSink(build);
  const server = await startServer(`${build}/tidegate`, { under: build });
  for (let n = 0; n < queues; ++n)
    await server.call('POST', '/v1/queues', { name: `q${n}`, webhookUrl: `${sink.url}/` });
  for (const step of steps)
    await makeHanging(server, nameOf(step), stalls.get(step));
  const figures = Object.fromEntries(['alone', ...steps, 'all'].map((name) => [name, []]));
  await latency(build, server, sink);
  // In turn, so that what the machine does meanwhile meets all of them.
  for (let n = 0; n < rounds; ++n) {
    figures.alone.push(await latency(build, server, sink));
    for (const step of steps)
      figures[step].push(await whileHanging(server, [step], () => latency(build, server, sink)));
    figures.all.push(await whileHanging(server, steps, () => latency(build, server, sink)));
  }
  await server.stop();
  sink.stop();
  endings.forEach((end) => end());
  const middle = (name) => figures[name].sort((x, y) => x - y)[Math.floor(rounds / 2)];
  return {
    alone: middle('alone'),
    ...Object.fromEntries([...steps, 'all'].flatMap((name) => [
      [`p99 ${name}`, middle(name)], [`ratio ${name}`, middle(name) / middle('alone')],
    ])),
  };
}

const nameOf = (step) => `hanging-${step.replaceAll(' ', '-')}`;

/** Makes a queue whose deliveries hang for two seconds each. It is paused. */
async function makeHanging(server, name, webhookUrl) {
  await server.call('POST', '/v1/queues', {
    name, webhookUrl, timeout: 2, concurrency: hangingConcurrency, maxAttempts: 100, backoff: { type: 'fixed', delay: 0 },
  });
  await server.call('POST', `/v1/queues/${name}/pause`);
  await server.call('POST', `/v1/queues/${name}/jobs/batch`, {
    jobs: Array(hangingJobs).fill({ payload: 'x'.repeat(298) }),
  });
}

/** Resolves with what `what` does while the queues of these steps hang. */
async function whileHanging(server, hanging, what) {
  const inFlight = async (step) => (await server.call('GET', `/v1/queues/${nameOf(step)}`)).counts.inFlight;
  for (const step of hanging)
    await server.call('POST', `/v1/queues/${nameOf(step)}/resume`);
  for (const step of hanging)
    await until(`${step} hangs`, 10, async () => await inFlight(step) === hangingConcurrency);
  const result = await what();
  for (const step of hanging)
    await server.call('POST', `/v1/queues/${nameOf(step)}/pause`);
  for (const step of hanging)
    await until(`${step} is at rest`, 10, async () => await inFlight(step) === 0);
  return result;
}

/** Publishes to each queue in turn. Resolves with the p99 at the downstream. */
async function latency(build, server, sink) {
  await sink.reset();
  const count = rate * seconds;
  await publishTo(build, server, {
    path: '/v1/queues/q{}/jobs', count, connections: 16, flags: ['--rate', String(rate), '--spread', String(queues)],
  });
  const stats = await until(`${count} deliveries`, 60, async () => {
    const now = await sink.stats();
    return now.unique >= count && now;
  });
  return stats.p99_us / 1000;
}
