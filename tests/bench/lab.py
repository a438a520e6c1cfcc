# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Fabrics to measure on: Debian's ibsim or our osmsim, with a daemon whose MADs are counted.

Neither daemon is told which simulator it sees: both simulators stand in for the kernel's umad
devices, and count_mads.so stands between the daemon and libibumad."""

import json
import mmap
import os
import re
import signal
import struct
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'interop'))

import ibsim  # noqa: E402 (found through the path above)

Failure = ibsim.Failure
COUNTS = ('mads', 'gets', 'sets', 'directed', 'hops', 'lft_sets', 'last_ns', 'lft_ns', 'trap_ns',
          'pause_ns', 'last_cpu_ns', 'pause_cpu_ns', 'sl2vl_gets', 'sl2vl_sets', 'vlarb_gets',
          'vlarb_sets', 'perf', 'perf_last_ns')
COUNTS_BYTES = 8 * len(COUNTS)
START_SECONDS = 60
NODE = re.compile(r'^(Switch|Hca|Ca)\s+(\d+)\s+"([^"]+)"(?:.*?#\s*"([^"]*)")?')
CABLE = re.compile(r'^\[(\d+)\](?:\([^)]*\))?\s+"([^"]+)"\s*\[(\d+)\]')
LOG_LINE = re.compile(r'^(\w{3} \d\d \d\d:\d\d:\d\d) (\d{6}) .*SUBNET UP')


class TooLong(Failure):
    """The deadline has passed."""


def built(name):
    return os.path.abspath(os.path.join(os.environ.get('top_builddir', '.'), name))


OSMSIM = built('libvendor/osmsim/osmsim')
OSMSIM_PRELOAD = built('libvendor/preload/libosmsim-preload.so')
COUNTER = built('tests/bench/count_mads.so')
CLIENT = built('tests/bench/sa_client')


class Net:
    """A topology as text that both simulators read, and the parts of it that measurements use."""

    def __init__(self, spec):
        self.spec = spec
        size = re.fullmatch(r'fattree:(\d+)', spec)
        self.text = ibsim.fat_tree(int(size[1])) if size else self.discovered()
        self.hosts, self.switches, self.descriptions = [], [], {}
        cables = self.parse()
        if not cables or len(self.hosts) < 2:
            raise Failure(f'{spec} has no cable between switches, or less than two hosts')
        self.cable, self.cables = cables[len(cables) // 2], cables

    def discovered(self):
        """The text of another specification is what ibnetdiscover finds on osmsim."""
        class Empty(Osmsim):
            def __enter__(self):
                self.net = self.spec
                return ibsim.Fabric.__enter__(self)
        fabric = Empty('')
        fabric.spec = self.spec
        with fabric:
            code, text = fabric.run_tool('ibnetdiscover')
        if code != 0:
            raise Failure(f'ibnetdiscover on {self.spec}: {text[-200:]}')
        return text

    def parse(self):
        """Fills the lists of nodes and returns the cables between switches."""
        lines, cables, node = self.text.splitlines(), [], None
        for line in lines:
            if match := NODE.match(line):
                node = match[3]
                (self.switches if match[1] == 'Switch' else self.hosts).append(node)
                self.descriptions[node] = match[4] or node
        switches = set(self.switches)
        for line in lines:
            if match := NODE.match(line):
                node = match[3]
            elif match := CABLE.match(line):
                if node in switches and match[2] in switches and node != match[2]:
                    cables.append((node, int(match[1])))
        return cables


class Lab(ibsim.Fabric):
    """A running simulator; what both have in common."""

    def __init__(self, net):
        super().__init__(net.text if isinstance(net, Net) else net)
        self.net = net

    def preloaded(self, node, *before):
        """The environment of a program on a node, with libraries in front of the simulator's."""
        variables = self.place(node)
        libraries = [*before, variables.pop('LD_PRELOAD')]
        return dict(self.env, LD_PRELOAD=':'.join(libraries), **variables,
                    ASAN_OPTIONS=self.sanitizer_options())

    def cpu_seconds(self):
        """Of the simulator."""
        return cpu_seconds(self.simulator().pid)

    def cut(self):
        self.change_cable('Unlink')

    def mend(self):
        self.change_cable('ReLink')


