// Publishers and workers of pull queues who go on whatever happens to the server,
// and know of each message what may have become of it.

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

import { Queue } from './pull.mjs';
import { until } from './time.mjs';

const groups = 4;
const workers = 3;

/** What is known of a message, by the number in its payload. */
class Track {
  /** The group, where there is one. */
  group = undefined;

  /** When it was published and when its publisher was answered, by `steps`. */
  sent = 0;

  answered = Infinity;

  receives = 0;

  /** Whether somebody has said that it is done, and whether that was answered. */
  ackSent = false;

  acked = false;

  /** The redrives and receives of its last receive, and when that lease ends. */
  count = [0, 0];

  leasedUntil = 0;
}

/** Those who use one queue. A `fifo` one has groups, and no dead letters. */
class PullUsers {
  constructor(api, random, name, settings) {
    this.api = api;
    this.random = random;
    this.queue = new Queue(api, name);
    this.dead = new Queue(api, `${name}.dlq`);
    this.settings = settings;
    this.fifo = settings.type === 'fifo';
    this.tracks = [];
    this.steps = 0;
    this.stopped = false;
  }

  create() {
    return this.queue.create({ visibility_timeout_default: 1, ...this.settings });
  }

  async remove() {
    for (const { name } of [this.queue, this.dead])
      await this.api.send('DELETE', `/v1/queue/delete/${name}?force=true`);
  }

  /** Makes a call. Returns what it says; nothing where there was no answer. */
  async try(path, body) {
    const answer = await this.queue.send('POST', path, body).catch(() => undefined);
    assert.notEqual(answer?.status, 500, answer?.text);
    return answer?.status < 300 ? answer.json.data : undefined;
  }

  track(group) {
    const n = this.tracks.push(Object.assign(new Track(), { group, sent: ++this.steps })) - 1;
    return { n, fields: group === undefined ? {} : { message_group_id: `group ${group}` } };
  }

  accept(n) {
    this.tracks[n].answered = ++this.steps;
  }

  /** Publishes; a publisher of a group waits for the answer before the next. */
  async publish(group) {
    const { n, fields } = this.track(group);
    const told = await this.try('publish', { queue: this.queue.name, payload: { n }, ...fields });
    if (told)
      this.accept(n);
  }

  /** Receives some and says of each what became of it. */
  async work(mended) {
    const asked = Date.now();
    const told = await this.try('consume', { queue: this.queue.name, max_messages: mended ? 10 : 3 });
    for (const message of told?.items ?? [])
      this.note(message, asked);
    for (const message of told?.items ?? [])
      await this.settle(message, mended ? 1 : this.random());
    return told?.items.length ?? 0;
  }

  note({ payload: { n }, delivery_count, redrive_count, visible_at }, asked) {
    const track = this.tracks[n];
    const what = `message ${n} of ${this.queue.name}: ${JSON.stringify(track)}`;
    assert.ok(track, `message ${n} that nobody published`);
    assert.ok(!track.acked || asked < track.ackedAt, `received after its ack: ${what}`);
    assert.ok(track.leasedUntil <= Date.now(), `received while it was leased: ${what}`);
    const [redrives, receives] = track.count;
    assert.ok(redrive_count > redrives || (redrive_count === redrives && delivery_count > receives),
      `its receives do not grow: ${redrive_count}, ${delivery_count}: ${what}`);
    if (this.fifo && track.receives === 0)
      this.checkTurn(n, track.group);
    ++track.receives;
    track.count = [redrive_count, delivery_count];
    track.leasedUntil = Date.parse(visible_at);
  }

  /** All of the group whose publish had ended before this one began are done. */
  checkTurn(n, group) {
    const { sent } = this.tracks[n];
    const early = this.tracks.findIndex((track) => (
      track.group === group && track.answered < sent && !track.ackSent));
    assert.equal(early, -1, `message ${n} of ${this.queue.name} came before ${early} of its group was done`);
  }

  async settle({ payload: { n }, message_id, receipt_handle }, lot) {
    const track = this.tracks[n];
    const body = { queue: this.queue.name, message_id, receipt_handle };
    if (lot < 0.05)
      return; // its worker died
    if (lot < 0.2) {
      const isNack = lot < 0.15;
      track.leasedUntil = 0;
      track.count[1] -= isNack ? 0 : 1; // what is given back does not count
      await this.try(isNack ? 'nack' : 'release', body);
      return;
    }
    track.ackSent = true;
    track.leasedUntil = 0;
    const next = lot < 0.35 ? this.track(this.fifo ? Math.floor(this.random() * groups) : undefined) : undefined;
    if (next)
      Object.assign(body, { publish: { queue: this.queue.name, payload: { n: next.n }, ...next.fields } });
    const told = await this.try('ack', body);
    if (told === undefined)
      return;
    track.acked = true;
    track.ackedAt = Date.now();
    if (next)
      this.accept(next.n);
  }

  start() {
    const loop = async (act, pause) => {
      try {
        while (!this.stopped) {
          await act();
          await sleep(this.random() * pause);
        }
      } catch (failure) {
        this.failure ??= failure;
      }
    };
    const publishers = Array.from({ length: groups }, (_, group) => (
      loop(() => this.publish(this.fifo ? group : undefined), 40)));
    this.loops = [
      ...publishers,
      ...Array.from({ length: workers }, () => loop(() => this.work(false), 15)),
      loop(() => this.try(`dlq/redrive/${this.queue.name}`, {}), 1500),
    ];
  }

  async stop() {
    this.stopped = true;
    await Promise.all(this.loops);
    if (this.failure)
      throw this.failure;
  }

  /** Takes everything that is left, and checks that it was all that there was. */
  async finish(say) {
    await until(`${this.queue.name} is empty`, 60, async () => {
      await this.try(`dlq/redrive/${this.queue.name}`, {});
      while (await this.work(true) > 0)
        ;
      const { depth, in_flight, dlq_count } = await this.queue.stats();
      return depth + in_flight + dlq_count === 0;
    });
    const numbers = [...this.tracks.keys()];
    const lost = numbers.filter((n) => this.tracks[n].answered < Infinity && !this.tracks[n].ackSent);
    assert.deepEqual(lost, [], `lost in ${this.queue.name}`);
    const count = (wanted) => this.tracks.filter(wanted).length;
    const done = count(({ ackSent }) => ackSent);
    const { acked_total } = await this.queue.stats();
    assert.equal(acked_total, done, 'not as many acks as messages');
    const accepted = count(({ answered }) => answered < Infinity);
    say(`${this.queue.name}: ${accepted} published, ${this.tracks.length - accepted} unanswered; `
      + `${done} done, ${count(({ acked }) => acked)} of them answered`);
  }
}

/** Users of a standard queue and of a fifo one. */
export function pullUsers(api, random) {
  return [
    new PullUsers(api, random, 'messages', { type: 'standard', max_receive_count: 3 }),
    new PullUsers(api, random, 'ledger', { type: 'fifo', max_receive_count: 0 }),
  ];
}
