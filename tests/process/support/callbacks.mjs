// Workers of ack mode: they answer a delivery, and tell what became of it.

import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Tells what became of a job until there is an answer that counts, whatever
 * happens to connections and the server. Returns that answer.
 */
export async function reportUntilAnswered(api, id, verb, fields = {}) {
  for (;;) {
    try {
      const answer = await api.report(id, verb, fields);
      if (answer.status < 500)
        return answer;
    } catch {
      // lost on its way there or back
    }
    await sleep(20);
  }
}

/**
 * Returns an answer for a receiver: 200, and afterwards what `outcomeOf(arrival)`
 * says, a list `[verb, fields]`, is told through `api`; nothing where it returns
 * nothing. `reports` has what was told and answered, `settled()` waits until all
 * of it was.
 */
export function ackWorker(api, outcomeOf, { fenced = false } = {}) {
  const reports = [];
  const open = new Set();
  const tell = async ({ id, delivery }, [verb, fields = {}]) => {
    const body = fenced ? { ...fields, delivery } : fields;
    const answer = await reportUntilAnswered(api, id, verb, body);
    reports.push({ id, delivery, verb, fields, answer });
  };
  const answer = (arrival) => {
    const outcome = outcomeOf(arrival);
    if (outcome !== undefined)
      arrival.response.once('finish', () => {
        const told = tell(arrival, outcome).finally(() => open.delete(told));
        open.add(told);
      });
    return { status: 200 };
  };
  const settled = async () => {
    while (open.size > 0)
      await Promise.all(open);
  };
  return { answer, reports, settled };
}
