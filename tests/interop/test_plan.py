#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""opensm --plan on the wire: it sends only Gets, and the daemon does what it says, on a new subnet,
beside a master, and on one that the classic daemon brought up."""

import json
import os
import struct
import sys

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import osmsim  # noqa: E402
import subnet  # noqa: E402

NEEDED = ('sminfo',)
SECONDS = 60
MAD_AT = 44  # after the ERF header, LRH, BTH and DETH
GET, GET_RESP = 0x01, 0x81
# Fields that ports of ibsim do not keep, or set by themselves.
FORGOTTEN = {'m_key_lease_period', 'subnet_timeout', 'local_phy_errors', 'overrun_errors',
             'link_width_enabled', 'link_speed_enabled'}
ORDERS = {'client_reregister'}
NOTHING, CHANGES = 0, 2


def methods(path):
    """Of all MADs of a capture."""
    with open(path, 'rb') as file:
        data = file.read()
    at, found = 24, set()
    while at < len(data):
        length = struct.unpack_from('>I', data, at + 8)[0]
        found.add(data[at + 16 + MAD_AT + 3])
        at += 16 + length
    return found


class Planner:
    """Plans of a host; each is checked for the packets that it sends."""

    def __init__(self, checks, fabric, host):
        self.checks, self.fabric, self.host, self.n = checks, fabric, host, 0

    def plan(self, what, *flags, cache='plan.d', options=''):
        self.n += 1
        pcap, conf = self.fabric.path(f'plan{self.n}.pcap'), self.fabric.path('plan.conf')
        cache = self.fabric.path(cache)
        with open(conf, 'w') as file:
            file.write(options)
        self.fabric.env['OSM_CACHE_DIR'] = cache
        before = sorted(os.listdir(cache)) if os.path.exists(cache) else None
        code, out = self.fabric.tool(self.host, subnet.daemon(), '--plan', '-F', conf, '--pcap',
                                     pcap, '--log_file', self.fabric.path('no.log'), *flags)
        self.checks.equal(f'{what}: only Gets are sent, and answered', methods(pcap),
                          {GET, GET_RESP})
        self.checks.equal(f'{what}: no file is written',
                          (sorted(os.listdir(cache)) if os.path.exists(cache) else None,
                           os.path.exists(self.fabric.path('no.log'))), (before, False))
        return code, out

    def json(self, what, **more):
        code, out = self.plan(what, '--json', **more)
        return code, json.loads(out[out.index('{'):])


def lids(fabric):
    return {name: {num: port.lid for num, port in node.ports.items() if port.lid}
            for name, node in fabric.dump().items()}


def planned_lids(answer):
    """Of endports, by the name of the node."""
    return {node['node']: int(field['after'], 16) for node in answer['nodes']
            for change in node['changes'] for field in change.get('fields', ())
            if field['field'] == 'lid'}


def nothing_changes(checks, planner, what, **more):
    """Except what ibsim forgets: the daemon's own sweeps set that again and again."""
    code, answer = planner.json(what, **more)
    fields = {field['field'] for node in answer['nodes'] for change in node['changes']
              for field in change.get('fields', ())}
    tables = {change['attribute'] for node in answer['nodes'] for change in node['changes']
              if 'blocks' in change}
    checks.equal(f'{what}: nothing would change',
                 (answer['complete'], fields - FORGOTTEN - ORDERS, tables, answer['problems']),
                 (True, set(), set(), []))
    if isinstance(planner.fabric, osmsim.Fabric):
        checks.equal(f'{what}: exit status', (code, answer['changes']), (NOTHING, False))


def new_subnet(checks, Fabric):
    what = f'{Fabric.__module__}, new'
    with Fabric(ibsim.fat_tree(4)) as fabric:
        host = fabric.hosts()[0]
        planner = Planner(checks, fabric, host)
        code, answer = planner.json(what)
        checks.equal(f'{what}: all is to be set', (code, answer['lids_new'], answer['complete']),
                     (CHANGES, 36, True))
        checks.equal(f'{what}: nobody has got a LID', {name for name, has in lids(fabric).items()
                                                      if any(has.values())}, set())
        child = fabric.start_opensm(subnet.daemon(), host)
        fabric.wait_subnet_up(child, SECONDS)
        got = {name: next(iter(has.values())) for name, has in lids(fabric).items()}
        checks.same_table(f'{what}: LIDs are as planned', got, planned_lids(answer))
        fabric.wait(lambda: os.path.exists(fabric.path('cache/opensm-subnet.lst')), SECONDS,
                    'the dump of the subnet')
        nothing_changes(checks, planner, f'{what}, beside the master on its port', cache='cache')
        code, out = planner.plan(f'{what}, other options', cache='cache',
                                 options='subnet_timeout 17\n')
        checks.check(f'{what}: other options would change something', code == CHANGES and
                     '-> 17' in out, f'{code}: {out}')
        checks.check(f'{what}: the master has not noticed', child.poll() is None)
        fabric.stop(child)


def migration(checks, Fabric):
    """After the classic daemon: LIDs stay, and if routes change the plan says so."""
    what = f'{Fabric.__module__}, of the classic'
    with Fabric(ibsim.fat_tree(4)) as fabric:
        first, last = fabric.hosts()[0], fabric.hosts()[-1]
        classic = fabric.start_opensm(ibsim.CLASSIC, first)
        fabric.wait_subnet_up(classic, SECONDS)
        kept = lids(fabric)
        code, out = Planner(checks, fabric, last).plan(f'{what}, from another host')
        checks.check(f'{what}: its master is named', 'note: another SM manages the subnet: ' in out
                     and 'master_sm_lid ' in out, f'{code}: {out}')
        fabric.stop(classic)
        code, answer = Planner(checks, fabric, first).json(what)
        checks.equal(f'{what}: it is complete, and keeps LIDs',
                     (answer['complete'], answer['lids_changed'], answer['problems']),
                     (True, 0, []))
        checks.equal(f'{what}: the exit status tells whether anything changes', code,
                     CHANGES if answer['changes'] else NOTHING)
        child = fabric.start_opensm(subnet.daemon(), first, log='ours.log')
        fabric.wait_subnet_up(child, SECONDS, 'ours.log')
        checks.check(f'{what}: LIDs are kept', lids(fabric) == kept)
        fabric.stop(child)
        nothing_changes(checks, Planner(checks, fabric, first), f'{what}, after that',
                        cache='cache')


def main():
    why = osmsim.missing(NEEDED) or ibsim.missing(NEEDED)
    if why:
        print(f'SKIP: {why}')
        return subnet.SKIPPED
    sys.stdout.reconfigure(line_buffering=True)
    ibsim.end_cleanly()
    checks = ibsim.Checks()
    for Fabric in (osmsim.Fabric, ibsim.Fabric):
        for part in (new_subnet, migration):
            try:
                part(checks, Fabric)
            except ibsim.Failure as failure:
                checks.check(f'{part.__name__} ends', False, failure)
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
