# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A private ibsim with a daemon and tools on it, in a temporary directory of its own.

Everything started here ends with the context manager, and a run disturbs no other: the name of
ibsim's sockets, the working directory and all files are private."""

import ctypes
import glob
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))

import checks  # noqa: E402 (found through the path above)

IBSIM = '/usr/bin/ibsim'
CLASSIC = '/usr/sbin/opensm'
PRELOAD = (glob.glob('/usr/lib*/*/umad2sim/libumad2sim.so') +
           glob.glob('/usr/lib*/umad2sim/libumad2sim.so'))
SAMPLES = '/usr/share/doc/ibsim-utils/net-examples'
# For what takes a second or two on an idle machine: only a failure waits this long.
PATIENCE = 120
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None)  # here, since a child of a process with threads may not wait for locks


def die_with_parent():
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def end_cleanly():
    """Turns the SIGTERM of a time limit into an exception, so that everything is cleaned up."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit('terminated: out of time'))


class Failure(Exception):
    """The run cannot continue: an expected event did not happen in time."""


def missing(tools):
    """Why this host cannot run the tests, or None."""
    if not os.path.exists(IBSIM) or not PRELOAD:
        return 'ibsim is not installed (Debian: ibsim-utils, libumad2sim0)'
    lacking = [tool for tool in tools if not shutil.which(tool, path=tool_path())]
    if lacking:
        return f'{", ".join(lacking)} not installed (Debian: infiniband-diags)'
    return None


def tool_path():
    return '/usr/sbin:/usr/bin:/sbin:/bin'


def fat_tree(k):
    """A full three-level fat tree of k-port switches as ibsim text: k^3/4 hosts."""
    half, lines = k // 2, []
    for pod in range(k):
        for leaf in range(half):
            lines.append(f'Switch {k} "L{pod}-{leaf}"')
            lines += [f'[{h + 1}] "H{pod}-{leaf}-{h}"[1]' for h in range(half)]
            lines += [f'[{half + s + 1}] "A{pod}-{s}"[{leaf + 1}]' for s in range(half)] + ['']
        for agg in range(half):
            lines.append(f'Switch {k} "A{pod}-{agg}"')
            lines += [f'[{leaf + 1}] "L{pod}-{leaf}"[{half + agg + 1}]' for leaf in range(half)]
            lines += [f'[{half + c + 1}] "C{agg}-{c}"[{pod + 1}]' for c in range(half)] + ['']
        for leaf in range(half):
            for host in range(half):
                lines += [f'Hca 1 "H{pod}-{leaf}-{host}"', f'[1] "L{pod}-{leaf}"[{host + 1}]', '']
    for agg in range(half):
        for core in range(half):
            lines.append(f'Switch {k} "C{agg}-{core}"')
            lines += [f'[{pod + 1}] "A{pod}-{agg}"[{half + core + 1}]' for pod in range(k)] + ['']
    return '\n'.join(lines)


class Port:
    def __init__(self, guid, num, peer, lid, state):
        self.guid, self.num, self.peer, self.lid, self.state = guid, num, peer, lid, state


class Node:
    """A node as ibsim's own console dumps it: the truth that all tools are compared with."""

    def __init__(self, kind, num_ports, name, guid):
        self.is_switch = kind == 'Switch'
        self.num_ports, self.name, self.guid = num_ports, name, guid
        self.ports, self.lft = {}, {}

    def lid(self, port=0):
        """Of a switch its one LID, of another node that of the port."""
        return self.ports[0 if self.is_switch else port].lid

    def owns(self, lid):
        return any(port.lid == lid for port in self.ports.values())


NODE_LINE = re.compile(r'^(Switch|Ca|Hca|Router) (\d+) "([^"]*)"\s+nodeguid (\w+)')
LFT_LINE = re.compile(r'^#\s+Forwarding table [^:]*:(.*)')
PORT_LINE = re.compile(r'^(\w+)\s+\[(\d+)\]\s+(?:"([^"]*)"\[(\d+)\])?\s*(?:lid (\d+) lmc (\d+)'
                       r' smlid (\d+))?.*?(\w+)/(\w+)\s*$')


