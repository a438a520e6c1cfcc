# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""ibutils as a judge of the subnet: ibdiagnet reads it itself, ibdmchk reads files about it in
OpenSM's formats, which are written here from ibsim's own nodes."""

import os
import re
import shutil
import subprocess

import ibsim
import truth

# The stages of ibdiagnet -r; it ends with the count of errors and warnings of each.
STAGES = ('Bad GUIDs/LIDs Check', 'Link State Active Check', 'General Devices Info Report',
          'Performance Counters Report', 'Partitions Check', 'IPoIB Subnets Check',
          'Subnet Manager Check', 'Fabric Qualities Report', 'Credit Loops Check',
          'Multicast Groups Report')
NO_TOPOLOGY = '-W- Topology file is not specified.'
ANSI = re.compile(r'\x1b\[[0-9;]*[A-Za-z]')


def missing(tool):
    """Why a tool of ibutils cannot be run, or None."""
    if not shutil.which(tool, path=ibsim.tool_path()):
        return f'{tool} is not installed (Debian: ibutils)'
    return None


def shim():
    """The library of ibutils_shim.c."""
    path = os.path.abspath(os.path.join(os.environ.get('top_builddir', '.'), 'tests', 'interop',
                                        'ibutils_shim.so'))
    if not os.path.exists(path):
        raise ibsim.Failure(f'{path} is not built: make check TESTS=')
    return path


def end_of_link(node, port, nodes, sm, vendor_digits):
    kind = 'SW' if node.is_switch else 'CA-SM' if node.name == sm else 'CA'
    guid = node.guid if node.is_switch else port.guid
    return (f'{{ {kind} Ports:{node.num_ports:02X} SystemGUID:{node.guid:016x} '
            f'NodeGUID:{node.guid:016x} PortGUID:{guid:016x} VenID:{0:0{vendor_digits}X} '
            f'DevID:0000 Rev:000000A1 {{{node.name}}} LID:{node.lid(port.num):04X} '
            f'PN:{port.num:02X} }}')


def subnet_lines(nodes, names, sm):
    """The links, in the form of OpenSM's opensm-subnet.lst: each once from each end."""
    for node, port in truth.cabled(nodes, sorted(names)):
        peer = nodes[port.peer[0]]
        yield (f'{end_of_link(node, port, nodes, sm, 6)} '
               f'{end_of_link(peer, peer.ports[port.peer[1]], nodes, sm, 8)} '
               f'PHY=4x LOG={port.state[:3].upper()} SPD=2.5')


def route_lines(nodes, names):
    """The forwarding tables, in the form of OpenSM's opensm.fdbs except for the hop counts, which
    ibdmchk does not read."""
    for name in sorted(names):
        if not nodes[name].is_switch:
            continue
        yield f'dump_ucast_routes: Switch 0x{nodes[name].guid:016x}'
        yield 'LID    : Port : Hops : Optimal'
        for lid, port in sorted(nodes[name].lft.items()):
            if port != truth.DROP:
                yield f'0x{lid:04X} : {port:03}  : 00   : yes'


def write_lines(path, lines):
    with open(path, 'w') as file:
        file.writelines(line + '\n' for line in lines)


def ibdmchk(directory, subnet, routes):
    """Runs it on files of the directory: (exit code, output)."""
    none = os.path.join(directory, 'no-multicast')
    write_lines(none, ())
    run = subprocess.run(['ibdmchk', '-s', subnet, '-f', routes, '-m', none], cwd=directory,
                         env=dict(os.environ, PATH=ibsim.tool_path(), LD_PRELOAD=shim()),
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, errors='replace', timeout=400)
    return run.returncode, run.stdout


def ibdmchk_of_truth(directory, nodes, names, sm):
    """From ibsim's dump of its nodes; sm is the name of the SM's node."""
    write_lines(os.path.join(directory, 'subnet.lst'), subnet_lines(nodes, names, sm))
    write_lines(os.path.join(directory, 'fdbs'), route_lines(nodes, names))
    return ibdmchk(directory, 'subnet.lst', 'fdbs')


def ca_ports(nodes, names):
    return sum(not node.is_switch for node, _ in truth.end_ports(nodes, names))


def complaints(code, out, cas):
    """What is wrong according to the output of ibdmchk or ibdiagnet -r on a subnet with this number
    of CA ports: every pair of them must have been traced, and the dependencies of the channels
    searched."""
    wrong = [line for line in out.splitlines()
             if line.lstrip().startswith(('-E-', '-W-')) and line != NO_TOPOLOGY]
    if code != 0:
        wrong.append(f'exit code {code}')
    if f'Scanned:{cas * (cas - 1)} CA to CA paths' not in out:
        wrong.append(f'not {cas * (cas - 1)} paths scanned')
    if '-I- no credit loops found' not in out:
        wrong.append('not free of credit loops')
    return wrong


# On a busy machine ibdiagnet sometimes takes the answer of one node for that of another, or does
# not wait for an answer; without that of the SM it reports no master.
TOO_LATE = ('Devices with identical', 'failed 3 times during', 'Could not get PM info')
MASTER = 'SM - master'
TRIES = 4


class Ibdiagnet:
    """Its report, parsed. Findings caused by late answers are asked for again: real errors are
    found each time."""

    def __init__(self, fabric, host, seconds):
        for _ in range(TRIES):
            self.run(fabric, host, seconds)
            if MASTER in self.out and not any(sign in self.out for sign in TOO_LATE):
                break

    def run(self, fabric, host, seconds):
        self.code, out = fabric.tool(host, 'ibdiagnet', '-r', '-o', fabric.dir, seconds=seconds,
                                     preload=(shim(),))
        self.out = ANSI.sub('', out)

    def last(self, pattern):
        """Groups of the last match, as text."""
        found = re.findall(pattern, self.out)
        return found[-1] if found else None

    def stages(self):
        """{stage: (errors, warnings)}"""
        return {name: (int(errors), int(warnings)) for name, errors, warnings in
                re.findall(r'^    (\S.*?) {2,}(\d+) +(\d+) *$', self.out, re.M)}
