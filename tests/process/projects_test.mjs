// Projects do not see each other, a key may do what its scopes say, and a key that
// was revoked may nothing.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { checkAllEnded } from './support/conservation.mjs';
import { startReceiver } from './support/receiver.mjs';
import { run, startServer, temporaryFolder } from './support/server.mjs';
import { patience, until } from './support/time.mjs';

const timeout = 60_000 * patience;
const everything = ['publish', 'work', 'read', 'manage'];

/** Makes a key. Returns it and the server as its owner sees it. */
async function makeKey(api, project, scopes = everything, fields = {}) {
  const made = await api.ask('POST', '/v1/keys', { project, scopes, ...fields });
  return { ...made, api: api.as(made.key) };
}

async function start(t, settings = {}) {
  const receiver = await startReceiver(t);
  const server = await startServer(t);
  const [left, right] = [(await makeKey(server.api, 'left')).api, (await makeKey(server.api, 'right')).api];
  for (const api of [left, right])
    await api.createQueue('q', { webhookUrl: receiver.url, ...settings });
  return { receiver, server, left, right };
}

async function status(api, method, path, body) {
  return (await api.send(method, path, body)).status;
}

test('two projects have queues of one name that know nothing of each other', { timeout }, async (t) => {
  const { receiver, server, left, right } = await start(t);
  const mine = await left.publish('q', { of: 'left' }, { idempotencyKey: 'k' });
  const theirs = await right.publish('q', { of: 'right' }, { idempotencyKey: 'k' });
  assert.notEqual(mine.id, theirs.id);
  assert.equal(theirs.duplicate, undefined);
  await left.drained('q', 10);
  await right.drained('q', 10);
  assert.deepEqual((await left.allJobs('q')).map(({ id }) => id), [mine.id]);
  assert.deepEqual((await right.allJobs('q')).map(({ id }) => id), [theirs.id]);
  await left.pause('q');
  assert.equal((await right.queue('q')).paused, false);
  assert.notEqual((await left.ask('GET', '/v1/queues/q/signing-secret')).signingSecret,
    (await right.ask('GET', '/v1/queues/q/signing-secret')).signingSecret);
  await right.ask('DELETE', '/v1/queues/q?force=true');
  assert.equal(await status(left, 'GET', '/v1/queues/q'), 200);
  assert.equal(await status(right, 'GET', '/v1/queues/q'), 404);
  await server.killAndStart();
  assert.equal(await status(left, 'GET', `/v1/jobs/${mine.id}`), 200);
  assert.equal(await status(right, 'GET', '/v1/queues/q'), 404);
  assert.deepEqual((await server.api.ask('GET', '/v1/queues')).items, []);
  await checkAllEnded(left, 'q', [mine.id]);
  assert.equal(receiver.arrivals.length, 2);
});

test('whatever a project asks of another\'s queue or job is 404', { timeout }, async (t) => {
  const { receiver, server, left } = await start(t, { mode: 'ack' });
  await left.createQueue('own', { webhookUrl: receiver.url, mode: 'ack' });
  const { id } = await left.publish('own', 1);
  const before = await left.jobWithStatus(id, 'awaiting_ack');
  const stranger = (await makeKey(server.api, 'right', [...everything, 'admin'])).api;
  const calls = [
    ['GET', '/v1/queues/own'], ['PATCH', '/v1/queues/own', {}], ['DELETE', '/v1/queues/own?force=true'],
    ['POST', '/v1/queues/own/pause'], ['POST', '/v1/queues/own/resume'],
    ['POST', '/v1/queues/own/hold', { retryAfter: 5 }], ['POST', '/v1/queues/own/release'],
    ['POST', '/v1/queues/own/purge'], ['POST', '/v1/queues/own/signing-secret/rotate'],
    ['GET', '/v1/queues/own/signing-secret'], ['POST', '/v1/queues/own/jobs', { payload: 1 }],
    ['POST', '/v1/queues/own/jobs/batch', { jobs: [{ payload: 1 }] }], ['GET', '/v1/queues/own/jobs'],
    ['GET', '/v1/queues/own/keys'], ['POST', '/v1/queues/own/keys/a/release'], ['GET', '/v1/queues/own/dlq'],
    ['POST', '/v1/queues/own/dlq/replay', {}], ['DELETE', '/v1/queues/own/dlq'],
    ['GET', `/v1/jobs/${id}`], ['DELETE', `/v1/jobs/${id}`], ['POST', `/v1/jobs/${id}/run-now`],
    ['POST', `/v1/jobs/${id}/replay`], ['POST', `/v1/jobs/${id}/ack`], ['POST', `/v1/jobs/${id}/nack`],
    ['POST', `/v1/jobs/${id}/defer`, { retryAfter: 5 }], ['POST', `/v1/jobs/${id}/touch`, { extend: 5 }],
  ];
  for (const [method, path, body] of calls) {
    const answer = await stranger.send(method, path, body);
    assert.equal(answer.status, 404, `${method} ${path}: ${answer.text}`);
    assert.equal(answer.json.code, path.startsWith('/v1/jobs') ? 'job_not_found' : 'queue_not_found');
    assert.ok(!answer.text.includes('left'), answer.text);
  }
  assert.deepEqual((await stranger.ask('GET', '/v1/queues')).items.map(({ name }) => name), ['q']);
  assert.deepEqual(await left.job(id), before);
});

