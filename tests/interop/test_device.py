#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The HCA under a running daemon goes and comes back by another name: through libibumad, on osmsim.
The daemon waits for it, starts again, and agrees with another SM on which is master."""

import re
import sys
import time

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import osmsim  # noqa: E402
import subnet  # noqa: E402
from test_managers import Manager, lids, settled  # noqa: E402

NEEDED = ('sminfo', 'saquery', 'smpquery')
SECONDS = 60
GONE = "the device of the SM's port, osmsim{} port 1, is gone"
BACK = "the SM's port is back: osmsim{} port 1"
BOUND = 5  # seconds: a check each second, a sweep of a small tree, and a busy machine


def says(fabric, child, log, text, since=0):
    fabric.wait(lambda: text in fabric.read(log, since), SECONDS, f'"{text}"', alive=child)


def alone(checks):
    """Over and over; in between a tool on another node sends it requests."""
    with osmsim.Fabric(ibsim.fat_tree(4)) as fabric:
        run = subnet.Run(checks, fabric, SECONDS)
        child = run.start()
        for number in range(3):
            time.sleep(1.2)  # one that is lost within a second is looked for less often
            mark = len(fabric.read('osm.log'))
            fabric.console(f'remove "{run.host}"')
            says(fabric, child, 'osm.log', GONE.format(number), mark)
            time.sleep((0, 0.5, 2.5)[number])
            checks.check('while it is gone it is not back',
                         BACK.format(number + 1) not in fabric.read('osm.log', mark))
            fabric.console(f'insert "{run.host}"')
            since = time.monotonic()
            says(fabric, child, 'osm.log', BACK.format(number + 1), mark)
            says(fabric, child, 'osm.log', 'SUBNET UP', mark)
            took = time.monotonic() - since
            checks.check(f'SUBNET UP {took:.1f} s after its return, at most {BOUND}', took <= BOUND)
            run.judge()
            checks.check('IsSM is set again', run.is_sm())
            code, out = fabric.tool(run.client, 'saquery', 'NR')
            checks.equal('a client finds all nodes', (code, len(re.findall('NodeRecord', out))),
                         (0, len(run.names)))
        checks.equal('it is told once each time', fabric.read('osm.log').count('is gone: waiting'),
                     3)
        run.stop(child)


def ends_without(checks):
    """SIGTERM while there is no device."""
    with osmsim.Fabric(ibsim.fat_tree(2)) as fabric:
        run = subnet.Run(checks, fabric, SECONDS)
        child = run.start()
        fabric.console(f'remove "{run.host}"')
        says(fabric, child, 'osm.log', GONE.format(0))
        since = time.monotonic()
        checks.equal('it ends with code 0 without a device', fabric.stop(child), 0)
        took = time.monotonic() - since
        checks.check(f'within {took:.1f} s, at most {BOUND}', took <= BOUND)


def fabric_restarted(checks):
    """The whole simulator ends, and another one starts, with the same fabric and nothing known."""
    with osmsim.Fabric(ibsim.fat_tree(4)) as fabric:
        run = subnet.Run(checks, fabric, SECONDS)
        child = run.start()
        mark = len(fabric.read('osm.log'))
        fabric.console('quit')
        says(fabric, child, 'osm.log', GONE.format(0), mark)
        fabric.start_ibsim()
        says(fabric, child, 'osm.log', 'SUBNET UP', mark)
        run.judge()
        run.stop(child)


def with_standby(checks, other):
    """The standby takes over; when the first one is back one of them is master, and LIDs stay."""
    what = 'beside ' + ('the classic' if other == ibsim.CLASSIC else 'another of ours')
    with osmsim.Fabric(ibsim.fat_tree(4)) as fabric:
        hosts = fabric.hosts()
        first = Manager(fabric, subnet.daemon(), hosts[0], 1, priority=5)
        first.wait_up(0)
        kept = lids(fabric)
        second = Manager(fabric, other, hosts[-1], 2)
        settled(checks, what, first, second, kept)
        mark = second.mark()
        fabric.console(f'remove "{hosts[0]}"')
        second.wait_up(mark)
        fabric.console(f'insert "{hosts[0]}"')
        says(fabric, first.child, first.log, BACK.format(1))
        second.wait('STANDBY')
        settled(checks, f'{what}, back', first, second, kept)
        # The reverse: the standby's device.
        if other == ibsim.CLASSIC:
            return
        fabric.console(f'remove "{hosts[-1]}"')
        says(fabric, second.child, second.log, GONE.format(0))
        time.sleep(4)  # longer than its patience with a silent master
        fabric.console(f'insert "{hosts[-1]}"')
        says(fabric, second.child, second.log, BACK.format(1))
        settled(checks, f"{what}, the standby's device", first, second, kept)


def main():
    why = osmsim.missing(NEEDED)
    if why:
        print(f'SKIP: {why}')
        return subnet.SKIPPED
    sys.stdout.reconfigure(line_buffering=True)
    ibsim.end_cleanly()
    checks = ibsim.Checks()
    parts = [(alone,), (ends_without,), (fabric_restarted,), (with_standby, subnet.daemon())]
    if not osmsim.missing(['opensm']):
        parts.append((with_standby, ibsim.CLASSIC))
    for part, *arguments in parts:
        try:
            part(checks, *arguments)
        except ibsim.Failure as failure:
            checks.check(f'{part.__name__} {arguments} ends', False, failure)
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
