// Faults of the operating system, put under the real server by a library that is
// preloaded into it (shim/).

import assert from 'node:assert/strict';
import { existsSync, openSync, readFileSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

import { temporaryFolder } from './server.mjs';

const library = process.env.TIDEGATE_SHIM
  ?? join(process.env.TIDEGATE_BUILD ?? 'build/debug', 'tests/process/shim/libfaulty_calls.so');

/** Why a test cannot have faults here; false where it can. */
export const noFaults = library === 'none'
  && 'the sanitizer has to be loaded first, so that nothing else is preloaded';

/** What is to go wrong in the servers that are started with `env`. */
export class Faults {
  constructor(t) {
    assert.ok(existsSync(library), `${library} has not been built`);
    this.control = join(temporaryFolder(t), 'rules');
    this.env = { LD_PRELOAD: library, FAULTS_CONTROL: this.control };
  }

  /**
   * From now on the `at`-th call of this kind (write and sync of the log,
   * checkpoint, all of which are disk; send_out, send_in) and `count` in all (0:
   * every later one) go wrong: kill_before, kill_after, full, fail, tear, lie or slow.
   */
  arm(action, kind, { at = 1, count = 1 } = {}) {
    this.armAll([[action, kind, at, count]]);
  }

  armAll(rules) {
    rmSync(`${this.control}.hits`, { force: true });
    writeFileSync(`${this.control}.next`, rules.map((rule) => `${rule.join(' ')}\n`).join(''));
    renameSync(`${this.control}.next`, this.control);
  }

  /** From now on all is well. */
  calm() {
    rmSync(this.control, { force: true });
  }

  /** Which calls went wrong since the last `arm`: a list of `ACTION KIND`. */
  get hits() {
    try {
      return readFileSync(`${this.control}.hits`, 'utf8').split('\n').slice(0, -1);
    } catch {
      return [];
    }
  }
}

/** The wall clock of the servers that are started with `env`. */
export class WallClock {
  constructor(t) {
    assert.ok(existsSync(library), `${library} has not been built`);
    const file = join(temporaryFolder(t), 'clock');
    writeFileSync(file, Buffer.alloc(8));
    this.file = openSync(file, 'r+');
    this.env = { LD_PRELOAD: library, FAULTS_CLOCK: file };
    this.aheadMs = 0;
  }

  /** Sets it to so many milliseconds ahead of the machine's, at once. */
  set(aheadMs) {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(aheadMs) * 1000n);
    writeSync(this.file, bytes, 0, 8, 0);
    this.aheadMs = aheadMs;
  }

  /** What it says now, and so many milliseconds later. */
  in(ms) {
    return new Date(Date.now() + this.aheadMs + ms);
  }
}
