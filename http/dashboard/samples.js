// What this page has seen of a queue in the last hour, and rates out of it. Pure:
// times are given. The server keeps no such history, so it begins when the page
// does.

const hourMs = 3_600_000;
const apartMs = 4_500;
const rateMs = 10_000;

/**
 * One queue's figures over time, at most one for each 4.5 s of an hour. A sample
 * is `{at, waiting, inFlight, dead, done}`, `at` in Unix milliseconds; `done`
 * counts up.
 */
export class Samples {
  rows = [];

  /** Takes one. The newest is always there, however soon it comes. */
  add(sample) {
    const { rows } = this;
    if (rows.length > 1 && rows.at(-1).at - rows.at(-2).at < apartMs)
      rows.pop();
    rows.push(sample);
    const first = rows.findIndex(({ at }) => at > sample.at - hourMs);
    if (first > 0)
      rows.splice(0, first);
  }

  get since() {
    return this.rows[0]?.at ?? null;
  }

  /** Returns how many were done a second over the last ten; `null`: not known. */
  rate() {
    const last = this.rows.at(-1);
    const from = this.rows.findLast(({ at }) => at <= (last?.at ?? 0) - rateMs) ?? this.rows[0];
    return from === undefined || from === last ? null : perSecond(from, last);
  }

  /** Returns columns for a chart: seconds, then a list for each of `names`. */
  columns(names) {
    const columnOf = (name) => (name === 'rate'
      ? this.rows.map((row, n) => (n === 0 ? null : perSecond(this.rows[n - 1], row)))
      : this.rows.map((row) => row[name]));
    return [this.rows.map(({ at }) => at / 1000), ...names.map(columnOf)];
  }
}

/** What was removed from a queue counts down; that is no negative rate. */
function perSecond(from, to) {
  if (from.done === null || to.done === null)
    return null;
  const seconds = (to.at - from.at) / 1000;
  return seconds > 0 ? Math.max(0, (to.done - from.done) / seconds) : 0;
}

/**
 * Returns how many jobs wait and how many take a slot. A job is `processing` while
 * it is delivered, and also while it waits to be delivered again.
 */
export function loadOf({ pending, processing, awaitingAck, inFlight }) {
  return { waiting: pending + processing - inFlight, inFlight: inFlight + awaitingAck };
}

export function sampleOfPush({ counts }, at) {
  return { at, ...loadOf(counts), dead: counts.dead, done: counts.completed };
}

/** `stats` may be missing: then how many were done is not known. */
export function sampleOfPull(queue, stats, at) {
  return {
    at,
    waiting: queue.depth,
    inFlight: queue.in_flight,
    dead: queue.dlq_count,
    done: stats?.acked_total ?? null,
  };
}
