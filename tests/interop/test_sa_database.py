#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The database of the SA as a file: both daemons load the same one and give saquery the same
services, subscriptions and groups; the classic one also does so with a file of ours."""

import os
import re
import sys
import time

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import osmsim  # noqa: E402
import subnet  # noqa: E402
import tools  # noqa: E402

PREFIX = 'fe80000000000000'
LEASES_END = 2  # seconds, within which the classic daemon finds expired leases
QUERIES = ('SR', 'IIR', 'MCMR', 'GIR')
ALIASES = ('GUIDInfo Record: base_guid=0x{guid:016x} lid=0x0001 block_num=0x{block:x} '
           'guid0=0x{base:016x} guid1=0x0000000000000000 guid2=0x{alias:016x} '
           'guid3=0x0000000000000000 guid4=0x0000000000000000 guid5=0x0000000000000000 '
           'guid6=0x0000000000000000 guid7=0x{last:016x}\n\n')
GROUP = ('MC Group 0x{mlid:04x} : mgid=0xff12000000000123:0x{number:016x} '
         'port_gid=0x0000000000000000:0x0000000000000000 qkey=0x00000b1b mlid=0x{mlid:04x} '
         'mtu=0x84 tclass=0x00 pkey=0xffff rate=0x83 pkt_life=0x92 sl_flow_hop=0x00000000 '
         'scope_state=0x21 proxy_join=0x0\n\n')
MEMBER = 'mcm_port: port_gid=0x{prefix}:0x{guid:016x} scope_state=0x21 proxy_join=0x0\n\n'
SUBSCRIPTION = ('InformInfo Record: subscriber_gid=0x{prefix}:0x{guid:016x} subscriber_enum=0x0 '
                'InformInfo: gid=0x0000000000000000:0x0000000000000000 lid_range_begin=0xffff '
                'lid_range_end=0x0 is_generic=0x1 subscribe=0x1 trap_type=0xffff '
                'trap_num=0x{trap:x} qpn_resp_time_val=0x112 node_type=0xffffff rep_addr: '
                'lid=0x0001 path_bits=0x00 static_rate=0x00 remote_qp=0x00000001 '
                'remote_qkey=0x80010000 pkey_ix=0x0000 sl=0x00\n\n')
SERVICE = ('Service Record: id=0x{number:016x} gid=0x{prefix}:0x{guid:016x} pkey=0xffff '
           'lease=0x{lease:x} key=0x0102030405060708:0x0900000000000000 name=\'service {number}\' '
           'data8=0x0001020304050607:0x08090a0b0c0d0e0f '
           'data16=0x0001000200030004:0x0005000600070008 '
           'data32=0x0000000100000002:0x0000000300000004 '
           'data64=0x0000000000000001:0x00000000000000ff '
           'modified_time=0x{time:x} lease_period=0x{lease:x}\n\n')


def database(guids):
    """Alias GUIDs, two groups with two members each, two subscriptions, two services, one of them
    with a lease that has not expired."""
    text = ''
    for i, guid in enumerate(guids):
        for block, base in ((0, guid), (2, 0x14050000000010 + i)):
            alias = 0x14050000000000 + 0x100 * i + 0x20 * block
            text += ALIASES.format(guid=guid, block=block, base=base, alias=alias, last=alias + 1)
    for number in (1, 2):
        text += GROUP.format(mlid=0xc010 + number, number=number)
        text += ''.join(MEMBER.format(prefix=PREFIX, guid=guid) for guid in guids)
    for trap in (64, 65):
        text += SUBSCRIPTION.format(prefix=PREFIX, guid=guids[0], trap=trap)
    for number, guid in enumerate(guids):
        text += SERVICE.format(prefix=PREFIX, guid=guid, number=0x1000 + number,
                               time=int(time.time()), lease=600 if number else 0xffffffff)
    return text


def records(text):
    """Parses an answer of saquery, in no order. Enum is a number of the daemon's own; ours reports
    the rest of a lease."""
    lines = [line for line in text.splitlines()
             if 'SubscriberEnum' not in line and 'ServiceLease' not in line]
    return sorted(re.split(r'^\w[\w ]* dump:\n', '\n'.join(lines) + '\n', flags=re.M))


def load(fabric, daemon, file, dump=None):
    """Answers of a daemon that loaded a file; dump is the file that it then writes, if any."""
    name = os.path.basename(file) + os.path.basename(os.path.dirname(daemon))
    child = fabric.start_opensm(
        daemon, fabric.hosts()[0], log=f'{name}.log', cache=f'{name}.cache',
        options=f'sweep_interval 1\nsa_db_dump TRUE\ndump_files_dir {fabric.path("")}\n'
                f'sa_db_file {file}\n')
    fabric.wait_subnet_up(child, ibsim.PATIENCE, log=f'{name}.log')
    if dump:
        fabric.wait(lambda: 'Service Record' in fabric.read(dump), ibsim.PATIENCE, 'the dump',
                    alive=child)
    time.sleep(LEASES_END)
    told = {query: records(fabric.tool(fabric.hosts()[3], *tools.patient(('saquery', query)))[1])
            for query in QUERIES}
    fabric.stop(child)
    return told


def run(checks, fabric):
    nodes = fabric.dump()
    first = fabric.path('first')
    with open(first, 'w') as file:
        file.write(database([nodes[name].ports[1].guid for name in fabric.hosts()[1:3]]))
    classic = load(fabric, ibsim.CLASSIC, first)
    ours = load(fabric, subnet.daemon(), first, dump='opensm-sa.dump')
    again = fabric.path('again')
    os.rename(fabric.path('opensm-sa.dump'), again)
    checks.equal('mode of the dump', oct(os.stat(again).st_mode & 0o777), '0o600')
    then = load(fabric, ibsim.CLASSIC, again)
    for query in QUERIES:
        checks.check(f'saquery {query} tells something', len(ours[query]) > 2, str(ours[query]))
        checks.equal(f'saquery {query}: ours as the classic daemon', ours[query], classic[query])
        checks.equal(f'saquery {query} of what ours wrote', then[query], classic[query])


def main():
    lacking = osmsim.missing(['opensm', 'saquery'])
    if lacking:
        print(f'SKIP: {lacking}')
        return subnet.SKIPPED
    ibsim.end_cleanly()
    checks = ibsim.Checks()
    with osmsim.Fabric(ibsim.fat_tree(4)) as fabric:
        run(checks, fabric)
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
