#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A host flaps multicast groups of its own while others come and go: how many of these are reported
to a subscriber to traps 64 and 65 that takes its time for each Report? By our daemon, by the
classic one, and by another build of ours.

usage: reports.py [--delay MS] [--groups N] [--rounds N] [--apart SECONDS]
                  [--before OTHER/opensm]"""

import argparse
import os
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'interop'))

import ibsim  # noqa: E402
import osmsim  # noqa: E402
import subnet  # noqa: E402

HOSTS = 8  # that come and go


def client(fabric, host, out, *argv):
    return fabric.spawn([osmsim.built('tests', 'bench', 'report_client'), *argv], out,
                        env=fabric.on(host), stdin=subprocess.DEVNULL)


def flap_links(fabric, hosts, rounds, apart):
    for _ in range(rounds):
        for change in (fabric.link_down, fabric.link_up):
            for host in hosts:
                change(host, 1)
            time.sleep(apart)


def wait_for_quiet(fabric, seconds):
    """Reports that the subscriber got, once none has come for ten answers' time."""
    lines, before = [], None
    while lines != before:
        time.sleep(3 + 10 * seconds)
        before, lines = lines, fabric.read('listener').split('\n')[1:-1]
    return lines


def count(lines):
    """Reported traps 64 and 65; a second one of a port is a repeated Report."""
    last, counts = {}, {'64': 0, '65': 0}
    for trap, guid in map(str.split, lines):
        counts[trap] += last.get(guid) != trap
        last[guid] = trap
    return counts['64'], counts['65']


def told(daemon, options):
    """Number of ports whose arrival, and departure, was reported to the subscriber."""
    with osmsim.Fabric(ibsim.fat_tree(4)) as fabric:
        hosts = fabric.hosts()
        child = fabric.start_opensm(daemon, hosts[0])
        fabric.wait_subnet_up(child, ibsim.PATIENCE)
        client(fabric, hosts[1], 'listener', 'listen', str(options.delay))
        fabric.wait(lambda: 'subscribed' in fabric.read('listener'), ibsim.PATIENCE,
                    'the subscription')
        if options.groups:
            client(fabric, hosts[2], 'flapper', 'flap', str(options.groups))
        flap_links(fabric, hosts[-HOSTS:], options.rounds, options.apart)
        lines = wait_for_quiet(fabric, options.delay / 1000)
        fabric.stop(child)
    return count(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--delay', type=int, default=150, help='ms, of an answer')
    parser.add_argument('--groups', type=int, default=64, help='that one host flaps; 0: none')
    parser.add_argument('--rounds', type=int, default=5, help='of hosts that come and go')
    parser.add_argument('--apart', type=float, default=4,
                        help='seconds from one change to the next')
    parser.add_argument('--before', action='append', default=[], help='another build of ours')
    options = parser.parse_args()
    why = osmsim.missing(('opensm',))
    if why:
        print(f'SKIP: {why}')
        return subnet.SKIPPED
    sys.stdout.reconfigure(line_buffering=True)
    ibsim.end_cleanly()
    of = options.rounds * HOSTS
    counts = {}
    for daemon in (subnet.daemon(), ibsim.CLASSIC, *options.before):
        counts[daemon] = told(daemon, options)
        print(f'{daemon}: told of {counts[daemon][0]} of {of} that came, '
              f'{counts[daemon][1]} of {of} that went')
    return int(min(counts[subnet.daemon()]) < of)


if __name__ == '__main__':
    sys.exit(main())
