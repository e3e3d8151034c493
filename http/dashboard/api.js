// Calls of the API with the key of who has signed in. The key is kept for this
// tab and until it is closed, and goes nowhere but into the header.

const root = new URL('..', import.meta.url);
const slot = 'tidegate-key';
const deadline = 30_000;

let onRefused = () => {};

/** `f` is called when the server does not take the key any more. */
export function whenRefused(f) {
  onRefused = f;
}

export const key = () => sessionStorage.getItem(slot);

export function keepKey(text) {
  sessionStorage.setItem(slot, text);
}

export function forgetKey() {
  sessionStorage.removeItem(slot);
}

/** How far the server's clock is ahead of ours. Unit: milliseconds. */
export let skew = 0;

function readClock(response) {
  const date = Date.parse(response.headers.get('date') ?? '');
  if (!Number.isNaN(date)) {
    // It has whole seconds.
    const ahead = date + 500 - Date.now();
    skew = Math.abs(ahead) > 2000 ? ahead : 0;
  }
}

export class ApiError extends Error {
  constructor(status, code, sentence) {
    super(sentence);
    this.status = status;
    this.code = code;
  }
}

/** Returns what both families of errors say, in one sentence. */
function sentenceOf(json, status) {
  const error = json?.error;
  if (typeof error === 'string')
    return error;
  if (typeof error?.message === 'string')
    return error.message;
  const fields = Object.entries(error?.fieldErrors ?? {})
    .flatMap(([name, complaints]) => complaints.map((complaint) => `${name} ${complaint}`));
  return [...(error?.formErrors ?? []), ...fields].join('; ') || `The server answered ${status}.`;
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Makes a call and returns its response once the head is there. */
export function open(path, options = {}) {
  const headers = { authorization: `Bearer ${options.key ?? key()}`, ...options.headers };
  return fetch(new URL(path.replace(/^\//, ''), root), { cache: 'no-store', ...options, headers });
}

/**
 * Makes a call. Returns `{text, json}`: whatever came, and what it says; numbers
 * of payloads in `json` may have been rounded. Throws an `ApiError`.
 */
export async function call(method, path, body, options = {}) {
  let response;
  let text;
  try {
    response = await open(path, {
      method,
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(deadline),
      ...options,
    });
    text = await response.text();
  } catch {
    throw new ApiError(0, 'unreachable', 'The server does not answer.');
  }
  readClock(response);
  const json = parse(text);
  if (response.ok)
    return { text, json };
  if (response.status === 401 && options.key === undefined)
    onRefused();
  throw new ApiError(response.status, json?.code ?? json?.error?.code, sentenceOf(json, response.status));
}

export const get = (path) => call('GET', path);

/** A path, with each of `parts` percent-encoded in its place. */
export function path(strings, ...parts) {
  return strings.reduce((whole, next, n) => whole + encodeURIComponent(parts[n - 1]) + next);
}

/** A query of what has a value, with its `?`. */
export function query(fields) {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const text = new URLSearchParams(given).toString().replaceAll('+', '%20');
  return text === '' ? '' : `?${text}`;
}
