// One pull queue.

import { path } from './api.js';
import { Charts } from './charts.js';
import { count, rate, span } from './format.js';
import { Clock, Facts, Heading, html, Problem, Table, When } from './ui.js';
import { Countdown, State } from './gate.js';
import { Payload, withPayloads } from './dead.js';
import { useAnswer, useLive } from './live.js';

const peekColumns = [
  { title: 'Message', head: true, cell: ({ message_id }) => html`<span class="id">${message_id}</span>` },
  { title: 'Status', cell: ({ status }) => status },
  { title: 'Deliveries', numeric: true, cell: ({ delivery_count }) => count(delivery_count) },
  { title: 'Priority', numeric: true, cell: ({ priority }) => priority },
  { title: 'Published', cell: ({ published_at }) => html`<${When} at=${published_at} />` },
  { title: 'Visible', cell: ({ visible_at }) => html`<${When} at=${visible_at} />` },
  { title: 'Payload', cell: ({ raw }) => html`<${Payload} raw=${raw} />` },
];

function Peek({ name }) {
  const { json, text, error } = useAnswer(path`/v1/queue/peek/${name}?limit=20`);
  return html`
    <section aria-labelledby="next">
      <h2 id="next">Next to be received</h2>
      <${Problem} error=${error} />
      <${Table} caption="Messages that would be received next" columns=${peekColumns} rows=${json ? withPayloads(json, text) : []}
        keyOf=${({ message_id }) => message_id} empty=${json ? 'Nothing waits.' : 'Looking …'} />
    </section>`;
}

function Push({ name }) {
  const { json } = useAnswer(path`/v1/queue/push_subscribe/${name}`);
  if (!json)
    return null;
  const { url, state, release_at: until, in_flight, concurrency } = json.data;
  return html`
    <section class=${`panel gate ${state}`} aria-labelledby="subscription">
      <h2 id="subscription">Push subscription</h2>
      <p class="line"><${State} state=${state} />
        ${state === 'held' && until && html` <strong><${Countdown} at=${until} /></strong>, next probe at <${Clock} at=${until} />`}</p>
      <${Facts} facts=${[['To', html`<bdi>${url}</bdi>`], ['In flight', `${count(in_flight)} of ${count(concurrency)}`]]} />
    </section>`;
}

const totals = ['published', 'received', 'acked', 'nacked', 'expired', 'dead_lettered', 'redriven', 'retired'];

function Figures({ stats, samples }) {
  return html`<${Facts} facts=${[
    ['Available', count(stats.available)],
    ['Delayed', count(stats.delayed)],
    ['In flight', count(stats.in_flight)],
    ['Acked', rate(samples.rate())],
    ['Oldest message', span(stats.oldest_age_seconds)],
    ['Deliveries at most', stats.max_receive_count === 0 ? 'no limit' : count(stats.max_receive_count)],
    ['Lease', span(stats.visibility_timeout)],
  ]} />
  <h3>Since the queue was made</h3>
  <${Facts} facts=${totals.map((name) => [name.replace('_', '-'), count(stats[`${name}_total`])])} />`;
}

export function Pull({ name }) {
  const live = useLive();
  const { json, error } = useAnswer(path`/v1/queue/stats/${name}`);
  const stats = json?.data;
  const samples = live.samplesOf('pull', name);
  if (!stats || stats.queue !== name)
    return html`<${Heading} title=${name}><bdi>${name}</bdi><//><${Problem} error=${error} />`;
  return html`
    <${Heading} title=${name}><bdi>${name}</bdi><//>
    <p class="quiet">Pull queue: workers receive from it.</p>
    <${Problem} error=${error} />
    <div class="pair">
      <section class="panel" aria-labelledby="now"><h2 id="now">Now</h2>
        <${Figures} stats=${stats} samples=${samples} />
        <p><a href=${`#/pull/${encodeURIComponent(name)}/dead`}>Dead letters: ${count(stats.dlq_count)}</a></p>
      </section>
      <${Push} name=${name} />
    </div>
    <section aria-labelledby="hour"><h2 id="hour">Last hour</h2>
      <${Charts} samples=${samples} doneLabel="acked" />
    </section>
    <${Peek} name=${name} />`;
}
