// `tidegate` as people call it from a shell: on a server of the test's own.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';

import { binaryFrom } from '../../../examples/tidegate.mjs';
import { patience } from './time.mjs';

const deadline = 60_000 * patience;

/** Runs a program with `input` on stdin. Resolves with `{code, out, err}`. */
export function execute(program, words, { env = {}, input = '' } = {}) {
  return new Promise((done) => {
    const bare = Object.entries(process.env).filter(([name]) => !name.startsWith('TIDEGATE'));
    const child = execFile(program, words, {
      env: { ...Object.fromEntries(bare), ...env },
      timeout: deadline,
      killSignal: 'SIGKILL',
      maxBuffer: 64 * 1024 * 1024,
    }, (failure, out, err) => done({ code: failure ? failure.code ?? failure.signal : 0, out, err }));
    child.stdin.on('error', () => {}); // it need not read what it is given
    child.stdin.end(input);
  });
}

/** Returns functions that run `tidegate` against a server, with a key of its. */
export function cliOf(server, key = server.key) {
  const env = { TIDEGATE_URL: server.api.url, TIDEGATE_API_KEY: key };
  const call = (words, input) => execute(binaryFrom(), words, { env, input });
  return {
    env,
    call,
    /** Runs a command that has to succeed. Returns what it prints. */
    async ask(...words) {
      const { code, out, err } = await call(words);
      assert.equal(code, 0, `tidegate ${words.join(' ')}: ${err}`);
      return out;
    },
    /** Runs a command that has to end with this code. Returns its one sentence. */
    async refusal(code, ...words) {
      const how = await call(words);
      assert.equal(how.code, code, `tidegate ${words.join(' ')}: ${how.out}${how.err}`);
      assert.equal(how.out, '');
      assert.match(how.err, /^tidegate: [^\n]+\n$/);
      return how.err.slice('tidegate: '.length, -1);
    },
    /** Runs a command on a terminal. Returns `{code, out}`, with what it drew. */
    onTerminal(...words) {
      const quoted = [binaryFrom(), ...words].map((word) => `'${word}'`).join(' ');
      return execute('script', ['--quiet', '--return', '--command', quoted, '/dev/null'], { env });
    },
  };
}

/** Returns the rows of a table as objects by heading, which may have blanks. */
export function rowsOf(table) {
  const [head, ...lines] = table.trimEnd().split('\n');
  const headings = head.split(/ {2,}/);
  return lines.map((line) => {
    const cells = line.trim().split(/ {2,}/);
    return Object.fromEntries(headings.map((name, n) => [name, cells[n]]));
  });
}
