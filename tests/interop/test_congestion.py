#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""
What the classic daemon sets for congestion control, as the agents of osmsim hold it, and that ours
leaves equal values in them, by fewer Sets.
"""

import re
import sys
import time

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import osmsim  # noqa: E402
import subnet  # noqa: E402

NEEDED = ('opensm',)
SECONDS = 60
ALL_OF_IT = '''\
congestion_control TRUE
cc_sw_cong_setting_control_map 0x1F
cc_sw_cong_setting_victim_mask 0x1E
cc_sw_cong_setting_threshold 0x0F
cc_sw_cong_setting_packet_size 8
cc_sw_cong_setting_credit_starvation_return_delay 1:5
cc_sw_cong_setting_marking_rate 10
cc_ca_cong_setting_port_control 0x0001
cc_ca_cong_setting_control_map 0x0005
cc_ca_cong_setting_ccti_timer 0 150
cc_ca_cong_setting_ccti_timer 2 200
cc_ca_cong_setting_ccti_increase 0 1
cc_ca_cong_setting_trigger_threshold 0 2
cc_cct 0:0,0:1,1:2,0:3
'''
KEY = 'key: none ProtectBit 0 LeasePeriod 0\n'
# Options, what a switch and what a host then has, and Sets of SwitchCongestionSetting,
# CACongestionSetting and CongestionControlTable: a port has one of each.
CASES = (
    (ALL_OF_IT,
     KEY + 'switch: ControlMap 0x1F VictimMask 0x1E CreditMask 0x00 Threshold 15 PacketSize 8 '
     'CSThreshold 0 CSReturnDelay 1:5 MarkingRate 10\n',
     KEY + 'CA: PortControl 0x0001 ControlMap 0x0005\n'
     'CA SL 0: CCTI_Timer 150 CCTI_Increase 1 TriggerThreshold 2 CCTI_Min 0\n'
     'CA SL 2: CCTI_Timer 200 CCTI_Increase 0 TriggerThreshold 0 CCTI_Min 0\n'
     'table: CCTI_Limit 3 0:0,0:1,1:2,0:3\n', (20, 16, 16)),
    ('congestion_control TRUE\n',
     KEY + 'switch: ControlMap 0x0 VictimMask 0x00 CreditMask 0x00 Threshold 0 PacketSize 0 '
     'CSThreshold 0 CSReturnDelay 0:0 MarkingRate 0\n',
     KEY + 'CA: PortControl 0x0000 ControlMap 0x0000\ntable: CCTI_Limit 0\n', (20, 16, 16)),
    ('', None, None, (0, 0, 0)),
)
# Each key by itself or with what it needs, in its forms, for both daemons.
BESIDE = (
    ALL_OF_IT + 'cc_key 0x123\n',
    'congestion_control TRUE\ncc_sw_cong_setting_control_map 3\n'
    f'cc_sw_cong_setting_victim_mask {"A5" * 30}\ncc_sw_cong_setting_credit_mask 0x7\n'
    'cc_ca_cong_setting_control_map 0xFFFF\n'
    + ''.join(f'cc_ca_cong_setting_ccti_min {sl} {sl + 1}\n' for sl in range(16)),
    'congestion_control TRUE\ncc_sw_cong_setting_control_map 0x8\n'
    'cc_sw_cong_setting_credit_starvation_threshold 0xC\n'
    'cc_sw_cong_setting_credit_starvation_return_delay 3:16383\n'
    'cc_max_outstanding_mads 1\n'
    f'cc_cct {",".join(f"{i % 4}:{i}" for i in range(64))}\n',
    'congestion_control TRUE\n'
    f'cc_cct {",".join(f"0:{i * 100}" for i in range(65))}\n',
    'congestion_control TRUE\ncc_ca_cong_setting_control_map 0x8000\n'
    'cc_ca_cong_setting_ccti_increase 15 255\ncc_ca_cong_setting_trigger_threshold 15 255\n'
    f'cc_cct {",".join(f"3:{i * 129}" for i in range(128))}\n',
)
NODE_LINE = re.compile(r'^"(.*)" \d+\n', re.M)
SET_LINE = re.compile(r'^(?:SwitchCongestionSetting|CACongestionSetting|CongestionControlTable) .* '
                      r'(\d+) Set$', re.M)


def held(fabric):
    """Node -> what its agent holds."""
    parts = NODE_LINE.split(fabric.console('sim cc show'))
    return dict(zip(parts[1::2], parts[2::2]))


def sets(fabric):
    return tuple(int(n) for n in SET_LINE.findall(fabric.console('sim cc requests')))


def try_case(checks, number, options, of_switch, of_host, requests):
    log = f'sm{number}.log'
    with osmsim.Fabric(ibsim.fat_tree(4)) as fabric:
        child = fabric.start_opensm(ibsim.CLASSIC, fabric.hosts()[0], log=log, options=options)
        fabric.wait_subnet_up(child, SECONDS, log=log)
        fabric.wait(lambda: sets(fabric) == requests, SECONDS, f'{requests} Sets')
        found = held(fabric)
        nodes = fabric.dump()
        wanted = {name: of_switch if node.is_switch else of_host for name, node in nodes.items()}
        checks.equal(f'case {number}: what agents hold', found, wanted if of_switch else {})
        fabric.stop(child)


def that_counts(text):
    """Without ControlMap, which says what was written last, and what is as after a reset."""
    lines = []
    for line in text.splitlines():
        line = re.sub(r' ControlMap 0x[0-9A-F]+', '', line)
        values = re.sub(r'^[A-Za-z ]+(\d+)?:', '', line)
        values = re.sub(r'[A-Za-z_]+ ', '', values)
        if not line.startswith('key:') and re.search(r'[1-9A-F]', values):
            lines.append(line)
    return lines


def beside(checks, number, options):
    """What both daemons leave, and that ours sends no more Sets."""
    left, sent = [], []
    for which, program in enumerate((ibsim.CLASSIC, subnet.daemon())):
        log = f'beside{number}-{which}.log'
        with osmsim.Fabric(ibsim.fat_tree(4)) as fabric:
            child = fabric.start_opensm(program, fabric.hosts()[0], log=log, options=options)
            fabric.wait_subnet_up(child, SECONDS, log=log)
            # The classic's table Sets are the last.
            wait = (lambda: sets(fabric)[2] >= 16) if program == ibsim.CLASSIC else (
                lambda: 'congestion control is on: 20 switches and 16 CA ports: as wanted'
                in fabric.read(log))
            fabric.wait(wait, SECONDS, 'all settings')
            time.sleep(0.3)
            left.append({node: that_counts(text) for node, text in held(fabric).items()})
            sent.append(sets(fabric))
            fabric.stop(child)
    for node, lines in left[0].items():
        checks.equal(f'beside {number}: {node}', left[1].get(node, []), lines)
    checks.check(f'beside {number}: Sets', all(a <= b for a, b in zip(sent[1], sent[0])),
                 f'{sent[1]} for {sent[0]}')


def main():
    why = osmsim.missing(NEEDED)
    if why:
        print(f'SKIP: {why}')
        return subnet.SKIPPED
    sys.stdout.reconfigure(line_buffering=True)
    ibsim.end_cleanly()
    checks = ibsim.Checks()
    for number, case in enumerate(CASES):
        try:
            try_case(checks, number, *case)
        except ibsim.Failure as failure:
            checks.check(f'case {number}', False, failure)
    for number, options in enumerate(BESIDE):
        try:
            beside(checks, number, options)
        except ibsim.Failure as failure:
            checks.check(f'beside {number}', False, failure)
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
