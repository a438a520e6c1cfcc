#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""One partitions.conf read by our daemon and by the classic one on one net: P_Key tables of all
endports and switch ports with their indexes, enforcement, groups and the P_Keys of paths are equal,
or differ on purpose as listed here.

The net is simulated by osmsim, whose switches have tables and enforcement as in the IBA."""

import os
import re
import struct
import sys

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import osmsim  # noqa: E402
import subnet  # noqa: E402
import tools  # noqa: E402

NET = '''Switch 8 "S1"
[1] "H1"[1]
[2] "H2"[1]
[3] "D"[1]
[7] "S2"[7]

Switch 8 "S2"
[1] "H3"[1]
[2] "D"[2]
[7] "S1"[7]

Hca 1 "H1"
[1] "S1"[1]

Hca 1 "H2"
[1] "S1"[2]

Hca 1 "H3"
[1] "S2"[1]

Hca 2 "D"
[1] "S1"[3]
[2] "S2"[2]
'''
SM = ('H1', 1)
LEAVES = [('S1', 1), ('S1', 2), ('S1', 3), ('S2', 1), ('S2', 2)]
OTHERS = [('S1', 7), ('S2', 3), ('S2', 7)]
ENDPORTS = [('S1', 0), ('S2', 0), ('H1', 1), ('H2', 1), ('H3', 1), ('D', 1), ('D', 2)]
PORTS = ENDPORTS + LEAVES + OTHERS
PAIRS = [('H1', 'H2'), ('H1', 'H3')]  # paths that the SM's host may ask for
BEHIND = dict(zip(LEAVES, [('H1', 1), ('H2', 1), ('D', 1), ('H3', 1), ('D', 2)]))
DEFAULT = 0x7fff
PORT_INFO, P_KEY_TABLE, BLOCKS = 0x15, 0x16, 4


class Snapshot:
    """A daemon's results for a file."""

    def __init__(self):
        self.keys, self.bits, self.groups, self.paths = {}, {}, set(), {}

    def members(self, p_key):
        return sum(key & 0x7fff == p_key for keys in map(self.keys.get, ENDPORTS) for key in keys)


def guids(nodes):
    names = {'S1': nodes['S1'].guid, 'S2': nodes['S2'].guid}
    for name, num, word in (('H1', 1, 'H1'), ('H2', 1, 'H2'), ('H3', 1, 'H3'), ('D', 1, 'D1'),
                            ('D', 2, 'D2')):
        names[word] = nodes[name].ports[num].guid
    return names


def fill_in(text, nodes):
    for word, guid in guids(nodes).items():
        text = text.replace('$' + word, f'0x{guid:x}')
    return text


def ask(fabric, *argv):
    return fabric.tool('H1', *tools.patient(argv))[1]


def table_of(fabric, lid, num):
    out = ask(fabric, 'smpquery', 'pkeys', str(lid), str(num))
    keys = [int(key, 16) for line in out.splitlines() if re.match(r'\s*\d+:', line)
            for key in re.findall(r'0x(\w{4})', line)]
    while keys and not keys[-1]:
        keys.pop()
    return keys


def bits_of(fabric, lid, num):
    out = ask(fabric, 'smpquery', 'portinfo', str(lid), str(num))
    return ''.join(re.findall(r'^PartEnforce(?:Inb|Outb):\.*(\d)', out, re.M))


def by_smpquery(fabric, ports):
    return {port: (table_of(fabric, *port), bits_of(fabric, *port)) for port in ports}


def at_once(fabric, ports):
    """As tables(), by one program for all."""
    answers = iter(fabric.smps(SM[0], [
        question for lid, num in ports for question in
        ((lid, PORT_INFO, num), *((lid, P_KEY_TABLE, num << 16 | i) for i in range(BLOCKS)))]))
    found = {}
    for port in ports:
        info, *blocks = (next(answers) for _ in range(1 + BLOCKS))
        table = b''.join(block for block in blocks if block)
        keys = list(struct.unpack(f'>{len(table) // 2}H', table))
        while keys and not keys[-1]:
            keys.pop()
        found[port] = keys, f'{info[43] >> 3 & 1}{info[43] >> 2 & 1}'
    return found


