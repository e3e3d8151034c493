// Server-sent events out of a response that is still coming: EventSource cannot
// send an `authorization` header. The format is that of the HTML standard,
// section 9.2.6.

/** Cuts a stream of text into events. Pure. */
export class EventReader {
  rest = '';
  event = { type: 'message', data: [], id: null };

  /** Takes more text. Returns the events that it completes. */
  take(text) {
    const lines = (this.rest + text).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop();
    return lines.flatMap((line) => this.takeLine(line));
  }

  takeLine(line) {
    if (line === '')
      return this.finish();
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'data')
      this.event.data.push(value);
    else if (name === 'event')
      this.event.type = value;
    else if (name === 'id')
      this.event.id = value;
    return [];
  }

  finish() {
    const { type, data, id } = this.event;
    this.event = { type: 'message', data: [], id };
    return data.length > 0 ? [{ type, data: data.join('\n'), id }] : [];
  }
}

/**
 * Calls `onEvent` for each event of `response`, until it ends or `silentMs` have
 * gone by without a byte, comments included.
 */
export async function readEvents(response, onEvent, silentMs) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const events = new EventReader();
  let timer;
  const silence = () => {
    clearTimeout(timer);
    timer = setTimeout(() => reader.cancel().catch(() => {}), silentMs);
  };
  try {
    for (;;) {
      silence();
      const { done, value } = await reader.read();
      if (done)
        return;
      events.take(value).forEach(onEvent);
    }
  } finally {
    clearTimeout(timer);
  }
}