test('an operation of another project is 404', { timeout }, async (t) => {
  const { left, right } = await start(t);
  const operation = await left.ask('POST', '/v1/queues/q/dlq/replay', {});
  assert.equal(await status(left, 'GET', `/v1/operations/${operation.id}`), 200);
  assert.equal(await status(right, 'GET', `/v1/operations/${operation.id}`), 404);
  assert.equal(await status(right, 'DELETE', `/v1/operations/${operation.id}`), 404);
  assert.deepEqual((await right.ask('GET', '/v1/operations')).items, []);
});

test('a key may do what its scopes say, and nothing else', { timeout }, async (t) => {
  const { server, receiver, left } = await start(t, { mode: 'ack' });
  const { id } = await left.publish('q', 1);
  await left.jobWithStatus(id, 'awaiting_ack');
  const calls = {
    publish: [['POST', '/v1/queues/q/jobs', { payload: 1 }], ['POST', '/v1/queues/q/jobs/batch', { jobs: [{ payload: 1 }] }]],
    work: ['ack', 'nack'].map((verb) => ['POST', `/v1/jobs/${id}/${verb}`, {}])
      .concat([['POST', `/v1/jobs/${id}/defer`, { retryAfter: 0 }], ['POST', `/v1/jobs/${id}/touch`, { extend: 9 }]]),
    read: ['/v1/queues', '/v1/queues/q', '/v1/queues/q/jobs', '/v1/queues/q/dlq', '/v1/queues/q/keys', `/v1/jobs/${id}`,
      '/v1/operations', '/v1/usage'].map((path) => ['GET', path]),
    manage: [
      ['POST', '/v1/queues', { name: 'r', webhookUrl: receiver.url }], ['PATCH', '/v1/queues/q', {}],
      ['POST', '/v1/queues/q/pause'], ['POST', '/v1/queues/q/resume'], ['POST', '/v1/queues/q/hold', { retryAfter: 0 }],
      ['POST', '/v1/queues/q/release'], ['POST', '/v1/queues/q/purge'], ['GET', '/v1/queues/q/signing-secret'],
      ['POST', '/v1/queues/q/signing-secret/rotate'], ['POST', '/v1/queues/q/dlq/replay', {}], ['DELETE', '/v1/queues/q/dlq'],
      ['DELETE', `/v1/jobs/${id}`],
    ],
    admin: [['GET', '/v1/keys'], ['POST', '/v1/keys', { project: 'left', scopes: ['read'] }], ['DELETE', '/v1/keys/none']],
  };
  for (const scope of Object.keys(calls)) {
    const others = Object.keys(calls).filter((each) => each !== scope);
    const without = (await makeKey(server.api, 'left', others)).api;
    const only = (await makeKey(server.api, 'left', [scope])).api;
    for (const [method, path, body] of calls[scope]) {
      const refused = await without.send(method, path, body);
      assert.deepEqual([refused.status, refused.json?.code], [403, 'forbidden'], `${others}: ${method} ${path}`);
      assert.notEqual(await status(only, method, path, body), 403, `${scope}: ${method} ${path}`);
    }
  }
});