def records(text, begin):
    return [dict(re.findall(r'^\s*(\w+)\.{2,}(\S+)', part, re.M))
            for part in re.split(begin, text)[1:]]


def groups_of(fabric):
    out = ask(fabric, 'saquery', 'MCMR')
    return {(r['MGID'], r['qkey'], r['mtu'], r['rate'], r['pkey'], r['SL'], r['TClass'],
             r['FlowLabel'], r['HopLimit'], r['Scope'])
            for r in records(out, 'MCMember Record dump')}


def look(fabric, nodes, read):
    seen = Snapshot()
    found = read(fabric, [(nodes[name].lid(num), num) for name, num in PORTS])
    for (name, num), (keys, bits) in zip(PORTS, found.values()):
        seen.keys[name, num] = keys
        if nodes[name].is_switch and num:
            seen.bits[name, num] = bits
    seen.groups = groups_of(fabric)
    for a, b in PAIRS:
        out = ask(fabric, 'saquery', '-p', '--src-to-dst',
                  f'{nodes[a].lid(1)}:{nodes[b].lid(1)}')
        seen.paths[a, b] = [r.get('pkey') for r in records(out, 'PathRecord dump')]
    return seen


def run(daemon, text, flags, read=at_once):
    """Its results for the text; or how it ended, and with which words."""
    with osmsim.Fabric(NET) as fabric:
        nodes = fabric.dump()
        with open(fabric.path('partitions.conf'), 'w') as file:
            file.write(fill_in(text, nodes))
        guid = nodes['H1'].ports[1].guid
        child = fabric.start_opensm(daemon, 'H1', '-g', f'0x{guid:x}', '-P',
                                    fabric.path('partitions.conf'), *flags)
        try:
            fabric.wait_subnet_up(child, ibsim.PATIENCE)
        except ibsim.Failure:
            return child.poll(), fabric.read('osm.out')
        return look(fabric, fabric.dump(), read)


# ---- intended differences: from the classic's result to the one that ours must have ----

def same(seen):
    return seen


def sm_is_full(seen):
    """Without full membership of the SM no limited member could ask the SA."""
    for port in (SM, LEAVES[0]):
        seen.keys[port] = [key | 0x8000 if key == DEFAULT else key for key in seen.keys[port]]
    seen.paths = dict.fromkeys(PAIRS, ['0xFFFF'])
    return seen


def scopes(*more):
    """Of several scopes the classic makes only the link-local broadcast group."""
    def change(seen):
        first = next(group for group in seen.groups if group[0].startswith('ff12'))
        for scope, mgid in more:
            seen.groups.add((mgid, *first[1:8], '0xff', f'0x{scope:x}'))
        return seen
    return change


def keys_avoid_others(old_to_new):
    """An omitted P_Key is not that of another definition that follows."""
    def change(seen):
        for port, keys in old_to_new.items():
            for at in [port] + [leaf for leaf, host in BEHIND.items() if host == port]:
                seen.keys[at] = keys
        return seen
    return change


def index_0_in_use(seen):
    """With both memberships the classic leaves index 0 empty, and switches the limited one."""
    for port in ENDPORTS:
        keys = {key for key in seen.keys[port] if key}
        seen.keys[port] = sorted(keys, key=lambda key: (key & DEFAULT != DEFAULT, key & 0x7fff,
                                                        -key))
    for leaf, host in BEHIND.items():
        seen.keys[leaf] = seen.keys[host]
    return seen


def as_of(text):
    """The classic cannot read it and opens everything; ours understands what it means."""
    return text


REFUSED = 'refused'  # the classic lets all talk to all

