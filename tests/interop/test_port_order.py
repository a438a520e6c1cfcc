#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""An order of ports means the same as to the classic daemon: among equal paths, minhop and updn
give the hosts behind them the same ports in turn."""

import sys

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import subnet  # noqa: E402

SPINES, HOSTS = 4, 3
LEAF = [f'[{i + 1}] "S{i}"[%d]' for i in range(SPINES)]
TREE = '\n\n'.join([
    *(f'Switch 8 "L{leaf}"\n' + '\n'.join(
        [line % (leaf + 1) for line in LEAF] +
        [f'[{SPINES + 1 + h}] "H{leaf}-{h}"[1]' for h in range(HOSTS)]) for leaf in range(2)),
    *(f'Switch 8 "S{i}"\n[1] "L0"[{i + 1}]\n[2] "L1"[{i + 1}]' for i in range(SPINES)),
    *(f'Hca 1 "H{leaf}-{h}"\n[1] "L{leaf}"[{SPINES + 1 + h}]'
      for leaf in range(2) for h in range(HOSTS))]) + '\n'


def ports_of(fabric, program, engine, order, number):
    """The ports of L0 through which the hosts of L1 are reached, in the order of their LIDs."""
    nodes = fabric.dump()
    with open(fabric.path('order'), 'w') as file:
        file.write(f'0x{nodes["L0"].guid:x} {" ".join(map(str, order))}\n')
    name = f'{number}-{"classic" if program == ibsim.CLASSIC else "ours"}'
    child = fabric.start_opensm(program, 'H0-0', '-R', engine, '-O', fabric.path('order'),
                                log=f'{name}.log', cache='cache')
    fabric.wait_subnet_up(child, 60, log=f'{name}.log')
    nodes = fabric.dump()
    fabric.stop(child)
    return [nodes['L0'].lft[lid] for lid in
            sorted(nodes[f'H1-{h}'].lid(1) for h in range(HOSTS))]


def run(checks, daemon):
    with ibsim.Fabric(TREE) as fabric:
        number = 0
        for engine in ('minhop', 'updn'):
            for order in ([4, 3, 2, 1], [2, 4, 1, 3], [3], [1, 2, 3, 4, 5, 6, 7, 8]):
                number += 1
                classic = ports_of(fabric, ibsim.CLASSIC, engine, order, number)
                ours = ports_of(fabric, daemon, engine, order, number)
                checks.equal(f'{engine}: ports tried in the order {order}', ours, classic)


if __name__ == '__main__':
    sys.exit(subnet.beside_classic(run, []))
