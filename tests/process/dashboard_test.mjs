// The dashboard in a real browser, over a real server: what an operator sees and
// does there.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import {
  closeBrowser, confirm, deadJob, goTo, row, shows, signedIn, startWithQueue as start,
} from './support/browser.mjs';
import { notNow } from './support/receiver.mjs';
import { startServer } from './support/server.mjs';
import { patience, until } from './support/time.mjs';

const timeout = 120_000 * patience;

after(closeBrowser);

// -- watching ----------------------------------------------------------------

test('a hold is seen to begin, with countdown, cause and next probe, and to end', { timeout }, async (t) => {
  let isBusy = true;
  const { server, api } = await start(t, () => (isBusy ? notNow(6) : { status: 200 }));
  const page = await signedIn(t, server);
  await row(page, 'q').getByText('open').waitFor();
  await api.publish('q', 1);
  await row(page, 'q').getByText('held', { exact: true }).waitFor();
  isBusy = false;
  const text = await row(page, 'q').innerText();
  assert.match(text, /[1-6] s left/);
  assert.match(text, /the webhook said “not now” \(429\)\. Next probe at \d/);
  await shows(page, 'Queue q is held.');
  await row(page, 'q').getByText('open', { exact: true }).waitFor();
  await shows(page, 'Queue q is open.');
  assert.deepEqual(page.faults, []);
});

test('the page of a queue has its gate, figures, charts and jobs, and filters them', { timeout }, async (t) => {
  const { server, api } = await start(t, ({ payload }) => (payload.bad ? { status: 500 } : { status: 200 }), { maxAttempts: 1 });
  const page = await signedIn(t, server, { fragment: '#/queues/q' });
  const dead = await deadJob(api, { bad: true }, { limitKey: 'tenant-7' });
  const { id: fine } = await api.publish('q', { bad: false });
  await api.jobWithStatus(fine, 'completed');
  await row(page, dead).waitFor();
  await row(page, fine).waitFor();
  assert.equal(await page.locator('.plot canvas').count(), 3);
  await shows(page, /This page has looked for/);
  await page.getByRole('button', { name: '1 dead' }).click();
  await row(page, fine).waitFor({ state: 'detached' });
  await row(page, dead).waitFor();
  await page.getByRole('button', { name: '1 dead' }).click();
  await page.getByLabel('Limit key').fill('tenant-8');
  await page.getByRole('button', { name: 'Filter' }).click();
  await shows(page, 'No such jobs.');
  await page.getByLabel('Limit key').fill('tenant-7');
  await page.keyboard.press('Enter');
  await row(page, dead).waitFor();
  assert.equal(await row(page, fine).count(), 0);
  assert.deepEqual(page.faults, []);
});

test('a list goes on where more is asked for', { timeout }, async (t) => {
  const { server, api } = await start(t);
  await api.pause('q');
  const ids = await api.publishBulk('q', 120);
  const page = await signedIn(t, server, { fragment: '#/queues/q' });
  const shown = () => page.getByRole('table', { name: 'Jobs, newest first' }).getByRole('rowheader').allInnerTexts();
  for (const wanted of [50, 100, 120]) {
    await until(`${wanted} rows`, 20, async () => (await shown()).length === wanted);
    if (wanted < 120)
      await page.getByRole('button', { name: 'Show more' }).click();
  }
  assert.deepEqual(await shown(), ids.toReversed());
  assert.equal(await page.getByRole('button', { name: 'Show more' }).count(), 0);
});

/** In the page: what would be looked at again after 2 or 5 s is not. */
function stopPolling() {
  const later = window.setTimeout;
  window.setTimeout = (f, delay, ...rest) => (delay === 2000 || delay === 5000 ? 0 : later(f, delay, ...rest));
}

test('an event of the server makes the page look again', { timeout }, async (t) => {
  const { server, api } = await start(t);
  const page = await signedIn(t, server, { init: stopPolling });
  await shows(page, 'Live, by events');
  for (let n = 0; n < 3; ++n) {
    await api.pause('q');
    await row(page, 'q').getByText('paused').waitFor();
    await api.resume('q');
    await row(page, 'q').getByText('open').waitFor();
  }
});

test('a server that is gone is said to be, and is followed again when it is back', { timeout }, async (t) => {
  const { server } = await start(t);
  const page = await signedIn(t, server);
  await row(page, 'q').waitFor();
  const { port } = new URL(server.api.url);
  server.flags = [...server.flags, '--listen', `127.0.0.1:${port}`];
  await server.kill();
  await shows(page, /The server does not answer\..*Last looked at/s);
  await server.start();
  await shows(page, /^Live/);
});

