#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""saquery with every type of records and its filters, on one fabric: our answers equal those of
Debian's opensm field by field, except for the listed differences with their reasons."""

import json
import re
import socket
import struct
import subprocess
import sys

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import osmsim  # noqa: E402
import subnet  # noqa: E402

NEEDED = ['saquery', 'opensm']
TYPES = ('CPI', 'NR', 'PIR', 'SWIR', 'LR', 'LFTR', 'PR', 'PKTR', 'GIR', 'SMIR', 'SL2VL', 'VLAR',
         'SR', 'IIR', 'MCMR')
# Of a host's LID and of a switch's.
FILTERS = ('NR {host}', 'NR {switch}', 'PIR {host}', 'PIR {host}/1', 'PIR {switch}/2',
           'SWIR {switch}', 'LR {host}/1', 'LR {switch}', 'LFTR {switch}/0', 'PKTR {host}/1/0',
           'GIR {host}/0', 'SL2VL {host}/1/1', 'VLAR {host}/1/1', 'VLAR {switch}/1/1',
           '-p --src-to-dst {host}:{switch}', '-p --slid {host} --dlid {switch}',
           '-p --slid {host}', '-s', '-c', '-x', '-N', '-D', '-S', '-I', '-O {host}', '-g', '-m',
           '-m 0xC000', 'MCMR --mgid {mgid}', 'MCMR --mlid 0xC001', 'IIR {gid}')
# Fields that may differ, by the type of the record.
DIFFERS = {
    # Each reports what it serves; the classic names QP and Q_Key where nothing is redirected.
    'SA ClassPortInfo': ('Capability mask', 'Redirect QP', 'Redirect QKey', 'Trap QKey',
                         'Response time value'),
    # The port of a switch by which the SM reached it.
    'NodeRecord': ('port_num',),
    # The port that the SM's requests came through; and the classic enforces the default partition
    # on all switch ports to hosts, ours on those that need it.
    'PortInfoRecord': ('LocalPort', 'PartEnforceInb', 'PartEnforceOutb'),
    # The classic leaves a PortStateChange set that it saw. A sweep after the joins of this test,
    # which either may make or not, raises the top.
    'SwitchInfoRecord': ('LifeTimeValue/PortStateChange/OpSL2VL', 'MulticastFDBTop'),
    # The classic has the block number in the wrong byte order.
    'PKeyTableRecord': ('Block',),
    # The key is shown to trusted clients; each counts its own actions.
    'SMInfoRecord': ('SM_Key', 'ActCount'),
    # The classic does not number subscriptions, though that is half of what tells one from another.
    'InformInfoRecord': ('SubscriberEnum',),
}
# Only their number: routes are another engine's; the classic has read no SL2VL tables without QoS,
# ours reads those of a requested LID.
COUNTED = ('LFTR', 'SL2VL')
# An untrusted request for P_Keys gets ERR_REQ_DENIED, and ERR_REQ_INVALID from the classic.
NOT_COMPARED = ('PKTR',)
SET, SERVICE, INFORM, MEMBER = 2, 0x31, 3, 0x38
MGID = 'ff12:601b:ffff::1:ff00:7'
BROADCAST = 'ff12:401b:ffff::ffff:ffff'
PREFIX = 0xfe80 << 48
LINE = re.compile(r'^\s*([^.:]+?)[.:]{2,}(.*)$')
TITLE = re.compile(r'^(\S.*?)(?: dump)?:$', re.M)


def records(text):
    """Each record as a tuple of its lines, without what may differ."""
    found = []
    for part in re.split(r'^(?=\S.*dump:)', text, flags=re.M):
        title = TITLE.match(part)
        allowed = DIFFERS.get(title[1], ()) if title else ()
        lines = [line.strip() for line in part.splitlines() if line.strip()]
        kept = tuple(line for line in lines
                     if not ((match := LINE.match(line)) and match[1] in allowed))
        if kept:
            found.append(kept)
    return sorted(found)


