// Reads server-sent events as a browser does (HTML Living Standard, 9.2.6).

import { until } from './time.mjs';

/**
 * Opens `/v1/events` with `query`. Resolves when its head is there. `events`
 * has what has come so far, each with `id`, `type` and `data`; `lastEventId` is
 * what a browser would come back with.
 */
export async function openEvents(t, api, query = '', headers = {}) {
  const gone = new AbortController();
  t.after(() => gone.abort());
  const response = await fetch(`${api.url}/v1/events${query}`, {
    headers: { authorization: `Bearer ${api.key}`, ...headers },
    signal: gone.signal,
  });
  const stream = new EventReader(response, gone);
  if (response.status === 200)
    stream.read();
  return stream;
}

class EventReader {
  constructor(response, gone) {
    this.response = response;
    this.status = response.status;
    this.gone = gone;
    this.events = [];
    this.comments = 0;
    this.lastEventId = '';
    this.ended = new Promise((done) => { this.end = done; });
  }

  async read() {
    let rest = '';
    let event = { data: [] };
    try {
      for await (const bytes of this.response.body.pipeThrough(new TextDecoderStream())) {
        const lines = (rest + bytes).split('\n');
        rest = lines.pop();
        for (const line of lines)
          event = this.take(line, event);
      }
      this.end('ended');
    } catch (error) {
      this.end(error.name);
    }
  }

  /** Takes one line. Returns the event that is being put together. */
  take(line, event) {
    if (line === '') {
      if (event.data.length > 0)
        this.events.push({ id: this.lastEventId, type: event.type, data: JSON.parse(event.data.join('\n')) });
      return { data: [] };
    }
    const [, field, value] = line.match(/^([^:]*)(?:: ?(.*))?$/);
    if (field === '')
      ++this.comments;
    if (field === 'id')
      this.lastEventId = value;
    if (field === 'event')
      return { ...event, type: value };
    if (field === 'data')
      return { ...event, data: [...event.data, value] };
    return event;
  }

  get types() {
    return this.events.map(({ type }) => type);
  }

  /** Waits for an event of a type, and returns the first one. */
  async until(type, seconds = 10) {
    return until(type, seconds, () => this.events.find((event) => event.type === type));
  }

  close() {
    this.gone.abort();
  }
}
