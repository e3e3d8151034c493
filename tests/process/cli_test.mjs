// `tidegate queues` and `tidegate jobs`: the API from a shell.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';

import { binaryFrom } from '../../examples/tidegate.mjs';
import { makeAuthority, sign } from './support/certificates.mjs';
import { cliOf, execute, rowsOf } from './support/cli.mjs';
import { accept, never, notNow, startReceiver } from './support/receiver.mjs';
import { startServer, temporaryFolder } from './support/server.mjs';
import { patience } from './support/time.mjs';

const timeout = 60_000 * patience;

async function start(t, answer = accept) {
  const receiver = await startReceiver(t, answer);
  const server = await startServer(t);
  return { receiver, server, api: server.api, cli: cliOf(server) };
}

test('a queue is made, shown, changed and deleted from a shell', { timeout }, async (t) => {
  const { receiver, api, cli } = await start(t);
  assert.equal(await cli.ask('queues', 'create', 'emails', '--webhook-url', receiver.url, '--concurrency', '3',
    '--set', 'maxAttempts=7', '--set', 'backoff={"type":"fixed","delay":5}', '--set', 'mode=ack'), 'created emails\n');
  const { concurrency, maxAttempts, backoff, mode } = await api.queue('emails');
  assert.deepEqual({ concurrency, maxAttempts, backoff, mode },
    { concurrency: 3, maxAttempts: 7, backoff: { type: 'fixed', delay: 5, jitter: 0 }, mode: 'ack' });
  assert.equal(await cli.ask('queues', 'update', 'emails', '--set', 'concurrency=4'), 'changed emails\n');
  assert.equal((await api.queue('emails')).concurrency, 4);

  assert.equal(await cli.ask('queues', 'pause', 'emails'), 'paused emails\n');
  const { id } = await api.publish('emails', 1);
  const [row] = rowsOf(await cli.ask('queues', 'list'));
  assert.equal(row.NAME, 'emails');
  assert.equal(row.STATE, 'paused');
  assert.equal(row.PENDING, '1');
  assert.match(await cli.ask('queues', 'show', 'emails'), /^blockedBy +paused: an operator paused the queue$/m);
  assert.match(await cli.ask('queues', 'hold', 'emails', '5m', '--reason', 'upgrade'), /^held emails until \S+ \S+ \(in [45] min.*\)\n$/);
  const { gate } = await api.queue('emails');
  assert.equal(gate.reason, 'upgrade');
  assert.ok(Math.abs(Date.parse(gate.releaseAt) - Date.now() - 300_000) < 30_000, gate.releaseAt);
  await cli.ask('queues', 'release', 'emails');
  await cli.ask('queues', 'resume', 'emails');
  await api.jobWithStatus(id, 'awaiting_ack');

  assert.equal(await cli.refusal(1, 'queues', 'delete', 'emails'),
    "Queue 'emails' has 1 live job: --force deletes it with all that it has");
  assert.equal(await cli.ask('queues', 'delete', 'emails', '--force'), 'deleted emails\n');
  assert.equal(await cli.refusal(1, 'queues', 'show', 'emails'), "Queue 'emails' not found");
});

test('an answer that cannot be written is told, and ends with 1', { timeout }, async (t) => {
  const { server, cli } = await start(t);
  const keys = ['keys', 'create', '--data', server.data, '--project', 'default', '--scopes', 'read'];
  for (const words of [keys, ['keys', 'list', '--data', server.data], ['queues', 'list'], ['version'], ['--help']]) {
    const { code, err } = await execute('sh', ['-c', '"$0" "$@" >/dev/full', binaryFrom(), ...words], { env: cli.env });
    assert.equal(code, 1, words.join(' '));
    assert.equal(err, 'tidegate: the output could not be written\n');
  }
});

