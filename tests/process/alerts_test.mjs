// Alerts by webhook: a real server, a real operator, and what comes between them.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

import { Webhook } from 'standardwebhooks';

import { accept, notNow, startReceiver } from './support/receiver.mjs';
import { run, startServer, temporaryFolder } from './support/server.mjs';
import { patience, until } from './support/time.mjs';

const timeout = 120_000 * patience;
const fail = () => ({ status: 500 });

/** Starts an operator's webhook and a server that tells it alerts. */
async function start(t, flags, answer = accept) {
  const operator = await startReceiver(t, answer);
  const server = await startServer(t, {
    flags: ['--allow-target', '127.0.0.0/8', '--alert-url', operator.url, ...flags],
  });
  return { operator, server, api: server.api };
}

/** Makes the queue `q` to a webhook that answers with `answer`. */
async function makeQueue(t, api, answer, settings = {}) {
  const receiver = await startReceiver(t, answer);
  await api.createQueue('q', { webhookUrl: receiver.url, maxAttempts: 1, ...settings });
  return receiver;
}

/** Returns the alerts that were taken, each once, oldest first. */
function taken(operator) {
  const byJob = new Map();
  for (const { id, payload, status } of operator.arrivals)
    if (status === 200)
      byJob.set(id, payload);
  return [...byJob.values()];
}

/** Waits until `count` alerts have been taken. */
const takenOnce = (operator, count, seconds = 20) =>
  until(`${count} alerts`, seconds, () => taken(operator).length >= count && taken(operator));

/**
 * Returns once the server has had the time to tell anything: a death in a queue of
 * its own is told after what was to be told before.
 */
async function provoke(t, api, operator, name) {
  const receiver = await startReceiver(t, fail);
  await api.createQueue(name, { webhookUrl: receiver.url, maxAttempts: 1 });
  await api.publish(name, 1);
  await until(`the alert of ${name}`, 20, () => taken(operator).some(({ queue }) => queue === name));
}

/** Gives a queue another name in the data of a server that has ended. */
function renameQueue(data, from, to) {
  const script = 'import sqlite3, sys\n'
    + 'db = sqlite3.connect(sys.argv[1])\n'
    + 'db.execute("UPDATE queues SET name = ? WHERE name = ?", (sys.argv[3], sys.argv[2]))\n'
    + 'db.commit()';
  execFileSync('python3', ['-c', script, join(data, 'tidegate.db'), from, to]);
}

