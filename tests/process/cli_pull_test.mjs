// `tidegate pull`: pull queues from a shell.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { cliOf, rowsOf } from './support/cli.mjs';
import { Queue } from './support/pull.mjs';
import { startReceiver } from './support/receiver.mjs';
import { startServer } from './support/server.mjs';
import { patience, until } from './support/time.mjs';

const timeout = 60_000 * patience;

/** Starts a server with a pull queue that a shell has made. */
async function startPull(t, ...settings) {
  const server = await startServer(t);
  const cli = cliOf(server);
  assert.equal(await cli.ask('pull', 'create', 'work', ...settings), 'created work\n');
  return { server, api: server.api, cli, queue: new Queue(server.api, 'work') };
}

/** Makes `count` dead letters of the queue. */
async function makeDead({ queue }, count) {
  const ids = await queue.publishBulk(count);
  for (const message of await queue.consumeAll({}, count))
    assert.equal((await queue.settle('nack', message)).status, 200);
  await queue.statsOnce('all dead', ({ dlq_count }) => dlq_count === count);
  return ids;
}

test('a pull queue is made, changed, listed, shown and deleted', { timeout }, async (t) => {
  const { api, cli, queue } = await startPull(t, '--type', 'fifo', '--set', 'max_receive_count=7');
  assert.equal(await cli.ask('pull', 'update', 'work', '--set', 'visibility_timeout_default=60'), 'changed work\n');
  const { data } = await api.ask('GET', '/v1/queue/get/work');
  assert.deepEqual([data.type, data.max_receive_count, data.visibility_timeout_default], ['fifo', 7, 60]);
  await queue.publish({ n: 1 }, { message_group_id: 'a' });
  await queue.consume();
  await queue.publish({ n: 2 }, { message_group_id: 'a' });
  const [row] = rowsOf(await cli.ask('pull', 'list'));
  assert.deepEqual({ ...row, AGE: '-' }, {
    NAME: 'work', TYPE: 'fifo', AVAILABLE: '1', DELAYED: '0', 'IN FLIGHT': '1', DEAD: '0', AGE: '-' });
  const shown = await cli.ask('pull', 'show', 'work');
  for (const line of [/^name +work$/m, /^type +fifo$/m, /^available +1$/m, /^in_flight +1$/m, /^published_total +2$/m,
    /^received_total +1$/m, /^max_receive_count +7$/m])
    assert.match(shown, line);
  const json = JSON.parse(await cli.ask('pull', 'show', 'work', '--json'));
  assert.equal(json.queue.data.name, 'work');
  assert.equal(json.stats.data.published_total, 2);
  assert.equal(json.subscription, null);
  assert.equal(await cli.refusal(1, 'pull', 'delete', 'work'),
    "Queue 'work' has 2 messages: --force deletes it with all that it has");
  assert.equal(await cli.ask('pull', 'delete', 'work', '--force'), 'deleted work\n');
  assert.match(await cli.refusal(1, 'pull', 'show', 'work'), /Queue 'work' not found/);
});

test('queues list shows both kinds, and of no kind more than there is', { timeout }, async (t) => {
  const { api, cli } = await startPull(t);
  await api.createQueue('mail', { webhookUrl: 'http://127.0.0.1:9/' });
  const [push, pull] = (await cli.ask('queues', 'list')).split('\n\n');
  assert.deepEqual(rowsOf(push).map(({ NAME }) => NAME), ['mail']);
  assert.deepEqual(rowsOf(pull).map(({ NAME, TYPE }) => [NAME, TYPE]), [['work', 'standard']]);
  assert.deepEqual(JSON.parse(await cli.ask('queues', 'list', '--json')).items.map(({ name }) => name), ['mail']);
  await cli.ask('pull', 'delete', 'work');
  assert.ok(!(await cli.ask('queues', 'list')).includes('\n\n'));
});

test('messages are published, seen and purged', { timeout }, async (t) => {
  const { cli, queue } = await startPull(t, '--set', 'enable_priority=true');
  const id = (await cli.ask('pull', 'publish', 'work', '{"to": "a@b.com"}', '--priority', '3',
    '--header', 'x-trace: 7', '--idempotency-key', 'once')).trimEnd();
  assert.match(id, /^qmsg_\w{24}$/);
  const again = await cli.call(['pull', 'publish', 'work', '{}', '--idempotency-key', 'once']);
  assert.equal(again.code, 0);
  assert.equal(again.out, `${id}\n`);
  assert.equal(again.err, 'tidegate: a message with this key was there already\n');
  await cli.ask('pull', 'publish', 'work', '2', '--delay', '3600');
  const rows = rowsOf(await cli.ask('pull', 'peek', 'work'));
  assert.deepEqual(rows.map(({ AGE, ...row }) => row), [
    { ID: id, STATUS: 'available', DELIVERIES: '0', PRIORITY: '3', PAYLOAD: '{"to": "a@b.com"}' }]);
  const [message] = await queue.consume();
  assert.deepEqual([message.payload, message.priority, message.headers], [{ to: 'a@b.com' }, 3, { 'x-trace': '7' }]);
  assert.equal(await cli.ask('pull', 'purge', 'work'), 'removed 1\n');
  assert.equal((await queue.stats()).depth, 0);
  const { code, out } = await cli.call(['pull', 'publish', 'work', '-', '--json'], '[1]');
  assert.equal(code, 0);
  assert.match(JSON.parse(out).data.message_id, /^qmsg_/);
});

