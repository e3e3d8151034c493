// `tidegate backup` beside a server under load: the copy is sound and has every
// job that was acknowledged before it began.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { until } from '../../examples/tidegate.mjs';
import { startPublishers } from './support/publishers.mjs';
import { slowly, startReceiver } from './support/receiver.mjs';
import { run, startServer, temporaryFolder } from './support/server.mjs';

const timeout = 120_000;

/** Asks SQLite itself, by way of python3, whether a file is sound. */
function integrityOf(file) {
  const script = 'import sqlite3, sys\n'
    + 'db = sqlite3.connect("file:" + sys.argv[1] + "?mode=ro&immutable=1", uri=True)\n'
    + 'print(db.execute("PRAGMA integrity_check").fetchall())';
  return execFileSync('python3', ['-c', script, file], { encoding: 'utf8' }).trim();
}

function backup(data, file) {
  return run(['backup', file, '--data', data]);
}

test('a backup under load has every job that was acknowledged before', { timeout }, async (t) => {
  const receiver = await startReceiver(t, slowly(5, () => ({ status: 200 })), { slim: true });
  const server = await startServer(t);
  await server.api.createQueue('q', { webhookUrl: receiver.url, concurrency: 8 });
  await server.api.createQueue('waiting', { webhookUrl: receiver.url });
  await server.api.pause('waiting');
  const bulk = await server.api.publishBulk('waiting', 20_000);
  const publishers = startPublishers(server, 'q', { pauseMs: 0 });
  await until('load', 10, () => publishers.accepted.length > 200);

  const folder = temporaryFolder(t);
  const copies = [];
  for (const name of ['one', 'two', 'three']) {
    const before = publishers.accepted.slice();
    const file = join(folder, name);
    const { code, out, err } = await backup(server.data, file);
    assert.equal(code, 0, err);
    assert.equal(out, `copied to ${file}\n`);
    const during = publishers.accepted.length - before.length;
    t.diagnostic(`${during} jobs were published during the backup`);
    assert.ok(during > 0, 'the server stood still');
    copies.push({ file, before });
  }
  await publishers.stop();
  assert.deepEqual(publishers.refused, []);
  assert.equal(publishers.unanswered, 0);
  assert.deepEqual(readdirSync(folder).sort(), ['one', 'three', 'two']);

  for (const { file, before } of copies) {
    assert.equal(integrityOf(file), "[('ok',)]");
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const data = temporaryFolder(t);
    renameSync(file, join(data, 'tidegate.db'));
    const restored = await startServer(t, { data });
    assert.equal((await restored.api.queue('waiting')).counts.pending, bulk.length);
    const there = new Set((await restored.api.allJobs('q')).map(({ id }) => id));
    assert.deepEqual(before.filter((id) => !there.has(id)), []);
    await restored.stop();
  }
});

test('a backup never takes the place of a file, and fails in one sentence', { timeout }, async (t) => {
  const server = await startServer(t);
  const folder = temporaryFolder(t);
  const taken = join(folder, 'taken');
  writeFileSync(taken, 'something else');
  const refused = await backup(server.data, taken);
  assert.equal(refused.code, 1);
  assert.equal(refused.err, `tidegate: ${taken} exists already and is not overwritten\n`);
  const nowhere = await backup(server.data, join(folder, 'no', 'folder'));
  assert.equal(nowhere.code, 1);
  assert.match(nowhere.err, /^tidegate: cannot create [^\n]+\n$/);
  const nothing = await backup(folder, join(folder, 'copy'));
  assert.equal(nothing.code, 1);
  assert.match(nothing.err, /does not exist\n$/);
  assert.deepEqual(readdirSync(folder), ['taken']);
});

test('a backup of a server that was stopped, or killed, leaves its data as they are', { timeout }, async (t) => {
  const server = await startServer(t);
  await server.api.createQueue('q', { webhookUrl: 'http://127.0.0.1:9/' });
  await server.api.pause('q');
  const ids = await server.api.publishMany('q', 50);
  const folder = temporaryFolder(t);
  await server.kill();
  const killed = await backup(server.data, join(folder, 'killed'));
  assert.equal(killed.code, 0, killed.err);
  await server.start();
  await server.stop();
  const stopped = await backup(server.data, join(folder, 'stopped'));
  assert.equal(stopped.code, 0, stopped.err);
  await server.start();
  assert.equal((await server.api.jobs(ids)).length, 50);
  for (const name of ['killed', 'stopped']) {
    assert.ok(existsSync(join(folder, name)));
    assert.equal(integrityOf(join(folder, name)), "[('ok',)]");
    const data = temporaryFolder(t);
    renameSync(join(folder, name), join(data, 'tidegate.db'));
    const restored = await startServer(t, { data });
    assert.equal((await restored.api.queue('q')).counts.pending, 50);
    await restored.stop();
  }
});
