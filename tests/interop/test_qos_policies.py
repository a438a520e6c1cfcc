#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Files qos-policy.conf, one after the other, beside the classic daemon: whether each is accepted,
and the paths that clients get then. For a file that both accept the paths must be equal."""

import re
import signal
import sys

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import osmsim  # noqa: E402
import subnet  # noqa: E402

SECONDS = 60
# Only requested sweeps, since the SUBNET UP of another would be taken for theirs.
QUIET = 'sweep_interval 0\ntransaction_timeout 5000\n'
REFUSED = re.compile(r'ERR AC|the QoS policy is unchanged')
PAIRS = (('H0-0-1', 'H1-0-0'), ('H1-0-0', 'H0-0-1'))
ULP = 'qos-ulps\n{}\nend-qos-ulps\n'
DEFAULT = ULP.format('default: 0')
VLS = '0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15'
SERVICE, CLASS, P_KEY = '--service_id', '--qos_class', '--pkey'


def section(name, *lines):
    return '\n'.join((name, *lines, f'end-{name}')) + '\n'


def group(*lines):
    return section('port-groups', section('port-group', *lines))


def levels(*more, default='name: DEFAULT\nsl: 1'):
    return section('qos-levels', section('qos-level', default),
                   *(section('qos-level', *lines) for lines in more))


def rules(*all_rules):
    return section('qos-match-rules', *(section('qos-match-rule', *lines) for lines in all_rules))


def vlarb(*lines):
    return section('qos-setup', section('vlarb-tables', section('vlarb-scope', *lines)))


def sl2vl(*lines):
    return section('qos-setup', section('sl2vl-tables', section('sl2vl-scope', *lines)))


FAST = levels(('name: Fast', 'sl: 5'))
TARGET = group('name: T', 'port-name: H1-0-0/P1')
# Name, text (@T: the port GUID of H1-0-0), questions besides the one without any condition.
FILES = [
    ('shortest', levels(), []),
    ('shortest of the short form', DEFAULT, []),
    ('empty', '', []),
    ('comments only', '# nothing\n\n', []),
    ('no default', section('qos-levels', section('qos-level', 'name: A', 'sl: 1')), []),
    ('level without SL', levels(('name: A',)), []),
    ('level without name', levels(('sl: 3',)), []),
    ('level with two names', levels(('name: A', 'name: B', 'sl: 1')), []),
    ('level with two SLs', levels(('name: A', 'sl: 2', 'sl: 3')), []),
    ('SL 16', levels(('name: A', 'sl: 16')), []),
    ('level with all', levels(default='name: DEFAULT\nuse: all\nsl: 2\nmtu-limit: 3\n'
                              'rate-limit: 2\npacket-life: 10'), []),
    ('MTU limit', levels(default='name: DEFAULT\nsl: 1\nmtu-limit: 2'), []),
    ('rate limit', levels(default='name: DEFAULT\nsl: 1\nrate-limit: 3'), []),
    ('hexadecimal', levels(default='name: DEFAULT\nsl: 0x3\nmtu-limit: 0x2'), []),
    ('by class', FAST + rules(('qos-class: 7-9,11', 'qos-level-name: Fast')),
     [(CLASS, '7'), (CLASS, '10'), (CLASS, '11')]),
    ('by service', FAST + rules(('service-id: 0x10-0x1F, 77', 'qos-level-name: Fast')),
     [(SERVICE, '0x10'), (SERVICE, '77'), (SERVICE, '0x20')]),
    ('by P_Key', FAST + rules(('pkey: 0x7fff', 'qos-level-name: Fast')), [(P_KEY, '0xffff')]),
    ('by P_Key with the membership bit', FAST + rules(('pkey: 0xffff', 'qos-level-name: Fast')),
     [(P_KEY, '0xffff')]),
    ('by source', TARGET + FAST + rules(('source: T', 'qos-level-name: Fast')), []),
    ('by destination', TARGET + FAST + rules(('destination: T', 'qos-level-name: Fast')), []),
    ('by both ends', TARGET + FAST + rules(('source: T', 'destination: T',
                                            'qos-level-name: Fast')), []),
    ('first match',
     FAST + rules(('qos-class: 1-5', 'qos-level-name: Fast'),
                  ('qos-class: 3', 'qos-level-name: DEFAULT')), [(CLASS, '3'), (CLASS, '6')]),
    ('all must hold', FAST + rules(('qos-class: 3', 'service-id: 9', 'qos-level-name: Fast')),
     [(CLASS, '3'), (CLASS, '3', SERVICE, '9')]),
    ('rule without level', levels() + rules(('qos-class: 1',)), []),
    ('rule of no such level', levels() + rules(('qos-class: 1', 'qos-level-name: X')), []),
    ('rule of no such group', levels() + rules(('source: X', 'qos-level-name: DEFAULT')), []),
    ('group by node type', group('name: T', 'node-type: CA') + FAST +
     rules(('destination: T', 'qos-level-name: Fast')), []),
    ('group of switches', group('name: T', 'node-type: SWITCH') + FAST +
     rules(('destination: T', 'qos-level-name: Fast')), []),
    ('group of all', group('name: T', 'node-type: ALL') + FAST +
     rules(('source: T', 'qos-level-name: Fast')), []),
    ('group of the SM', group('name: T', 'node-type: SELF') + FAST +
     rules(('source: T', 'qos-level-name: Fast')), []),
    ('group by P_Key', group('name: T', 'pkey: 0x7fff') + FAST +
     rules(('source: T', 'qos-level-name: Fast')), []),
    ('group by partition', group('name: T', 'partition: Default') + FAST +
     rules(('source: T', 'qos-level-name: Fast')), []),
    ('group by GUID', group('name: T', 'port-guid: @T, 0x5-0x9') + FAST +
     rules(('source: T', 'qos-level-name: Fast')), []),
    ('group without name', group('node-type: CA') + levels(), []),
    ('group with two names', group('name: A', 'name: B') + levels(), []),
    ('group after its rule', FAST + rules(('source: T', 'qos-level-name: Fast')) + TARGET, []),
    ('ulps: sdp', ULP.format('default: 0\nsdp, port-num 3-5: 2\nsdp: 3'),
     [(SERVICE, '0x10004'), (SERVICE, '0x10009')]),
    ('ulps: rds and iser', ULP.format('default: 0\nrds: 2\niser: 3\niser, port-num 9: 4'),
     [(SERVICE, '0x10648CA'), (SERVICE, '0x1060CBC'), (SERVICE, '0x1060009')]),
    ('ulps: ipoib', ULP.format('default: 0\nipoib: 4'), [(P_KEY, '0xffff')]),
    ('ulps: any', ULP.format('default: 0\nany, service-id 7: 2\nany, pkey 0x7fff: 3'),
     [(SERVICE, '7'), (P_KEY, '0xffff')]),
    ('ulps: GUIDs', ULP.format('default: 0\nany, target-port-guid @T: 6'), []),
    ('ulps: source GUIDs', ULP.format('default: 0\nany, source-port-guid @T, 0x5-0x9: 6'), []),
    ('ulps: no such', ULP.format('default: 0\nnfs: 6'), []),
    ('ulps: SL 16', ULP.format('default: 16'), []),
    ('ulps: no default', ULP.format('sdp: 1'), []),
    ('both forms', ULP.format('default: 4\nsdp: 2') + FAST, [(SERVICE, '0x10009')]),
    ('no end', 'qos-levels\nqos-level\nname: DEFAULT\nsl: 0\n', []),
    ('nonsense', 'nonsense\n', []),
    ('setup: empty', section('qos-setup') + DEFAULT, []),
    ('setup: VL arbitration', TARGET + vlarb('group: T', 'vlarb-high: 0:255,1:127',
                                             'vlarb-low: 2:3', 'vl-high-limit: 10') + DEFAULT,
     []),
    ('setup: vlarb-high-limit', vlarb('group: *', 'vlarb-high-limit: 10') + DEFAULT, []),
    ('setup: across', TARGET + vlarb('across: T', 'vlarb-low: 2:3') + DEFAULT, []),
    ('setup: VL arbitration of nobody', vlarb('vlarb-low: 2:3') + DEFAULT, []),
    ('setup: VL arbitration of all', vlarb('group: *', 'vlarb-high: 0:255,1:127',
                                           'vlarb-low: 2:3, 1:0') + DEFAULT, []),
    ('setup: no such group', vlarb('group: X', 'vlarb-low: 2:3') + DEFAULT, []),
    ('setup: VL 15 arbitrates', vlarb('group: *', 'vlarb-low: 15:3') + DEFAULT, []),
    ('setup: SL2VL', TARGET + sl2vl('group: T', 'from: *', 'to: *', f'sl2vl-table: {VLS}') +
     DEFAULT, []),
    ('setup: SL2VL across', TARGET + sl2vl('across-to: T', 'across-from: T', 'from: 1,2-3',
                                           f'sl2vl-table: {VLS}') + DEFAULT, []),
    ('setup: SL2VL across both', TARGET + sl2vl('across: T', f'sl2vl-table: {VLS}') + DEFAULT, []),
    ('setup: SL2VL of nobody', sl2vl(f'sl2vl-table: {VLS}') + DEFAULT, []),
    ('setup: no SL2VL', TARGET + sl2vl('group: T') + DEFAULT, []),
    ('setup: 15 VLs', TARGET + sl2vl('group: T', f'sl2vl-table: {VLS[:-3]}') + DEFAULT, []),
    ('setup: VL 16', TARGET + sl2vl('group: T', f'sl2vl-table: 16,{VLS[2:]}') + DEFAULT, []),
    ('setup: two SL2VLs', TARGET + sl2vl('group: T', f'sl2vl-table: {VLS}',
                                         f'sl2vl-table: {VLS}') + DEFAULT, []),
    ('setup: ports downwards', sl2vl('group: *', 'to: 3-1', f'sl2vl-table: {VLS}') + DEFAULT, []),
    # -- duplicates, or the reverse --
    ('two levels of a name', levels(('name: A', 'sl: 2'), ('name: A', 'sl: 3')) +
     rules(('qos-class: 3', 'qos-level-name: A')), [(CLASS, '3')]),
    ('two DEFAULTs', levels(('name: DEFAULT', 'sl: 2')), []),
    ('two groups of a name', TARGET + group('name: T', 'node-type: ALL') + FAST +
     rules(('destination: T', 'qos-level-name: Fast')), []),
    ('two sections of ulps', ULP.format('default: 1\nsdp: 2') + ULP.format('default: 3\nsdp: 4'),
     [(SERVICE, '0x10009')]),
    ('two defaults', ULP.format('default: 1\ndefault: 3'), []),
    ('ports downwards', ULP.format('default: 0\nsdp, port-num 10-7, 1: 3'),
     [(SERVICE, f'0x{0x10000 + port:x}') for port in (1, 6, 7, 10, 11)]),
    ('classes downwards', FAST + rules(('qos-class: 9-7', 'qos-level-name: Fast')),
     [(CLASS, '6'), (CLASS, '8')]),
    ('services downwards', FAST + rules(('service-id: 9-7', 'qos-level-name: Fast')),
     [(SERVICE, '8'), (SERVICE, '10')]),
    ('GUIDs downwards', group('name: T', 'port-guid: 0x9-0x5, @T') + FAST +
     rules(('destination: T', 'qos-level-name: Fast')), []),
    ('path bits downwards', levels(default='name: DEFAULT\nsl: 2\npath-bits: 3-0'), []),
    ('setup: nonsense', section('qos-setup', 'nonsense: 1') + DEFAULT, []),
]
# What only one of the two accepts, and the reason for ours.
DIFFERENT = {
    'SL 16': 'there is no such SL',
    'setup: vlarb-high-limit': 'the classic has another word, vl-high-limit',
    'setup: VL 15 arbitrates': 'VL 15 is not arbitrated',
}


def run(program, files):
    """For each file whether it was accepted, and the paths with it."""
    results = {}
    with osmsim.Fabric(ibsim.fat_tree(4)) as fabric:
        host, policy = fabric.hosts()[0], fabric.path('policy')
        with open(policy, 'w') as file:
            file.write(DEFAULT)
        child = fabric.start_opensm(program, host, '-Q', '-Y', policy, options=QUIET)
        fabric.wait_subnet_up(child, SECONDS)
        nodes = fabric.dump()
        guid = f'{nodes["H1-0-0"].ports[1].guid:#x}'
        for name, text, questions in files:
            with open(policy, 'w') as file:
                file.write(text.replace('@T', guid))
            mark = len(fabric.read('osm.log'))
            child.send_signal(signal.SIGHUP)
            fabric.wait(lambda mark=mark: 'SUBNET UP' in fabric.read('osm.log', mark), SECONDS,
                        f'the sweep with {name}', alive=child)
            taken = not REFUSED.search(fabric.read('osm.log', mark))
            results[name] = taken, taken and fabric.paths(host, nodes, PAIRS, ((), *questions))
    return results


def compare(checks, name, ours, classic):
    if name in DIFFERENT:
        checks.equal(f'{name}: taken by one only', ours[0], not classic[0])
        return
    checks.equal(f'{name}: taken', ours[0], classic[0])
    for question, answer in (classic[1] or {}).items():
        checks.equal(f'{name}: {" ".join(question)}', (ours[1] or {}).get(question), answer)


def main():
    why = osmsim.missing(('saquery',))
    if why:
        print(f'SKIP: {why}')
        return subnet.SKIPPED
    sys.stdout.reconfigure(line_buffering=True)
    ibsim.end_cleanly()
    checks = ibsim.Checks()
    ours, classic = run(subnet.daemon(), FILES), run(ibsim.CLASSIC, FILES)
    for name, *_ in FILES:
        compare(checks, name, ours[name], classic[name])
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
