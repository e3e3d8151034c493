// Nothing is lost and nothing is invented: what was accepted is all there, in one
// state each, and every counter equals a count of the jobs themselves.

import assert from 'node:assert/strict';

const statuses = ['pending', 'processing', 'completed', 'dead'];

/** Counts jobs by status. */
export function countByStatus(jobs) {
  const result = Object.fromEntries(statuses.map((status) => [status, 0]));
  for (const { status } of jobs)
    ++result[status];
  return result;
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
  assert.deepEqual(pick(counts, statuses), counted);
  assert.deepEqual(pick(counts, ['scheduled', 'held', 'inFlight']),
    { scheduled: 0, held: 0, inFlight: 0 });
  for (const id of accepted)
    assert.ok(delivered.has(id), `${id} was never delivered`);
  return jobs;
}

function pick(object, names) {
  return Object.fromEntries(names.map((name) => [name, object[name]]));
}
