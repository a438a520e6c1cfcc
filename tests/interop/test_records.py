#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""saquery with every type of records and its filters, of one fabric: what ours tells, field by
field, is what Debian's opensm tells, but for what is listed with the reason."""

import re
import sys

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import osmsim  # noqa: E402
import subnet  # noqa: E402

NEEDED = ['saquery', 'opensm']
TYPES = ('CPI', 'NR', 'PIR', 'SWIR', 'LR', 'LFTR', 'PR', 'PKTR', 'GIR', 'SMIR', 'SL2VL', 'VLAR',
         'SR', 'IIR', 'MCMR')
# Of a host's LID and of a switch's.
FILTERS = ('NR {host}', 'NR {switch}', 'PIR {host}', 'PIR {host}/1', 'PIR {switch}/2',
           'SWIR {switch}', 'LR {host}/1', 'LR {switch}', 'LFTR {switch}/0', 'PKTR {host}/1/0',
           'GIR {host}/0', 'SL2VL {host}/1/1', 'VLAR {host}/1/1', 'VLAR {switch}/1/1',
           '-p --src-to-dst {host}:{switch}', '-p --slid {host} --dlid {switch}',
           '-p --slid {host}', '-s', '-c', '-x', '-N', '-D', '-S', '-I', '-O {host}')
# Fields that may differ, by the type of the record.
DIFFERS = {
    # Each says what it serves; the classic names QP and Q_Key where nothing is redirected.
    'SA ClassPortInfo': ('Capability mask', 'Capability mask 2', 'Redirect QP', 'Redirect QKey',
                         'Trap QKey', 'Response time value'),
    # The port of a switch by which the SM came to it.
    'NodeRecord': ('port_num',),
    # The port by which the SM asked; and the classic enforces the default partition on all switch
    # ports to hosts, ours on those that need it.
    'PortInfoRecord': ('LocalPort', 'PartEnforceInb', 'PartEnforceOutb'),
    # The classic leaves PortStateChange set that it saw.
    'SwitchInfoRecord': ('LifeTimeValue/PortStateChange/OpSL2VL',),
    # The classic tells the block number in the wrong byte order.
    'PKeyTableRecord': ('Block',),
    # The key is told to who is trusted; each counts its own acts.
    'SMInfoRecord': ('SM_Key', 'ActCount'),
}
# Only how many there are: routes are another engine's; the classic has read no SL2VL tables without
# QoS, ours reads those of a LID that is asked for.
COUNTED = ('LFTR', 'SL2VL')
# Who is trusted is told of members, and so of no group without any, says the classic, while ours
# tells of the group. Who is not, and asks for P_Keys, hears ERR_REQ_DENIED, and ERR_REQ_INVALID of
# the classic.
NOT_COMPARED = ('--smkey 1 MCMR', 'PKTR')
LINE = re.compile(r'^\s*([^.:]+?)[.:]{2,}(.*)$')
TITLE = re.compile(r'^(\S.*?)(?: dump)?:$', re.M)


def records(text):
    """Each record as a tuple of its lines, without what may differ."""
    found = []
    for part in re.split(r'^(?=\S.*dump:)', text, flags=re.M):
        title = TITLE.match(part)
        allowed = DIFFERS.get(title[1], ()) if title else ()
        lines = [line.strip() for line in part.splitlines() if line.strip()]
        kept = tuple(line for line in lines
                     if not ((match := LINE.match(line)) and match[1] in allowed))
        if kept:
            found.append(kept)
    return sorted(found)


def questions(nodes, client):
    host = nodes[client].lid(1)
    switch = next(node for node in nodes.values() if node.is_switch).lid()
    asked = [*TYPES, *(text.format(host=host, switch=switch) for text in FILTERS)]
    return [(key + text).split() for key in ('--smkey 1 ', '') for text in asked]


def answers(fabric, daemon, hosts):
    """{question: (exit code, records)}, from a subnet that this daemon has just taken over: the
    LIDs are those of the one before."""
    log = daemon.replace('/', '_') + '.log'
    child = fabric.start_opensm(daemon, hosts[0], log=log,
                                options='sweep_interval 0\nsweep_on_trap FALSE\n')
    fabric.wait_subnet_up(child, ibsim.PATIENCE, log)
    found = {}
    for words in questions(fabric.dump(), hosts[-1]):
        code, out = fabric.tool(hosts[1], 'saquery', *words)
        found[' '.join(words)] = code, records(out)
    fabric.stop(child)
    return found


def compare(checks, question, classic, ours):
    what = question.replace('--smkey 1 ', '').split()[0]
    if question.startswith(NOT_COMPARED):
        return
    checks.equal(f'saquery {question}: exit code and number of records',
                 (ours[0], len(ours[1])), (classic[0], len(classic[1])))
    if what not in COUNTED:
        different = [pair for pair in zip(ours[1], classic[1]) if pair[0] != pair[1]][:1]
        checks.equal(f'saquery {question}: records that differ', different, [])


def main():
    why = osmsim.missing(NEEDED)
    if why:
        print(f'SKIP: {why}')
        return subnet.SKIPPED
    ibsim.end_cleanly()
    checks = ibsim.Checks()
    with osmsim.Fabric(ibsim.fat_tree(4)) as fabric:
        hosts = fabric.hosts()
        classic = answers(fabric, ibsim.CLASSIC, hosts)
        ours = answers(fabric, subnet.daemon(), hosts)
    for question, answer in classic.items():
        compare(checks, question, answer, ours[question])
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
