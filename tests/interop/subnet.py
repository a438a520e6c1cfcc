# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A daemon brings up a net on ibsim, and all tools check the result.

The daemon is $OPENSM, or the one of the build; any with the same interface will do, so the classic
one shows whether a failure is the harness's."""

import os
import re
import sys

import ibsim
import tools
import truth

SKIPPED = 77


def daemon():
    build = os.environ.get('top_builddir', '.')
    return os.environ.get('OPENSM') or os.path.abspath(os.path.join(build, 'opensm', 'opensm'))


def sm_guid(fabric, host):
    return fabric.dump()[host].ports[1].guid


class Run:
    """One net: daemon on its first host, tools on its last."""

    def __init__(self, checks, fabric, seconds):
        self.checks, self.fabric, self.seconds = checks, fabric, seconds
        hosts = fabric.hosts()
        self.host, self.client = hosts[0], hosts[-1]
        self.guid = sm_guid(fabric, self.host)

    def start(self, *flags, log='osm.log', binary=None):
        child = self.fabric.start_opensm(binary or daemon(), self.host, '-g',
                                         f'0x{self.guid:x}', *flags, log=log)
        self.fabric.wait_subnet_up(child, self.seconds, log)
        self.checks.check('the log has the milestone of mastership',
                          'Entering MASTER state' in self.fabric.read(log))
        return child

    def judge(self):
        self.nodes = self.fabric.dump()
        self.names = truth.reachable(self.nodes, self.host)
        truth.judge(self.checks, self.nodes, self.names, self.guid)

    def lids(self):
        return {port.guid: port.lid
                for _, port in truth.end_ports(self.nodes, self.names)}

    def use_tools(self, thorough):
        t = tools.Tools(self.checks, self.fabric, self.client, self.nodes, self.names,
                        self.nodes[self.host])
        t.sminfo()
        t.ibnetdiscover()
        t.iblinkinfo()
        t.ibroute()
        if thorough:
            t.dump_lfts()
        t.ibtracert()
        t.node_records()
        t.port_info_records()
        t.switch_records()
        t.link_records()
        t.path_records()
        t.other_records()
        t.errors()
        if thorough:  # takes minutes on a thousand hosts, the verdict of ibdmchk seconds
            t.ibdiagnet()
        t.ibdmchk()

    def is_sm(self):
        _, out = self.fabric.tool(self.client, 'smpquery', '-G', 'portinfo', f'0x{self.guid:x}')
        if 'CapMask' not in out:  # without an SA the GUID cannot be looked up: the LID still works
            lid = self.nodes[self.host].lid(1)
            _, out = self.fabric.tool(self.client, 'smpquery', 'portinfo', str(lid), '1')
        return bool(re.search(r'\bIsSM\b', out))

    def stop(self, child):
        self.checks.check('IsSM is set while it runs', self.is_sm())
        self.checks.equal('SIGTERM ends it with code 0', self.fabric.stop(child), 0)
        self.checks.check('IsSM is cleared when it ended', not self.is_sm())

    def lose_link(self):
        """Removes and restores a cable between switches that has an alternative."""
        found = redundant_link(self.nodes, self.names, self.host)
        if not found:
            return
        for change, what in ((self.fabric.link_down, 'lost'), (self.fabric.link_up, 'restored')):
            change(*found)
            self.settle()
            checks, self.checks = self.checks, ibsim.Checks()
            self.judge()
            failed = self.checks.failed
            self.checks = checks
            self.checks.check(f'the subnet is right after link {found} was {what}', not failed)

    def settle(self):
        def settled():
            nodes = self.fabric.dump()
            names = truth.reachable(nodes, self.host)
            return all(port.state == 'Active' for _, port in truth.cabled(nodes, names)) and \
                not any(True for _ in truth.broken_routes(nodes, names))
        try:
            self.fabric.wait(settled, self.seconds, 'the subnet to settle')
        except ibsim.Failure as failure:
            print(failure)


def redundant_link(nodes, names, start):
    """(switch, port) of a cable without which everything stays connected, or None."""
    for name in sorted(names):
        for port in nodes[name].ports.values():
            if not (nodes[name].is_switch and port.num and port.peer and
                    nodes[port.peer[0]].is_switch and port.peer[0] != name):
                continue
            far, saved = nodes[port.peer[0]].ports[port.peer[1]], port.peer
            back, port.peer, far.peer = far.peer, None, None
            whole = truth.reachable(nodes, start) == names
            port.peer, far.peer = saved, back
            if whole:
                return name, port.num
    return None


def bring_up(checks, net_text, seconds, thorough):
    with ibsim.Fabric(net_text) as fabric:
        run = Run(checks, fabric, seconds)
        try:
            child = run.start()
            run.judge()
            run.use_tools(thorough)
            before = run.lids()
            if thorough:
                run.lose_link()
            run.stop(child)
            child = run.start(log='again.log')
            run.judge()
            checks.equal('LIDs are kept over a restart', run.lids(), before)
            run.stop(child)
        except ibsim.Failure as failure:
            checks.check('the run goes to its end', False, failure)
            for name in ('osm.out', 'osm.log', 'again.log'):
                print(f'--- end of {name}', fabric.read(name)[-1500:], sep='\n')


def main(nets, seconds=ibsim.PATIENCE, thorough=True):
    """nets: (name, text of the net)."""
    sys.stdout.reconfigure(line_buffering=True)
    ibsim.end_cleanly()
    why = ibsim.missing(tools.NEEDED)
    if why:
        print(f'SKIP: {why}')
        return SKIPPED
    checks = ibsim.Checks()
    for name, text in nets:
        failed = checks.failed
        bring_up(checks, text, seconds, thorough)
        print(f'net {name}: {"as it should be" if checks.failed == failed else "FAILED"}')
    return checks.close()


def beside_classic(run, programs):
    """Runs the checks of run(checks, daemon), which compares it with the classic daemon."""
    why = ibsim.missing(programs)
    if why or not os.path.exists(ibsim.CLASSIC):
        print(f'SKIP: {why or ibsim.CLASSIC + " is not installed (Debian: opensm)"}')
        return SKIPPED
    if daemon() == ibsim.CLASSIC:
        print('SKIP: compares our daemon with the classic one')
        return SKIPPED
    ibsim.end_cleanly()
    checks = ibsim.Checks()
    run(checks, daemon())
    return checks.close()
