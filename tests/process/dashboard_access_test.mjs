// Who gets into the dashboard, and for whom it works: what it is made of, keys,
// texts of others, accessibility.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import {
  checkAccessible, closeBrowser, deadJob, goTo, openDashboard, row, shows, signedIn, signIn, startWithQueue as start,
} from './support/browser.mjs';
import { notNow } from './support/receiver.mjs';
import { startServer } from './support/server.mjs';
import { patience, until } from './support/time.mjs';

const timeout = 120_000 * patience;

after(closeBrowser);

// -- files -------------------------------------------------------------------

test('the files need no key, come with a strict policy and are not sent twice', { timeout }, async (t) => {
  const { api } = await startServer(t);
  const page = await api.send('GET', '/dashboard', undefined, {});
  assert.equal(page.status, 200);
  assert.equal(page.headers['content-type'], 'text/html; charset=utf-8');
  assert.doesNotMatch(page.text, /<script(?![^>]*src=)|<style|\son\w+=|javascript:/i);
  const names = [...page.text.matchAll(/(?:href|src)="(dashboard\/[^"]+)"/g)].map(([, name]) => name);
  assert.ok(names.length >= 4, page.text);
  for (const name of ['dashboard', ...names, 'dashboard/licenses.txt']) {
    const { status, headers } = await api.send('GET', `/${name}`, undefined, {});
    assert.equal(status, 200, name);
    assert.match(headers['content-security-policy'], /^default-src 'none'; script-src 'self'; style-src 'self';/);
    assert.doesNotMatch(headers['content-security-policy'], /unsafe/);
    assert.equal(headers['x-content-type-options'], 'nosniff');
    const again = await api.send('GET', `/${name}`, undefined, { 'if-none-match': headers.etag });
    assert.deepEqual([again.status, again.text], [304, ''], name);
  }
  assert.equal((await api.send('GET', '/dashboard/nothing.js', undefined, {})).status, 404);
});

// -- signing in --------------------------------------------------------------

test('one signs in with a key that may read, for this tab and until one signs out', { timeout }, async (t) => {
  const { server, api } = await start(t);
  const { key: publisher } = await api.ask('POST', '/v1/keys', { project: 'default', scopes: ['publish'] });
  const page = await openDashboard(t, server);
  await signIn(page, 'sq_live_nobody');
  await shows(page, 'The server does not know this key.');
  await signIn(page, publisher);
  await shows(page, /lacks the scope read/);
  await signIn(page, server.key);
  await row(page, 'q').waitFor();
  await page.reload();
  await row(page, 'q').waitFor();
  const other = await page.context().newPage();
  await other.goto(page.url());
  await other.getByLabel('API key').waitFor();
  assert.equal(await page.evaluate(() => localStorage.length), 0);
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByLabel('API key').waitFor();
  assert.equal(await page.evaluate(() => sessionStorage.length), 0);
  assert.deepEqual(page.faults, []);
});

test('a key that is revoked is signed out', { timeout }, async (t) => {
  const { server, api } = await start(t);
  const { id, key } = await api.ask('POST', '/v1/keys', { project: 'default', scopes: ['read'] });
  const page = await openDashboard(t, server);
  await signIn(page, key);
  await row(page, 'q').waitFor();
  await api.ask('DELETE', `/v1/keys/${id}`);
  await shows(page, 'The server does not take the key any more.');
});

test('a key that may only read is told so when it tries to change something', { timeout }, async (t) => {
  const { server, api } = await start(t);
  const { key } = await api.ask('POST', '/v1/keys', { project: 'default', scopes: ['read'] });
  const page = await openDashboard(t, server, { fragment: '#/queues/q' });
  await signIn(page, key);
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('dialog').getByText(/lacks the scope manage/).waitFor();
  assert.equal((await api.queue('q')).paused, false);
});

// -- what others write -------------------------------------------------------

const evil = '"\'><img src=x onerror="window.broken=1"><script>window.broken=1</script><svg/onload=window.broken=1>${window.broken=1}';

