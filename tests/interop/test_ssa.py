#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The Scalable SA as programs on osmsim: the daemon publishes, opensm-ssa keeps the snapshot of a
host, and ssadmin finds its answers equal to those of the SA, also after another host was lost."""

import os
import sys

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import osmsim  # noqa: E402
import ssa  # noqa: E402
import subnet  # noqa: E402

SECONDS = 60


def main():
    why = osmsim.missing(())
    if why:
        print(f'SKIP: {why}')
        return subnet.SKIPPED
    ibsim.end_cleanly()
    checks = ibsim.Checks()
    with osmsim.Fabric(ibsim.fat_tree(4)) as fabric:
        ssa.write_key(fabric)
        child = fabric.start_opensm(subnet.daemon(), fabric.hosts()[0],
                                    options=ssa.daemon_options(fabric))
        fabric.wait_subnet_up(child, SECONDS)
        nodes = fabric.dump()
        host = fabric.hosts()[1]
        agent = ssa.start_node(fabric, 'ssa', f'role agent\nstore files:{fabric.path("store")}\n'
                               f'port_guid {nodes[host].ports[1].guid:x}\n'
                               f'snapshot {fabric.path("snapshot")}\n')
        fabric.wait(lambda: os.path.exists(fabric.path('snapshot')), SECONDS, 'a snapshot',
                    alive=agent)
        code, answer = ssa.ssadmin(fabric, host, 'verify')
        checks.equal('equal to the SA', (code, answer['differ'], answer['silent'],
                                          answer['asked']), (0, 0, 0, 0))
        checks.equal('all ports', answer['same'] > len(fabric.hosts()), True)
        before = ssa.epoch(fabric, host)
        lost = fabric.hosts()[-1]
        leaf, port = nodes[lost].ports[1].peer
        fabric.link_down(leaf, port)
        fabric.wait(lambda: ssa.epoch(fabric, host) > before, SECONDS, 'another epoch', alive=agent)
        code, answer = ssa.ssadmin(fabric, host, 'verify')
        checks.equal('equal after a host was lost', (code, answer['differ']), (0, 0))
        fabric.stop(agent)
        fabric.stop(child)
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
