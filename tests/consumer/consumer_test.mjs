// The library, as somebody has it who embeds it: installed, moved to another
// folder, and used by a project outside of the tree.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, readdirSync, renameSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { temporaryFolder } from '../process/support/server.mjs';

const timeout = 900_000;
const build = resolve(process.env.TIDEGATE_BUILD ?? 'build/debug');
const source = dirname(fileURLToPath(import.meta.url));

/** What the build tree says of itself. */
const cache = Object.fromEntries(readFileSync(join(build, 'CMakeCache.txt'), 'utf8').split('\n')
  .map((line) => line.match(/^(\w+):\w+=(.*)$/)).filter(Boolean).map(([, name, value]) => [name, value]));
const compiler = cache.CMAKE_CXX_COMPILER;
const sanitize = cache.TIDEGATE_SANITIZE ? [`-fsanitize=${cache.TIDEGATE_SANITIZE}`] : [];

/** Runs a program; fails with what it printed where it fails. */
function run(program, words, { input, env = {} } = {}) {
  return new Promise((done, fail) => {
    const child = execFile(program, words, { env: { ...process.env, ...env }, maxBuffer: 2 ** 26 }, (error, out, err) =>
      (error ? fail(new Error(`${program} ${words.join(' ')}\n${out}${err}`, { cause: error })) : done(out)));
    child.stdin.end(input);
  });
}

/** Installs the library into a folder, and moves it from there. */
async function install(folder) {
  await run('cmake', ['--install', build, '--component', 'library', '--prefix', join(folder, 'first')]);
  renameSync(join(folder, 'first'), join(folder, 'moved'));
  return join(folder, 'moved');
}

function filesOf(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) => each.isFile())
    .map((each) => join(each.parentPath ?? each.path, each.name));
}

/** Configures the project, with what CMake is told besides. */
async function configure({ folder, prefix, name, words = [] }) {
  const made = join(folder, name);
  await run('cmake', ['-S', join(folder, 'source'), '-B', made, '-G', 'Ninja', `-DCMAKE_PREFIX_PATH=${prefix}`,
    `-DCMAKE_CXX_COMPILER=${compiler}`, `-DCMAKE_CXX_FLAGS=${sanitize.join(' ')}`,
    ...(cache.CCACHE && !cache.CCACHE.endsWith('NOTFOUND') ? [`-DCMAKE_CXX_COMPILER_LAUNCHER=${cache.CCACHE}`] : []), ...words]);
  return made;
}

/** The compiler's cache knows the files wherever the folder is. */
const make = (folder, made) => run('ninja', ['-C', made, '-j', '2'], { env: { CCACHE_BASEDIR: folder, CCACHE_NOHASHDIR: '1' } });

function checkFiles(prefix) {
  const files = filesOf(prefix);
  for (const name of ['core', 'actors', 'storage', 'testkit'])
    assert.ok(files.some((file) => file.endsWith(`/libtidegate_${name}.a`)), name);
  assert.ok(files.some((file) => file.endsWith('/cmake/tidegate/FindCAF.cmake')));
  assert.ok(!files.some((file) => file.endsWith('/bin/tidegate')), 'the server is not part of it');
  for (const file of files.filter((each) => /\.(cmake|hpp)$/.test(each))) {
    const text = readFileSync(file, 'utf8');
    assert.ok(!text.includes(build) && !text.includes(resolve(source, '../..')), `${file} names the tree that it was built in`);
  }
}

async function checkHeaders(prefix) {
  const include = join(prefix, 'include');
  const headers = filesOf(include).map((file) => file.slice(include.length + 1)).sort();
  assert.ok(headers.length > 20, headers.join(' '));
  assert.ok(headers.every((name) => /^tidegate\/(testkit\/)?\w+\.hpp$/.test(name)), headers.join(' '));
  const work = headers[Symbol.iterator]();
  const workers = Array.from({ length: Math.min(2, availableParallelism()) }, async () => {
    for (const name of work)
      await run(compiler, ['-std=c++20', '-fsyntax-only', '-Wall', '-Wextra', '-Wpedantic', '-Werror', '-I', include, '-x', 'c++', '-'],
        { input: `#include <${name}>\n#include <${name}>\n` });
  });
  await Promise.all(workers);
}

/** Both by what the linker is told and by what came of it. */
async function checkLink(folder, made) {
  const commands = (await run('ninja', ['-C', made, '-t', 'commands', 'bare'])).trim().split('\n');
  const link = commands.at(-1).replaceAll(folder, '');
  assert.match(link, /-o bare\b.*\blibtidegate_actors\.a\b.*\blibcaf_core\.so\b/);
  assert.doesNotMatch(link, /boost|beast|asio|json|ssl|crypto|sqlite|spdlog|tidegate_(?!core|actors)/i);
  const needed = (await run('readelf', ['-d', join(made, 'bare')])).match(/NEEDED.*/g).join('\n');
  assert.match(needed, /libcaf_core/);
  assert.doesNotMatch(needed, /boost|ssl|crypto|sqlite/i);
  assert.doesNotMatch(await run('nm', ['-C', join(made, 'bare')]), /boost::|nlohmann::|\bsqlite3_|\bSSL_/);
}

test('the library, installed', { timeout }, async (t) => {
  const folder = temporaryFolder(t);
  const prefix = await install(folder);
  cpSync(source, join(folder, 'source'), { recursive: true });

  await t.test('has what it should, and no path of the tree', () => checkFiles(prefix));

  await t.test('has headers that stand alone', () => checkHeaders(prefix));

  await t.test('links no HTTP, JSON, TLS or SQLite where store and transport are the host\'s', async () => {
    const made = await configure({ folder, prefix, name: 'bare', words: ['-DBARE=ON', '-DCMAKE_DISABLE_FIND_PACKAGE_SQLite3=ON'] });
    await make(folder, made);
    await checkLink(folder, made);
    assert.match(await run(join(made, 'bare'), []), /^arrived: "hello"$/m);
  });

  await t.test('serves an application with actors and type ids of its own, over a restart', async () => {
    const made = await configure({ folder, prefix, name: 'whole' });
    await make(folder, made);
    mkdirSync(join(folder, 'data'));
    const out = await run(join(made, 'mailer'), [join(folder, 'data', 'mail.db')]);
    assert.match(out, /^ok: one probe goes out$/m);
    assert.match(out, /^ok: the job is delivered$/m);
    assert.match(out, /^ok: nothing is left to do$/m);
    assert.match(await run(join(made, 'rehearsal'), []), /^ok: nothing went out in between$/m);
  });

  await t.test('is not taken for a version that it is not', async () => {
    await assert.rejects(configure({ folder, prefix, name: 'newer', words: ['-DWANTED=0.2'] }), /compatible\s+with\s+requested\s+version\s+"0\.2"/);
  });
});