test('a key is shown once, and listed without itself', { timeout }, async (t) => {
  const server = await startServer(t);
  const made = await makeKey(server.api, 'p', ['read', 'publish'], { name: 'ci' });
  assert.match(made.key, /^sq_live_[A-Za-z0-9]{32,}$/);
  assert.deepEqual([made.project, made.name, [...made.scopes].sort()], ['p', 'ci', ['publish', 'read']]);
  const { text, json } = await server.api.send('GET', '/v1/keys');
  assert.ok(!text.includes(made.key), 'the list shows a key');
  assert.ok(json.items.some(({ id, project }) => id === made.id && project === 'p'));
  await server.killAndStart();
  assert.equal(await status(made.api, 'GET', '/v1/queues'), 200);
});

test('a key that is revoked over HTTP is refused from then on', { timeout }, async (t) => {
  const server = await startServer(t);
  const { id, api } = await makeKey(server.api, 'p');
  assert.equal(await status(api, 'GET', '/v1/queues'), 200);
  assert.equal(await status(server.api, 'DELETE', `/v1/keys/${id}`), 204);
  assert.equal(await status(api, 'GET', '/v1/queues'), 401);
  await server.killAndStart();
  assert.equal(await status(api, 'GET', '/v1/queues'), 401);
  assert.equal(await status(server.api, 'DELETE', `/v1/keys/${id}`), 404);
});

test('a key is refused from the moment that it expires at', { timeout }, async (t) => {
  const server = await startServer(t);
  const at = Date.now() + 1500;
  const { api } = await makeKey(server.api, 'p', ['read'], { expiresAt: new Date(at).toISOString() });
  assert.equal(await status(api, 'GET', '/v1/queues'), 200);
  await until('it is refused', 5, async () => await status(api, 'GET', '/v1/queues') === 401);
  assert.ok(Date.now() >= at, 'it was refused too early');
  const past = await server.api.send('POST', '/v1/keys', { project: 'p', scopes: ['read'], expiresAt: new Date(at).toISOString() });
  assert.equal(past.status, 400);
});

test('what is wrong with a new key is named', { timeout }, async (t) => {
  const server = await startServer(t);
  const wrong = [
    [{ scopes: ['read'] }, 'project'], [{ project: 'p' }, 'scopes'], [{ project: 'p', scopes: ['rule'] }, 'scopes'],
    [{ project: 'p', scopes: [] }, 'scopes'], [{ project: '', scopes: ['read'] }, 'project'],
    [{ project: 'p', scopes: ['read'], expiresAt: 'soon' }, 'expiresAt'], [{ project: 'p', scopes: ['read'], scope: 1 }, 'scope'],
  ];
  for (const [body, field] of wrong) {
    const answer = await server.api.send('POST', '/v1/keys', body);
    assert.equal(answer.status, 400, `${JSON.stringify(body)}: ${answer.text}`);
    assert.deepEqual(Object.keys(answer.json.error.fieldErrors), [field]);
  }
});

test('usage tells each project what it has done, by queue, key and day, also after a kill', { timeout }, async (t) => {
  const { receiver, server, left, right } = await start(t, { backoff: { type: 'fixed', delay: 0.02 } });
  receiver.answer = ({ payload, attempt }) => ({ status: payload.n === 1 && attempt === 1 ? 500 : 200 });
  const publisher = await makeKey(server.api, 'left', ['publish']);
  await publisher.api.publishBulk('q', 3);
  await right.publish('q', { n: 0 });
  await left.drained('q', 10);
  await right.drained('q', 10);
  const check = async () => {
    const done = { publishes: 3, deliveries: 4, receives: 0, bytes: 3 * '{"n":0}'.length };
    const byQueue = await left.ask('GET', '/v1/usage?by=queue');
    assert.deepEqual(byQueue.items, [{ queue: 'q', ...done }]);
    const byDay = await left.ask('GET', '/v1/usage?by=day');
    assert.equal(byDay.items.reduce((sum, { deliveries }) => sum + deliveries, 0), 4);
    const byKey = await left.ask('GET', '/v1/usage?by=key');
    assert.equal(byKey.items.find(({ key }) => key === publisher.id)?.publishes, 3, JSON.stringify(byKey));
    const [theirs] = (await right.ask('GET', '/v1/usage?by=queue')).items;
    assert.deepEqual([theirs.publishes, theirs.deliveries], [1, 1]);
  };
  await check();
  await server.killAndStart();
  await check();
});

