// A client of HTTP/1.1 for benchmarks: one socket, requests pipelined and answered in
// order, bodies with a length. Node's own clients cost more than the server.

import { connect } from 'node:net';

/** Resolves with a connection to `port` that sends `headers` with each request. */
export function wire(port, headers) {
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const waiting = [];
  let received = Buffer.alloc(0);
  let unsent = '';

  const flush = () => {
    socket.write(unsent);
    unsent = '';
  };
  const request = (method, path, body = '') => new Promise((answered, failed) => {
    waiting.push({ answered, failed });
    // What is asked in one turn goes out together.
    if (unsent === '')
      setImmediate(flush);
    unsent += `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${fields}`
      + `content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  });
  const take = (bytes) => {
    received = received.length === 0 ? bytes : Buffer.concat([received, bytes]);
    let next = 0;
    for (let end; (end = received.indexOf('\r\n\r\n', next)) !== -1;) {
      const head = received.toString('latin1', next, end);
      const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
      const last = end + 4 + length;
      if (received.length < last)
        break;
      waiting.shift().answered({ status: Number(head.slice(9, 12)), text: received.toString('utf8', end + 4, last) });
      next = last;
    }
    received = received.subarray(next);
  };

  const socket = connect(port, '127.0.0.1').setNoDelay(true).on('data', take);
  return new Promise((connected, refused) => {
    const fail = (reason) => {
      refused(reason);
      for (const { failed } of waiting.splice(0))
        failed(reason);
    };
    socket.on('error', fail);
    socket.on('close', () => fail(new Error('the server closed a connection')));
    socket.on('connect', () => connected({ request, close: () => socket.destroy() }));
  });
}
