// What does a delivery look like? Prints each one that arrives and answers what
// it was told to answer:
//
//   node examples/receiver.mjs [PORT]      (9000; 0 picks a free one)
//   curl -X POST 'http://127.0.0.1:9000/answer?status=429&retryAfter=5'
//   curl -X POST 'http://127.0.0.1:9000/answer?status=200'
//
// Everything that is not sent to /answer is a delivery.

import { listen } from './tidegate.mjs';

let answer = { status: 200, headers: {} };

/** Takes what is to be answered from now on out of a query. */
function change(query) {
  const retryAfter = query.get('retryAfter');
  answer = {
    status: Number(query.get('status') ?? 200),
    headers: retryAfter === null ? {} : { 'retry-after': retryAfter },
  };
  return { status: 200, body: `answering ${answer.status} from now on\n` };
}

function deliver(request, body) {
  const number = request.headers['x-tidegate-delivery'];
  console.log(`delivery ${number}, answered ${answer.status}: ${body}`);
  return answer;
}

const { url } = await listen((request, body) => {
  const target = new URL(request.url, 'http://receiver');
  return target.pathname === '/answer' ? change(target.searchParams) : deliver(request, body);
}, Number(process.argv[2] ?? 9000));
console.log(`listening ${url}`);
