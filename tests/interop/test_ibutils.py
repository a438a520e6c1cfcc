#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The judges from ibutils themselves: they accept what is right and see each kind of error, and the
files given to ibdmchk are those that the classic daemon writes."""

import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import ibutils  # noqa: E402
import subnet  # noqa: E402
import test_truth  # noqa: E402
import truth  # noqa: E402

# Those of the wrong subnets of test_truth that show in links and routes.
WRONG_ROUTES = ('a loop', 'no entry', 'a port without cable', 'a wrong host',
                'an entry that ends at the wrong switch')


def ring():
    """Three switches in a ring that all route clockwise: every path ends where it should, and
    each can wait for the next for ever."""
    nodes = {}
    for at in range(3):
        switch = nodes[f'S{at}'] = ibsim.Node('Switch', 3, f'S{at}', 0x100 + at)
        host = nodes[f'H{at}'] = ibsim.Node('Ca', 1, f'H{at}', 0x200 + 2 * at)
        host.ports[1] = ibsim.Port(0x201 + 2 * at, 1, (switch.name, 1), 11 + at, 'Active')
        for num, peer in ((0, None), (1, (host.name, 1)), (2, (f'S{(at + 1) % 3}', 3)),
                          (3, (f'S{(at + 2) % 3}', 2))):
            switch.ports[num] = ibsim.Port(switch.guid, num, peer, 1 + at, 'Active')
        switch.lft = {lid: 2 for lid in (1, 2, 3, 11, 12, 13)}
        switch.lft[1 + at], switch.lft[11 + at] = 0, 1
    return nodes


def verdict(nodes, start):
    names = truth.reachable(nodes, start)
    with tempfile.TemporaryDirectory(prefix='opensm-interop.') as directory:
        code, out = ibutils.ibdmchk_of_truth(directory, nodes, names, start)
    return ibutils.complaints(code, out, ibutils.ca_ports(nodes, names))


def sees_what_is_wrong(checks):
    checks.equal('a right subnet is right', verdict(ibsim.parse_dump(test_truth.RIGHT), 'H1'), [])
    for what in WRONG_ROUTES:
        nodes = ibsim.parse_dump(test_truth.RIGHT.replace(*test_truth.WRONG[what]))
        wrong = verdict(nodes, 'H1')
        checks.check('seen as wrong: ' + what, any('-E-' in line for line in wrong), wrong)
    nodes = ring()
    checks.equal('the ring reaches everybody', list(truth.broken_routes(nodes, set(nodes))), [])
    wrong = verdict(nodes, 'H0')
    checks.check('seen as wrong: a ring of channels',
                 any('credit loops in routing' in line for line in wrong), wrong)


def same_as_classic(checks):
    """Its own dump of a subnet, beside the file written here of the same subnet."""
    with ibsim.Fabric(ibsim.fat_tree(4)) as fabric:
        host = fabric.hosts()[0]
        child = fabric.start_opensm(ibsim.CLASSIC, host, '-D', '0x43')
        fabric.wait_subnet_up(child, ibsim.PATIENCE)
        nodes = fabric.dump()
        names = truth.reachable(nodes, host)
        cas = ibutils.ca_ports(nodes, names)
        fabric.stop(child)  # what it dumps is complete then
        ours = ibutils.ibdmchk_of_truth(fabric.dir, nodes, names, host)
        checks.equal('ibdmchk of what ibsim says', ibutils.complaints(*ours, cas), [])
        own = ibutils.ibdmchk(fabric.dir, 'cache/opensm-subnet.lst', 'cache/opensm.fdbs')
        checks.equal('ibdmchk of its own dump', ibutils.complaints(*own, cas), [])
        figures = [[line for line in out.splitlines() if re.match(r' *\d+ +\d+$', line)]
                   for _, out in (own, ours)]
        checks.equal('both give the same histograms', figures[1], figures[0])
        checks.same_set('the same links', set(fabric.read('subnet.lst').splitlines()),
                        set(fabric.read('cache/opensm-subnet.lst').splitlines()))
        checks.same_set('the same routes', routes(fabric.read('fdbs')),
                        routes(fabric.read('cache/opensm.fdbs')))


def ibdiagnet_sees_what_is_wrong(checks):
    """A subnet that lost a cable after its SM had ended: routes lead nowhere, and there is no
    master."""
    with ibsim.Fabric(ibsim.fat_tree(4)) as fabric:
        host, client = fabric.hosts()[0], fabric.hosts()[-1]
        child = fabric.start_opensm(subnet.daemon(), host)
        fabric.wait_subnet_up(child, ibsim.PATIENCE)
        nodes = fabric.dump()
        cas = ibutils.ca_ports(nodes, truth.reachable(nodes, host))
        for right in (True, False):
            report = ibutils.Ibdiagnet(fabric, client, seconds=ibsim.PATIENCE)
            wrong = ibutils.complaints(report.code, report.out, cas)
            if right:
                checks.equal('ibdiagnet: a right subnet is right', wrong, [])
                fabric.stop(child)
                fabric.link_down('L0-0', 3)
            else:
                for sign in ('missing paths', 'Missing master SM'):
                    checks.check(f'ibdiagnet sees {sign}', any(sign in line for line in wrong),
                                 wrong)


def routes(text):
    """{(switch, lid, port)}"""
    found, switch = set(), None
    for line in text.splitlines():
        if match := re.match(r'dump_ucast_routes: Switch (\w+)', line):
            switch = match[1]
        elif match := re.match(r'(0x\w+) : (\d+)', line):
            found.add((switch, match[1], match[2]))
    return found


def main():
    why = ibsim.missing([]) or ibutils.missing('ibdmchk') or ibutils.missing('ibdiagnet')
    if why:
        print(f'SKIP: {why}')
        return subnet.SKIPPED
    ibsim.end_cleanly()
    checks = ibsim.Checks()
    sees_what_is_wrong(checks)
    ibdiagnet_sees_what_is_wrong(checks)
    if os.path.exists(ibsim.CLASSIC):
        same_as_classic(checks)
    else:
        checks.skip('the files of the classic daemon', f'no {ibsim.CLASSIC} (Debian: opensm)')
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
