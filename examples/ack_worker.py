"""How do I write a worker for ack mode in Python, without a framework?

The webhook answers 200 at once, which only says "I have it". The work is done
afterwards, and what became of it is told by a call:

  POST /v1/jobs/:id/ack                           it is done
  POST /v1/jobs/:id/nack  {"retryable": false}    it never will be
  POST /v1/jobs/:id/defer {"retryAfter": 2}       not now: nobody's fault

  python3 examples/ack_worker.py build/tidegate [--fenced] [--lossy]

starts a server, a provider that allows five calls in two seconds, and the
worker; publishes twelve jobs, one of which is no good, and ends when all of them
have ended. With --fenced the calls say which delivery they are about, with
--lossy the answer to the first of each kind gets lost.
"""

import argparse
import base64
import hashlib
import hmac
import json
import math
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

from tidegate import Server, listen, post, start_proxy, until

# -- who is calling? This part is yours. ---------------------------------------

# Most seconds between a delivery's timestamp and our clock.
TOLERANCE = 300


def is_signed(body, headers, secret):
    """Whether the body is signed with the secret, taken as it is printed.

    While a rotation overlaps, the secret before has a header of its own.
    """
    expected = 'sha256=' + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return any(hmac.compare_digest(headers.get(name, '').encode(), expected.encode())
               for name in ('x-simpleq-signature', 'x-simpleq-signature-previous'))


def is_signed_and_fresh(body, headers, secret):
    """The same by Standard Webhooks, where the key is what the secret stands for.

    It covers the time as well, so what somebody recorded cannot be sent again
    later.
    """
    timestamp = headers.get('webhook-timestamp', '')
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > TOLERANCE:
        return False
    key = base64.b64decode(secret.removeprefix('whsec_'))
    signed = f"{headers.get('webhook-id')}.{timestamp}.".encode() + body
    digest = hmac.new(key, signed, hashlib.sha256).digest()
    expected = b'v1,' + base64.b64encode(digest)
    return any(hmac.compare_digest(given.encode(), expected)
               for given in headers.get('webhook-signature', '').split(' '))


# -- the worker: this part is yours --------------------------------------------

class Worker:
    # A call is made again after so many seconds; the last one repeats.
    PAUSES = (0.05, 0.2, 1, 5)

    # A call is made this often at most. The ack timeout sees to the rest.
    TRIES = 12

    def __init__(self, url, key, secret, call_provider, fenced):
        self.url = url
        self.key = key
        self.secret = secret
        self.call_provider = call_provider
        self.fenced = fenced
        self.pool = ThreadPoolExecutor(10)
        self.repeated = 0
        self.lock = threading.Lock()

    def take(self, _method, _path, headers, body):
        """Answers a delivery at once, and sets about it."""
        if not (is_signed(body, headers, self.secret)
                and is_signed_and_fresh(body, headers, self.secret)):
            return 401, {}, b''
        self.pool.submit(self.work, json.loads(body), int(headers['x-tidegate-delivery']))
        return 200, {}, b''

    def work(self, job, delivery):
        """Does the work. However it ends, the queue is told."""
        try:
            verb, fields = self.outcome_of(job)
        except Exception as failure:
            verb, fields = 'nack', {'reason': str(failure)[:500]}
        print(f"job {job['payload']['n']}: {verb} {fields}", flush=True)
        self.report(job, delivery, verb, fields)

    def outcome_of(self, job):
        """Returns the call that tells what became of the job."""
        if not isinstance(job['payload'].get('to'), str):
            return 'nack', {'retryable': False, 'reason': 'payload.to must be a string'}
        status, retry_after = self.call_provider(job)
        if status == 429:
            return 'defer', {'retryAfter': retry_after, 'reason': 'the provider said 429'}
        if status >= 300:
            return 'nack', {'reason': f'the provider said {status}'}
        return 'ack', {}

    def report(self, job, delivery, verb, fields):
        """Makes the call until there is an answer that counts.

        It is safe to repeat: the same outcome again changes nothing. Should the job
        have been delivered once more meanwhile, a repeat would be taken for that
        delivery's outcome; the number of the delivery, which makes the call fenced,
        rules this out.
        """
        body = {**fields, 'delivery': delivery} if self.fenced else fields
        for n in range(self.TRIES):
            if n > 0:
                with self.lock:
                    self.repeated += 1
                time.sleep(self.PAUSES[min(n, len(self.PAUSES)) - 1])
            status, _ = post(f"{self.url}/v1/jobs/{job['id']}/{verb}", self.key, body)
            # 409: what became of it is known already, and it was something else.
            if status < 500 and status != 429:
                return


