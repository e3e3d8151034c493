// What Prometheus sees of a real process, checked by its own tool.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { startOutage, wasted } from './support/outage.mjs';
import { startServer } from './support/server.mjs';
import { patience, until } from './support/time.mjs';

const timeout = 120_000 * patience;
const promtool = process.env.PROMTOOL ?? 'promtool';

/** Asks for metrics without a key. Returns the text. */
async function scrape(url, headers = {}) {
  const response = await fetch(`${url}/metrics`, { headers });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
  return response.text();
}

/** Returns the values by series, as they are written. */
function valuesOf(text) {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => {
    const cut = line.lastIndexOf(' ');
    return [line.slice(0, cut), Number(line.slice(cut + 1))];
  }));
}

const series = (name, queue, more = '') =>
  `${name}{project="default",queue="${queue}",kind="push"${more}}`;

test('promtool finds nothing wrong with any of them', { timeout }, async (t) => {
  const { api } = await startServer(t);
  await api.createQueue('q', { webhookUrl: 'http://127.0.0.1:9/', maxAttempts: 1 });
  await api.publish('q', 1);
  await api.ask('POST', '/v1/queue/publish', { queue: 'out', payload: 1 });
  await until('a dead job', 10, async () => (await api.queue('q')).counts.dead === 1);
  const { status, stdout, stderr, error } = spawnSync(promtool, ['check', 'metrics'],
    { input: await scrape(api.url), encoding: 'utf8' });
  assert.equal(error, undefined, 'promtool is there, see ./dev');
  assert.equal(status, 0, stdout + stderr);
  assert.equal(stdout + stderr, '');
});

test('alerts and dashboard name only what there is', { timeout }, async (t) => {
  const { api } = await startServer(t);
  const text = await scrape(api.url);
  const there = new Set([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name, type]) =>
    (type === 'histogram' ? ['bucket', 'sum', 'count'].map((part) => `${name}_${part}`) : [name])));
  for (const file of ['alerts.yml', 'grafana-dashboard.json']) {
    const named = readFileSync(new URL(`../../config/${file}`, import.meta.url), 'utf8')
      .match(/\b(tidegate|process)_[a-z_]+\b/g);
    assert.ok(named.length > 5);
    for (const name of named)
      assert.ok(there.has(name), `${file} names ${name}`);
  }
});

test('after an outage the figures are those of the outage', { timeout }, async (t) => {
  const server = await startServer(t);
  const { receiver } = await startOutage(t, server, { jobs: 200, seconds: 3, retryAfter: 1 });
  await server.api.resume('outage');
  await until('a held gate', 5, async () => valuesOf(await scrape(server.api.url))
    .get(series('tidegate_queue_gate_state', 'outage', ',state="held"')) === 1);
  await until('all done', 30, async () => (await server.api.queue('outage')).counts.completed === 200);
  const values = valuesOf(await scrape(server.api.url));
  const of = (name, more) => values.get(series(`tidegate_queue_${name}`, 'outage', more));
  const refused = wasted(receiver);
  assert.equal(of('deliveries_total', ',outcome="deferred",status_class="4xx"'), refused);
  assert.equal(of('deliveries_total', ',outcome="success",status_class="2xx"'), 200);
  assert.equal(of('defers_total'), refused);
  assert.equal(of('published_total'), 200);
  assert.equal(of('completed_total'), 200);
  assert.equal(of('dead_total', ',reason="attempts_exhausted"'), 0);
  assert.equal(of('probes_total', ',verdict="success"'), 1);
  // 16 were out when the first was refused, all others were probes.
  assert.equal(of('probes_total', ',verdict="deferred"'), refused - 16);
  assert.ok(of('held_seconds_total') >= 2 && of('held_seconds_total') < 10);
  assert.equal(of('jobs', ',state="pending"'), 0);
  assert.equal(values.get('tidegate_delivery_duration_seconds_count'), 200 + refused);
  assert.equal(values.get('tidegate_publish_duration_seconds_count'), 200);
  assert.ok(values.get('tidegate_commit_duration_seconds_count') > 0);
  assert.ok(values.get('tidegate_wal_bytes') > 0);
  assert.ok(values.get('tidegate_actors') > 5);
  assert.ok(values.get('process_resident_memory_bytes') > 1e6);
  assert.ok(Math.abs(values.get('process_start_time_seconds') - Date.now() / 1000) < 120);
});

test('open from the machine itself, and not through a proxy on it', { timeout }, async (t) => {
  const { api } = await startServer(t);
  await scrape(api.url);
  for (const name of ['forwarded', 'x-forwarded-for', 'x-real-ip', 'via']) {
    const response = await fetch(`${api.url}/metrics`, { headers: { [name]: '127.0.0.1' } });
    assert.equal(response.status, 401, name);
  }
  const bad = await fetch(`${api.url}/metrics`, { headers: { authorization: 'Bearer sq_live_no' } });
  assert.equal(bad.status, 401);
});

test('a key sees its own project, one with admin sees everything', { timeout }, async (t) => {
  const { api } = await startServer(t);
  await api.createQueue('q', { webhookUrl: 'http://127.0.0.1:9/' });
  const make = async (scopes) => (await api.ask('POST', '/v1/keys', { project: 'acme', scopes })).key;
  const seen = async (scopes) => scrape(api.url, { authorization: `Bearer ${await make(scopes)}` });
  assert.doesNotMatch(await seen(['read']), /queue="q"|process_|tidegate_commit/);
  assert.match(await seen(['read', 'admin']), /queue="q"/);
  const response = await fetch(`${api.url}/metrics`, { headers: { authorization: `Bearer ${await make(['publish'])}` } });
  assert.equal(response.status, 403);
});

test('queues beyond --metrics-queues are summed up as other', { timeout }, async (t) => {
  const { api } = await startServer(t, { flags: ['--allow-target', '127.0.0.0/8', '--metrics-queues', '2'] });
  for (const name of ['a', 'b', 'c', 'd'])
    await api.createQueue(name, { webhookUrl: 'http://127.0.0.1:9/' });
  await api.pause('d');
  const values = valuesOf(await scrape(api.url));
  assert.equal(values.get(series('tidegate_queue_paused', 'b')), 0);
  assert.equal(values.get(series('tidegate_queue_paused', 'c')), undefined);
  assert.equal(values.get('tidegate_queue_paused{project="",queue="other",kind="push"}'), 1);
});

test('a scrape of 1000 queues does not stall the server', { timeout }, async (t) => {
  const { api } = await startServer(t);
  const names = Array.from({ length: 1000 }, (_, i) => `q${i}`);
  for (let i = 0; i < names.length; i += 50)
    await Promise.all(names.slice(i, i + 50).map((name) =>
      api.createQueue(name, { webhookUrl: 'http://127.0.0.1:9/' })));
  await scrape(api.url);
  const began = performance.now();
  const scraping = scrape(api.url).then((text) => ({ text, took: performance.now() - began }));
  let slowest = 0;
  let done = false;
  scraping.finally(() => { done = true; });
  while (!done) {
    const from = performance.now();
    await api.send('GET', '/healthz', undefined, {});
    slowest = Math.max(slowest, performance.now() - from);
  }
  const { text, took } = await scraping;
  assert.equal(text.match(/^tidegate_queue_paused/gm).length, 1000);
  t.diagnostic(`${Math.round(text.length / 1024)} KiB in ${Math.round(took)} ms, others waited ${Math.round(slowest)} ms at most`);
  assert.ok(slowest < 5000, `a call took ${slowest} ms`);
});
