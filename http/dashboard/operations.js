// What runs for a while, and how far it has come.

import { useEffect, useState } from './hooks.js';
import { get, path } from './api.js';
import { stopOperation } from './actions.js';
import { count, words } from './format.js';
import { refresh, useAnswer } from './live.js';
import { announce, Heading, html, Problem, Table, When } from './ui.js';

const pollMs = 500;

const kinds = { dlq_replay: 'Replay', redrive: 'Redrive' };
const nameOf = ({ kind }) => kinds[kind] ?? words(kind);

function Bar({ operation }) {
  const { total, done, state } = operation;
  const label = `${nameOf(operation)}, ${count(done)} of ${count(total)}`;
  return html`<span class="bar">
    <progress max=${Math.max(total, 1)} value=${state === 'done' && total === 0 ? 1 : done} aria-label=${label}></progress>
    ${count(done)} of ${count(total)}, ${state}
  </span>`;
}

/** Follows one operation to its end. `started` is what the server said first. */
export function Progress({ started }) {
  const [operation, setOperation] = useState(started);
  const [error, setError] = useState(null);
  const isRunning = operation.state === 'running';
  useEffect(() => {
    if (!isRunning)
      return undefined;
    let isOver = false;
    const timer = setInterval(async () => {
      try {
        const { json } = await get(path`/v1/operations/${started.id}`);
        if (isOver)
          return;
        setOperation(json);
        if (json.state !== 'running') {
          announce(`${nameOf(json)} of ${json.queue}: ${json.state}, ${count(json.done)} of ${count(json.total)}.`);
          refresh();
        }
      } catch (failure) {
        setError(failure);
      }
    }, pollMs);
    return () => {
      isOver = true;
      clearInterval(timer);
    };
  }, [started.id, isRunning]);
  return html`
    <p class="line"><${Bar} operation=${operation} />
      ${isRunning && html` <button type="button" onClick=${() => stopOperation(operation)}>Stop</button>`}</p>
    ${operation.error && html`<p class="problem"><bdi>${operation.error}</bdi></p>`}
    <${Problem} error=${error} />`;
}

const columns = [
  { title: 'Operation', head: true, cell: ({ id }) => html`<span class="id">${id}</span>` },
  { title: 'Kind', cell: nameOf },
  { title: 'Queue', cell: ({ queue }) => html`<bdi>${queue ?? '–'}</bdi>` },
  { title: 'Progress', cell: (operation) => html`<${Bar} operation=${operation} />` },
  { title: 'Started', cell: ({ startedAt }) => html`<${When} at=${startedAt} />` },
  { title: 'Finished', cell: ({ finishedAt }) => html`<${When} at=${finishedAt} />` },
  {
    title: 'Do', cell: (operation) => (operation.state === 'running'
      ? html`<button type="button" onClick=${() => stopOperation(operation)}>Stop<span class="hidden"> ${operation.id}</span></button>` : '–'),
  },
];

export function Operations() {
  const { json, error } = useAnswer('/v1/operations?limit=100');
  return html`
    <${Heading} title="Operations">Operations<//>
    <p class="quiet">The newest 100 replays and redrives of this project.</p>
    <${Problem} error=${error} />
    <${Table} caption="Operations, newest first" columns=${columns} rows=${json?.items ?? []} keyOf=${({ id }) => id}
      empty=${json ? 'There were none.' : 'Looking …'} />`;
}
