#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""REST as two orchestrators speak it, request by request as their clients send them, on two
managers of one simulated fabric: what ports hold, what is shown, what a takeover and a restart
keep, and what is refused."""

import base64
import concurrent.futures
import hashlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import osmsim  # noqa: E402
import subnet  # noqa: E402

NEEDED = ('smpquery', 'saquery', 'sminfo')
SECONDS = 30
POLLS = 'sminfo_polling_timeout 500\npolling_retry_number 2\n'
STATE = re.compile(r'Entering (\S+) state')
TOKEN = 'a-token-of-32-characters-and-more'
VIRTUAL = ['02000000000000%02x' % n for n in range(16)]


def free_port():
    with socket.create_server(('127.0.0.1', 0)) as server:
        return server.getsockname()[1]


class Manager:
    """An SM on a host, with its opensm-web."""

    def __init__(self, fabric, host, number, priority):
        self.fabric, self.host, self.log = fabric, host, f'sm{number}.log'
        self.socket = fabric.path(f'sm{number}.sock')
        self.options = (f'{POLLS}sm_priority {priority}\ncontrol_socket {self.socket}\n'
                        f'replication_key_file {fabric.path("key")}\n')
        self.start()
        self.port = free_port()
        self.conf = fabric.path(f'web{number}.conf')
        with open(self.conf, 'w') as file:
            file.write(f'listen 127.0.0.1:{self.port}\ncontrol_socket {self.socket}\nrest write\n'
                       f'auth_file {fabric.path("users")}\ntokens_file {fabric.path("tokens")}\n'
                       'max_connections_per_address 64\n')
        program = osmsim.built('opensm', 'web', 'opensm-web')
        self.web = fabric.spawn([program, '-F', self.conf], f'web{number}.out', env=os.environ,
                                stdin=subprocess.DEVNULL)
        fabric.wait(lambda: 'serving at' in fabric.read(f'web{number}.out'), SECONDS,
                    'opensm-web to serve', alive=self.web)

    def start(self):
        self.child = self.fabric.start_opensm(subnet.daemon(), self.host, log=self.log,
                                              cache=self.log + '.d', options=self.options)

    def state(self):
        states = STATE.findall(self.fabric.read(self.log))
        return states[-1] if states else None

    def wait(self, state):
        self.fabric.wait(lambda: self.state() == state, SECONDS, f'{self.log} to be {state}')

    def ask(self, method, path, body=None, **headers):
        """(status, headers, text) of one request with exactly these headers."""
        client = http.client.HTTPConnection('127.0.0.1', self.port, timeout=10)
        client.putrequest(method, path, skip_accept_encoding=True)
        for name, value in headers.items():
            client.putheader(name.replace('_', '-'), value)
        octets = body.encode() if body is not None else b''
        if octets or method != 'GET':
            client.putheader('Content-Length', str(len(octets)))
        client.endheaders(octets)
        answer = client.getresponse()
        text = answer.read().decode()
        client.close()
        return answer.status, answer.headers, text

    # As ib-kubernetes sends requests: each with a password, its base is /ufmRest.
    def kubernetes(self, method, path, body=None):
        return self.ask(method, '/ufmRest' + path, body, User_Agent='Go-http-client/1.1',
                        Authorization='Basic ' + base64.b64encode(b'k8s:secret').decode(),
                        Content_Type='application/json; charset=utf-8', Accept_Encoding='gzip')

    # As infra-controller does: a token that is not encoded, its base is /ufmRestV3.
    def infra(self, method, path, body=None):
        return self.ask(method, '/ufmRestV3' + path, body, Authorization='Basic ' + TOKEN,
                        Content_Type='application/json', Accept='*/*')

    def read(self, path):
        status, _, text = self.infra('GET', path)
        return json.loads(text) if status == 200 else {'status': status, 'text': text}


class Bed:
    def __init__(self, fabric, checks):
        self.fabric, self.checks = fabric, checks
        self.hosts = fabric.hosts()
        self.client = self.hosts[1]
        self.secret('key', 'a key that both managers share\n')
        made = subprocess.run(['openssl', 'passwd', '-6', '-salt', 'salt', '-stdin'], text=True,
                              input='secret', capture_output=True, check=True).stdout.strip()
        self.secret('users', f'k8s:{made}:write\nlooker:{made}:read\n')
        self.secret('tokens', f'{hashlib.sha256(TOKEN.encode()).hexdigest()}:write\n')
        self.one = Manager(fabric, self.hosts[0], 1, 9)
        self.one.wait('MASTER')
        self.two = Manager(fabric, self.hosts[-1], 2, 3)
        self.two.wait('STANDBY')
        fabric.wait(lambda: 'has everything' in fabric.read(self.one.log), SECONDS,
                    'a standby that has everything')

    def secret(self, name, text):
        with open(os.open(self.fabric.path(name), os.O_WRONLY | os.O_CREAT, 0o600), 'w') as file:
            file.write(text)

    def guid(self, host):
        return '%016x' % self.fabric.dump()[host].ports[1].guid

    def table(self, host):
        """The P_Keys that the port of a host holds."""
        lid = self.fabric.dump()[host].ports[1].lid
        _, out = self.fabric.tool(self.client, 'smpquery', 'pkeys', str(lid), '1')
        return {int(key, 16) for line in out.splitlines() if re.match(r'\s*\d+:', line)
                for key in re.findall(r'0x(\w{4})', line)} - {0}

    def groups(self):
        return control(self.one.socket, 'mgroups')


def good(bed, what, answer, settled=True):
    status, headers, text = answer
    bed.checks.check(f'{what}: 200 and {{}}', status == 200 and text == '{}', answer)
    if settled:
        bed.checks.equal(f'{what}: settled', headers['X-Opensm-Settled'], 'true')


def refused(bed, what, answer, status, *words):
    bed.checks.check(f'{what}: {status} and {words}', answer[0] == status and
                     all(word in answer[2] for word in words) and 'error' in answer[2], answer)


def kubernetes(bed):
    """The requests of ib-kubernetes: its GUIDs are not on the fabric yet."""
    check, sm = bed.checks, bed.one
    status, _, text = sm.kubernetes('GET', '/app/ufm_version')
    check.check('ib-kubernetes: version', status == 200 and
                json.loads(text)['ufm_release_version'] == '6.19.0', text)
    guids = ','.join(f'"{guid}"' for guid in (VIRTUAL[0], VIRTUAL[1], bed.guid(bed.hosts[2])))
    add = ('{"pkey": "0x001A", "index0": true, "ip_over_ib": true, "membership": "full", '
           f'"guids": [{guids}]}}')
    good(bed, 'ib-kubernetes: add', sm.kubernetes('POST', '/resources/pkeys', add))
    check.check('the port has the P_Key', 0x801a in bed.table(bed.hosts[2]),
                bed.table(bed.hosts[2]))
    groups = bed.groups().replace(':', '')
    check.check('the group of IPoIB exists', '401b801a' in groups, groups)
    serial = sm.read('/resources/pkeys/0x1a?guids_data=true')
    good(bed, 'ib-kubernetes: add again', sm.kubernetes('POST', '/resources/pkeys', add))
    status, _, text = sm.kubernetes('GET', '/resources/pkeys/?guids_data=true')
    shown = json.loads(text)
    check.same_set('ib-kubernetes: members are listed',
                   {row['guid'] for row in shown['0x1a']['guids']},
                   {VIRTUAL[0], VIRTUAL[1], bed.guid(bed.hosts[2])})
    check.check('the default partition is there, and empty',
                shown['0x7fff']['guids'] == [] and shown['0x7fff']['membership'] == 'full', shown)
    check.equal('nothing else has changed', sm.read('/resources/pkeys/0x1a?guids_data=true'),
                serial)
    remove = f'{{"pkey": "0x001A", "guids": [{guids}]}}'
    good(bed, 'ib-kubernetes: remove',
         sm.kubernetes('POST', '/actions/remove_guids_from_pkey', remove))
    good(bed, 'ib-kubernetes: remove again',
         sm.kubernetes('POST', '/actions/remove_guids_from_pkey', remove))
    check.check('the port has lost it', 0x801a not in bed.table(bed.hosts[2]),
                bed.table(bed.hosts[2]))
    check.equal('the partition goes with its last member', sm.read('/resources/pkeys/0x1a'), {})


PORT_FIELDS = {'guid': str, 'name': str, 'systemID': str, 'lid': int, 'dname': str,
               'system_name': str, 'physical_state': str, 'logical_state': str}


def infra(bed):
    """The rounds of infra-controller: it reads all of this in each, and writes what differs."""
    check, sm = bed.checks, bed.one
    conf = sm.read('/app/smconf')
    check.equal('smconf tells no key', conf, {
        'subnet_prefix': '0xfe80000000000000', 'm_key': '0x0', 'sm_key': '0x1', 'sa_key': '0x1',
        'm_key_per_port': False})
    check.equal('the default partition',
                sm.read('/resources/pkeys/0x7fff?guids_data=true&qos_conf=true')['membership'],
                'full')
    ports = sm.read('/resources/ports?sys_type=Computer')
    check.check('all hosts are listed', len(ports) == len(bed.hosts), len(ports))
    check.check('with all fields', all(isinstance(port.get(name), kind) for port in ports
                                       for name, kind in PORT_FIELDS.items()), ports[:1])
    check.check('their states', all(port['logical_state'] == 'Active' and
                                    port['physical_state'] == 'Link Up' for port in ports))
    check.check('switches', {port['guid'] for port in sm.read('/resources/ports?sys_type=Switch')}
                .isdisjoint(port['guid'] for port in ports))
    check.equal('no virtual ports yet', sm.read('/resources/vports'), [])
    check.equal('nothing is unhealthy', sm.read('/app/unhealthy_ports'), [])
    status, _, text = sm.infra('GET', '/resources/pkeys/0x31a?guids_data=true&qos_conf=true')
    check.check('an unknown partition is {}', status == 200 and text == '{}', text)
    guids = sorted(port['guid'] for port in ports)[2:4]
    bind = json.dumps({'pkey': '0x31a', 'ip_over_ib': True, 'membership': 'full', 'index0': True,
                       'guids': guids}, separators=(',', ':'))
    good(bed, 'infra: bind', sm.infra('POST', '/resources/pkeys', bind))
    for qos in ({'mtu_limit': 4, 'service_level': 3, 'rate_limit': 200.0},
                {'mtu_limit': 2, 'service_level': 0, 'rate_limit': 2.5},
                {'mtu_limit': 4, 'service_level': 0, 'rate_limit': 300}):
        good(bed, 'infra: QoS', sm.infra('PUT', '/resources/pkeys/qos_conf',
                                         json.dumps({'pkey': '0x31a', **qos})))
        shown = sm.read('/resources/pkeys?qos_conf=true')['0x31a']
        check.equal('QoS is read back unchanged', shown['qos_conf'], qos)
    shown = sm.read('/resources/pkeys/0x31a?guids_data=true&qos_conf=true')
    check.equal('GUIDs letter for letter', [row['guid'] for row in shown['guids']], guids)
    check.check('index0 and membership', all(row['index0'] and row['membership'] == 'full'
                                             for row in shown['guids']), shown)
    unbind = json.dumps({'pkey': '0x31a', 'guids': [guids[0]]}, separators=(',', ':'))
    good(bed, 'infra: unbind', sm.infra('POST', '/actions/remove_guids_from_pkey', unbind))
    check.equal('one member is left',
                [row['guid'] for row in
                 sm.read('/resources/pkeys/0x31a?guids_data=true')['guids']], guids[1:])
    refused(bed, 'QoS of an unknown partition',
            sm.infra('PUT', '/resources/pkeys/qos_conf', '{"pkey":"0x999","mtu_limit":2}'), 404,
            '0x0999')


def others(bed):
    """Calls of other clients: replacement, empty partitions, hosts, deletion."""
    check, sm = bed.checks, bed.one
    guids = [bed.guid(host) for host in bed.hosts[2:5]]
    good(bed, 'an empty partition', sm.infra('POST', '/resources/pkeys/add', json.dumps(
        {'pkey': '0x40', 'ip_over_ib': False, 'partition_name': 'tenant 7'})))
    check.equal('it is shown', sm.read('/resources/pkeys')['0x40'],
                {'partition': 'tenant_7', 'ip_over_ib': False})
    for members, kind in ((guids[:2], 'full'), (guids[1:], 'limited')):
        good(bed, 'replacement', sm.infra('PUT', '/resources/pkeys/', json.dumps(
            {'pkey': '64', 'guids': ','.join(members), 'memberships': [kind] * 2})))
        shown = sm.read('/resources/pkeys/0x40?guids_data=True')
        check.equal('all members are replaced',
                    {row['guid']: row['membership'] for row in shown['guids']},
                    {guid: kind for guid in members})
    check.check('limited at the port', 0x0040 in bed.table(bed.hosts[3]), bed.table(bed.hosts[3]))
    good(bed, 'removal by path',
         sm.infra('DELETE', '/resources/pkeys/0x40/guids/' + ','.join(guids)))
    check.equal('it stays without members', sm.read('/resources/pkeys/0x40?guids_data=true'
                                                    )['guids'], [])
    time.sleep(1)
    good(bed, 'hosts by name', sm.infra('POST', '/resources/pkeys/hosts', json.dumps(
        {'pkey': '0x40', 'hosts_names': ','.join(bed.hosts[2:4]), 'membership': 'full'})))
    check.check('at the port', 0x8040 in bed.table(bed.hosts[2]), bed.table(bed.hosts[2]))
    good(bed, 'and away', sm.infra('DELETE', '/resources/pkeys/0x40/hosts/' + bed.hosts[2]))
    check.check('not at the port', 0x8040 not in bed.table(bed.hosts[2]))
    refused(bed, 'an unknown host', sm.infra('POST', '/resources/pkeys/hosts', json.dumps(
        {'pkey': '0x40', 'hosts_names': 'host-x'})), 422, 'host-x')
    good(bed, 'deletion', sm.infra('DELETE', '/resources/pkeys/0x40'))
    check.equal('it is gone', sm.read('/resources/pkeys/0x40'), {})
    refused(bed, 'deletion again', sm.infra('DELETE', '/resources/pkeys/0x40'), 404)


def names(bed):
    """A partition has its name, and a port its index 0, alone; hosts that have left."""
    check, sm = bed.checks, bed.one
    guids = [bed.guid(host) for host in bed.hosts[6:8]]
    for p_key, members in (('0x41', guids), ('0x42', guids[:1])):
        body = {'pkey': p_key, 'guids': members, 'index0': True, 'partition_name': 'n' + p_key}
        good(bed, 'a name', sm.infra('POST', '/resources/pkeys', json.dumps(body)))
    for name in ('n0x41', 'management', 'api_pkey_0x41'):
        answer = sm.infra('POST', '/resources/pkeys/add', json.dumps(
            {'pkey': '0x43', 'partition_name': name}))
        check.check(f'the name {name} is taken', answer[0] in (400, 409), answer)
    check.equal('there is none', sm.read('/resources/pkeys/0x43'), {})
    good(bed, 'the same name again', sm.infra('POST', '/resources/pkeys/add', json.dumps(
        {'pkey': '0x42', 'partition_name': 'n0x42'})))
    shown = sm.read('/resources/pkeys?guids_data=true')
    check.equal('index 0 is shown once', [
        {row['guid']: row['index0'] for row in shown[key]['guids']} for key in ('0x41', '0x42')],
        [{guids[0]: False, guids[1]: True}, {guids[0]: True}])
    good(bed, 'a host that is not there', sm.infra(
        'DELETE', f'/resources/pkeys/0x42/hosts/gone-1,{bed.hosts[6]}'))
    check.equal('the other one is removed', sm.read('/resources/pkeys/0x42?guids_data=true'
                                                    )['guids'], [])
    good(bed, 'a host of no partition', sm.infra('DELETE', '/resources/pkeys/0x999/hosts/gone-1'),
         settled=False)
    good(bed, 'a GUID that is not there', sm.infra('POST', '/resources/pkeys', json.dumps(
        {'pkey': '0x42', 'guids': [VIRTUAL[0]]})))
    refused(bed, 'a host that may have it', sm.infra(
        'DELETE', '/resources/pkeys/0x42/hosts/gone-1'), 422, 'gone-1', 'GUIDs')
    for p_key in ('0x41', '0x42'):
        good(bed, 'deletion', sm.infra('DELETE', '/resources/pkeys/' + p_key))


def mistakes(bed):
    sm, guid = bed.one, bed.guid(bed.hosts[2])
    before = sm.read('/resources/pkeys?guids_data=true')
    for what, path, body, status in (
            ('no JSON', '/resources/pkeys', '{"pkey":', 400),
            ('nothing', '/resources/pkeys', '', 400),
            ('a list', '/resources/pkeys', '[]', 400),
            ('depth', '/resources/pkeys', '{"x":' + '[' * 100000 + ']' * 100000 + '}', 400),
            ('no P_Key', '/resources/pkeys', '{"guids":[]}', 400),
            ('P_Key 0', '/resources/pkeys', '{"pkey":"0x0","guids":[]}', 400),
            ('bit 15', '/resources/pkeys', '{"pkey":"0x8001","guids":[]}', 400),
            ('default', '/resources/pkeys', f'{{"pkey":"0x7fff","guids":["{guid}"]}}', 409),
            ('GUID', '/resources/pkeys', '{"pkey":"0x1","guids":["xyz"]}', 400),
            ('GUID 0', '/resources/pkeys', '{"pkey":"0x1","guids":["0"]}', 400),
            ('a definition', '/resources/pkeys', '{"pkey":"0x1","guids":["1;0x2:"]}', 400),
            ('membership', '/resources/pkeys',
             '{"pkey":"0x1","guids":["1"],"membership":"owner"}', 400),
            ('memberships', '/resources/pkeys',
             '{"pkey":"0x1","guids":["1"],"memberships":["full","full"]}', 400),
            ('MTU', '/resources/pkeys/qos_conf', '{"pkey":"0x31a","mtu_limit":3}', 400),
            ('rate', '/resources/pkeys/qos_conf', '{"pkey":"0x31a","rate_limit":7}', 400),
            ('SL', '/resources/pkeys/qos_conf', '{"pkey":"0x31a","service_level":16}', 400),
            ('too many', '/resources/pkeys', json.dumps(
                {'pkey': '0x1', 'guids': ['%x' % (n + 1) for n in range(8193)]}), 400),
            ('path', '/resources/nothing', '{}', 404)):
        refused(bed, what, sm.infra('POST', path, body), status)
    refused(bed, 'a long body of a client that does not look up', sm.infra(
        'POST', '/resources/pkeys', ' ' * (6 << 20)), 413)
    answer = sm.infra('PATCH', '/resources/pkeys', '{}')
    refused(bed, 'another method', answer, 405)
    bed.checks.check('what is allowed', 'POST' in (answer[1]['Allow'] or ''), answer[1].items())
    refused(bed, 'another type', sm.ask('POST', '/ufmRestV3/resources/pkeys', 'pkey=1',
                                        Authorization='Basic ' + TOKEN,
                                        Content_Type='application/x-www-form-urlencoded'), 415)
    answer = sm.ask('GET', '/ufmRest/resources/pkeys', Authorization='Basic bm86Ym9keQ==')
    refused(bed, 'a wrong user', answer, 401)
    bed.checks.equal('how to log in', answer[1]['WWW-Authenticate'], 'Basic realm="opensm"')
    looker = base64.b64encode(b'looker:secret').decode()
    refused(bed, 'a wrong user that writes', sm.ask(
        'POST', '/ufmRest/resources/pkeys', '{"pkey":"0x1","guids":["1"]}',
        Authorization='Basic bm86Ym9keQ==', Content_Type='application/json'), 401)
    refused(bed, 'a reader that writes', sm.ask(
        'POST', '/ufmRest/resources/pkeys', '{"pkey":"0x1","guids":["1"]}',
        Authorization='Basic ' + looker, Content_Type='application/json'), 403)
    bed.checks.equal('nothing has changed', sm.read('/resources/pkeys?guids_data=true'), before)
    log = bed.fabric.read('web1.out')
    for line in ('127.0.0.1: POST "/ufmRest/resources/pkeys": 401', 'looker at 127.0.0.1: POST '
                 '"/ufmRest/resources/pkeys": 403', ': 415, ', ': 413, ', ': 405, ',
                 f'P_Key 0x7fff: 1 GUIDs 0x{int(guid, 16):x}=full: 409'):
        bed.checks.check(f'the log has {line}', line in log, log[-3000:])


def full_table(bed):
    """A port without room: the request is refused as a whole and names the port."""
    sm, host = bed.one, bed.hosts[4]
    guid = bed.guid(host)
    number, answer = 0x100, (200, {}, '')
    while answer[0] == 200 and number < 0x100 + 200:
        answer = sm.infra('POST', '/resources/pkeys', json.dumps(
            {'pkey': hex(number), 'guids': [guid], 'ip_over_ib': False}))
        number += 1
    refused(bed, f'a full table after {number - 0x100} P_Keys', answer, 422, host, guid)
    refused(bed, 'another member in the request', sm.infra('POST', '/resources/pkeys', json.dumps(
        {'pkey': hex(number), 'guids': [VIRTUAL[3], guid], 'ip_over_ib': False})), 422, host)
    bed.checks.equal('nothing of it is done', sm.read(f'/resources/pkeys/{number:#x}'), {})
    control(sm.socket, 'sweep off')
    good(bed, 'it leaves one of them', sm.infra(
        'POST', '/actions/remove_guids_from_pkey', json.dumps({'pkey': '0x100', 'guids': [guid]})),
         settled=False)
    good(bed, 'which makes room before a sweep', sm.infra('POST', '/resources/pkeys', json.dumps(
        {'pkey': hex(number), 'guids': [guid], 'ip_over_ib': False})), settled=False)
    number += 1
    refused(bed, 'for no more than one', sm.infra('POST', '/resources/pkeys', json.dumps(
        {'pkey': hex(number), 'guids': [guid], 'ip_over_ib': False})), 422, host)
    control(sm.socket, 'sweep on')
    for p_key in range(0x100, number):
        sm.infra('POST', '/actions/remove_guids_from_pkey', json.dumps(
            {'pkey': hex(p_key), 'guids': [guid]}))


def two_writers(bed):
    """Each GUID by a request of its own, from two clients of one partition."""
    sm, since = bed.one, time.monotonic()
    guids = ['0200000000010%03x' % n for n in range(200)]

    def add(guid, client):
        return client('POST', '/resources/pkeys', json.dumps(
            {'pkey': '0x50', 'guids': [guid], 'ip_over_ib': True, 'index0': False,
             'membership': 'full'}))[0]

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        codes = list(pool.map(lambda n: add(guids[n], (sm.infra, sm.kubernetes)[n % 2]),
                              range(len(guids))))
    took = time.monotonic() - since
    print(f'{len(guids)} writes of two clients took {took:.1f} s')
    bed.checks.equal('all are accepted', set(codes), {200})
    shown = sm.read('/resources/pkeys/0x50?guids_data=true')
    bed.checks.same_set('all are there', {row['guid'] for row in shown['guids']}, set(guids))
    log = bed.fabric.read(sm.log)
    bed.checks.check('the user is in the log', 'rest:k8s' in log, log[-500:])
    out = bed.fabric.read('web1.out')
    bed.checks.check('and in that of opensm-web', 'rest: k8s' in out and
                     '/ufmRest/resources/pkeys' in out, out[-500:])
    bed.checks.check('no secret is', TOKEN not in log + out and 'secret' not in out)


def takeover(bed):
    """The master dies between its answer and the sweep: the standby has the change."""
    sm, other, check = bed.one, bed.two, bed.checks
    answer = other.infra('GET', '/resources/pkeys')
    refused(bed, 'a standby', answer, 503, 'master')
    check.check('when to ask again', answer[1]['Retry-After'], answer[1].items())
    answer = other.infra('POST', '/resources/pkeys', json.dumps(
        {'pkey': '0x61', 'guids': [VIRTUAL[5]], 'ip_over_ib': True}))
    refused(bed, 'a write at a standby', answer, 503, 'master')
    for path in ('/resources/ports', '/resources/vports', '/app/unhealthy_ports'):
        refused(bed, f'{path} of a standby', other.infra('GET', path), 503, 'master')
    log = bed.fabric.read('web2.out')
    check.check('the log has it', re.search(
        r'P_Key 0x61,ipoib: 1 GUIDs 0x\w+=full: 503, ', log), log)
    refused(bed, 'hosts by name at a standby', other.infra(
        'POST', '/resources/pkeys/hosts', json.dumps(
            {'pkey': '0x62', 'hosts_names': bed.hosts[2], 'membership': 'full'})), 503, 'master')
    control(sm.socket, 'sweep off')
    guid = bed.guid(bed.hosts[3])
    answer = sm.infra('POST', '/resources/pkeys', json.dumps(
        {'pkey': '0x60', 'guids': [guid, VIRTUAL[4]], 'ip_over_ib': True}))
    good(bed, 'a write without a sweep', answer, settled=False)
    check.equal('it is not settled', answer[1]['X-Opensm-Settled'], 'false')
    check.check('the port has not got it', 0x8060 not in bed.table(bed.hosts[3]))
    mark = len(bed.fabric.read(other.log))
    sm.child.send_signal(signal.SIGKILL)
    sm.child.wait(SECONDS)
    bed.fabric.wait(lambda: 'SUBNET UP' in bed.fabric.read(other.log, mark), SECONDS,
                    'the takeover')
    bed.fabric.wait(lambda: 0x8060 in bed.table(bed.hosts[3]), 10, 'the P_Key at the port')
    shown = other.read('/resources/pkeys/0x60?guids_data=true')
    check.same_set('the standby shows it', {row['guid'] for row in shown.get('guids', ())},
                   {guid, VIRTUAL[4]})
    refused(bed, 'without a daemon', sm.infra('GET', '/resources/pkeys'), 503)
    good(bed, 'a write at the new master', other.infra('POST', '/resources/pkeys', json.dumps(
        {'pkey': '0x61', 'guids': [guid], 'ip_over_ib': True})))


def restart(bed):
    sm = bed.two
    before = sm.read('/resources/pkeys?guids_data=true&qos_conf=true')
    bed.fabric.stop(sm.child)
    os.unlink(bed.fabric.path(sm.log))
    sm.start()
    bed.fabric.wait(lambda: 'SUBNET UP' in bed.fabric.read(sm.log), SECONDS, 'a restart')
    bed.fabric.wait(lambda: 'status' not in sm.read('/resources/pkeys'), SECONDS, 'an answer')
    bed.checks.equal('a restart keeps all',
                     sm.read('/resources/pkeys?guids_data=true&qos_conf=true'), before)


def control(path, line):
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(SECONDS)
        client.connect(path)
        client.sendall(f'opensmctl 1\n{line}\n'.encode())
        octets = b''
        while octets.count(b'\n') < 2:
            octets += client.recv(65536)
    return octets.decode()


def main():
    why = osmsim.missing(NEEDED)
    if why or not os.path.exists(osmsim.built('opensm', 'web', 'opensm-web')):
        print(f'SKIP: {why or "opensm-web is not built"}')
        return subnet.SKIPPED
    sys.stdout.reconfigure(line_buffering=True)
    ibsim.end_cleanly()
    checks = ibsim.Checks()
    with osmsim.Fabric(ibsim.fat_tree(4)) as fabric:
        bed = Bed(fabric, checks)
        for part in (kubernetes, infra, others, names, mistakes, full_table, two_writers, takeover,
                     restart):
            try:
                time.sleep(1.2)  # after many changes, sweeps wait for more
                since = time.monotonic()
                part(bed)
                print(f'{part.__name__}: {time.monotonic() - since:.1f} s')
            except (ibsim.Failure, OSError, KeyError, ValueError) as failure:
                checks.check(f'{part.__name__} ends', False, repr(failure))
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
