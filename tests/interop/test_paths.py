#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Answers about paths that no tool of infiniband-diags asks for, beside those of the classic
daemon: MultiPathRecord, Get with open ends, half a ServiceID, destinations outside the subnet. And
TraceRecord, which the classic lacks, beside the forwarding tables."""

import json
import struct
import subprocess
import sys

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import osmsim  # noqa: E402
import subnet  # noqa: E402

SECONDS = 60
LOCAL, FAR = 0xfe80000000000000, 0xfec0000000000077
GET, TABLE, MULTI, TRACE = 0x01, 0x12, 0x14, 0x13
PATH, TRACE_RECORD, MULTI_PATH = 0x35, 0x39, 0x3A
SERVICE_ID, SERVICE_ID_LOW, DGID, SGID, DLID, SLID = (1 << n for n in range(6))
NUMB_PATH = 1 << 12
M_NUMB_PATH, M_SERVICE_MSB, M_SGIDS, M_DGIDS, M_SERVICE_LSB = (1 << n for n in (6, 16, 19, 20, 21))
STATUS_INSUFFICIENT = 0x600
NET = ibsim.fat_tree(4).replace('Hca 1 "H3-1-', 'Router 1 "H3-1-')
ROUTERS = ('H3-1-0', 'H3-1-1')


def gid(guid, prefix=LOCAL):
    return struct.pack('>QQ', prefix, guid)


def path(mask=0, sgid=bytes(16), dgid=bytes(16), slid=0, numb_path=0, method=GET):
    data = bytearray(64)
    data[8:24], data[24:40] = dgid, sgid
    data[42:44] = struct.pack('>H', slid)
    data[49] = numb_path
    return f'{method:x} {PATH:x} {mask:x} {data.hex()}'


def multi(sgids, dgids, mask=M_SGIDS | M_DGIDS, numb_path=None, prefix='+'):
    data = bytearray(24)
    data[15], data[16] = len(sgids), len(dgids)
    if numb_path is not None:
        mask |= M_NUMB_PATH
        data[5] = numb_path
    return f'{prefix}{MULTI:x} {MULTI_PATH:x} {mask:x} {(data + b"".join(sgids + dgids)).hex()}'


class Lab:
    """A daemon on NET, and a host that sends it requests."""

    def __init__(self, fabric, program, *flags):
        self.fabric = fabric
        self.client = fabric.hosts()[2]
        child = fabric.start_opensm(program, fabric.hosts()[0], '-l', '1', *flags)
        fabric.wait_subnet_up(child, SECONDS)
        self.nodes = fabric.dump()
        self.base = {node.lid(1): node.name for node in self.nodes.values() if not node.is_switch}

    def guid(self, name):
        return self.nodes[name].ports[1].guid

    def ask(self, questions):
        run = subprocess.run([osmsim.built('tests', 'interop', 'sa_ask')], timeout=ibsim.PATIENCE,
                             input=''.join(f'{line}\n' for line in questions), text=True,
                             env=self.fabric.on(self.client), stdout=subprocess.PIPE)
        return [json.loads(line) for line in run.stdout.splitlines()]

    def lid(self, lid):
        return self.base.get(lid & ~1, '?'), lid & 1

    def read(self, record):
        """The fields of a PathRecord that both daemons should agree on, LIDs by their owners."""
        data = bytes.fromhex(record)
        dlid, slid = struct.unpack('>HH', data[40:44])
        return (data[8:24].hex(), data[24:40].hex(), self.lid(dlid), self.lid(slid), data[47],
                data[49] & 0x80, data[50:52].hex(), data[53] & 15, *data[54:58])

    def told(self, answer):
        return answer['status'], answer['attribute'], [self.read(r) for r in answer['records']]


def questions(lab):
    g = [gid(lab.guid(name)) for name in ('H0-0-0', 'H0-0-1', 'H1-0-0', 'H2-1-1', 'H2-0-0')]
    ends = dict(mask=SGID | DGID, sgid=g[0], dgid=g[3])
    half = SGID | DGID | SERVICE_ID
    return {
        'one pair': multi([g[0]], [g[3]]),
        'a port to itself': multi([g[0]], [g[0]]),
        'all pairs': multi([g[0], g[1], g[2]], [g[3], g[4]]),
        'for migration': multi([g[0], g[2]], [g[3], g[4]], numb_path=2),
        'no paths': multi([g[0]], [g[3]], numb_path=0),
        'more than there are': multi([g[0]], [g[3]], numb_path=100),
        'beyond one MAD': multi([g[0]], [gid(lab.guid(f'H{n // 4}-{n // 2 % 2}-{n % 2}'))
                                          for n in range(2, 14)]),
        'no count of sources': multi([g[0]], [g[3]], M_DGIDS),
        'no count of destinations': multi([g[0]], [g[3]], M_SGIDS),
        'no sources': multi([], [g[3]]),
        'an unknown GID': multi([g[0]], [gid(0x77)]),
        'a group': multi([g[0]], [gid(0xffffffff, 0xff12401bffff0000)]),
        'upper part of a ServiceID': multi([g[0]], [g[3]], M_SGIDS | M_DGIDS | M_SERVICE_MSB),
        'lower part of a ServiceID': multi([g[0]], [g[3]], M_SGIDS | M_DGIDS | M_SERVICE_LSB),
        'upper half of a ServiceID': path(**dict(ends, mask=half)),
        'lower half of a ServiceID': path(**dict(ends, mask=SGID | DGID | SERVICE_ID_LOW)),
        'table, upper half of a ServiceID': path(**dict(ends, mask=half), method=TABLE),
        'NumbPath 0': path(**dict(ends, mask=SGID | DGID | NUMB_PATH)),
        'NumbPath 0, table': path(**dict(ends, mask=SGID | DGID | NUMB_PATH), method=TABLE),
        'to elsewhere': path(**dict(ends, dgid=gid(0x1234, FAR))),
        'to elsewhere, table': path(**dict(ends, dgid=gid(0x1234, FAR)), method=TABLE),
        'to nowhere': path(**dict(ends, dgid=gid(0x1234, FAR + 1))),
        'to nowhere, table': path(**dict(ends, dgid=gid(0x1234, FAR + 1)), method=TABLE),
    }


def open_ends(lab):
    """The order of ports is each daemon's own: for these the number of records is compared."""
    g = gid(lab.guid('H0-0-0'))
    return {
        'no ends': path(),
        'a source': path(SGID, sgid=g),
        'a destination': path(DGID, dgid=g),
        'a source LID': path(SLID, slid=lab.nodes['H0-0-0'].lid(1)),
        'a source, table': path(SGID | NUMB_PATH, sgid=g, numb_path=1, method=TABLE),
    }


