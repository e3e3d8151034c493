// No secret gets into the log, an answer that says what is wrong, an event or the
// metrics, whatever fails: everything that was said is searched for all of them.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';

import { makeAuthority, sign } from './support/certificates.mjs';
import { openEvents } from './support/events.mjs';
import { startReceiver } from './support/receiver.mjs';
import { run, startServer, temporaryFolder } from './support/server.mjs';
import { patience, until } from './support/time.mjs';

const timeout = 120_000 * patience;
const flags = ['--allow-target', '127.0.0.0/8', '--log-level', 'debug', '--log-format', 'json'];

/** Words that nobody but their owner should read. */
const secret = {
  urlUser: 'zq-user-in-url',
  urlPassword: 'zq-password-in-url',
  urlToken: 'zq-token-in-url',
  webhookHeader: 'zq-header-for-webhook',
  payload: 'zq-word-in-payload',
  ownSecret: 'zq-subscription-secret',
  badKey: 'sq_live_zqzqzqzqzqzqzqzqzqzqzqzqzqzqzqzqzqzqzq',
  basic: 'zq-basic-credentials',
  tlsKey: 'zq-content-of-tls-key',
  echoed: 'zq-echoed-by-webhook',
  idempotency: 'zq-idempotency-key',
};

/** Collects what is said, and searches it. */
class Hearing {
  constructor(words) {
    this.words = { ...words };
    this.said = [];
  }

  add(where, text) {
    this.said.push({ where, text: String(text) });
  }

  /** Checks that none of the words was said. */
  check() {
    assert.ok(this.said.length > 0);
    for (const { where, text } of this.said)
      for (const [name, word] of Object.entries(this.words))
        assert.ok(!text.includes(word), `${name} is in ${where}: ${text.slice(0, 4000)}`);
  }
}

/** Makes calls; of what is refused hears the whole answer. */
function listener(api, hearing) {
  return async (method, path, body, headers) => {
    const answer = await api.send(method, path, body, headers);
    if (answer.status >= 400)
      hearing.add(`${answer.status} of ${method} ${path.split('?')[0]}`,
        `${JSON.stringify(answer.headers)} ${answer.text}`);
    return answer;
  };
}

/** Answers with everything that it was sent, and with the status that it is told. */
const echo = ({ body, headers, payload }) => {
  const { status = 500, retryAfter } = payload.answer ?? {};
  return {
    status,
    headers: { ...(retryAfter && { 'retry-after': retryAfter }), 'x-echo': secret.echoed },
    body: `${secret.echoed} ${JSON.stringify(headers)} ${body}`,
  };
};