def service(guid):
    """With all its data, for ever."""
    data = struct.pack('>QQQHHI16x64s', 0x1122334455667788, PREFIX, guid, 0xffff, 0, 0xffffffff,
                       b'a service')
    return (f'{SET:x} {SERVICE:x} {0x1fffffffd7:x} {data.hex()}'
            f'{bytes(range(1, 65)).hex()}')


def inform(trap):
    data = struct.pack('>16xHHxxBBHHII', 0xffff, 0, 1, 1, 0xffff, trap, 0, 0xffffff)
    return f'{SET:x} {INFORM:x} 0 {data.hex()}'


def member(guid, mgid):
    """Sets for the group what each daemon would choose by itself: MTU, rate, life time, scope."""
    data = struct.pack('>16sQQIHBBHBBIBxxx', socket.inet_pton(socket.AF_INET6, mgid), PREFIX, guid,
                       0xb1b, 0, 0x84, 0, 0xffff, 0x83, 0x92, 0, 0x21)
    return f'{SET:x} {MEMBER:x} {0x1fff7:x} {data.hex()}'


def register(fabric, host, guid):
    """What saquery must find: a service, two subscriptions, members of two groups. A group without
    members is shown by the classic only to trusted clients, by ours to all."""
    asked = [service(guid), inform(64), inform(66), member(guid, MGID), member(guid, BROADCAST)]
    run = subprocess.run([osmsim.built('tests', 'interop', 'sa_ask')], timeout=ibsim.PATIENCE,
                         input=''.join(f'{line}\n' for line in asked), text=True,
                         env=fabric.on(host), stdout=subprocess.PIPE, check=True)
    said = [json.loads(line) for line in run.stdout.splitlines()]
    if [answer and answer['status'] for answer in said] != [0] * len(asked):
        raise ibsim.Failure(f'{asked} were answered {said}')


def questions(nodes, client):
    host = nodes[client].lid(1)
    gid = socket.inet_ntop(socket.AF_INET6, struct.pack('>QQ', PREFIX, nodes[client].ports[1].guid))
    switch = next(node for node in nodes.values() if node.is_switch).lid()
    asked = [*TYPES, *(text.format(host=host, switch=switch, mgid=MGID, gid=gid)
                       for text in FILTERS)]
    return [(key + text).split() for key in ('--smkey 1 ', '') for text in asked]


def answers(fabric, daemon, hosts):
    """{question: (exit code, records)}, from a subnet that this daemon has just taken over: the
    LIDs are those of its predecessor."""
    log = daemon.replace('/', '_') + '.log'
    child = fabric.start_opensm(daemon, hosts[0], log=log,
                                options='sweep_interval 0\nsweep_on_trap FALSE\n')
    fabric.wait_subnet_up(child, ibsim.PATIENCE, log)
    nodes = fabric.dump()
    register(fabric, hosts[-1], nodes[hosts[-1]].ports[1].guid)
    found = {}
    for words in questions(nodes, hosts[-1]):
        code, out = fabric.tool(hosts[1], 'saquery', *words)
        found[' '.join(words)] = code, records(out)
    fabric.stop(child)
    return found


def compare(checks, question, classic, ours):
    what = question.replace('--smkey 1 ', '').split()[0]
    if question.startswith(NOT_COMPARED):
        return
    checks.equal(f'saquery {question}: exit code and number of records',
                 (ours[0], len(ours[1])), (classic[0], len(classic[1])))
    if what not in COUNTED:
        different = [pair for pair in zip(ours[1], classic[1]) if pair[0] != pair[1]][:1]
        checks.equal(f'saquery {question}: records that differ', different, [])


def main():
    why = osmsim.missing(NEEDED)
    if why:
        print(f'SKIP: {why}')
        return subnet.SKIPPED
    ibsim.end_cleanly()
    checks = ibsim.Checks()
    with osmsim.Fabric(ibsim.fat_tree(4)) as fabric:
        hosts = fabric.hosts()
        classic = answers(fabric, ibsim.CLASSIC, hosts)
        ours = answers(fabric, subnet.daemon(), hosts)
    for question, answer in classic.items():
        compare(checks, question, answer, ours[question])
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
