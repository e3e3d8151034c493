"""What the Python examples share: start a server, talk to it, listen.

Not an example itself. Only what comes with Python 3.9.
"""

import json
import os
import secrets
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request
from http.client import HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Server:
    """A server on a free port with data of its own, which `stop` removes."""

    def __init__(self, binary):
        self.data = tempfile.mkdtemp(prefix='tidegate-')
        self.key = 'sq_live_' + secrets.token_hex(20)
        self.process = subprocess.Popen(
            [binary, 'serve', '--listen', '127.0.0.1:0', '--data', self.data,
             '--allow-target', '127.0.0.0/8', '--log-level', 'error'],
            stdout=subprocess.PIPE, text=True,
            env={**os.environ, 'TIDEGATE_API_KEY': self.key})
        line = self.process.stdout.readline()
        if not line.startswith('listening '):
            self.kill()
            raise RuntimeError(f'{binary} does not listen')
        self.url = line.split()[1]

    def call(self, method, path, body=None):
        """Makes one call and returns the parsed answer."""
        status, text = post(self.url + path, self.key, body, method)
        if status >= 300:
            raise RuntimeError(f'{method} {path}: {status} {text}')
        return json.loads(text) if text else None

    def stop(self):
        self.process.terminate()
        code = self.process.wait()
        shutil.rmtree(self.data, ignore_errors=True)
        if code != 0:
            raise RuntimeError(f'the server ended with {code}')

    def kill(self):
        """Ends it where `stop` was not reached."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.data, ignore_errors=True)


def post(url, key, body=None, method='POST', timeout=10):
    """Makes one call. Returns its status and text, 599 where there is no answer."""
    data = None if body is None else json.dumps(body).encode()
    headers = {'authorization': f'Bearer {key}', 'content-type': 'application/json'}
    request = urllib.request.Request(url, data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode()
    except (OSError, HTTPException) as lost:
        return 599, str(lost)


class Listener(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


def listen(handler):
    """Listens on 127.0.0.1. Returns what has `url` and `shutdown()`.

    `handler` is given method, path, headers and body of each request and returns
    `(status, headers, body)`, or None where the connection is to end instead.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = 'HTTP/1.1'

        def answer(self):
            size = int(self.headers.get('content-length', 0))
            result = handler(self.command, self.path, self.headers, self.rfile.read(size))
            if result is None:
                self.close_connection = True
                return
            status, headers, body = result
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header('content-length', str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = answer
        do_GET = answer

        def log_message(self, *_):
            pass

    server = Listener(('127.0.0.1', 0), Handler)
    server.url = f'http://127.0.0.1:{server.server_port}'
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def start_proxy(target, loses):
    """Listens and passes every call on to the server at `target`.

    Where `loses(path)` is true the call is made, and instead of its answer the
    caller sees the connection end.
    """

    def pass_on(method, path, headers, body):
        key = headers.get('authorization', '').removeprefix('Bearer ')
        status, text = post(target + path, key, json.loads(body or b'{}'), method)
        return None if loses(path) else (status, {}, text.encode())

    return listen(pass_on)


def until(what, seconds, probe):
    """Calls `probe` until it returns something true, for at most `seconds`."""
    deadline = time.monotonic() + seconds
    while not (answer := probe()):
        if time.monotonic() > deadline:
            raise TimeoutError(f'{what}: not within {seconds} s')
        time.sleep(0.05)
    return answer