test('a hold and a release say what the server makes of them', { timeout }, async (t) => {
  const { receiver, api, cli } = await start(t, never);
  await api.createQueue('q', { webhookUrl: receiver.url });
  assert.equal(await cli.ask('queues', 'release', 'q'), 'q is open: no hold was there to be ended\n');
  assert.match(await cli.ask('queues', 'hold', 'q', '2h'), /^held q until \S+ \S+ \(in (2 h|1 h 59 min)\)\n$/);
  assert.match(await cli.ask('queues', 'hold', 'q', '5s'),
    /^q stays held until \S+ \S+ \(in 1 h 59 min\): a hold does not shorten one that ends later\n$/);
  assert.equal(await cli.ask('queues', 'release', 'q'), 'released q: the next job that can go is its probe\n');
  await api.publish('q', 1, { limitKey: 'tenant' });
  await api.gateOnce('q', 'probing');
  assert.equal(await cli.ask('queues', 'release', 'q'), 'the probe of q is out: it opens q if it succeeds\n');
  assert.match(await cli.ask('queues', 'hold', 'q', '5m'),
    /^the probe of q is out: q stays held until \S+ \S+ \(in [45] min.*\) if the verdict comes before, and then another probe tests it\n$/);
  assert.equal(await cli.refusal(1, 'queues', 'release', 'q', '--limit-key', 'typo'), 'no job of q has the limit key "typo"');
  assert.equal(await cli.ask('queues', 'release', 'q', '--limit-key', 'tenant'),
    'limit key "tenant" of q is open: no hold was there to be ended\n');
});

test('a job is published, found and cancelled from a shell', { timeout }, async (t) => {
  const { receiver, api, cli } = await start(t);
  await api.createQueue('q', { webhookUrl: receiver.url });
  const id = (await cli.ask('jobs', 'publish', 'q', '{"to": "a@b.com"}', '--delay', '600', '--priority', '4',
    '--idempotency-key', 'order 1', '--limit-key', 'te/nant', '--header', 'x-shop: 7')).trimEnd();
  const job = await api.job(id);
  assert.deepEqual(job.payload, { to: 'a@b.com' });
  assert.equal(job.priority, 4);
  assert.equal(job.idempotencyKey, 'order 1');
  assert.equal(job.limitKey, 'te/nant');
  assert.deepEqual(job.headers, { 'x-shop': '7' });
  assert.ok(Date.parse(job.scheduledFor) > Date.now() + 500_000);

  const again = await cli.call(['jobs', 'publish', 'q', '[]', '--idempotency-key', 'order 1']);
  assert.equal(again.out, `${id}\n`);
  assert.equal(again.err, 'tidegate: a job with this key was there already, pending, with another payload\n');
  assert.equal(again.code, 0);

  const [row] = rowsOf(await cli.ask('jobs', 'list', 'q', '--limit-key', 'te/nant', '--since', '1h'));
  assert.equal(row.ID, id);
  assert.match(row['WAITS FOR'], /^delay \(9 min/);
  assert.deepEqual(rowsOf(await cli.ask('jobs', 'list', 'q', '--status', 'completed')), []);
  assert.deepEqual(rowsOf(await cli.ask('jobs', 'list', 'q', '--until', '1h')), []);
  const due = await cli.ask('jobs', 'run-now', id);
  // It may have been sent already.
  assert.ok([`due now: ${id}\n`, `due now, or on its way: ${id}\n`].includes(due), due);
  await api.jobWithStatus(id, 'completed');
  const shown = await cli.ask('jobs', 'show', id);
  assert.match(shown, /\nhistory\nWHEN .*\n.*success +200 /);
  assert.match(shown, /\npayload\n\{"to": "a@b.com"\}\n$/);

  const other = (await cli.ask('jobs', 'publish', 'q', '1', '--run-at', '2099-01-01T00:00:00Z')).trimEnd();
  assert.equal(await cli.ask('jobs', 'cancel', other), `cancelled ${other}\n`);
  assert.equal((await api.job(other)).deadReason, 'cancelled');
  assert.match(await cli.refusal(1, 'jobs', 'cancel', other), /dead/);
});

test('a payload comes from stdin byte for byte', { timeout }, async (t) => {
  const { receiver, api, cli } = await start(t);
  await api.createQueue('q', { webhookUrl: receiver.url });
  await api.pause('q');
  const payload = `{"n": 123456789012345678901234567890, "n": 1.0,\n"text": "${'x'.repeat(200_000)}"}`;
  const { code, out, err } = await cli.call(['jobs', 'publish', 'q', '-'], payload);
  assert.equal(code, 0, err);
  const { text } = await api.send('GET', `/v1/jobs/${out.trimEnd()}`);
  assert.ok(text.includes(payload), 'the payload is another one');
  const { err: refused, code: usage } = await cli.call(['jobs', 'publish', 'q', '-'], '1},"delay":{"x":1');
  assert.equal(usage, 2);
  assert.match(refused, /^tidegate: PAYLOAD must be JSON, .* got 1\},"delay".* on standard input\n$/);
});

