#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Scripts that watch the log of the classic daemon go on working: one story of cables, hosts, a
leaf switch, the SM's port and a standby, logged by both daemons, is searched as such scripts do."""

import os
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import osmsim  # noqa: E402
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

# Searches of such scripts; each prints the same for both daemons. Names of functions that the
# classic daemon puts before its text are not matched. The first searches are our own: the whole
# story, in the words of the classic daemon.
LINES = {
    # Nodes that were lost, as "GUID name", for a list of nodes to look at.
    'removed ports': "sed -n 's/.*Removed port with GUID:\\(0x[0-9a-f]*\\) LID range "
                     "\\[[0-9]*, [0-9]*\\] of node:\\(.*\\)$/\\1 \\2/p' | sort",
    # And those that are back.
    'new ports': "awk '/Discovered new port with GUID/ { sub(/.*GUID:/, \"\"); print $1, $NF }'"
                 " | sort",
    # A mail for each GID that is out of service.
    'GIDs out of service': "grep -F 'GID out of service' | sed 's/.*GID://' | sort",
    'GIDs in service': "grep -F 'GID in service' | sed 's/.*GID://' | sort",
    # Switches that report links, by number and kind of the trap.
    'notices': "grep -oE 'Received Generic Notice type:1 num:[0-9]+ \\([^)]*\\) Producer:[0-9] "
               "\\([^)]*\\) from LID:' | sort -u",
}
SOME = " | sed 's/[1-9][0-9]*/some/'"
# And those of public scripts, as far as their patterns go: which script, and its purpose.
PUBLIC = {
    # RunSimTest of ibutils follows the log by three expressions.
    'events of RunSimTest': "grep -oE 'SUBNET UP|STANDBY' | sort -u",
    # A procedure for restarting the SM of UFM.
    'mastership after a restart': "grep -E 'Entering MASTER state' | tail -5 | sed 's/.*-> //'"
                                 " | sort -u",  # once, as ours keeps that state without its cable
    # An inventory of UFM hosts, which takes the version from the first line that has it.
    'version': "grep OpenSM | head -1 | sed 's/.*\\(OpenSM [^ ]*\\).*/\\1/' | tr -d '0-9.'",
    # Counts of UFM's events: how often the subnet was set up.
    'sweeps that were counted': "grep -c 'SUBNET UP'" + SOME,
    # Notes on DOCA check whether the requested engine routes.
    'engine': "grep updn | grep -oE 'updn tables configured on all switches' | sort -u",
    # "Whether the SM is working", by the milestones of the manual.
    'milestones': "grep -oE 'Entering (MASTER|STANDBY|DISCOVERING) state|"
                  "SM port is (down|up)|SUBNET UP'"
                  " | sort -u",
}
# Errors have that word: RunSimTest searches for the first, that procedure for the second.
ERRORS = ["grep -c ' ERR '", "grep -cE 'ERR|FATAL'"]
# A lab of two SMs on ibsim checks the standby's output.
OF_STANDBY = {
    'states on the terminal': "grep 'state'",
    'states in the log': "grep -oE 'Entering [A-Z]* state'",
    'events of RunSimTest': PUBLIC['events of RunSimTest'],
}
POLLS = 'sminfo_polling_timeout 500\npolling_retry_number 2\n'


class Story:
    def __init__(self, fabric, program, name, guid):
        self.fabric, self.log = fabric, f'{name}.log'
        self.program, self.name = program, name
        self.child = fabric.start_opensm(program, 'host-0-0', '-g', f'0x{guid:x}', '-s', '1', '-R',
                                         'updn', log=self.log, cache=name)
        fabric.wait_subnet_up(self.child, ibsim.PATIENCE, self.log)

    def text(self):
        return self.fabric.read(self.log)

    def after(self, act, node, ports, text, times):
        """Pulls or plugs cables, and waits until the log has this many more of those lines."""
        before = self.text().count(text)
        for port in ports:
            act(node, port)
        self.fabric.wait(lambda: self.text().count(text) >= before + times, ibsim.PATIENCE,
                         f'{times} of {text!r} in {self.log}', alive=self.child)

    def cable(self, act, node, port, text):
        """The end of the last sweep; waits until the log has the text."""
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
        found_all = {name: found_in(self.text(), script) for name, script in LINES.items()}
        self.after(down, 'leaf-0', [SPINES + 1], 'SM port is down', 1)
        self.after(up, 'leaf-0', [SPINES + 1], 'SM port is up', 1)
        self.fabric.stop(self.child)
        found_all.update((name, found_in(self.text(), script)) for name, script in PUBLIC.items())
        return found_all


