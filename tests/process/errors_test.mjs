// What is wrong with a request is named, in one shape, and changes nothing.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { startServer } from './support/server.mjs';
import { patience } from './support/time.mjs';

const timeout = 60_000 * patience;
const url = 'http://127.0.0.1:9/';

let server;
let undo;

before(async () => {
  server = await startServer({ after: (end) => { undo = end; } });
  await server.api.createQueue('q', { webhookUrl: url });
  await server.api.pause('q');
});

after(() => undo());

/** The queues and the readable state of the one that is there. */
async function everything() {
  const { items } = await server.api.ask('GET', '/v1/queues');
  return items.map(({ oldestAgeSeconds, ...rest }) => rest);
}

/** Makes a call that has to be refused, and checks that it has changed nothing. */
async function refused(method, path, body, headers) {
  const earlier = await everything();
  const answer = await server.api.send(method, path, body, headers);
  assert.deepEqual(await everything(), earlier);
  assert.ok(answer.headers['x-request-id']);
  return answer;
}

/** Checks that a body is refused for one field, with these words. */
async function refusesField(method, path, body, field, message) {
  const { status, json } = await refused(method, path, body);
  const expected = {
    error: { formErrors: [], fieldErrors: { [field]: [message] } },
    code: 'validation_failed',
  };
  assert.deepEqual({ status, json }, { status: 400, json: expected });
}

async function refusesWith(status, code, sentence, ...call) {
  const answer = await refused(...call);
  assert.equal(answer.status, status, answer.text);
  assert.deepEqual(Object.keys(answer.json), ['error', 'code']);
  assert.equal(answer.json.code, code);
  assert.match(answer.json.error, sentence);
  return answer;
}

const publishing = ['POST', '/v1/queues/q/jobs'];
const creating = ['POST', '/v1/queues'];

const wrongJobs = [
  ['a misspelt field', '{"payload":1,"idempotencykey":"x"}', 'idempotencykey', 'is not a known field'],
  ['no payload', '{}', 'payload', 'is required'],
  ['a delay that is too long', '{"payload":1,"delay":2592001}', 'delay', 'must be 0 to 2592000, got 2592001'],
  ['a negative delay', '{"payload":1,"delay":-1}', 'delay', 'must be 0 to 2592000, got -1'],
  ['a delay in quotes', '{"payload":1,"delay":"5"}', 'delay', 'must be a number, got a string'],
  ['a number for a key', '{"payload":1,"idempotencyKey":7}', 'idempotencyKey', 'must be a string, got a number'],
  ['an empty key', '{"payload":1,"idempotencyKey":""}', 'idempotencyKey', 'must be 1 to 255 bytes, got 0'],
  ['a key of 256 bytes', { payload: 1, idempotencyKey: 'x'.repeat(256) }, 'idempotencyKey', 'must be 1 to 255 bytes, got 256'],
  ['a delay given twice', '{"payload":1,"delay":1,"delay":2}', 'delay', 'is given more than once'],
];

for (const [what, body, field, message] of wrongJobs)
  test(`a job with ${what} is refused by name`, { timeout }, () => refusesField(...publishing, body, field, message));

const wrongSettings = [
  ['maxAttemps', 5, 'is not a known field'],
  ['concurrency', 0, 'must be 1 to 10000, got 0'],
  ['concurrency', 10001, 'must be 1 to 10000, got 10001'],
  ['concurrency', '5', 'must be an integer, got a string'],
  ['rateLimitMax', 0, 'must be 1 to 100000, got 0'],
  ['rateLimitWindow', 86401, 'must be 1 to 86400, got 86401'],
  ['maxAttempts', 1001, 'must be 1 to 1000, got 1001'],
  ['maxDefers', 1000001, 'must be 0 to 1000000, got 1000001'],
  ['timeout', 0.05, 'must be 0.1 to 900, got 0.05'],
  ['lifetime', 2592001, 'must be 1 to 2592000, got 2592001'],
];