/** Tries everything that a caller can do wrong, with a secret in it. */
async function askWrongly(call, key) {
  const bearer = (text) => ({ authorization: text });
  await call('GET', '/v1/queues', undefined, bearer(`Bearer ${secret.badKey}`));
  await call('GET', `/v1/jobs/${secret.badKey}`, undefined, bearer(`Bearer ${secret.badKey}`));
  await call('GET', '/v1/queues', undefined, bearer(`Basic ${secret.basic}`));
  await call('GET', '/v1/queue/list', undefined, bearer(secret.basic));
  await call('POST', '/v1/queues/q/jobs', `{"payload": ${secret.payload}}`);
  await call('POST', '/v1/queues/q/jobs', `{"payload": "${secret.payload}`);
  await call('POST', '/v1/queues/q/jobs', { payload: secret.payload, delay: -1, idempotencyKey: secret.idempotency });
  await call('POST', '/v1/queues/none/jobs', { payload: secret.payload });
  await call('POST', '/v1/queue/publish', { queue: 'p', payload: { a: secret.payload }, delay_seconds: -1 });
  await call('POST', '/v1/queue/publish', `{"queue": "p", "payload": ${secret.payload}}`);
  await call('POST', '/v1/queues/q/jobs', { payload: 1, headers: { authorization: `${secret.webhookHeader}\r\nx: y` } });
  await call('POST', '/v1/queues/q/jobs', { payload: 1, headers: { host: secret.webhookHeader } });
  const urls = [
    `https://${secret.urlUser}:${secret.urlPassword}@example.com/`,
    `ftp://${secret.urlUser}:${secret.urlPassword}@example.com/?token=${secret.urlToken}`,
    `${secret.urlUser}:${secret.urlPassword}@example.com`,
    `http://10.0.0.1/?token=${secret.urlToken}`,
    `http://[::1/?token=${secret.urlToken}`,
    `http://exa mple/?token=${secret.urlToken}`,
    `http://example.com:99999/?token=${secret.urlToken}`,
    `http:///?token=${secret.urlToken}`,
    `http://ex%61mple.com/?token=${secret.urlToken}`,
    `http://127.0.0.1:1/%?token=${secret.urlToken}\u0001`,
  ];
  for (const webhookUrl of urls) {
    const { status } = await call('POST', '/v1/queues', { name: 'wrong', webhookUrl });
    assert.equal(status, 400, webhookUrl);
    await call('POST', '/v1/queue/push_subscribe/p', { url: webhookUrl });
    await call('PATCH', '/v1/queues/q', { webhookUrl });
  }
  await call('PATCH', '/v1/queues/q', { headers: { Authorization: `${secret.webhookHeader}\n` } });
  await call('PATCH', '/v1/queues/q', { headers: { Authorization: [secret.webhookHeader] } });
  await call('PATCH', '/v1/queues/q', { tlsCa: `-----BEGIN CERTIFICATE-----\n${secret.tlsKey}\n` });
  await call('POST', '/v1/queue/push_subscribe/p', { url: 'http://127.0.0.1:1/', secret: [secret.ownSecret] });
  await call('POST', '/v1/queue/push_subscribe/p', { url: 'http://127.0.0.1:1/', secret: `${secret.ownSecret}\u00e9` });
  await call('POST', '/v1/queue/push_subscribe/none', { url: 'http://127.0.0.1:1/', secret: secret.ownSecret });
  await call('POST', '/v1/keys', { project: 'x', scopes: ['root'], name: 1 });
  await call('GET', `/v1/queues/q/jobs?cursor=${key}`);
  await call('GET', `/v1/nothing?key=${key}`);
  await call('BREW', `/v1/queues?key=${key}`);
}

/** Sends bytes that are no request, with the key in them. Returns the answer. */
function sendNonsense(url, authorization) {
  return new Promise((done) => {
    const { hostname, port } = new URL(url);
    const call = request({ hostname, port, method: 'POST', path: '/v1/queues',
      headers: { authorization: [authorization, authorization], 'content-length': '5' } });
    call.once('response', async (response) => {
      let text = '';
      for await (const bytes of response)
        text += bytes;
      done(text);
    });
    call.once('error', ({ message }) => done(message));
    call.end('{"a":');
  });
}

/** Waits until nothing of a queue is under way. */
async function settled(api, ids) {
  for (const id of ids)
    await api.jobOnce(id, 'delivered', ({ history }) => history.length > 0);
}

