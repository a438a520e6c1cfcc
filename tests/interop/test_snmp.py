#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""opensm-snmp with Debian's snmpd: a manager reads, changes partitions down to the P_Key tables of
simulated ports, and gets notifications; snmpd, the daemon and its standby end at any moment."""

import concurrent.futures
import os
import re
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import osmsim  # noqa: E402
import snmp  # noqa: E402
import subnet  # noqa: E402
from snmp import ACTIVE, CREATE_AND_GO, CREATE_AND_WAIT, DESTROY, guid_index  # noqa: E402
from test_managers import Manager  # noqa: E402

P_KEY_TABLE = 0x16
STATE_CHANGED, SUBNET_UP, LINK_DOWN, NODES_GONE = 1, 2, 7, 8


def parses(checks, fabric):
    """The MIB by the parsers of Net-SNMP and, if it is installed, of libsmi."""
    top = os.environ.get('top_srcdir', '.')
    modules = fabric.path('modules')
    os.makedirs(modules)
    snmp.write_modules(modules)
    env = {**os.environ, 'PATH': ibsim.tool_path()}
    run = subprocess.run(['snmptranslate', '-M', f'{modules}:{top}/config', '-m', 'OPENSM-MIB',
                          '-PR', '-Pw', '-Tz'], env=env, capture_output=True, text=True,
                         check=False)
    trouble = [line for line in run.stderr.splitlines() if 'parsed and ignored' not in line
               and 'Created directory' not in line]
    checks.equal('Net-SNMP takes the MIB', (run.returncode, trouble), (0, []))
    checks.check('and knows its numbers', re.search(
        rf'"opensmMemberRowStatus"\s+"{snmp.OBJECTS}.4.1.5"', run.stdout), run.stdout[-500:])
    if not ibsim.shutil.which('smilint', path=ibsim.tool_path()):
        return
    conf = fabric.path('smi.conf')
    with open(conf, 'w') as file:
        file.write(f'path :{modules}\n')
    run = subprocess.run(['smilint', '-c', conf, f'{top}/config/OPENSM-MIB.txt'], env=env,
                         capture_output=True, text=True, check=False)
    checks.equal('libsmi has nothing to say', run.stdout + run.stderr, '')


def reads(checks, site):
    checks.equal('master', site.get('1.1.0'), '3')
    walked = site.walk()
    checks.equal('scalars', (walked['1.5.0'], walked['1.6.0'], walked['1.13.0'], walked['1.14.0']),
                 ('1', '1', '20', '16'))
    names = {oid.rpartition('.')[2]: value for oid, value in walked.items()
             if oid.startswith('2.1.2.')}
    sent = next(index for index, name in names.items() if name == '"smp_sent"')
    checks.check('counters', len(names) > 50 and int(walked[f'2.1.3.{sent}']) > 20, len(names))
    checks.check('without --fabric there are no nodes', not site.walk('.5') and not site.walk('.6'))
    checks.equal('a bulk walk finds the same objects', set(site.walk(tool='snmpbulkwalk')),
                 set(walked))
    checks.equal('what is not there', (site.get('1.77.0'), site.get('1.1.1')), tuple(
        f'No Such {what} available on this agent at this OID' if what == 'Object'
        else 'No Such Instance currently exists at this OID' for what in ('Object', 'Instance')))
    checks.equal('partitions', (walked['3.1.2.32767'], walked['3.1.10.32767']), ('"Default"', '1'))


def keys_of(fabric, lid):
    """The P_Keys in the table of the simulated port."""
    block, = fabric.smps(fabric.hosts()[0], [(lid, P_KEY_TABLE, 0)])
    return {int.from_bytes(block[i:i + 2], 'big') for i in range(0, 64, 2)} if block else set()


def has_key(fabric, lid, key):
    def look():
        return key in keys_of(fabric, lid)
    return look


def writes(checks, fabric, site, ports):
    """Rows to the P_Key tables of simulated ports, and back."""
    (lid, guid), (other_lid, other) = ports[:2]
    member, second = f'16.{guid_index(guid)}', f'16.{guid_index(other)}'
    start = time.monotonic()
    checks.equal('a partition with two members in one SET', site.set(
        (f'4.1.5.{member}', CREATE_AND_GO), (f'4.1.3.{member}', 1), ('3.1.11.16', CREATE_AND_GO),
        ('3.1.2.16', 'Jobs'), ('3.1.3.16', 1), (f'4.1.5.{second}', CREATE_AND_GO)), '')
    took = time.monotonic() - start
    checks.equal('rows are there at once', (site.get(f'4.1.3.{member}'), site.get(
        f'4.1.3.{second}'), site.get('3.1.2.16'), site.get('3.1.10.16')),
        ('1', '2', '"Jobs"', '2'))
    checks.equal('counted before that is in effect', (site.get('3.1.8.16'), site.get('3.1.9.16')),
                 ('1', '1'))
    fabric.wait(has_key(fabric, lid, 0x8010), snmp.SECONDS, 'the full member to have the P_Key')
    print(f'# SET {took * 1000:.0f} ms, in the P_Key table of the port after '
          f'{(time.monotonic() - start) * 1000:.0f} ms')
    fabric.wait(has_key(fabric, other_lid, 0x0010), snmp.SECONDS, 'the limited one to have it')
    checks.equal('counted', (site.get('3.1.8.16'), site.get('3.1.9.16')), ('1', '1'))
    checks.equal('another membership', site.set((f'4.1.3.{second}', 1)), '')
    fabric.wait(has_key(fabric, other_lid, 0x8010), snmp.SECONDS, 'it to be a full member')
    checks.equal('removed', site.set((f'4.1.5.{second}', DESTROY)), '')
    fabric.wait(lambda: keys_of(fabric, other_lid) == {0xffff, 0}, snmp.SECONDS,
                'the P_Key to be taken away')
    checks.equal('again, which is no error', site.set((f'4.1.5.{second}', DESTROY)), '')
    checks.check('the other stays', 0x8010 in keys_of(fabric, lid))


def refuses(checks, site, ports):
    member = f'16.{guid_index(ports[2][1])}'
    before = site.walk('.3'), site.walk('.4')
    for what, values, expected in (
            ('createAndWait', [(f'4.1.5.{member}', CREATE_AND_WAIT)], 'wrongValue'),
            ('a partition of the file', [('3.1.2.32767', 'x')], 'notWritable'),
            ('and its members', [(f'4.1.5.32767.{guid_index(5)}', CREATE_AND_GO)], 'notWritable'),
            ('no such partition', [(f'4.1.5.99.{guid_index(5)}', CREATE_AND_GO)],
             'inconsistentName'),
            ('one of two is wrong', [(f'4.1.5.{member}', CREATE_AND_GO), ('3.1.6.16', 16)],
             'wrongValue'),
            ('a name that is more', [('3.1.2.16', 'a=0x30:ALL')], 'wrongValue'),
            ('a state', [('1.1.0', 2)], 'notWritable')):
        checks.equal(f'refused: {what}', site.set(*values), expected)
    error = site.set((f'4.1.5.{member}', CREATE_AND_GO), community='public')
    checks.check('refused: a manager that may only read', error in
                 ('noAccess', 'authorizationError'), error)
    checks.check('nothing has changed', (site.walk('.3'), site.walk('.4')) == before)


def two_managers(checks, site):
    """They write members of one partition at the same time."""
    def add(i):
        return site.set((f'4.1.5.16.{guid_index(0x500 + i)}', CREATE_AND_GO))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = list(pool.map(add, range(40)))
    checks.equal('all are done', set(results), {''})
    members = [oid for oid in site.walk('.4.1.3') if oid.startswith('4.1.3.16.0.0.0.0.0.0.5.')]
    checks.equal('all are there', len(members), 40)
    values = [(f'4.1.5.16.{guid_index(0x500 + i)}', DESTROY) for i in range(40)]
    checks.equal('and go by one SET', site.set(*values), '')
    checks.equal('they are gone', [oid for oid in site.walk('.4.1.3') if '.0.0.5.' in oid], [])


def stopped_in_mid_set(checks, site, manager):
    """A SET fails soon while the daemon hangs, or if it is killed meanwhile; all others live."""
    site.get('1.1.0')
    site.get('3.1.2.16')  # what the SET needs is known for a second
    manager.child.send_signal(signal.SIGSTOP)
    start = time.monotonic()
    error = site.set(('3.1.6.16', 3))
    took = time.monotonic() - start
    checks.check('a SET fails', error in ('commitFailed', 'resourceUnavailable'), error)
    checks.check('soon', took < 3, took)
    checks.check('and says why', 'but may still do it' in site.said() or
                 error == 'resourceUnavailable', site.said())
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        waits = pool.submit(site.set, ('3.1.6.16', 4))
        time.sleep(0.2)
        manager.child.send_signal(signal.SIGKILL)
        error = waits.result(snmp.SECONDS)
    checks.check('a SET fails with the daemon', error in ('commitFailed', 'resourceUnavailable'),
                 error)
    manager.child.wait(snmp.SECONDS)
    checks.equal('no daemon', site.get('1.1.0'), '4')
    checks.equal('no partitions', site.walk('.3'), {})
    checks.equal('then a SET', site.set(('3.1.6.16', 3)), 'resourceUnavailable')
    checks.equal('what can be read', sorted(site.walk()), ['1.1.0', '1.5.0'])


def notified(checks, fabric, site, manager, since):
    def told(number, text):
        return any(text in line for line in site.trapped(number, since))
    fabric.wait(lambda: told(STATE_CHANGED, 'unreachable, was master'), snmp.SECONDS,
                'the notification that the daemon has gone')
    manager.start()
    fabric.wait(lambda: told(SUBNET_UP, '"MASTER, subnet up'), snmp.SECONDS,
                f'that the subnet is up again: {fabric.read(site.traps, since)}')
    up = site.trapped(SUBNET_UP)[-1]
    checks.check('it says who and what', f'{snmp.OBJECTS}.1.1.0 = INTEGER: 3' in up and
                 re.search(rf'\.{snmp.OBJECTS}\.1\.2\.0 = Hex-STRING: ', up) and
                 f'{snmp.OBJECTS}.7.2.0 = Gauge32: ' in up, up)
    checks.equal('the partition was kept', site.get('3.1.2.16'), '"Jobs"')


def cables(checks, fabric, site):
    """A host that is unplugged, and a cable between switches."""
    nodes, host = fabric.dump(), fabric.hosts()[7]
    guid = ' '.join(f'{octet:02X}' for octet in nodes[host].guid.to_bytes(8, 'big'))
    since = len(fabric.read(site.traps))
    leaf, port = next((name, num) for name, node in nodes.items() if node.is_switch
                      for num, end in node.ports.items()
                      if end.peer and nodes[end.peer[0]].is_switch)
    fabric.link_down(host, 1)
    fabric.wait(lambda: any(host in line and guid in line
                            for line in site.trapped(NODES_GONE, since)), snmp.SECONDS,
                f'that {host} is gone: {fabric.read(site.traps, since)}')
    fabric.link_down(leaf, port)
    fabric.wait(lambda: any(leaf in line for line in site.trapped(LINK_DOWN, since)),
                snmp.SECONDS, f'that a link is down: {fabric.read(site.traps, since)}')
    fabric.link_up(host, 1)
    fabric.link_up(leaf, port)
    fabric.wait(lambda: site.get('1.14.0') == '16' and site.get('1.15.0') == '48', snmp.SECONDS,
                'all to be back')


def snmpd_restarts(checks, fabric, site):
    since = len(site.said())
    checks.equal('snmpd ends', fabric.stop(site.snmpd), 0)
    fabric.wait(lambda: 'snmpd has gone' in site.said(since), snmp.SECONDS, 'that to be seen')
    site.start_snmpd()
    start = time.monotonic()
    fabric.wait(lambda: 'connected to snmpd' in site.said(since), snmp.SECONDS, 'the subagent')
    took = time.monotonic() - start
    checks.check('it looks for snmpd every 5 s', took < 8, took)
    checks.equal('it answers again', site.get('1.1.0'), '3')
    checks.equal('and sets', site.set(('3.1.6.16', 2)), '')
    site.snmpd.kill()
    site.snmpd.wait()
    site.start_snmpd()
    fabric.wait(lambda: site.get('1.1.0') == '3', snmp.SECONDS, 'it after a SIGKILL')
    checks.equal('the value', site.get('3.1.6.16'), '2')


def snmpd_dies_in_mid_set(checks, fabric, site, manager):
    """The daemon does what it was sent; the subagent goes on with another snmpd."""
    since = len(site.said())
    site.get('3.1.2.16')
    manager.child.send_signal(signal.SIGSTOP)
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        lost = pool.submit(site.set, ('3.1.6.16', 7), seconds=5)
        time.sleep(0.5)
        site.snmpd.kill()
        site.snmpd.wait()
        manager.child.send_signal(signal.SIGCONT)
        checks.check('the manager gets no answer', 'Timeout' in lost.result(snmp.SECONDS),
                     lost.result())
    site.start_snmpd()
    fabric.wait(lambda: 'connected to snmpd' in site.said(since), snmp.SECONDS, 'the subagent')
    checks.check('all of it or nothing', site.get('3.1.6.16') in ('2', '7'), site.get('3.1.6.16'))
    checks.equal('it sets again', site.set(('3.1.6.16', 2)), '')


def takes_over(checks, fabric, master, standby, pair):
    """The standby has what SETs said, though its own subagent could not set."""
    checks.equal('a standby', standby.get('1.1.0'), '2')
    checks.equal('it knows its master', standby.get('1.4.0'), master.get('1.2.0'))
    checks.equal('a SET there', standby.set(('3.1.11.17', CREATE_AND_GO)), 'resourceUnavailable')
    checks.equal('no rows there', standby.walk('.3'), {})
    checks.equal('one more', master.set(('3.1.11.18', CREATE_AND_GO)), '')
    pair[0].child.send_signal(signal.SIGKILL)
    fabric.wait(lambda: standby.get('1.1.0') == '3' and standby.get('1.5.0') == '1', snmp.SECONDS,
                f'the standby to be master: {standby.walk(".1")}')
    checks.equal('it has both partitions', (standby.get('3.1.2.16'), standby.get('3.1.11.18')),
                 ('"Jobs"', str(ACTIVE)))
    checks.equal('and takes SETs', standby.set(('3.1.11.18', DESTROY)), '')
    fabric.wait(lambda: any(re.search('"master, was (standby|discovering)"', line)
                            for line in standby.trapped(STATE_CHANGED)), snmp.SECONDS,
                f'that to be told: {fabric.read(standby.traps)}')


def memory_of(child):
    with open(f'/proc/{child.pid}/status') as file:
        return int(re.search(r'VmRSS:\s+(\d+)', file.read())[1])


def cpu_of(child):
    with open(f'/proc/{child.pid}/stat') as file:
        fields = file.read().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def large(checks, fabric, site):
    """The tables of all nodes and ports of 1,024 hosts."""
    checks.equal('the subagent ends', fabric.stop(site.subagent), 0)
    path = fabric.path('large.sock')
    daemon = fabric.spawn([subnet.daemon(), '--sim', 'fattree:16', '-f', fabric.path('large.log'),
                           '--control-socket', path, '-F', '/dev/null'], 'large.out',
                          env={**os.environ, 'OSM_CACHE_DIR': fabric.path('large.d'),
                               'OSM_TMP_DIR': fabric.path('large.d')},
                          stdin=subprocess.DEVNULL)
    fabric.wait(lambda: 'SUBNET UP' in fabric.read('large.log'), snmp.SECONDS, 'a large subnet',
                alive=daemon)
    site.start_subagent(path, '--fabric')
    fabric.wait(lambda: site.get('1.14.0') == '1024', snmp.SECONDS, 'its hosts')
    start, used = time.monotonic(), cpu_of(site.subagent)
    found = site.walk(tool='snmpbulkwalk')
    took, used = time.monotonic() - start, cpu_of(site.subagent) - used
    print(f'# bulk walk of {len(found)} objects: {took:.2f} s, {used:.2f} s of CPU in the '
          f'subagent, {memory_of(site.subagent)} KB of memory')
    nodes = [oid for oid in found if oid.startswith('5.1.2.')]
    peers = [oid for oid in found if oid.startswith('6.1.8.') and found[oid] != '""']
    checks.equal('each node once', len(nodes), 1344)
    checks.equal('both ends of each cable', len(peers), 2 * 3072)
    host = found['5.1.2.' + next(oid for oid in nodes if found[oid] == '"host-0"')[len('5.1.2.'):]]
    checks.equal('with its name', host, '"host-0"')
    checks.check('with little memory', memory_of(site.subagent) < 40_000, memory_of(site.subagent))
    since = cpu_of(site.subagent)
    time.sleep(2)
    checks.check('idle when nothing is asked', cpu_of(site.subagent) - since <= 0.05,
                 cpu_of(site.subagent) - since)


def whole(checks, fabric):
    hosts = fabric.hosts()
    key = fabric.path('key')
    with open(os.open(key, os.O_WRONLY | os.O_CREAT, 0o600), 'w') as file:
        file.write('a key that both share\n')
    pair = [Manager(fabric, subnet.daemon(), hosts[-i], i, priority=5 - i,
                    options=f'control_socket {fabric.path(f"control{i}")}\n'
                            f'replication_key_file {key}\n') for i in range(2)]
    pair[0].wait_up(0)
    pair[1].wait('STANDBY')
    master, standby = (snmp.Site(fabric, i) for i in range(2))
    master.start_subagent(fabric.path('control0'))
    standby.start_subagent(fabric.path('control1'))
    fabric.wait(lambda: master.get('1.17.0') == '1', snmp.SECONDS, 'a standby in step')
    nodes = fabric.dump()
    ports = [(nodes[host].ports[1].lid, nodes[host].ports[1].guid) for host in hosts[1:5]]
    reads(checks, master)
    writes(checks, fabric, master, ports)
    refuses(checks, master, ports)
    two_managers(checks, master)
    cables(checks, fabric, master)
    snmpd_restarts(checks, fabric, master)
    snmpd_dies_in_mid_set(checks, fabric, master, pair[0])
    takes_over(checks, fabric, master, standby, pair)
    pair[1].child.kill()
    pair[1].child.wait()
    since = len(fabric.read(master.traps))
    pair[0].start()
    fabric.wait(lambda: master.trapped(SUBNET_UP, since), snmp.SECONDS,
                'the first to be master again')
    since = len(fabric.read(master.traps))
    stopped_in_mid_set(checks, master, pair[0])
    notified(checks, fabric, master, pair[0], since)
    large(checks, fabric, master)


def main():
    why = snmp.missing() or osmsim.missing(())
    if why:
        print(f'SKIP: {why}')
        return subnet.SKIPPED
    ibsim.end_cleanly()
    checks = ibsim.Checks()
    try:
        with osmsim.Fabric(ibsim.fat_tree(4)) as fabric:
            parses(checks, fabric)
            whole(checks, fabric)
    except ibsim.Failure as failure:
        checks.check('it ends', False, failure)
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
