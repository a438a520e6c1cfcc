#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What the classic daemon sets for congestion control, as the agents of osmsim hold it."""

import re
import sys

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
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
