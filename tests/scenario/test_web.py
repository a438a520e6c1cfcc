#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""opensm-web as clients see it: every address, users, TLS, what is malformed or slow, a daemon that
is gone. On a simulated fabric; run in the build directory."""

import base64
import concurrent.futures
import gzip
import hashlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from test_console import SECONDS, check, checks, free_port, wait_for  # noqa: E402
from test_control_socket import IS_ROOT, Control, SocketDaemon  # noqa: E402
from test_tls import Certificates  # noqa: E402

OPENSM_WEB = os.path.abspath(os.environ.get('OPENSM_WEB', './opensm/web/opensm-web'))


def crypt(password):
    made = subprocess.run(['openssl', 'passwd', '-6', '-salt', 'salt', '-stdin'], check=True,
                          input=password, capture_output=True, text=True)
    return made.stdout.strip()


class Web:
    """opensm-web with a configuration of these lines; with Web('...') as web: ..."""

    def __init__(self, *lines, control=None, tls=None, spawn=(), **popen):
        self.dir = tempfile.TemporaryDirectory(prefix='opensm-web.')
        self.port = free_port()
        self.lines = [f'listen 127.0.0.1:{self.port}', *lines]
        self.control = control or self.path('no.sock')
        self.lines.append(f'control_socket {self.control}')
        self.tls, self.popen = tls, popen
        self.conf = self.write('web.conf', '\n'.join(self.lines) + '\n')
        self.argv = [*spawn, OPENSM_WEB, '-F', self.conf]

    def path(self, name):
        return os.path.join(self.dir.name, name)

    def write(self, name, text, mode=0o640):
        with open(self.path(name), 'w') as file:
            file.write(text)
        os.chmod(self.path(name), mode)
        return self.path(name)

    def __enter__(self):
        with open(self.path('errors'), 'w') as errors:
            env = {name: value for name, value in os.environ.items() if name != 'JOURNAL_STREAM'}
            self.child = subprocess.Popen(self.argv, stderr=errors, stdout=errors, env=env,
                                          stdin=subprocess.DEVNULL, **self.popen)
        check('it serves', self.says('serving at'), self.errors())
        return self

    def __exit__(self, *_):
        if self.child.poll() is None:
            self.child.terminate()
        try:
            check('it ends with code 0', self.child.wait(SECONDS) == 0, self.errors())
        except subprocess.TimeoutExpired:
            self.child.kill()
            check('it ends', False)
        self.dir.cleanup()

    def errors(self):
        with open(self.path('errors')) as file:
            return file.read()

    def says(self, text):
        return wait_for(lambda: text in self.errors() or self.child.poll() is not None) and \
            text in self.errors()

    def connect(self, timeout=SECONDS):
        if self.tls:
            return http.client.HTTPSConnection('127.0.0.1', self.port, timeout=timeout,
                                               context=self.tls)
        return http.client.HTTPConnection('127.0.0.1', self.port, timeout=timeout)

    def ask(self, path, method='GET', body=None, connection=None, **headers):
        """(status, headers, body) of one request."""
        client = connection or self.connect()
        names = {name.replace('_', '-'): value for name, value in headers.items()}
        client.request(method, path, body, names)
        answer = client.getresponse()
        text = answer.read()
        if not connection:
            client.close()
        return answer.status, answer.headers, text

    def status(self, path, **more):
        return self.ask(path, **more)[0]

    def json(self, path, **more):
        return json.loads(self.ask(path, **more)[2])

    def raw(self, octets, timeout=SECONDS):
        """What is answered to these octets until the connection ends."""
        with socket.create_connection(('127.0.0.1', self.port), timeout) as client:
            client.sendall(octets)
            answer = b''
            try:
                while data := client.recv(65536):
                    answer += data
            except (ConnectionResetError, TimeoutError):
                pass
            return answer


def basic(user, password):
    return 'Basic ' + base64.b64encode(f'{user}:{password}'.encode()).decode()


def probes(web):
    for path in ('/livez', '/readyz', '/readyz?role=master', '/healthz'):
        check(f'{path}', wait_for(lambda: web.status(path) == 200), web.ask(path))
    check('each check', web.ask('/readyz?verbose')[2] == b'[+]daemon ok\n[+]master ok\n[+]subnet '
          b'ok\n', web.ask('/readyz?verbose'))
    check('HEAD', web.ask('/livez', 'HEAD')[::2] == (200, b''))
    check('health is JSON', web.json('/healthz')['healthy'] is True)
    status, headers, text = web.ask('/livez')
    check('headers of security', headers['X-Content-Type-Options'] == 'nosniff' and
          "default-src 'none'" in headers['Content-Security-Policy'] and
          headers['Cache-Control'] == 'no-store' and not headers['Access-Control-Allow-Origin'],
          headers.items())


def series(text, packed=False):
    """The samples without their values."""
    text = gzip.decompress(text) if packed else text
    return [line.rsplit(b' ', 1)[0] for line in text.splitlines() if not line.startswith(b'#')]


def metrics(web):
    status, headers, text = web.ask('/metrics')
    check('text', status == 200 and headers['Content-Type'].startswith(
        'text/plain; version=0.0.4') and b'opensm_sm_state{state="master"} 1' in text, headers)
    check('of this process', b'# TYPE opensm_web_requests_total counter' in text and
          b'opensm_web_requests_total{handler="livez",code="200"}' in text)
    check('small', len(text) < 100_000, len(text))
    if shutil.which('promtool'):
        said = subprocess.run(['promtool', 'check', 'metrics'], input=text, capture_output=True)
        check('promtool takes it', said.returncode in (0, 3) and
              b'opensm_web' not in said.stderr, said.stderr)  # others: test_opensmctl.py
    start = time.monotonic()
    for _ in range(20):
        web.ask('/metrics')
    print(f'# /metrics: {(time.monotonic() - start) / 20 * 1000:.1f} ms, {len(text)} octets')
    status, headers, text = web.ask(
        '/metrics', Accept='application/openmetrics-text;version=1.0.0,text/plain;q=0.5')
    check('OpenMetrics', headers['Content-Type'].startswith('application/openmetrics-text') and
          text.endswith(b'# EOF\n') and text.count(b'# EOF') == 1 and
          b'# TYPE opensm_web_requests counter' in text, headers)
    status, headers, packed = web.ask('/metrics', Accept_Encoding='gzip')
    check('compressed', headers['Content-Encoding'] == 'gzip' and
          b'opensm_sm_state' in gzip.decompress(packed), headers)
    check('not if refused', not web.ask('/metrics', Accept_Encoding='gzip;q=0')[1][
        'Content-Encoding'])
    check('counters', wait_for(lambda: b'infiniband_switch_port_receive_packets_total{' in
                               web.ask('/metrics/ports')[2]))
    names = [series(web.ask('/metrics/ports?shard=1/1', **more)[2], packed)
             for more, packed in (({}, False), ({'Accept_Encoding': 'gzip'}, True))]
    check('the same compressed', names[0] == names[1] and len(names[0]) > 500, len(names[0]))
    parts = [series(web.ask(f'/metrics/ports?shard={i}/3')[2]) for i in (1, 2, 3)]
    of_nodes = [[name for name in part if b'guid=' in name] for part in [names[0], *parts]]
    check('in parts', sorted(sum(of_nodes[1:], [])) == sorted(of_nodes[0]) and all(of_nodes),
          [len(part) for part in of_nodes])
    some = series(web.ask('/metrics/ports?level=traffic&collect[]=hca')[2])
    check('some', 0 < len(some) < len(names[0]), len(some))
    for level in ('off', 'daemon', 'errors', 'traffic', 'all'):
        check(f'ports: {level}', web.status(f'/metrics/ports?level={level}&collect[]=switch') in
              (200, 400), web.ask(f'/metrics/ports?level={level}'))
    check('a wrong level', web.status('/metrics/ports?level=most') == 400)
    check('a wrong shard', web.status('/metrics/ports?shard=3/2') == 400)
    check('a quick client', web.status('/metrics', X_Prometheus_Scrape_Timeout_Seconds='10') == 200)


def api(web):
    for name in ('sms', 'version', 'health', 'status', 'events', 'partitions', 'mgroups',
                 'portstatus', 'ports_down', 'ports_slow', 'unhealthy', 'subscriptions',
                 'switchbalance', 'qos', 'perfmgr', 'events?n=3', 'partitions/0x7fff',
                 'partitions/32767', 'portstatus?type=ca', 'path?from=host-0&to=host-1',
                 'perfmgr/rules', 'qos?node=host-0&port=1', 'cc', 'cc/ports', 'cc/values',
                 'cc/effect'):
        status, headers, text = web.ask(f'/api/v1/{name}')
        check(f'/api/v1/{name}', status == 200 and isinstance(json.loads(text), dict) and
              headers['Content-Type'] == 'application/json', (status, text[:300]))
    check('hosts', web.json('/api/v1/status')['subnet']['hosts'] == 16)
    for name, expected in (('nothing', 404), ('', 404), ('events?n=x', 400),
                           ('partitions/reload', 400), ('partitions/0x1234', 404),
                           ('partitions/forget%20all', 400), ('portstatus?type=x', 400),
                           ('path?from=host-0', 400), ('path?from=host-0&to=nobody', 404),
                           ('path?from=a%22b%27&to=c', 400), ('perfmgr/sweep', 400),
                           ('perfmgr/clear_counters', 400), ('qos?node=reload', 400),
                           ('cc/ask', 400), ('health/accept', 400), ('health%20accept', 404),
                           ('unhealthy/release', 400), ('a%0Ab', 400), ('a%00', 400),
                           ('%ff', 400), ('status?x=%zz', 400), ('wait', 400),
                           ('wait?since=x', 400)):
        status, _, text = web.ask(f'/api/v1/{name}')
        check(f'/api/v1/{name}', status in (expected, 400 if expected == 404 and 'to=' in name
                                            else expected) and 'error' in json.loads(text),
              (status, text))
    check('nothing was changed', web.json('/api/v1/partitions')['problems'] == []
          if 'problems' in web.json('/api/v1/partitions') else True)
    check('not with POST', web.ask('/api/v1/status', 'POST', '{}')[0] == 405)
    check('what it may be', web.ask('/livez', 'DELETE')[1]['Allow'] == 'GET, HEAD')
    check('no such path', web.status('/nothing') == 404)
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        codes = list(pool.map(lambda _: web.status('/api/v1/status'), range(200)))
    check('200 at once', set(codes) == {200}, codes)


def cells(table):
    return [dict(zip(table['columns'], row)) for row in table['rows']]


def fabric(web, daemon):
    """Out of the image of the fabric, which is asked for again once the fabric has changed."""
    status, headers, text = web.ask('/api/v1/summary')
    summary = json.loads(text)
    check('summary', status == 200 and summary['totals']['hosts'] == 16, text[:300])
    check('its boxes have all switches', sum(box['switches'] for box in cells(summary['boxes'])) ==
          summary['totals']['switches'])
    tag = headers['ETag']
    check('not modified', web.ask('/api/v1/summary', **{'If-None-Match': tag})[::2] == (304, b''))
    leaves = cells(web.json('/api/v1/nodes?level=1')['nodes'])
    check('leaves', leaves and all(leaf['type'] == 'switch' for leaf in leaves), leaves)
    hosts_there = cells(web.json(f'/api/v1/nodes?switch={leaves[0]["guid"]}')['nodes'])
    check('hosts of a leaf', len(hosts_there) == leaves[0]['hosts'], hosts_there)
    ports = cells(web.json('/api/v1/ports?name=host-3')['ports'])
    check('a port', len(ports) == 1 and ports[0]['state'] == 'active', ports)
    place = f'node={ports[0]["peer_guid"]}&port={ports[0]["peer_port"]}'
    ends = cells(web.json(f'/api/v1/cable?{place}')['ends'])
    check('a cable', [end['node'] for end in ends][1] == 'host-3', ends)
    for box in cells(web.json('/api/v1/links')['boxes']):
        path = 'nodes' if box['kind'] == 'switch' else 'links'
        check(f'open {box["open"]}', web.status(f'/api/v1/{path}?{box["open"]}') == 200)
    for path, expected in (('nodes?level=x', 400), ('nodes?group=0x1', 404), ('ports?after=x', 400),
                           ('ports?node=0x1', 200), ('cable', 400), ('cable?node=0x1&port=1', 404),
                           ('history?port=1', 400), ('summary?level=1', 400)):
        status, _, text = web.ask(f'/api/v1/{path}')
        check(f'/api/v1/{path}', status == expected and isinstance(json.loads(text), dict),
              (status, text))
    control = [os.path.abspath('./opensm/opensmctl/opensmctl'), '-s', daemon.socket]
    stale = {'Cache-Control': 'max-stale'}
    before = web.json('/api/v1/summary')['serial']
    for _ in range(2):  # rates are known after the second
        subprocess.run([*control, 'perfmgr', 'sweep'], check=True, capture_output=True)
        check('a newer image', wait_for(lambda: web.json('/api/v1/events?n=1')['image'] > before))
    status, _, text = web.ask('/api/v1/summary', **stale)
    check('old counters at once', status == 200 and json.loads(text)['serial'] == before, text)
    check('and soon the new ones', wait_for(lambda: json.loads(web.ask(
        '/api/v1/summary', **stale)[2])['serial'] > before))
    subprocess.run([*control, 'sim', 'unlink', 'host-5', '1'], check=True, capture_output=True)
    check('a host less', wait_for(lambda: ' 15 hosts' in web.json('/api/v1/health')['state']))
    status, _, text = web.ask('/api/v1/summary', **stale)
    check('never another subnet', json.loads(text)['totals']['hosts'] == 15, text[:300])
    check('modified', web.ask('/api/v1/summary', **{'If-None-Match': tag})[0] == 200)
    subprocess.run([*control, 'sim', 'link', 'host-5', '1'], check=True, capture_output=True)
    check('and again', wait_for(lambda: web.json('/api/v1/summary')['totals']['hosts'] == 16))


def hosts(web):
    for host, expected in (('evil.example', 421), ('127.0.0.1.evil.example', 421),
                           ('localhost:80', 200), ('[::1]:80', 200), ('10.0.0.1', 200),
                           ('10.244.1.7:9315', 200), ('[fd00:10:244::7]:9315', 200),
                           ('sm.site', 200), ('SM.site:9315', 200), ('a, localhost', 421)):
        check(f'Host: {host}', web.status('/livez', Host=host) == expected,
              web.ask('/livez', Host=host))


def connections(web):
    text = web.ask('/metrics')[2].decode()
    return int(re.search('^opensm_web_connections ([0-9]+)$', text, re.M)[1])


def news(web, daemon):
    first = web.json('/api/v1/events?n=1')
    if 'serial' not in first:
        checks.skip('waiting for events', 'this daemon does not number them')
        return
    serial = web.json('/api/v1/wait?since=0')['serial']
    start = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        waiting = [pool.submit(web.json, f'/api/v1/wait?since={serial}') for _ in range(20)]
        time.sleep(0.5)
        check('they wait', not any(future.done() for future in waiting))
        subprocess.run([os.path.abspath('./opensm/opensmctl/opensmctl'), '-s', daemon.socket,
                        'sim', 'unlink', 'host-3', '1'], check=True, capture_output=True)
        told = [future.result(SECONDS) for future in waiting]
    check('all are told', all(answer['serial'] > serial for answer in told), told[:2])
    check('at once', time.monotonic() - start < 20)
    serial = web.json('/api/v1/wait?since=0')['serial']
    for client in [web.connect() for _ in range(20)]:
        client.request('GET', f'/api/v1/wait?since={serial}')
        time.sleep(0.02)
        client.close()
    start = time.monotonic()
    check('those that have left are forgotten',
          wait_for(lambda: connections(web) <= 2) and time.monotonic() - start < 10,
          connections(web))
    check('metrics go on meanwhile', web.status('/metrics') == 200)
    waiting = [web.connect() for _ in range(32)]
    for client in waiting:
        client.request('GET', f'/api/v1/wait?since={serial}')
    time.sleep(0.5)
    check('probes beside 32 that wait', [web.status('/livez') for _ in range(3)] == [200] * 3)
    first = waiting[0].getresponse()
    check('the oldest has given way', first.status == 200 and first.headers['Connection'] ==
          'close' and json.loads(first.read())['serial'] == serial, first.headers)
    for client in waiting:
        client.close()
    check('all have left', wait_for(lambda: connections(web) <= 2), connections(web))


REQUESTS = (
    (b'', b''), (b'\r\n\r\n', None), (b'GET\r\n\r\n', None), (b'\x16\x03\x01\x02\x00', None),
    (b'GET / HTTP/9.9\r\n\r\n', None), (b'GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n', b' 4'),
    (b'GET http://localhost/livez HTTP/1.1\r\nHost: localhost\r\n\r\n', b' 200'),
    (b'GET http://evil.example/livez HTTP/1.1\r\nHost: localhost\r\n\r\n', b' 421'),
    (b'GET http://localhost HTTP/1.1\r\nHost: localhost\r\n\r\n', b' 200'),
    (b'GET ftp://localhost/livez HTTP/1.1\r\nHost: localhost\r\n\r\n', b' 400'),
    (b'GET /livez HTTP/1.1\r\n\r\n', b' 400'), (b'GET /livez HTTP/1.0\r\n\r\n', b' 200'),
    (b'GET /livez HTTP/1.1\r\nHost: localhost\r\nHost: x\r\nConnection: close\r\n\r\n', b' 4'),
    (b'GET /' + b'a' * 40000 + b' HTTP/1.1\r\nHost: localhost\r\n\r\n', b' 414'),
    (b'GET /livez HTTP/1.1\r\nHost: localhost\r\n' + b'X: y\r\n' * 20000 + b'\r\n', b' 4'),
    (b'POST /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n\r\n', b' 413'),
    (b'POST /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n', b' 4'),
    (b'POST /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n'
     b'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n', b' 400'),
    (b'POST /livez HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', b''),
    (b'GET /livez HTTP/1.1\r\nHost: local\x01host\r\n\r\n', b' 4'),
    (b'\x00' * 1000 + b'\r\n\r\n', None),
)


def malformed(web):
    for request, expected in REQUESTS:
        answer = web.raw(request, 0.5)
        first = answer.split(b'\r\n')[0]
        check(f'{request[:60]}', expected is None or expected in first, answer[:200])
        check('and it lives', web.status('/livez') == 200)
    body = b'%x\r\n' % 65536 + b'x' * 65536 + b'\r\n'
    answer = web.raw(b'POST /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n'
                     b'Transfer-Encoding: chunked\r\n\r\n' + body * 20 + b'0\r\n\r\n', 5)
    check('a long body', b' 413' in answer.split(b'\r\n')[0], answer[:200])
    two = web.raw(b'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n'
                  b'GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
    check('two in one', two.count(b' 200 OK') == 2, two)


def slow(web):
    """Clients that send an octet a second take all the connections of their address, and give
    way to others."""
    crowd = [socket.create_connection(('127.0.0.1', web.port)) for _ in range(256)]
    for _ in range(3):
        for client in crowd:
            try:
                client.send(b'G')
            except OSError:
                pass
        start = time.monotonic()
        check('served beside 256 that are slow', web.status('/livez', ) == 200)
        check('soon', time.monotonic() - start < 2, time.monotonic() - start)
        time.sleep(0.3)
    for client in crowd:
        client.close()
    many = []
    for _ in range(3000):
        client = socket.socket()
        client.setblocking(False)
        client.connect_ex(('127.0.0.1', web.port))
        many.append(client)
        if len(many) > 500:
            many.pop(0).close()
    check('served beside many', web.status('/livez') == 200)
    for client in many:
        client.close()
    with open(f'/proc/{web.child.pid}/status') as file:
        text = file.read()
    print('#', re.search('VmRSS.*', text)[0])
    check('none of them is kept', wait_for(lambda: connections(web) <= 2), connections(web))
    if IS_ROOT:  # its files are hidden from others
        files = f'/proc/{web.child.pid}/fd'
        check('few descriptors', wait_for(lambda: len(os.listdir(files)) < 60), os.listdir(files))


def few_descriptors(control):
    """It listens again after more connections than it may open files."""
    limit = ['/bin/sh', '-c', 'ulimit -n 128; exec "$@"', 'sh']
    with Web('max_connections_per_address 10000', control=control, spawn=limit) as web:
        check('says what fits', web.says('max_connections 256: only '), web.errors())
        for _ in range(2):
            many = [socket.create_connection(('127.0.0.1', web.port)) for _ in range(250)]
            for client in many:
                try:
                    client.send(b'GET /liv')
                except OSError:
                    pass
            time.sleep(1)
            for client in many:
                client.close()
        start = time.monotonic()
        check('served after too many', web.status('/livez') == 200)
        check('at once', time.monotonic() - start < 3, time.monotonic() - start)


def sleepers(web):
    """One that sends no whole request is shut down, though it is never silent."""
    with socket.create_connection(('127.0.0.1', web.port)) as client:
        start = time.monotonic()
        client.settimeout(1)
        ended = False
        while not ended and time.monotonic() - start < 40:
            try:
                client.send(b'G')
                ended = client.recv(1) == b''
            except TimeoutError:
                pass
            except OSError:
                ended = True
        check('the slow one is shut down', ended and time.monotonic() - start < 30,
              time.monotonic() - start)


def without_daemon(web):
    status, headers, text = web.ask('/livez')
    check('not alive', status == 503 and b'[-]daemon failed' in text, text)
    check('not ready', web.status('/readyz') == 503)
    for path in ('/healthz', '/metrics', '/metrics/ports', '/api/v1/status',
                 '/api/v1/partitions', '/api/v1/wait?since=0', '/api/v1/summary'):
        status, headers, text = web.ask(path)
        check(f'{path} without a daemon', status == 503 and headers['Retry-After'] and
              'error' in json.loads(text), (status, text))


def gone(daemon):
    """The daemon dies, stops to answer, and comes back."""
    with Web(control=daemon.socket) as web:
        check('alive', web.status('/livez') == 200)
        daemon.child.send_signal(signal.SIGSTOP)
        time.sleep(1)  # an answer is shared for half a second
        start = time.monotonic()
        check('it does not answer', web.status('/livez') == 503)
        check('in 5 s', 4 < time.monotonic() - start < 8, time.monotonic() - start)
        daemon.child.send_signal(signal.SIGCONT)
        check('it answers again', wait_for(lambda: web.status('/livez') == 200))
        daemon.child.kill()
        daemon.child.wait()
        time.sleep(1)
        without_daemon(web)
        daemon.__enter__()
        check('it is back', wait_for(lambda: web.status('/readyz') == 200))
        web.child.kill()
        web.child.wait()
        with Control(daemon.socket) as control:
            check('its death does nothing to the daemon', control.ask('version')['status'] == 0)
        web.__enter__()
        check('served again', web.status('/livez') == 200)


def users(control):
    hashed = crypt('secret')
    token = hashlib.sha256(b'wrong-is-this-not').hexdigest()
    with tempfile.TemporaryDirectory() as made:
        auth, tokens = os.path.join(made, 'auth'), os.path.join(made, 'tokens')
        for path, text in ((auth, f'reader:{hashed}:read\nwriter:{hashed}:write\n'),
                           (tokens, f'{token}:read:prometheus\n')):
            with open(path, 'w') as file:
                file.write(text)
            os.chmod(path, 0o640)
        with Web(f'auth_file {auth}', f'tokens_file {tokens}', 'metrics_auth read',
                 control=control) as web:
            roles(web, auth, hashed)
        os.chmod(auth, 0o644)
        refused = check_config(f'listen 127.0.0.1:1\nauth_file {auth}\n')
        check('a file that all can read', refused.returncode == 1 and 'mode 0644' in
              refused.stderr, refused)


def roles(web, auth, hashed):
    path = '/api/v1/version'
    status, headers, text = web.ask(path)
    check('nobody', status == 401 and headers['WWW-Authenticate'] == 'Basic realm="opensm"')
    check('probes need nobody', web.status('/livez') == 200)
    check('metrics need a reader', web.status('/metrics') == 401)
    check('a reader', web.status(path, Authorization=basic('reader', 'secret')) == 200)
    check('metrics', web.status('/metrics', Authorization=basic('reader', 'secret')) == 200)
    check('a token', web.status(path, Authorization='Basic wrong-is-this-not') == 200)
    check('as bearer', web.status(path, Authorization='Bearer wrong-is-this-not') == 200)
    check('an empty header', web.status(path, Authorization='') == 401)
    check('a plan is for writers', [web.status('/api/v1/plan', Authorization=basic(user, 'secret'))
                                    for user in ('reader', 'writer')] == [403, 200])
    start = time.monotonic()
    check('a wrong password', web.status(path, Authorization=basic('reader', 'secre')) == 401)
    check('after a second', time.monotonic() - start > 0.9)
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        wrong = [pool.submit(web.status, path, Authorization=basic(f'user{i}', 'x'))
                 for i in range(9)]
        check('probes are not delayed', web.status('/livez') == 200 and
              not any(future.done() for future in wrong))
        check('nor those who are right',
              web.status(path, Authorization=basic('reader', 'secret')) == 200)
        check('wrong ones', {future.result() for future in wrong} == {401})
    status, headers, _ = web.ask(path, Authorization=basic('reader', 'again'))
    check('too many', status == 429 and headers['Retry-After'] == '60', status)
    check('no secret is told', 'secre' not in web.errors() and hashed not in web.errors(),
          web.errors())
    with open(auth, 'w') as file:
        file.write(f'other:{hashed}:read\n')
    web.child.send_signal(signal.SIGHUP)
    check('read again', web.says('read again'))
    check('the old one is out', web.status(path, Authorization=basic('reader', 'secret')) in
          (401, 429))
    with open(auth, 'w') as file:
        file.write('other:x:read\n')
    web.child.send_signal(signal.SIGHUP)
    check('a wrong file', web.says('stay so'), web.errors())
    check('names line', f'{auth}:1: ' in web.errors(), web.errors())


def check_config(text, *words):
    with tempfile.NamedTemporaryFile('w', suffix='.conf') as file:
        file.write(text)
        file.flush()
        return subprocess.run([OPENSM_WEB, '-F', file.name, '--check-config', *words],
                              capture_output=True, text=True, timeout=SECONDS)


def configurations():
    for text, expected in (
            ('listen 127.0.0.1:1\nlistn x\n', ":2: 'listn': expected an option"),
            ('listen here\n', ":1: listen: found 'here', expected ADDRESS:PORT"),
            ('listen 0.0.0.0:1\n', 'expected tls_cert and tls_key'),
            ('listen [::]:1\n', 'expected tls_cert and tls_key'),
            ('metrics most\n', ':1: metrics: found'),
            ('rest write\n', 'expected auth_file, tokens_file or tls_ca'),
            ('rest_pkeys 5-4\n', ':1: rest_pkeys: found'),
            ('max_connections 0\n', 'a number from 1 to 10000'),
            ('page on\npage off\n', ':2: page: line 1 has given it already'),
            ('tls_cert /x\n', 'tls_cert and tls_key: expected both'),
            ('tls_cert /nothing\ntls_key /nothing\n', '/nothing: No such file'),
            ('trusted_hosts a b\n', ':1: trusted_hosts: found'),
            ('listen_mode 0466\n', ":1: listen_mode: found '0466', expected a mode"),
            ('page\n', ':1: page: expected on or off after it')):
        refused = check_config(text)
        check(f'{text!r} is refused', refused.returncode == 1 and expected in refused.stderr,
              refused)
    for text in ('', '# nothing\n', 'listen 127.0.0.1:1 # here\nlisten unix:/tmp/x\n',
                 'listen 0.0.0.0:1\ninsecure_listen TRUE\n'):
        good = check_config(text)
        check(f'{text!r} is taken', good.returncode == 0 and
              ('is good' if 'listen' in text else 'has no listen') in good.stdout, good)
    started = subprocess.run([OPENSM_WEB, '-F', '/dev/null'], capture_output=True, text=True,
                             timeout=SECONDS)
    check('nothing to listen at', started.returncode == 1, started)
    version = subprocess.run([OPENSM_WEB, '--version'], capture_output=True, text=True)
    check('version', version.stdout.startswith('opensm-web 4'), version)


def client_context(made, cert=None, ca='ca'):
    context = ssl.create_default_context(cafile=made.path(ca + '.pem'))
    if cert:
        context.load_cert_chain(made.path(cert + '.pem'), made.path(cert + '.key'))
    return context


def serial_of(web, made):
    with socket.create_connection(('127.0.0.1', web.port), SECONDS) as plain:
        context = client_context(made)
        with context.wrap_socket(plain, server_hostname='127.0.0.1') as client:
            return client.getpeercert()['subject'][0][0][1]


def certificates(control):
    with tempfile.TemporaryDirectory() as directory:
        made = Certificates(directory)
        made.make('writer', 'ca')
        cert, key = made.path('cert'), made.path('key')

        def install(name, key_of=None):
            for source, target in ((name + '.pem', cert), ((key_of or name) + '.key', key)):
                with open(made.path(source)) as file:
                    text = file.read()
                with open(target, 'w') as file:
                    file.write(text)
                os.chmod(target, 0o640)

        install('server')
        clients = made.path('clients')
        with open(clients, 'w') as file:
            file.write('# who\nread CN=client\nwrite CN=writer\n')
        lines = (f'tls_cert {cert}', f'tls_key {key}', f'tls_ca {made.path("ca.pem")}',
                 f'tls_clients_file {clients}')
        with Web(*lines, control=control, tls=client_context(made)) as web:
            by_certificates(web, made)
            check('the first certificate', serial_of(web, made) == 'server')
            kept = web.connect()
            kept.request('GET', '/livez')
            kept.getresponse().read()
            install('renewed')
            web.child.send_signal(signal.SIGHUP)
            check('read again', web.says('read again'), web.errors())
            check('the renewed one', serial_of(web, made) == 'renewed')
            check('an old connection goes on', web.status('/livez', connection=kept) == 200)
            kept.close()
            with open(web.conf) as file:
                text = file.read()
            with open(web.conf, 'w') as file:
                file.write(re.sub('(?m)^tls_.*', '', text) +
                           'listen 127.0.0.1:1\nmax_connections 9\n')
            web.child.send_signal(signal.SIGHUP)
            check('without tls_cert', web.says('SIGHUP: tls_cert: '), web.errors())
            check('what waits for the next start', 'SIGHUP: listen, max_connections: ' in
                  web.errors(), web.errors())
            with open(web.conf, 'w') as file:
                file.write(text)
            install('server', 'client')
            web.child.send_signal(signal.SIGHUP)
            check('a key of another', web.says('stay so'), web.errors())
            check('the renewed one stays', serial_of(web, made) == 'renewed')
            plain = web.raw(b'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n', 1)
            check('no TLS, no answer', b'200' not in plain, plain)
            check('then it serves', web.status('/livez') == 200)


def by_certificates(web, made):
    path = '/api/v1/version'
    check('without a certificate', web.status('/livez') == 200 and web.status(path) == 401)
    for name, expected in (('client', 200), ('writer', 200), ('server', 401), ('foreign', 401)):
        web.tls = client_context(made, name)
        try:
            status = web.status(path)
            check(f'{name} with an empty header', web.status(path, Authorization='') == expected)
        except (ssl.SSLError, ConnectionError):
            status = 401
        check(f'certificate of {name}', status == expected, status)
    check('it is told', web.says('a certificate that is not trusted'), web.errors())
    web.tls = client_context(made)
    check('any name by TLS', web.status('/livez', Host='sm.example') == 200)


def activated(control):
    """A socket that the service manager hands over."""
    with socket.create_server(('127.0.0.1', 0)) as server, tempfile.TemporaryDirectory() as made:
        conf = os.path.join(made, 'conf')
        with open(conf, 'w') as file:
            file.write(f'control_socket {control}\n')
        # The shell's process becomes opensm-web, so that LISTEN_PID fits.
        child = subprocess.Popen(
            ['/bin/sh', '-c', f'exec 3<&{server.fileno()}; LISTEN_PID=$$ LISTEN_FDS=1 '
             f'exec {OPENSM_WEB} -F {conf}'], pass_fds=[server.fileno()],
            stderr=subprocess.DEVNULL)
        client = http.client.HTTPConnection('127.0.0.1', server.getsockname()[1], timeout=SECONDS)
        client.request('GET', '/livez')
        check('by a socket of the service manager', client.getresponse().status == 200)
        client.close()
        child.terminate()
        check('it ends', child.wait(SECONDS) == 0)


def unix_socket(control):
    with tempfile.TemporaryDirectory() as made:
        path = os.path.join(made, 'web.sock')
        with Web(f'listen unix:{path}', 'listen_mode 0666', control=control) as web:
            check('its mode as given', os.stat(path).st_mode & 0o777 == 0o666)
        with Web(f'listen unix:{path}', control=control) as web:
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(path)
                client.sendall(b'GET /livez HTTP/1.0\r\n\r\n')
                check('by a Unix socket', b' 200 ' in client.recv(65536))
            check('its mode', os.stat(path).st_mode & 0o777 == 0o660)
            web.child.kill()
            web.child.wait()
            web.__enter__()
            check('a socket that was left behind', web.status('/livez') == 200)
        check('it is removed', not os.path.exists(path))


def main():
    configurations()
    with Web() as web:
        without_daemon(web)
    daemon = SocketDaemon()
    daemon.path('conf', 'perfmgr TRUE\nperfmgr_sweep_time_s 600\n')
    with daemon:
        check('up', daemon.wait_log('SUBNET UP'))
        with Web('trusted_hosts sm.site', 'metrics all', control=daemon.socket) as web:
            sleeping = threading.Thread(target=sleepers, args=(web,))
            sleeping.start()
            probes(web)
            metrics(web)
            api(web)
            fabric(web, daemon)
            hosts(web)
            news(web, daemon)
            malformed(web)
            sleeping.join()
            slow(web)
        few_descriptors(daemon.socket)
        users(daemon.socket)
        certificates(daemon.socket)
        activated(daemon.socket)
        unix_socket(daemon.socket)
        gone(daemon)
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
