#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""osmsim-run --verbs: a program finds the node as a device of libibverbs, with what osmsim itself
says of it, and hears of what subnet managers and the simulator change."""

import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import osmsim  # noqa: E402
import subnet  # noqa: E402

SECONDS = 60
PORT = re.compile(r'^port 1 (\w+) lid (\d+) lmc (\d+) sm (\d+) mtu (\d) of (\d) width (\d+) '
                  r'speed (\d+) gid (\w+):(\w+) p_keys ?(.*)$', re.M)
RUN = ('libvendor', 'preload', 'osmsim-run')
ASK = ('tests', 'interop', 'verbs_ask')


class Asker:
    """verbs_ask on a host, and what it printed."""

    def __init__(self, fabric, host, out):
        self.fabric, self.out = fabric, out
        self.child = fabric.spawn([osmsim.built(*RUN), '-n', host, '--verbs', osmsim.built(*ASK)],
                                  self.out, env=fabric.env, stdin=subprocess.DEVNULL)
        self.wait(lambda: self.ports(), 'what it says of the port')

    def said(self):
        return self.fabric.read(self.out)

    def ports(self):
        return PORT.findall(self.said())

    def events(self):
        return re.findall(r'^event (.*) port (\d+)$', self.said(), re.M)

    def wait(self, done, what):
        self.fabric.wait(done, SECONDS, what, alive=self.child)

    def wait_event(self, name, since=0):
        """Until it printed this event and then the port."""
        self.wait(lambda: re.search(rf'^event {name} port 1\n.*\n', self.said()[since:], re.M),
                  f'the event {name}')

    def mark(self):
        return len(self.said())


def without(checks, fabric, host):
    run = subprocess.run([osmsim.built(*RUN), '-n', host, osmsim.built(*ASK)], env=fabric.env,
                         capture_output=True, text=True, timeout=SECONDS)
    checks.equal('without --verbs it finds none', (run.returncode, run.stdout),
                 (1, 'no device\n'))


def manage(fabric, host, log, options, *flags):
    child = fabric.start_opensm(subnet.daemon(), host, *flags, log=log, options=options)
    fabric.wait_subnet_up(child, SECONDS, log)
    return child


def follow(checks, fabric, asker, sm, host):
    """From no SM to one, to another with other addresses."""
    found = re.search(r'^device (\S+) guid (\w+) ports (\d+)$', asker.said(), re.M)
    guid = fabric.dump()[host].guid
    checks.equal('the device', found and found.groups(), ('osmsim0', f'{guid:016x}', '1'))
    checks.check('what carries data is refused',
                 f'protection domain {os.strerror(95)}\n' in asker.said(), asker.said())
    checks.equal('the port before an SM runs', asker.ports()[0][:4], ('init', '0', '0', '0'))
    partitions = fabric.path('partitions.conf')
    with open(partitions, 'w') as file:
        file.write('Default=0x7fff,ipoib:ALL=full;\n')
    child = manage(fabric, sm, 'first.log', '', '-P', partitions)
    for event in ('LID change', 'SM change', 'client reregistration', 'port active'):
        asker.wait_event(event)
    port = asker.ports()[-1]
    nodes = fabric.dump()
    checks.equal('state, LID, LMC and SM', port[:4],
                 ('active', str(nodes[host].lid(1)), '0', str(nodes[sm].lid(1))))
    checks.equal('GID and P_Keys', port[8:], ('fe80000000000000', f'{guid + 1:016x}', 'ffff'))
    console = fabric.console(f'port "{host}" 1')
    for field, value in (('mtu_cap', port[5]), ('neighbor_mtu', port[4]),
                         ('link_width_active', port[6])):
        checks.check(f'{field} is that of PortInfo',
                     re.search(rf'^{field}:\.*(0x0)?{value}\b', console, re.M), console)
    mark = asker.mark()
    with open(partitions, 'a') as file:
        file.write('Blue=0x11:ALL=full;\n')
    child.send_signal(1)  # SIGHUP
    asker.wait_event('P_Key change', mark)
    asker.wait(lambda: '8011' in asker.ports()[-1][-1], 'the other P_Key')
    checks.equal('the child ends', fabric.stop(child), 0)
    mark = asker.mark()
    child = manage(fabric, sm, 'second.log', 'subnet_prefix 0xfec0000000001234\n', '-l', '1')
    for event in ('LID change', 'GID table change', 'client reregistration'):
        asker.wait_event(event, mark)
    port = asker.ports()[-1]
    checks.equal('the other LID, LMC and prefix', (port[1], port[2], port[8]),
                 (str(fabric.dump()[host].lid(1)), '1', 'fec0000000001234'))
    return child


def lose(checks, fabric, asker, host):
    """The cable is pulled and plugged in, then the device is removed and put back."""
    mark = asker.mark()
    fabric.link_down(host, 1)
    asker.wait_event('port error', mark)
    mark = asker.mark()
    fabric.link_up(host, 1)
    asker.wait_event('port active', mark)
    checks.equal('the port is active again', asker.ports()[-1][0], 'active')
    fabric.console(f'remove "{host}"')
    asker.child.wait(SECONDS)
    checks.equal('its last event', asker.events()[-1], ('local catastrophic error', '0'))
    checks.check('it is told why',
                 asker.said().endswith(f'the end: {os.strerror(5)}\n'), asker.said()[-200:])
    gone = subprocess.run([osmsim.built(*RUN), '-n', host, '--verbs', osmsim.built(*ASK)],
                          env=fabric.env, capture_output=True, text=True, timeout=SECONDS)
    checks.equal('no device while it is removed', (gone.returncode, gone.stdout),
                 (1, 'no device\n'))
    fabric.console(f'insert "{host}"')
    again = Asker(fabric, host, 'again')
    checks.check('it is back by another name', 'device osmsim1 ' in again.said(), again.said())


def own_events(checks, fabric, sm, host):
    """The daemon of the build takes the events of its own port."""
    child = fabric.spawn([osmsim.built(*RUN), '-n', host, '--verbs', subnet.daemon(), '-V', '-f',
                          fabric.path('own.log'), '-p', '0'], 'own.out', stdin=subprocess.DEVNULL,
                         env=dict(fabric.env, OSM_CACHE_DIR=fabric.dir, OSM_TMP_DIR=fabric.dir))
    fabric.wait(lambda: 'Entering STANDBY' in fabric.read('own.log'), SECONDS, 'a standby',
                alive=child)
    fabric.link_down(host, 1)
    fabric.wait(lambda: re.search(r'osmsim\d port 1: the port is down', fabric.read('own.log')),
                SECONDS, 'an event', alive=child)
    checks.equal('it ends well', fabric.stop(child), 0)


def main():
    sys.stdout.reconfigure(line_buffering=True)
    ibsim.end_cleanly()
    checks = ibsim.Checks()
    with osmsim.Fabric(ibsim.fat_tree(2)) as fabric:
        sm, host = fabric.hosts()[0], fabric.hosts()[-1]
        try:
            without(checks, fabric, host)
            asker = Asker(fabric, host, 'verbs')
            child = follow(checks, fabric, asker, sm, host)
            lose(checks, fabric, asker, host)
            own_events(checks, fabric, sm, host)
            checks.equal('the SM ends well', fabric.stop(child), 0)
        except ibsim.Failure as failure:
            checks.check('the events come', False, failure)
            print(fabric.read('verbs'))
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
