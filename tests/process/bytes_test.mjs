// What a webhook and a reader get is what the publisher sent, byte for byte.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';

import { Webhook } from 'standardwebhooks';

import { startReceiver } from './support/receiver.mjs';
import { startServer } from './support/server.mjs';
import { patience } from './support/time.mjs';

const timeout = 60_000 * patience;

const payloads = [
  '12345678901234567890123',
  '-0',
  '1E5',
  '1.10e-007',
  'null',
  '""',
  String.raw`"\u0041\/\"\\\b\f\n\r\t\u00e9\ud83d\ude00"`,
  String.raw`"\u0000 and \ud800 alone"`,
  '{"a":1,"a":2,"A":3,"":4}',
  '{ "z" :\t1 ,\r\n"a":[ 1 , 2 ,3] }',
  '{"größe":"𝄞 é e\u0301 \u2028","日本":"語"}',
  '[12345678901234567890123, 1E5, -0, 1.0, 0.1e+1]',
  `${'['.repeat(128)}${']'.repeat(128)}`,
];

/** Publishes a payload as it stands, without parsing it. */
function publishRaw(server, queue, payload) {
  return server.api.ask('POST', `/v1/queues/${queue}/jobs`, `{"payload":${payload}}`);
}

function hmac(secret, body) {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

/** Starts a server and delivers one job. Returns its only arrival and the queue. */
async function deliverOne(t, settings = {}, payload = '{"to":"a@b.com"}') {
  const receiver = await startReceiver(t);
  const server = await startServer(t);
  const queue = await server.api.createQueue('emails', { webhookUrl: receiver.url, ...settings });
  const published = await publishRaw(server, 'emails', payload);
  await server.api.jobWithStatus(published.id, 'completed');
  return { server, queue, published, arrival: receiver.arrivals[0] };
}

test('every payload arrives byte for byte inside the envelope, and is shown so', { timeout }, async (t) => {
  const receiver = await startReceiver(t);
  const server = await startServer(t);
  await server.api.createQueue('bytes', { webhookUrl: receiver.url });
  for (const payload of payloads) {
    const { id, createdAt } = await publishRaw(server, 'bytes', payload);
    await server.api.jobWithStatus(id, 'completed');
    const [{ body }] = receiver.arrivalsOf(id);
    assert.equal(body.toString(), `{"id":"${id}","queue":"bytes","payload":${payload},`
      + `"attempt":1,"maxAttempts":3,"deferCount":0,"createdAt":"${createdAt}"}`);
    const { text } = await server.api.send('GET', `/v1/jobs/${id}`);
    assert.ok(text.includes(`"payload":${payload},"scheduledFor"`), text);
  }
});

test('a payload is the same bytes after kill -9', { timeout }, async (t) => {
  const receiver = await startReceiver(t);
  const server = await startServer(t);
  await server.api.createQueue('bytes', { webhookUrl: receiver.url });
  await server.api.pause('bytes');
  const ids = [];
  for (const payload of payloads)
    ids.push((await publishRaw(server, 'bytes', payload)).id);
  await server.killAndStart();
  await server.api.resume('bytes');
  await server.api.drained('bytes', 20);
  for (const [n, id] of ids.entries()) {
    const [{ body }] = receiver.arrivalsOf(id);
    assert.ok(body.includes(`"payload":${payloads[n]},"attempt"`), body.toString());
  }
});

test('x-simpleq-signature is the HMAC of the raw body under the whole secret', { timeout }, async (t) => {
  const { queue, arrival } = await deliverOne(t, {}, payloads[8]);
  assert.match(queue.signingSecret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.equal(arrival.headers['x-simpleq-signature'], hmac(queue.signingSecret, arrival.body));
  assert.equal(arrival.headers['x-simpleq-signature-previous'], undefined);
});

test('the npm package standardwebhooks verifies a delivery, and refuses a changed one', { timeout }, async (t) => {
  const { queue, published, arrival } = await deliverOne(t, {}, payloads[10]);
  const webhook = new Webhook(queue.signingSecret);
  const verified = webhook.verify(arrival.body, arrival.headers);
  assert.equal(verified.id, published.id);
  assert.equal(arrival.headers['webhook-id'], published.id);
  const changed = arrival.body.toString().replace('"attempt":1', '"attempt":2');
  assert.throws(() => webhook.verify(changed, arrival.headers));
});

test('a delivery has its number, its type, who sends it, and the queue\'s own headers', { timeout }, async (t) => {
  const headers = { Authorization: 'Bearer downstream', 'X-Tenant': 'a b;c="d"' };
  const { arrival } = await deliverOne(t, { headers });
  assert.equal(arrival.headers['x-tidegate-delivery'], '1');
  assert.equal(arrival.headers['content-type'], 'application/json');
  assert.match(arrival.headers['user-agent'], /^tidegate\/\d+\.\d+\.\d+$/);
  assert.equal(arrival.headers.authorization, 'Bearer downstream');
  assert.equal(arrival.headers['x-tenant'], 'a b;c="d"');
  assert.equal(arrival.request.method, 'POST');
});

test('a defer moves the delivery number and the defer count, a failure the attempt', { timeout }, async (t) => {
  const answers = [
    { status: 429, headers: { 'retry-after': '0.05' } },
    { status: 500 },
    { status: 200 },
  ];
  const receiver = await startReceiver(t, ({ delivery }) => answers[delivery - 1]);
  const server = await startServer(t);
  await server.api.createQueue('q', { webhookUrl: receiver.url, backoff: { type: 'fixed', delay: 0.05 } });
  const { id } = await server.api.publish('q', 1);
  await server.api.jobWithStatus(id, 'completed');
  const seen = receiver.arrivals.map(({ body, delivery }) => {
    const { attempt, deferCount } = JSON.parse(body);
    return { delivery, attempt, deferCount };
  });
  assert.deepEqual(seen, [
    { delivery: 1, attempt: 1, deferCount: 0 },
    { delivery: 2, attempt: 1, deferCount: 1 },
    { delivery: 3, attempt: 2, deferCount: 1 },
  ]);
});
