// What stands in the way of a queue's jobs, in words.

import { skew } from './api.js';
import { clockTime, span, words } from './format.js';
import { Clock, html, useNow } from './ui.js';

/** Returns `open`, `held`, `probing` or `paused`: what an operator sees first. */
export function stateOf({ paused, gate }) {
  return paused ? 'paused' : gate.state;
}

export const isUnderHold = (state) => state === 'held' || state === 'probing';

const causes = {
  downstream: 'the webhook said “not now”',
  probe_failed: 'the last probe failed',
  worker: 'a worker deferred',
  operator: 'held by hand',
};

/** Says why a gate is shut. */
export function causeOf({ cause, webhookStatusCode }) {
  const said = causes[cause] ?? words(cause ?? '');
  return webhookStatusCode ? `${said} (${webhookStatusCode})` : said;
}

/** Says in a word what the state is; its colour says the same. */
export function State({ state }) {
  return html`<span class=${`state ${state}`}>${state}</span>`;
}

/** All states that a queue is in at once. */
export function States({ queue }) {
  const { paused, gate } = queue;
  return html`<span class="states">
    ${paused && html`<${State} state="paused" /> `}
    ${(!paused || gate.state !== 'open') && html`<${State} state=${gate.state} />`}
  </span>`;
}

/**
 * How long it is until a moment of the server's clock, or `done`. Not read out at
 * each second.
 */
export function Countdown({ at, done = 'over' }) {
  const now = useNow();
  const left = (Date.parse(at) - now - skew) / 1000;
  return html`<span role="timer" aria-live="off" class="countdown">${left > 0 ? `${span(left)} left` : done}</span>`;
}

/** Says until when a queue is held, why, and what comes then. */
export function Hold({ gate }) {
  if (gate.state === 'open')
    return gate.ramp ? html`<span>coming back, ${gate.ramp} at a time</span>` : null;
  const until = gate.state === 'held' && gate.releaseAt
    && html`<strong><${Countdown} at=${gate.releaseAt} /></strong>, `;
  const cause = html`${causeOf(gate)}${gate.reason && html`: <q><bdi>${gate.reason}</bdi></q>`}`;
  return html`<span class="hold">${until}${cause}. <${NextProbe} gate=${gate} /></span>`;
}

function NextProbe({ gate }) {
  const now = useNow();
  if (gate.state === 'probing')
    return html`One probe tests the webhook now, or the next job will.`;
  if (!gate.releaseAt)
    return null;
  if (Date.parse(gate.releaseAt) <= now + skew)
    return html`The next job is the probe.`;
  return html`Next probe at <${Clock} at=${gate.releaseAt} />.`;
}

/** Returns what the last probe came to, or nothing. */
export function lastProbe({ lastProbe: probe }) {
  return probe && html`${words(probe.verdict)}, ${clockTime(probe.at)}, by
    <a href=${`#/jobs/${probe.job}`}>${probe.job}</a>`;
}

/** What keeps a job or a queue back, one line each. */
export function Blocks({ blocks }) {
  if (blocks.length === 0)
    return html`<p class="quiet">Nothing is in the way.</p>`;
  return html`<ul class="blocks">${blocks.map((block) => html`
    <li key=${block.gate}><b>${words(block.gate)}</b>
      ${block.reason && html` – <bdi>${block.reason}</bdi>`}
      ${block.until && html`, <${Countdown} at=${block.until} done="due" />, until <${Clock} at=${block.until} />`}
      ${block.causedByJob && html`, caused by <a href=${`#/jobs/${block.causedByJob}`}>${block.causedByJob}</a>`}
    </li>`)}</ul>`;
}
