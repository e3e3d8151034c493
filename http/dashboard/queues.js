// All queues of the project on one page.

import { count, rate, span } from './format.js';
import { Hold, States } from './gate.js';
import { queuesMax, useLive } from './live.js';
import { loadOf } from './samples.js';
import { Heading, html, Table } from './ui.js';

const link = (kind, name, more = '') => `#/${kind}/${encodeURIComponent(name)}${more}`;

function pushColumns(live) {
  return [
    { title: 'Queue', head: true, cell: ({ name }) => html`<a href=${link('queues', name)}><bdi>${name}</bdi></a>` },
    { title: 'State', cell: (queue) => html`<${States} queue=${queue} /> <${Hold} gate=${queue.gate} />` },
    { title: 'Waiting', numeric: true, cell: ({ counts }) => count(loadOf(counts).waiting) },
    { title: 'In flight', numeric: true, cell: ({ counts }) => count(loadOf(counts).inFlight) },
    { title: 'Completed', numeric: true, cell: ({ name }) => rate(live.samplesOf('push', name).rate()) },
    {
      title: 'Dead', numeric: true, cell: ({ name, counts }) => (counts.dead > 0
        ? html`<a class="bad" href=${link('queues', name, '/dead')}>${count(counts.dead)}</a>` : '0'),
    },
    { title: 'Oldest', numeric: true, cell: ({ oldestAgeSeconds }) => span(oldestAgeSeconds) },
  ];
}

function pullColumns(live) {
  return [
    { title: 'Queue', head: true, cell: ({ name }) => html`<a href=${link('pull', name)}><bdi>${name}</bdi></a>` },
    { title: 'Type', cell: ({ type }) => type },
    { title: 'Available', numeric: true, cell: ({ available }) => count(available) },
    { title: 'Delayed', numeric: true, cell: ({ delayed }) => count(delayed) },
    { title: 'In flight', numeric: true, cell: ({ in_flight }) => count(in_flight) },
    { title: 'Acked', numeric: true, cell: ({ name }) => rate(live.samplesOf('pull', name).rate()) },
    {
      title: 'Dead', numeric: true, cell: ({ name, dlq_count }) => (dlq_count > 0
        ? html`<a class="bad" href=${link('pull', name, '/dead')}>${count(dlq_count)}</a>` : '0'),
    },
  ];
}

const urgency = ({ paused, gate }) => (gate.state !== 'open' ? 0 : paused ? 1 : 2);

/** What is shut comes first, the rest by name as the server has it. */
const byUrgency = (queues) => queues.toSorted((x, y) => urgency(x) - urgency(y));

export function Queues() {
  const live = useLive();
  const waiting = live.at === null;
  const none = waiting ? 'Looking …' : 'There are none yet.';
  return html`
    <${Heading} title="Queues">Queues<//>
    ${live.isCut && html`<p class="quiet">Only the first ${count(queuesMax)} of a kind are shown.</p>`}
    <section aria-labelledby="push">
      <h2 id="push">Push queues</h2>
      <${Table} caption="Push queues" columns=${pushColumns(live)} rows=${byUrgency(live.push)}
        keyOf=${({ name }) => name} empty=${none} />
    </section>
    <section aria-labelledby="pull">
      <h2 id="pull">Pull queues</h2>
      <${Table} caption="Pull queues" columns=${pullColumns(live)} rows=${live.pull}
        keyOf=${({ name }) => name} empty=${none} />
    </section>`;
}
