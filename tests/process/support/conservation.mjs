// Nothing is lost and nothing is invented: what was accepted is all there, in one
// state each, and every counter equals a count of the jobs themselves.

import assert from 'node:assert/strict';

const gauges = ['scheduled', 'held', 'inFlight'];

/** The figure of a queue that counts the jobs of a status. */
const figures = {
  pending: 'pending',
  processing: 'processing',
  awaiting_ack: 'awaitingAck',
  completed: 'completed',
  dead: 'dead',
};

/** Counts jobs by status, under the names that a queue has for it. */
export function countByStatus(jobs) {
  const result = Object.fromEntries(Object.values(figures).map((name) => [name, 0]));
  for (const { status } of jobs)
    ++result[figures[status]];
  return result;
}

/**
 * Lists all jobs of the queue and compares with its counters; it must be at rest.
 * Returns the jobs, newest first.
 */
export async function checkScan(api, queue) {
  const jobs = await api.allJobs(queue);
  const { counts } = await api.queue(queue);
  assert.equal(new Set(jobs.map(({ id }) => id)).size, jobs.length, 'a job is listed twice');
  assert.deepEqual(pick(counts, Object.values(figures)), countByStatus(jobs));
  return jobs;
}

/**
 * Checks a queue where everything has ended: besides the counters, that no slot
 * is taken, and that there is exactly what was accepted and not removed.
 */
export async function checkAllEnded(api, queue, accepted, removed = []) {
  const jobs = await checkScan(api, queue);
  const { counts } = await api.queue(queue);
  const live = jobs.filter(({ status }) => status !== 'completed' && status !== 'dead');
  assert.deepEqual(live, [], 'not all jobs have ended');
  assert.deepEqual(pick(counts, gauges), { scheduled: 0, held: 0, inFlight: 0 });
  const gone = new Set(removed);
  const expected = accepted.filter((id) => !gone.has(id));
  const listed = new Set(jobs.map(({ id }) => id));
  assert.deepEqual(expected.filter((id) => !listed.has(id)), [], 'lost');
  assert.equal(listed.size, new Set(expected).size, 'there are jobs that nobody asked for');
  return jobs;
}

const isAttempt = new Set(['success', 'failed', 'nacked']);

/**
 * Checks the counters of a job that was never replayed against its history, and
 * that no delivery has two outcomes. A late ack is no second outcome: it completes
 * a job whose delivery was given up on, and counts where that did not.
 */
export function checkHistory({ id, attempts, deferCount, deliveries, history, historyDropped }) {
  const told = `${id}, ${attempts} attempts, ${deferCount} defers: ${JSON.stringify(history)}`;
  assert.equal(historyDropped, 0, told);
  const last = history.at(-1);
  const isLate = (row) => row === last && row.status === 'success'
    && history.some((other) => other !== row && other.delivery === row.delivery);
  const outcomes = history.filter((row) => row.status !== 'interrupted' && !isLate(row));
  const numbers = outcomes.map(({ delivery }) => delivery);
  assert.equal(new Set(numbers).size, numbers.length, `a delivery has two outcomes: ${told}`);
  const counted = new Set(history.filter(({ status }) => isAttempt.has(status)).map(({ delivery }) => delivery));
  assert.equal(attempts, counted.size, told);
  assert.equal(deferCount, outcomes.filter(({ status }) => status === 'deferred').length, told);
  assert.ok(deliveries >= Math.max(0, ...numbers), told);
}

/**
 * Reads each of the jobs and the queue, and compares. `accepted` are the ids that
 * publishers were told. `unanswered` publishes got no answer and may have made a
 * job each; one that did is known because it was delivered. All jobs have to
 * have ended. Returns the jobs.
 */
export async function checkConservation(t, { api, queue, accepted, unanswered = 0, receiver }) {
  const delivered = receiver.deliveriesById();
  const ids = new Set([...accepted, ...delivered.keys()]);
  const invented = ids.size - new Set(accepted).size;
  const jobs = await api.jobs([...ids]);
  const counted = countByStatus(jobs);
  const { counts } = await api.queue(queue);
  t.diagnostic(`accepted ${accepted.length}, unanswered ${unanswered} of which ${invented} are there; `
    + `completed ${counted.completed}, dead ${counted.dead}; ${receiver.arrivals.length} deliveries`);
  assert.equal(new Set(accepted).size, accepted.length, 'an id was given twice');
  assert.ok(invented <= unanswered, `${invented} jobs that nobody asked for`);
  assert.equal(counted.completed + counted.dead, ids.size, 'not all jobs have ended');
  assert.deepEqual(pick(counts, Object.values(figures)), counted);
  assert.deepEqual(pick(counts, gauges), { scheduled: 0, held: 0, inFlight: 0 });
  for (const id of accepted)
    assert.ok(delivered.has(id), `${id} was never delivered`);
  return jobs;
}

function pick(object, names) {
  return Object.fromEntries(names.map((name) => [name, object[name]]));
}
