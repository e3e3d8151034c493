// Webhooks that stop at one step of a delivery, each in its own way.

import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';

/**
 * Starts a webhook that speaks bytes: `take` gets each connection. Resolves with
 * the port.
 */
async function listen(t, take, options = {}) {
  const sockets = new Set();
  const server = createServer(options, (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    take(socket);
  });
  t.after(() => {
    sockets.forEach((socket) => socket.destroy());
    server.close();
  });
  await new Promise((done) => {
    server.listen(0, '127.0.0.1', done);
  });
  return server.address().port;
}

/** Sends `head` when the first bytes have come, and then `bytes` once a second. */
const afterRequest = (head, bytes = '') => (socket) => {
  socket.once('data', () => {
    socket.write(head);
    const timer = setInterval(() => socket.write(bytes), 1000);
    socket.once('close', () => clearInterval(timer));
  });
  socket.resume();
};

/** A port that listens, whose queue of connections is full. */
async function deafPort(t) {
  const script = `
import socket, sys
server = socket.socket()
server.bind(("127.0.0.1", 0))
server.listen(0)
fillers = [socket.socket() for _ in range(4)]
for each in fillers:
    each.setblocking(False)
    each.connect_ex(server.getsockname())
print(server.getsockname()[1], flush=True)
sys.stdin.read()
`;
  const child = spawn('python3', ['-c', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  const [line] = await new Promise((done) => {
    createInterface(child.stdout).once('line', (text) => done([text]));
  });
  return Number(line);
}

/**
 * Starts one webhook for each step. Resolves with a map from its name to its URL.
 * `stuck.example` must be a name that the name server does not answer for.
 */
export async function startStalls(t) {
  const plain = async (take, options) => `http://127.0.0.1:${await listen(t, take, options)}/`;
  const silent = (socket) => socket.resume();
  return new Map([
    ['dns', 'http://stuck.example/'],
    ['connect', `http://127.0.0.1:${await deafPort(t)}/`],
    ['tls', `https://127.0.0.1:${await listen(t, silent)}/`],
    ['write', await plain(() => {}, { pauseOnConnect: true })],
    ['first byte', await plain(silent)],
    ['mid-head', await plain(afterRequest('HTTP/1.1 200 OK\r\nx-half: '))],
    ['a byte a second', await plain(afterRequest('HTTP/1.1 500 Slow\r\nx-half: ', 'x'))],
    ['mid-body', await plain(afterRequest('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'))],
    ['a byte of body a second', await plain(afterRequest('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n', 'x'))],
  ]);
}