test('a fifo queue takes a group and a deduplication id', { timeout }, async (t) => {
  const { cli, queue } = await startPull(t, '--type', 'fifo');
  const publish = () => cli.call(['pull', 'publish', 'work', '1', '--group', 'a', '--deduplication-id', 'x']);
  const [first, second] = [await publish(), await publish()];
  assert.equal(first.code, 0, first.err);
  assert.equal(second.out, first.out);
  assert.equal((await queue.stats()).available, 1);
  assert.match(await cli.refusal(1, 'pull', 'publish', 'work', '1'), /message_group_id/);
});

test('dead letters are listed, tried and redriven', { timeout }, async (t) => {
  const world = await startPull(t, '--set', 'max_receive_count=1');
  const { cli, queue } = world;
  const ids = await makeDead(world, 5);
  const rows = rowsOf(await cli.ask('pull', 'dlq', 'work', '--reason', 'max_receive_count', '--since', '1h'));
  assert.deepEqual(rows.map(({ ID }) => ID).sort(), [...ids].sort());
  assert.deepEqual([rows[0]['DIED OF'], rows[0].DELIVERIES, rows[0].REDRIVES], ['max_receive_count', '1', '0']);
  assert.match(await cli.ask('pull', 'redrive', 'work', '--dry-run'), /^5 would be redriven\nID /);
  assert.equal(await cli.ask('pull', 'redrive', 'work', '--dry-run', '--until', '1h'), '0 would be redriven\n');
  assert.equal((await queue.stats()).dlq_count, 5);
  assert.equal(await cli.ask('pull', 'redrive', 'work', '--id', ids[0]), 'redriven 1\n');
  assert.equal(await cli.ask('pull', 'redrive', 'work', '--limit', '2'), 'redriven 2\n');
  assert.equal(await cli.ask('pull', 'redrive', 'work', '--per-second', '1000'), 'redriven 2 of 2\n');
  assert.equal((await queue.stats()).available, 5);
});

