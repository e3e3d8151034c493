// An authority of the tests' own, and certificates that it signs.

import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

function openssl(...words) {
  execFileSync('openssl', words, { stdio: ['ignore', 'ignore', 'pipe'] });
}

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-noenc'];

/** Makes an authority. `ca` is its certificate's file. */
export function makeAuthority(folder, name) {
  const ca = join(folder, `${name}.pem`);
  const caKey = join(folder, `${name}.key`);
  openssl('req', '-x509', ...newKey, '-keyout', caKey, '-out', ca, '-days', '2', '-subj', `/CN=${name}`);
  return { folder, ca, caKey };
}

/**
 * Signs a certificate for `names`, such as `DNS:a.example,IP:127.0.0.1`. Returns
 * what a server needs of it, and the files that it stands in until the next call.
 */
export function sign({ folder, ca, caKey }, names, days = '2') {
  const file = (ending) => join(folder, `server.${ending}`);
  writeFileSync(file('ext'), `subjectAltName=${names}\n`);
  openssl('req', '-new', ...newKey, '-keyout', file('key'), '-out', file('csr'), '-subj', '/CN=webhook');
  openssl('x509', '-req', '-in', file('csr'), '-CA', ca, '-CAkey', caKey, '-CAcreateserial',
    '-extfile', file('ext'), '-days', days, '-out', file('pem'));
  return {
    key: readFileSync(file('key')), cert: readFileSync(file('pem')),
    keyFile: file('key'), certFile: file('pem'),
  };
}