for (const [name, value, message] of wrongSettings)
  test(`${name}: ${JSON.stringify(value)} is refused when a queue is made, replaced and changed`, { timeout }, async () => {
    const settings = { [name]: value };
    const whole = { webhookUrl: url, ...settings };
    await refusesField(...creating, { name: 'new', ...whole }, name, message);
    await refusesField('PUT', '/v1/queues/new', whole, name, message);
    await refusesField('PUT', '/v1/queues/q', whole, name, message);
    await refusesField('PATCH', '/v1/queues/q', settings, name, message);
  });

test('everything that is wrong with a body is told at once', { timeout }, async () => {
  const { json } = await refused(...creating, { name: '.x', concurrency: 0, colour: 'red', backoff: { type: 'fixed', delay: -1 } });
  assert.deepEqual(Object.keys(json.error.fieldErrors).sort(),
    ['backoff.delay', 'colour', 'concurrency', 'name', 'webhookUrl']);
  assert.equal(json.error.fieldErrors['backoff.delay'][0], 'must be 0 to 2592000, got -1');
});

for (const name of ['', '.hidden', 'a b', 'ä', 'a/b', 'x'.repeat(121)])
  test(`a queue cannot be named '${name.slice(0, 10)}'`, { timeout }, async () => {
    const { status, json } = await refused(...creating, { name, webhookUrl: url });
    assert.equal(status, 400);
    assert.equal(json.code, 'validation_failed');
    assert.deepEqual(Object.keys(json.error.fieldErrors), ['name']);
  });

for (const bad of ['ftp://a.example/', '/hook', 'http://', 'http://user:pw@a.example/', ''])
  test(`'${bad}' is no webhook`, { timeout }, async () => {
    const { status, json } = await refused(...creating, { name: 'new', webhookUrl: bad });
    assert.equal(status, 400);
    assert.deepEqual(Object.keys(json.error.fieldErrors), ['webhookUrl']);
  });

const wrongHeaders = [
  ['X-A', 'a\r\nX-B: b'], ['X A', 'b'], ['X-A\n', 'b'], ['Content-Length', '3'], ['Host', 'x'],
  ['X-Simpleq-Signature', 'x'], ['Webhook-Id', 'x'], ['X-Tidegate-Delivery', '1'], ['Transfer-Encoding', 'chunked'],
];

for (const [name, value] of wrongHeaders)
  test(`the header ${JSON.stringify(name)}: ${JSON.stringify(value)} is refused when it is set`, { timeout }, async () => {
    const { status, json } = await refused('PATCH', '/v1/queues/q', { headers: { [name]: value } });
    assert.equal(status, 400, JSON.stringify(json));
    assert.ok(Object.keys(json.error.fieldErrors)[0].startsWith('headers'), JSON.stringify(json));
  });

for (const body of ['{"payload":1', '{"payload":01}', '{"payload":NaN}', '{payload:1}', '{"payload":1}x', '\u0000', ''])
  test(`${JSON.stringify(body)} is malformed`, { timeout }, () => refusesWith(400, 'malformed_json', /^The body is /, ...publishing, body));

test('invalid UTF-8 in a payload is malformed', { timeout }, () => (
  refusesWith(400, 'malformed_json', /^The body is not valid JSON/, ...publishing, Buffer.from('{"payload":"\xff"}', 'latin1'))));

test('a payload of 129 levels is refused', { timeout }, () => (
  refusesWith(400, 'malformed_json', /deep|nest/, ...publishing, `{"payload":${'['.repeat(129)}${']'.repeat(129)}}`)));

test('a body that is no object is refused', { timeout }, async () => {
  const { status, json } = await refused(...publishing, '[1]');
  assert.equal(status, 400);
  assert.deepEqual(json.error, { formErrors: ['The body must be an object, got an array'], fieldErrors: {} });
});

test('a body above 1 MiB is 413, and one below is taken', { timeout }, async () => {
  const big = `{"payload":"${'x'.repeat(1024 * 1024)}"}`;
  await refusesWith(413, 'payload_too_large', /too large/, ...publishing, big);
  const { status } = await server.api.send(...publishing, `{"payload":"${'x'.repeat(1024 * 1024 - 14)}"}`);
  assert.equal(status, 201);
});

