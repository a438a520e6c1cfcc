# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A private osmsim with daemons and tools on it: like ibsim.Fabric, and in addition with real RMPP
and with programs on several nodes that do not block each other."""

import os
import re
import subprocess

import ibsim
import tools


def built(*path):
    return os.path.abspath(os.path.join(os.environ.get('top_builddir', '.'), *path))


OSMSIM = ('libvendor', 'osmsim', 'osmsim')
LIBRARY = ('libvendor', 'preload', 'libosmsim-preload.so')
NODE_LINE = re.compile(r'^(switch|ca|router)\s+(0x\w+)\s+(\d+) ports  "(.*?)"')
PORT_LINE = re.compile(r'^\s*(\d+) (\w+)\s+(\w+)\s+lid\s+(\d+) .*?(?:=> "(.*)" (\d+))?$')
PATH_FIELDS = re.compile(r'(pkey|sl|mtu|rate|pkt_life)\.+(\S+)')
LFT_LINE = re.compile(r'^\s*(\d+)\s+(\d+)$')


def missing(tools):
    """Why this host cannot run the tests, or None."""
    lacking = [tool for tool in tools if not ibsim.shutil.which(tool, path=ibsim.tool_path())]
    if lacking:
        return f'{", ".join(lacking)} not installed (Debian: infiniband-diags, opensm, ibutils)'
    return None


def parse_nodes(text):
    """From the output of the console's 'nodes', 'ports' and 'dump lft' of one node after another.
    It prints no port GUIDs: those of a CA follow that of the node."""
    nodes, node = {}, None
    for line in text.splitlines():
        if match := NODE_LINE.match(line):
            kind = {'switch': 'Switch', 'ca': 'Ca', 'router': 'Router'}[match[1]]
            node = ibsim.Node(kind, int(match[3]), match[4], int(match[2], 16))
            nodes[node.name] = node
        elif match := LFT_LINE.match(line):
            node.lft[int(match[1])] = int(match[2])
        elif match := PORT_LINE.match(line):
            num = int(match[1])
            node.ports[num] = ibsim.Port(node.guid if node.is_switch else node.guid + num, num,
                                         (match[5], int(match[6])) if match[5] else None,
                                         int(match[4]), match[2])
        else:
            raise ibsim.Failure(f'osmsim said "{line}"')
    return nodes


class Fabric(ibsim.Fabric):
    """osmsim on one net; with Fabric(text) as fabric: ..."""

    def start_ibsim(self):
        with open(self.path('net'), 'w') as file:
            file.write(self.net_text)
        self.names = re.findall(r'^(Switch|Hca|Ca|Router)\s+\d+\s+"([^"]*)"', self.net_text, re.M)
        self.env = dict(os.environ, PATH=ibsim.tool_path(), OSMSIM_SOCKET=self.path('socket'),
                        ASAN_OPTIONS=f'{os.environ.get("ASAN_OPTIONS", "")}:detect_leaks=0:'
                                     'verify_asan_link_order=0')
        self.env.pop('LD_PRELOAD', None)
        server = self.spawn([built(*OSMSIM), '-s', 'socket', 'net'], 'osmsim.out',
                            stdin=subprocess.DEVNULL, env=self.env)
        self.wait(lambda: ' switches at ' in self.read('osmsim.out'), ibsim.PATIENCE,
                  'osmsim to listen', alive=server)

    def console(self, command):
        """Gives osmsim's console a command and returns what it prints."""
        run = subprocess.run([built(*OSMSIM), '-s', self.path('socket'), '-c', command],
                             env=self.env, timeout=ibsim.PATIENCE, capture_output=True, text=True)
        if run.returncode or run.stderr:
            raise ibsim.Failure(f'osmsim -c: code {run.returncode}, {run.stderr[-200:]}'
                                f'{run.stdout[-200:]} of "{command}"')
        return run.stdout

    def dump(self):
        return parse_nodes(self.console('\n'.join(
            f'nodes "{name}"\nports "{name}"' + (f'\ndump lft "{name}"' if kind == 'Switch' else '')
            for kind, name in self.names)))

    def link_down(self, node, port):
        self.console(f'unlink "{node}" {port}')

    def link_up(self, node, port):
        self.console(f'link "{node}" {port}')

    def on(self, host, preload=(), **more):
        return dict(self.env, LD_PRELOAD=':'.join([*preload, built(*LIBRARY)]), OSMSIM_NODE=host,
                    **more)

    def smps(self, host, questions):
        """The data of each attribute, read by (LID, attribute, modifier); None: no good answer."""
        run = subprocess.run([built('tests', 'interop', 'smp_ask')], env=self.on(host), text=True,
                             input=''.join(f'{lid} {attribute} {modifier}\n'
                                           for lid, attribute, modifier in questions),
                             stdout=subprocess.PIPE, timeout=ibsim.PATIENCE)
        answers = run.stdout.split()
        if len(answers) != len(questions):
            raise ibsim.Failure(f'smp_ask: {len(answers)} answers to {len(questions)} questions')
        return [None if answer == 'none' else bytes.fromhex(answer) for answer in answers]

    def paths(self, host, nodes, pairs, questions):
        """saquery's output for each path by each question, or that there is no path."""
        found = {}
        for source, destination in pairs:
            for question in questions:
                _, out = self.tool(host, *tools.patient((
                    'saquery', '-p', '--slid', str(nodes[source].ports[1].lid), '--dlid',
                    str(nodes[destination].ports[1].lid), *question)))
                found[source, destination, *question] = sorted(PATH_FIELDS.findall(out))
        return found
