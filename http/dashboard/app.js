// The frame around the pages: who has signed in, and which page is shown.

import { render } from './preact.js';
import { useEffect, useState } from './hooks.js';
import { call, forgetKey, keepKey, key, whenRefused } from './api.js';
import { DeadJobs, DeadMessages } from './dead.js';
import { Job } from './job.js';
import { startLive, stopLive, useLive } from './live.js';
import { Operations } from './operations.js';
import { Pull } from './pull.js';
import { Queue } from './queue.js';
import { Queues } from './queues.js';
import { Announcements, Clock, Dialogs, Heading, html, Problem } from './ui.js';

// -- pages --------------------------------------------------------------------

function Nowhere() {
  return html`<${Heading} title="Not found">There is no such page<//><p><a href="#/">To the queues</a></p>`;
}

/** Returns the page for the fragment of the address. */
function pageOf(fragment) {
  let parts;
  try {
    parts = fragment.replace(/^#?\/?/, '').split('/').map(decodeURIComponent);
  } catch {
    return html`<${Nowhere} />`;
  }
  const [kind, name, more] = parts;
  if (parts.length === 1 && kind === '')
    return html`<${Queues} />`;
  if (parts.length === 1 && kind === 'operations')
    return html`<${Operations} />`;
  if (parts.length === 2 && kind === 'jobs')
    return html`<${Job} key=${name} id=${name} />`;
  if (parts.length === 2 && kind === 'queues')
    return html`<${Queue} key=${name} name=${name} />`;
  if (parts.length === 2 && kind === 'pull')
    return html`<${Pull} key=${name} name=${name} />`;
  if (parts.length === 3 && more === 'dead' && (kind === 'queues' || kind === 'pull'))
    return kind === 'queues' ? html`<${DeadJobs} key=${name} name=${name} />` : html`<${DeadMessages} key=${name} name=${name} />`;
  return html`<${Nowhere} />`;
}

// -- signing in ---------------------------------------------------------------

async function checkKey(text) {
  try {
    await call('GET', '/v1/queues?limit=1', undefined, { key: text });
  } catch (error) {
    if (error.status === 403)
      throw new Error('This key lacks the scope read, without which there is nothing to see.');
    throw error.status === 401 ? new Error('The server does not know this key.') : error;
  }
}

function SignIn({ notice, onKey }) {
  const [error, setError] = useState(null);
  const submit = async (event) => {
    event.preventDefault();
    const text = new FormData(event.target).get('key').trim();
    try {
      // What cannot stand in a header is no key.
      if (!/^[\x21-\x7e]+$/.test(text))
        throw new Error('That is no key.');
      await checkKey(text);
      keepKey(text);
      onKey();
    } catch (failure) {
      setError(failure);
    }
  };
  return html`
    <main id="main" class="sign-in">
      <${Heading} title="Sign in">Tidegate<//>
      ${notice && html`<p class="quiet">${notice}</p>`}
      <form onSubmit=${submit}>
        <p class="field"><label for="key">API key</label>
          <input id="key" name="key" type="password" required autocomplete="off" spellcheck="false" aria-describedby="key-hint" />
          <small id="key-hint">With the scope read, to change things also manage. It is kept in this tab until that is closed.</small></p>
        <${Problem} error=${error} />
        <p><button type="submit" class="primary">Sign in</button></p>
      </form>
    </main>`;
}

// -- frame --------------------------------------------------------------------

/** Says how what is shown is kept up to date. */
function Freshness() {
  const live = useLive();
  if (live.error)
    return html`<span class="fresh stale">${live.error.message}
      ${live.at && html` Last looked at <${Clock} at=${new Date(live.at).toISOString()} />.`}</span>`;
  return html`<span class="fresh">${live.hasEvents ? 'Live, by events' : 'Live, every 2 s'}</span>`;
}

/** Everything that is not under another entry is under the queues. */
function Link({ to, fragment, children }) {
  const isHere = (to === '#/operations') === fragment.startsWith('#/operations');
  return html`<a href=${to} aria-current=${isHere ? 'page' : undefined}>${children}</a>`;
}

function Frame({ fragment, onSignOut }) {
  const skip = (event) => {
    event.preventDefault();
    document.querySelector('h1')?.focus();
  };
  return html`
    <a class="skip" href="#main" onClick=${skip}>Skip to the content</a>
    <header>
      <nav aria-label="Pages">
        <a class="brand" href="#/">Tidegate</a>
        <${Link} to="#/" fragment=${fragment}>Queues<//>
        <${Link} to="#/operations" fragment=${fragment}>Operations<//>
      </nav>
      <${Freshness} />
      <button type="button" class="plain" onClick=${onSignOut}>Sign out</button>
    </header>
    <main id="main">${pageOf(fragment)}</main>
    <footer><a href="dashboard/licenses.txt">Licences</a> <a href="openapi.json">API</a></footer>
    <${Announcements} />
    <${Dialogs} />`;
}

function App() {
  const [isIn, setIsIn] = useState(key() !== null);
  const [notice, setNotice] = useState(null);
  const [fragment, setFragment] = useState(location.hash);
  const signOut = (why) => {
    stopLive();
    forgetKey();
    setNotice(why);
    setIsIn(false);
  };
  useEffect(() => {
    const follow = () => setFragment(location.hash);
    addEventListener('hashchange', follow);
    whenRefused(() => signOut('The server does not take the key any more.'));
    return () => removeEventListener('hashchange', follow);
  }, []);
  if (!isIn)
    return html`<${SignIn} notice=${notice} onKey=${() => { startLive(); setIsIn(true); }} />`;
  return html`<${Frame} fragment=${fragment} onSignOut=${() => signOut(null)} />`;
}

if (key() !== null)
  startLive();
const place = document.getElementById('app');
place.replaceChildren();
render(html`<${App} />`, place);
