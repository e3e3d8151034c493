// The description of the API says what the API does: it is valid, and whatever
// it gives as an example is taken and answered as it says.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';

import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

import { accept, startReceiver } from './support/receiver.mjs';
import { startServer } from './support/server.mjs';
import { patience, until } from './support/time.mjs';

const timeout = 60_000 * patience;

let server;
let receiver;
let description;
let schemas;
let refuses = false;

before(async (t) => {
  receiver = await startReceiver(t, () => (refuses ? { status: 500 } : accept()));
  server = await startServer(t);
  description = (await server.api.send('GET', '/openapi.json', undefined, {})).json;
  schemas = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(schemas);
  schemas.addSchema(description, 'api');
});

/** Names a part of the description as a schema can refer to it. */
const pointer = (...steps) => `api#/${steps
  .map((step) => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1')))
  .join('/')}`;

test('the description is valid OpenAPI', { timeout }, async () => {
  const { valid, errors } = await new Validator().validate(structuredClone(description));
  assert.ok(valid, JSON.stringify(errors, null, 2));
});

let made = 0;

async function queue(settings = {}) {
  const name = `q${++made}`;
  await server.api.createQueue(name, { webhookUrl: receiver.url, ...settings });
  return name;
}

async function jobIn(status) {
  refuses = status === 'dead';
  const name = await queue({ mode: status === 'dead' ? 'standard' : 'ack', maxAttempts: 1 });
  const { id } = await server.api.publish(name, { n: 1 });
  await until(`${id} is ${status}`, 10,
    async () => (await server.api.ask('GET', `/v1/jobs/${id}`)).status === status);
  refuses = false;
  return id;
}

async function waitingJob() {
  const name = await queue();
  return (await server.api.publish(name, { n: 1 }, { delay: 3600 })).id;
}

async function operation() {
  const id = await jobIn('dead');
  const { queue: name } = await server.api.ask('GET', `/v1/jobs/${id}`);
  return (await server.api.ask('POST', `/v1/queues/${name}/dlq/replay`, {})).id;
}

async function limitKey() {
  const name = await queue();
  await server.api.publish(name, 1, { limitKey: 'tenant-7', delay: 3600 });
  return { name, key: 'tenant-7' };
}

async function pullQueue() {
  const queue = `p${++made}`;
  await server.api.ask('POST', '/v1/queue/create', { name: queue });
  return { queue };
}

async function subscribedQueue() {
  const { queue } = await pullQueue();
  await server.api.ask('POST', `/v1/queue/push_subscribe/${queue}`, { url: 'http://127.0.0.1:9/' });
  return { queue };
}

/** Receives a message from the queue that the examples name. */
async function leased() {
  const queue = 'webhook-out';
  await server.api.ask('POST', '/v1/queue/publish', { queue, payload: 1 });
  const { data } = await server.api.ask('POST', '/v1/queue/consume', { queue });
  const [{ message_id, receipt_handle }] = data.items;
  return { message_id, receipt_handle };
}

async function availableMessage() {
  await server.api.ask('POST', '/v1/queue/publish', { queue: 'webhook-out', payload: 1 });
  return {};
}

const aQueue = async () => ({ name: await queue() });
const awaiting = async () => ({ id: await jobIn('awaiting_ack') });

/** What has to be there before a route with parameters is called. */
const scenes = {
  putQueue: async () => ({ name: `q${++made}` }),
  releaseLimitKey: limitKey,
  getJob: async () => ({ id: await waitingJob() }),
  cancelJob: async () => ({ id: await waitingJob() }),
  runJobNow: async () => ({ id: await waitingJob() }),
  replayJob: async () => ({ id: await jobIn('dead') }),
  ackJob: awaiting,
  nackJob: awaiting,
  deferJob: awaiting,
  touchJob: awaiting,
  getOperation: async () => ({ id: await operation() }),
  cancelOperation: async () => ({ id: await operation() }),
  consumeMessages: availableMessage,
  ackMessage: leased,
  nackMessage: leased,
  extendMessage: leased,
  releaseMessage: leased,
  ackMessages: leased,
  nackMessages: leased,
  getSubscription: subscribedQueue,
  unsubscribeWebhook: subscribedQueue,
  getDashboardFile: async () => ({ file: 'style.css' }),
  discoverOne: async () => ({ id: 'queue.publish' }),
  revokeKey: async () => ({
    id: (await server.api.ask('POST', '/v1/keys', { project: 'p', scopes: ['read'] })).id,
  }),
};

/** Returns the example of a request, with the ids of a message that is there. */
function exampleOf(route, values) {
  const example = route.requestBody?.content['application/json'].example;
  if (example === undefined)
    return undefined;
  const there = (key, value) => (key === 'message_id' || key === 'receipt_handle' ? values[key] : value);
  return JSON.parse(JSON.stringify(example, there));
}

/** Returns the scene of a route: its own, or a queue where it names one. */
function sceneOf(path, route) {
  if (scenes[route.operationId])
    return scenes[route.operationId];
  if (path.includes('{name}'))
    return aQueue;
  return path.includes('{queue}') ? pullQueue : async () => ({});
}

/** Checks an answer against what the description says of its status. */
function answersAsDescribed(path, method, { status, text, json }) {
  const described = description.paths[path][method].responses[status];
  assert.ok(described, `${method} ${path} is answered ${status}, which is not described: ${text}`);
  assert.ok(status < 300, `${method} ${path}: ${status} ${text}`);
  if (!described.content)
    return;
  const [type] = Object.keys(described.content);
  const schema = pointer('paths', path, method, 'responses', String(status), 'content', type, 'schema');
  const fits = schemas.validate({ $ref: schema }, type === 'application/json' ? json : text);
  assert.ok(fits, `${method} ${path}: ${schemas.errorsText()} in ${text}`);
}

test('every route answers its example as it is described', { timeout }, async (t) => {
  for (const [path, routes] of Object.entries(description.paths))
    for (const [method, route] of Object.entries(routes)) {
      // What has no end is read in events_test.
      if (route.responses['200']?.content?.['text/event-stream'])
        continue;
      if (!['get', 'put', 'post', 'patch', 'delete'].includes(method))
        continue;
      await t.test(`${method} ${path}`, async () => {
        const values = await sceneOf(path, route)();
        const target = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values[name]));
        const answer = await server.api.send(method.toUpperCase(), target, exampleOf(route, values));
        answersAsDescribed(path, method, answer);
      });
    }
});

test('every example of an answer has the form that is described', { timeout }, () => {
  for (const [path, routes] of Object.entries(description.paths))
    for (const [method, route] of Object.entries(routes))
      for (const [status, { content }] of Object.entries(route.responses ?? {})) {
        const body = content?.['application/json'];
        if (!body?.example)
          continue;
        const schema = pointer('paths', path, method, 'responses', status, 'content',
          'application/json', 'schema');
        assert.ok(schemas.validate({ $ref: schema }, body.example),
          `${method} ${path} ${status}: ${schemas.errorsText()}`);
      }
});
