#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Two SMs of ours, and the master of the moment killed or ended again and again at random: whether
LIDs and routes are kept, and how long it takes until the other is master of a subnet that is up.

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

SECONDS = 30
STAY = 'master_sm_priority 14\n'  # who comes back does not take over


def tables(fabric):
    """LIDs of all ports and forwarding tables of all switches."""
    nodes = fabric.dump()
    return ({name: {num: port.lid for num, port in node.ports.items()}
             for name, node in nodes.items()},
            {name: dict(node.lft) for name, node in nodes.items()})


def one(chance, fabric, master, other):
    """Seconds until the other is master, and whether all was kept."""
    before = tables(fabric)
    how = chance.choice((signal.SIGKILL, signal.SIGTERM))
    if chance.random() < 0.5:
        master.child.send_signal(signal.SIGHUP)  # in the midst of a heavy sweep
        time.sleep(chance.random() * 0.1)
    mark, since = other.mark(), time.monotonic()
    master.child.send_signal(how)
    other.wait_up(mark)
    took = time.monotonic() - since
    master.child.wait(SECONDS)
    master.start()
    master.wait('STANDBY')
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
    for how, seconds in sorted(took.items()):
        print(f'{Fabric.__module__:7} {how.name:8} {len(seconds):3} times: SUBNET UP of the other '
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
