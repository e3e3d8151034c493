// A server that cannot start says why in a sentence, and spoils nothing.

import assert from 'node:assert/strict';
import { copyFileSync, existsSync, openSync, readFileSync, statSync, truncateSync, writeFileSync, writeSync, closeSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { startReceiver } from './support/receiver.mjs';
import { launch, run, startServer, temporaryFolder } from './support/server.mjs';
import { patience } from './support/time.mjs';

const timeout = 60_000 * patience;
const key = `sq_live_${'k'.repeat(40)}`;
const withKey = { TIDEGATE_API_KEY: key };

function serveIn(data, ...flags) {
  return ['serve', '--listen', '127.0.0.1:0', '--data', data, '--log-format', 'text', ...flags];
}

/** Starts a server that ends with the test. Returns it and its address. */
async function launchFor(t, words, env) {
  const launched = launch(words, env);
  t.after(async () => {
    launched.child.kill('SIGKILL');
    await launched.exited;
  });
  return { ...launched, launched, url: await launched.listening };
}

function get(url, bearer) {
  return fetch(`${url}/v1/queues`, { headers: { authorization: `Bearer ${bearer}` } });
}

/** Checks how a start failed: one line on stderr that says `words`, no address. */
function failedWith({ code, out, err }, expectedCode, words) {
  assert.equal(code, expectedCode, err);
  assert.equal(out, '');
  const complaints = err.trimEnd().split('\n').filter((line) => !line.endsWith(' info stopping'));
  assert.equal(complaints.length, 1, err);
  assert.match(complaints[0], words);
}

test('a port in use: exit 1 and its number', { timeout }, async (t) => {
  const { port } = await startReceiver(t);
  const result = await run(['serve', '--listen', `127.0.0.1:${port}`, '--data', temporaryFolder(t),
    '--log-format', 'text'], withKey);
  failedWith(result, 1, new RegExp(`127\\.0\\.0\\.1.*${port}.*in use`));
});

const badWords = [
  [['serve', '--lisen', 'x'], /--lisen/],
  [['serve', '--listen', '127.0.0.1'], /--listen.*127\.0\.0\.1:8080/],
  [['serve', '--listen', '127.0.0.1:65536'], /--listen.*65535/],
  [['serve', '--threads', 'many'], /--threads.*0 to 256.*many/],
  [['serve', '--max-body', '5'], /--max-body.*1024 to 1073741824.*5/],
  [['serve', '--drain-timeout', '3601'], /--drain-timeout.*0 to 3600.*3601/],
  [['serve', '--log-level', 'loud'], /--log-level.*error.*warn.*info.*debug.*loud/],
  [['serve', '--log-format', 'xml'], /--log-format.*json.*text.*xml/],
  [['serve', '--allow-target', 'home'], /--allow-target.*home/],
  [['serve', '--allow-target', '10.0.0.1/8'], /allow-target.*10\.0\.0\.1\/8/],
  [['serve', '--config', '/nowhere/at/all.toml'], /\/nowhere\/at\/all\.toml/],
  [['serfe'], /serfe/],
  [[], /command is missing.*--help/],
];

for (const [words, complaint] of badWords)
  test(`'tidegate ${words.join(' ')}': exit 2 and one sentence`, { timeout }, async () => {
    failedWith(await run(words), 2, complaint);
  });

test('a bad variable is named like a bad flag', { timeout }, async () => {
  failedWith(await run(['serve'], { TIDEGATE_MAX_BODY: 'huge' }), 2, /TIDEGATE_MAX_BODY.*huge/);
});

test('a second server on the same data is refused, and the first goes on', { timeout }, async (t) => {
  const server = await startServer(t);
  failedWith(await run(serveIn(server.data), withKey), 1, /another server is using .*tidegate\.db/);
  await server.api.createQueue('q', { webhookUrl: 'http://127.0.0.1:9/' });
  await server.killAndStart();
  assert.equal((await server.api.queue('q')).name, 'q');
});

/** Stops a server that has one queue, and returns its data file. */
async function makeDataFile(t) {
  const server = await startServer(t);
  await server.api.createQueue('q', { webhookUrl: 'http://127.0.0.1:9/' });
  await server.stop();
  const copy = temporaryFolder(t);
  copyFileSync(join(server.data, 'tidegate.db'), join(copy, 'tidegate.db'));
  return join(copy, 'tidegate.db');
}

function overwrite(file, at, bytes) {
  const opened = openSync(file, 'r+');
  writeSync(opened, bytes, 0, bytes.length, at);
  closeSync(opened);
}

const spoilt = [
  ['bytes that are no database', (file) => writeFileSync(file, Buffer.alloc(20_000, 'no database '))],
  ['a database of another program', (file) => overwrite(file, 68, Buffer.from([1, 2, 3, 4]))],
  ['a database of a later version', (file) => overwrite(file, 60, Buffer.from([0, 0, 3, 0xe7]))],
  ['pages of rubbish behind a sound header', (file) => (
    overwrite(file, 4096, Buffer.alloc(statSync(file).size - 4096, 0xaa)))],
  ['six pages of rubbish', (file) => overwrite(file, 4096, Buffer.alloc(6 * 4096, 0xaa))],
  ['a file that was cut off', (file) => truncateSync(file, 5 * 4096)],
];

for (const [what, spoil] of spoilt)
  test(`${what}: exit 1, the file is named and untouched`, { timeout }, async (t) => {
    const file = await makeDataFile(t);
    spoil(file);
    const before = readFileSync(file);
    const result = await run(serveIn(join(file, '..')), withKey);
    failedWith(result, 1, /tidegate\.db/);
    assert.ok(result.err.length < 400, result.err);
    assert.ok(readFileSync(file).equals(before), 'the file was changed');
  });

test('the first key is made at the first start, for its owner only, and in no log', { timeout }, async (t) => {
  const data = join(temporaryFolder(t), 'made', 'here');
  const first = await launchFor(t, serveIn(data));
  const file = join(data, 'api-key');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const made = readFileSync(file, 'utf8').trim();
  assert.match(made, /^sq_live_[A-Za-z0-9]{32,}$/);
  assert.ok(first.launched.err.includes(file), first.launched.err);
  assert.ok(!first.launched.err.includes(made) && !first.launched.out.includes(made));
  assert.equal((await get(first.url, made)).status, 200);
  first.child.kill('SIGTERM');
  await first.exited;
  const second = await launchFor(t, serveIn(data));
  assert.equal((await get(second.url, made)).status, 200);
  assert.ok(!second.launched.err.includes(made) && !second.launched.out.includes(made));
  assert.equal(readFileSync(file, 'utf8').trim(), made);
});

test('check-config finds what the server would refuse to start with', { timeout }, async (t) => {
  const file = join(temporaryFolder(t), 'x.toml');
  for (const [text, why, code = 2] of [
    ["allow_target = ['10.0.0.1/8']", /allow_target: .*10\.0\.0\.1\/8/],
    ["alert_url = 'http://127.0.0.1/'", /alert_url: .*allow-target/],
    ['alert_depth = 5', /alert_depth is set without alert_url/],
    ["trusted_ca = '/nowhere'", /the trusted CA file .*nowhere/, 1],
    ["tls_cert = '/nowhere'\ntls_key = '/nowhere'", /nowhere/, 1],
  ]) {
    writeFileSync(file, text);
    const checked = await run(['check-config', file]);
    assert.equal(checked.code, 1, text);
    assert.match(checked.out, why);
    assert.ok(checked.out.startsWith(`${file}: `), checked.out);
    assert.equal((await run([...serveIn(temporaryFolder(t)), '--config', file])).code, code, text);
  }
});

test('a key in the environment is the key, and none is made', { timeout }, async (t) => {
  const data = temporaryFolder(t);
  const { url, launched } = await launchFor(t, serveIn(data), withKey);
  assert.equal((await get(url, key)).status, 200);
  assert.equal((await get(url, `${key}x`)).status, 401);
  assert.ok(!existsSync(join(data, 'api-key')));
  assert.ok(!launched.err.includes(key));
});

test('a key that is too short is refused without being repeated', { timeout }, async (t) => {
  const result = await run(serveIn(temporaryFolder(t)), { TIDEGATE_API_KEY: 'tooshort' });
  failedWith(result, 1, /TIDEGATE_API_KEY.*24/);
  assert.ok(!result.err.includes('tooshort'));
});

test('--config sets what it says, and a flag goes before it', { timeout }, async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'tidegate.toml');
  writeFileSync(file, `listen = "127.0.0.1:0"\ndata = "${join(folder, 'there')}"\nmax_body = 2048\nlog_level = "error"\n`);
  const { url } = await launchFor(t, ['serve', '--config', file, '--max-body', '4096'], withKey);
  assert.ok(existsSync(join(folder, 'there', 'tidegate.db')));
  const post = (bytes) => fetch(`${url}/v1/queues`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: 'x'.repeat(bytes),
  });
  assert.equal((await post(3000)).status, 400);
  assert.equal((await post(5000)).status, 413);
});

test('an unknown key in the config file: exit 2 and its line', { timeout }, async (t) => {
  const file = join(temporaryFolder(t), 'tidegate.toml');
  writeFileSync(file, 'max_body = 2048\n\nlistn = "127.0.0.1:0"\n');
  failedWith(await run(['serve', '--config', file]), 2, /tidegate\.toml:3: listn/);
});

test('a data folder that cannot be made: exit 1 and its name', { timeout }, async () => {
  failedWith(await run(serveIn('/proc/no/such'), withKey), 1, /\/proc\/no\/such/);
});

test('a missing --trusted-ca: exit 1 and its name', { timeout }, async (t) => {
  failedWith(await run(serveIn(temporaryFolder(t), '--trusted-ca', '/nowhere.pem'), withKey), 1, /\/nowhere\.pem/);
});
