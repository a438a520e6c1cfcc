#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""perfquery and ibqueryerrors tell what osmsim's ports have counted."""

import re
import sys
import time

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import osmsim  # noqa: E402
import subnet  # noqa: E402
import tools  # noqa: E402

SECONDS = ibsim.PATIENCE
NEEDED = ['perfquery', 'ibqueryerrors']
COUNTER = re.compile(r'^(\w+):\.*(\d+)$', re.M)
TRUE_COUNT = re.compile(r'^(\w+) +(\d+)$', re.M)
# As the tools and the simulator write them, where these differ.
OTHER_NAMES = {'LinkErrorRecoveryCounter': 'LinkErrorRecovery', 'LinkDownedCounter': 'LinkDowned',
               'SymbolErrorCounter': 'SymbolErrors', 'PortRcvErrors': 'RcvErrors'}
WIDTHS = {'SymbolErrorCounter': 16, 'LinkErrorRecoveryCounter': 8, 'LinkDownedCounter': 8,
          'PortRcvErrors': 16, 'PortRcvRemotePhysicalErrors': 16, 'PortXmitDiscards': 16,
          'LocalLinkIntegrityErrors': 4, 'VL15Dropped': 16, 'PortXmitData': 32, 'PortRcvData': 32,
          'PortXmitPkts': 32, 'PortRcvPkts': 32, 'PortXmitWait': 32}
RAISED = {'SymbolErrorCounter': 70000, 'LinkErrorRecoveryCounter': 7, 'PortRcvErrors': 11,
          'PortXmitDiscards': 5, 'LocalLinkIntegrityErrors': 99, 'VL15Dropped': 3}


class Port:
    """A port of a switch with a host behind it that no MAD of the tools passes."""

    def __init__(self, fabric, checks, client, switch, num):
        self.fabric, self.checks, self.client = fabric, checks, client
        self.switch, self.num = switch, num

    def perfquery(self, *options):
        code, out = self.fabric.tool(self.client, *tools.patient(
            ('perfquery', *options, str(self.switch.lid()), str(self.num))))
        self.checks.check(f'perfquery {" ".join(options)} works', code == 0, out)
        return {name: int(value) for name, value in COUNTER.findall(out)}

    def true_counts(self):
        out = self.fabric.console(f'sim counters "{self.switch.name}" {self.num}')
        return {name: int(value) for name, value in TRUE_COUNT.findall(out)}

    def compare(self, shown, widths, what):
        true = self.true_counts()
        common = {name for name in true if self.shown(shown, name) is not None}
        self.checks.check(f'{what} tells most counters', len(common) >= len(WIDTHS), shown)
        for name in sorted(common):
            greatest = (1 << widths.get(name, 64)) - 1
            self.checks.equal(f'{what} {name}', self.shown(shown, name),
                              min(true[name], greatest))

    @staticmethod
    def shown(counters, name):
        for each in (name, OTHER_NAMES.get(name), name.replace('Counter', '')):
            if each in counters:
                return counters[each]
        return None


def all_agree(checks, fabric):
    hosts = fabric.hosts()
    child = fabric.start_opensm(subnet.daemon(), hosts[0])
    fabric.wait_subnet_up(child, SECONDS)
    nodes = fabric.dump()
    last = nodes[hosts[-1]].ports[1].peer
    port = Port(fabric, checks, hosts[1], nodes[last[0]], last[1])
    fabric.console(f'sim traffic add "{hosts[1]}" "{hosts[-1]}" 1G\n'
                   f'sim traffic add "{hosts[2]}" "{hosts[-1]}" 1G\n' +
                   '\n'.join(f'count "{last[0]}" {last[1]} {name} {n}'
                             for name, n in RAISED.items()))
    time.sleep(0.3)
    fabric.console('sim traffic clear')
    true = port.true_counts()
    checks.check('the traffic counts', true['PortXmitPkts'] > 10000, true)
    port.compare(port.perfquery('-x'), {}, 'perfquery -x')
    port.compare({name: value for name, value in port.perfquery().items()
                  if name in WIDTHS or name in OTHER_NAMES.values()}, WIDTHS, 'perfquery')
    code, out = fabric.tool(hosts[1], *tools.patient(('ibqueryerrors', '--data')))
    line = next((line for line in out.splitlines()
                 if f'port {port.num}:' in line and 'SymbolErrorCounter == 70000 ' in line), '')
    for name, n in RAISED.items():
        checks.check(f'ibqueryerrors tells {name}', f'[{name} == {n} (' in line, (code, out))
    fabric.console(f'sim agent "{last[0]}" silent')
    code, out = fabric.tool(hosts[1], 'perfquery', '-t', '300', str(port.switch.lid()), '1')
    checks.check('perfquery gets no answer of a silent agent', code != 0, out)
    checks.equal('the daemon ends well', fabric.stop(child), 0)


def main():
    why = osmsim.missing(NEEDED)
    if why:
        print(f'SKIP: {why}')
        return subnet.SKIPPED
    ibsim.end_cleanly()
    checks = ibsim.Checks()
    with osmsim.Fabric(ibsim.fat_tree(4)) as fabric:
        all_agree(checks, fabric)
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
