// Numbers, times and spans for people. Pure, but for the language of the browser.

const number = new Intl.NumberFormat();

export const count = (n) => (n === null || n === undefined ? '–' : number.format(n));

/** Returns a rate, `null` where it is not known yet. */
export function rate(perSecond) {
  if (perSecond === null || perSecond === undefined)
    return '–';
  if (perSecond === 0)
    return '0/s';
  return perSecond < 1 ? `${number.format(Math.round(perSecond * 600) / 10)}/min`
    : `${number.format(Math.round(perSecond * 10) / 10)}/s`;
}

/** Returns a span in its two largest units, e.g. `1 h 5 min`. */
export function span(seconds) {
  if (seconds === null || seconds === undefined)
    return '–';
  const whole = Math.max(0, Math.ceil(seconds));
  const units = [['d', 86_400], ['h', 3600], ['min', 60], ['s', 1]];
  const first = units.findIndex(([, size]) => whole >= size);
  if (first < 0)
    return '0 s';
  const [[big, size], next] = [units[first], units[first + 1]];
  const rest = next ? Math.floor((whole % size) / next[1]) : 0;
  const head = `${number.format(Math.floor(whole / size))} ${big}`;
  return rest > 0 ? `${head} ${rest} ${next[0]}` : head;
}

const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const day = new Intl.DateTimeFormat(undefined, { year: 'numeric', month: 'short', day: 'numeric' });

const isFar = (at) => Math.abs(Date.parse(at) - Date.now()) > 18 * 3_600_000;

/** Returns the time of day, with the day where that is not near. */
export function clockTime(at) {
  const moment = new Date(at);
  return isFar(at) ? `${day.format(moment)}, ${clock.format(moment)}` : clock.format(moment);
}

export function dateTime(at) {
  const moment = new Date(at);
  return `${day.format(moment)}, ${clock.format(moment)}`;
}

/** Returns how long ago or ahead of `now` something is. */
export function ago(at, now) {
  const seconds = (now - Date.parse(at)) / 1000;
  if (Math.abs(seconds) < 1)
    return 'now';
  return seconds > 0 ? `${span(Math.floor(seconds))} ago` : `in ${span(-seconds)}`;
}

/** Returns the number of bytes that a text takes in UTF-8. */
export function bytes(text) {
  const { length } = new TextEncoder().encode(text);
  return `${number.format(length)} ${length === 1 ? 'byte' : 'bytes'}`;
}

/** Returns a word of the API as words, e.g. `awaiting_ack` as `awaiting ack`. */
export const words = (text) => (text ?? '').replaceAll('_', ' ');