test('a dead job is an alert, signed and in a queue like any other', { timeout }, async (t) => {
  const { operator, api } = await start(t, []);
  await makeQueue(t, api, fail);
  await api.publish('q', 1);
  const [alert] = await takenOnce(operator, 1);
  assert.deepEqual({ ...alert, at: 0, since: 0, until: 0, job: 0 }, {
    cause: 'job_dead', state: 'firing', project: 'default', queue: 'q', kind: 'push',
    message: '1 job of queue q in project default was given up on',
    at: 0, since: 0, until: 0, count: 1, seconds: null, limit: null,
    job: 0, reason: 'attempts_exhausted',
  });
  for (const time of [alert.at, alert.since, alert.until])
    assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.ok(alert.since <= alert.until && alert.until <= alert.at);
  assert.equal((await api.job(alert.job)).status, 'dead');
  const [arrival] = operator.arrivals;
  assert.equal(arrival.queue, 'tidegate.alerts');
  const { signingSecret } = await api.ask('GET', '/v1/queues/tidegate.alerts/signing-secret');
  const webhook = new Webhook(signingSecret);
  assert.equal(webhook.verify(arrival.body, arrival.headers).id, arrival.id);
  assert.throws(() => webhook.verify(arrival.body.toString().replace('1 job', '2 jobs'), arrival.headers));
  const job = await api.jobWithStatus(arrival.id, 'completed');
  assert.match(job.idempotencyKey, /^d\/default\/q\//);
  assert.deepEqual(job.payload, alert);
  assert.ok((await api.list('/v1/queues')).some(({ name }) => name === 'tidegate.alerts'));
  // A queue that somebody manages: it can be held, and changed.
  await api.ask('POST', '/v1/queues/tidegate.alerts/hold', { retryAfter: 60 });
  await api.ask('PATCH', '/v1/queues/tidegate.alerts', { concurrency: 2 });
  assert.equal(operator.arrivals.length, 1);
});

test('of many dead jobs none is missing, and there is one alert a window', { timeout }, async (t) => {
  const { operator, api } = await start(t, ['--alert-window', '4']);
  await makeQueue(t, api, fail);
  const counted = () => taken(operator).reduce((sum, { count }) => sum + count, 0);
  await api.publishMany('q', 50);
  await takenOnce(operator, 1);
  await api.publishMany('q', 50);
  await until('100 deaths', 40, () => counted() === 100);
  const alerts = taken(operator);
  assert.ok(alerts.length <= 6, `${alerts.length} alerts`);
  const times = alerts.map(({ at }) => Date.parse(at));
  times.slice(1).forEach((at, i) => assert.ok(at - times[i] >= 3990, `${times}`));
});

test('a dead message is told like a dead job', { timeout }, async (t) => {
  const { operator, api } = await start(t, []);
  await api.ask('POST', '/v1/queue/create', { name: 'out', max_receive_count: 1 });
  await api.ask('POST', '/v1/queue/publish', { queue: 'out', payload: 1 });
  const { data: { items: [{ message_id, receipt_handle }] } } =
    await api.ask('POST', '/v1/queue/consume', { queue: 'out' });
  await api.ask('POST', '/v1/queue/nack', { queue: 'out', message_id, receipt_handle });
  const [alert] = await takenOnce(operator, 1);
  assert.equal(alert.message, '1 message of queue out in project default was given up on');
  assert.equal(alert.kind, 'pull');
  assert.equal(alert.job, message_id);
  assert.equal(alert.reason, 'max_receive_count');
});

test('a queue that is held for long is told, over a kill -9 not again, and its end is', { timeout }, async (t) => {
  const { operator, server, api } = await start(t, ['--alert-held', '2', '--alert-window', '600']);
  let answer = notNow(30);
  await makeQueue(t, api, () => answer);
  const before = Date.now();
  await api.publish('q', 1);
  const [held] = await takenOnce(operator, 1);
  assert.equal(held.cause, 'queue_held');
  assert.equal(held.state, 'firing');
  assert.equal(held.limit, 2);
  assert.ok(held.seconds >= 2 && held.seconds <= 10, `${held.seconds} s`);
  assert.ok(Date.parse(held.at) - Date.parse(held.since) >= 2000);
  assert.ok(Date.parse(held.since) >= before - 1);
  assert.ok(Date.parse(held.until) >= before + 30_000);
  await server.killAndStart();
  await provoke(t, api, operator, 'other');
  assert.equal((await api.queue('q')).gate.state, 'held');
  assert.deepEqual(taken(operator).map(({ queue }) => queue), ['q', 'other']);
  answer = { status: 200 };
  await api.ask('POST', '/v1/queues/q/release');
  const end = (await takenOnce(operator, 3))[2];
  assert.equal(end.cause, 'queue_held');
  assert.equal(end.state, 'resolved');
  assert.equal(end.since, held.since);
  assert.match(end.message, /^Queue q in project default is held no longer, after \d+ s$/);
  await server.killAndStart();
  await provoke(t, api, operator, 'third');
  assert.equal(taken(operator).length, 4);
});

test('dead jobs are told once, over a kill -9 in the window, too', { timeout }, async (t) => {
  const { operator, server, api } = await start(t, ['--alert-window', '8']);
  await makeQueue(t, api, fail);
  await api.publishMany('q', 10);
  const [first] = await takenOnce(operator, 1);
  await until('10 dead', 10, async () => (await api.queue('q')).counts.dead === 10);
  await server.killAndStart();
  await api.publishMany('q', 3);
  await until('13 dead', 10, async () => (await api.queue('q')).counts.dead === 13);
  const untold = 10 - first.count;
  await until('the others', 20, () => taken(operator).slice(1).reduce((sum, { count }) => sum + count, 0) === untold + 3);
  const [, second] = taken(operator);
  assert.ok(Date.parse(second.at) - Date.parse(first.at) >= 7900, `${first.at}, ${second.at}`);
});

test('the first death before a kill -9 is told by the next process, of jobs and of messages', { timeout }, async (t) => {
  const { operator, server, api } = await start(t, []);
  await makeQueue(t, api, fail);
  await api.ask('POST', '/v1/queue/create', { name: 'out', max_receive_count: 1 });
  await api.ask('POST', '/v1/queue/publish', { queue: 'out', payload: 1 });
  const { data: { items: [{ message_id }] } } = await api.ask('POST', '/v1/queue/consume', { queue: 'out' });
  const { id } = await api.publish('q', 1);
  await Promise.all([
    api.jobWithStatus(id, 'dead'),
    api.ask('POST', '/v1/queue/nack', { queue: 'out', message_id }),
  ]);
  await server.killAndStart();
  const alerts = (await takenOnce(operator, 2)).sort((a, b) => (a.queue < b.queue ? -1 : 1));
  assert.deepEqual(alerts.map(({ queue, count, job, reason }) => [queue, count, job, reason]),
    [['out', 1, message_id, 'max_receive_count'], ['q', 1, id, 'attempts_exhausted']]);
  const { completedAt, history } = await api.job(id);
  assert.equal(alerts[1].since, alerts[1].until);
  assert.ok(Math.abs(Date.parse(alerts[1].since) - Date.parse(completedAt ?? history.at(-1).timestamp)) < 1000);
  await server.killAndStart();
  await provoke(t, api, operator, 'other');
  assert.equal(taken(operator).length, 3, 'it is told once');
});

test('an operator who answers 429 gets alerts later, and none about them', { timeout }, async (t) => {
  let first;
  const { operator, api } = await start(t, ['--alert-held', '1'],
    ({ at }) => (at - (first ??= at) < 5000 ? notNow(2) : { status: 200 }));
  await makeQueue(t, api, fail);
  await api.publishMany('q', 3);
  await api.gateOnce('tidegate.alerts', 'held');
  const second = await startReceiver(t, fail);
  await api.createQueue('r', { webhookUrl: second.url, maxAttempts: 1 });
  await api.publish('r', 1);
  const alerts = await takenOnce(operator, 2, 30);
  assert.deepEqual(alerts.map(({ cause, queue }) => `${cause} ${queue}`).sort(), ['job_dead q', 'job_dead r']);
  assert.ok(operator.arrivals.filter(({ status }) => status === 429).length <= 4, 'it is held, with one probe at a time');
  await api.gateOnce('tidegate.alerts', 'open');
  await provoke(t, api, operator, 'other');
  assert.equal(taken(operator).length, 3);
});

test('alerts that are given up on are not told', { timeout }, async (t) => {
  const { operator, api } = await start(t, ['--alert-window', '1'], fail);
  await api.ask('PATCH', '/v1/queues/tidegate.alerts', { maxAttempts: 1 });
  await makeQueue(t, api, fail);
  await api.publish('q', 1);
  await until('a dead alert', 20, async () => (await api.queue('tidegate.alerts')).counts.dead === 1);
  operator.answer = accept;
  await provoke(t, api, operator, 'other');
  await provoke(t, api, operator, 'third');
  assert.equal(operator.arrivals.length, 3);
});

test('a queue that is deep, or whose jobs are old, is told until it is not', { timeout }, async (t) => {
  const { operator, api } = await start(t, ['--alert-depth', '5', '--alert-age', '3']);
  await makeQueue(t, api, accept);
  await api.pause('q');
  await api.publishMany('q', 6);
  const both = (await takenOnce(operator, 2, 40)).sort((a, b) => (a.cause < b.cause ? -1 : 1));
  assert.deepEqual(both.map(({ cause, count, limit }) => [cause, count, limit]),
    [['queue_age', null, 3], ['queue_depth', 6, 5]]);
  assert.ok(both[0].seconds >= 3);
  assert.equal(both[1].message, 'Queue q in project default has 6 jobs, more than 5');
  await api.resume('q');
  const ends = (await takenOnce(operator, 4, 40)).slice(2);
  assert.deepEqual(ends.map(({ state }) => state), ['resolved', 'resolved']);
});

test('queues of every project are told, to the default project only', { timeout }, async (t) => {
  const { operator, api } = await start(t, []);
  const { key } = await api.ask('POST', '/v1/keys', { project: 'acme', scopes: ['publish', 'read', 'manage'] });
  const acme = api.as(key);
  await makeQueue(t, acme, fail);
  await acme.publish('q', 1);
  const [alert] = await takenOnce(operator, 1);
  assert.equal(alert.project, 'acme');
  assert.equal((await acme.send('GET', '/v1/queues/tidegate.alerts')).status, 404);
  assert.equal((await api.queue('tidegate.alerts')).counts.completed, 1);
});

test('without --alert-url there is no queue for alerts', { timeout }, async (t) => {
  const { api } = await startServer(t);
  assert.equal((await api.send('GET', '/v1/queues/tidegate.alerts')).status, 404);
});

test('a URL that may not be called, or alerts without one, end in exit 2', { timeout }, async (t) => {
  const serve = ['serve', '--listen', '127.0.0.1:0', '--data', temporaryFolder(t)];
  for (const [flags, complaint] of [
    [['--alert-url', 'http://127.0.0.1:9/'], /alert-url: .*127\.0\.0\.1.*allow-target/],
    [['--alert-url', 'http://user@example.com/'], /alert-url: /],
    [['--alert-url', ''], /--alert-url must not be empty: leave it out where there is none/],
    [['--alert-url', 'nowhere'], /--alert-url must be an http or https URL, got "nowhere"/],
    [['--alert-depth', '5'], /alert_depth is set without alert_url: nobody is told/],
  ]) {
    const { code, err } = await run([...serve, ...flags]);
    assert.equal(code, 2, err);
    assert.match(err, complaint);
  }
});

test('a pull queue in the place of the queue for alerts is told at the start', { timeout }, async (t) => {
  const server = await startServer(t);
  // As an earlier version would have made it: the name is kept for push queues now.
  await server.api.ask('POST', '/v1/queue/create', { name: 'tidegate_alerts' });
  await server.stop();
  renameQueue(server.data, 'tidegate_alerts', 'tidegate.alerts');
  const { code, err } = await run(['serve', '--listen', '127.0.0.1:0', '--data', server.data,
    '--alert-url', 'https://example.com/'], { TIDEGATE_API_KEY: server.key });
  assert.equal(code, 1, err);
  assert.match(err, /alerts: 'tidegate\.alerts' is a pull queue, .* start once without alert_url, and delete it/);
});

test('no pull queue can have the name of the queue for alerts', { timeout }, async (t) => {
  const { api } = await startServer(t);
  const kept = /'tidegate\.alerts', which is kept for the push queue that alerts go through/;
  for (const [path, body] of [
    ['create', { name: 'tidegate.alerts' }],
    ['publish', { queue: 'tidegate.alerts', payload: 1 }],
    ['create', { name: 'out', dead_letter_queue: 'tidegate.alerts' }],
  ]) {
    const { status, json } = await api.send('POST', `/v1/queue/${path}`, body);
    assert.equal(status, 400, json);
    assert.equal(json.error.code, 'INVALID_ARGUMENT');
    assert.match(json.error.message, kept);
  }
  await api.createQueue('tidegate.alerts', { webhookUrl: 'http://127.0.0.1:9/' });
});
