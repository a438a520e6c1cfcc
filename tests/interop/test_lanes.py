#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Layered engines judged by ibdmchk: SLs by saquery, tables as the switches hold them. With these
tables and one SL for all it must find a credit loop, else the test would show nothing."""

import itertools
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import ibutils  # noqa: E402
import osmsim  # noqa: E402
import subnet  # noqa: E402
import tools  # noqa: E402

SECONDS = ibsim.PATIENCE
ENGINES = (('dfsssp',), ('lash',), ('nue',), ('nue', '--nue_max_num_vls', '0'))
# osmsim's LFT dumps; a record of a path begins with its dgid.
FIELD = re.compile(r'^\s*(sgid|dlid|slid|sl)\.+\s*(\S+)', re.M)


class Net:
    """Switches with a host each, and cables between them, as text."""

    def __init__(self):
        self.ports = {}

    def add(self, switch):
        self.ports[switch] = [f'"H{switch}"[1]']

    def join(self, a, b):
        self.ports[a].append(f'"{b}"[{len(self.ports[b]) + 1}]')
        self.ports[b].append(f'"{a}"[{len(self.ports[a])}]')

    def text(self):
        lines = []
        for switch, ends in self.ports.items():
            lines += [f'Switch {len(ends)} "{switch}"']
            lines += [f'[{num}] {end}' for num, end in enumerate(ends, 1)]
            lines += ['', f'Hca 1 "H{switch}"', f'[1] "{switch}"[1]', '']
        return '\n'.join(lines)


def torus(*sizes):
    net = Net()
    places = list(itertools.product(*map(range, sizes)))
    for place in places:
        net.add('S' + '-'.join(map(str, place)))
    for place in places:
        for axis, size in enumerate(sizes):
            there = tuple((x + (i == axis)) % size for i, x in enumerate(place))
            net.join('S' + '-'.join(map(str, place)), 'S' + '-'.join(map(str, there)))
    return net.text()


def dragonfly(switches, cables):
    """Groups with the given number of switches, each of these with the given number of cables to
    other groups: one cable for each two groups."""
    net, groups = Net(), switches * cables + 1
    for group in range(groups):
        for switch in range(switches):
            net.add(f'S{group}-{switch}')
        for a, b in itertools.combinations(range(switches), 2):
            net.join(f'S{group}-{a}', f'S{group}-{b}')
    for a, b in itertools.combinations(range(groups), 2):
        net.join(f'S{a}-{(b - 1) // cables}', f'S{b}-{a // cables}')
    return net.text()


def path_sls(fabric, host, count):
    """(node GUID of the source, LID of the destination, SL) of all paths between hosts."""
    nodes = fabric.dump()
    hosts = {node.lid(1): node.guid for node in nodes.values() if not node.is_switch}
    out = fabric.tool(host, *tools.patient(('saquery', '--smkey', '1', '-p')), seconds=SECONDS)[1]
    paths = []
    for record in out.split('PathRecord dump:')[1:]:
        fields = dict(FIELD.findall(record))
        slid, dlid = int(fields['slid'], 0), int(fields['dlid'], 0)
        if slid in hosts and dlid in hosts and slid != dlid:
            paths.append((hosts[slid], dlid, int(fields['sl'], 0)))
    if len(paths) != count * (count - 1):
        raise ibsim.Failure(f'{len(paths)} paths of {count} hosts: {out[-300:]}')
    return paths


def has_loop(fabric, sls):
    """Whether ibdmchk finds a credit loop with these SLs."""
    ibutils.write_lines(fabric.path('sls'), (f'0x{guid:016x} {lid} {sl}' for guid, lid, sl in sls))
    run = subprocess.run(['ibdmchk', '-s', 'subnet.lst', '-f', 'fdbs', '-m', 'no-multicast', '-c',
                          'sls'], cwd=fabric.dir, timeout=SECONDS, stdin=subprocess.DEVNULL,
                         env=dict(os.environ, PATH=ibsim.tool_path(), LD_PRELOAD=ibutils.shim()),
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors='replace')
    none = '-I- no credit loops found' in run.stdout
    if none == ('-E- credit loops in routing' in run.stdout) or none != (run.returncode == 0):
        raise ibsim.Failure(f'ibdmchk: code {run.returncode}, {run.stdout[-400:]}')
    return not none


def judge(checks, what, text, engine):
    with osmsim.Fabric(text) as fabric:
        hosts = [name for kind, name in fabric.names if kind != 'Switch']
        child = fabric.start_opensm(subnet.daemon(), hosts[0], '-R', f'{engine[0]},no_fallback',
                                    *engine[1:])
        fabric.wait_subnet_up(child, SECONDS)
        sls = path_sls(fabric, hosts[1], len(hosts))
        nodes = fabric.dump()
        ibutils.ibdmchk_of_truth(fabric.dir, nodes, set(nodes), hosts[0])
        lanes = {sl for _, _, sl in sls}
        name = f'{" ".join(engine)} on {what}, {len(lanes)} lanes'
        checks.check(f'{name}: no credit loop', not has_loop(fabric, sls), sorted(lanes))
        if len(lanes) > 1:
            checks.check(f'{name}: one on a single lane',
                         has_loop(fabric, [(guid, lid, 0) for guid, lid, _ in sls]), 'none')
        fabric.stop(child)


def main():
    why = osmsim.missing(['saquery']) or ibutils.missing('ibdmchk')
    if why:
        print(f'SKIP: {why}')
        return subnet.SKIPPED
    sys.stdout.reconfigure(line_buffering=True)
    ibsim.end_cleanly()
    checks = ibsim.Checks()
    for what, text in (('torus 4x4x4', torus(4, 4, 4)), ('a dragonfly', dragonfly(4, 2))):
        for engine in ENGINES:
            try:
                judge(checks, what, text, engine)
            except ibsim.Failure as failure:
                checks.check(f'{" ".join(engine)} on {what} ends', False, failure)
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