test('--json prints what the API answers', { timeout }, async (t) => {
  const { receiver, api, cli } = await start(t);
  await api.createQueue('q', { webhookUrl: receiver.url });
  await api.pause('q');
  const ids = await api.publishMany('q', 5);
  const job = await api.send('GET', `/v1/jobs/${ids[0]}`);
  assert.equal(await cli.ask('jobs', 'show', ids[0], '--json'), `${job.text}\n`);
  const list = await api.send('GET', '/v1/queues/q/jobs?limit=3');
  assert.equal(await cli.ask('jobs', 'list', 'q', '--limit', '3', '--json'), `${list.text}\n`);
  assert.equal(JSON.parse(await cli.ask('queues', 'pause', 'q', '--json')).paused, true);
  const both = JSON.parse(await cli.ask('jobs', 'explain', ids[0], '--json'));
  assert.deepEqual(both.job, job.json);
  assert.equal(both.queue.name, 'q');
  assert.equal(both.queue.webhookUrl, receiver.url);
  assert.equal(JSON.parse(await cli.ask('jobs', 'publish', 'q', '1', '--json')).status, 'pending');
});

test('explain shows no secret, as JSON neither', { timeout }, async (t) => {
  const { receiver, api, cli } = await start(t);
  await api.createQueue('q', { webhookUrl: `${receiver.url}hook?token=zq-token`, headers: { authorization: 'zq-header' } });
  await api.pause('q');
  const { id } = await api.publish('q', 1, { headers: { cookie: 'zq-cookie' } });
  const json = await cli.ask('jobs', 'explain', id, '--json');
  for (const text of [json, await cli.ask('jobs', 'explain', id)])
    assert.ok(!text.includes('zq-'), text);
  const { job, queue } = JSON.parse(json);
  assert.deepEqual(queue.webhookUrl, `${receiver.url}hook?***`);
  assert.deepEqual([queue.headers, job.headers], [{ authorization: '***' }, { cookie: '***' }]);
  assert.deepEqual(job.blockedBy.map(({ gate }) => gate), ['paused']);
});

test('a list goes on page by page up to its limit', { timeout }, async (t) => {
  const { receiver, api, cli } = await start(t);
  await api.createQueue('q', { webhookUrl: receiver.url });
  await api.pause('q');
  const ids = await api.publishBulk('q', 2300);
  const newest = [...ids].reverse();
  const all = await cli.call(['jobs', 'list', 'q', '--limit', '5000']);
  assert.deepEqual(rowsOf(all.out).map(({ ID }) => ID), newest);
  assert.equal(all.err, '');
  const some = await cli.call(['jobs', 'list', 'q', '--limit', '1500']);
  assert.deepEqual(rowsOf(some.out).map(({ ID }) => ID), newest.slice(0, 1500));
  assert.match(some.err, /--limit/);
  assert.equal(rowsOf((await cli.call(['jobs', 'list', 'q'])).out).length, 100);
  const pages = (await cli.ask('jobs', 'list', 'q', '--limit', '2001', '--json')).trimEnd().split('\n').map(JSON.parse);
  assert.deepEqual(pages.map(({ items }) => items.length), [1000, 1000, 1]);
});

