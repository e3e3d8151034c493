// The pictures of the README come out of the dashboard as it is: each one is drawn
// here again, and there is none that is not.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { draw } from '../../docs/screenshots.mjs';
import { closeBrowser } from './support/browser.mjs';
import { temporaryFolder } from './support/server.mjs';
import { patience } from './support/time.mjs';

const timeout = 120_000 * patience;
const root = fileURLToPath(new URL('../../', import.meta.url));

after(closeBrowser);

/** Returns width and height of a picture (PNG, third edition, 11.2.2). */
function sizeOf(file) {
  const bytes = readFileSync(file);
  assert.equal(bytes.toString('latin1', 1, 4), 'PNG', file);
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
}

test('each picture of the README is drawn, of the size that it has there', { timeout }, async (t) => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const named = [...readme.matchAll(/!\[[^\]]+\]\(docs\/([\w-]+\.png)\)/g)].map(([, file]) => file);
  assert.ok(named.length > 0);
  const there = readdirSync(join(root, 'docs')).filter((file) => file.endsWith('.png'));
  assert.deepEqual([...named].sort(), there.sort());
  const folder = temporaryFolder(t);
  await draw(t, folder, { seconds: 3, held: 3 });
  assert.deepEqual(readdirSync(folder).sort(), there);
  for (const file of named)
    assert.deepEqual(sizeOf(join(folder, file)), sizeOf(join(root, 'docs', file)), file);
});