// -- tidegate keys ------------------------------------------------------------

/** Runs `tidegate keys`. Returns what it printed. */
async function keys(data, ...words) {
  const [verb, ...rest] = words;
  const { code, out, err } = await run(['keys', verb, '--data', data, ...rest]);
  assert.equal(code, 0, `${words.join(' ')}: ${err}`);
  return out;
}

const keyIn = (text) => text.match(/sq_live_[A-Za-z0-9]{32,}/)?.[0];

test('a key that was made before the first start works from the first start on', { timeout }, async (t) => {
  const data = join(temporaryFolder(t), 'new');
  const key = keyIn(await keys(data, 'create', '--project', 'p', '--scopes', 'read,publish', '--name', 'early'));
  assert.ok(key, 'no key was printed');
  const server = await startServer(t, { data });
  const api = server.api.as(key);
  assert.equal(await status(api, 'GET', '/v1/queues'), 200);
  assert.equal(await status(api, 'GET', '/v1/keys'), 403);
  const { items } = await server.api.ask('GET', '/v1/keys');
  assert.ok(items.some(({ name, project }) => name === 'early' && project === 'p'));
});

test('a key that goes into a new store says so, on standard error', { timeout }, async (t) => {
  const data = join(temporaryFolder(t), 'typo');
  const create = () => run(['keys', 'create', '--data', data, '--project', 'p', '--scopes', 'read']);
  const first = await create();
  assert.equal(first.code, 0, first.err);
  assert.ok(keyIn(first.out), first.out);
  assert.equal(first.err, `tidegate: there was no data in ${data}: a new store has been made there\n`);
  const second = await create();
  assert.equal(second.code, 0, second.err);
  assert.equal(second.err, '');
});

test('tidegate keys makes, lists and revokes keys of a server that runs', { timeout }, async (t) => {
  const server = await startServer(t);
  const key = keyIn(await keys(server.data, 'create', '--project', 'p', '--scopes', 'read', '--name', 'shell'));
  const api = server.api.as(key);
  await until('the server knows the key', 2, async () => await status(api, 'GET', '/v1/queues') === 200);
  const { items } = await server.api.ask('GET', '/v1/keys');
  const { id } = items.find(({ name }) => name === 'shell');
  const listed = await keys(server.data, 'list');
  assert.ok(listed.includes(id) && listed.includes('shell') && !listed.includes(key), listed);
  await keys(server.data, 'revoke', id);
  const from = Date.now();
  await until('the server refuses the key', 10, async () => await status(api, 'GET', '/v1/queues') === 401);
  t.diagnostic(`refused after ${Date.now() - from} ms`);
  await sleep(1200);
  assert.equal(await status(api, 'GET', '/v1/queues'), 401);
  await server.killAndStart();
  assert.equal(await status(api, 'GET', '/v1/queues'), 401);
});

test('tidegate keys says what is wrong and changes nothing', { timeout }, async (t) => {
  const server = await startServer(t);
  const before = await server.api.ask('GET', '/v1/keys');
  for (const words of [['revoke', 'no-such-key'], ['create', '--project', 'p', '--scopes', 'rule'], ['forget']]) {
    const { code, err } = await run(['keys', words[0], '--data', server.data, ...words.slice(1)]);
    assert.ok(code === 1 || code === 2, `${words.join(' ')}: ${code} ${err}`);
    assert.equal(err.trimEnd().split('\n').length, 1, err);
  }
  assert.deepEqual(await server.api.ask('GET', '/v1/keys'), before);
});
