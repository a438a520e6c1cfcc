#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Dumps of routes equal those of the classic daemon to the byte, and the engine file reads back the
files of both daemons and the output of infiniband-diags."""

import os
import re
import sys

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import subnet  # noqa: E402
import tools  # noqa: E402

# Without a number for the kind of device all have 0, which looks the same in any format.
NET = re.sub(r'^(?=Switch|Hca)', 'devid=0xbd36\n', ibsim.fat_tree(4), flags=re.M)
ROUTES = ('opensm-lfts.dump', 'opensm.fdbs', 'opensm-lid-matrix.dump')
SECTION = re.compile(r'^Switch: guid (\w+)\n((?:0x.*\n)*)', re.M)


class Bench:
    """One net on which daemons take turns; LIDs stay as assigned by the first one."""

    def __init__(self, fabric):
        self.fabric, self.host, self.runs = fabric, fabric.hosts()[0], 0

    def start(self, program, *flags):
        self.runs += 1
        name = f'run{self.runs}'
        os.makedirs(self.fabric.path(name))
        child = self.fabric.start_opensm(
            program, self.host, '-D', '0x43', *flags, log=f'{name}.log', cache=f'{name}.cache',
            options=f'dump_files_dir {self.fabric.path(name)}\n')
        return child, name

    def run(self, program, *flags, last='opensm.fdbs', tools=lambda: None):
        """A daemon from its start to its end; the directory of its dumps."""
        child, name = self.start(program, *flags)
        try:
            self.fabric.wait_subnet_up(child, ibsim.PATIENCE, log=f'{name}.log')
        except ibsim.Failure as failure:
            raise ibsim.Failure(f'{failure}: {self.fabric.read("osm.out")[-300:]}') from None
        self.fabric.wait(lambda: self.fabric.read(f'{name}/{last}'), ibsim.PATIENCE,
                         f'dump {last}', alive=child)
        tools()
        self.fabric.stop(child)
        return name

    def read(self, run, name):
        return self.fabric.read(f'{run}/{name}')

    def tables(self):
        return {node.name: node.lft for node in self.fabric.dump().values() if node.is_switch}

    def write(self, name, text):
        with open(self.fabric.path(name), 'w') as file:
            file.write(text)
        return self.fabric.path(name)


def same_routes(checks, bench, classic, ours):
    for name in ROUTES:
        checks.equal(f'{name} has the bytes of the classic daemon',
                     bench.read(ours, name).splitlines(), bench.read(classic, name).splitlines())


def same_links(checks, bench, classic, ours):
    """For runs on links that an earlier one has brought up: ibsim changes their width then."""
    lines = [sorted(bench.read(run, 'opensm-subnet.lst').splitlines()) for run in (ours, classic)]
    checks.check('opensm-subnet.lst is not empty', len(lines[0]) > 10, lines[0])
    checks.equal('opensm-subnet.lst has the lines of the classic daemon', *lines)


def tool_output(bench, written):
    """The output of infiniband-diags for the present tables."""
    def output(*argv):
        return bench.fabric.tool(bench.host, *tools.patient(argv))[1]

    lids = [node.lid() for node in bench.fabric.dump().values() if node.is_switch]
    written['dump_fts'] = output('dump_fts')
    written['dump_lfts'] = output('dump_lfts')
    written['dump_fts -a'] = output('dump_fts', '-a')
    written['ibroute -n'] = '\n'.join(output('ibroute', '-n', str(lid)).strip() for lid in lids)


def reads_back(checks, bench, daemon, classic, written, wanted):
    for tool, text in written.items():
        bench.run(daemon, '-R', 'minhop')
        checks.check(f'{tool}: minhop chose other tables', bench.tables() != wanted)
        path = bench.write('tables', text + '\n')
        run = bench.run(daemon, '-R', 'file,no_fallback', '-U', path)
        checks.equal(f'{tool} reads back to the same tables', bench.tables(), wanted)
    same_routes(checks, bench, classic, run)


def least(row):
    """The ports through which a row of hops has the fewest."""
    hops = [int(word, 16) for word in row.split()]
    return {num for num, value in enumerate(hops[1:], 1) if value == min(hops[1:]) != 0xFF}


def keeps_to_hops(checks, bench, daemon):
    """Up/down hops of the classic daemon: entries stay within the ports that they allow."""
    updn = bench.run(ibsim.CLASSIC, '-R', 'updn')
    checks.check('roots are dumped', 'opensm-updn-roots.dump' in
                 os.listdir(bench.fabric.path(updn)))
    matrix = bench.fabric.path(f'{updn}/opensm-lid-matrix.dump')
    bench.run(daemon, '-R', 'file,no_fallback', '-M', matrix)
    switches = {node.guid: node for node in bench.fabric.dump().values() if node.is_switch}
    wrong, seen = [], 0
    for guid, rows in SECTION.findall(bench.read(updn, 'opensm-lid-matrix.dump')):
        node = switches[int(guid, 16)]
        for lid, row in re.findall(r'^(\w+): ([^#]*)#', rows, re.M):
            lid = int(lid, 16)
            if lid == node.lid() or not least(row):
                continue
            seen += 1
            if node.lft.get(lid) not in least(row):
                wrong.append((node.name, lid, node.lft.get(lid), row))
    checks.check('hop counts restrict the ports', seen > 100 and not wrong, (seen, wrong[:5]))
    ours = bench.run(daemon, '-R', 'updn', last='opensm-updn-roots.dump')
    checks.equal('opensm-updn-roots.dump is that of the classic daemon',
                 bench.read(ours, 'opensm-updn-roots.dump'),
                 bench.read(updn, 'opensm-updn-roots.dump'))
    same_links(checks, bench, updn, ours)


def uneven_tree():
    """Four leaves with 3, 1, 0 and 2 hosts under three spines, and one more empty leaf."""
    hosts, lines = (3, 1, 0, 2, 0), []
    for leaf, n in enumerate(hosts):
        lines.append(f'Switch 6 "L{leaf}"')
        lines += [f'[{h + 1}] "H{leaf}-{h}"[1]' for h in range(n)]
        lines += [f'[{s + 4}] "S{s}"[{leaf + 1}]' for s in range(3)] + ['']
        for h in range(n):
            lines += [f'Hca 1 "H{leaf}-{h}"', f'[1] "L{leaf}"[{h + 1}]', '']
    for spine in range(3):
        lines.append(f'Switch 5 "S{spine}"')
        lines += [f'[{leaf + 1}] "L{leaf}"[{spine + 4}]' for leaf in range(len(hosts))] + ['']
    return '\n'.join(lines)


def ca_order(checks, bench, daemon, *flags):
    """The order of compute nodes, with and without gaps."""
    name = 'opensm-ftree-ca-order.dump'
    classic = bench.run(ibsim.CLASSIC, '-R', 'ftree', *flags, last=name)
    ours = bench.run(daemon, '-R', 'ftree,no_fallback', *flags, last=name)
    checks.check('the order of compute nodes is not empty', bench.read(classic, name))
    checks.equal(f'{name} has the bytes of the classic daemon {flags}', bench.read(ours, name),
                 bench.read(classic, name))


def ca_orders(checks, bench, daemon):
    guids = [hex(node.ports[1].guid) for node in bench.fabric.dump().values()
             if not node.is_switch]
    some = bench.write('some', '\n'.join(guids[1::3]) + '\n')
    ca_order(checks, bench, daemon)
    ca_order(checks, bench, daemon, '-u', some)
    ca_order(checks, bench, daemon, '-G', some)


def refuses(checks, bench, daemon):
    path = bench.write('wrong', 'Unicast lids [0-1] of switch Lid 1 guid 0x200000 (x):\n0x1 256\n')
    child, name = bench.start(daemon, '-R', 'file', '-U', path)
    checks.equal('a wrong file stops the start', child.wait(ibsim.PATIENCE), 1)
    checks.check('and the message names file and line',
                 f'{path}:2: ' in bench.fabric.read(f'{name}.log'), bench.fabric.read('osm.out'))


def survives_damage(checks, daemon):
    """Several LIDs a port, cables out: the dump reads back, and still does, except for what it
    concerns, when one more cable is out."""
    lmc = ('-l', '2')
    with ibsim.Fabric(NET) as fabric:
        bench, written = Bench(fabric), {}
        for node, port in (('L0-0', 3), ('A1-1', 4), ('L2-1', 4)):
            fabric.link_down(node, port)
        classic = bench.run(ibsim.CLASSIC, '-R', 'minhop', *lmc,
                            tools=lambda: tool_output(bench, written))
        wanted = bench.tables()
        written = {'opensm-lfts.dump': bench.read(classic, 'opensm-lfts.dump'),
                   'dump_fts': written['dump_fts']}
        for tool, text in written.items():
            bench.run(daemon, '-R', 'minhop', *lmc)
            checks.check(f'{tool}: minhop chose other tables', bench.tables() != wanted)
            path = bench.write('tables', text + '\n')
            bench.run(daemon, '-R', 'file,no_fallback', '-U', path, *lmc)
            checks.equal(f'{tool} of a damaged fabric reads back', bench.tables(), wanted)
        ours = bench.run(daemon, '-R', 'minhop', *lmc)
        wanted = bench.tables()
        path = bench.write('tables', bench.read(ours, 'opensm-lfts.dump'))
        bench.run(daemon, '-R', 'updn', *lmc)
        bench.run(daemon, '-R', 'file,no_fallback', '-U', path, *lmc)
        checks.equal('our own dump of a damaged fabric reads back', bench.tables(), wanted)
        fabric.link_down('L3-0', 3)
        fabric.link_down('A2-0', 4)
        run = bench.run(daemon, '-R', 'file,no_fallback', '-U', path, *lmc)
        log, now = fabric.read(f'{run}.log'), bench.tables()
        checks.check('entries of a cable that is gone are filled', 'lead nowhere' in log and
                     'ERRORS' not in log, log[-600:])
        same = sum(now[sw].get(lid) == port for sw in wanted for lid, port in wanted[sw].items())
        total = sum(len(lft) for lft in wanted.values())
        checks.check('most of the file is as before', total * 0.7 < same < total, (same, total))


def run(checks, daemon):
    with ibsim.Fabric(NET) as fabric:
        bench, written = Bench(fabric), {}
        classic = bench.run(ibsim.CLASSIC, '-R', 'minhop',
                            tools=lambda: tool_output(bench, written))
        wanted = bench.tables()
        written['opensm-lfts.dump'] = bench.read(classic, 'opensm-lfts.dump')
        reads_back(checks, bench, daemon, classic, written, wanted)
        keeps_to_hops(checks, bench, daemon)
        ca_orders(checks, bench, daemon)
        refuses(checks, bench, daemon)
    with ibsim.Fabric(uneven_tree()) as fabric:
        ca_orders(checks, Bench(fabric), daemon)
    survives_damage(checks, daemon)


if __name__ == '__main__':
    sys.exit(subnet.beside_classic(run, ['dump_fts', 'ibroute']))
