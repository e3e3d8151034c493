// One job: what became of it, why it waits, and its bytes.

import { get, path } from './api.js';
import { cancel, replay, runNow } from './actions.js';
import { bytes, count, words } from './format.js';
import { Blocks } from './gate.js';
import { JobStatus } from './jobs.js';
import { useAnswer } from './live.js';
import { useEffect, useState } from './hooks.js';
import { sliceJson } from './raw_json.js';
import { Facts, Heading, html, Problem, Table, Verbatim, When } from './ui.js';

const excerptMax = 2048;

/** Whether it may be waiting; `processing` is also what waits for a retry. */
const isWaiting = (status) => status === 'pending' || status === 'processing';

function Buttons({ job: { id, status, scheduledFor, blockedBy } }) {
  const waits = scheduledFor || blockedBy.some(({ gate }) => ['delay', 'backoff', 'defer'].includes(gate));
  const button = (label, act) => html`<button type="button" key=${label} onClick=${() => act(id)}>${label}</button>`;
  return html`<p class="actions">
    ${status === 'dead' && button('Replay', replay)}
    ${isWaiting(status) && waits && button('Run now', runNow)}
    ${status !== 'dead' && status !== 'completed' && button('Cancel', cancel)}
  </p>`;
}

const historyColumns = [
  { title: 'Delivery', head: true, cell: ({ delivery }) => count(delivery) },
  { title: 'Attempt', numeric: true, cell: ({ attempt }) => count(attempt) },
  { title: 'Outcome', cell: ({ status }) => html`<span class=${`outcome ${status}`}>${words(status)}</span>` },
  { title: 'Status', numeric: true, cell: ({ webhookStatusCode }) => webhookStatusCode ?? '–' },
  { title: 'Took', numeric: true, cell: ({ durationMs }) => (durationMs === null ? '–' : `${count(durationMs)} ms`) },
  {
    title: 'Said', cell: ({ error, errorCode, retryAfter }) => html`
      ${errorCode && html`<code>${errorCode}</code> `}
      ${retryAfter !== null && html`retry after ${retryAfter} s `}
      ${error && html`<bdi>${error}</bdi>`}`,
  },
  {
    title: 'Response', cell: ({ responseExcerpt, delivery }) => (responseExcerpt
      ? html`<pre class="excerpt" tabindex="0" role="group"
          aria-label=${`Response to delivery ${delivery}`}><bdi>${responseExcerpt}</bdi></pre>` : '–'),
  },
  { title: 'At', cell: ({ timestamp }) => html`<${When} at=${timestamp} exact />` },
];

function History({ job: { deliveries, history, historyDropped } }) {
  const rows = history.map((row, n) => ({ ...row, n })).toReversed();
  return html`
    <section aria-labelledby="history">
      <h2 id="history">History</h2>
      ${historyDropped > 0 && html`<p class="quiet">${count(historyDropped)} older rows are no longer kept.</p>`}
      <${Table} caption="History, newest first" columns=${historyColumns} rows=${rows} keyOf=${({ n }) => n}
        empty=${deliveries === 0 ? 'It was not delivered yet.' : 'No outcome of a delivery is known.'} />
    </section>`;
}

/** What a delivery sends, put together as the server does. */
function requestOf(job, payload, webhookUrl) {
  const text = JSON.stringify;
  const { id, queue, attempts, maxAttempts, deferCount, createdAt, deliveries } = job;
  const isOver = job.status === 'completed' || job.status === 'dead';
  const attempt = Math.max(1, isOver ? attempts : attempts + 1);
  const body = `{"id":${text(id)},"queue":${text(queue)},"payload":${payload},"attempt":${attempt},`
    + `"maxAttempts":${maxAttempts},"deferCount":${deferCount},"createdAt":${text(createdAt)}}`;
  const isOut = job.history.every(({ delivery }) => delivery < deliveries);
  const delivery = isOver || (isOut && deliveries > 0) ? deliveries : deliveries + 1;
  const headers = { 'content-type': 'application/json', ...job.headers, 'webhook-id': id, 'x-tidegate-delivery': delivery };
  const lines = [`POST ${webhookUrl}`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)];
  return `${lines.join('\n')}\n\n${body.slice(0, excerptMax)}${body.length > excerptMax ? '…' : ''}`;
}

