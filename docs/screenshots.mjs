// Draws the pictures of the README, of a server with something to see:
//   TIDEGATE=build/tidegate node docs/screenshots.mjs
// Needs what ./dev test installs.

import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';

import { closeBrowser, goTo, signedIn } from '../tests/process/support/browser.mjs';
import { notNow, startReceiver } from '../tests/process/support/receiver.mjs';
import { startServer } from '../tests/process/support/server.mjs';

const fileOf = (name) => fileURLToPath(new URL(`dashboard-${name}.png`, import.meta.url));

/** For helpers that end with a test. */
const endings = [];
const t = { after: (end) => endings.unshift(end) };

let isBusy = false;
const work = (status = 200) => async () => {
  await sleep(40);
  return { status, body: status === 200 ? '' : '{"error":"the printer is out of ink"}' };
};
const provider = await startReceiver(t, () => (isBusy ? notNow(90) : work()()));
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

/** Publishes for so many seconds. */
async function live(seconds) {
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

const page = await signedIn(t, server, { viewport: { width: 1180, height: 640 } });
await live(100);
isBusy = true;
await live(40);
await page.screenshot({ path: fileOf('queues') });
await goTo(page, '#/queues/llm-requests');
await page.locator('.plot canvas').first().waitFor();
await page.emulateMedia({ colorScheme: 'dark' });
await page.setViewportSize({ width: 1180, height: 900 });
await sleep(1000);
await page.screenshot({ path: fileOf('queue') });
await page.emulateMedia({ colorScheme: 'light' });
await goTo(page, `#/jobs/${label}`);
await page.setViewportSize({ width: 390, height: 780 });
await page.getByRole('heading', { name: 'History' }).waitFor();
await page.screenshot({ path: fileOf('job') });

for (const end of endings)
  await end();
await closeBrowser();
