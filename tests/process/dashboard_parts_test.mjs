// The parts of the dashboard that need no browser.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ago, bytes, rate, span, words } from '../../http/dashboard/format.js';
import { sliceJson } from '../../http/dashboard/raw_json.js';
import { sampleOfPull, sampleOfPush, Samples } from '../../http/dashboard/samples.js';
import { EventReader } from '../../http/dashboard/sse.js';
import { randomFrom } from './support/random.mjs';

// -- JSON as it stands --------------------------------------------------------

test('a value is cut out of JSON character by character', () => {
  const text = ' { "a" : 12345678901234567890 , "b\\u0022" : [ 1.50 , {"c" : "\\"}]," , "c":null } , [ ] ] , "b":true } ';
  assert.equal(sliceJson(text, ['a']), '12345678901234567890');
  assert.equal(sliceJson(text, ['b"']), '[ 1.50 , {"c" : "\\"}]," , "c":null } , [ ] ]');
  assert.equal(sliceJson(text, ['b"', 0]), '1.50');
  assert.equal(sliceJson(text, ['b"', 1, 'c']), '"\\"}],"');
  assert.equal(sliceJson(text, ['b"', 2]), '[ ]');
  assert.equal(sliceJson(text, ['b']), 'true');
  assert.equal(sliceJson(text, []), text.trim());
  for (const path of [['x'], ['a', 'x'], ['b"', 3], ['b"', 2, 0], ['b"', 'c']])
    assert.equal(sliceJson(text, path), undefined, path.join());
});

test('whatever JSON it is, every value in it is found as it was written', (t) => {
  const random = randomFrom(t);
  const pick = (list) => list[Math.floor(random() * list.length)];
  const blank = () => pick(['', '', ' ', '\n\t ', '  ']);
  const scalars = ['0', '-1.0e+400', 'true', 'null', '""', '"\\\\"', '"\\"{[,:]}"', '"\\ud83d\\ude00é"', '98765432109876543210'];
  /** Returns a text, and each value in it with its path. */
  const make = (depth) => {
    const kind = depth === 0 ? 0 : random() * 3;
    if (kind < 1) {
      const text = pick(scalars);
      return { text, values: [[[], text]] };
    }
    const isObject = kind < 2;
    const parts = Array.from({ length: Math.floor(random() * 4) }, (_, n) => ({ name: isObject ? `k"${n}\\` : n, ...make(depth - 1) }));
    const inner = parts.map(({ name, text }) => (
      `${blank()}${isObject ? `${JSON.stringify(name)}${blank()}:${blank()}` : ''}${text}${blank()}`)).join(',');
    const text = isObject ? `{${inner}}` : `[${inner}]`;
    return { text, values: [[[], text], ...parts.flatMap(({ name, values }) => values.map(([path, value]) => [[name, ...path], value]))] };
  };
  let count = 0;
  for (let n = 0; n < 500; ++n) {
    const { text, values } = make(5);
    JSON.parse(text);
    for (const [path, value] of values) {
      assert.equal(sliceJson(`${blank()}${text}${blank()}`, path), value, `${text} ${path}`);
      ++count;
    }
  }
  assert.ok(count > 1000, `${count} values`);
});

// -- events -------------------------------------------------------------------

const stream = ': hello\n\nid: 7\nevent: queue.held\ndata: {"queue":\ndata: "é"}\n\ndata:x\r\n\r\nevent: empty\n\n';

test('events are read, comments and events without data are passed over', () => {
  assert.deepEqual(new EventReader().take(stream), [
    { type: 'queue.held', data: '{"queue":\n"é"}', id: '7' },
    { type: 'message', data: 'x', id: '7' },
  ]);
});

test('it does not matter where a stream is cut', () => {
  const whole = new EventReader().take(stream);
  for (let cut = 0; cut <= stream.length; ++cut) {
    const reader = new EventReader();
    assert.deepEqual([...reader.take(stream.slice(0, cut)), ...reader.take(stream.slice(cut))], whole, `at ${cut}`);
  }
});

// -- figures ------------------------------------------------------------------

const sample = (seconds, done, waiting = 0) => ({ at: seconds * 1000, waiting, inFlight: 0, dead: 0, done });

test('a rate is that of the last ten seconds, and unknown before there are two looks', () => {
  const samples = new Samples();
  assert.equal(samples.rate(), null);
  samples.add(sample(0, 100));
  assert.equal(samples.rate(), null);
  samples.add(sample(2, 110));
  assert.equal(samples.rate(), 5);
  for (let second = 4; second <= 60; second += 2)
    samples.add(sample(second, 110));
  assert.equal(samples.rate(), 0);
});

test('what is removed from a queue is no negative rate, and what is not counted no rate', () => {
  const samples = new Samples();
  samples.add(sample(0, 100));
  samples.add(sample(12, 3));
  assert.equal(samples.rate(), 0);
  const unknown = new Samples();
  unknown.add(sample(0, null));
  unknown.add(sample(12, null));
  assert.equal(unknown.rate(), null);
});

test('an hour is kept, of looks that are at least 4.5 s apart', () => {
  const samples = new Samples();
  for (let second = 0; second < 7200; second += 2)
    samples.add(sample(second, second));
  assert.ok(samples.rows.length <= 802, `${samples.rows.length} rows`);
  assert.equal(samples.rows.at(-1).at, 7_198_000);
  assert.ok(samples.since > 3_590_000 && samples.since < 3_610_000, `${samples.since}`);
  const [times, rates] = samples.columns(['rate']);
  assert.equal(times.length, rates.length);
  assert.ok(rates.slice(1).every((perSecond) => perSecond === 1));
});

test('each kind of queue has the same figures', () => {
  const counts = { pending: 1, processing: 3, awaitingAck: 3, completed: 4, dead: 5, inFlight: 2 };
  assert.deepEqual(sampleOfPush({ counts }, 9), { at: 9, waiting: 2, inFlight: 5, dead: 5, done: 4 });
  const queue = { depth: 1, in_flight: 5, dlq_count: 5 };
  assert.deepEqual(sampleOfPull(queue, { acked_total: 4 }, 9), { at: 9, waiting: 1, inFlight: 5, dead: 5, done: 4 });
  assert.equal(sampleOfPull(queue, undefined, 9).done, null);
});

// -- words --------------------------------------------------------------------

test('spans, rates and times are said in the units that fit', () => {
  assert.deepEqual([0, 0.2, 59, 60, 3599, 3661, 90_000, null].map(span),
    ['0 s', '1 s', '59 s', '1 min', '59 min 59 s', '1 h 1 min', '1 d 1 h', '–']);
  assert.deepEqual([null, 0, 0.5, 12.34].map(rate), ['–', '0/s', '30/min', '12.3/s']);
  const now = Date.parse('2026-01-01T00:01:00Z');
  assert.deepEqual(['2026-01-01T00:00:00Z', '2026-01-01T00:01:00.5Z', '2026-01-01T00:01:30Z'].map((at) => ago(at, now)),
    ['1 min ago', 'now', 'in 30 s']);
  assert.equal(bytes('1'), '1 byte');
  assert.equal(bytes('é€'), '5 bytes');
  assert.equal(words('retry_after_exceeds_lifetime'), 'retry after exceeds lifetime');
});
