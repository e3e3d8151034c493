// What is known of all queues, kept up to date: events of the server say when to
// look again, and a look every few seconds brings the counts. Where there are no
// events it looks more often, where looks take long less often.

import { useEffect, useState } from './hooks.js';
import { get, open, path } from './api.js';
import { isUnderHold, stateOf } from './gate.js';
import { Samples, sampleOfPull, sampleOfPush } from './samples.js';
import { readEvents } from './sse.js';
import { announce } from './ui.js';

const pollMs = 2000;
const pollWithEventsMs = 5000;
const eventDelayMs = 250;

/** How much of the time it looks, at most, where there are many events. */
const lookingShare = 1 / 20;

const reconnectMs = 2000;
const noEventsMs = 15_000;
const silentMs = 60_000;

/** Most queues of a kind that are looked at. */
export const queuesMax = 1000;

/** Most pull queues whose totals are asked for, one call each. */
const statsMax = 20;

class Live {
  push = [];
  pull = [];
  /** Whether there are more queues than are looked at. */
  isCut = false;
  /** When everything was looked at last, Unix milliseconds. */
  at = null;
  /** What the last look failed with. */
  error = null;
  hasEvents = false;
  samples = new Map();
  startedAt = Date.now();

  #listeners = new Set();
  #timer;
  #due = Infinity;
  /** How long after a look the next one begins at the earliest. */
  #pauseMs = 0;
  #stop = new AbortController();
  #looking = null;
  #again = false;

  start() {
    this.look();
    this.#follow();
  }

  stop() {
    clearTimeout(this.#timer);
    this.#stop.abort();
  }

  subscribe(f) {
    this.#listeners.add(f);
    return () => this.#listeners.delete(f);
  }

  samplesOf(kind, name) {
    const key = `${kind} ${name}`;
    if (!this.samples.has(key))
      this.samples.set(key, new Samples());
    return this.samples.get(key);
  }

  /** Looks at everything now. A look that is under way is followed by another. */
  look() {
    clearTimeout(this.#timer);
    this.#due = Infinity;
    this.#again = this.#looking !== null;
    this.#looking ??= this.#lookOnce().finally(() => {
      this.#looking = null;
      if (this.#again)
        this.look();
      else
        this.#lookIn(this.hasEvents ? pollWithEventsMs : pollMs);
    });
    return this.#looking;
  }

  /** Looks after so long, or sooner where it is to be sooner anyway. */
  #lookIn(milliseconds) {
    const wait = Math.max(milliseconds, this.#pauseMs);
    const due = performance.now() + wait;
    if (due >= this.#due || this.#stop.signal.aborted)
      return;
    clearTimeout(this.#timer);
    this.#due = due;
    this.#timer = setTimeout(() => this.look(), wait);
  }

  async #lookOnce() {
    const from = performance.now();
    try {
      const [push, pull] = await Promise.all([
        get(`/v1/queues?limit=${queuesMax}`), get(`/v1/queue/list?limit=${queuesMax}`)]);
      const { items } = pull.json.data;
      const stats = await Promise.all(items.slice(0, statsMax).map(({ name }) => (
        get(path`/v1/queue/stats/${name}`).then(({ json }) => json.data, () => undefined))));
      this.#take(push.json.items, items, stats);
      this.isCut = push.json.nextCursor !== null || pull.json.data.next_cursor !== null;
      this.error = null;
    } catch (failure) {
      this.error = failure;
    }
    this.#pauseMs = Math.min((performance.now() - from) / lookingShare, pollWithEventsMs);
    if (!this.#stop.signal.aborted)
      this.#listeners.forEach((f) => f());
  }

  #take(push, pull, stats) {
    this.at = Date.now();
    push.forEach((queue) => this.samplesOf('push', queue.name).add(sampleOfPush(queue, this.at)));
    pull.forEach((queue, n) => this.samplesOf('pull', queue.name).add(sampleOfPull(queue, stats[n], this.at)));
    const there = new Set([...push.map(({ name }) => `push ${name}`), ...pull.map(({ name }) => `pull ${name}`)]);
    for (const key of this.samples.keys())
      if (!there.has(key))
        this.samples.delete(key);
    tellChanges(this.push, push);
    this.push = push;
    this.pull = pull;
  }

  /** Follows the server's events for as long as there are some to follow. */
  async #follow() {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      let wait = noEventsMs;
      try {
        const response = await open('/v1/events', { signal, headers: { accept: 'text/event-stream' } });
        if (response.ok && response.headers.get('content-type')?.startsWith('text/event-stream')) {
          this.hasEvents = true;
          wait = reconnectMs;
          this.look();
          await readEvents(response, () => this.#lookIn(eventDelayMs), silentMs);
        }
      } catch {
        // the connection is gone
      }
      this.hasEvents = false;
      if (!signal.aborted)
        await new Promise((done) => { setTimeout(done, wait); });
    }
  }
}

/** Says which gates have moved. */
function tellChanges(before, after) {
  const states = new Map(before.map((queue) => [queue.name, stateOf(queue)]));
  const moved = after.filter((queue) => states.has(queue.name) && states.get(queue.name) !== stateOf(queue)
    // Between probes it goes to and fro.
    && !(isUnderHold(states.get(queue.name)) && isUnderHold(stateOf(queue))));
  if (moved.length > 0)
    announce(moved.slice(0, 3).map((queue) => `Queue ${queue.name} is ${stateOf(queue)}.`).join(' '));
}

let live = null;

export function startLive() {
  live?.stop();
  live = new Live();
  live.start();
}

export function stopLive() {
  live?.stop();
  live = null;
}

/** Returns what is known, again whenever there is something new. */
export function useLive() {
  const [, setTurn] = useState(0);
  useEffect(() => live?.subscribe(() => setTurn((turn) => turn + 1)), []);
  return live ?? new Live();
}

/** Looks at everything now; resolves when that is shown. */
export const refresh = () => live?.look();

/**
 * Reads `what`, a path, and again with every look at the queues unless `once`.
 * Returns `{json, text, error, reload}`.
 */
export function useAnswer(what, { once = false } = {}) {
  const [answer, setAnswer] = useState({});
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    setAnswer({});
  }, [what]);
  useEffect(() => {
    let isOver = false;
    let isBusy = false;
    const read = async () => {
      if (isBusy)
        return;
      isBusy = true;
      try {
        const { json, text } = await get(what);
        if (!isOver)
          setAnswer({ json, text });
      } catch (error) {
        if (!isOver)
          setAnswer((old) => ({ ...old, error }));
      }
      isBusy = false;
    };
    read();
    const leave = once ? undefined : live?.subscribe(read);
    return () => {
      isOver = true;
      leave?.();
    };
  }, [what, once, turn]);
  return { ...answer, reload: () => setTurn((n) => n + 1) };
}