FILES = [
    # -- nothing given --
    ('', REFUSED), ('# nothing\n\n', REFUSED),
    # -- the default partition --
    ('Default=0x7fff,ipoib:ALL=full;', same),
    ('Default=0x7fff,ipoib: ALL, SELF=full;', same),
    ('Default=0x7fff: ALL, ALL_SWITCHES=full, SELF=full;', same),
    ('Default=0x7fff: $H2=full;', same), ('Default=0xffff: $H2=full, $H3;', same),
    ('Mine=0x7fff,ipoib: $H2=full, $D1=full, SELF=full;', same),
    ('Default=0x7fff: ALL=limited, SELF=full;', same),
    ('Default=0x7fff: ALL=full, $H2=limited;', same),
    ('Default=0x7fff,indx0: ALL=full, $H3=limited;', same),
    ('Default=0x7fff: ALL_CAS=full;', same), ('Default=0x7fff: ALL_SWITCHES=full;', same),
    # -- members --
    ('A=0x10: ALL=full;', same), ('A=0x10: ALL;', same), ('A=0x10: ALL_CAS=full;', same),
    ('A=0x10: ALL_SWITCHES=full, ALL_CAS;', same), ('A=0x10: ALL_ROUTERS=full, $H2;', same),
    ('A=0x10: SELF;', same), ('A=0x10: SELF=full, $H2, $H3=full, $D1, $D2=full;', same),
    ('A=0x10: $H2=full, $H2=limited; B=0x11: $H2, $H2=full;', same),
    ('A=0x10: $S1=full, $S2;', same), ('A=0x10: $H2=both;', same),
    ('A=0x10: NONE, $H2;', same), ('A=0x10: , $H2,;', same), ('A=0x10: ;', same),
    ('A=0x10: NONE;\nB=0x11:$H2;', same), ('A=0x10: 0xdead=full, $H2;', same),
    ('A=0x10: $H2=full\n', same), ('A=0x10: $H2 = full , $H3 = limited ;', same),
    # -- several lines, several definitions --
    ('A=0x10:\n $H2=full\n $H3;', same),
    ('A=0x10:\n $H2=full\n $H3\n;', as_of('A=0x10: $H2=full, $H3;')),
    ('A=0x10:\n $H2=full,\n\n $H3=full;B=0x11:$H2;', same),
    ('A=0x10: $H2=full; A=0x10: $H3;', same), ('A=0x10: $H2=full; B=0x8010: $H3;', same),
    ('Y=0x300 : SELF=full ;\nY=0x300 : ALL=limited ;', same),
    ('S=0x80,defmember=full: $H2,$H3;\nS=0x80: $D1, $D2=full;', same),
    ('A=0x10: $H2 # , $H3\n;', as_of('A=0x10: $H2;')), ('A=0x10: $H2=full;# B=0x11: $H3;', same),
    ('A=0x10: $H2=full; B=0x11: $H3=full; C=0x12: $H2, $H3=full; D=0x13: ALL;', same),
    # -- definitions --
    ('A: $H2=full;', same), (': $H2=full;', same), ('=0x10: $H2=full;', same),
    ('0x10: $H2=full;', same), ('16: $H2=full;', same), ('A=020: $H2=full;', same),
    ('A: $H2; B: $H2=full; C: $H3=full;', same), ('A=0: $H2=full;', same),
    ('A=0x8000: $H2=full;', same), ('A=1: $H2; B: $H2=full;', same),
    ('A: $H2; B=1: $H3=full;', keys_avoid_others({('H2', 1): [0x7fff, 0x0002]})),
    ('A=0x10,indx0: ALL=full;\nDefault=0x7fff,indx0: ALL=full;', same),
    ('A=0x10,indx0: ALL=full; B=0x11,indx0: ALL=full;', same),
    ('A=0x20,indx0: ALL=full; B=0x10,indx0: ALL=full;', same),
    ('A=0x20,indx0: ALL=full; B=0x10,indx0: $H2=full;', same),
    ('A=0x10,indx0: ALL=full;', same), ('A=0x10,indx0: $H2, SELF=full;', same),
    ('A=0x10,defmember=full: ALL, $H2=limited;', same), ('A=0x10,defmember=both: ALL;', same),
    ('A=0x10,defmember=limited: $H2;', same),
    # -- accidental syntax --
    ('A=0x10,d=f: A;', same), ('A=0x10: A=f;', same), ('A=0x10: S=l, ALL_S=fu;', same),
    ('A=0x10,bogus,mtu=x: ALL=bogus;', same), ('A=0x10,defmember: ALL;', same),
    ('A=0x10,defmember=x,: $H2;', same), ('A=0x10,i: $H2=full, SELF;', same),
    ('A=0x10,ipoib: ALL=full; x', REFUSED),
    # -- groups --
    ('A=0x10,ipoib: ALL=full;', same), ('A=0x10,ipoib: $H2=full, SELF=full;', same),
    ('A=0x10,ipoib,rate=6,mtu=5,sl=3,Q_Key=0x1234,TClass=7,FlowLabel=9: ALL=full;', same),
    ('A=0x10,ipoib,rate=7,mtu=1: SELF;', same), ('A=0x10,rate=7,mtu=1: SELF;', same),
    ('Default=0x7fff,ipoib:\n mgid=ff12:401b::0707,sl=1\n mgid=ff12:601b::16\n'
     ' mgid=ff12::1,sl=1,Q_Key=0xDEADBEEF,rate=3,mtu=2\n ALL=full;', same),
    ('A=0x10,ipoib: mgid=ff12:401b::5,TClass=3,FlowLabel=4,Q_Key=5\n ALL=full;', same),
    ('A=0x10,ipoib: mgid=ff12:401b:8010::5\n ALL=full;', same),
    ('Default=0x7fff,ipoib,mtu=5,rate=12:\n mgid=ff12:601b::16\n mgid=ff12:601b::1,sl=0\n'
     ' ALL=full;', same),
    ('A=0x10,ipoib,rate=6,mtu=3,sl=2,Q_Key=0x777,TClass=5,FlowLabel=0x123:\n'
     ' mgid=ff12:401b::7\n mgid=ff12:401b::8,sl=1,Q_Key=0x778\n mgid=ff12:401b::9,rate=7\n'
     ' mgid=ff12:1234::5\n mgid=ff12:1234::6,rate=7,mtu=2,Q_Key=9,TClass=7,FlowLabel=0\n'
     ' ALL=full;\nA=0x10,mtu=2,rate=7: mgid=ff12:1234::7\n ALL=full;', same),
    ('A=0x10: mgid=ff12::5, ALL=full;', same), ('A=0x10: mgid=fe80::1\n ALL=full;', same),
    ('A=0x10: mgid=x\n ALL=full;', same),
    ('A=0x10,ipoib: mgid=ff12:401b:8011::1\n ALL=full;', same),
    ('A=0x10,ipoib: mgid=ff12:401b::5,mtu=2\n ALL=full;', same),
    ('A=0x10,ipoib: mgid=ff12:401b::5,rate=6\n ALL=full;', same),
    ('A=0x10: mgid=ff12::77,rate=6\n mgid=ff12::78,bogus\n $H2, SELF=full;', same),
    ('A=0x10,ipoib,scope=2,scope=5: ALL=full;',
     scopes((5, 'ff15:401b:8010::ffff:ffff'))),
    ('A=0x10,ipoib,scope=5: ALL=full;', scopes((5, 'ff15:401b:8010::ffff:ffff'))),
    ('A=0x10,ipoib,scope=5,scope=0xe,sl=1: ALL=full;',
     scopes((5, 'ff15:401b:8010::ffff:ffff'), (0xe, 'ff1e:401b:8010::ffff:ffff'))),
    # -- errors of the classic itself --
    ('Default=0x7fff: ALL;', sm_is_full),
    # -- unreadable --
    ('A=0x10: zzz=full;', REFUSED), ('A=0x10 ALL=full;', REFUSED), ('A=xyz: ALL=full;', REFUSED),
    ('A=0x10: 0x0=full;', REFUSED), ('A=0x10: $H2=full;\n;', REFUSED), ('garbage', REFUSED),
    ('A\n=0x10: ALL=full;', REFUSED), ('A=0x10: $H2=full, 0x12x;', REFUSED),
]
WITH_FLAGS = [
    ('A=0x10: $H2=both, $H3=full;', ('-W',), index_0_in_use),
    ('A=0x10,defmember=both: ALL;', ('-W',), index_0_in_use),
    ('A=0x10,ipoib,sl=3: ALL=full;', ('-Q',), same),
    ('A=0x10,ipoib,sl=3:\n mgid=ff12:401b::7\n mgid=ff12::5,sl=4\n ALL=full;', ('-Q',), same),
    ('A=0x10: $H2=full;', ('-Z', 'in'), same), ('A=0x10: $H2=full;', ('-Z', 'out'), same),
]


