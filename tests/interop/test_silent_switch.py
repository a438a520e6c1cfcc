#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The SMA of the SM's leaf hangs, and of another switch, while packets pass; then SIGHUP.
Pairs of hosts that are cut off, with our daemon and with the classic one, on osmsim."""

import os
import signal
import sys
import time

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import osmsim  # noqa: E402
import subnet  # noqa: E402

SECONDS = 60
AFTER = 12  # seconds for a heavy sweep with silent switches


def arrives(nodes, source, target):
    """Whether a packet of a host reaches the LID of the other one, by the tables of the
    switches."""
    node, num = source.name, 1
    lid = target.ports[1].lid
    for _ in range(64):
        port = nodes[node].ports.get(num)
        if not port or not port.peer:
            return False
        node = port.peer[0]
        if not nodes[node].is_switch:
            return node == target.name
        num = nodes[node].lft.get(lid)
    return False


def pairs(fabric):
    nodes = fabric.dump()
    hosts = [node for node in nodes.values() if not node.is_switch]
    return {(a.name, b.name) for a in hosts for b in hosts
            if a is not b and arrives(nodes, a, b)}


def hang_and_hup(program, own):
    """(pairs before, of these cut off after SIGHUP), with the own leaf or another one hung."""
    with osmsim.Fabric(ibsim.fat_tree(4)) as fabric:
        hosts = fabric.hosts()
        child = fabric.start_opensm(program, hosts[0])
        fabric.wait_subnet_up(child, SECONDS)
        time.sleep(3)
        before = pairs(fabric)
        leaf = fabric.dump()[hosts[0] if own else hosts[-1]].ports[1].peer[0]
        fabric.console(f'hang "{leaf}"')
        child.send_signal(signal.SIGHUP)
        time.sleep(AFTER)
        lost = before - pairs(fabric)
        said = fabric.read('osm.log')[-4000:]
        child.kill()
        return len(before), len(lost), said


def main():
    why = osmsim.missing(())
    if why:
        print(f'SKIP: {why}')
        return subnet.SKIPPED
    sys.stdout.reconfigure(line_buffering=True)
    ibsim.end_cleanly()
    checks = ibsim.Checks()
    for own in (True, False):
        what = 'the leaf of the SM hangs' if own else 'another leaf hangs'
        try:
            n, lost, said = hang_and_hup(subnet.daemon(), own)
            checks.check(f'{what}, SIGHUP, ours: {lost} of {n} pairs are cut off',
                         n and not lost, said)
            if os.path.exists(ibsim.CLASSIC):
                n, lost, said = hang_and_hup(ibsim.CLASSIC, own)
                print(f'{what}, SIGHUP, the classic: {lost} of {n} pairs are cut off')
        except ibsim.Failure as failure:
            checks.check(f'{what}: ends', False, failure)
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
