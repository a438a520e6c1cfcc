#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Scripts that watch the log of the classic daemon go on working: one story of cables, hosts, a
leaf switch and the SM's port, told by both daemons, is searched by the lines of such scripts."""

import subprocess
import sys
import time

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import subnet  # noqa: E402

LEAVES, SPINES, HOSTS = 2, 2, 3
NET = '\n\n'.join([
    *(f'Switch 8 "leaf-{leaf}"\n' + '\n'.join(
        [f'[{s + 1}] "spine-{s}"[{leaf + 1}]' for s in range(SPINES)] +
        [f'[{SPINES + 1 + h}] "host-{leaf}-{h}"[1]' for h in range(HOSTS)])
      for leaf in range(LEAVES)),
    *(f'Switch 8 "spine-{s}"\n' + '\n'.join(
        f'[{leaf + 1}] "leaf-{leaf}"[{s + 1}]' for leaf in range(LEAVES)) for s in range(SPINES)),
    *(f'Hca 1 "host-{leaf}-{h}"\n[1] "leaf-{leaf}"[{SPINES + 1 + h}]'
      for leaf in range(LEAVES) for h in range(HOSTS))]) + '\n'

# What public scripts run over opensm.log; each prints the same of both daemons. The names of
# functions that the classic daemon puts before its text are not among what they look for.
SCRIPTS = {
    # Nodes that were lost, as "GUID name", for a list of nodes to look at.
    'removed ports': "sed -n 's/.*Removed port with GUID:\\(0x[0-9a-f]*\\) LID range "
                     "\\[[0-9]*, [0-9]*\\] of node:\\(.*\\)$/\\1 \\2/p' | sort",
    # And those that are back.
    'new ports': "awk '/Discovered new port with GUID/ { sub(/.*GUID:/, \"\"); print $1, $NF }'"
                 " | sort",
    # A mail for each GID that is out of service.
    'GIDs out of service': "grep -F 'GID out of service' | sed 's/.*GID://' | sort",
    'GIDs in service': "grep -F 'GID in service' | sed 's/.*GID://' | sort",
    # Switches that tell of links, by number and kind of the trap.
    'notices': "grep -oE 'Received Generic Notice type:1 num:[0-9]+ \\([^)]*\\) Producer:[0-9] "
               "\\([^)]*\\) from LID:' | sort -u",
    # Whether the SM is at work.
    'milestones': "grep -oE 'Entering (MASTER|STANDBY) state|SM port is (down|up)|SUBNET UP'"
                  " | sort -u",
}


class Story:
    def __init__(self, fabric, program, name, guid):
        self.fabric, self.log = fabric, f'{name}.log'
        self.child = fabric.start_opensm(program, 'host-0-0', '-g', f'0x{guid:x}', '-s', '1',
                                         log=self.log, cache=name)
        fabric.wait_subnet_up(self.child, ibsim.PATIENCE, self.log)

    def text(self):
        return self.fabric.read(self.log)

    def after(self, act, node, ports, text, times):
        """Pulls or plugs cables, and waits until the log has so many more of those lines."""
        before = self.text().count(text)
        for port in ports:
            act(node, port)
        self.fabric.wait(lambda: self.text().count(text) >= before + times, ibsim.PATIENCE,
                         f'{times} of {text!r} in {self.log}', alive=self.child)

    def cable(self, act, node, port, text):
        """When the last sweep is over; waits until the log has the text."""
        self.fabric.wait(self.is_quiet, ibsim.PATIENCE, f'{self.log} to be quiet')
        start = len(self.text())
        act(node, port)
        self.fabric.wait(lambda: text in self.text()[start:], ibsim.PATIENCE,
                         f'{text!r} in {self.log}', alive=self.child)

    def is_quiet(self):
        """Nothing was written for half a second."""
        length = len(self.text())
        time.sleep(0.5)
        return len(self.text()) == length

    def tell(self, cable_down='SUBNET UP', cable_up='SUBNET UP'):
        down, up = self.fabric.link_down, self.fabric.link_up
        removed, found = 'Removed port with GUID', 'Discovered new port with GUID'
        self.after(down, 'host-1-2', [1], removed, 1)
        self.after(up, 'host-1-2', [1], found, 1)
        self.cable(down, 'leaf-1', 1, cable_down)
        self.cable(up, 'leaf-1', 1, cable_up)
        self.after(down, 'leaf-1', [1, 2], removed, 1 + HOSTS)
        self.after(up, 'leaf-1', [1, 2], found, 1 + HOSTS)
        found_all = {name: self.found(script) for name, script in SCRIPTS.items()
                     if name != 'milestones'}
        self.after(down, 'leaf-0', [SPINES + 1], 'SM port is down', 1)
        self.after(up, 'leaf-0', [SPINES + 1], 'SM port is up', 1)
        found_all['milestones'] = self.found(SCRIPTS['milestones'])
        self.fabric.stop(self.child)
        return found_all

    def found(self, script):
        return subprocess.run(['sh', '-c', script], input=self.text(), stdout=subprocess.PIPE,
                              text=True, check=False).stdout.splitlines()


def run(checks, daemon):
    with ibsim.Fabric(NET) as fabric:
        guid = subnet.sm_guid(fabric, 'host-0-0')
        classic = Story(fabric, ibsim.CLASSIC, 'classic', guid).tell()
        ours = Story(fabric, daemon, 'ours', guid)
        found = ours.tell('link down: spine-0 ', 'link up: spine-0 ')
        for name in SCRIPTS:
            checks.check(f'the classic daemon tells of {name}', classic[name])
            checks.equal(f'{name} are found in the log as in the classic one', found[name],
                         classic[name])
        text = ours.text()
        for line in ['host host-1-2 (0x000000000010000a) is gone: link down: leaf-1 '
                     '(0x0000000000200001) port 5 to host-1-2 (0x000000000010000a) port 1\n',
                     'link down: spine-0 (0x0000000000200002) port 2 to leaf-1 '
                     '(0x0000000000200001) port 1\n',
                     # Two cables are pulled one after the other: the first may be told alone.
                     'switch leaf-1 (0x0000000000200001) and its 3 hosts are gone: link down: ',
                     'switch leaf-1 (0x0000000000200001) and its 3 hosts have appeared: link up: ']:
            checks.check(f'the log says {line!r}', f'0x02 -> {line}' in text, text)


if __name__ == '__main__':
    sys.exit(subnet.beside_classic(run, []))
