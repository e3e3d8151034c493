// The Debian package: what is in it, and that the binary of it works as a user
// of its own, installed below an empty root.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';

import { listeningLine } from '../../examples/tidegate.mjs';
import { execute } from './support/cli.mjs';
import { startReceiver } from './support/receiver.mjs';
import { bareEnvironment, temporaryFolder } from './support/server.mjs';
import { patience } from './support/time.mjs';

const timeout = 240_000 * patience;
const build = resolve(process.env.TIDEGATE_BUILD ?? 'build/debug');
const isRoot = process.getuid() === 0;

function output(program, ...words) {
  return execFileSync(program, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Makes the package and lays its files below a folder. */
function unpack(t) {
  const folder = temporaryFolder(t);
  chmodSync(folder, 0o755);
  output('cpack', '-G', 'DEB', '--config', join(build, 'CPackConfig.cmake'), '-B', folder);
  const [name] = readdirSync(folder).filter((file) => file.endsWith('.deb'));
  const file = join(folder, name);
  const root = join(folder, 'root');
  mkdirSync(root);
  output('dpkg-deb', '--extract', file, root);
  return { name, file, root };
}

/** Makes the package's user below `root`, as its postinst does, and returns it. */
function makeUser(root) {
  if (!isRoot)
    return { uid: process.getuid(), gid: process.getgid() };
  mkdirSync(join(root, 'etc'), { recursive: true });
  output('systemd-sysusers', `--root=${root}`, join(root, 'usr/lib/sysusers.d/tidegate.conf'));
  const line = readFileSync(join(root, 'etc/passwd'), 'utf8').split('\n').find((user) => user.startsWith('tidegate:'));
  const [, , uid, gid, , home, shell] = line.split(':');
  assert.equal(home, '/var/lib/tidegate');
  assert.match(shell, /nologin$/);
  return { uid: Number(uid), gid: Number(gid) };
}

function checkContents({ name, file, root }) {
  assert.match(name, /^tidegate_\d+\.\d+\.\d+_[a-z0-9]+\.deb$/);
  const field = (of) => output('dpkg-deb', '--field', file, of).trim();
  assert.equal(field('Package'), 'tidegate');
  assert.match(field('Depends'), /\blibc6\b.*\blibsqlite3-0\b.*\blibssl3\b/);
  assert.match(output('dpkg-deb', '--contents', file), /root\/root .*\.\/usr\/bin\/tidegate\n/);
  assert.doesNotMatch(output('dpkg-deb', '--contents', file), /libtidegate|\.hpp|\.cmake/);
  for (const path of ['usr/lib/systemd/system/tidegate.service', 'usr/share/man/man1/tidegate.1.gz',
    'usr/share/bash-completion/completions/tidegate', 'usr/lib/sysusers.d/tidegate.conf',
    'usr/share/doc/tidegate/copyright', 'etc/tidegate/tidegate.toml'])
    assert.ok(statSync(join(root, path)).size > 0, path);
  const control = join(root, '..', 'control');
  output('dpkg-deb', '--control', file, control);
  assert.equal(readFileSync(join(control, 'conffiles'), 'utf8'), '/etc/tidegate/tidegate.toml\n');
  for (const script of ['postinst', 'prerm', 'postrm']) {
    assert.equal(statSync(join(control, script)).mode & 0o777, 0o755);
    output('sh', '-n', join(control, script));
  }
  const unit = readFileSync(join(root, 'usr/lib/systemd/system/tidegate.service'), 'utf8');
  assert.match(unit, /^ExecStart=\/usr\/bin\/tidegate serve --config \/etc\/tidegate\/tidegate\.toml /m);
  assert.match(unit, /^User=tidegate\nGroup=tidegate$/m);
}

async function checkServer(t, { root }) {
  const { uid, gid } = makeUser(root);
  const data = join(root, 'var/lib/tidegate');
  mkdirSync(data, { recursive: true });
  chmodSync(data, 0o700);
  chownSync(data, uid, gid);

  const binary = join(root, 'usr/bin/tidegate');
  const config = join(root, 'etc/tidegate/tidegate.toml');
  assert.equal((await execute(binary, ['check-config', config])).code, 0);
  const flags = ['serve', '--config', config, '--data', data, '--listen', '127.0.0.1:0',
    '--allow-target', '127.0.0.0/8', '--log-level', 'warn'];
  const [program, ...words] = isRoot
    ? ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--no-new-privs', binary, ...flags]
    : [binary, ...flags];
  const server = spawn(program, words, { stdio: ['ignore', 'pipe', 'pipe'], env: bareEnvironment() });
  const exited = new Promise((done) => { server.once('close', done); });
  t.after(async () => { server.kill('SIGKILL'); await exited; });
  let log = '';
  server.stderr.on('data', (text) => { log += text; });
  const url = await Promise.race([listeningLine(server.stdout),
    exited.then((code) => { throw new Error(`it ended with ${code}: ${log}`); })]);
  assert.equal(statSync(`/proc/${server.pid}`).uid, uid);
  if (isRoot)
    assert.notEqual(uid, 0);

  const receiver = await startReceiver(t);
  const env = { TIDEGATE_URL: url, TIDEGATE_API_KEY: readFileSync(join(data, 'api-key'), 'utf8').trim() };
  const ask = async (...call) => {
    const { code, out, err } = await execute(binary, call, { env });
    assert.equal(code, 0, err);
    return out.trim();
  };
  await ask('queues', 'create', 'q', '--webhook-url', receiver.url);
  const id = await ask('jobs', 'publish', 'q', '{"hello": "world"}');
  while (!/^status +completed$/m.test(await ask('jobs', 'show', id)))
    assert.equal(server.exitCode, null, log);
  assert.deepEqual(receiver.arrivals[0].payload, { hello: 'world' });
  await ask('backup', join(root, 'copy.db'), '--data', data);
  server.kill('SIGTERM');
  assert.equal(await exited, 0);
}

function checkManualAndCompletion({ root }) {
  const manual = join(root, 'usr/share/man/man1/tidegate.1.gz');
  assert.match(output('sh', '-c', `gzip -dc '${manual}'`), /^\.TH TIDEGATE 1 /m);
  const completion = join(root, 'usr/share/bash-completion/completions/tidegate');
  const complete = (...words) => output('bash', '-c', `source '${completion}'
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _tidegate; printf '%s\\n' "\${COMPREPLY[@]}"`, 'tidegate', 'tidegate', ...words)
    .trimEnd().split('\n');
  assert.deepEqual(complete('qu'), ['queues']);
  assert.deepEqual(complete('queues', 're'), ['resume', 'release']);
  assert.deepEqual(complete('dlq', 'replay', 'q', '--d'), ['--dry-run']);
  assert.deepEqual(complete('jobs', 'list', 'q', '--status', 'p'), ['pending', 'processing']);
  assert.deepEqual(complete('serve', '--log-f'), ['--log-format']);
  assert.deepEqual(complete('check-config', join(root, 'etc/tidegate/')),
    [join(root, 'etc/tidegate/tidegate.toml')]);
}

test('the Debian package', { timeout }, async (t) => {
  const made = unpack(t);
  await t.test('has what it should', () => checkContents(made));
  await t.test('has a server that works as an unprivileged user', () => checkServer(t, made));
  await t.test('has a manual, and a completion that completes', () => checkManualAndCompletion(made));
});
