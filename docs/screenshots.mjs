// Draws the pictures of the README, of a server with something to see:
//   TIDEGATE=build/tidegate node docs/screenshots.mjs
// Needs what ./dev test installs. The test `process: screenshots` draws them, too,
// after a shorter while.

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';

import { closeBrowser, goTo, signedIn } from '../tests/process/support/browser.mjs';
import { notNow, startReceiver } from '../tests/process/support/receiver.mjs';
import { startServer } from '../tests/process/support/server.mjs';

const work = (status = 200) => async () => {
  await sleep(40);
  return { status, body: status === 200 ? '' : '{"error":"the printer is out of ink"}' };
};

/** Starts a server with queues of all sorts. `scene.isBusy` makes the provider say "not now". */
async function setTheScene(t) {
  const scene = { isBusy: false };
  const provider = await startReceiver(t, () => (scene.isBusy ? notNow(90) : work()()));
  const mail = await startReceiver(t, work());
  const printer = await startReceiver(t, work(500));
  const server = await startServer(t);
  const { api } = server;
  await api.createQueue('llm-requests', { webhookUrl: provider.url, concurrency: 2, rateLimitMax: 20 });
  await api.createQueue('emails', { webhookUrl: mail.url, concurrency: 4 });
  await api.createQueue('billing', { webhookUrl: mail.url });
  await api.createQueue('labels', { webhookUrl: printer.url, maxAttempts: 2, backoff: { type: 'fixed', delay: 0.1 } });
  await api.ask('POST', '/v1/queue/create', { name: 'webhook-out' });
  await api.pause('billing');
  await api.publishBulk('billing', 12);
  const [label] = await api.publishBulk('labels', 17, (n) => ({ limitKey: `printer-${n % 3}` }));
  await api.jobWithStatus(label, 'dead');
  return Object.assign(scene, { server, api, label });
}

/** Publishes for so many seconds. */
async function live(api, seconds) {
  for (let n = 0; n < seconds; ++n) {
    await api.publishBulk('llm-requests', 14 + (n % 9));
    await api.publishBulk('emails', 5 + (n % 7));
    await api.ask('POST', '/v1/queue/publish_batch', {
      queue: 'webhook-out', messages: Array.from({ length: 4 }, (_, attempt) => ({ payload: { attempt } })),
    });
    const { data } = await api.ask('POST', '/v1/queue/consume', { queue: 'webhook-out', max_messages: 4 });
    await api.ask('POST', '/v1/queue/ack_batch', {
      queue: 'webhook-out', entries: data.items.slice(0, 3).map(({ message_id }) => ({ message_id })),
    });
    await sleep(1000);
  }
}

/**
 * Draws `dashboard-*.png` into `folder`, after `seconds` of life and a hold that has
 * gone on for `held` seconds. `t` is a test.
 */
export async function draw(t, folder, { seconds = 100, held = 40 } = {}) {
  const scene = await setTheScene(t);
  const { server, api, label } = scene;
  const page = await signedIn(t, server, { viewport: { width: 1180, height: 640 } });
  const shoot = (name) => page.screenshot({ path: join(folder, `dashboard-${name}.png`) });
  await live(api, seconds);
  scene.isBusy = true;
  await live(api, held);
  await api.gateOnce('llm-requests', 'held');
  const { id: waiting } = await api.publish('llm-requests', { prompt: 'Why is my job not running?' });
  await page.getByText('held', { exact: true }).waitFor();
  await shoot('queues');
  await goTo(page, '#/queues/llm-requests');
  await page.locator('.plot canvas').first().waitFor();
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize({ width: 1180, height: 900 });
  await sleep(1000);
  await shoot('queue');
  await page.emulateMedia({ colorScheme: 'light' });
  await goTo(page, `#/jobs/${waiting}`);
  await page.setViewportSize({ width: 900, height: 560 });
  await page.getByText('the downstream answered 429').first().waitFor();
  await shoot('blocked');
  await goTo(page, `#/jobs/${label}`);
  await page.setViewportSize({ width: 390, height: 780 });
  await page.getByRole('heading', { name: 'History' }).waitFor();
  await shoot('job');
}

async function main() {
  const endings = [];
  await draw({ after: (end) => endings.unshift(end) }, fileURLToPath(new URL('.', import.meta.url)));
  for (const end of endings)
    await end();
  await closeBrowser();
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await main();
