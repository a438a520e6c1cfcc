#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Two subnet managers on one fabric, ours and the classic one in every order: which is master,
which takes over, and how long that takes."""

import os
import re
import signal
import sys
import time

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import osmsim  # noqa: E402
import subnet  # noqa: E402

NEEDED = ('sminfo',)
POLLS = 'sminfo_polling_timeout 1000\npolling_retry_number 2\n'
SECONDS = 60
STATE = re.compile(r'Entering (\S+) state')


class Manager:
    """An SM on a host; its state is the last one in its log."""

    def __init__(self, fabric, program, host, number, priority=0, options=''):
        self.fabric, self.program, self.host = fabric, program, host
        self.log = f'sm{number}.log'
        self.options = POLLS + f'sm_priority {priority}\n' + options
        self.start()

    def start(self):
        self.since = len(self.fabric.read(self.log))
        self.child = self.fabric.start_opensm(self.program, self.host, log=self.log,
                                              cache=self.log + '.d', options=self.options)

    def state(self):
        states = STATE.findall(self.fabric.read(self.log))
        return states[-1] if states else None

    def wait(self, state):
        self.fabric.wait(lambda: self.state() == state, SECONDS,
                         f'{self.log} to be {state}, it is {self.state()}', alive=self.child)

    def wait_up(self, since):
        """Waits for a SUBNET UP after that many octets of the log."""
        self.fabric.wait(lambda: 'SUBNET UP' in self.fabric.read(self.log, since), SECONDS,
                         f'SUBNET UP of {self.log}', alive=self.child)

    def mark(self):
        return len(self.fabric.read(self.log))


def lids(fabric):
    return {name: {num: port.lid for num, port in node.ports.items()}
            for name, node in fabric.dump().items()}


def settled(checks, what, master, standby, kept):
    master.wait('MASTER')
    standby.wait('STANDBY')
    time.sleep(2.5)  # two polls: it must stay so
    checks.equal(f'{what}: one master, and it stays so', (master.state(), standby.state()),
                 ('MASTER', 'STANDBY'))
    if kept is not None:
        checks.check(f'{what}: LIDs are kept', lids(master.fabric) == kept)


def end(checks, what, manager, other, by, bound):
    """The master ends; the other is master with a subnet within a time."""
    kept, mark, since = lids(manager.fabric), other.mark(), time.monotonic()
    manager.child.send_signal(by)
    other.wait_up(mark)
    took = time.monotonic() - since
    checks.check(f'{what}: SUBNET UP of the other after {took:.1f} s, at most {bound}',
                 took <= bound)
    checks.check(f'{what}: LIDs are kept', lids(manager.fabric) == kept)
    manager.child.wait(SECONDS)


def names(*programs):
    return ' and '.join('ours' if program != ibsim.CLASSIC else 'the classic'
                        for program in programs)


def started_together(checks, Fabric, first, second):
    with Fabric(ibsim.fat_tree(4)) as fabric:
        hosts = fabric.hosts()
        pair = [Manager(fabric, program, host, number) for number, (program, host) in
                enumerate(((first, hosts[0]), (second, hosts[-1])))]
        fabric.wait(lambda: sorted(str(sm.state()) for sm in pair) == ['MASTER', 'STANDBY'],
                    SECONDS, 'one master and one standby of ' + names(first, second))
        time.sleep(3)  # of equal priority the lower GUID takes over
        master, standby = sorted(pair, key=lambda sm: str(sm.state()))
        settled(checks, names(first, second) + ' started together', master, standby, None)


def one_after_the_other(checks, Fabric, first, second):
    """The second has the higher priority; then it is killed, comes back, and is ended."""
    what = names(first, second)
    slow = 12 if ibsim.CLASSIC in (first, second) else 4.5
    with Fabric(ibsim.fat_tree(4)) as fabric:
        hosts = fabric.hosts()
        low = Manager(fabric, first, hosts[0], 1)
        low.wait_up(0)
        kept = lids(fabric)
        high = Manager(fabric, second, hosts[-1], 2, priority=5)
        settled(checks, f'{what}, of higher priority', high, low, kept)
        end(checks, f'{what}: the second is killed', high, low, signal.SIGKILL, slow)
        high.start()
        settled(checks, f'{what}: it is back', high, low, kept)
        end(checks, f'{what}: it is ended', high, low, signal.SIGTERM,
            2 if second != ibsim.CLASSIC else slow)


def replicates(checks, Fabric, first, second):
    """The standby gets what the master knows, by GMPs; when the master is killed it uses that."""
    with Fabric(ibsim.fat_tree(4)) as fabric:
        hosts = fabric.hosts()
        key = fabric.path('key')
        with open(os.open(key, os.O_WRONLY | os.O_CREAT, 0o600), 'w') as file:
            file.write('a key that both share\n')
        options = f'replication_key_file {key}\n'
        pair = [Manager(fabric, program, host, number, options=options)
                for number, (program, host) in
                enumerate(((first, hosts[0]), (second, hosts[-1])))]
        fabric.wait(lambda: any('has everything' in fabric.read(sm.log) for sm in pair),
                    SECONDS, 'a standby that has everything')
        time.sleep(3)  # of equal priority the lower GUID takes over
        master, standby = sorted(pair, key=lambda sm: str(sm.state()))
        mark = standby.mark()
        end(checks, 'with replication', master, standby, signal.SIGKILL, 4.5)
        said = fabric.read(standby.log, mark)
        checks.check('what was replicated is taken over, and vouched for',
                     re.search(r'replication: \d+ entries of SM 0x\w+ taken over\n', said), said)


KEY = 'm_key 0x1111\nm_key_protection_level 1\n'


def unable(checks, Fabric, first, second):
    """The second has the higher priority, and not the M_Key: it must not get the subnet."""
    what = names(first, second) + ', which has no M_Key'
    with Fabric(ibsim.fat_tree(4)) as fabric:
        hosts = fabric.hosts()
        able = Manager(fabric, first, hosts[0], 1, priority=5, options=KEY)
        able.wait_up(0)
        kept, mark = lids(fabric), able.mark()
        Manager(fabric, second, hosts[-1], 2, priority=9)
        time.sleep(12)
        if first == ibsim.CLASSIC:
            print(f'{what}: the classic is {able.state()}')
            return
        checks.equal(f'{what}: the first stays master', able.state(), 'MASTER')
        checks.check(f'{what}: it hands nothing over',
                     'Entering STANDBY' not in fabric.read(able.log, mark))
        checks.check(f'{what}: LIDs are kept', lids(fabric) == kept)


def has_the_key(checks, Fabric, first, second):
    """The second has the higher priority and the M_Key: it gets a HANDOVER."""
    with Fabric(ibsim.fat_tree(4)) as fabric:
        hosts = fabric.hosts()
        low = Manager(fabric, first, hosts[0], 1, priority=5, options=KEY)
        low.wait_up(0)
        high = Manager(fabric, second, hosts[-1], 2, priority=9, options=KEY)
        settled(checks, f'{names(first, second)} with one M_Key', high, low, None)


def ignores_others(checks, Fabric, first, second):
    """The first, preferred one ignores other SMs; it is killed, and restarted."""
    what = names(first, second) + ', which the first ignores'
    with Fabric(ibsim.fat_tree(4)) as fabric:
        hosts = fabric.hosts()
        high = Manager(fabric, first, hosts[0], 1, priority=15, options='ignore_other_sm TRUE\n')
        high.wait_up(0)
        low = Manager(fabric, second, hosts[-1], 2, priority=14)
        low.wait('STANDBY')
        mark = low.mark()
        high.child.kill()
        high.child.wait(SECONDS)
        low.wait_up(mark)
        since = time.monotonic()
        high.start()
        low.wait('STANDBY')
        took = time.monotonic() - since
        checks.check(f'{what}: standby again after {took:.1f} s, at most 8', took <= 8)
        settled(checks, what, high, low, None)


def main():
    why = osmsim.missing(NEEDED)
    if why:
        print(f'SKIP: {why}')
        return subnet.SKIPPED
    sys.stdout.reconfigure(line_buffering=True)
    ibsim.end_cleanly()
    checks = ibsim.Checks()
    ours, classic = subnet.daemon(), ibsim.CLASSIC
    for Fabric, first, second in ((osmsim.Fabric, ours, ours), (osmsim.Fabric, ours, classic),
                                  (osmsim.Fabric, classic, ours), (ibsim.Fabric, ours, ours)):
        for part in (started_together, one_after_the_other):
            try:
                part(checks, Fabric, first, second)
            except ibsim.Failure as failure:
                checks.check(f'{part.__name__} of {names(first, second)} ends', False, failure)
    for part, first, second in ((unable, ours, ours), (unable, ours, classic),
                                (unable, classic, ours), (has_the_key, ours, classic),
                                (has_the_key, classic, ours), (ignores_others, ours, ours),
                                (ignores_others, ours, classic),
                                (ignores_others, classic, ours)):
        try:
            part(checks, osmsim.Fabric, first, second)
        except ibsim.Failure as failure:
            checks.check(f'{part.__name__} of {names(first, second)} ends', False, failure)
    try:  # ibsim carries no GMPs of vendor classes from one program to another
        replicates(checks, osmsim.Fabric, ours, ours)
    except ibsim.Failure as failure:
        checks.check('replicates ends', False, failure)
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
