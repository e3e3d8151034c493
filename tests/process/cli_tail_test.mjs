// `tidegate tail`: a stream of events that is followed over every break.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';

import { cliOf } from './support/cli.mjs';
import { launch, startServer } from './support/server.mjs';
import { patience, until } from './support/time.mjs';

const timeout = 60_000 * patience;

/** Serves `/v1/events`; `answer` is given each request and its response. */
async function startStream(t, answer) {
  const stream = { requests: [] };
  const server = createServer((request, response) => {
    if (request.url.startsWith('/v1/queues/')) // whether it is there
      return response.end('{}');
    stream.requests.push({ url: request.url, headers: request.headers });
    return answer(response, stream.requests.length);
  });
  await new Promise((done) => { server.listen(0, '127.0.0.1', done); });
  t.after(() => { server.closeAllConnections(); server.close(); });
  stream.url = `http://127.0.0.1:${server.address().port}`;
  return stream;
}

const event = (id, type, data = {}) => `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify({
  id, time: '2026-01-31T12:00:05.000Z', project: 'default', queue: 'q', type, data })}\n\n`;

function tail(t, url, ...words) {
  const launched = launch(['tail', '--url', url, ...words], { TIDEGATE_API_KEY: 'sq_live_of_nobody' });
  t.after(() => launched.child.kill('SIGKILL'));
  return launched;
}

test('events are printed as they come, and the stream goes on where it broke', { timeout }, async (t) => {
  const stream = await startStream(t, (response, n) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (n === 1) {
      response.write('retry: 100\n\n');
      response.write(event('1-1', 'queue.held', { releaseAt: '2026-01-31T12:01:05.000Z', reason: null }));
      response.write(`${event('1-2', 'job.dead')}id: 1-3\ndata: cut o`, () => response.destroy());
    } else {
      response.write(`event: gap\ndata: {}\n\n${event('1-9', 'queue.opened')}`);
    }
  });
  const launched = tail(t, stream.url, '--queue', 'a b');
  await until('three lines', 20, () => launched.out.split('\n').length === 4);
  assert.equal(launched.out,
    '2026-01-31 12:00:05  queue.held  q  releaseAt=2026-01-31 12:01:05\n'
    + '2026-01-31 12:00:05  job.dead  q\n'
    + '2026-01-31 12:00:05  queue.opened  q\n');
  assert.equal(launched.err, 'tidegate: the stream has ended, trying again\ntidegate: events were missed here\n');
  assert.deepEqual(stream.requests.map(({ url }) => url), ['/v1/events?queue=a%20b', '/v1/events?queue=a%20b']);
  assert.deepEqual(stream.requests.map(({ headers }) => headers['last-event-id']), [undefined, '1-2']);
  assert.equal(stream.requests[0].headers.authorization, 'Bearer sq_live_of_nobody');
});

test('--json prints the events as they came', { timeout }, async (t) => {
  const stream = await startStream(t, (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(event('1-1', 'queue.held'));
  });
  const launched = tail(t, stream.url, '--json', '--types', 'queue.held');
  await until('a line', 20, () => launched.out.endsWith('\n'));
  assert.equal(JSON.parse(launched.out).type, 'queue.held');
  assert.equal(stream.requests[0].url, '/v1/events?types=queue.held');
});

test('a refusal and a server that is not there end it', { timeout }, async (t) => {
  const stream = await startStream(t, (response) => response.writeHead(404)
    .end('{"error":"Queue \'x\' not found","code":"queue_not_found"}'));
  const refused = tail(t, stream.url, '--queue', 'x');
  assert.deepEqual(await refused.exited, { code: 1, signal: null });
  assert.equal(refused.err, "tidegate: Queue 'x' not found\n");
  const nobody = tail(t, 'http://127.0.0.1:1');
  assert.deepEqual(await nobody.exited, { code: 3, signal: null });
  assert.equal(nobody.err, 'tidegate: cannot reach http://127.0.0.1:1: Connection refused\n');
});

test('a queue that is not there is said, and followed from when it is', { timeout }, async (t) => {
  const server = await startServer(t);
  const cli = cliOf(server);
  await cli.ask('pull', 'create', 'work');
  const launched = launch(['tail', '--queue', 'emails'], cli.env);
  const other = launch(['tail', '--queue', 'work'], cli.env);
  t.after(() => [launched, other].forEach(({ child }) => child.kill('SIGKILL')));
  await until('a word', 20, () => launched.err.includes('\n'));
  assert.equal(launched.err, 'tidegate: there is no queue emails now; if one is created, its events come here\n');
  await until('an event', 20, async () => {
    await cli.call(['queues', 'create', 'emails', '--webhook-url', 'http://127.0.0.1:9/']);
    await cli.ask('queues', 'delete', 'emails');
    return launched.out.includes('  queue.created  emails\n');
  });
  await until('an event of the other', 20, async () => {
    await cli.ask('pull', 'delete', 'work');
    await cli.ask('pull', 'create', 'work');
    return other.out.includes('  queue.created  work\n');
  });
  assert.equal(other.err, '');
});

test('a server is followed over its death, and over what was missed', { timeout }, async (t) => {
  const server = await startServer(t);
  if ((await server.api.send('GET', '/v1/discovery/events.stream')).status === 404)
    return t.skip('this server has no events');
  const cli = cliOf(server);
  await cli.ask('queues', 'create', 'q', '--webhook-url', 'http://127.0.0.1:9/');
  const launched = launch(['tail'], cli.env);
  t.after(() => launched.child.kill('SIGKILL'));
  await until('an event', 20, async () => {
    await cli.ask('queues', 'pause', 'q');
    await cli.ask('queues', 'resume', 'q');
    return launched.out.includes('  queue.resumed  q\n');
  });
  const address = new URL(server.api.url).host;
  await server.kill();
  server.flags.push('--listen', address);
  await server.start();
  await until('an event of the new process', 20, async () => {
    await cli.ask('queues', 'pause', 'q');
    return / {2}queue\.paused {2}q\n$/.test(launched.out);
  });
  assert.match(launched.err, /^tidegate: the stream has ended, trying again\n/);
  return undefined;
});