test('run-now of a job that is deferred says so, as explain does', { timeout }, async (t) => {
  const { receiver, api, cli } = await start(t);
  await api.createQueue('q', { webhookUrl: receiver.url, mode: 'ack' });
  const { id } = await api.publish('q', 1);
  await api.jobWithStatus(id, 'awaiting_ack');
  assert.equal(await cli.ask('jobs', 'run-now', id), `${id} was taken by its webhook: its worker owes an ack, nack or defer\n`);
  await api.ask('POST', `/v1/jobs/${id}/defer`, { retryAfter: 600, scope: 'job' });
  const said = await cli.ask('jobs', 'run-now', id);
  assert.match(said, new RegExp(`^run-now ends a delay or a backoff only: ${id} does not go yet:\n  1. The job is deferred until .* \\(in 9 min`));
  assert.match(await cli.ask('jobs', 'explain', id), /1\. The job is deferred until .* \(in 9 min/);
});

test('explain says what a job waits for, as the server sees it', { timeout }, async (t) => {
  let answer = accept;
  const { receiver, api, cli } = await start(t, (arrival) => answer(arrival));
  const explained = async (queue, settings, fields, before) => {
    await api.createQueue(queue, { webhookUrl: receiver.url, ...settings });
    await before?.(queue);
    const { id } = await api.publish(queue, 1, fields);
    await api.jobOnce(id, 'blocked', ({ blockedBy }) => blockedBy.length > 0);
    return { id, text: await cli.ask('jobs', 'explain', id) };
  };
  const paused = await explained('paused', {}, {}, (queue) => api.pause(queue));
  assert.match(paused.text, /1\. The queue paused is paused until somebody resumes it, since .* \(\d+ .* ago\): /);
  assert.match(paused.text, /tidegate queues resume paused\nNobody can say/);

  const delayed = await explained('delayed', {}, { delay: 90 });
  assert.match(delayed.text, /1\. The job waits for its time until .* \(in 1 min 2\d s\)/);
  assert.match(delayed.text, new RegExp(`tidegate jobs run-now ${delayed.id}\nIt can go at .* \\(in 1 min`));

  answer = () => notNow(3600);
  const held = await explained('held', { concurrency: 1 }, {}, async (queue) => {
    await api.publish(queue, 0);
    await api.gateOnce(queue, 'held');
  });
  assert.match(held.text, /The queue held is held until .* \(in 59 min 5\d s\), since .*: the downstream answered 429\. Job job_/);
  assert.match(held.text, /tidegate queues release held\n/);

  const key = await explained('key', { backpressureScope: 'key' }, { limitKey: 'a b' }, async (queue) => {
    await api.publish(queue, 0, { limitKey: 'a b' });
    await api.jobOnce((await api.allJobs(queue))[0].id, 'deferred', ({ deferCount }) => deferCount === 1);
  });
  assert.match(key.text, /The limit key "a b" is held until /);
  assert.equal(await cli.ask('queues', 'release', 'key', '--limit-key', 'a b'), 'the probe of limit key "a b" of key is out: it opens limit key "a b" of key if it succeeds\n');

  answer = () => ({ status: 500 });
  const failed = await explained('failed', { backoff: { type: 'fixed', delay: 600 } }, {});
  assert.match(failed.text, /The job waits for its next attempt until .* \(in 9 min 5\d s\)/);
  assert.match(failed.text, /Its last error: .*500/);

  answer = never;
  const crowded = await explained('crowded', { concurrency: 1 }, {}, (queue) => api.publish(queue, 0));
  assert.match(crowded.text, /The concurrency of the queue crowded is used up: 1 delivery is in flight, the limit is 1/);

  answer = accept;
  const rated = await explained('rated', { rateLimitMax: 1, rateLimitWindow: 3600 }, {}, async (queue) => {
    await api.jobWithStatus((await api.publish(queue, 0)).id, 'completed');
  });
  assert.match(rated.text, /The rate limit of the queue rated is used up until .* \(in 59 min 5\d s\)/);
  const done = (await api.allJobs('rated')).find(({ status }) => status === 'completed');
  assert.match(await cli.ask('jobs', 'explain', done.id), /^Job job_\S+ is done, since /);
});

test('the exit code tells refused, misused and unreachable apart', { timeout }, async (t) => {
  const { server, api, cli } = await start(t);
  assert.equal(await cli.refusal(1, 'jobs', 'show', 'job_1'), 'Job not found');
  assert.match(await cli.refusal(1, 'queues', 'create', 'q', '--webhook-url', 'ftp://x', '--set', 'maxAttemps=1'),
    /maxAttemps/);
  assert.match(await cli.refusal(1, 'queues', 'list', '--key', 'sq_live_wrong'), /valid API key/);
  const { key } = await api.ask('POST', '/v1/keys', { project: 'default', scopes: ['publish'] });
  assert.match(await cliOf(server, key).refusal(1, 'queues', 'list'), /scope/);
  for (const verb of ['explain', 'show', 'cancel', 'run-now', 'replay'])
    assert.equal(await cli.refusal(2, 'jobs', verb, 'qmsg_0123456789abcdefghijklmn'), 'qmsg_0123456789abcdefghijklmn'
      + ' is a message of a pull queue, not a job: tidegate pull peek QUEUE and tidegate pull dlq QUEUE show messages');
  for (const verb of ['explain', 'show', 'cancel', 'run-now', 'replay'])
    assert.equal(await cli.refusal(2, 'jobs', verb, 'op_1'), 'op_1 is an operation, not a job: tidegate operations is for it');
  for (const verb of ['show', 'cancel']) {
    assert.equal(await cli.refusal(2, 'operations', verb, 'job_1'), 'job_1 is a job, not an operation: tidegate jobs is for it');
    assert.match(await cli.refusal(2, 'operations', verb, 'qmsg_1'), /^qmsg_1 is a message of a pull queue, not an operation: /);
  }
  assert.match(await cli.refusal(2, 'dlq', 'replay', 'q', '--id', 'qmsg_1'), /qmsg_1 is a message, .*tidegate pull redrive/);
  assert.match(await cli.refusal(2, 'jobs', 'list', 'q', '--since', 'yesterday'), /--since must be a time such as .* got "yesterday"/);
  assert.match(await cli.refusal(2, 'jobs', 'publish', 'q', '1', '--run-at', '2h'), /--run-at must be a time such as .* got "2h"/);
  assert.match(await cli.refusal(2, 'queues', 'swim'), /swim/);
  assert.match(await cli.refusal(2, 'queues', 'list', '--limit', '0'), /--limit must be/);
  assert.match(await cli.refusal(2, 'queues', 'hold', 'q', 'soon'), /TIME must be .* got "soon"/);
  assert.match(await cli.refusal(2, 'queues', 'update', 'q', '--set', 'x'), /NAME=VALUE/);
  assert.match(await cli.refusal(2, 'queues', 'list', '--url', 'ftp://127.0.0.1/'), /http or https/);
  assert.match(await cli.refusal(2, 'jobs', 'publish', 'q', 'hello'), /PAYLOAD must be JSON/);
  assert.match(await cliOf(server, '').refusal(2, 'queues', 'list'), /API key is missing/);
  const url = api.url;
  await server.kill();
  assert.equal(await cli.refusal(3, 'queues', 'list', '--url', url),
    `cannot reach ${url}: Connection refused`);
  assert.match(await cli.refusal(3, 'queues', 'list', '--url', 'http://nowhere.invalid'), /^cannot reach http:\/\/nowhere/);
});

test('what is no Tidegate server is told apart', { timeout }, async (t) => {
  const { cli } = await start(t);
  const pretender = createServer((request, response) => response
    .writeHead(request.url.startsWith('/bad') ? 502 : 200).end('<html>'));
  await new Promise((done) => { pretender.listen(0, '127.0.0.1', done); });
  t.after(() => pretender.close());
  const url = `http://127.0.0.1:${pretender.address().port}`;
  assert.match(await cli.refusal(3, 'queues', 'list', '--url', url), /not that of a Tidegate server/);
  assert.equal(await cli.refusal(1, 'queues', 'list', '--url', `${url}/bad/`), 'the server answered 502');
});

test('https is verified', { timeout }, async (t) => {
  const { server, api, cli } = await start(t);
  const authority = makeAuthority(temporaryFolder(t), 'authority');
  const sockets = new Set();
  const front = createTlsServer(sign(authority, 'DNS:localhost'), (socket) => {
    const { port } = new URL(api.url);
    const behind = connect(Number(port), '127.0.0.1');
    for (const each of [socket, behind])
      each.on('error', () => {}).on('close', () => { socket.destroy(); behind.destroy(); });
    sockets.add(socket);
    socket.pipe(behind).pipe(socket);
  });
  front.on('tlsClientError', () => {});
  await new Promise((done) => { front.listen(0, '127.0.0.1', done); });
  t.after(() => { sockets.forEach((socket) => socket.destroy()); front.close(); });
  const { port } = front.address();
  await api.createQueue('q', { webhookUrl: 'http://127.0.0.1:9/' });
  const [row] = rowsOf(await cli.ask('queues', 'list', '--url', `https://localhost:${port}`, '--tls-ca', authority.ca));
  assert.equal(row.NAME, 'q');
  assert.match(await cli.refusal(3, 'queues', 'list', '--url', `https://localhost:${port}`),
    /certificate is not accepted/);
  assert.match(await cli.refusal(3, 'queues', 'list', '--url', `https://127.0.0.1:${port}`, '--tls-ca', authority.ca),
    /certificate is not accepted: IP address mismatch/);
  assert.match(await cli.refusal(2, 'queues', 'list', '--url', `https://localhost:${port}`, '--tls-ca', '/nonexistent'),
    /cannot be used/);
  assert.match(await cli.refusal(3, 'queues', 'list', '--url', api.url.replace('http:', 'https:')), /TLS handshake/);
  assert.equal(server.launched.err.includes('error'), false, server.launched.err);
});