test('a head above 16 KiB is 431', { timeout }, async () => {
  await refusesWith(431, 'headers_too_large', /too large/, 'GET', '/v1/queues', undefined,
    { authorization: `Bearer ${server.key}`, 'x-long': 'x'.repeat(17 * 1024) });
});

const strangers = [
  ['no key', {}],
  ['a wrong key', { authorization: `Bearer sq_live_${'x'.repeat(40)}` }],
  ['an empty key', { authorization: 'Bearer ' }],
  ['another scheme', { authorization: 'Basic Zm9vOmJhcg==' }],
];

for (const [what, headers] of strangers)
  test(`${what} is 401, whatever is asked for`, { timeout }, async () => {
    for (const [method, path] of [['GET', '/v1/queues'], publishing, ['GET', '/v1/jobs/x'], ['GET', '/nothing']]) {
      const answer = await refusesWith(401, 'unauthenticated', /API key/, method, path, undefined, headers);
      assert.equal(answer.headers['www-authenticate'], 'Bearer');
    }
  });

test('the checks need no key', { timeout }, async () => {
  for (const path of ['/healthz', '/readyz'])
    assert.equal((await server.api.send('GET', path, undefined, {})).status, 200);
});

test('what is not there is 404 and named', { timeout }, async () => {
  await refusesWith(404, 'queue_not_found', /^Queue 'nope' not found$/, 'GET', '/v1/queues/nope');
  await refusesWith(404, 'queue_not_found', /^Queue 'nope' not found$/, 'POST', '/v1/queues/nope/jobs', { payload: 1 });
  await refusesWith(404, 'queue_not_found', /^Queue 'nope' not found$/, 'PATCH', '/v1/queues/nope', {});
  await refusesWith(404, 'queue_not_found', /^Queue 'nope' not found$/, 'DELETE', '/v1/queues/nope');
  await refusesWith(404, 'job_not_found', /^Job not found$/, 'GET', '/v1/jobs/nope');
  await refusesWith(404, 'not_found', /./, 'GET', '/v1/queus');
});

test('a job of a deleted queue is not there', { timeout }, async () => {
  await server.api.createQueue('gone', { webhookUrl: url });
  await server.api.pause('gone');
  const { id } = await server.api.publish('gone', 1);
  await server.api.ask('DELETE', '/v1/queues/gone?force=true');
  await refusesWith(404, 'job_not_found', /^Job not found$/, 'GET', `/v1/jobs/${id}`);
});

test('a wrong method is 405 and says which are right', { timeout }, async () => {
  const allowed = [
    ['PUT', '/v1/queues', ['GET', 'HEAD', 'POST']],
    ['POST', '/v1/queues/q', ['DELETE', 'GET', 'HEAD', 'PATCH', 'PUT']],
    ['GET', '/v1/queues/q/pause', ['POST']],
    ['POST', '/v1/jobs/x', ['DELETE', 'GET', 'HEAD']],
  ];
  for (const [method, path, methods] of allowed) {
    const { headers } = await refusesWith(405, 'method_not_allowed', /method/, method, path);
    assert.deepEqual(headers.allow.split(', ').sort(), methods);
  }
});

test('a queue that exists is 409, and one with jobs is not deleted', { timeout }, async () => {
  await server.api.publish('q', 1);
  await refusesWith(409, 'queue_exists', /'q'/, ...creating, { name: 'q', webhookUrl: url });
  await refusesWith(409, 'queue_not_empty', /'q'/, 'DELETE', '/v1/queues/q');
});

test('a wrong parameter of a query is named with its range', { timeout }, async () => {
  await refusesField('GET', '/v1/queues?limit=0', undefined, 'limit', "must be 1 to 1000, got '0'");
  await refusesField('GET', '/v1/queues?limit=1001', undefined, 'limit', "must be 1 to 1000, got '1001'");
  await refusesField('GET', '/v1/queues?cursor=x', undefined, 'cursor', "must be the nextCursor of an earlier page, got 'x'");
  await refusesField('DELETE', '/v1/queues/q?force=yes', undefined, 'force', "must be true or false, got 'yes'");
  await refusesField('GET', '/v1/queues/q?verbose=1', undefined, 'verbose', 'is not a known parameter');
});