def compare(checks, name, ours, classic):
    for what in ('keys', 'bits', 'paths'):
        checks.same_table(f'{name}: {what}', getattr(ours, what), getattr(classic, what))
    checks.same_set(f'{name}: groups', ours.groups, classic.groups)


def judge(checks, text, flags, change):
    name = repr(text) + (f' {flags}' if flags else '')
    meant = text
    if isinstance(change, str) and change != REFUSED:
        meant, change = change, same
    ours, classic = run(subnet.daemon(), text, flags), run(ibsim.CLASSIC, meant, flags)
    if not checks.check(f'{name}: the classic daemon runs', isinstance(classic, Snapshot), classic):
        return
    if change == REFUSED:
        checks.check(f'{name}: ours does not start, and says where and why',
                     isinstance(ours, tuple) and ours[0] == 1 and
                     re.search(r'partitions\.conf:(\d+:\d+: found | it is empty).* expected',
                               ours[1]), ours)
        checks.equal(f'{name}: the classic opens everything', classic.members(DEFAULT),
                     len(ENDPORTS))
    elif checks.check(f'{name}: ours runs', isinstance(ours, Snapshot), ours):
        compare(checks, name, ours, change(classic))


def same_as_smpquery(checks):
    """What smpquery reads, everything reads."""
    text = 'A=0x10: $H2=full, $H3; B=0x11: ALL=full;'
    all_at_once, one_by_one = (run(ibsim.CLASSIC, text, (), read)
                               for read in (at_once, by_smpquery))
    checks.equal('P_Keys as smpquery shows them', all_at_once.keys, one_by_one.keys)
    checks.equal('enforcement as smpquery shows it', all_at_once.bits, one_by_one.bits)
    checks.check('there is some', len(set(map(str, all_at_once.keys.values()))) > 2 and
                 set(all_at_once.bits.values()) > {'11'}, (all_at_once.keys, all_at_once.bits))


def run_all(checks, _):
    same_as_smpquery(checks)
    for text, change in FILES:
        judge(checks, text, (), change)
    for text, flags, change in WITH_FLAGS:
        judge(checks, text, flags, change)
    print(f'{len(FILES) + len(WITH_FLAGS)} files')


if __name__ == '__main__':
    WHY = osmsim.missing(['smpquery', 'saquery'])
    if WHY or not os.path.exists(ibsim.CLASSIC):
        print(f'SKIP: {WHY or ibsim.CLASSIC + " is not installed (Debian: opensm)"}')
        sys.exit(subnet.SKIPPED)
    sys.exit(subnet.beside_classic(run_all, ['smpquery', 'saquery']))
