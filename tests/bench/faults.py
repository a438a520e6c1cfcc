#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""One table of faults: how long a subnet manager takes to repair them, ours beside Debian's.

Each contestant gets each fault on a fabric of its own, on osmsim and in real time, one after
another within a run. A fault is repaired at the first SUBNET UP of the log after which the tables
of the simulated switches lead from everywhere to every remaining LID."""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import time
import types

sys.dont_write_bytecode = True

import bench  # noqa: E402 (after the switch above: the source tree may be read-only)
import lab  # noqa: E402
import osmsim  # noqa: E402 (found through lab)
import truth  # noqa: E402

ibsim = lab.ibsim
CLIENT = lab.built('tests/bench/fault_client')
SM_HOST = 'host-0'
RACK = [f'spine-{name}' for name in ('0-0', '0-1', '1-0', '1-1', '2-0', '3-0')] + \
    [f'leaf-{name}' for name in ('1-0', '1-1', '2-0', '2-1')] + ['core-0-0', 'core-0-1']
PORT_DOWN = re.compile(r'^(\w{3} \d\d \d\d:\d\d:\d\d) (\d{6}) .*(?i:port is down|sm port down)')


class Fabric(lab.Osmsim):
    """osmsim with its own names, whose console answers at once."""

    def __init__(self, spec, sma_ns=0):
        ibsim.Fabric.__init__(self, '')
        self.spec, self.sma_ns, self.names = spec, sma_ns, []
        self.net = types.SimpleNamespace(spec=spec, hosts=[SM_HOST],
                                         descriptions={SM_HOST: SM_HOST})

    def start_ibsim(self):
        self.env = dict(os.environ, PATH=ibsim.tool_path())
        self.server = self.spawn(
            [lab.OSMSIM, '-i', '-s', self.path('socket'), '--sma-ns', str(self.sma_ns), '--seed',
             '1', self.spec], 'osmsim.out', stdin=subprocess.PIPE, env=self.env)
        self.wait(lambda: 'switches at' in self.read('osmsim.out'), lab.START_SECONDS,
                  'osmsim to be ready', alive=self.server)
        self.names = [(match[1], match[4]) for line in self.ask('nodes').splitlines()
                      if (match := osmsim.NODE_LINE.match(line))]
        host = [name for kind, name in self.names if kind == 'ca'][-1]
        self.net.hosts.append(host)
        self.net.descriptions[host] = host

    def order(self, command):
        """Executes it at once; returns the time."""
        self.server.stdin.write(f'{command}\n'.encode())
        self.server.stdin.flush()
        return time.time()

    def ask(self, commands):
        run = subprocess.run([lab.OSMSIM, '-s', self.path('socket'), '-c', commands], env=self.env,
                             timeout=60, capture_output=True, text=True)
        if run.returncode:
            raise lab.Failure(f'osmsim: {run.stdout[-200:]}{run.stderr[-200:]}')
        return run.stdout

    def nodes(self):
        """Nodes behind links that are up, with the tables of the switches."""
        nodes = osmsim.parse_nodes(self.ask('\n'.join(
            f'nodes "{name}"\nports "{name}"' + (f'\ndump lft "{name}"' if kind == 'switch' else '')
            for kind, name in self.names)))
        for node in nodes.values():
            for port in node.ports.values():
                if port.state == 'Down':
                    port.peer = None
        return nodes

    def left(self):
        """Names of the nodes that the SM can still reach."""
        return truth.reachable(self.nodes(), SM_HOST)

    def forwards(self):
        """Whether every LID is reached from every switch, among those that the SM can reach."""
        nodes = self.nodes()
        left = truth.reachable(nodes, SM_HOST)
        return all(port.lid for _, port in truth.end_ports(nodes, left)) and \
            next(truth.broken_routes(nodes, left), None) is None


class Daemon(lab.Daemon):
    def bring_up(self):
        """Also waits for the traps of links that came up while there was no SM."""
        self.start()
        self.wait(self.is_up, 'SUBNET UP')
        time.sleep(self.quiet)

    def fault(self, command):
        """Causes a fault; returns the time."""
        self.begin()
        self.began = self.lab.order(command)
        return self.began

    def mended(self, since):
        """Seconds from a moment to the SUBNET UP after which everything is right."""
        judged = None
        while True:
            def is_new():
                self.read_log()
                return any(up > max(since, judged or 0) for up in self.ups)
            self.wait(is_new, 'a SUBNET UP after which all LIDs are reached')
            judged = self.ups[-1]
            if self.lab.forwards():
                return judged - since

    def logged(self, pattern, since):
        """Seconds from a moment to a line of the log."""
        found = []

        def look():
            with open(self.log, errors='replace') as file:
                found[:] = [when for line in file if (match := pattern.match(line)) and
                            (when := lab.log_time(match)) > since]
            return found
        self.wait(look, pattern.pattern[-30:])
        return found[0] - since


def client(daemon, *arguments):
    name = f'client.{len(daemon.lab.children)}'
    return name, daemon.lab.spawn([CLIENT, *arguments], name,
                                  env=daemon.lab.preloaded(daemon.lab.net.hosts[-1]))


def rack(daemon, _):
    """Both figures of one fault."""
    daemon.bring_up()
    name, _ = client(daemon, 'nodes')
    daemon.lab.wait(lambda: daemon.lab.read(name).count('\n') > 3, 10, 'the SA to answer')
    since = daemon.fault('; '.join(f'down {node}' for node in RACK))
    expected = len(daemon.lab.left())
    answers = []

    def known():
        lines = [line.split() for line in daemon.lab.read(name).split('\n')[:-1]]
        answers[:] = [float(when) for when, count in lines
                      if float(when) > since and int(count) == expected]
        return answers
    mended = daemon.mended(since)
    daemon.wait(known, f'the SA to know {expected} nodes')
    return {'rack_sa': answers[0] - since, 'rack_lft': mended}


def leaf_cables(daemon, leaf):
    """Ports of a leaf to other switches."""
    return [port.num for port in daemon.lab.nodes()[leaf].ports.values()
            if port.peer and not port.peer[0].startswith('host')]


def one_cable(daemon, _):
    daemon.bring_up()
    port = leaf_cables(daemon, 'leaf-3-0')[0]
    return {'one': daemon.mended(daemon.fault(f'unlink leaf-3-0 {port}'))}


def two_cables(daemon, _):
    daemon.bring_up()
    first, second = leaf_cables(daemon, 'leaf-3-0')[:2]
    daemon.fault(f'unlink leaf-3-0 {first}')
    time.sleep(0.02)
    return {'two': daemon.mended(daemon.lab.order(f'unlink leaf-3-0 {second}'))}


def first_sweep(daemon, args):
    port = leaf_cables(daemon, 'leaf-0-0')[0]
    daemon.start()
    start = daemon.began
    time.sleep(max(0, start + args.after_ms / 1e3 - time.time()))
    daemon.is_up()
    if daemon.ups:
        raise lab.Failure(f'it was up before {args.after_ms} ms')
    since = daemon.lab.order(f'unlink leaf-0-0 {port}')
    return {'first': daemon.mended(since) + since - start}


def own_link(daemon, _):
    """No trap is sent: a light sweep has to find it, which is not waited for."""
    daemon.bring_up()
    since = daemon.fault(f'unlink {SM_HOST} 1')
    daemon.command('resweep light')
    return {'own': daemon.logged(PORT_DOWN, since)}


def latency(daemon, args):
    """While routes are computed again and again, each time once the previous ones are in place."""
    daemon.bring_up()
    clients = [client(daemon, kind, str(args.seconds)) for kind in ('sm', 'leaf', 'path')]
    daemon.begin()
    routed = 0
    while any(child.poll() is None for _, child in clients):
        daemon.read_log()
        daemon.ups = []
        daemon.command(args.again)
        end = time.time() + args.patience
        while not daemon.is_up() and time.time() < end and clients[0][1].poll() is None:
            time.sleep(0.005)
        routed += bool(daemon.ups)
    sm, leaf, path = (json.loads(daemon.lab.read(name).splitlines()[-1]) for name, _ in clients)
    return {'sm_p50': sm['p50_us'] / 1e3, 'sm_p99': sm['p99_us'] / 1e3,
            'sm_max': sm['max_us'] / 1e3, 'sm_lost': sm['lost'], 'sm_answers': sm['answers'],
            'leaf_p50': leaf['p50_us'] / 1e3, 'leaf_p99': leaf['p99_us'] / 1e3,
            'leaf_max': leaf['max_us'] / 1e3, 'path_p50': path['p50_us'] / 1e3,
            'path_p99': path['p99_us'] / 1e3, 'path_max': path['max_us'] / 1e3,
            'path_lost': path['lost'], 'sm_routed': routed}


FAULTS = {fault.__name__: fault for fault in
          (one_cable, two_cables, rack, first_sweep, own_link, latency)}
# key, fault, title, decimals, how it is measured
ROWS = (
    ('one', 'one_cable', 'one cable lost: mended, s', 3, 'an uplink of a leaf'),
    ('two', 'two_cables', 'two cables, 20 ms apart: mended, s', 3,
     'of one leaf, from the second loss'),
    ('rack_sa', 'rack', '12 switches off: SA knows, s', 3,
     'GetTable(NodeRecord) from the last host, every 50 ms: as many as can be reached'),
    ('rack_lft', 'rack', '12 switches off: mended, s', 3, 'as for cables'),
    ('first', 'first_sweep', 'uplink of the SM\'s leaf in first sweep, s', 3,
     'from the start of the process until it is mended'),
    ('own', 'own_link', 'SM\'s own link: port is down, s', 3,
     'from the loss, with a light sweep asked for at once, to the line of the log'),
    ('sm_p50', 'latency', 'Get(SMInfo) p50, ms', 3, 'by LID from the last host'),
    ('sm_p99', 'latency', '  p99, ms', 3, 'while routes are computed all the time'),
    ('sm_max', 'latency', '  longest, ms', 3, 'without those that were lost'),
    ('sm_lost', 'latency', '  lost', 0, 'no answer within 2 s'),
    ('sm_answers', 'latency', '  answers', 0, 'one outstanding'),
    ('leaf_p50', 'latency', 'Get(NodeInfo) of a leaf, p50, ms', 3,
     'at the same time, to compare: the simulator and the machine'),
    ('leaf_p99', 'latency', '  p99, ms', 3, 'as above'),
    ('leaf_max', 'latency', '  longest, ms', 3, 'as above'),
    ('path_p50', 'latency', 'Get(PathRecord) p50, ms', 3, 'at the same time, from the last host'),
    ('path_p99', 'latency', '  p99, ms', 3, 'as above'),
    ('path_max', 'latency', '  longest, ms', 3, 'as above'),
    ('path_lost', 'latency', '  lost', 0, 'no answer within 2 s'),
    ('sm_routed', 'latency', '  SUBNET UP meanwhile', 0, 'one for each time it routed'),
)
TITLE_WIDTH = max(len(row[2]) for row in ROWS) + 1
WIDTH = 18


def run(contestant, fault, args, samples):
    name, program, flags = contestant
    of_latency = fault is latency
    began = time.monotonic()
    try:
        with Fabric(args.big if of_latency else args.net,
                    0 if of_latency else args.sma_ns) as fabric:
            daemon = Daemon(fabric, program, flags, args.deadline, args.quiet)
            figures = fault(daemon, args)
    except (lab.Failure, OSError, subprocess.SubprocessError, ValueError, IndexError) as why:
        bench.tell(f'{name}, {fault.__name__}: {why}')
        figures = {row[0]: None for row in ROWS if row[1] == fault.__name__}
    for key, value in figures.items():
        samples.setdefault((name, key), []).append(value)
    bench.tell(f'{name}, {fault.__name__}: {time.monotonic() - began:.1f} s')


def cell(values, decimals):
    """Median and worst, and how often there was no figure."""
    good = [value for value in values or () if value is not None]
    if not good:
        return 'failed' if values else '-'
    text, worst = (f'{value:.{decimals}f}' for value in (statistics.median(good), max(good)))
    text += '' if len(good) == 1 else f' ({worst})'
    return text if len(good) == len(values) else f'{text} {len(values) - len(good)}!'


def print_table(contestants, args, samples):
    title = f'{args.net} ({args.big} for SMInfo)'
    print(f'\n{title:<{TITLE_WIDTH}}' + ''.join(f'{name:>{WIDTH}}' for name, _, _ in contestants))
    for key, fault, text, decimals, _ in ROWS:
        if fault in args.faults:
            print(f'{text:<{TITLE_WIDTH}}' + ''.join(
                f'{cell(samples.get((name, key)), decimals):>{WIDTH}}'
                for name, _, _ in contestants))
    print(f'\nMedian and (worst) of {args.runs} runs; N!: so many runs without a figure in'
          f' {args.deadline:g} s.\nAn agent takes {args.sma_ns / 1e3:g} us a MAD, but in'
          f' {args.big} none. Routes again: {args.again}. Light sweeps every'
          f' {args.interval} s.')
    for _, fault, text, _, how in ROWS:
        if fault in args.faults:
            print(f'  {text.strip():<{TITLE_WIDTH}}{how}')


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--net', default='fattree:8', metavar='SPEC')
    parser.add_argument('--big', default='fattree:24', metavar='SPEC', help='for SMInfo')
    parser.add_argument('--faults', type=bench.words, default=list(FAULTS), metavar='NAMES',
                        help=f'default {",".join(FAULTS)}')
    parser.add_argument('--runs', type=int, default=3, help='of each fault (default 3)')
    parser.add_argument('--sma-ns', type=int, default=100000, metavar='NS',
                        help='that an agent takes for a MAD (default 100000)')
    parser.add_argument('--after-ms', type=float, default=50, metavar='MS',
                        help='when the first sweep is disturbed (default 50)')
    parser.add_argument('--interval', type=int, default=10, metavar='SECONDS',
                        help='of light sweeps (default 10)')
    parser.add_argument('--again', default='reroute', metavar='COMMAND',
                        help='of the console, for SMInfo (default reroute)')
    parser.add_argument('--patience', type=float, default=2, metavar='SECONDS',
                        help='until that command is given again (default 2)')
    parser.add_argument('--seconds', type=float, default=10, help='of SMInfo (default 10)')
    parser.add_argument('--deadline', type=float, default=100, metavar='SECONDS')
    parser.add_argument('--quiet', type=float, default=lab.Osmsim.trap_seconds + 0.5,
                        metavar='SECONDS', help='from SUBNET UP to the fault (default 4)')
    bench.add_programs(parser)
    args = parser.parse_args()
    unknown = set(args.faults) - set(FAULTS)
    if unknown:
        parser.error(f'no fault {", ".join(unknown)}')
    return args


def main():
    args = arguments()
    ibsim.end_cleanly()
    contestants = bench.introduce(bench.programs(args), ('-s', str(args.interval)))
    samples = {}
    for _ in range(args.runs):
        for name in args.faults:
            for contestant in contestants:
                run(contestant, FAULTS[name], args, samples)
    print_table(contestants, args, samples)
    return 0


if __name__ == '__main__':
    sys.exit(main())
