#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Weights of hops mean the same as to the classic daemon: equal hop counts from the same file, and
entries that follow them. Of parallel cables with different weights only the lightest are compared:
the others have no hop counts in our dump."""

import os
import re
import sys

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import subnet  # noqa: E402

RING = '\n\n'.join([
    'Switch 8 "S0"\n[1] "S1"[1]\n[2] "S1"[2]\n[3] "S3"[3]\n[4] "H0"[1]',
    'Switch 8 "S1"\n[1] "S0"[1]\n[2] "S0"[2]\n[3] "S2"[3]\n[4] "H1"[1]',
    'Switch 8 "S2"\n[3] "S1"[3]\n[4] "H2"[1]\n[5] "S3"[5]',
    'Switch 8 "S3"\n[3] "S0"[3]\n[4] "H3"[1]\n[5] "S2"[5]',
    *(f'Hca 1 "H{i}"\n[1] "S{i}"[4]' for i in range(4))]) + '\n'
SECTION = re.compile(r'^Switch: guid (\w+)\n((?:0x.*\n)*)', re.M)
ROW = re.compile(r'^(\w+): ([^#]*)#', re.M)


def rows_of(text):
    """{(switch, LID): hops, the least and by each port}"""
    return {(int(guid, 16), int(lid, 16)): [int(word, 16) for word in row.split()]
            for guid, rows in SECTION.findall(text) for lid, row in ROW.findall(rows)}


class Bench:
    def __init__(self, checks, fabric, daemon):
        self.checks, self.fabric, self.daemon, self.runs = checks, fabric, daemon, 0
        self.nodes = fabric.dump()
        self.host = fabric.hosts()[0]

    def run(self, program, weights):
        """The hop counts that a daemon dumps, and the tables that it sets."""
        self.runs += 1
        name = f'run{self.runs}'
        os.makedirs(self.fabric.path(name))
        with open(self.fabric.path('weights'), 'w') as file:
            file.writelines(f'0x{self.nodes[sw].guid:x} {port} {weight}\n'
                            for sw, port, weight in weights)
        child = self.fabric.start_opensm(
            program, self.host, '-D', '0x43', '-R', 'minhop', '-w', self.fabric.path('weights'),
            log=f'{name}.log', cache=f'{name}.cache',
            options=f'dump_files_dir {self.fabric.path(name)}\n')
        self.fabric.wait_subnet_up(child, ibsim.PATIENCE, log=f'{name}.log')
        self.fabric.wait(lambda: self.fabric.read(f'{name}/opensm.fdbs'), ibsim.PATIENCE, 'dumps',
                         alive=child)
        self.fabric.stop(child)
        return rows_of(self.fabric.read(f'{name}/opensm-lid-matrix.dump'))

    def keeps_to(self, what, rows):
        wrong, seen = [], 0
        for node in self.fabric.dump().values():
            for (guid, lid), row in rows.items():
                if not node.is_switch or guid != node.guid or lid == node.lid():
                    continue
                seen += 1
                if row[node.lft[lid]] != row[0]:
                    wrong.append((node.name, lid, node.lft[lid], row))
        self.checks.check(f'{what}: entries keep to the hop counts', seen and not wrong,
                          (seen, wrong[:5]))

    def same(self, what, weights, heavier=()):
        """heavier: (switch, port) of cables beside lighter ones."""
        classic = self.run(ibsim.CLASSIC, weights)
        ours = self.run(self.daemon, weights)
        for sw, port in heavier:
            for key, row in classic.items():
                if key[0] == self.nodes[sw].guid:
                    row[port] = 0xFF
        self.checks.same_table(f'{what}: hop counts', ours, classic)
        self.keeps_to(what, classic)


def run(checks, daemon):
    with ibsim.Fabric(RING) as fabric:
        bench = Bench(checks, fabric, daemon)
        bench.same('all 1', [('S0', 1, 1), ('S3', 5, 1)])
        bench.same('one way is heavy', [('S0', 1, 4), ('S0', 2, 4)])
        bench.same('as far both ways', [('S0', 1, 3), ('S0', 2, 3)])
        bench.same('both ways', [('S0', 3, 9), ('S3', 3, 9)])
        bench.same('one cable of two', [('S0', 1, 5)], heavier=[('S0', 1)])
        bench.same('closed', [('S0', 3, 255)])
        bench.same('0 counts as 1', [('S0', 1, 0), ('S3', 5, 0), ('S2', 5, 4)])
        bench.same('the last counts', [('S0', 3, 9), ('S0', 3, 2), ('S3', 3, 2)])
        bench.same('nothing of it there', [('S0', 8, 4), ('H1', 1, 7), ('S2', 4, 9)])
    with ibsim.Fabric(ibsim.fat_tree(4)) as fabric:
        bench = Bench(checks, fabric, daemon)
        switches = [node.name for node in bench.nodes.values() if node.is_switch]
        bench.same('a tree', [(sw, 1 + i % 4, 1 + i % 3) for i, sw in enumerate(switches)])
        bench.same('a tree with closed ports', [('L0-0', 3, 255), ('A1-0', 4, 255)])


if __name__ == '__main__':
    sys.exit(subnet.beside_classic(run, []))
