#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""I/O nodes on the roots of a tree: engine ftree connects them all; the classic daemon as many as
its limit on reverse hops allows."""

import sys

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import subnet  # noqa: E402

LEVELS = 3
WIDTH = 2


def tree():
    """The full tree of 4-port switches, with an additional I/O node on each of the four roots."""
    lines, roots = ibsim.fat_tree(2 * WIDTH).splitlines(), []
    for i, line in enumerate(lines):
        if line.startswith(f'Switch {2 * WIDTH} "C'):
            root = line.split('"')[1]
            roots.append(root)
            lines[i] = f'Switch {2 * WIDTH + 1} "{root}"\n[{2 * WIDTH + 1}] "IO-{root}"[1]'
    for root in roots:
        lines += ['', f'Hca 1 "IO-{root}"', f'[1] "{root}"[{2 * WIDTH + 1}]']
    return '\n'.join(lines), roots


def connected(nodes, roots):
    """Pairs of roots whose tables lead from one to the I/O node of the other."""
    pairs = set()
    for start in roots:
        for end in roots:
            lid, name, hops = nodes[f'IO-{end}'].lid(1), start, 0
            while name != end and hops < 4 * LEVELS:
                port = nodes[name].ports.get(nodes[name].lft.get(lid, 255))
                if not port or not port.peer:
                    break
                name, hops = port.peer[0], hops + 1
            if name == end:
                pairs.add((start, end))
    return pairs


def route(fabric, program, roots, limit):
    nodes = fabric.dump()
    guids = '\n'.join(hex(nodes[f'IO-{root}'].ports[1].guid) for root in roots)
    with open(fabric.path('io'), 'w') as file:
        file.write(guids + '\n')
    with open(fabric.path('roots'), 'w') as file:
        file.write('\n'.join(hex(nodes[root].guid) for root in roots) + '\n')
    log = f'{limit}.{program.count("/")}.log'
    child = fabric.start_opensm(program, 'H0-0-0', '-R', 'ftree,no_fallback', '-G',
                                fabric.path('io'), '-a', fabric.path('roots'), '-H', str(limit),
                                log=log, cache=log + '.cache')
    fabric.wait_subnet_up(child, ibsim.PATIENCE, log=log)
    pairs = connected(fabric.dump(), roots)
    fabric.stop(child)
    return pairs, fabric.read(log)


def run(checks, daemon):
    net, roots = tree()
    for limit in range(LEVELS):
        with ibsim.Fabric(net) as fabric:
            classic, _ = route(fabric, ibsim.CLASSIC, roots, limit)
        with ibsim.Fabric(net) as fabric:
            ours, log = route(fabric, daemon, roots, limit)
        checks.check(f'{limit} reverse hops connect what the classic daemon connects',
                     ours >= classic, sorted(classic - ours))
        checks.equal(f'{limit} reverse hops: all are connected', len(ours), len(roots) ** 2)
        checks.check(f'{limit} reverse hops: nothing is excluded', ': excluded' not in log, log)


if __name__ == '__main__':
    sys.exit(subnet.beside_classic(run, []))