def run(program):
    with osmsim.Fabric(NET) as fabric:
        routes = fabric.path('routes')
        with open(routes, 'w') as file:
            guid = {name: node.ports[1].guid for name, node in fabric.dump().items()}[ROUTERS[1]]
            file.write(f'# test\n{FAR:x} 0x{guid:x} # to the second one\n')
        lab = Lab(fabric, program, '--prefix_routes_file', routes)
        asked, opened = questions(lab), open_ends(lab)
        answers = lab.ask([*asked.values(), *opened.values()])
        told = {name: lab.told(answer) for name, answer in zip(asked, answers)}
        counts = {name: (answer['status'], len(answer['records']))
                  for name, answer in zip(opened, answers[len(asked):])}
        return told, counts


def hops(lab, source, target):
    """Nodes and ports that a packet passes, by the tables of the switches."""
    at, entry, found = lab.nodes[source], 0, []
    lid = lab.nodes[target].lid(1)
    while at.name != target:
        leave = at.lft[lid] if at.is_switch else 1
        found.append((at.guid, entry, leave))
        peer, entry = at.ports[leave].peer
        at = lab.nodes[peer]
    return [*found, (at.guid, entry, 0)]


def trace(checks):
    with osmsim.Fabric(NET) as fabric:
        lab = Lab(fabric, subnet.daemon())
        pairs = [('H0-0-0', name) for name in sorted(lab.base.values()) if name != 'H0-0-0']
        lines = [path(SGID | DGID, gid(lab.guid(a)), gid(lab.guid(b)), method=TRACE)
                 for a, b in pairs]
        for (source, target), answer in zip(pairs, lab.ask(lines)):
            told = [(int(r[24:40], 16), int(r[88:90], 16), int(r[90:92], 16))
                    for r in answer['records']]
            checks.equal(f'trace from {source} to {target}', (answer['attribute'], told),
                         (TRACE_RECORD, hops(lab, source, target)))


def main():
    why = osmsim.missing(('saquery',))
    if why:
        print(f'SKIP: {why}')
        return subnet.SKIPPED
    sys.stdout.reconfigure(line_buffering=True)
    ibsim.end_cleanly()
    checks = ibsim.Checks()
    (ours, our_counts), (classic, counts) = run(subnet.daemon()), run(ibsim.CLASSIC)
    # The peer decides by hops, and its routes are its own; of the GIDs it reads eleven.
    for name in ('for migration', 'beyond one MAD'):
        told, answer = ours.pop(name)[2], classic.pop(name)[2]
        for number, paths in enumerate((told, answer) if name == 'for migration' else ()):
            checks.check(f'{name}: two paths without a common port, {number}',
                         len(paths) == 2 and paths[0][0] != paths[1][0] and
                         paths[0][1] != paths[1][1], paths)
        if name == 'beyond one MAD':
            checks.equal(f'{name}: all', (len(told), len({p[0] for p in told})), (48, 12))
            checks.equal(f'{name}: as the peer', told[:len(answer)], answer)
    for name, answer in classic.items():
        checks.equal(name, ours[name], answer)
    for name, count in counts.items():
        checks.equal(f'open: {name}', our_counts[name], count)
    checks.equal('half a ServiceID', ours['lower half of a ServiceID'][0], STATUS_INSUFFICIENT)
    trace(checks)
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
