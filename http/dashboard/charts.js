// The last hour of a queue, drawn by uPlot out of what this page has seen.

import { useEffect, useRef } from './hooks.js';
import { count, rate, span } from './format.js';
import { html, useNow } from './ui.js';

const hour = 3600;
const narrowest = 300;
const height = 130;

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Returns what of the time is shown: the last hour, or as much of it as was seen. */
function rangeFrom(since) {
  const now = Date.now() / 1000;
  return [Math.max(now - hour, Math.min(since / 1000, now - narrowest)), now];
}

function optionsFor({ lines, width, format, samples }) {
  const axis = { stroke: colour('--quiet'), grid: { stroke: colour('--line'), width: 1 }, ticks: { show: false }, font: '12px system-ui' };
  return {
    width,
    height,
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { time: true, range: () => rangeFrom(samples.since) },
      y: { range: (_, low, high) => [0, Math.max(1, high ?? 1) * 1.1] },
    },
    axes: [{ ...axis, space: 70 }, { ...axis, size: 52, space: 26, values: (_, values) => values.map(format) }],
    series: [{}, ...lines.map(({ colour: name, dash }) => ({
      stroke: colour(name), width: 2, dash, points: { show: false }, spanGaps: false,
    }))],
  };
}

/**
 * A chart of `lines`, each `{name, label, colour, dash?}`: `name` is that of a
 * figure of `samples`. Its latest values stand beside it as text.
 */
export function Chart({ title, samples, lines, format = count }) {
  const place = useRef(null);
  const plot = useRef(null);
  const columns = samples.columns(lines.map(({ name }) => name));
  useEffect(() => {
    const draw = () => {
      plot.current?.destroy();
      const width = Math.max(200, place.current.clientWidth);
      plot.current = new globalThis.uPlot(optionsFor({ lines, width, format, samples }), columns, place.current);
    };
    draw();
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', draw);
    const size = new ResizeObserver(() => {
      plot.current.setSize({ width: Math.max(200, place.current.clientWidth), height });
    });
    size.observe(place.current);
    return () => {
      scheme.removeEventListener('change', draw);
      size.disconnect();
      plot.current.destroy();
    };
  }, [title]);
  useEffect(() => {
    plot.current?.setData(columns);
  });
  const latest = (n) => columns[n + 1].at(-1);
  return html`
    <figure class="chart">
      <figcaption><b>${title}</b>
        ${lines.map(({ name, label, colour: ink }, n) => html`
          <span key=${name} class="key"><i class=${`ink ${ink.slice(2)}`} aria-hidden="true"></i>${label} <b>${format(latest(n))}</b></span>`)}
      </figcaption>
      <div class="plot" aria-hidden="true" ref=${place}></div>
    </figure>`;
}

/** Backlog, throughput and dead letters of a queue. */
export function Charts({ samples, doneLabel }) {
  const now = useNow();
  if (!samples.since || !globalThis.uPlot)
    return html`<p class="quiet">No figures yet.</p>`;
  const seen = Math.round((now - samples.since) / 1000);
  return html`
    <p class="quiet">${seen < hour
      ? `This page has looked for ${span(seen)}; the server keeps no history, so what was before is not shown.`
      : 'The last hour, as this page has seen it.'}</p>
    <div class="charts">
      <${Chart} title="Backlog" samples=${samples} lines=${[
        { name: 'waiting', label: 'waiting', colour: '--ink-1' },
        { name: 'inFlight', label: 'in flight', colour: '--ink-2', dash: [6, 4] }]} />
      <${Chart} title="Throughput" samples=${samples} format=${rate} lines=${[
        { name: 'rate', label: doneLabel, colour: '--ink-3' }]} />
      <${Chart} title="Dead letters" samples=${samples} lines=${[
        { name: 'dead', label: 'dead', colour: '--ink-4' }]} />
    </div>`;
}