// -- one job -----------------------------------------------------------------

test('a payload is shown byte for byte, and its history with what was answered', { timeout }, async (t) => {
  const { server, api } = await start(t, () => ({ status: 500, body: 'out of <b>ink</b>' }), { maxAttempts: 1 });
  const payload = '{"big": 12345678901234567890123,  "dup":1,"dup":2.50, "e":"\\u00e9é\\/", "n":[1e400]}';
  const { json } = await api.send('POST', '/v1/queues/q/jobs', `{"payload":${payload},"limitKey":"\\"payload\\":1"}`);
  await api.jobWithStatus(json.id, 'dead');
  const page = await signedIn(t, server, { fragment: `#/jobs/${json.id}` });
  await shows(page, `${Buffer.byteLength(payload)} bytes`);
  assert.equal(await page.getByRole('group', { name: 'Payload' }).textContent(), payload);
  assert.equal(await page.getByLabel('Response to delivery 1').textContent(), 'out of <b>ink</b>');
  const history = await page.getByRole('table', { name: 'History, newest first' }).innerText();
  assert.match(history, /failed\s+500/);
  const request = await page.getByLabel('Request excerpt').textContent();
  assert.ok(request.includes(`"payload":${payload},"attempt":1,`), request);
  assert.ok(request.startsWith(`POST http://127.0.0.1:`), request);
  assert.deepEqual(page.faults, []);
});

test('a job that waits says why, and can be run now or cancelled', { timeout }, async (t) => {
  const { server, api } = await start(t);
  const { id } = await api.publish('q', 1, { delay: 3600 });
  const { id: other } = await api.publish('q', 2, { delay: 3600 });
  const page = await signedIn(t, server, { fragment: `#/jobs/${id}` });
  await page.getByRole('listitem').filter({ hasText: 'delay' }).getByText(/left, until/).waitFor();
  await confirm(page, 'Run now');
  await page.getByRole('heading', { level: 1 }).getByText('completed').waitFor();
  await goTo(page, `#/jobs/${other}`);
  await confirm(page, 'Cancel', 'Cancel the job');
  await shows(page, 'cancelled');
  assert.equal((await api.job(other)).deadReason, 'cancelled');
});

// -- dead letters ------------------------------------------------------------

test('a dead job is replayed from its page', { timeout }, async (t) => {
  let isBroken = true;
  const { server, api } = await start(t, () => ({ status: isBroken ? 500 : 200 }), { maxAttempts: 1 });
  const id = await deadJob(api);
  const page = await signedIn(t, server);
  await row(page, 'q').getByRole('link', { name: '1', exact: true }).click();
  await page.getByRole('link', { name: id }).click();
  isBroken = false;
  await confirm(page, 'Replay');
  await page.getByRole('heading', { level: 1 }).getByText('completed').waitFor();
  assert.equal((await api.job(id)).replayCount, 1);
  assert.deepEqual(page.faults, []);
});

test('dead letters are tried dry, replayed at a rate and watched to their end', { timeout }, async (t) => {
  let isBroken = true;
  const { server, api } = await start(t, () => ({ status: isBroken ? 500 : 200 }), { maxAttempts: 1, concurrency: 50 });
  const ids = await api.publishBulk('q', 30);
  await until('all are dead', 20, async () => (await api.queue('q')).counts.dead === 30);
  isBroken = false;
  const page = await signedIn(t, server, { fragment: '#/queues/q/dead' });
  await row(page, ids[29]).waitFor();
  await page.getByRole('button', { name: 'Dry run' }).click();
  await shows(page, /It would take/);
  assert.equal((await api.queue('q')).counts.dead, 30);
  await confirm(page, 'Replay 30 …', 'Replay', { 'A second, at most': '10' });
  const bar = page.getByRole('progressbar');
  await until('some of them', 20, async () => {
    const value = Number(await bar.getAttribute('value'));
    return value > 0 && value < 30;
  });
  await page.getByText('30 of 30, done').waitFor();
  await shows(page, 'No dead letters.');
  await api.drained('q');
  assert.equal((await api.queue('q')).counts.completed, 30);
  await goTo(page, '#/operations');
  await row(page, 'Replay').getByText('30 of 30, done').waitFor();
  assert.deepEqual(page.faults, []);
});

test('a replay that runs can be stopped', { timeout }, async (t) => {
  const { server, api } = await start(t, () => ({ status: 500 }), { maxAttempts: 1, concurrency: 50 });
  await api.publishBulk('q', 20);
  await until('all are dead', 20, async () => (await api.queue('q')).counts.dead === 20);
  const page = await signedIn(t, server, { fragment: '#/queues/q/dead' });
  await page.getByRole('button', { name: 'Dry run' }).click();
  await confirm(page, 'Replay 20 …', 'Replay', { 'A second, at most': '0.5' });
  await confirm(page, 'Stop', 'Stop it');
  await page.getByText(/of 20, cancelled/).waitFor();
});