class Ibsim(Lab):
    name, has_rmpp, trap_seconds = 'ibsim', False, 0

    def simulator(self):
        return self.ibsim

    @staticmethod
    def missing():
        return ibsim.missing([])

    def place(self, node):
        return {'LD_PRELOAD': ibsim.PRELOAD[0], 'SIM_HOST': node}

    def change_cable(self, verb):
        (self.link_down if verb == 'Unlink' else self.link_up)(*self.net.cable)


class Osmsim(Lab):
    name, has_rmpp, trap_seconds = 'osmsim', True, 3.5

    def simulator(self):
        return self.server

    @staticmethod
    def missing():
        lacking = [path for path in (OSMSIM, OSMSIM_PRELOAD) if not os.path.exists(path)]
        return f'{", ".join(lacking)} not built' if lacking else None

    def start_ibsim(self):
        """Called by the base class: starts the simulator."""
        self.env = dict(os.environ, PATH=ibsim.tool_path())
        with open(self.path('net'), 'w') as file:
            file.write(self.net_text)
        topology = 'net' if self.net_text else self.net
        self.server = self.spawn([OSMSIM, '-s', self.path('socket'), topology], 'osmsim.out',
                                 stdin=subprocess.DEVNULL, env=self.env)
        self.wait(lambda: 'switches at' in self.read('osmsim.out'), START_SECONDS,
                  'osmsim to be ready', alive=self.server)

    def place(self, node):
        place = {'LD_PRELOAD': OSMSIM_PRELOAD, 'OSMSIM_SOCKET': self.path('socket')}
        if node:
            place['OSMSIM_NODE'] = self.net.descriptions[node]
        return place

    def change_cable(self, verb):
        node, port = self.net.cable
        self.console(f'{verb} "{self.net.descriptions[node]}" {port}')

    def console(self, commands):
        run = subprocess.run([OSMSIM, '-s', self.path('socket'), '-c', commands], env=self.env,
                             timeout=60, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if run.returncode != 0:
            raise Failure(f'osmsim: {commands[:80]}: {run.stdout.decode()[-200:]}')

    def run_tool(self, *argv):
        run = subprocess.run(argv, env=self.preloaded(None), cwd=self.dir, timeout=600,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, errors='replace')
        return run.returncode, run.stdout


SIMULATORS = {lab.name: lab for lab in (Ibsim, Osmsim)}


class Counts:
    """The file in which count_mads.so counts."""

    def __init__(self, path):
        with open(path, 'wb') as file:
            file.write(bytes(COUNTS_BYTES))
        with open(path, 'r+b') as file:
            self.map = mmap.mmap(file.fileno(), COUNTS_BYTES)

    def clear(self):
        self.map[:] = bytes(COUNTS_BYTES)

    def read(self):
        return dict(zip(COUNTS, struct.unpack(f'{len(COUNTS)}Q', self.map[:])))


def log_time(match):
    """Time of a line of the log, which names no year: seconds since the epoch."""
    year = time.localtime().tm_year
    return time.mktime(time.strptime(f'{year} {match[1]}', '%Y %b %d %H:%M:%S')) + \
        int(match[2]) / 1e6


def cpu_seconds(pid):
    """Processor time of all present threads."""
    total = 0
    for task in os.listdir(f'/proc/{pid}/task'):
        with open(f'/proc/{pid}/task/{task}/schedstat') as file:
            total += int(file.read().split()[0])
    return total / 1e9


class Daemon:
    """A subnet manager on the first host, with its measurements."""

    conf = 'force_log_flush TRUE\nsweep_interval 0\n'

    def __init__(self, lab, program, flags, deadline, quiet):
        self.lab, self.program, self.flags = lab, program, flags
        self.deadline, self.quiet = deadline, quiet
        self.starts = 0
        self.host = lab.net.hosts[0]

    def start(self):
        """A cold start, or with the files that an earlier run of the daemon left."""
        self.starts += 1
        cache = self.lab.path('cache')
        os.makedirs(cache, exist_ok=True)
        with open(self.lab.path('opensm.conf'), 'w') as file:
            file.write(self.conf)
        self.log, counts = (self.lab.path(f'{name}.{self.starts}') for name in ('log', 'counts'))
        self.counts = Counts(counts)
        self.ups, self.log_offset = [], 0
        env = dict(self.lab.preloaded(self.host, COUNTER), COUNT_MADS_FILE=counts,
                   OSM_CACHE_DIR=cache, OSM_TMP_DIR=cache)
        self.begin()
        self.child = self.lab.spawn([self.program, '-F', self.lab.path('opensm.conf'),
                                     '-f', self.log, '-q', 'local', *self.flags], 'osm.out',
                                    env=env, stdin=subprocess.PIPE)

    def begin(self):
        """Begins a phase: counts from 0, forgets earlier output."""
        self.read_log()
        self.ups = []
        self.counts.clear()
        self.began = time.time()

    def read_log(self):
        try:
            with open(self.log, errors='replace') as file:
                file.seek(self.log_offset)
                lines = file.readlines()
        except FileNotFoundError:
            return
        for line in lines:
            if not line.endswith('\n'):
                break  # half a line: again the next time
            self.log_offset += len(line.encode(errors='replace'))
            if match := LOG_LINE.match(line):
                self.ups.append(log_time(match))

    def log_tail(self, lines):
        with open(self.log, errors='replace') as file:
            return ''.join(file.readlines()[-lines:])

    def wait(self, done, what):
        while not done():
            if self.child.poll() is not None:
                raise Failure(f'ended with {self.child.returncode} waiting for {what}')
            if time.time() > self.began + self.deadline:
                raise TooLong(f'{what}: more than {self.deadline} s')
            time.sleep(0.01)

    def is_up(self):
        self.read_log()
        return bool(self.ups)

    def is_quiet(self):
        last = max(self.counts.read()['last_ns'] / 1e9, self.began)
        return time.time() - last >= self.quiet

    def settle(self, up=True):
        """Waits until the subnet is up and no packets are sent; the counts of the phase."""
        if up:
            self.wait(self.is_up, 'SUBNET UP')
        self.wait(self.is_quiet, 'silence')
        self.read_log()
        return self.counts.read()

    def calm_down(self, pause):
        """After a cold start: waits for the traps of links that came up while there was no SM, as
        switches repeat them, and for their effects. From here on a silence may be just the
        computation of routes, which took pause seconds, and does not count as quiet."""
        quiet = max(self.quiet, 2 * pause)
        self.quiet = max(quiet, self.lab.trap_seconds)
        self.wait(self.is_quiet, 'silence')
        self.quiet = quiet

    def command(self, text):
        self.child.stdin.write((text + '\n').encode())
        self.child.stdin.flush()

    def hang_up(self):
        self.child.send_signal(signal.SIGHUP)

    def stop(self):
        self.child.stdin.close()
        self.lab.stop(self.child, self.deadline)

    def megabytes(self, row):
        with open(f'/proc/{self.child.pid}/status') as file:
            for line in file:
                if line.startswith(f'{row}:'):
                    return int(line.split()[1]) / 1024
        raise Failure(f'no {row}: the daemon ended')

    def peak_megabytes(self):
        return self.megabytes('VmHWM')

    def cpu_seconds(self):
        return cpu_seconds(self.child.pid)


class Client:
    """A client of the SA on a host, by default the last; it knows the endports when this
    returns."""

    def __init__(self, daemon, kind, seconds, outstanding, host=-1):
        self.daemon, lab = daemon, daemon.lab
        self.out = f'client.{kind}.{len(lab.children)}'
        self.child = lab.spawn([CLIENT, kind, str(seconds), str(outstanding)], self.out,
                               env=lab.preloaded(lab.net.hosts[host]))
        self.lab = lab
        lab.wait(lambda: 'ready' in lab.read(self.out), daemon.deadline, 'the client of the SA',
                 alive=self.child)

    def stop(self):
        self.child.send_signal(signal.SIGTERM)

    def last_line(self):
        lines = self.lab.read(self.out).splitlines()
        return lines[-1] if lines else ''

    def result(self):
        """The figures, once they are there: ibsim's library does not always let a program end."""
        deadline = time.monotonic() + self.daemon.deadline
        while not self.last_line().startswith('{') or not self.last_line().endswith('}'):
            ended = self.child.poll()
            if ended is not None and not self.last_line().startswith('{'):
                raise Failure(f'the client of the SA ended with {ended}: {self.last_line()}')
            if time.monotonic() > deadline:
                raise TooLong('the client of the SA does not end')
            time.sleep(0.02)
        try:
            self.child.wait(1)
        except subprocess.TimeoutExpired:
            self.child.kill()
        result = json.loads(self.last_line())
        if result['answers'] == 0 or result['errors'] or result['lost']:
            raise Failure(f'the client of the SA: {self.last_line()}')
        return result
