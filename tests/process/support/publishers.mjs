// Publishers that go on whatever happens to the server, and note what they were
// told.

import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Publishes from several connections until `stop`. `accepted` are the ids that
 * were answered 201, `refused` the codes of answers that say no, `unanswered`
 * counts publishes that may or may not have been taken.
 */
export function startPublishers(server, queue, { connections = 6, pauseMs = 8 } = {}) {
  const result = { accepted: [], refused: [], unanswered: 0 };
  let next = 0;
  let stopped = false;
  const publishOne = async () => {
    try {
      const { status, json } = await server.api.send('POST', `/v1/queues/${queue}/jobs`,
        { payload: { n: next++ } });
      if (status === 201)
        result.accepted.push(json.id);
      else
        result.refused.push(json.code);
    } catch (failure) {
      if (failure.code !== 'ECONNREFUSED')
        ++result.unanswered;
    }
  };
  const loops = Array.from({ length: connections }, async () => {
    while (!stopped) {
      await publishOne();
      await sleep(pauseMs);
    }
  });
  result.stop = () => {
    stopped = true;
    return Promise.all(loops);
  };
  return result;
}
