#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""SL2VL and VL arbitration tables that follow from the qos keys, beside the classic daemon's."""

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
# A policy file; QUESTIONS are asked with each.
POLICIES = {
    'no file': None,
    'levels and rules': '''
port-groups
    port-group
        name: Targets
        port-name: H1-0-0/P1, H1-0-1/P1
    end-port-group
    port-group
        name: All CAs
        node-type: CA
    end-port-group
end-port-groups
qos-levels
    qos-level
        name: DEFAULT
        sl: 2
    end-qos-level
    qos-level
        name: Slow
        sl: 3
        mtu-limit: 3
        rate-limit: 2
        packet-life: 10
    end-qos-level
    qos-level
        name: Keyed
        sl: 4
        pkey: 0x7fff
    end-qos-level
end-qos-levels
qos-match-rules
    qos-match-rule
        qos-class: 7-9,11
        qos-level-name: Slow
    end-qos-match-rule
    qos-match-rule
        destination: Targets
        service-id: 0x10000000000001-0x1000000000000F
        qos-level-name: Slow
    end-qos-match-rule
    qos-match-rule
        source: Targets
        destination: All CAs
        qos-level-name: Keyed
    end-qos-match-rule
end-qos-match-rules
''',
    'the short form': '''
qos-ulps
    default : 1
    sdp, port-num 10000-20000 : 2
    sdp : 3
    rds : 4
    iser, port-num 900 : 5
    iser : 6
    any, service-id 0x6234 : 7
    ipoib : 5
end-qos-ulps
''',
}
QUESTIONS = ([], ['--qos_class', '8'], ['--qos_class', '10'], ['--sl', '3'], ['--sl', '2'],
             ['--service_id', '0x10000000000001'], ['--service_id', '0x10010'],
             ['--service_id', str(0x10000 + 15000)], ['--service_id', '0x10648CA'],
             ['--service_id', '0x1060CBC'], ['--service_id', str(0x1060000 + 900)],
             ['--service_id', '0x6234'], ['--pkey', '0xffff'],
             ['--pkey', '0xffff', '--qos_class', '11'])
PAIRS = (('H0-0-1', 'H1-0-0'), ('H1-0-0', 'H0-0-1'), ('H2-0-0', 'H3-1-1'))
ROW = re.compile(r'in +(\d+), out +(\d+): \|(.*)\|')


def query(fabric, host, what, lid, port):
    code, out = fabric.tool(host, 'smpquery', what, str(lid), str(port))
    if code:
        raise ibsim.Failure(f'smpquery {what} {lid} {port}: {out}')
    return out


def tables(fabric, host, node):
    """Of the ports with a cable; rows of unconnected inputs are skipped, as nothing arrives
    there."""
    cabled = [num for num, port in sorted(node.ports.items()) if num and port.peer]
    found = {}
    for num in cabled:
        lid = node.ports[0 if node.is_switch else num].lid
        rows = ROW.findall(query(fabric, host, 'sl2vl', lid, num))
        limit = re.search(r'VLHighLimit:\.+(\d+)', query(fabric, host, 'portinfo', lid, num))
        found[num] = ([(int(a), row) for a, _, row in rows if int(a) in (0, *cabled)],
                      query(fabric, host, 'vlarb', lid, num).splitlines()[1:], limit[1])
    return found


def ask(program, text):
    with osmsim.Fabric(ibsim.fat_tree(4)) as fabric:
        host = fabric.hosts()[0]
        with open(fabric.path('policy'), 'w') as file:
            file.write(text or '')
        named = ('-Y', fabric.path('policy')) if text else ()
        child = fabric.start_opensm(program, host, '-Q', *named)
        fabric.wait_subnet_up(child, SECONDS)
        return fabric.paths(host, fabric.dump(), PAIRS, QUESTIONS)


def run(program, conf):
    with osmsim.Fabric(ibsim.fat_tree(4)) as fabric:
        host = fabric.hosts()[0]
        child = fabric.start_opensm(program, host, options='qos TRUE\n' + conf)
        fabric.wait_subnet_up(child, SECONDS)
        if program == ibsim.CLASSIC:  # its first sweep uses OperationalVLs from before it
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
    for name, text in POLICIES.items():
        ours, classic = ask(subnet.daemon(), text), ask(ibsim.CLASSIC, text)
        for question, answer in classic.items():
            # It shows the P_Key of a level as the file has it, without membership: ours as the
            # source holds it.
            answer = [(key, '0xFFFF' if value == '0x7FFF' else value) for key, value in answer]
            checks.equal(f'{name}: {" ".join(question)}', ours[question], answer)
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