def found_in(text, script):
    return subprocess.run(['sh', '-c', script], input=text, stdout=subprocess.PIPE, text=True,
                          check=False).stdout.splitlines()


def standby(program):
    """Another SM stands by, and is master when the first is lost. On osmsim, as SMs on ibsim do not
    see each other."""
    with osmsim.Fabric(NET) as fabric:
        first = fabric.start_opensm(program, 'host-0-0', log='first.log', cache='first')
        fabric.wait_subnet_up(first, ibsim.PATIENCE, 'first.log')
        child = fabric.start_opensm(program, 'host-0-1', log='standby.log', cache='standby',
                                    options=POLLS, out='standby.out')
        for line in ['Entering STANDBY state', 'Entering MASTER state', 'SUBNET UP']:
            fabric.wait(lambda: line in fabric.read('standby.log'), ibsim.PATIENCE,
                        f'{line!r} in the log of the standby', alive=child)
            if 'STANDBY' in line:
                first.kill()
        child.kill()
        return {f'{name} of a standby': found_in(
                    fabric.read('standby.out' if 'terminal' in name else 'standby.log'), script)
                for name, script in OF_STANDBY.items()}


def compare(checks, found, classic):
    for name in classic:
        checks.check(f'the classic daemon tells of {name}', classic[name])
        checks.equal(f'{name} are found in the log as in the classic one', found[name],
                     classic[name])


def errors(checks, daemon):
    """A line of partitions that ends without ';' is an error in the log, and the search finds
    it."""
    with tempfile.TemporaryDirectory() as directory:
        rules, log = os.path.join(directory, 'rules'), os.path.join(directory, 'log')
        with open(rules, 'w') as file:
            file.write('Default=0x7fff: ALL=full')
        subprocess.run([daemon, '--sim', 'fattree:4', '--once', '-P', rules, '-f', log],
                       stdout=subprocess.DEVNULL, timeout=ibsim.PATIENCE, check=True,
                       env=dict(os.environ, OSM_CACHE_DIR=directory))
        with open(log) as file:
            text = file.read()
        for script in ERRORS:
            checks.equal(f'{script} finds an error', found_in(text, script), ['1'])


def run(checks, daemon):
    errors(checks, daemon)
    compare(checks, standby(daemon), standby(ibsim.CLASSIC))
    with ibsim.Fabric(NET) as fabric:
        guid = subnet.sm_guid(fabric, 'host-0-0')
        classic = Story(fabric, ibsim.CLASSIC, 'classic', guid).tell()
        ours = Story(fabric, daemon, 'ours', guid)
        found = ours.tell('link down: spine-0 ', 'link up: spine-0 ')
        compare(checks, found, classic)
        text = ours.text()
        for line in ['host host-1-2 (0x000000000010000a) is gone: link down: leaf-1 '
                     '(0x0000000000200001) port 5 to host-1-2 (0x000000000010000a) port 1\n',
                     'link down: spine-0 (0x0000000000200002) port 2 to leaf-1 '
                     '(0x0000000000200001) port 1\n',
                     # Two cables are pulled one after the other: the first may be reported
                     # separately.
                     'switch leaf-1 (0x0000000000200001) and its 3 hosts are gone: link down: ',
                     'switch leaf-1 (0x0000000000200001) and its 3 hosts have appeared: link up: ']:
            checks.check(f'the log says {line!r}', f'0x02 -> {line}' in text, text)


if __name__ == '__main__':
    sys.exit(subnet.beside_classic(run, []))
