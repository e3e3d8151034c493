// What the pages are put together from. Texts go through Preact, which makes text
// nodes of them: nothing that the server says becomes markup.

import { h } from './preact.js';
import { useEffect, useRef, useState } from './hooks.js';
import htm from './htm.js';
import { ago, clockTime, dateTime } from './format.js';

export const html = htm.bind(h);

// -- time ---------------------------------------------------------------------

const watchers = new Set();
setInterval(() => watchers.forEach((tell) => tell(Date.now())), 1000);

/** Returns the present time, anew every second. */
export function useNow() {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    watchers.add(setNow);
    return () => watchers.delete(setNow);
  }, []);
  return now;
}

/** A moment, in words; the exact time is its title. */
export function When({ at, exact = false }) {
  const now = useNow();
  if (!at)
    return html`<span class="none">–</span>`;
  return html`<time datetime=${at} title=${at}>${exact ? dateTime(at) : ago(at, now)}</time>`;
}

export function Clock({ at }) {
  return html`<time datetime=${at} title=${at}>${clockTime(at)}</time>`;
}

// -- tables -------------------------------------------------------------------

/**
 * A table that becomes a list of cards where the screen is narrow. `columns` are
 * `{title, cell(row), numeric?, head?}`; roles are spelt out because cards are no
 * longer displayed as a table.
 */
export function Table({ caption, columns, rows, keyOf, empty = 'Nothing here.' }) {
  if (rows.length === 0)
    return html`<p class="empty">${empty}</p>`;
  const cell = (row) => ({ title, cell: show, numeric, head }) => (head
    ? html`<th scope="row" role="rowheader" data-label=${title}><div>${show(row)}</div></th>`
    : html`<td role="cell" data-label=${title} class=${numeric ? 'number' : ''}><div>${show(row)}</div></td>`);
  return html`
    <div class="table" role="group" aria-label=${caption} tabindex="0">
      <table role="table" aria-label=${caption}>
        <thead role="rowgroup"><tr role="row">
          ${columns.map(({ title, numeric }) => html`
            <th scope="col" role="columnheader" class=${numeric ? 'number' : ''}>${title}</th>`)}
        </tr></thead>
        <tbody role="rowgroup">
          ${rows.map((row) => html`<tr role="row" key=${keyOf(row)}>${columns.map(cell(row))}</tr>`)}
        </tbody>
      </table>
    </div>`;
}

/** Names and values; those without a value are left out. */
export function Facts({ facts }) {
  return html`<dl class="facts">${facts
    .filter(([, value]) => ![null, undefined, '', false].includes(value))
    .map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

// -- saying what happens ------------------------------------------------------

/** Says what went wrong. */
export function Problem({ error }) {
  return error ? html`<p class="problem" role="alert">${error.message}</p>` : null;
}

export function Heading({ children, title }) {
  const place = useRef(null);
  useEffect(() => {
    document.title = `${title} · Tidegate`;
    place.current.focus({ preventScroll: true });
  }, [title]);
  return html`<h1 tabindex="-1" ref=${place}>${children}</h1>`;
}

/** Bytes as they came, cut where they are many. */
export function Verbatim({ text, label, shownMax = 65_536 }) {
  const [all, setAll] = useState(false);
  const [copied, setCopied] = useState('');
  const isCut = !all && text.length > shownMax;
  const copy = () => navigator.clipboard.writeText(text)
    .then(() => setCopied('Copied.'), () => setCopied('The browser did not allow it.'));
  return html`
    <pre class="verbatim" tabindex="0" role="group" aria-label=${label}><bdi>${isCut ? text.slice(0, shownMax) : text}</bdi></pre>
    <p class="under">
      ${navigator.clipboard && html`<button type="button" class="plain" onClick=${copy}>Copy</button> `}
      ${isCut && html`<button type="button" class="plain" onClick=${() => setAll(true)}>Show all of it</button> `}
      <span role="status">${copied}</span>
    </p>`;
}

// -- dialogs ------------------------------------------------------------------

let show = () => {};

/**
 * Asks before something is done. `spec` is `{title, text, verb, fields?, run}`;
 * `run(values)` does it, and what it throws is shown in the dialog. `fields` are
 * `{name, label, type?, value?, hint?, ...}`, the rest attributes of the input.
 */
export function ask(spec) {
  show(spec);
}

function Field({ name, label, hint, value = '', ...rest }) {
  return html`
    <p class="field">
      <label for=${`ask-${name}`}>${label}</label>
      <input id=${`ask-${name}`} name=${name} defaultValue=${value}
        aria-describedby=${hint ? `hint-${name}` : undefined} ...${rest} />
      ${hint && html`<small id=${`hint-${name}`}>${hint}</small>`}
    </p>`;
}

/** The one place where dialogs are shown. */
export function Dialogs() {
  const [spec, setSpec] = useState(null);
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState(false);
  const place = useRef(null);
  show = setSpec;
  useEffect(() => {
    if (spec)
      place.current.showModal();
  }, [spec]);
  if (!spec)
    return null;
  // The browser gives the focus back to where it was.
  const close = () => place.current.close();
  const onClose = () => {
    setSpec(null);
    setError(null);
  };
  const submit = async (event) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      await spec.run(Object.fromEntries(new FormData(event.target)));
      close();
    } catch (failure) {
      setError(failure);
    }
    setBusy(false);
  };
  return html`
    <dialog ref=${place} aria-labelledby="ask-title" aria-describedby="ask-text" onClose=${onClose}>
      <form onSubmit=${submit}>
        <h2 id="ask-title">${spec.title}</h2>
        <p id="ask-text">${spec.text}</p>
        ${(spec.fields ?? []).map((field) => html`<${Field} key=${field.name} ...${field} />`)}
        <${Problem} error=${error} />
        <p class="buttons">
          <button type="button" onClick=${close}>Cancel</button>
          <button type="submit" class="primary" disabled=${busy}>${spec.verb}</button>
        </p>
      </form>
    </dialog>`;
}

// -- news ---------------------------------------------------------------------

let tell = () => {};

/** Says something that has happened, for eyes and screen readers. */
export function announce(text) {
  tell(text);
}

const newsMs = 8000;

export function Announcements() {
  const [text, setText] = useState('');
  tell = setText;
  useEffect(() => {
    const timer = setTimeout(() => setText(''), newsMs);
    return () => clearTimeout(timer);
  }, [text]);
  return html`<p class="news" role="status">${text}</p>`;
}
