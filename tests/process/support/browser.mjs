// Debian's Chromium, and a person in front of it who looks at the dashboard.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

import { chromium } from 'playwright-core';

import { startReceiver } from './receiver.mjs';
import { startServer } from './server.mjs';
import { patience } from './time.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** How long something may take to be shown. */
const deadline = 20_000 * patience;

let browser;

/** Returns the browser, started once for each file of tests. */
async function start() {
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
  assert.ok(existsSync(executablePath), `there is no ${executablePath}: ./dev test installs it`);
  // The sandbox of Chromium does not work as root, and pages here are our own.
  const args = ['--disable-dev-shm-usage', ...(process.getuid() === 0 ? ['--no-sandbox'] : [])];
  browser ??= chromium.launch({ executablePath, args });
  return browser;
}

export const closeBrowser = async () => (await browser)?.close();

/**
 * Opens the dashboard of `server` in a window of its own, where `init` runs first.
 * `page.faults` lists what a well-behaved page has none of: uncaught errors and
 * broken policies.
 */
export async function openDashboard(t, server, { fragment = '', init, ...options } = {}) {
  const context = await (await start()).newContext(options);
  t.after(() => context.close());
  context.setDefaultTimeout(deadline);
  if (init)
    await context.addInitScript(init);
  const page = await context.newPage();
  page.faults = [];
  page.on('pageerror', (error) => page.faults.push(String(error)));
  page.on('dialog', (dialog) => {
    page.faults.push(`a dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on('console', (message) => {
    if (/Content.Security.Policy/i.test(message.text()))
      page.faults.push(message.text());
  });
  await page.goto(`${server.api.url}/dashboard${fragment}`);
  return page;
}

export async function signIn(page, key) {
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Opens the dashboard and signs in with the server's key. */
export async function signedIn(t, server, options) {
  const page = await openDashboard(t, server, options);
  await signIn(page, server.key);
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  return page;
}

/** Goes to another page of the dashboard. */
export async function goTo(page, fragment) {
  await page.evaluate((to) => { location.hash = to; }, fragment);
}

/** Presses a button and confirms in the dialog, whose fields are filled first. */
export async function confirm(page, button, verb = button, fields = {}) {
  await page.getByRole('button', { name: button, exact: true }).first().click();
  const dialog = page.getByRole('dialog');
  for (const [label, value] of Object.entries(fields))
    await dialog.getByLabel(label).fill(value);
  await dialog.getByRole('button', { name: verb, exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
}

/** Waits until a text is shown somewhere on the page. */
export async function shows(page, text) {
  await page.getByText(text).first().waitFor();
}

/** Checks what is shown now against axe-core's rules, all of them. */
export async function checkAccessible(page, where) {
  const violations = await page.evaluate(`${axe}; axe.run(document, { resultTypes: ['violations'] })
    .then(({ violations }) => violations.map(({ id, nodes }) =>
      [id, ...nodes.map(({ target, failureSummary }) => target.join(' ') + ': ' + failureSummary)]))`);
  assert.deepEqual(violations, [], where);
}

/** Returns the row of a table, or the card, that has this text. */
export const row = (page, text) => page.locator('tbody tr').filter({ hasText: text });

// -- something to look at -----------------------------------------------------

/** Starts a server with the push queue `q`, and the webhook that it calls. */
export async function startWithQueue(t, answer, settings = {}) {
  const receiver = await startReceiver(t, answer);
  const server = await startServer(t);
  await server.api.createQueue('q', { webhookUrl: receiver.url, ...settings });
  return { server, api: server.api };
}

/** Publishes a job to `q` whose every delivery fails. Returns its id. */
export async function deadJob(api, payload = { n: 1 }, fields = {}) {
  const { id } = await api.publish('q', payload, fields);
  await api.jobWithStatus(id, 'dead');
  return id;
}