# -- a provider that allows `limit` calls in `seconds` -------------------------

class Provider:
    def __init__(self, limit, seconds):
        self.limit = limit
        self.seconds = seconds
        self.calls = []
        self.lock = threading.Lock()

    def take(self, *_):
        with self.lock:
            now = time.monotonic()
            self.calls = [at for at in self.calls if at > now - self.seconds]
            if len(self.calls) < self.limit:
                self.calls.append(now)
                return 200, {}, b''
            wait = math.ceil(self.calls[0] + self.seconds - now)
            return 429, {'retry-after': str(wait)}, b''


def make_call(url):
    """Returns a function that calls the provider for a job."""

    def call(job):
        # Work can be delivered twice. The provider knows by the id that it is the same.
        request = urllib.request.Request(
            url, b'', {'idempotency-key': job['id']}, method='POST')
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, None
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code, float(refused.headers.get('retry-after', 1))

    return call


# -- all of it together --------------------------------------------------------

def make_loss(lossy):
    """Says of the first call of each kind that its answer gets lost."""
    seen = set()
    lock = threading.Lock()

    def loses(path):
        verb = path.rsplit('/', 1)[-1]
        with lock:
            first = verb not in seen
            seen.add(verb)
        return lossy and first

    return loses


def forge(secret, body, timestamp):
    """Signs as the server does, at a time of our choice."""
    key = base64.b64decode(secret.removeprefix('whsec_'))
    digest = hmac.new(key, f'forged.{timestamp}.'.encode() + body, hashlib.sha256).digest()
    return {
        'x-simpleq-signature':
            'sha256=' + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest(),
        'webhook-id': 'forged',
        'webhook-timestamp': str(timestamp),
        'webhook-signature': 'v1,' + base64.b64encode(digest).decode(),
    }


def check_forgeries(worker):
    now = int(time.time())
    body = b'{"payload":{"n":0}}'
    forgeries = (
        (b'{"payload":{"n":1}}', forge(worker.secret, body, now)),
        (body, forge(worker.secret, body, now - 2 * TOLERANCE)),
        (body, {}),
    )
    for given, headers in forgeries:
        assert worker.take('POST', '/', headers, given)[0] == 401
    print('a changed, an old and an unsigned delivery were refused')


def run(server, fenced, lossy):
    provider = listen(Provider(5, 2).take)
    proxy = start_proxy(server.url, make_loss(lossy))
    webhook = listen(lambda *request: worker.take(*request))
    queue = server.call('POST', '/v1/queues', {
        'name': 'calls', 'webhookUrl': webhook.url, 'mode': 'ack', 'ackTimeout': 30})
    worker = Worker(proxy.url, server.key, queue['signingSecret'],
                    make_call(provider.url), fenced)
    check_forgeries(worker)

    bad = 7
    ids = []
    for n in range(1, 13):
        payload = {'n': n} if n == bad else {'n': n, 'to': 'a@b.com'}
        ids.append(server.call('POST', '/v1/queues/calls/jobs', {'payload': payload})['id'])

    def all_ended():
        counts = server.call('GET', '/v1/queues/calls')['counts']
        return counts['completed'] + counts['dead'] == len(ids)

    until('all jobs ended', 60, all_ended)
    worker.pool.shutdown()

    jobs = [server.call('GET', f'/v1/jobs/{id}') for id in ids]
    refused = jobs.pop(bad - 1)
    assert refused['status'] == 'dead', refused
    assert refused['deadReason'] == 'nack_not_retryable', refused
    for job in jobs:
        assert job['status'] == 'completed', job
        assert job['attempts'] == 1, job
        assert job['deliveries'] == job['attempts'] + job['deferCount'], job
    deferred = sum(job['deferCount'] > 0 for job in jobs)
    assert deferred > 0, 'the provider never said "not now"'
    assert worker.repeated == (3 if lossy else 0), worker.repeated
    print(f'11 jobs done, {deferred} of them had to wait, no attempt was burned; '
          f'1 was refused; {worker.repeated} calls were repeated')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('binary', nargs='?', default='build/tidegate')
    parser.add_argument('--fenced', action='store_true')
    parser.add_argument('--lossy', action='store_true')
    options = parser.parse_args()
    server = Server(options.binary)
    try:
        run(server, options.fenced, options.lossy)
        server.stop()
    finally:
        server.kill()


if __name__ == '__main__':
    main()