test('no text of others becomes markup: payloads, reasons, keys, answers, names', { timeout }, async (t) => {
  const { server, api } = await start(t, () => ({ status: 500, body: evil }), { maxAttempts: 1 });
  const id = await deadJob(api, { evil }, { limitKey: evil.slice(0, 100), idempotencyKey: evil, headers: { 'x-evil': evil } });
  await api.ask('POST', '/v1/queues/q/hold', { retryAfter: 600, reason: evil });
  await api.publish('q', evil, { limitKey: evil.slice(0, 100) });
  await api.ask('POST', '/v1/queue/create', { name: 'out' });
  await api.ask('POST', '/v1/queue/publish', { queue: 'out', payload: { evil } });
  const page = await signedIn(t, server);
  const name = encodeURIComponent(evil);
  for (const [fragment, shown] of [['#/', evil], ['#/queues/q', evil], [`#/jobs/${id}`, evil.slice(0, 100)],
    ['#/queues/q/dead', evil.slice(0, 100)], ['#/pull/out', 'bytes'], [`#/queues/${name}`, evil], [`#/pull/${name}/dead`, evil],
    [`#/jobs/${name}`, evil], [`#/${name}`, 'There is no such page'], ['#/%', 'There is no such page']]) {
    await goTo(page, fragment);
    await page.getByText(shown).first().waitFor();
    assert.equal(await page.evaluate(() => document.querySelectorAll('img, svg, main script').length), 0, fragment);
  }
  await goTo(page, '#/pull/out');
  await page.getByText(/\d+ bytes/).click();
  await page.getByText('onerror').first().waitFor();
  assert.equal(await page.evaluate(() => window.broken), undefined);
  assert.deepEqual(page.faults, []);
});

// -- for everybody -----------------------------------------------------------

test('axe-core finds no violation on any page, light and dark, on a screen and on a phone', { timeout }, async (t) => {
  let answer = { status: 500, body: 'broken' };
  const { server, api } = await start(t, () => answer, { maxAttempts: 1 });
  const id = await deadJob(api, { n: 1 }, { limitKey: 'tenant-7' });
  answer = notNow(600);
  await api.publish('q', 2, { limitKey: 'tenant-7' });
  await api.gateOnce('q', 'held');
  await api.createQueue('paused', { webhookUrl: 'http://127.0.0.1:9/' });
  await api.pause('paused');
  await api.ask('POST', '/v1/queue/create', { name: 'out', max_receive_count: 1 });
  await api.ask('POST', '/v1/queue/publish', { queue: 'out', payload: 1 });
  await api.ask('POST', '/v1/queues/q/dlq/replay', {});
  await api.ask('POST', '/v1/queue/publish', { queue: 'out.dlq', payload: 1 });
  const page = await openDashboard(t, server);
  await page.getByLabel('API key').waitFor();
  await checkAccessible(page, 'signing in');
  await signIn(page, server.key);
  for (const [fragment, awaited] of [['#/', 'tr'], ['#/queues/q', '.plot canvas'], [`#/jobs/${id}`, '.verbatim'],
    ['#/queues/q/dead', 'h1'], ['#/pull/out', '.plot canvas'], ['#/pull/out/dead', 'tbody tr'], ['#/operations', 'progress']]) {
    await goTo(page, fragment);
    await page.locator(awaited).first().waitFor();
    for (const colorScheme of ['light', 'dark'])
      for (const width of [1280, 360]) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 800 });
        await checkAccessible(page, `${fragment} ${colorScheme} ${width}`);
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), width, `${fragment} is wider than ${width}`);
      }
  }
  await goTo(page, '#/queues/q');
  await page.getByRole('button', { name: 'Hold' }).click();
  await page.getByRole('dialog').waitFor();
  await checkAccessible(page, 'a dialog');
  assert.deepEqual(page.faults, []);
});

test('a queue is paused by keyboard alone, and the focus comes back', { timeout }, async (t) => {
  const { server, api } = await start(t);
  const page = await openDashboard(t, server);
  await page.getByLabel('API key').focus();
  await page.keyboard.type(server.key);
  await page.keyboard.press('Enter');
  await row(page, 'q').waitFor();
  const focused = () => page.evaluate(() => document.activeElement.textContent);
  const tabTo = async (wanted) => {
    for (let n = 0; n < 30 && await focused() !== wanted; ++n)
      await page.keyboard.press('Tab');
    assert.equal(await focused(), wanted);
  };
  await tabTo('q');
  await page.keyboard.press('Enter');
  await until('the heading has the focus', 20, async () => /^q\b/.test(await focused()));
  await tabTo('Pause');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal(await focused(), 'Pause');
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.closest('dialog') !== null), true);
  await tabTo('Pause');
  await page.keyboard.press('Enter');
  await until('the queue is paused', 20, async () => (await api.queue('q')).paused);
  await shows(page, 'Queue q is paused.');
});
