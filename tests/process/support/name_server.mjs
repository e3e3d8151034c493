// A DNS server on loopback that says what a test wants it to say (RFC 1035).

import { createSocket } from 'node:dgram';
import { isIPv4, isIPv6 } from 'node:net';

const types = new Map([[1, isIPv4], [28, isIPv6]]);

/**
 * Starts it. `answer` gets a name and returns literal addresses, none where there
 * is no such name, nothing where no answer is to come. `where` is for
 * `--dns-server`, `asked` has the names in the order in which they came.
 */
export async function startNameServer(t, answer) {
  const socket = createSocket('udp4');
  const server = { asked: [] };
  socket.on('message', (message, from) => {
    const { name, type, end } = readQuestion(message);
    server.asked.push(name);
    const addresses = answer(name);
    if (addresses !== undefined)
      socket.send(answerTo(message, type, end, addresses), from.port, from.address);
  });
  await new Promise((done) => {
    socket.bind(0, '127.0.0.1', done);
  });
  t.after(() => socket.close());
  server.where = `127.0.0.1:${socket.address().port}`;
  return server;
}

/** Reads the one question of a message. */
function readQuestion(message) {
  const labels = [];
  let at = 12;
  while (message[at] > 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + message[at]));
    at += 1 + message[at];
  }
  return { name: labels.join('.'), type: message.readUInt16BE(at + 1), end: at + 5 };
}

function answerTo(message, type, end, addresses) {
  const told = addresses.filter((address) => types.get(type)?.(address)).map((address) => recordOf(type, address));
  const head = Buffer.from(message.subarray(0, 12));
  // An answer, with recursion; NXDOMAIN where there is nothing.
  head.writeUInt16BE(addresses.length > 0 ? 0x8180 : 0x8183, 2);
  head.writeUInt16BE(told.length, 6);
  head.writeUInt32BE(0, 8);
  return Buffer.concat([head, message.subarray(12, end), ...told]);
}

/** Of the name of the question, in class IN, to be kept for 0 s. */
function recordOf(type, address) {
  const data = bytesOf(address);
  return Buffer.concat([Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length]), data]);
}

function bytesOf(address) {
  if (isIPv4(address))
    return Buffer.from(address.split('.').map(Number));
  const [left, right] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split('::')
    .map((half) => half.split(':').filter((group) => group !== ''));
  const groups = right ? [...left, ...Array(8 - left.length - right.length).fill('0'), ...right] : left;
  return Buffer.from(groups.flatMap((group) => [parseInt(group, 16) >> 8, parseInt(group, 16) & 255]));
}
