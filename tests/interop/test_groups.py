#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What some hosts leave of multicast to others, ours beside the classic on osmsim: 15 hosts make as
many groups as they may, then a new IPoIB partition needs its broadcast group; and a host makes a
solicited-node group first, with an MTU other than that of IPoIB."""

import json
import os
import signal
import struct
import subprocess
import sys
import time

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import osmsim  # noqa: E402
import subnet  # noqa: E402

SECONDS = 120
MADE_BY_EACH = 300
SET, ATTRIBUTE = 0x02, 0x0038
(MGID, PORT_GID, Q_KEY, MTU_SELECTOR, MTU, T_CLASS, P_KEY, RATE_SELECTOR, RATE, SL, FLOW_LABEL,
 HOP_LIMIT, JOIN_STATE) = (1 << bit for bit in (0, 1, 2, 4, 5, 6, 7, 8, 9, 12, 13, 14, 16))
JOIN = MGID | PORT_GID | JOIN_STATE
CREATE = JOIN | Q_KEY | T_CLASS | P_KEY | SL | FLOW_LABEL
LIMITS = MTU_SELECTOR | MTU | RATE_SELECTOR | RATE
EXACTLY = 2 << 6
DEFAULT = 'Default=0x7fff,ipoib:ALL=full;\n'
BLUE = 'Blue=0x11,ipoib:ALL=full;\n'
BROADCAST = 'ff12401b{:04x}000000000000ffffffff'


def question(mask, mgid, guid, p_key=0xffff, q_key=0, mtu=4, rate=3, sl=0):
    data = bytes.fromhex(mgid) + struct.pack(
        '>QQIHBBHBBIB3x', 0xfe80000000000000, guid, q_key, 0, EXACTLY | mtu, 0, p_key,
        EXACTLY | rate, 0, sl << 28, 2 << 4 | 1)
    return f'{SET:x} {ATTRIBUTE:x} {mask:x} {data.hex()}\n'


def ask(fabric, host, *questions):
    """The statuses of the answers; None: no answer."""
    run = subprocess.run([osmsim.built('tests', 'interop', 'sa_ask')], env=fabric.on(host),
                         text=True, input=''.join(questions), stdout=subprocess.PIPE,
                         timeout=SECONDS)
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    return [answer and answer['status'] for answer in answers]


def take_all(fabric, guids):
    """Each host makes groups, until it may not; returns their number."""
    made = 0
    for number, (host, guid) in enumerate(guids.items()):
        statuses = ask(fabric, host, *(
            question(CREATE | LIMITS, f'ff12a01c0000000000000000{number:04x}{i:04x}', guid,
                     mtu=1 + i % 4, rate=2 + i // 4 % 2, sl=i // 8 % 16)
            for i in range(MADE_BY_EACH)))
        made += statuses.count(0)
    return made


def poison(fabric, guids):
    """The statuses of the host that makes the group first, and of one that joins as Linux does."""
    (bad, bad_guid), (good, good_guid) = list(guids.items())[:2]
    mgid = 'ff12601bffff000000000001ff00abcd'
    first = ask(fabric, bad, question(CREATE | LIMITS, mgid, bad_guid, q_key=0xb1b, mtu=1))
    return first + ask(fabric, good, question(CREATE | LIMITS | HOP_LIMIT, mgid, good_guid,
                                              q_key=0xb1b))


def serve(fabric, program):
    """Results of both: the statuses of poison(), groups made, the new partition's status."""
    rules = fabric.path('partitions.conf')
    with open(rules, 'w') as file:
        file.write(DEFAULT)
    child = fabric.start_opensm(program, fabric.hosts()[0], '-P', rules)
    fabric.wait_subnet_up(child, SECONDS)
    guids = {name: node.ports[1].guid for name, node in fabric.dump().items()
             if not node.is_switch and name != fabric.hosts()[0]}
    poisoned = poison(fabric, guids)
    made = take_all(fabric, guids)
    with open(rules, 'w') as file:
        file.write(DEFAULT + BLUE)
    os.utime(rules)
    child.send_signal(signal.SIGHUP)
    host, guid = list(guids.items())[-1]
    since, status = time.monotonic(), None
    while status != 0 and time.monotonic() - since < 15:
        time.sleep(1)
        status = ask(fabric, host, question(JOIN, BROADCAST.format(0x8011), guid, 0x8011))[0]
    fabric.stop(child)
    return poisoned, made, status


def main():
    why = osmsim.missing(())
    if why:
        print(f'SKIP: {why}')
        return subnet.SKIPPED
    sys.stdout.reconfigure(line_buffering=True)
    ibsim.end_cleanly()
    checks = ibsim.Checks()
    for program in (subnet.daemon(), ibsim.CLASSIC):
        name = 'the classic' if program == ibsim.CLASSIC else 'ours'
        with osmsim.Fabric(ibsim.fat_tree(4)) as fabric:
            poisoned, made, status = serve(fabric, program)
        print(f'{name}: IPoIB group with another MTU, then as Linux asks: {poisoned}; '
              f'{made} groups; broadcast group of a new partition: {status}')
        if name == 'ours':
            checks.equal('an IPoIB group is made only as Linux asks for it', poisoned, [0x200, 0])
            checks.equal('the broadcast group of a new partition is there', status, 0)
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