// -- changing things ---------------------------------------------------------

test('pause, resume, hold, release and rotate ask first, and are done when that is confirmed', { timeout }, async (t) => {
  const { server, api } = await start(t);
  const page = await signedIn(t, server, { fragment: '#/queues/q' });
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal((await api.queue('q')).paused, false);
  await confirm(page, 'Pause');
  assert.equal((await api.queue('q')).paused, true);
  await confirm(page, 'Resume');
  assert.equal((await api.queue('q')).paused, false);
  await confirm(page, 'Hold', 'Hold', { Seconds: '90', Reason: 'the provider is being moved' });
  const { gate } = await api.queue('q');
  assert.deepEqual([gate.state, gate.reason], ['held', 'the provider is being moved']);
  await shows(page, 'the provider is being moved');
  await confirm(page, 'Release');
  const released = (await api.queue('q')).gate;
  assert.ok(Date.parse(released.releaseAt) <= Date.now(), JSON.stringify(released));
  await shows(page, 'The next job is the probe.');
  const { signingSecret: before } = await api.ask('GET', '/v1/queues/q/signing-secret');
  await confirm(page, 'Rotate secret', 'Rotate', { 'Overlap in seconds': '60' });
  const { signingSecret: after } = await api.ask('GET', '/v1/queues/q/signing-secret');
  assert.notEqual(after, before);
  await shows(page, after);
  await page.getByRole('button', { name: 'Forget it' }).click();
  assert.equal(await page.getByText(after).count(), 0);
});

test('what the server refuses is said in the dialog, which stays', { timeout }, async (t) => {
  const { server } = await start(t);
  const page = await signedIn(t, server, { fragment: '#/queues/q' });
  await page.getByRole('button', { name: 'Rotate secret' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Overlap in seconds').evaluate((input) => input.removeAttribute('max'));
  await dialog.getByLabel('Overlap in seconds').fill('99999999');
  await dialog.getByRole('button', { name: 'Rotate' }).click();
  await dialog.getByRole('alert').getByText(/overlap must be 0 to 2592000/).waitFor();
});

test('a limit key that is held is released on its own', { timeout }, async (t) => {
  let isBusy = true;
  const { server, api } = await start(t, () => (isBusy ? notNow(600) : { status: 200 }), { backpressureScope: 'key' });
  const { id } = await api.publish('q', 1, { limitKey: 'tenant-7' });
  const page = await signedIn(t, server, { fragment: '#/queues/q' });
  await page.getByRole('table', { name: 'Limit keys' }).getByText('held').waitFor();
  isBusy = false;
  await confirm(page, 'Release tenant-7', 'Release');
  await api.jobWithStatus(id, 'completed');
});

// -- pull queues -------------------------------------------------------------

test('a pull queue has its figures, what comes next and its dead letters, which are redriven', { timeout }, async (t) => {
  const server = await startServer(t);
  const { api } = server;
  await api.ask('POST', '/v1/queue/create', { name: 'out', max_receive_count: 1 });
  const payload = '{"id": 9007199254740993123,  "x":"<i>"}';
  await api.send('POST', '/v1/queue/publish', `{"queue":"out","payload":${payload}}`);
  const page = await signedIn(t, server);
  await row(page, 'out').getByRole('link', { name: 'out' }).click();
  await page.getByRole('group', { name: 'Messages that would' }).getByText(`${payload.length} bytes`).click();
  assert.equal(await page.getByRole('group', { name: 'Payload' }).textContent(), payload);
  const { data } = await api.ask('POST', '/v1/queue/consume', { queue: 'out' });
  await api.ask('POST', '/v1/queue/nack', { queue: 'out', message_id: data.items[0].message_id });
  await page.getByRole('link', { name: 'Dead letters: 1' }).click();
  await page.getByText(`${payload.length} bytes`).click();
  assert.equal(await page.getByRole('group', { name: 'Payload' }).textContent(), payload);
  await page.getByRole('button', { name: 'Dry run' }).click();
  await confirm(page, 'Redrive 1 …', 'Redrive');
  await page.getByText('1 of 1, done').waitFor();
  await shows(page, 'No dead letters.');
  const { data: stats } = await api.ask('GET', '/v1/queue/stats/out');
  assert.deepEqual([stats.available, stats.dlq_count], [1, 0]);
  assert.deepEqual(page.faults, []);
});
