#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Two SMs of ours, and the master of the moment killed or ended again and again at random, or its
host hangs with its link up: whether LIDs and routes are kept, and how long it takes until the other
is master: of a subnet that is up, unless a host hangs.

usage: kills.py [KILLS [SEED]]"""

import os
import random
import signal
import statistics
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'interop'))

import ibsim  # noqa: E402
import osmsim  # noqa: E402
import subnet  # noqa: E402
from test_managers import Manager  # noqa: E402

SECONDS = 60
HANGS = 'hangs'
STAY = 'master_sm_priority 14\n'  # an SM that comes back does not take over


def tables(fabric):
    """LIDs of all ports and forwarding tables of all switches."""
    nodes = fabric.dump()
    return ({name: {num: port.lid for num, port in node.ports.items()}
             for name, node in nodes.items()},
            {name: dict(node.lft) for name, node in nodes.items()})


def fabric_can_hang(fabric):
    """ibsim's hosts answer SMPs as long as they exist."""
    return (HANGS,) if isinstance(fabric, osmsim.Fabric) else ()


def one(chance, fabric, master, other):
    """Seconds until the other is master, and whether everything was kept."""
    before = tables(fabric)
    how = chance.choice((signal.SIGKILL, signal.SIGTERM) + fabric_can_hang(fabric))
    if how != HANGS and chance.random() < 0.5:
        master.child.send_signal(signal.SIGHUP)  # in the middle of a heavy sweep
        time.sleep(chance.random() * 0.1)
    mark, since = other.mark(), time.monotonic()
    if how == HANGS:
        fabric.console(f'mute "{master.host}"')
    master.child.send_signal(signal.SIGKILL if how == HANGS else how)
    if how == HANGS:  # an error of the first sweeps, but clients are served
        other.wait('MASTER')
    else:
        other.wait_up(mark)
    took = time.monotonic() - since
    if how == HANGS:
        fabric.console(f'unmute "{master.host}"')
    master.child.wait(SECONDS)
    master.start()
    master.wait('STANDBY')
    if how == HANGS:  # its host is back; routes to it are made again, with its former LID
        other.wait_up(mark)
        fabric.wait(lambda: tables(fabric)[0] == before[0], SECONDS, 'the LIDs of before')
        return how, took, True
    return how, took, tables(fabric) == before


def kills(Fabric, count, seed):
    chance, took, changed = random.Random(seed), {}, 0
    with Fabric(ibsim.fat_tree(8)) as fabric:
        hosts = fabric.hosts()
        pair = [Manager(fabric, subnet.daemon(), hosts[0], 1, options=STAY)]
        pair[0].wait_up(0)
        pair.append(Manager(fabric, subnet.daemon(), hosts[-1], 2, options=STAY))
        pair[1].wait('STANDBY')
        for _ in range(count):
            time.sleep(chance.random() * 1.5)
            how, seconds, kept = one(chance, fabric, *pair)
            took.setdefault(how, []).append(seconds)
            changed += not kept
            pair.reverse()
    for how, seconds in sorted(took.items(), key=str):
        name = how if how == HANGS else how.name
        print(f'{Fabric.__module__:7} {name:8} {len(seconds):3} times: the other is master '
              f'after median {statistics.median(seconds):.2f} s, at most {max(seconds):.2f} s')
    print(f'{Fabric.__module__:7} LIDs or routes changed in {changed} of {count}')
    return changed


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    why = osmsim.missing(('sminfo',))
    if why:
        print(f'SKIP: {why}')
        return subnet.SKIPPED
    sys.stdout.reconfigure(line_buffering=True)
    ibsim.end_cleanly()
    changed = sum(kills(Fabric, count, seed) for Fabric in (osmsim.Fabric, ibsim.Fabric))
    return 1 if changed else 0


if __name__ == '__main__':
    sys.exit(main())
