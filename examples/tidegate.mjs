// What the other scripts share: start a server, talk to it, listen. Not an
// example itself. Only what comes with node 18.

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

/** Returns the server's binary: the argument, else $TIDEGATE, else the build's. */
export function binaryFrom(argument) {
  return resolve(argument ?? process.env.TIDEGATE ?? 'build/tidegate');
}

/**
 * Starts a server on a free port with data of its own, which `stop` removes.
 * Resolves once it accepts connections. `flags` go to `tidegate serve`, `under`
 * is the directory that the data is put in.
 */
export async function startServer(binary, { flags = [], under = tmpdir() } = {}) {
  const data = await mkdtemp(join(under, 'tidegate-'));
  const key = `sq_live_${randomBytes(20).toString('hex')}`;
  const args = ['serve', '--listen', '127.0.0.1:0', '--data', data,
    '--allow-target', '127.0.0.0/8', '--log-level', 'error', ...flags];
  const child = spawn(binary, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, TIDEGATE_API_KEY: key },
  });
  const exited = new Promise((done) => {
    child.once('error', (error) => done(error.message));
    child.once('exit', (code, signal) => done(code ?? signal));
  });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const url = await Promise.race([listeningLine(child.stdout), exited.then((how) => {
    throw new Error(`${binary} ended before it listened (${how})`);
  })]);
  const stop = async () => {
    child.kill('SIGTERM');
    const code = await exited;
    process.off('exit', kill);
    await rm(data, { recursive: true, force: true });
    if (code !== 0)
      throw new Error(`the server ended with ${code}`);
  };
  return { url, key, pid: child.pid, stop, call: caller(url, key) };
}

/** Resolves with the address in the line `listening <address>`. */
export function listeningLine(stream) {
  return new Promise((found) => {
    createInterface(stream).on('line', (line) => {
      if (line.startsWith('listening '))
        found(line.slice('listening '.length));
    });
  });
}

/** Returns a function that makes one call and resolves with the parsed answer. */
function caller(url, key) {
  return async (method, path, body) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok)
      throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
}

/**
 * Listens on 127.0.0.1. `handler` is given each request with its whole body and
 * returns `{status, headers?, body?}`.
 */
export async function listen(handler, port = 0) {
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request)
      chunks.push(chunk);
    const { status, headers = {}, body = '' } = await handler(request, Buffer.concat(chunks));
    response.writeHead(status, headers).end(body);
  });
  await new Promise((done, failed) => {
    server.once('error', failed);
    server.listen(port, '127.0.0.1', done);
  });
  const url = `http://127.0.0.1:${server.address().port}`;
  const close = () => new Promise((done) => {
    server.close(done);
    server.closeAllConnections?.();
  });
  return { url, close };
}

/**
 * Listens on 127.0.0.1 and passes every call on to the server at `target()`.
 * Where `loses(request)` is true the call is made, and instead of its answer the
 * caller sees the connection end.
 */
export function startProxy(target, loses) {
  return listen(async (request, body) => {
    try {
      const answer = await fetch(target() + request.url, {
        method: request.method,
        headers: { authorization: request.headers.authorization ?? '', 'content-type': 'application/json' },
        body: body.length > 0 ? body : undefined,
      });
      const text = await answer.text();
      if (!loses(request))
        return { status: answer.status, body: text };
    } catch {
      // the server is gone, and so is the answer
    }
    request.socket.destroy();
    return { status: 502 };
  });
}

/** Calls `probe` until it returns something true, for at most `seconds`. */
export async function until(what, seconds, probe) {
  const deadline = Date.now() + seconds * 1000;
  for (;;) {
    const answer = await probe();
    if (answer)
      return answer;
    if (Date.now() > deadline)
      throw new Error(`${what}: not within ${seconds} s`);
    await sleep(50);
  }
}
