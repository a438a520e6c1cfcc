#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Debian's ibacm with its own provider and the files that opensm-ssa keeps for it: it answers by
LID, GID and name with the SA's SL, MTU and rate, and asks the SA nothing."""

import glob
import os
import re
import sys

sys.dont_write_bytecode = True

import ibacm  # noqa: E402 (after the switch above: the source tree may be read-only)
import ibsim  # noqa: E402
import osmsim  # noqa: E402
import ssa  # noqa: E402
import subnet  # noqa: E402

SECONDS = 60
PROVIDERS = glob.glob('/usr/lib*/*/ibacm/libibacmp.so') + glob.glob('/usr/lib*/ibacm/libibacmp.so')
SHIM = ('tests', 'interop', 'verbs_shim.so')
SL = 3
QOS = f'''qos-ulps
    default: {SL}
end-qos-ulps
'''


class Bed:
    def __init__(self, fabric):
        self.fabric = fabric
        self.sm_host, self.host, self.other = fabric.hosts()[0], fabric.hosts()[1], \
            fabric.hosts()[-1]
        guids = {name: node.ports[1].guid for name, node in fabric.dump().items()
                 if not node.is_switch}
        gid = f'fe80::{guids[self.other] >> 48:x}:0:0:{guids[self.other] & 0xffff:x}'
        ssa.write_key(fabric)
        ssa.write(fabric, 'addresses', f'other {gid}\n10.0.0.9 {gid}\n')
        ssa.write(fabric, 'qos', QOS)
        self.sm = fabric.start_opensm(
            subnet.daemon(), self.sm_host, '-Q', '-Y', fabric.path('qos'),
            options=ssa.daemon_options(fabric) +
            f'ssa_address_file {fabric.path("addresses")}\n')
        fabric.wait_subnet_up(self.sm, SECONDS)
        os.mkdir(fabric.path('acm_files'))
        self.agent = ssa.start_node(
            fabric, 'agent', f'role agent\nstore files:{fabric.path("store")}\n'
            f'port_guid {guids[self.host]:x}\nsnapshot {fabric.path("snapshot")}\n'
            f'acm_files {fabric.path("acm_files")}\n')
        self.routes, self.names = (fabric.path(f'acm_files/ibacm_{kind}.data')
                                   for kind in ('route', 'hosts'))
        fabric.wait(lambda: os.path.exists(self.names), SECONDS, 'the files', alive=self.agent)
        self.nodes = fabric.dump()

    def start_ibacm(self, name):
        self.service = ibacm.Service(
            self.fabric, self.host, {'self': 'default', '10.0.0.1': 'default'},
            f'route_preload opensm_full_v1\nroute_data_file {self.routes}\n'
            f'addr_preload acm_hosts\naddr_data_file {self.names}\nloopback_prot none\n',
            name=name, provider='ibacmp', library=PROVIDERS[0], shim=osmsim.built(*SHIM))
        self.service.wait('join successful')
        self.client = ibacm.Client(self.service)

    def queries(self):
        return self.client.counters()['route query']


def fields(record):
    """What the file can say of it."""
    _, dgid, sgid, dlid, slid, _, _, _, p_key, sl, mtu, rate, _, _ = ibacm.RECORD.unpack(record)
    return dgid, sgid, dlid, slid, p_key, sl & 0xf, mtu & 0x3f, rate & 0x3f


def resolve(bed, checks):
    """All ports of the fabric, by GID and LID, and one by its addresses."""
    own = bed.nodes[bed.host].ports[1]
    answers, before = [], bed.queries()
    for name in bed.fabric.hosts():
        port = bed.nodes[name].ports[1]
        gids = ibacm.gid(own.guid), ibacm.gid(port.guid)
        for octets in (ibacm.record(*gids), ibacm.record(*gids, slid=own.lid, dlid=port.lid)):
            answers.append((name, octets, bed.client.path(octets)))
    for kind, address in ((ibacm.NAME, b'other'), (ibacm.IPV4, bytes((10, 0, 0, 9)))):
        source = b'self' if kind == ibacm.NAME else bytes((10, 0, 0, 1))
        other = bed.nodes[bed.other].ports[1]
        answers.append((bed.other, ibacm.record(ibacm.gid(own.guid), ibacm.gid(other.guid)),
                        bed.client.ask(ibacm.address(kind, ibacm.SOURCE, source),
                                       ibacm.address(kind, ibacm.DESTINATION, address))))
    checks.equal('nothing failed', [name for name, _, answer in answers if answer.status], [])
    checks.equal('the SA was asked nothing', bed.queries() - before, 0)
    wrong = []
    for name, octets, answer in answers:
        sa = bed.client.path(octets, ibacm.ASK_SA)
        if answer.record and fields(answer.record) != fields(sa.record):
            wrong.append((name, answer.record.hex(), sa.record.hex()))
    checks.equal(f"{len(answers)} answers have the SA's values", wrong, [])
    checks.equal('among them the SL of the policy',
                 {fields(answer.record)[5] for name, _, answer in answers if name != bed.host},
                 {SL})


def change(bed, checks):
    """A host less: the file of paths is another one, that of addresses is not."""
    before = os.stat(bed.routes).st_ino, os.stat(bed.names).st_ino
    os.link(bed.routes, bed.routes + '.before')  # no other file gets its number
    lost = bed.fabric.hosts()[-2]
    bed.fabric.link_down(*bed.nodes[lost].ports[1].peer)
    bed.fabric.wait(lambda: os.stat(bed.routes).st_ino != before[0], SECONDS,
                    'another file of paths', alive=bed.agent)
    guid = f'{bed.nodes[lost].ports[1].guid:016x}'
    with open(bed.routes) as file:
        text = file.read()
    checks.check('it has no such port', guid not in text, text[:500])
    checks.equal('the other file was left alone', os.stat(bed.names).st_ino, before[1])
    os.remove(bed.routes)
    bed.fabric.stop(bed.agent)
    bed.agent = bed.fabric.spawn(bed.agent.args, 'agent.out', env=bed.fabric.env)
    bed.fabric.wait(lambda: os.path.exists(bed.routes), SECONDS,
                    'the file, after a restart without a newer epoch', alive=bed.agent)
    bed.start_ibacm('acm2')
    ends = (ibacm.gid(bed.nodes[name].ports[1].guid) for name in (bed.host, bed.other))
    answer = bed.client.path(ibacm.record(*ends))
    checks.equal('ibacm goes by it after a restart', (answer.status, bed.queries()), (0, 0))
    checks.equal('no line is wrong for ibacm',
                 re.findall('ERROR - (?!unable to allocate netlink).*', bed.service.log()), [])


def main():
    why = ibacm.missing() or osmsim.missing(())
    if why or not PROVIDERS:
        print(f'SKIP: {why or "libibacmp.so is not installed (Debian: ibacm)"}')
        return subnet.SKIPPED
    ibsim.end_cleanly()
    checks = ibsim.Checks()
    with osmsim.Fabric(ibsim.fat_tree(4)) as fabric:
        try:
            bed = Bed(fabric)
            bed.start_ibacm('acm')
            resolve(bed, checks)
            change(bed, checks)
        except (ibsim.Failure, TimeoutError) as failure:
            checks.check('it goes on', False, failure)
            for name in sorted(os.listdir(fabric.dir)):
                if name.endswith(('.out', 'acm.log')):
                    print(f'{name}: {fabric.read(name)[-3000:]}')
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