test('on a terminal a bar shows how far a redrive is', { timeout }, async (t) => {
  const world = await startPull(t, '--set', 'max_receive_count=1');
  await makeDead(world, 20);
  const { code, out } = await world.cli.onTerminal('pull', 'redrive', 'work', '--per-second', '20');
  assert.equal(code, 0, out);
  const seen = [...out.matchAll(/\[#*-*\] +(\d+) % {2}(\d+) of 20/g)].map(([, percent]) => Number(percent));
  assert.ok(seen.length >= 2, out);
  assert.deepEqual([...seen].sort((a, b) => a - b), seen);
  assert.equal(seen.at(-1), 100);
  assert.match(out, /redriven 20 of 20/);
});

test('a redrive goes on alone, and is stopped like any operation', { timeout }, async (t) => {
  const world = await startPull(t, '--set', 'max_receive_count=1');
  const { api, cli } = world;
  await makeDead(world, 20);
  const id = (await cli.ask('pull', 'redrive', 'work', '--per-second', '0.5', '--no-wait')).trimEnd();
  assert.equal((await api.ask('GET', `/v1/operations/${id}`)).state, 'running');
  assert.equal(await cli.ask('operations', 'cancel', id), `cancelled ${id}\n`);
});

test('a queue that is pushed says where to, and that it is held', { timeout }, async (t) => {
  const { api, cli, queue } = await startPull(t);
  const receiver = await startReceiver(t, () => ({ status: 429, headers: { 'retry-after': '600' } }));
  await api.ask('POST', '/v1/queue/push_subscribe/work', { url: receiver.url });
  assert.match(await cli.ask('pull', 'show', 'work'), /^webhook +open, 0 in flight, to http:/m);
  await queue.publish(1);
  await until('held', 10, async () => (
    (await api.ask('GET', '/v1/queue/push_subscribe/work')).data.state === 'held'));
  assert.match(await cli.ask('pull', 'show', 'work'), /^webhook +held until .*\(in 9 min [^)]*\), 0 in flight, to http:/m);
});

test('a queue of the other kind is told with the command that is for it', { timeout }, async (t) => {
  const { api, cli } = await startPull(t);
  await api.createQueue('mail', { webhookUrl: 'http://127.0.0.1:9/' });
  for (const [words, hint] of [
    [['queues', 'show', 'work'], 'pull show work'],
    [['queues', 'create', 'work', '--webhook-url', 'http://127.0.0.1:9/'], 'pull show work'],
    [['queues', 'pause', 'work'], 'pull --help lists what there is for those'],
    [['jobs', 'publish', 'work', '1'], 'pull publish work'],
    [['jobs', 'list', 'work'], 'pull peek work'],
    [['dlq', 'list', 'work'], 'pull dlq work'],
    [['dlq', 'replay', 'work', '--dry-run'], 'pull redrive work'],
  ])
    assert.equal(await cli.refusal(1, ...words), `Queue 'work' is a pull queue, not a push queue: tidegate ${hint}`);
  for (const [words, hint] of [
    [['pull', 'show', 'mail'], 'queues show mail'],
    [['pull', 'create', 'mail'], 'queues show mail'],
    [['pull', 'publish', 'mail', '1'], 'jobs publish mail'],
    [['pull', 'purge', 'mail'], 'queues --help lists what there is for those'],
    [['pull', 'delete', 'mail'], 'queues delete mail'],
    [['pull', 'redrive', 'mail'], 'dlq replay mail'],
  ])
    assert.equal(await cli.refusal(1, ...words), `Queue 'mail' is a push queue, not a pull queue: tidegate ${hint}`);
  assert.equal(await cli.refusal(1, 'pull', 'create', 'other', '--set', 'dead_letter_queue=mail'),
    "Queue 'mail' is a push queue, not a pull queue");
});

test('what another queue of the name has is said', { timeout }, async (t) => {
  const { cli } = await startPull(t);
  assert.equal(await cli.ask('pull', 'create', 'work'), 'created work\n');
  assert.equal(await cli.refusal(1, 'pull', 'create', 'work', '--type', 'fifo', '--set', 'max_receive_count=5'),
    "Queue 'work' exists already, with other settings: type (standard, not fifo), max_receive_count (3, not 5)");
});

test('one message is not several', { timeout }, async (t) => {
  const { cli, queue } = await startPull(t);
  await queue.publish(1);
  assert.equal(await cli.refusal(1, 'pull', 'delete', 'work'),
    "Queue 'work' has 1 message: --force deletes it with all that it has");
});

test('a publish says that it has made the queue', { timeout }, async (t) => {
  const { server, api, cli, queue } = await startPull(t);
  const made = await cli.call(['pull', 'publish', 'nosuch', '1']);
  assert.match(made.out, /^qmsg_\w{24}\n$/);
  assert.equal(made.err, 'tidegate: there was no queue nosuch: it has been created, with the default settings\n');
  const { key } = await api.ask('POST', '/v1/keys', { project: 'default', scopes: ['publish'] });
  for (const words of [['pull', 'publish', 'nosuch', '1'], ['pull', 'publish', 'work', '1'], ['pull', 'publish', 'work', '1', '--key', key]])
    assert.equal((await cli.call(words)).err, '');
  assert.equal((await queue.stats()).available, 2);
  assert.equal(await cli.refusal(1, 'pull', 'publish', 'typo', '1', '--priority', '4'), "Queue 'typo' not found");
  assert.ok(server.launched.child.exitCode === null);
});

test('what makes no sense is said in one sentence, with the right code', { timeout }, async (t) => {
  const { cli } = await startPull(t);
  assert.match(await cli.refusal(2, 'pull', 'publish', 'work', 'no json'), /PAYLOAD must be JSON/);
  assert.match(await cli.refusal(2, 'pull', 'update', 'work'), /--set is missing/);
  assert.match(await cli.refusal(2, 'pull', 'create', 'x', '--set', 'nothing'), /NAME=VALUE/);
  for (const limit of ['0', '1001'])
    assert.equal(await cli.refusal(2, 'pull', 'peek', 'work', '--limit', limit),
      `--limit must be a whole number from 1 to 1000, got "${limit}"`);
  assert.equal(await cli.ask('pull', 'peek', 'work', '--limit', '1000').then((out) => rowsOf(out).length), 0);
  for (const limit of ['0', '1.5', '-1', '1000000001'])
    assert.equal(await cli.refusal(2, 'pull', 'redrive', 'work', `--limit=${limit}`),
      `--limit must be a whole number from 1 to 1000000000, got "${limit}"`);
  assert.equal(await cli.refusal(2, 'pull', 'redrive', 'work', '--max', '0'),
    'There is no option --max: tidegate pull redrive --help lists them');
  for (const word of ['since', 'until'])
    assert.equal(await cli.refusal(2, 'pull', 'dlq', 'work', `--${word}`, 'yesterday'),
      `--${word} must be a time such as 2030-01-31T00:00:00Z, or an age such as 2h, got "yesterday"`);
  assert.equal(await cli.refusal(2, 'pull', 'show', ''), 'QUEUE must not be empty');
  assert.equal(await cli.refusal(2, 'pull', 'publish', 'work', '-'),
    'PAYLOAD must be JSON, such as {"to": "a"} or "text" with its quotes, got nothing on standard input');
  assert.match(await cli.refusal(2, 'pull', 'redrive', 'work', '--id', 'job_1'), /job_1 is a job, .*tidegate dlq replay/);
  assert.match(await cli.refusal(1, 'pull', 'create', 'x', '--type', 'lifo'), /standard or fifo/);
  assert.match(await cli.refusal(1, 'pull', 'peek', 'none'), /not found/);
  assert.match(await cli.refusal(1, 'pull', 'purge', 'none'), /not found/);
});
