#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A host whose configuration names no core finds it at the SA, among records that other hosts have
put there, and another one when that core is gone."""

import json
import os
import struct
import subprocess
import sys

sys.dont_write_bytecode = True

import ibacm  # noqa: E402 (after the switch above: the source tree may be read-only)
import ibsim  # noqa: E402
import osmsim  # noqa: E402
import ssa  # noqa: E402
import subnet  # noqa: E402

SECONDS = 15
NAME, SERVICE_ID = b'opensm-ssa', 0x026f70656e736d01
SERVICE_RECORD = 0x31
GET_TABLE, SET = 0x12, 2
BY_NAME, ALL = 1 << 6, (1 << 37) - 1 - (1 << 5)
DATA = 112
SM = 5  # the host of that number


def ask(fabric, host, method, mask, octets):
    """{status, records} of the SA's answer."""
    sign = '+' if method == GET_TABLE else ''
    run = subprocess.run([osmsim.built('tests', 'interop', 'sa_ask')], env=fabric.on(host),
                         input=f'{sign}{method:x} {SERVICE_RECORD:x} {mask:x} {octets.hex()}\n',
                         stdout=subprocess.PIPE, text=True, timeout=SECONDS)
    return json.loads(run.stdout)


def record(guid=0, data=b'', name=NAME):
    return struct.pack('>Q16sHHI16s64s64s', SERVICE_ID, ibacm.gid(guid) if guid else bytes(16),
                       0xffff, 0, 0xffffffff, bytes(16), name, data)


def registered(fabric, host):
    """Addresses of cores that the SA tells."""
    answer = ask(fabric, host, GET_TABLE, BY_NAME, record())
    return sorted(bytes.fromhex(octets)[DATA:DATA + 64].rstrip(b'\0').decode()
                  for octets in answer['records'])


def start_core(fabric, name, host):
    redis = ssa.Redis(fabric, f'redis-{name}')
    node = ssa.start_node(fabric, name, f'role core\nserver {redis.uri}\nnode_guid 0x{name}\n'
                          f'store files:{fabric.path("store")}\n', host)
    address = redis.uri.replace('redis://', '')
    fabric.wait(lambda: address in registered(fabric, host), SECONDS, f'{name} at the SA',
                alive=node)
    return node, redis, address


def lose(fabric, nodes, host):
    fabric.link_down(*nodes[host].ports[1].peer)


def find(fabric, checks):
    hosts, nodes = fabric.hosts(), fabric.dump()
    sm_host, host = hosts[SM], hosts[SM + 1]
    node, redis, address = start_core(fabric, 'c1', sm_host)
    # They come before the core, by their GUIDs.
    bad = {0: b'no address', 1: b'x:99999', 2: b'1:' + b'1' * 62, 3: b'127.0.0.1:1'}
    for number, data in bad.items():
        answer = ask(fabric, hosts[number], SET, ALL,
                     record(nodes[hosts[number]].ports[1].guid, data))
        checks.equal(f'another host may register {data}', answer['status'], 0)
    agent = ssa.start_node(fabric, 'agent', f'role agent\nsnapshot {fabric.path("snapshot")}\n'
                           f'port_guid {nodes[host].ports[1].guid:x}\n', host)
    fabric.wait(lambda: os.path.exists(fabric.path('snapshot')), SECONDS, 'a snapshot',
                alive=agent)
    guid = f'{nodes[host].ports[1].guid:016x}'
    fabric.wait(lambda: guid in json.dumps(ssa.ssadmin(fabric, host, '--core', redis.uri, 'tree')),
                SECONDS, 'the host in the tree', alive=agent)
    checks.equal('ssadmin verify asks the SA', ssa.ssadmin(fabric, host, 'verify')[0], 0)

    fabric.stop(node)
    checks.check('a core that ends withdraws itself', address not in registered(fabric, host))
    redis.child.kill()
    redis.child.wait()
    before = ssa.epoch(fabric, host)
    lose(fabric, nodes, hosts[-1])
    start_core(fabric, 'c2', sm_host)
    fabric.wait(lambda: ssa.epoch(fabric, host) > before, SECONDS, 'an epoch of the other core',
                alive=agent)
    checks.equal('and its answers are those of the SA',
                 ssa.ssadmin(fabric, host, 'verify')[0], 0)
    checks.equal('the host lives', agent.poll(), None)


def main():
    why = osmsim.missing(()) or ssa.missing()
    if why:
        print(f'SKIP: {why}')
        return subnet.SKIPPED
    ibsim.end_cleanly()
    checks = ibsim.Checks()
    with osmsim.Fabric(ibsim.fat_tree(4)) as fabric:
        ssa.write_key(fabric)
        sm = fabric.start_opensm(subnet.daemon(), fabric.hosts()[SM],
                                 options=ssa.daemon_options(fabric))
        fabric.wait_subnet_up(sm, SECONDS)
        try:
            find(fabric, checks)
        except (ibsim.Failure, TimeoutError) as failure:
            checks.check('it goes on', False, failure)
            for name in sorted(os.listdir(fabric.dir)):
                if name.endswith('.out'):
                    print(f'{name}: {fabric.read(name)[-1500:]}')
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
