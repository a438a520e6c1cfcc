# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""infiniband-diags as clients of the subnet: each result is compared with ibsim's own nodes."""

import re

import ibsim
import ibutils
import truth

NEEDED = ['sminfo', 'ibnetdiscover', 'iblinkinfo', 'ibroute', 'dump_lfts', 'ibtracert', 'saquery',
          'smpquery', 'timeout']
# ibsim's clients carry 256 octets of a MAD: what an RMPP transfer may hold there.
SA_DATA_BYTES = 200
# By default they wait for a second, which is not much if the simulator is starved.
PATIENT = ('sminfo', 'ibnetdiscover', 'iblinkinfo', 'ibroute', 'dump_fts', 'ibtracert', 'saquery',
           'smpquery', 'dump_lfts', 'perfquery')


def patient(argv):
    """As above with more time for each answer."""
    tool, *arguments = argv
    return [tool, *(('--timeout', '20000') if tool in PATIENT else ()), *arguments]


class Tools:
    """The tools of one host, on a subnet whose truth is nodes (those of names matter)."""

    def __init__(self, checks, fabric, host, nodes, names, sm):
        self.checks, self.fabric, self.host = checks, fabric, host
        self.nodes, self.names = nodes, names
        self.sm = sm  # the SM's node
        self.switches = [nodes[name] for name in sorted(names) if nodes[name].is_switch]

    def run(self, *argv, seconds=ibsim.PATIENCE):
        """Output of a tool, which must succeed; None if it does not."""
        code, out = self.fabric.tool(self.host, *patient(argv), seconds=seconds)
        ok = self.checks.equal(f'{" ".join(argv)} ends well', (code, '' if code == 0 else out),
                               (0, ''))
        return out if ok else None

    def fields(self, *argv):
        """'name....value' lines as a list of (name, value)."""
        out = self.run(*argv)
        return re.findall(r'^\s*(\S[^.:\n]*?):?\.{2,}(.*)$', out or '', re.M)

    def expect(self, what, got, **expected):
        """Compares the first of each named field, numbers by value."""
        have = {}
        for name, value in got:
            have.setdefault(name.lower(), value.strip())
        for name, value in expected.items():
            text = have.get(name.lower())
            if isinstance(value, int):
                try:
                    text = int(text, 0)
                except (TypeError, ValueError):
                    pass
            self.checks.equal(f'{what}: {name}', text, value)

    def sm_port(self):
        return next(p for _, p in truth.end_ports(self.nodes, {self.sm.name}))

    def sminfo(self):
        out = self.run('sminfo')
        match = re.search(r'sm lid (\d+) sm guid 0x(\w+), activity count (\d+) priority (\d+) '
                          r'state (\d+)', out or '')
        if self.checks.check('sminfo prints SMInfo', match, out):
            self.checks.equal('sminfo: LID', int(match[1]), self.sm_port().lid)
            self.checks.equal('sminfo: GUID', int(match[2], 16), self.sm_port().guid)
            self.checks.equal('sminfo: state is MASTER', int(match[5]), 3)

    def ibnetdiscover(self):
        out = self.run('ibnetdiscover') or ''
        nodes, links, at = set(), set(), None
        for line in out.splitlines():
            if match := re.match(r'(Switch|Ca)\s+(\d+)\s+"\w-(\w+)"\s*# "([^"]*)"', line):
                at = int(match[3], 16)
                nodes.add((match[1] == 'Switch', at, int(match[2]), match[4].strip()))
            elif match := re.match(r'\[(\d+)\](?:\(\w+\))?\s+"\w-(\w+)"\[(\d+)\]', line):
                links.add((at, int(match[1]), int(match[2], 16), int(match[3])))
        self.checks.same_set('ibnetdiscover: nodes', nodes,
                             {(n.is_switch, n.guid, n.num_ports, n.name)
                              for n in map(self.nodes.get, self.names)})
        self.checks.same_set('ibnetdiscover: links', links,
                             {(node.guid, port.num, self.nodes[port.peer[0]].guid, port.peer[1])
                              for node, port in truth.cabled(self.nodes, self.names)})

    def iblinkinfo(self):
        out = self.run('iblinkinfo', '-l') or ''
        active = set()
        for line in out.splitlines():
            match = re.match(r'0x(\w+) "[^"]*"\s+(\d+)\s+(\d+)\[', line)
            if match and re.search(r'Active/\s*LinkUp', line):
                active.add((int(match[1], 16), int(match[3])))
        self.checks.same_set('iblinkinfo: the cabled ports are Active', active,
                             {(node.guid if node.is_switch else port.guid, port.num)
                              for node, port in truth.cabled(self.nodes, self.names)})

    def tables_of(self, out):
        """{switch GUID: {lid: port}} of what ibroute or dump_lfts print."""
        tables, table = {}, {}
        for line in (out or '').splitlines():
            if match := re.match(r'Unicast lids .* guid 0x(\w+)', line):
                table = tables.setdefault(int(match[1], 16), {})
            elif match := re.match(r'0x(\w+) (\d+) :', line):
                table[int(match[1], 16)] = int(match[2])
        return tables

    def expected_table(self, switch):
        return {lid: port for lid, port in switch.lft.items() if port != truth.DROP}

    def shown_table(self, switch):
        """ibroute and dump_lfts omit the last LID if a block of 64 begins with it."""
        top = max(switch.lft, default=0)
        return {lid: port for lid, port in self.expected_table(switch).items()
                if lid != top or top % 64}

    def ibroute(self):
        for switch in self.checks.sample(self.switches, 4):
            tables = self.tables_of(self.run('ibroute', str(switch.lid())))
            self.checks.same_table(f'ibroute of {switch.name}', tables.get(switch.guid),
                                   self.shown_table(switch))

    def dump_lfts(self):
        tables = self.tables_of(self.run('dump_lfts', seconds=240))
        for switch in self.switches:
            self.checks.same_table(f'dump_lfts of {switch.name}', tables.get(switch.guid),
                                   self.shown_table(switch))

    def ibtracert(self):
        ends = list(truth.end_ports(self.nodes, self.names))
        for _ in range(10):
            (from_node, source), (_, target) = self.checks.sample(ends, 2)
            out = self.run('ibtracert', str(source.lid), str(target.lid))
            hops = re.findall(r'^(?:From|\[\d+\] ->) [^"\n]*"([^"\n]*)"', out or '', re.M)
            self.checks.equal(f'ibtracert {source.lid} {target.lid}', hops,
                              truth.walk(self.nodes, from_node.name, source.lid,
                                         target.lid))

    def node_records(self):
        for node, port in self.checks.sample(truth.end_ports(self.nodes, self.names), 8):
            got = self.fields('saquery', 'NR', str(port.lid))
            self.expect(f'NodeRecord of {node.name}', got, lid=port.lid, num_ports=node.num_ports,
                        node_guid=node.guid, port_guid=port.guid, NodeDescription=node.name,
                        node_type='Switch' if node.is_switch else 'Channel Adapter')

    def port_info_records(self):
        for node, port in self.checks.sample(truth.cabled(self.nodes, self.names), 8):
            got = self.fields('saquery', 'PIR', f'{node.lid(port.num)}/{port.num}')
            self.expect(f'PortInfoRecord of {node.name} port {port.num}', got, PortNum=port.num,
                        LinkState='Active', PhysLinkState='LinkUp')

    def switch_records(self):
        for switch in self.checks.sample(self.switches, 4):
            self.expect(f'SwitchInfoRecord of {switch.name}',
                        self.fields('saquery', 'SWIR', str(switch.lid())), LID=switch.lid())
            got = dict(self.fields_of_table('saquery', 'LFTR', f'{switch.lid()}/0'))
            self.checks.same_table(f'LFTRecord of {switch.name}',
                                   {lid: port for lid, port in got.items() if port != truth.DROP},
                                   {lid: port for lid, port in
                                    self.expected_table(switch).items() if lid < 64})

    def fields_of_table(self, *argv):
        return [(int(a), int(b)) for a, b in
                re.findall(r'^\s*(\d+)\s+(\d+)\s*$', self.run(*argv) or '', re.M)]

    def link_records(self):
        for switch in self.checks.sample(self.switches, 4):
            expected = {(switch.lid(), port.num, self.peer_lid(port), port.peer[1])
                        for port in switch.ports.values() if port.num and port.peer}
            if len(expected) * 8 > SA_DATA_BYTES:
                continue  # more than ibsim carries
            got = self.fields('saquery', 'LR', str(switch.lid()))
            column = {name: [int(v) for n, v in got if n == name]
                      for name in ('FromLID', 'FromPort', 'ToLID', 'ToPort')}
            self.checks.same_set(f'LinkRecords of {switch.name}', set(zip(
                column['FromLID'], column['FromPort'], column['ToLID'], column['ToPort'])),
                expected)

    def peer_lid(self, port):
        return self.nodes[port.peer[0]].lid(port.peer[1])

    def path_records(self):
        ends = list(truth.end_ports(self.nodes, self.names))
        for _ in range(5):
            (_, source), (_, target) = self.checks.sample(ends, 2)
            sgid, dgid = (f'fe80::{p.guid >> 48:x}:{p.guid >> 32 & 0xffff:x}:'
                          f'{p.guid >> 16 & 0xffff:x}:{p.guid & 0xffff:x}'
                          for p in (source, target))
            for argv in (('--slid', str(source.lid), '--dlid', str(target.lid)),
                         ('--sgid', sgid, '--dgid', dgid),
                         ('--src-to-dst', f'{source.lid}:{target.lid}')):
                query = () if argv[0].startswith('--src-to') else ('PR',)
                self.expect('PathRecord ' + ' '.join(argv),
                            self.fields('saquery', *argv, *query), slid=source.lid,
                            dlid=target.lid, pkey=0xFFFF, sl=0)

    def other_records(self):
        sm_lid = self.sm_port().lid
        self.expect('ClassPortInfo', self.fields('saquery', '-c'), **{
            'Base version': 1, 'Class version': 2})
        self.expect('MCMemberRecord', self.fields('saquery', '-g'), Mlid=0xC000, pkey=0xFFFF,
                    MGID='ff12:401b:ffff::ffff:ffff')
        self.expect('P_KeyTableRecord', self.fields(
            'saquery', '--smkey', '1', 'PKTR', str(sm_lid)), LID=sm_lid)
        for argv in (('-m',), ('-s',)):
            self.run('saquery', *argv)
        self.table_records(sm_lid)
        for argv in (('-S',), ('-I',), ('MFTR', '0xc000')):
            self.answered(argv)

    def table_records(self, sm_lid):
        """Tables that the SM reads on request; of one port or block, as ibsim carries 200
        octets."""
        port, switch = self.sm_port(), self.switches[0]
        self.expect('SMInfoRecord', self.fields('saquery', 'SMIR'), LID=sm_lid, GUID=port.guid,
                    SMState=3)
        self.expect('GUIDInfoRecord', self.fields('saquery', 'GIR', f'{sm_lid}/0'), LID=sm_lid,
                    Block=0, **{'GUID 0': port.guid})
        self.expect('SLtoVLMappingTableRecord of a host', self.fields(
            'saquery', 'SL2VL', str(sm_lid)), LID=sm_lid, InPort=0)
        self.expect('SLtoVLMappingTableRecord of a switch', self.fields(
            'saquery', 'SL2VL', f'{switch.lid()}/1/2'), LID=switch.lid(), InPort=1, OutPort=2)
        self.expect('VLArbitrationTableRecord', self.fields(
            'saquery', 'VLAR', f'{switch.lid()}/1/1'), LID=switch.lid(), Port=1, Block=1)

    def answered(self, argv):
        """A record the SA may lack: it returns it, or says so (IBA 15.4.2: status 0x000c)."""
        code, out = self.fabric.tool(self.host, *patient(('saquery', *argv)))
        self.checks.check(f'saquery {" ".join(argv)} is answered',
                          code == 0 or 'returned 0x000c' in out, (code, out))

    def errors(self):
        """An unassigned LID: an SA error or no record, but an answer."""
        code, out = self.fabric.tool(self.host, *patient(('saquery', 'NR', '48000')))
        self.checks.check('NodeRecord of an unused LID is answered',
                          code != 'timeout' and 'lid....' not in out and 'TIMEOUT' not in out and
                          'timed out' not in out.lower(), (code, out))

    def ibdiagnet(self):
        why = ibutils.missing('ibdiagnet')
        if why:
            self.checks.skip('ibdiagnet', why)
            return
        report = ibutils.Ibdiagnet(self.fabric, self.host, seconds=2 * ibsim.PATIENCE)
        cas = ibutils.ca_ports(self.nodes, self.names)
        self.checks.equal('ibdiagnet is clean', ibutils.complaints(report.code, report.out, cas),
                          [])
        self.checks.equal('ibdiagnet: errors and warnings of each stage', report.stages(),
                          dict.fromkeys(ibutils.STAGES, (0, 0)))
        self.checks.equal('ibdiagnet: nodes, switches and CAs', report.last(
            r'(\d+) nodes \((\d+) Switches & (\d+) CA-s\)'), tuple(map(str, (
                len(self.names), len(self.switches), len(self.names) - len(self.switches)))))
        self.checks.equal('ibdiagnet: hosts of the default partition', report.last(
            r'PKey:0x7fff Hosts:(\d+) full:(\d+) limited:(\d+)'), (str(cas), str(cas), '0'))
        self.checks.equal('ibdiagnet: GUID of the master', report.last(
            r'SM - master\n.* lid=\w+ guid=0x(\w+)'), f'{self.sm_port().guid:016x}')

    def ibdmchk(self):
        why = ibutils.missing('ibdmchk')
        if why:
            self.checks.skip('ibdmchk', why)
            return
        code, out = ibutils.ibdmchk_of_truth(self.fabric.dir, self.nodes, self.names,
                                             self.sm.name)
        self.checks.equal('ibdmchk is clean', ibutils.complaints(
            code, out, ibutils.ca_ports(self.nodes, self.names)), [])
