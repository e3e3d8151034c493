// One push queue.

import { useState } from './hooks.js';
import { path } from './api.js';
import { hold, pause, release, releaseKey, resume, rotate } from './actions.js';
import { Charts } from './charts.js';
import { count, rate, span, words } from './format.js';
import { Blocks, Countdown, Hold, lastProbe, State, States } from './gate.js';
import { Jobs } from './jobs.js';
import { useAnswer, useLive } from './live.js';
import { loadOf } from './samples.js';
import { Facts, Heading, html, Problem, Table, When } from './ui.js';

function Buttons({ queue, onSecret }) {
  const { name, paused, gate } = queue;
  // Without keys, so that the focus stays where "Pause" becomes "Resume".
  const button = (label, act) => html`<button type="button" onClick=${act}>${label}</button>`;
  return html`<p class="actions">
    ${paused ? button('Resume', () => resume(name)) : button('Pause', () => pause(name))}
    ${button('Hold', () => hold(name))}
    ${gate.state !== 'open' && button('Release', () => release(name))}
    ${button('Rotate secret', () => rotate(name, onSecret))}
  </p>`;
}

/** The secret that has just been made. It is not kept. */
function Secret({ made, onClose }) {
  return made && html`
    <section class="panel" aria-labelledby="secret">
      <h2 id="secret">New signing secret</h2>
      <p><code class="secret">${made.signingSecret}</code></p>
      <p>${made.previousSecretUntil && html`The one before signs as well until <${When} at=${made.previousSecretUntil} exact />.`}
        Give it to the receiver now; this page forgets it.</p>
      <p><button type="button" onClick=${onClose}>Forget it</button></p>
    </section>`;
}

function Gate({ queue: { gate, blockedBy } }) {
  return html`
    <section class=${`panel gate ${gate.state}`} aria-labelledby="gate">
      <h2 id="gate">Gate</h2>
      <p class="line"><${State} state=${gate.state} /> <${Hold} gate=${gate} /></p>
      <${Facts} facts=${[
        ['Since', gate.since && html`<${When} at=${gate.since} />`],
        ['Caused by', gate.causedByJob && html`<a href=${`#/jobs/${gate.causedByJob}`}>${gate.causedByJob}</a>`],
        ['Failed probes', gate.failedProbes > 0 && count(gate.failedProbes)],
        ['Last probe', lastProbe(gate)],
      ]} />
      <h3>In the way of the next job</h3>
      <${Blocks} blocks=${blockedBy} />
    </section>`;
}

function Figures({ queue, samples }) {
  const { counts, oldestAgeSeconds, concurrency, rateLimitMax, rateLimitWindow } = queue;
  const { waiting, inFlight } = loadOf(counts);
  const limit = rateLimitMax ? `${count(rateLimitMax)} in ${span(rateLimitWindow)}` : 'no limit';
  return html`<${Facts} facts=${[
    ['Waiting', count(waiting)],
    ['of these for a time', count(counts.scheduled)],
    ['of these behind the gate', count(counts.held)],
    ['In flight', `${count(inFlight)} of ${count(concurrency)}`],
    ['Completed', rate(samples.rate())],
    ['Rate limit', limit],
    ['Oldest job', span(oldestAgeSeconds)],
  ]} />`;
}

const keyColumns = (name) => [
  { title: 'Limit key', head: true, cell: ({ key }) => html`<bdi>${key}</bdi>` },
  { title: 'State', cell: ({ gate }) => html`<${State} state=${gate.state} />` },
  { title: 'Left', cell: ({ gate }) => (gate.state === 'held' ? html`<${Countdown} at=${gate.releaseAt} />` : '–') },
  { title: 'Ready', numeric: true, cell: ({ ready }) => count(ready) },
  { title: 'In flight', numeric: true, cell: ({ inFlight }) => count(inFlight) },
  {
    title: 'Do', cell: ({ key, gate }) => (gate.state === 'open' ? '–'
      : html`<button type="button" onClick=${() => releaseKey(name, key)}>Release<span class="hidden"> ${key}</span></button>`),
  },
];

function Keys({ name }) {
  const { json } = useAnswer(path`/v1/queues/${name}/keys`);
  if (!json || json.items.length === 0)
    return null;
  return html`
    <section aria-labelledby="keys">
      <h2 id="keys">Limit keys that are held, probing or busy</h2>
      <${Table} caption="Limit keys" columns=${keyColumns(name)} rows=${json.items} keyOf=${({ key }) => key} />
    </section>`;
}

const settingsShown = ['webhookUrl', 'mode', 'concurrency', 'rateLimitMax', 'rateLimitWindow', 'maxAttempts', 'maxDefers',
  'backoff', 'timeout', 'ackTimeout', 'ackTimeoutAction', 'lifetime', 'retention', 'deadLetter', 'headers',
  'permanentFailureStatuses', 'keyConcurrency', 'keyRateLimitMax', 'backpressureScope', 'recovery', 'minHold', 'maxHold', 'maxDepth'];

function Settings({ queue }) {
  const show = (value) => html`<code><bdi>${typeof value === 'string' ? value : JSON.stringify(value)}</bdi></code>`;
  return html`
    <details><summary>Settings</summary>
      <${Facts} facts=${settingsShown.map((name) => [name, show(queue[name] ?? null)])} />
    </details>`;
}

export function Queue({ name }) {
  const live = useLive();
  const { json: queue, error } = useAnswer(path`/v1/queues/${name}`);
  const [secret, setSecret] = useState(null);
  const samples = live.samplesOf('push', name);
  if (!queue || queue.name !== name)
    return html`<${Heading} title=${name}><bdi>${name}</bdi><//><${Problem} error=${error} />`;
  return html`
    <${Heading} title=${name}><bdi>${name}</bdi> <${States} queue=${queue} /><//>
    <p class="quiet">Push queue, ${words(queue.mode)} mode, to <bdi>${queue.webhookUrl}</bdi></p>
    <${Problem} error=${error} />
    <${Buttons} queue=${queue} onSecret=${setSecret} />
    <${Secret} made=${secret} onClose=${() => setSecret(null)} />
    <div class="pair">
      <${Gate} queue=${queue} />
      <section class="panel" aria-labelledby="now"><h2 id="now">Now</h2>
        <${Figures} queue=${queue} samples=${samples} />
        <p><a href=${`#/queues/${encodeURIComponent(name)}/dead`}>Dead letters: ${count(queue.counts.dead)}</a></p>
        <${Settings} queue=${queue} />
      </section>
    </div>
    <section aria-labelledby="hour"><h2 id="hour">Last hour</h2>
      <${Charts} samples=${samples} doneLabel="completed" />
    </section>
    <${Keys} name=${name} />
    <${Jobs} queue=${queue} />`;
}
