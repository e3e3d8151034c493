// Dead letters, of push queues and of pull queues: look, try what a replay would
// take, replay, and watch it.

import { useState } from './hooks.js';
import { call, path } from './api.js';
import { replay, replayMany } from './actions.js';
import { bytes, count, words } from './format.js';
import { asInstant, Choice, deadReasons, Filter, Input, JobStatus, More, usePages } from './jobs.js';
import { useLive } from './live.js';
import { Progress } from './operations.js';
import { sliceJson } from './raw_json.js';
import { Heading, html, Problem, Table, Verbatim, When } from './ui.js';

/** Runs the dry run of `spec`, and what it is for. */
function Replay({ spec, filter }) {
  const [found, setFound] = useState(null);
  const [error, setError] = useState(null);
  const [operation, setOperation] = useState(null);
  const body = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ''));
  const key = JSON.stringify(body);
  const tryIt = async () => {
    try {
      const { json, text } = await call('POST', spec.where, { ...body, [spec.dryRun]: true });
      setFound({ key, ...(json.data ?? json), text });
      setError(null);
    } catch (failure) {
      setError(failure);
    }
  };
  const things = (n) => (n === 1 ? spec.thing : spec.things);
  const isFresh = found?.key === key;
  const start = () => replayMany({
    verb: spec.verb, count: `${count(found.count)} ${things(found.count)}`, where: spec.where, body, rate: spec.rate,
    onStarted: (started) => {
      setFound(null);
      setOperation(started);
    },
  });
  return html`
    <section class="panel" aria-labelledby="replay">
      <h2 id="replay">${spec.verb} what the filter lets through</h2>
      <p class="actions">
        <button type="button" onClick=${tryIt}>Dry run</button>
        ${isFresh && found.count > 0 && html`<button type="button" class="primary" onClick=${start}>
          ${spec.verb} ${count(found.count)} …</button>`}
      </p>
      <${Problem} error=${error} />
      <div role="status">${isFresh && html`
        <p>It would take <b>${count(found.count)}</b> ${things(found.count)}${found.count === 0 ? '.' : ', these among them:'}</p>
        <ul class="sample">${found.sample.slice(0, 10).map((item) => html`<li key=${spec.idOf(item)}>${spec.link(item)}</li>`)}</ul>`}
      </div>
      ${operation && html`<${Progress} key=${operation.id} started=${operation} />`}
    </section>`;
}

// -- push queues --------------------------------------------------------------

const jobLink = ({ id }) => html`<a class="id" href=${`#/jobs/${id}`}>${id}</a>`;

const jobColumns = [
  { title: 'Job', head: true, cell: jobLink },
  { title: 'Status', cell: ({ status }) => html`<${JobStatus} status=${status} />` },
  { title: 'Because', cell: ({ deadReason }) => words(deadReason) },
  { title: 'Attempts', numeric: true, cell: ({ attempts }) => count(attempts) },
  { title: 'Limit key', cell: ({ limitKey }) => html`<bdi>${limitKey ?? '–'}</bdi>` },
  { title: 'Dead since', cell: ({ deadAt }) => html`<${When} at=${deadAt} />` },
  { title: 'Do', cell: ({ id }) => html`<button type="button" onClick=${() => replay(id)}>Replay<span class="hidden"> ${id}</span></button>` },
];

export function DeadJobs({ name }) {
  const [filter, setFilter] = useState({});
  const { since, until, ...rest } = filter;
  const fields = { ...rest, since: asInstant(since), until: asInstant(until) };
  const list = usePages(path`/v1/queues/${name}/dlq`, fields, ({ items }) => items, ({ nextCursor }) => nextCursor);
  const spec = {
    verb: 'Replay', thing: 'dead job', things: 'dead jobs', where: path`/v1/queues/${name}/dlq/replay`, dryRun: 'dryRun', rate: 'perSecond',
    idOf: ({ id }) => id, link: jobLink,
  };
  return html`
    <${Heading} title=${`Dead letters of ${name}`}>Dead letters of <bdi>${name}</bdi><//>
    <p><a href=${`#/queues/${encodeURIComponent(name)}`}>Back to the queue</a></p>
    <${Filter} label="Filter dead letters" onFilter=${setFilter}>
      <${Choice} name="reason" label="Because" options=${deadReasons.filter((reason) => reason !== 'cancelled')} />
      <${Input} name="limitKey" label="Limit key" maxlength="128" />
      <${Input} name="since" label="Dead since" type="datetime-local" />
      <${Input} name="until" label="Dead before" type="datetime-local" />
    <//>
    <${Replay} spec=${spec} filter=${fields} />
    <${Problem} error=${list.error} />
    <${Table} caption="Dead letters, newest first" columns=${jobColumns} rows=${list.rows} keyOf=${({ id }) => id}
      empty=${list.isReady ? 'No dead letters.' : 'Looking …'} />
    <${More} next=${list.next} />`;
}

// -- pull queues --------------------------------------------------------------

const messageColumns = [
  { title: 'Message', head: true, cell: ({ message_id }) => html`<span class="id">${message_id}</span>` },
  { title: 'From', cell: ({ dead_letter: from }) => html`<bdi>${from?.source_queue ?? 'published here'}</bdi>` },
  { title: 'Because', cell: ({ dead_letter: from }) => (from ? words(from.reason) : '–') },
  { title: 'Deliveries', numeric: true, cell: ({ dead_letter: from }) => count(from?.delivery_count) },
  { title: 'Dead since', cell: ({ dead_letter: from, published_at }) => html`<${When} at=${from?.dead_lettered_at ?? published_at} />` },
  { title: 'Payload', cell: ({ raw }) => html`<${Payload} raw=${raw} />` },
];

export function Payload({ raw }) {
  return html`<details><summary>${bytes(raw)}</summary><${Verbatim} text=${raw} label="Payload" /></details>`;
}

/** Adds to each message of an answer its payload as it came. */
export function withPayloads(json, text) {
  return json.data.items.map((item, n) => ({ ...item, raw: sliceJson(text, ['data', 'items', n, 'payload']) }));
}

export function DeadMessages({ name }) {
  const live = useLive();
  const [filter, setFilter] = useState({});
  const fields = { since: asInstant(filter.since), until: asInstant(filter.until) };
  const list = usePages(path`/v1/queue/dlq/list/${name}`, fields, (page, text) => withPayloads(page, text), ({ data }) => data.next_cursor);
  const spec = {
    verb: 'Redrive', thing: 'message', things: 'messages', where: path`/v1/queue/dlq/redrive/${name}`, dryRun: 'dry_run', rate: 'per_second',
    idOf: ({ message_id }) => message_id, link: ({ message_id }) => html`<span class="id">${message_id}</span>`,
  };
  const there = live.pull.find((queue) => queue.name === name);
  return html`
    <${Heading} title=${`Dead letters of ${name}`}>Dead letters of <bdi>${name}</bdi><//>
    <p><a href=${`#/pull/${encodeURIComponent(name)}`}>Back to the queue</a>${there && `; ${count(there.dlq_count)} in all`}</p>
    <${Filter} label="Filter dead letters" onFilter=${setFilter}>
      <${Input} name="since" label="Dead since" type="datetime-local" />
      <${Input} name="until" label="Dead before" type="datetime-local" />
    <//>
    <${Replay} spec=${spec} filter=${fields} />
    <${Problem} error=${list.error} />
    <${Table} caption="Dead letters, newest first" columns=${messageColumns} rows=${list.rows} keyOf=${({ message_id }) => message_id}
      empty=${list.isReady ? 'No dead letters.' : 'Looking …'} />
    <${More} next=${list.next} />`;
}