function Request({ job, payload }) {
  const [webhookUrl, setWebhookUrl] = useState('');
  useEffect(() => {
    get(path`/v1/queues/${job.queue}`).then(({ json }) => setWebhookUrl(json.webhookUrl), () => {});
  }, [job.queue]);
  return html`
    <section aria-labelledby="request">
      <h2 id="request">Request</h2>
      <p class="quiet">Put together out of the job and its queue as they are now: requests are not kept.
        Headers of the queue, signatures and trace context are left out.</p>
      <pre class="verbatim" tabindex="0" role="group" aria-label="Request excerpt"><bdi>${requestOf(job, payload, webhookUrl)}</bdi></pre>
    </section>`;
}

function About({ job }) {
  return html`<${Facts} facts=${[
    ['Queue', html`<a href=${`#/queues/${encodeURIComponent(job.queue)}`}><bdi>${job.queue}</bdi></a>`],
    ['Attempts', `${count(job.attempts)} of ${count(job.maxAttempts)}`],
    ['Defers', `${count(job.deferCount)} of ${count(job.maxDefers)}`],
    ['Deliveries', count(job.deliveries)],
    ['Replays', job.replayCount > 0 && count(job.replayCount)],
    ['Dead because', job.deadReason && words(job.deadReason)],
    ['Last error', job.lastError && html`<bdi>${job.lastError}</bdi>`],
    ['Ack owed until', job.ackDeadline && html`<${When} at=${job.ackDeadline} exact />`],
    ['Lifetime ends', job.expiresAt && html`<${When} at=${job.expiresAt} exact />`],
    ['Scheduled for', job.scheduledFor && html`<${When} at=${job.scheduledFor} exact />`],
    ['Created', html`<${When} at=${job.createdAt} exact />`],
    ['Completed', job.completedAt && html`<${When} at=${job.completedAt} exact />`],
    ['Dead since', job.deadAt && html`<${When} at=${job.deadAt} exact />`],
    ['Priority', job.priority],
    ['Limit key', job.limitKey && html`<bdi>${job.limitKey}</bdi>`],
    ['Idempotency key', job.idempotencyKey && html`<bdi>${job.idempotencyKey}</bdi>`],
  ]} />`;
}

export function Job({ id }) {
  const { json: job, text, error } = useAnswer(path`/v1/jobs/${id}`);
  if (!job || job.id !== id)
    return html`<${Heading} title=${id}><span class="id">${id}</span><//><${Problem} error=${error} />`;
  const payload = sliceJson(text, ['payload']);
  const isHeldUp = isWaiting(job.status) && job.blockedBy.length > 0;
  return html`
    <${Heading} title=${id}><span class="id">${id}</span> <${JobStatus} status=${job.status} /><//>
    <${Problem} error=${error} />
    <${Buttons} job=${job} />
    <div class="pair">
      <section class="panel" aria-labelledby="about"><h2 id="about">Job</h2><${About} job=${job} /></section>
      ${isHeldUp && html`<section class="panel" aria-labelledby="why">
        <h2 id="why">In its way</h2><${Blocks} blocks=${job.blockedBy} /></section>`}
    </div>
    <section aria-labelledby="payload">
      <h2 id="payload">Payload</h2>
      <p class="quiet">${bytes(payload)}, byte for byte as published.</p>
      <${Verbatim} text=${payload} label="Payload" />
    </section>
    <${History} job=${job} />
    <${Request} job=${job} payload=${payload} />`;
}
