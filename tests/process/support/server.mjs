// A server of the tests' own: a process, a data folder and a free port. It ends
// with the test that started it, however that test ends.

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { binaryFrom, listeningLine } from '../../../examples/tidegate.mjs';
import { Api } from './api.mjs';
import { patience } from './time.mjs';

const binary = binaryFrom();
const running = new Set();

const killAll = () => {
  for (const child of running)
    child.kill('SIGKILL');
};
process.once('exit', killAll);
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => process.exit(1));

/** Returns the environment without what would set something in the server. */
export function bareEnvironment() {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('TIDEGATE')));
}

/** Starts `tidegate` with these words. `exited` resolves with `{code, signal}`. */
export function launch(words, env = {}) {
  const child = spawn(binary, words, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...bareEnvironment(), ...env },
  });
  running.add(child);
  const launched = { child, out: '', err: '' };
  child.stdout.on('data', (text) => { launched.out += text; });
  child.stderr.on('data', (text) => { launched.err += text; });
  child.once('error', ({ message }) => { launched.err += message; });
  launched.exited = new Promise((done) => {
    child.once('close', (code, signal) => {
      running.delete(child);
      done({ code, signal });
    });
  });
  launched.listening = Promise.race([
    listeningLine(child.stdout),
    launched.exited.then(({ code, signal }) => {
      throw new Error(`the server ended (${code ?? signal}) before it listened: ${launched.err}`);
    }),
  ]);
  launched.listening.catch(() => {});
  return launched;
}

/** Runs `tidegate` until it ends by itself. */
export async function run(words, env = {}) {
  const launched = launch(words, env);
  const late = setTimeout(() => launched.child.kill('SIGKILL'), 10_000 * patience);
  const how = await launched.exited;
  clearTimeout(late);
  return { ...how, out: launched.out, err: launched.err };
}

/** Makes a folder that is removed when the test has ended. */
export function temporaryFolder(t) {
  const folder = mkdtempSync(join(tmpdir(), 'tidegate-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/**
 * Starts a server that may call loopback addresses. `flags` go to
 * `tidegate serve`; `data` is a folder, a new one where it is not given; `ca` is
 * whom to trust where the flags say that it speaks https; `env` is added to its
 * environment.
 */
export async function startServer(t, options = {}) {
  const server = new Server(options);
  t.after(() => server.dispose());
  await server.start();
  return server;
}

class Server {
  constructor({ flags = ['--allow-target', '127.0.0.0/8'], sockets = 64, data, ca, env = {} }) {
    this.flags = flags;
    this.env = env;
    /** What the earlier processes wrote to stderr. */
    this.log = '';
    this.data = data ?? mkdtempSync(join(tmpdir(), 'tidegate-'));
    this.key = `sq_live_${randomBytes(20).toString('hex')}`;
    this.api = new Api(this.key, sockets, ca);
  }

  /** Starts it, again on the same data. */
  async start() {
    const words = ['serve', '--listen', '127.0.0.1:0', '--data', this.data,
      '--log-level', 'warn', '--log-format', 'text', ...this.flags];
    this.log += this.launched?.err ?? '';
    this.launched = launch(words, { TIDEGATE_API_KEY: this.key, ...this.env });
    this.api.url = await this.launched.listening;
  }

  signal(name) {
    this.launched.child.kill(name);
  }

  get exited() {
    return this.launched.exited;
  }

  /** kill -9. */
  async kill() {
    this.api.url = undefined; // others may get the port from now on
    this.signal('SIGKILL');
    await this.exited;
  }

  async killAndStart() {
    await this.kill();
    await this.start();
  }

  /** Ends it as an operator does. Returns `{code, signal}`. */
  async stop() {
    this.signal('SIGTERM');
    const how = await this.exited;
    this.api.url = undefined;
    return how;
  }

  async dispose() {
    await this.kill();
    this.api.close();
    rmSync(this.data, { recursive: true, force: true });
  }
}