def parse_dump(text):
    nodes, node = {}, None
    for line in text.splitlines():
        line = re.sub(r'^(sim> )+', '', line)
        if match := NODE_LINE.match(line):
            node = Node(match[1], int(match[2]), match[3], int(match[4], 16))
            nodes[node.name] = node
        elif match := LFT_LINE.match(line):
            node.lft.update((int(lid), int(port, 16))
                            for lid, port in re.findall(r'\[(\d+)\](\w+)', match[1]))
        elif node and (match := PORT_LINE.match(line)):
            num = int(match[2])
            peer = (match[3], int(match[4])) if match[3] is not None and num else None
            node.ports[num] = Port(int(match[1], 16), num, peer, int(match[5] or 0), match[8])
    return nodes


class Fabric:
    """ibsim on one net; with Fabric(text) as fabric: ..."""

    def __init__(self, net_text):
        self.net_text = net_text
        self.children = []
        self.commands = 0

    def __enter__(self):
        self.dir = tempfile.mkdtemp(prefix='opensm-interop.')
        try:
            self.start_ibsim()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for child in reversed(self.children):
            if child.poll() is None:
                child.kill()
            child.wait()
            if child.stdin:
                try:
                    child.stdin.close()
                except OSError:
                    pass  # it ended with commands unread
        shutil.rmtree(self.dir, ignore_errors=True)

    def path(self, name):
        return os.path.join(self.dir, name)

    def read(self, name, start=0):
        try:
            with open(self.path(name), errors='replace') as file:
                file.seek(start)
                return file.read()
        except FileNotFoundError:
            return ''

    def spawn(self, argv, out, **more):
        with open(self.path(out), 'ab') as file:
            child = subprocess.Popen(argv, cwd=self.dir, stdout=file, stderr=subprocess.STDOUT,
                                     preexec_fn=die_with_parent, **more)
        self.children.append(child)
        return child

    def start_ibsim(self):
        with open(self.path('net'), 'w') as file:
            file.write(self.net_text)
        nodes = len(re.findall(r'^(?:Switch|Hca|Ca)\b', self.net_text, re.M))
        ports = sum(int(n) + 1 for n in
                    re.findall(r'^(?:Switch|Hca|Ca)\s+(\d+)', self.net_text, re.M))
        self.env = dict(os.environ, IBSIM_SOCKNAME=os.path.basename(self.dir), PATH=tool_path())
        self.ibsim = self.spawn([IBSIM, '-s', '-N', str(nodes + 8), '-S', str(nodes + 8),
                                 '-P', str(ports + 64), '-L', '49151', 'net'], 'ibsim.out',
                                stdin=subprocess.PIPE, env=self.env)
        self.wait(lambda: 'simulator ready' in self.read('ibsim.out'), PATIENCE,
                  'ibsim to be ready', alive=self.ibsim)

    def wait(self, done, seconds, what, alive=None):
        """Polls until done(); Failure when the time is up or the process alive ended."""
        deadline = time.monotonic() + seconds
        while not done():
            if alive and alive.poll() is not None:
                raise Failure(f'waited for {what}, but it ended with code {alive.returncode}')
            if time.monotonic() > deadline:
                raise Failure(f'waited {seconds} s in vain for {what}')
            time.sleep(0.02)

    def console(self, command):
        """Gives ibsim's console a command and returns its output up to the end of the command:
        ibsim echoes a comment."""
        self.commands += 1
        end = f'#end of command {self.commands}.'
        before = os.path.getsize(self.path('ibsim.out'))
        self.ibsim.stdin.write(f'{command}\n{end}\n'.encode())
        self.ibsim.stdin.flush()
        self.wait(lambda: end in self.read('ibsim.out', before), PATIENCE, f'ibsim to {command}',
                  alive=self.ibsim)
        return self.read('ibsim.out', before)

    def dump(self):
        return parse_dump(self.console('Dump'))

    def link_down(self, node, port):
        self.console(f'Unlink "{node}"[{port}]')

    def link_up(self, node, port):
        self.console(f'ReLink "{node}"[{port}]')

    def hosts(self):
        """Names of the CAs that a program can run on: ibsim attaches it to their port 1."""
        return [node.name for node in self.dump().values()
                if not node.is_switch and node.ports.get(1) and node.ports[1].peer]

    def on(self, host, preload=(), **more):
        return dict(self.env, LD_PRELOAD=':'.join([*preload, PRELOAD[0]]), SIM_HOST=host,
                    ASAN_OPTIONS=self.sanitizer_options(), **more)

    def sanitizer_options(self):
        """AddressSanitizer also works as the second library, and need not find the errors of
        ibsim's own library, which reads beyond what it received."""
        with open(self.path('asan'), 'w') as file:
            file.write('interceptor_via_lib:libumad2sim.so\n')
        given = os.environ.get('ASAN_OPTIONS', '')
        return (f'{given}:verify_asan_link_order=0:detect_leaks=0:'
                f'suppressions={self.path("asan")}')

    def tool(self, host, *argv, seconds=PATIENCE, preload=()):
        """Runs a tool on a host: (exit code, output)."""
        try:
            run = subprocess.run(argv, cwd=self.dir, env=self.on(host, preload), timeout=seconds,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 stdin=subprocess.DEVNULL, errors='replace')
        except subprocess.TimeoutExpired:
            return 'timeout', ''
        lines = [line for line in run.stdout.splitlines() if 'sim_connect' not in line]
        return run.returncode, '\n'.join(lines)

    def start_opensm(self, opensm, host, *flags, log='osm.log', cache='cache', options='',
                     out='osm.out'):
        cache = self.path(cache)
        os.makedirs(cache, exist_ok=True)
        conf = os.path.join(cache, 'opensm.conf')
        with open(conf, 'w') as file:  # else the classic daemon keeps its milestones
            file.write('force_log_flush TRUE\n' + options)
        return self.spawn([opensm, '-F', conf, '-f', self.path(log), '-e', *flags], out,
                          env=self.on(host, OSM_CACHE_DIR=cache, OSM_TMP_DIR=cache),
                          stdin=subprocess.DEVNULL)

    def wait_subnet_up(self, child, seconds, log='osm.log'):
        self.wait(lambda: 'SUBNET UP' in self.read(log), seconds,
                  f'SUBNET UP of {child.args[0]}', alive=child)

    def stop(self, child, seconds=PATIENCE):
        """Ends it as systemd would; returns its exit code, negative for a signal."""
        child.send_signal(signal.SIGTERM)
        try:
            return child.wait(seconds)
        except subprocess.TimeoutExpired:
            child.kill()
            return 'no end within %d s' % seconds


class Checks(checks.Checks):
    """Also prints how two things differ."""

    def __init__(self):
        super().__init__()
        self.random = random.Random(1)

    def equal(self, name, got, expected):
        return self.check(name, got == expected, f'got {got!r}, expected {expected!r}')

    def same_table(self, name, got, expected):
        got = got or {}
        wrong = {key: (got.get(key), expected.get(key)) for key in sorted(got.keys() | expected)
                 if got.get(key) != expected.get(key)}
        return self.check(name, not wrong, f'{len(wrong)} entries differ (got, expected): {wrong}')

    def same_set(self, name, got, expected):
        extra, lacking = sorted(got - expected)[:5], sorted(expected - got)[:5]
        return self.check(name, got == expected, f'unexpected {extra}, lacking {lacking}')

    def sample(self, population, count):
        population = list(population)
        return self.random.sample(population, min(count, len(population)))
