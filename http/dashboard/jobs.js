// The jobs of a push queue: how many in which status, and a list to filter.

import { useEffect, useState } from './hooks.js';
import { get, path, query } from './api.js';
import { count, words } from './format.js';
import { useAnswer } from './live.js';
import { html, Problem, Table, When } from './ui.js';

const limit = 50;

export const deadReasons = ['attempts_exhausted', 'nack_not_retryable', 'defer_cap_exhausted',
  'retry_after_exceeds_lifetime', 'lifetime_exceeded', 'ack_timeout', 'cancelled'];

const figures = [['pending', 'pending'], ['processing', 'processing'], ['awaiting_ack', 'awaitingAck'],
  ['completed', 'completed'], ['dead', 'dead']];

export const JobStatus = ({ status }) => html`<span class=${`status ${status}`}>${words(status)}</span>`;

const columns = [
  { title: 'Job', head: true, cell: ({ id }) => html`<a class="id" href=${`#/jobs/${id}`}>${id}</a>` },
  { title: 'Status', cell: ({ status }) => html`<${JobStatus} status=${status} />` },
  { title: 'Attempts', numeric: true, cell: ({ attempts, maxAttempts }) => `${count(attempts)} of ${count(maxAttempts)}` },
  { title: 'Defers', numeric: true, cell: ({ deferCount }) => count(deferCount) },
  { title: 'Limit key', cell: ({ limitKey }) => html`<bdi>${limitKey ?? '–'}</bdi>` },
  {
    title: 'Why', cell: ({ deadReason, blockedBy }) => (deadReason
      ? words(deadReason) : (blockedBy ?? []).map(({ gate }) => words(gate)).join(', ') || '–'),
  },
  { title: 'Created', cell: ({ createdAt }) => html`<${When} at=${createdAt} />` },
];

/** Jobs by status; each is a filter of the list. */
export function Counts({ counts, status, onChoose }) {
  return html`<ul class="counts" aria-label="Jobs by status">
    ${figures.map(([name, figure]) => html`<li key=${name}>
      <button type="button" aria-pressed=${status === name} onClick=${() => onChoose(status === name ? '' : name)}>
        <b>${count(counts[figure])}</b> ${words(name)}
      </button></li>`)}
  </ul>`;
}

/** Fields that narrow a list. `onFilter` is handed their values. */
export function Filter({ label, children, onFilter }) {
  const submit = (event) => {
    event.preventDefault();
    onFilter(Object.fromEntries(new FormData(event.target)));
  };
  return html`
    <form class="filter" aria-label=${label} onSubmit=${submit}>
      ${children}
      <button type="submit">Filter</button>
    </form>`;
}

export const Input = ({ name, label, ...rest }) => html`
  <label>${label} <input name=${name} ...${rest} /></label>`;

export function Choice({ name, label, options }) {
  return html`<label>${label}
    <select name=${name}><option value="">any</option>
      ${options.map((option) => html`<option key=${option} value=${option}>${words(option)}</option>`)}
    </select></label>`;
}

/** A time of the browser's, for the API; empty where there is none. */
export const asInstant = (local) => (local ? new Date(local).toISOString() : '');

/**
 * A list that goes on: its first page is kept up to date until more is asked for.
 * `rowsOf(json, text)` and `cursorOf(json)` take a page apart.
 */
export function usePages(where, fields, rowsOf, cursorOf) {
  const first = `${where}${query({ ...fields, limit })}`;
  const [more, setMore] = useState({ of: first, pages: [] });
  const isMore = more.of === first && more.pages.length > 0;
  const head = useAnswer(first, { once: isMore });
  const [error, setError] = useState(null);
  useEffect(() => setMore({ of: first, pages: [] }), [first]);
  const pages = head.json ? [head, ...(isMore ? more.pages : [])] : [];
  const cursor = pages.length > 0 ? cursorOf(pages.at(-1).json) : null;
  const next = async () => {
    try {
      const page = await get(`${where}${query({ ...fields, limit, cursor })}`);
      setMore(({ of, pages: old }) => (of === first ? { of, pages: [...old, page] } : { of, pages: old }));
      setError(null);
    } catch (failure) {
      setError(failure);
    }
  };
  const rows = pages.flatMap(({ json, text }) => rowsOf(json, text));
  return { rows, isReady: pages.length > 0, error: error ?? head.error, next: cursor ? next : null };
}

export const More = ({ next }) => (next
  ? html`<p><button type="button" onClick=${next}>Show more</button></p>` : null);

export function Jobs({ queue }) {
  const [status, setStatus] = useState('');
  const [filter, setFilter] = useState({});
  const { since, ...others } = filter;
  const list = usePages(path`/v1/queues/${queue.name}/jobs`, { status, ...others, since: asInstant(since) },
    ({ items }) => items, ({ nextCursor }) => nextCursor);
  return html`
    <section aria-labelledby="jobs">
      <h2 id="jobs">Jobs</h2>
      <${Counts} counts=${queue.counts} status=${status} onChoose=${setStatus} />
      <${Filter} label="Filter jobs" onFilter=${setFilter}>
        <${Input} name="limitKey" label="Limit key" maxlength="128" />
        <${Input} name="idempotencyKey" label="Idempotency key" maxlength="255" />
        <${Choice} name="reason" label="Dead because" options=${deadReasons} />
        <${Input} name="since" label="Created since" type="datetime-local" />
      <//>
      <${Problem} error=${list.error} />
      <${Table} caption="Jobs, newest first" columns=${columns} rows=${list.rows} keyOf=${({ id }) => id}
        empty=${list.isReady ? 'No such jobs.' : 'Looking …'} />
      <${More} next=${list.next} />
    </section>`;
}

export { columns as jobColumns };