test('no secret gets out, whatever fails', { timeout }, async (t) => {
  const hearing = new Hearing(secret);
  const folder = temporaryFolder(t);
  const receiver = await startReceiver(t, echo);
  const untrusted = await startReceiver(t, echo, { tls: sign(makeAuthority(folder, 'authority'), 'IP:127.0.0.1') });
  const server = await startServer(t, { flags });
  const { api } = server;
  const call = listener(api, hearing);
  const events = await openEvents(t, api);

  const query = `?token=${secret.urlToken}`;
  const headers = { Authorization: secret.webhookHeader };
  const create = async (name, webhookUrl, settings = {}) => {
    const { signingSecret } = await api.createQueue(name, { webhookUrl, headers, maxAttempts: 1, ...settings });
    hearing.words[`signing secret of ${name}`] = signingSecret;
  };
  await create('q', receiver.url + query);
  await create('acked', receiver.url + query, { mode: 'ack' });
  await create('refusing', `http://127.0.0.1:1/${query}`);
  await create('untrusted', untrusted.url + query);
  await create('notls', `${receiver.url.replace('http', 'https')}${query}`);
  await create('nowhere', `http://nowhere.invalid/${query}`);
  await create('inside', `http://localtest.invalid./${query}`);
  await create('late', receiver.url + query, { timeout: 0.1 });
  const { signingSecret } = await api.ask('POST', '/v1/queues/q/signing-secret/rotate', {});
  hearing.words['rotated secret'] = signingSecret;
  await api.ask('POST', '/v1/queue/create', { name: 'p', type: 'standard', max_receive_count: 1 });
  await api.ask('POST', '/v1/queue/push_subscribe/p', { url: receiver.url + query, secret: secret.ownSecret });
  const { id: keyId, key: other } = await api.ask('POST', '/v1/keys', { project: 'default', scopes: ['read'], name: 'reader' });
  hearing.words['another key'] = other;
  hearing.words['the key'] = server.key;

  const publish = async (queue, answer) => (
    await api.publish(queue, { word: secret.payload, answer }, { idempotencyKey: `${secret.idempotency}-${queue}-${JSON.stringify(answer)}` })).id;
  const ids = [];
  for (const queue of ['refusing', 'untrusted', 'notls', 'nowhere', 'inside', 'q'])
    ids.push(await publish(queue));
  ids.push(await publish('q', { status: 404 }), await publish('q', { status: 200 }), await publish('q', { status: 302 }));
  await settled(api, ids);
  const acked = await publish('acked', { status: 200 });
  await api.jobWithStatus(acked, 'awaiting_ack');
  await call('POST', `/v1/jobs/${acked}/nack`, { delivery: 99, reason: 'stale' });
  await call('POST', `/v1/jobs/${acked}/ack`);
  const deferred = await publish('q', { status: 429, retryAfter: '3600' });
  await settled(api, [deferred]);
  await api.ask('POST', '/v1/queue/publish', { queue: 'p', payload: { word: secret.payload, answer: { status: 500 } } });
  await until('a dead message', 10, () => events.types.includes('message.dead'));

  await askWrongly(call, server.key);
  await call('POST', '/v1/queues/q/pause', {}, { authorization: `Bearer ${other}` });
  await api.send('DELETE', `/v1/keys/${keyId}`);
  await call('GET', '/v1/queues', undefined, { authorization: `Bearer ${other}` });
  hearing.add('an answer to nonsense', await sendNonsense(api.url, `Bearer ${server.key}`));

  await until('the hold', 10, () => events.types.includes('queue.held'));
  for (const event of events.events)
    hearing.add('an event', JSON.stringify(event));
  hearing.add('the metrics', (await api.send('GET', '/metrics')).text);
  hearing.add('the list of keys', (await api.send('GET', '/v1/keys')).text);
  hearing.add('the usage', (await api.send('GET', '/v1/usage')).text);
  server.signal('SIGHUP');
  await until('the line of SIGHUP', 10, () => server.launched.err.includes('SIGHUP'));
  await server.stop();
  hearing.add('the log', server.launched.err);
  hearing.add('standard output', server.launched.out);

  // It was searched where there was something to find.
  for (const mark of ['"event":"delivery"', '"event":"request"', 'dns_failed', 'connect_failed', 'tls_', '"status":401'])
    assert.ok(server.launched.err.includes(mark), `${mark} is not in the log: ${server.launched.err}`);
  assert.ok(receiver.arrivals.some(({ body }) => body.includes(secret.payload)));
  hearing.check();
});

test('what is in the file of a TLS key is not told when it cannot be read', { timeout }, async (t) => {
  const hearing = new Hearing(secret);
  const folder = temporaryFolder(t);
  const authority = makeAuthority(folder, 'authority');
  const { certFile } = sign(authority, 'IP:127.0.0.1');
  const keyFile = join(folder, 'broken.key');
  writeFileSync(keyFile, `-----BEGIN PRIVATE KEY-----\n${secret.tlsKey}\n-----END PRIVATE KEY-----\n`);
  const { code, out, err } = await run(['serve', '--listen', '127.0.0.1:0', '--data', join(folder, 'data'),
    '--tls-cert', certFile, '--tls-key', keyFile, '--log-level', 'debug'], { TIDEGATE_API_KEY: secret.badKey });
  assert.notEqual(code, 0);
  hearing.add('what it said', `${out} ${err}`);
  hearing.check();
});

test('a key that makes no sense is refused without being told', { timeout }, async (t) => {
  const folder = temporaryFolder(t);
  const wrong = `zq-not-a-key ${secret.basic}`;
  const hearing = new Hearing({ wrong, basic: secret.basic });
  const { code, out, err } = await run(['serve', '--listen', '127.0.0.1:0', '--data', folder],
    { TIDEGATE_API_KEY: wrong });
  assert.notEqual(code, 0);
  hearing.add('what it said', `${out} ${err}`);
  hearing.check();
});
