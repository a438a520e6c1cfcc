#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Hosts that cannot join multicast groups, on osmsim: with too few components, a rate that the port
lacks, a partition without ipoib. The log names them, mgroups and health show them, and saquery
shows no group that no host may join, like the classic daemon."""

import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import osmsim  # noqa: E402
import subnet  # noqa: E402
from test_groups import (BROADCAST, CREATE, DEFAULT, JOIN, LIMITS, SECONDS,  # noqa: E402
                         ask, question)

NET = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'mixed_speeds.net')
RULES = DEFAULT + 'Blue=0x11:ALL=full;\n'
LONE = 'ff12a01c00000000000000000000abcd'
HOST, SM = 'host-c', 'host-b'


def groups_seen(fabric, host):
    _, out = fabric.tool(host, 'saquery', '-g')
    return sorted(re.findall(r'MGID\.+(\S+)', out))


def told(fabric, *words):
    return subprocess.run([osmsim.built('opensm', 'opensmctl', 'opensmctl'), '-s',
                           fabric.path('control'), *words], text=True, stdout=subprocess.PIPE,
                          timeout=SECONDS).stdout


def start(fabric, program, options=''):
    with open(fabric.path('partitions.conf'), 'w') as file:
        file.write(RULES)
    child = fabric.start_opensm(program, SM, '-P', fabric.path('partitions.conf'),
                                options=options)
    fabric.wait_subnet_up(child, SECONDS)
    return child


def refuse(checks, fabric):
    guid = 0x0200000000000065
    joins = {
        'too few components': question(JOIN, LONE, guid),
        'a rate that its port lacks': question(CREATE | LIMITS, LONE[:-1] + 'e', guid, rate=10),
        'a partition without ipoib': question(JOIN, BROADCAST.format(0x8011), guid, 0x8011),
    }
    statuses = dict(zip(joins, ask(fabric, HOST, *joins.values())))
    reasons = {
        'too few components': (0x600, 'ff12:a01c::abcd',
                               'lacks Q_Key, P_Key, TClass, FlowLabel, SL: there is no'),
        'a rate that its port lacks': (0x200, 'ff12:a01c::abce',
                                       r'that its port \(MTU 4096, 10 Gb/s\) does not support'),
        'a partition without ipoib': (0x600, 'ff12:401b:8011::ffff:ffff',
                                      'partition 0x0011 is without ipoib'),
    }
    fabric.wait(lambda: fabric.read('osm.log').count('SA: refused') >= len(joins), ibsim.PATIENCE,
                'the log, which a thread of its own writes')
    log, shown, health = fabric.read('osm.log'), told(fabric, 'mgroups'), told(fabric, 'health')
    for name, (status, mgid, reason) in reasons.items():
        checks.equal(f'{name}: status', statuses[name], status)
        checks.check(f'{name}: the log', re.search(
            rf'0x02 -> SA: refused LID \d+ \(host-c \(0x0200000000000064\) port 1\) as a member '
            rf'of multicast group {mgid}: .*{reason}', log), log)
        checks.check(f'{name}: mgroups', re.search(
            rf'0x0200000000000065 LID \d+ \(host-c\) MGID {mgid}: .*{reason}', shown), shown)
        checks.check(f'{name}: health', re.search(
            rf'warning multicast: host-c \(0x\w+\) port 1 was not allowed to join multicast group '
            rf'{mgid}: .*{reason}',
            health), health)
    checks.check('they leave it healthy', health.startswith('healthy: '), health)
    ask(fabric, HOST, question(CREATE, LONE, guid))
    checks.check('who has joined is not told any more', 'ff12:a01c::abcd: ' not in
                 told(fabric, 'mgroups') and '2 refused join(s)' in told(fabric, 'mgroups'))


def main():
    why = osmsim.missing(('saquery',))
    if why:
        print(f'SKIP: {why}')
        return subnet.SKIPPED
    sys.stdout.reconfigure(line_buffering=True)
    ibsim.end_cleanly()
    checks = ibsim.Checks()
    seen = {}
    with open(NET) as file:
        net = file.read()
    for program in (ibsim.CLASSIC, subnet.daemon()):
        with osmsim.Fabric(net) as fabric:
            ours = program != ibsim.CLASSIC
            options = f'control_socket {fabric.path("control")}\n' if ours else ''
            child = start(fabric, program, options)
            seen[ours] = groups_seen(fabric, HOST)
            if ours:
                refuse(checks, fabric)
            fabric.stop(child)
    checks.equal('saquery shows the groups that the classic daemon has', seen[True], seen[False])
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
