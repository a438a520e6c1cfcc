#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The console answers as the classic daemon's does: both run on one fabric, one after the other,
with the same LIDs, and are given the same commands."""

import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import subnet  # noqa: E402

NET = ibsim.fat_tree(4)
PROMPT = 'OpenSM $ '
# Answered in the same words, except for the time of a scan and for the rates, since ibsim makes
# links as fast as the daemon enables.
SAME = ['querylid 3', 'querylid 0x10', 'querylid 999', 'portstatus', 'portstatus ca',
        'portstatus switch', 'portstatus router', 'priority', 'priority 3', 'priority 77',
        'loglevel 0x43', 'loglevel', 'sweep off', 'sweep on', 'resweep light', 'reroute',
        'logflush on', 'update_desc', 'switchbalance 0x99', 'lidbalance 0x99', 'lidbalance',
        'switchbalance verbose 0x200010']
SAME_LINES = ['dump_portguid H0.*', 'dump_portguid H0 L1-0$']  # in another order
# Numbers of paths differ with the routes; the lines do not.
SAME_FORM = ['switchbalance', 'switchbalance verbose']
STATUS = ['SM State', 'SM Priority', 'SA State', 'Routing Engine', 'QP0 MADs outstanding',
          'QP0 MADs outstanding (on wire)', 'QP0 MADs rcvd', 'QP0 MADs sent', 'QP0 unicasts sent',
          'QP0 unknown MADs rcvd', 'SA MADs rcvd', 'SA MADs sent', 'Sweeping enabled',
          'Sweep interval (seconds)', 'Subnet Init errors', 'In sweep hop 0',
          'First time master sweep', 'Coming out of standby']


class Console:
    """A daemon on its standard input and output."""

    def __init__(self, fabric, program, host, guid, name):
        self.fabric, self.name, self.read_so_far = fabric, f'{name}.out', 0
        env = fabric.on(host, OSM_CACHE_DIR=fabric.dir, OSM_TMP_DIR=fabric.dir)
        with open(fabric.path('conf'), 'w') as file:  # else the classic keeps its milestones
            file.write('force_log_flush TRUE\n')
        self.child = fabric.spawn(
            [program, '-F', 'conf', '-g', f'0x{guid:x}', '-f', fabric.path(f'{name}.log'),
             '-D', '0x83', '--console', 'local'], self.name, env=env, stdin=subprocess.PIPE)
        fabric.wait_subnet_up(self.child, ibsim.PATIENCE, f'{name}.log')
        fabric.wait(lambda: PROMPT in self.new(), ibsim.PATIENCE, 'the prompt', alive=self.child)
        self.read_so_far = len(self.new())

    def ask(self, line):
        """The output up to the next prompt; the classic takes one line at a time."""
        self.child.stdin.write(f'{line}\n'.encode())
        self.child.stdin.flush()
        self.fabric.wait(lambda: PROMPT in self.new(), ibsim.PATIENCE,
                         f'{self.name} to answer {line}', alive=self.child)
        answer = self.new().split(PROMPT)[0]
        self.read_so_far += len(answer) + len(PROMPT)
        return answer

    def new(self):
        return self.fabric.read(self.name)[self.read_so_far:]

    def answers(self):
        """{command: answer}, without what may differ."""
        found = {line: re.sub(r' in \d+ us|(?<= at ).*', '', self.ask(line)) for line in SAME}
        for line in SAME_LINES:
            found[line] = sorted(self.ask(line).split())
        for line in SAME_FORM:
            found[line] = self.form(line)
        status = dict(re.findall(r'^ +(\S[^:\n]*?) *: *(.*?) *$', self.ask('status'), re.M))
        found['status'] = {name: 'N' if 'MADs' in name or 'unicasts' in name else value
                           for name, value in status.items() if name in STATUS}
        return found

    def form(self, line):
        """Kinds of lines, without numbers and names."""
        text = re.sub(r'0x[0-9a-f]{16} \([^)]*\)', 'NODE', self.ask(line))
        return {re.sub(r'\d+', 'N', part) for part in text.splitlines()
                if not part.startswith('Unbalanced')}


def run(checks):
    with ibsim.Fabric(NET) as fabric:
        host = fabric.hosts()[0]
        guid = subnet.sm_guid(fabric, host)
        answers = []
        for program, name in ((ibsim.CLASSIC, 'classic'), (subnet.daemon(), 'ours')):
            console = Console(fabric, program, host, guid, name)
            answers.append(console.answers())
            fabric.stop(console.child)
        for line, classic in answers[0].items():
            checks.equal(line, answers[1][line], classic)
        checks.equal('status has all lines', sorted(answers[0]['status']), sorted(STATUS))


def main():
    why = ibsim.missing([])
    if why or not os.path.exists(ibsim.CLASSIC):
        print(f'SKIP: {why or ibsim.CLASSIC + " is not installed (Debian: opensm)"}')
        return subnet.SKIPPED
    ibsim.end_cleanly()
    checks = ibsim.Checks()
    try:
        run(checks)
    except ibsim.Failure as failure:
        checks.check('the run goes to its end', False, failure)
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
