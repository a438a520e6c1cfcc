#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The Scalable SA as programs on osmsim: the daemon publishes, opensm-ssa keeps the snapshot of a
host, and ssadmin finds its answers equal to those of the SA, also after another host was lost."""

import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import osmsim  # noqa: E402
import subnet  # noqa: E402

SECONDS = 60
KEY = 'a key that is long enough\n'
NODE, ADMIN = ('opensm', 'ssa', 'node', 'opensm-ssa'), ('opensm', 'ssa', 'admin', 'ssadmin')


def ssadmin(fabric, host, *words):
    run = subprocess.run([osmsim.built(*ADMIN), '-s', fabric.path('snapshot'), '--json', *words],
                         env=fabric.on(host), text=True, capture_output=True, timeout=SECONDS)
    if run.stderr:
        print(run.stderr, end='')
    return run.returncode, json.loads(run.stdout) if run.stdout else None


def epoch(fabric, host):
    code, answer = ssadmin(fabric, host, 'snapshot')
    return answer['epoch'] if code == 0 else 0


def start_agent(fabric, guid):
    with open(fabric.path('ssa.conf'), 'w') as file:
        file.write(f'role agent\nstore files:{fabric.path("store")}\nport_guid {guid:x}\n'
                   f'key_file {fabric.path("key")}\nsnapshot {fabric.path("snapshot")}\n')
    return fabric.spawn([osmsim.built(*NODE), '-c', 'ssa.conf'], 'agent.out', env=fabric.env)


def main():
    why = osmsim.missing(())
    if why:
        print(f'SKIP: {why}')
        return subnet.SKIPPED
    ibsim.end_cleanly()
    checks = ibsim.Checks()
    with osmsim.Fabric(ibsim.fat_tree(4)) as fabric:
        with open(fabric.path('key'), 'w', opener=lambda *a: os.open(*a, mode=0o600)) as file:
            file.write(KEY)
        with open(fabric.path('ssa'), 'w') as file:
            file.write(f'ssa TRUE\nssa_directory {fabric.path("store")}\n'
                       f'ssa_key_file {fabric.path("key")}\n')
        child = fabric.start_opensm(subnet.daemon(), fabric.hosts()[0], '-F', fabric.path('ssa'))
        fabric.wait_subnet_up(child, SECONDS)
        nodes = fabric.dump()
        host = fabric.hosts()[1]
        agent = start_agent(fabric, nodes[host].ports[1].guid)
        fabric.wait(lambda: os.path.exists(fabric.path('snapshot')), SECONDS, 'a snapshot',
                    alive=agent)
        code, answer = ssadmin(fabric, host, 'verify')
        checks.equal('equal to the SA', (code, answer['differ'], answer['silent'],
                                          answer['asked']), (0, 0, 0, 0))
        checks.equal('all ports', answer['same'] > len(fabric.hosts()), True)
        before = epoch(fabric, host)
        lost = fabric.hosts()[-1]
        leaf, port = nodes[lost].ports[1].peer
        fabric.link_down(leaf, port)
        fabric.wait(lambda: epoch(fabric, host) > before, SECONDS, 'another epoch', alive=agent)
        code, answer = ssadmin(fabric, host, 'verify')
        checks.equal('equal after a host was lost', (code, answer['differ']), (0, 0))
        fabric.stop(agent)
        fabric.stop(child)
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
