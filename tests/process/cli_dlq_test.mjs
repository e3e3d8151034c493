// `tidegate dlq`: dead letters from a shell.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { cliOf, rowsOf } from './support/cli.mjs';
import { startReceiver } from './support/receiver.mjs';
import { startServer } from './support/server.mjs';
import { patience, until } from './support/time.mjs';

const timeout = 60_000 * patience;

/** Makes `count` dead jobs in queue `q`; from then on the webhook works. */
async function startDead(t, count, fieldsOf) {
  let status = 500;
  const receiver = await startReceiver(t, () => ({ status }), { slim: true });
  const server = await startServer(t);
  await server.api.createQueue('q', { webhookUrl: receiver.url, concurrency: 64, maxAttempts: 1 });
  const ids = await server.api.publishBulk('q', count, fieldsOf);
  await until('all dead', 30, async () => (await server.api.queue('q')).counts.dead === count);
  status = 200;
  return { server, api: server.api, cli: cliOf(server), ids };
}

test('dead letters are listed, tried and replayed to the end', { timeout }, async (t) => {
  const { api, cli, ids } = await startDead(t, 20, (n) => ({ limitKey: n < 5 ? 'a' : 'b' }));
  const rows = rowsOf(await cli.ask('dlq', 'list', 'q', '--reason', 'attempts_exhausted', '--limit', '7'));
  assert.equal(rows.length, 7);
  assert.equal(rows[0]['DIED OF'], 'attempts_exhausted');
  assert.match(await cli.ask('dlq', 'replay', 'q', '--dry-run', '--limit-key', 'a'), /^5 would be replayed\n/);
  assert.match(await cli.ask('dlq', 'replay', 'q', '--dry-run', '--until', '1h'), /^0 would be replayed\n$/);
  assert.equal((await api.queue('q')).counts.dead, 20);

  assert.equal(await cli.ask('dlq', 'replay', 'q', '--limit-key', 'a'), 'replayed 5 of 5\n');
  assert.equal(await cli.ask('dlq', 'replay', 'q', '--id', ids[10], '--id', ids[11]), 'replayed 2 of 2\n');
  assert.equal(await cli.ask('jobs', 'replay', ids[12], '--payload', '{"n": "new"}'), `replayed ${ids[12]}\n`);
  await api.drained('q', 10);
  assert.equal((await api.queue('q')).counts.completed, 8);
  assert.deepEqual((await api.job(ids[12])).payload, { n: 'new' });
  assert.match(await cli.refusal(1, 'jobs', 'replay', ids[12]), /Only a dead job/);
});

test('--json prints the operation as it ended', { timeout }, async (t) => {
  const { cli } = await startDead(t, 3);
  const { state, done, total } = JSON.parse(await cli.ask('dlq', 'replay', 'q', '--json'));
  assert.deepEqual({ state, done, total }, { state: 'done', done: 3, total: 3 });
});

test('on a terminal a bar shows how far a replay is', { timeout }, async (t) => {
  const { cli } = await startDead(t, 30);
  const { code, out } = await cli.onTerminal('dlq', 'replay', 'q', '--per-second', '40');
  assert.equal(code, 0, out);
  const seen = [...out.matchAll(/\[#*-*\] +(\d+) % {2}(\d+) of 30/g)].map(([, percent]) => Number(percent));
  assert.ok(seen.length >= 2, out);
  assert.deepEqual([...seen].sort((a, b) => a - b), seen);
  assert.ok(seen[0] < 100, out);
  assert.equal(seen.at(-1), 100);
  assert.match(out, /replayed 30 of 30/);
});

test('an operation goes on alone, is shown and cancelled', { timeout }, async (t) => {
  const { api, cli } = await startDead(t, 50);
  const id = (await cli.ask('dlq', 'replay', 'q', '--per-second', '0.5', '--no-wait')).trimEnd();
  const [row] = rowsOf(await cli.ask('operations', 'list'));
  assert.equal(row.ID, id);
  assert.equal(row.STATE, 'running');
  assert.match(await cli.ask('operations', 'show', id), /^total +50$/m);
  assert.equal(await cli.ask('operations', 'cancel', id), `cancelled ${id}\n`);
  assert.equal((await api.ask('GET', `/v1/operations/${id}`)).state, 'cancelled');
});

test('an operation that is done is not said to be cancelled', { timeout }, async (t) => {
  const { cli } = await startDead(t, 2);
  await cli.ask('dlq', 'replay', 'q');
  const [{ ID: id }] = rowsOf(await cli.ask('operations', 'list'));
  assert.equal(await cli.refusal(1, 'operations', 'cancel', id), `the operation ${id} was not cancelled: it is done, 2 of 2`);
});

test('a replay that somebody cancels is no success', { timeout }, async (t) => {
  const { api, cli } = await startDead(t, 50);
  const replay = cli.call(['dlq', 'replay', 'q', '--per-second', '0.5']);
  const [{ id }] = await until('operation', 10, async () => {
    const { items } = await api.ask('GET', '/v1/operations');
    return items.length > 0 && items;
  });
  await api.ask('DELETE', `/v1/operations/${id}`);
  const { code, err } = await replay;
  assert.equal(code, 1);
  assert.match(err, new RegExp(`^tidegate: the operation ${id} ended as cancelled after \\d+ of 50\n$`));
});

test('a replay that the server leaves behind says what goes on', { timeout }, async (t) => {
  const { server, api, cli } = await startDead(t, 50);
  const replay = cli.call(['dlq', 'replay', 'q', '--per-second', '0.5']);
  await until('operation', 10, async () => (await api.ask('GET', '/v1/operations')).items.length > 0);
  await server.kill();
  const { code, err } = await replay;
  assert.equal(code, 3);
  assert.match(err, /^tidegate: cannot reach .*\ntidegate: the operation \S+ goes on without this program\n$/);
});

test('nobody removes all dead letters by leaving something out', { timeout }, async (t) => {
  const { api, cli } = await startDead(t, 10, (n) => ({ limitKey: n < 4 ? 'a' : 'b' }));
  assert.match(await cli.refusal(2, 'dlq', 'delete', 'q'), /--all/);
  assert.match(await cli.refusal(2, 'dlq', 'delete', 'q', '--all', '--limit-key', 'a'), /--all/);
  assert.equal((await api.queue('q')).counts.dead, 10);
  assert.equal(await cli.ask('dlq', 'delete', 'q', '--limit-key', 'a'), 'removed 4\n');
  assert.equal(await cli.ask('dlq', 'delete', 'q', '--all'), 'removed 6\n');
  assert.equal(rowsOf(await cli.ask('dlq', 'list', 'q')).length, 0);
});
