#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""SL2VL and VL arbitration tables that the qos keys lead to, beside those of the classic daemon."""

import re
import signal
import sys

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import osmsim  # noqa: E402
import subnet  # noqa: E402

SECONDS = 60
CONFIGURATIONS = {
    'built in': '',
    'for all ports': 'qos_high_limit 3\nqos_vlarb_high 0:1,1:2\nqos_vlarb_low 0:64,1:128,9:255\n'
                     'qos_sl2vl 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n',
    'by role': 'qos_ca_high_limit 10\nqos_swe_high_limit 20\nqos_sw0_high_limit 30\n'
               'qos_ca_sl2vl 0,0,1,1,2,2,3,3,4,4,5,5,6,6,7,15\n'
               'qos_swe_sl2vl 7,6,5,4,3,2,1,0,7,6,5,4,3,2,1,0\n'
               'qos_ca_vlarb_low 0:1,1:1,2:1,3:1,4:1,5:1,6:1,7:1,0:9,1:9\n'
               'qos_swe_vlarb_high 5:255\n',
    'fewer lanes': 'max_op_vls 3\nqos_sl2vl 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7\n',
    'one lane': 'max_op_vls 1\nqos_swe_vlarb_low 3:1,4:2\n',
    'a role that falls back': 'qos_high_limit 4\nqos_ca_high_limit -1\nqos_rtr_sl2vl '
                              '1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1\nqos_vlarb_low 1:1\n',
}
ROW = re.compile(r'in +(\d+), out +(\d+): \|(.*)\|')


def query(fabric, host, what, lid, port):
    code, out = fabric.tool(host, 'smpquery', what, str(lid), str(port))
    if code:
        raise ibsim.Failure(f'smpquery {what} {lid} {port}: {out}')
    return out


def tables(fabric, host, node):
    """Of the ports with a cable, rows of inputs without one left out: nothing arrives there."""
    cabled = [num for num, port in sorted(node.ports.items()) if num and port.peer]
    found = {}
    for num in cabled:
        lid = node.ports[0 if node.is_switch else num].lid
        rows = ROW.findall(query(fabric, host, 'sl2vl', lid, num))
        limit = re.search(r'VLHighLimit:\.+(\d+)', query(fabric, host, 'portinfo', lid, num))
        found[num] = ([(int(a), row) for a, _, row in rows if int(a) in (0, *cabled)],
                      query(fabric, host, 'vlarb', lid, num).splitlines()[1:], limit[1])
    return found


def run(program, conf):
    with osmsim.Fabric(ibsim.fat_tree(4)) as fabric:
        host = fabric.hosts()[0]
        child = fabric.start_opensm(program, host, options='qos TRUE\n' + conf)
        fabric.wait_subnet_up(child, SECONDS)
        if program == ibsim.CLASSIC:  # its first sweep goes by OperationalVLs of before it
            mark = len(fabric.read('osm.log'))
            child.send_signal(signal.SIGHUP)
            fabric.wait(lambda: 'SUBNET UP' in fabric.read('osm.log', mark), SECONDS,
                        'its second sweep', alive=child)
        return {name: tables(fabric, host, node) for name, node in fabric.dump().items()}


def main():
    why = osmsim.missing(('smpquery',))
    if why:
        print(f'SKIP: {why}')
        return subnet.SKIPPED
    sys.stdout.reconfigure(line_buffering=True)
    ibsim.end_cleanly()
    checks = ibsim.Checks()
    for name, conf in CONFIGURATIONS.items():
        ours, classic = run(subnet.daemon(), conf), run(ibsim.CLASSIC, conf)
        for node in sorted(classic):
            checks.equal(f'{name}: tables of {node}', ours[node], classic[node])
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
