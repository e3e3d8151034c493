// Lists that are read page by page while everything moves, and batches.

import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { checkAllEnded, checkScan } from './support/conservation.mjs';
import { randomFrom } from './support/random.mjs';
import { startReceiver } from './support/receiver.mjs';
import { startServer } from './support/server.mjs';
import { patience, until } from './support/time.mjs';

const timeout = 60_000 * patience;

/** Answers what the payload asks for. */
const asAsked = ({ payload }) => ({ status: payload?.answer ?? 200 });

async function start(t, settings = {}) {
  const receiver = await startReceiver(t, asAsked);
  const server = await startServer(t);
  await server.api.createQueue('q', { webhookUrl: receiver.url, maxAttempts: 1, ...settings });
  return { receiver, server, api: server.api };
}

const idsOf = (items) => items.map(({ id }) => id);

test('pages skip and repeat nothing while jobs come, end and go', { timeout }, async (t) => {
  const { server, api } = await start(t);
  await api.pause('q');
  const kept = await api.publishBulk('q', 300);
  const doomed = [];
  for (let n = 0; n < 300; n += 10)
    doomed.push(kept[n]);
  let step = 0;
  const later = [];
  const between = async () => {
    later.push(...await api.publishBulk('q', 5));
    const id = doomed.pop();
    if (id !== undefined)
      await api.send('DELETE', `/v1/jobs/${id}`); // refused where it has ended already
    if (++step === 5)
      await api.resume('q');
    if (step === 12)
      await server.killAndStart();
  };
  const listed = await api.allJobs('q', { limit: 13, between });
  assert.ok(step > 12, `only ${step} pages`);
  const ids = idsOf(listed);
  assert.equal(new Set(ids).size, ids.length, 'a job was listed twice');
  assert.deepEqual(ids.filter((id) => !later.includes(id)), [...kept].reverse());
  await api.drained('q', 10);
  await checkAllEnded(api, 'q', [...kept, ...later]);
});

test('pages skip and repeat nothing while jobs are removed', { timeout }, async (t) => {
  const { api } = await start(t);
  await api.pause('q');
  const kept = await api.publishBulk('q', 100);
  const dead = await api.publishBulk('q', 100, () => ({ delay: 3600 }));
  for (const id of dead.slice(0, 50))
    await api.ask('DELETE', `/v1/jobs/${id}`);
  await api.ask('PATCH', '/v1/queues/q', { retention: 0 });
  let purged = false;
  const between = async () => {
    if (purged)
      return;
    purged = true;
    for (const id of dead.slice(50))
      await api.ask('DELETE', `/v1/jobs/${id}`);
    await until('they are gone', 20, async () => (await api.send('GET', `/v1/jobs/${dead[99]}`)).status === 404);
  };
  const listed = idsOf(await api.allJobs('q', { limit: 20, between }));
  assert.equal(new Set(listed).size, listed.length);
  const rest = listed.filter((id) => kept.includes(id));
  assert.deepEqual(rest, [...kept].reverse());
});

test('a list is newest first and leaves out payload and history', { timeout }, async (t) => {
  const { api } = await start(t);
  const ids = [];
  for (let n = 0; n < 5; ++n)
    ids.push((await api.publish('q', { n })).id);
  await api.drained('q', 10);
  const short = await api.ask('GET', '/v1/queues/q/jobs');
  assert.deepEqual(idsOf(short.items), [...ids].reverse());
  assert.equal(short.nextCursor, null);
  for (const item of short.items) {
    assert.ok(!('payload' in item) && !('history' in item), JSON.stringify(item));
    const { payload, history, lastError, historyDropped, ...rest } = await api.job(item.id);
    const { payload: _, history: __, lastError: ___, historyDropped: ____, ...listed } = item;
    assert.deepEqual(listed, rest);
  }
  const long = await api.ask('GET', '/v1/queues/q/jobs?include=payload');
  assert.deepEqual(long.items.map(({ payload }) => payload.n), [4, 3, 2, 1, 0]);
});

test('each filter finds what it names, and they go together', { timeout }, async (t) => {
  const { api } = await start(t);
  const publish = async (fields, payload = {}) => (await api.publish('q', payload, fields)).id;
  const done = await publish({ limitKey: 'a' });
  const failed = await publish({ limitKey: 'a' }, { answer: 500 });
  const other = await publish({ limitKey: 'b', idempotencyKey: 'order/1 ä' });
  await api.drained('q', 10);
  await api.pause('q');
  const middle = new Date().toISOString();
  const waiting = await publish({ limitKey: 'a' });
  const delayed = await publish({ delay: 60 });
  const cancelled = await publish({});
  await api.ask('DELETE', `/v1/jobs/${cancelled}`);
  const cases = [
    ['', [cancelled, delayed, waiting, other, failed, done]],
    ['?status=completed', [other, done]],
    ['?status=dead', [cancelled, failed]],
    ['?status=pending', [delayed, waiting]],
    ['?status=processing', []],
    ['?status=awaiting_ack', []],
    ['?limitKey=a', [waiting, failed, done]],
    ['?limitKey=a&status=dead', [failed]],
    ['?limitKey=nobody', []],
    [`?idempotencyKey=${encodeURIComponent('order/1 ä')}`, [other]],
    ['?idempotencyKey=none', []],
    ['?reason=cancelled', [cancelled]],
    ['?reason=attempts_exhausted', [failed]],
    [`?since=${middle}`, [cancelled, delayed, waiting]],
    [`?until=${middle}`, [other, failed, done]],
    [`?since=${middle}&status=pending`, [delayed, waiting]],
  ];
  for (const [query, expected] of cases)
    for (const limit of [1, 1000])
      assert.deepEqual(idsOf(await api.list(`/v1/queues/q/jobs${query}`, { limit })), expected, `${query} by ${limit}`);
  await checkScan(api, 'q');
});

