// What an operator can do to a queue or a job. Each asks first.

import { call, get, path } from './api.js';
import { refresh } from './live.js';
import { announce, ask, html } from './ui.js';

/** Makes a call that changes something, says so and looks again. */
async function change(method, where, body, said) {
  const answer = await call(method, where, body);
  announce(said);
  await refresh();
  return answer;
}

const reason = { name: 'reason', label: 'Reason', maxLength: 500, hint: 'Shown with the hold; may be left out.' };

export function pause(name) {
  ask({
    title: `Pause ${name}?`,
    text: 'No delivery starts until it is resumed. What is out finishes. Publishing goes on.',
    verb: 'Pause',
    run: () => change('POST', path`/v1/queues/${name}/pause`, undefined, `Queue ${name} is paused.`),
  });
}

export function resume(name) {
  ask({
    title: `Resume ${name}?`,
    text: 'Jobs that are due go out under the limits of the queue. A hold stays.',
    verb: 'Resume',
    run: () => change('POST', path`/v1/queues/${name}/resume`, undefined, `Queue ${name} is resumed.`),
  });
}

export function hold(name) {
  ask({
    title: `Hold ${name}?`,
    text: 'Nothing is delivered until the hold is over. Then one probe goes out, and the queue opens if that succeeds. A hold that ends later stays.',
    verb: 'Hold',
    fields: [
      { name: 'retryAfter', label: 'Seconds', type: 'number', min: 0, step: 'any', required: true, value: '60' },
      reason,
    ],
    run: ({ retryAfter, reason: why }) => change('POST', path`/v1/queues/${name}/hold`,
      { retryAfter: Number(retryAfter), ...(why && { reason: why }) }, `Queue ${name} is held.`),
  });
}

export function release(name) {
  ask({
    title: `Release ${name}?`,
    text: 'The hold ends now. The next job is the probe, and the queue opens if that succeeds.',
    verb: 'Release',
    run: () => change('POST', path`/v1/queues/${name}/release`, undefined, `Queue ${name} is released.`),
  });
}

export function releaseKey(name, key) {
  ask({
    title: `Release ${key}?`,
    text: `The hold of this limit key of ${name} ends now. Its next job is the probe.`,
    verb: 'Release',
    run: () => change('POST', path`/v1/queues/${name}/keys/${key}/release`, undefined, `${key} is released.`),
  });
}

/** `onMade(queue)` is handed the queue with its new secret. */
export function rotate(name, onMade) {
  ask({
    title: `Rotate the signing secret of ${name}?`,
    text: 'A new secret is made. Until the overlap is over, deliveries are signed with both.',
    verb: 'Rotate',
    fields: [{
      name: 'overlap', label: 'Overlap in seconds', type: 'number', min: 0, max: 2_592_000, step: 'any', required: true, value: '86400',
    }],
    run: async ({ overlap }) => {
      const { json } = await change('POST', path`/v1/queues/${name}/signing-secret/rotate`,
        { overlap: Number(overlap) }, `The signing secret of ${name} is a new one.`);
      onMade(json);
    },
  });
}

export function runNow(id) {
  ask({
    title: 'Run this job now?',
    text: 'Its delay or backoff ends. Holds, pauses and limits of the queue stay.',
    verb: 'Run now',
    run: () => change('POST', path`/v1/jobs/${id}/run-now`, undefined, 'The job is due now.'),
  });
}

export function cancel(id) {
  ask({
    title: 'Cancel this job?',
    text: 'It will not be delivered any more. It does not become a dead letter.',
    verb: 'Cancel the job',
    run: () => change('DELETE', path`/v1/jobs/${id}`, undefined, 'The job is cancelled.'),
  });
}

export function replay(id) {
  ask({
    title: 'Replay this job?',
    text: html`<bdi>${id}</bdi> gets another life, with the same id and payload and fresh budgets.`,
    verb: 'Replay',
    run: () => change('POST', path`/v1/jobs/${id}/replay`, undefined, 'The job waits to be delivered again.'),
  });
}

/**
 * Replays dead letters as an operation, or redrives messages. `count` is what the
 * dry run has said; `onStarted` is handed the operation.
 */
export function replayMany({ verb, count, where, body, rate, onStarted }) {
  ask({
    title: `${verb} ${count}?`,
    text: `As many as the dry run has found, or as there are by then. They go at their own rate, and live traffic goes first.`,
    verb,
    fields: [{
      name: 'perSecond', label: 'A second, at most', type: 'number', min: 0.1, max: 10_000, step: 'any', required: true, value: '100',
    }],
    run: async ({ perSecond }) => {
      const { json } = await change('POST', where, { ...body, [rate]: Number(perSecond) }, `${verb} has begun.`);
      const id = json.data?.operation_id ?? json.id;
      onStarted(id ? (await get(path`/v1/operations/${id}`)).json : null);
    },
  });
}

export function stopOperation(operation) {
  ask({
    title: 'Stop this operation?',
    text: 'What has been done stays done.',
    verb: 'Stop it',
    run: () => change('DELETE', path`/v1/operations/${operation.id}`, undefined, 'The operation is stopped.'),
  });
}