test('a filter or a cursor that makes no sense is 400 and named', { timeout }, async (t) => {
  const { api } = await start(t);
  const wrong = [
    ['status=done', 'status'], ['reason=bored', 'reason'], ['since=yesterday', 'since'], ['limit=0', 'limit'],
    ['limit=1001', 'limit'], ['cursor=abc', 'cursor'], ['include=all', 'include'], ['colour=red', 'colour'],
  ];
  for (const [query, field] of wrong) {
    const { status, json, text } = await api.send('GET', `/v1/queues/q/jobs?${query}`);
    assert.equal(status, 400, `${query}: ${text}`);
    assert.deepEqual(Object.keys(json.error.fieldErrors), [field]);
  }
  assert.equal((await api.send('GET', '/v1/queues/nope/jobs')).status, 404);
});

test('a batch takes what is good, and says of each other one what is wrong', { timeout }, async (t) => {
  const { receiver, api } = await start(t);
  await api.pause('q');
  const first = await api.publish('q', { a: 1 }, { idempotencyKey: 'k1' });
  const results = await api.publishBatch('q', [
    { payload: 1 },
    { payload: 2, delay: -1 },
    { payload: { a: 1 }, idempotencyKey: 'k1' },
    { payload: { a: 2 }, idempotencyKey: 'k1' },
    {},
    { payload: 3, idempotencyKey: 'k2' },
    { payload: 3, idempotencyKey: 'k2' },
    { payload: 4, maxAttemps: 3 },
    { payload: null, priority: 9 },
    7,
  ]);
  assert.deepEqual(results.map(({ ok }) => ok), [true, false, true, true, false, true, true, false, true, false]);
  assert.equal(results[0].status, 'pending');
  assert.ok(results[0].createdAt);
  for (const [n, field] of [[1, 'delay'], [4, 'payload'], [7, 'maxAttemps']]) {
    assert.equal(results[n].code, 'validation_failed');
    assert.deepEqual(Object.keys(results[n].error.fieldErrors), [field]);
  }
  assert.equal(results[2].id, first.id);
  assert.deepEqual([results[2].duplicate, results[2].payloadMismatch], [true, undefined]);
  assert.equal(results[3].id, first.id);
  assert.deepEqual([results[3].duplicate, results[3].payloadMismatch], [true, true]);
  assert.equal(results[6].id, results[5].id);
  assert.deepEqual([results[5].duplicate, results[6].duplicate], [undefined, true]);
  await api.resume('q');
  await api.drained('q', 10);
  const ids = [first.id, results[0].id, results[5].id, results[8].id];
  await checkAllEnded(api, 'q', ids);
  assert.equal(receiver.arrivals.length, 4);
});

test('a batch of none, of too many or of no list is refused whole', { timeout }, async (t) => {
  const { api } = await start(t);
  const tooMany = Array.from({ length: 1001 }, () => ({ payload: 1 }));
  for (const body of [{ jobs: [] }, { jobs: tooMany }, { jobs: 1 }, {}, { jobs: [{ payload: 1 }], more: 1 }]) {
    const { status, text } = await api.send('POST', '/v1/queues/q/jobs/batch', body);
    assert.equal(status, 400, text);
  }
  assert.deepEqual(await checkScan(api, 'q'), []);
});

test('a batch that a kill cuts off is there whole or not at all', { timeout }, async (t) => {
  const { server, api } = await start(t);
  const random = randomFrom(t);
  await api.pause('q');
  const size = 300;
  const accepted = [];
  let unanswered = 0;
  for (let round = 0; round < 8; ++round) {
    const jobs = Array.from({ length: size }, (_, n) => ({ payload: { n }, limitKey: `round ${round}` }));
    const publishing = Promise.allSettled([0, 1, 2].map(() => api.publishBatch('q', jobs)));
    await sleep(random() * 25);
    await server.kill();
    for (const { status, value } of await publishing)
      if (status === 'fulfilled')
        accepted.push(...idsOf(value));
      else
        ++unanswered;
    await server.start();
    const there = await api.list(`/v1/queues/q/jobs?limitKey=${encodeURIComponent(`round ${round}`)}`);
    assert.equal(there.length % size, 0, `${there.length} jobs of batches of ${size}`);
  }
  t.diagnostic(`${accepted.length / size} batches were answered, ${unanswered} were not`);
  const jobs = new Set(idsOf(await checkScan(api, 'q')));
  assert.deepEqual(accepted.filter((id) => !jobs.has(id)), []);
});

/** Says that a body of so many bytes follows. Returns the status of the answer. */
function announce(api, path, bytes) {
  return new Promise((done, failed) => {
    const headers = { authorization: `Bearer ${api.key}`, 'content-length': bytes };
    const call = request(api.url + path, { method: 'POST', headers });
    call.once('error', failed);
    call.once('response', ({ statusCode }) => {
      call.off('error', failed).on('error', () => {}).destroy();
      done(statusCode);
    });
    call.flushHeaders();
  });
}

test('a batch may be larger than a single job', { timeout }, async (t) => {
  const { api } = await start(t);
  await api.pause('q');
  const jobs = Array.from({ length: 4 }, () => ({ payload: 'x'.repeat(700 * 1024) }));
  const results = await api.publishBatch('q', jobs);
  assert.ok(results.every(({ ok }) => ok));
  assert.equal(await announce(api, '/v1/queues/q/jobs/batch', 16 * 1024 * 1024 + 1), 413);
  assert.equal((await checkScan(api, 'q')).length, 4);
});
