#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""One table of what the performance manager costs: ours beside Debian's opensm, on osmsim and on
ibsim.

Each contestant runs once without it and once with it, each time on a fabric of its own, and all
again in the next run. The console orders the sweeps of counters that are measured. PathRecords and
repairs of a cable are measured without the manager, and while it begins a sweep each second."""

import argparse
import statistics
import subprocess
import sys
import time

sys.dont_write_bytecode = True

import bench  # noqa: E402 (after the switch above: the source tree may be read-only)
import lab  # noqa: E402

PROMPT = 'OpenSM $ '
PERIOD_DEFAULT_S = 180
SWEEPS = 10  # as many as images are kept
NOISY = 0.01  # of the cables
NOISE = 2  # symbol errors a second
IBSIM_MOST = 64  # from about twice as many requests on ibsim hangs
OUTSTANDING = 4  # so that the cores are not busy with PathRecords alone
ROWS = (('first_s', 'first counters after, s'),
        ('sweep_s', 'a sweep, s'), ('sweep_mads', '  MADs'),
        ('port_mads', '  MADs a port with a link'), ('sweep_cpu', '  CPU, s'),
        ('mad_us', '  CPU a MAD, us'), ('simulator_cpu', '  CPU of the simulator, s'),
        ('port_octets', 'memory that it adds a port, octets'),
        ('image_octets', '  of an image more, a port'),
        ('noisy_begin', '1 % noisy: lines of the first sweeps'),
        ('noisy_lines', '  lines a sweep after that'), ('noisy_day', '  lines a day, extrapolated'),
        ('off_p50', 'PathRecord without it: p50, ms'), ('off_p99', '  p99, ms'),
        ('on_p50', 'swept each second: p50, ms'), ('on_p99', '  p99, ms'),
        ('off_rate', 'PathRecords a second without it'), ('on_rate', '  swept each second'),
        ('off_lost', 'a cable lost, repaired without it, s'), ('on_lost', '  swept each second'),
        ('off_back', 'a cable back, used without it, s'), ('on_back', '  swept each second'))


class Daemon(lab.Daemon):
    """With a console that is asked."""

    def __init__(self, fabric, contestant, args, period):
        _, program, flags = contestant
        super().__init__(fabric, program, flags, args.deadline, 1)
        if period:
            self.conf += f'perfmgr TRUE\nperfmgr_sweep_time_s {period}\n'
        if fabric.name == 'ibsim':
            self.conf += f'perfmgr_max_outstanding_queries {IBSIM_MOST}\n'

    def ask(self, line):
        before = self.lab.read('osm.out').count(PROMPT)
        self.command(line)
        self.wait(lambda: self.lab.read('osm.out').count(PROMPT) > before, f'"{line}"')
        return self.lab.read('osm.out').split(PROMPT)[before]

    def counts_host(self, host):
        """Whether the console knows counters of that host."""
        return f'"{host}"' in self.ask(f'perfmgr print_counters {host}')

    def is_idle(self):
        last = self.counts.read()['perf_last_ns']
        return last and time.time_ns() - last > 1e9 * self.quiet

    def sweep(self):
        """Figures of a sweep of counters, up to the last answer."""
        self.counts.clear()
        self.began = time.time()
        own, simulators = self.cpu_seconds(), self.lab.cpu_seconds()
        self.command('perfmgr sweep')
        self.wait(self.is_idle, 'a sweep of counters')
        counts = self.counts.read()
        own, simulators = self.cpu_seconds() - own, self.lab.cpu_seconds() - simulators
        return {'sweep_s': counts['perf_last_ns'] / 1e9 - self.began, 'sweep_mads': counts['perf'],
                'sweep_cpu': own, 'mad_us': own * 1e6 / counts['perf'],
                'simulator_cpu': simulators}

    def lines(self):
        with open(self.log, errors='replace') as file:
            return sum(1 for _ in file)


def links(net):
    return len(net.hosts) + len(net.cables) // 2  # a cable between switches is there twice


def make_noise(net, fabric):
    count = max(1, round(NOISY * links(net)))
    fabric.console('\n'.join(
        f'sim errors "{net.descriptions[node]}" {port} SymbolErrorCounter {NOISE}'
        for node, port in net.cables[::len(net.cables) // count][:count]))


def paths(daemon, args, prefix):
    if not args.seconds:
        return {}
    client = lab.Client(daemon, 'paths', args.seconds, OUTSTANDING)
    daemon.began = time.time()
    result = client.result()
    return {f'{prefix}_p50': result['p50_us'] / 1e3, f'{prefix}_p99': result['p99_us'] / 1e3,
            f'{prefix}_rate': result['answers'] / result['seconds']}


def repair(daemon, change):
    daemon.begin()
    change()
    daemon.wait(lambda: daemon.counts.read()['trap_ns'], 'a trap')
    counts = daemon.settle()
    return daemon.ups[-1] - counts['trap_ns'] / 1e9


def repairs(daemon, args, prefix):
    samples = [(repair(daemon, daemon.lab.cut), repair(daemon, daemon.lab.mend))
               for _ in range(args.repairs)]
    return {f'{prefix}_lost': statistics.median(lost for lost, _ in samples),
            f'{prefix}_back': statistics.median(back for _, back in samples)}


def come_up(daemon):
    daemon.start()
    daemon.wait(daemon.is_up, 'SUBNET UP')
    daemon.calm_down(daemon.counts.read()['pause_ns'] / 1e9)
    daemon.began = time.time()


def without(fabric, contestant, args):
    daemon = Daemon(fabric, contestant, args, 0)
    come_up(daemon)
    figures = {'off_mb': daemon.megabytes('VmRSS')}
    figures.update(paths(daemon, args, 'off'))
    figures.update(repairs(daemon, args, 'off'))
    return figures


def first_counters(daemon):
    host = daemon.lab.net.descriptions[daemon.lab.net.hosts[-1]]
    daemon.start()
    began = daemon.began
    daemon.wait(daemon.is_up, 'SUBNET UP')
    daemon.wait(lambda: daemon.counts_host(host), 'the first counters')
    return time.time() - began


def sweeps(daemon, net):
    daemon.ask('perfmgr sweep_time 65000')
    daemon.wait(daemon.is_idle, 'the end of a sweep')
    daemon.sweep()  # capabilities are known after that
    few = daemon.megabytes('VmRSS')
    samples = [daemon.sweep() for _ in range(SWEEPS - 2)]
    many = daemon.megabytes('VmRSS')
    figures = {key: statistics.median(sample[key] for sample in samples) for key in samples[0]}
    ports = 2 * links(net)
    figures['port_mads'] = figures['sweep_mads'] / ports
    figures['image_octets'] = (many - few) * 2**20 / (SWEEPS - 2) / ports
    figures['on_mb'] = many
    return figures


def noise(daemon, net):
    """Log lines while counters of errors of some ports grow."""
    make_noise(net, daemon.lab)
    numbers = [daemon.lines()]
    for _ in range(SWEEPS):
        daemon.sweep()
        numbers.append(daemon.lines())
    lines = (numbers[-1] - numbers[SWEEPS // 2]) / (SWEEPS - SWEEPS // 2)
    daemon.lab.console('sim errors clear')
    return {'noisy_begin': numbers[SWEEPS // 2] - numbers[0], 'noisy_lines': lines,
            'noisy_day': lines * 86400 / PERIOD_DEFAULT_S}


def within(fabric, contestant, args):
    daemon, net = Daemon(fabric, contestant, args, args.period), fabric.net
    figures = {'first_s': first_counters(daemon)}
    daemon.calm_down(daemon.counts.read()['pause_ns'] / 1e9)
    figures.update(sweeps(daemon, net))
    if fabric.name == 'osmsim':
        figures.update(noise(daemon, net))
    daemon.ask('perfmgr sweep_time 1')
    figures.update(paths(daemon, args, 'on'))
    figures.update(repairs(daemon, args, 'on'))
    return figures


def run(simulator, net, contestant, args):
    figures = {}
    for part in (without, within):
        began = time.monotonic()
        try:
            with lab.SIMULATORS[simulator](net) as fabric:
                figures.update(part(fabric, contestant, args))
        except (lab.Failure, OSError, subprocess.SubprocessError, ValueError) as why:
            bench.tell(f'{net.spec} on {simulator}, {contestant[0]}, {part.__name__}: {why}')
        bench.tell(f'{net.spec} on {simulator}: {contestant[0]} {part.__name__} it took '
                   f'{time.monotonic() - began:.1f} s')
    if 'on_mb' in figures and 'off_mb' in figures:
        figures['port_octets'] = (figures['on_mb'] - figures['off_mb']) * 2**20 / (2 * links(net))
    return figures


def measure(simulator, net, contestants, args):
    samples = [{} for _ in contestants]
    for _ in range(args.runs):
        for contestant, its in zip(contestants, samples):
            for key, value in run(simulator, net, contestant, args).items():
                its.setdefault(key, []).append(value)
    medians = [{key: statistics.median(values) for key, values in its.items()} for its in samples]
    bench.print_columns(f'{net.spec} on {simulator}, {2 * links(net)} ports', contestants, ROWS,
                        medians)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--sizes', type=bench.words, default=['16', '32'], metavar='K,K',
                        help='fat trees of K-port switches (default 16,32)')
    parser.add_argument('--simulators', type=bench.words, default=['osmsim', 'ibsim'])
    parser.add_argument('--runs', type=int, default=3, help='of each contestant (default 3)')
    parser.add_argument('--period', type=int, default=10, metavar='SECONDS',
                        help='perfmgr_sweep_time_s until the first counters (default 10)')
    parser.add_argument('--seconds', type=float, default=5,
                        help='of PathRecords (default 5); 0: leaves them out')
    parser.add_argument('--repairs', type=int, default=3, help='of a cable (default 3)')
    parser.add_argument('--deadline', type=float, default=300, metavar='SECONDS',
                        help='of each step (default 300)')
    bench.add_programs(parser)
    return parser.parse_args()


def main():
    args = arguments()
    lab.ibsim.end_cleanly()
    contestants = bench.introduce(bench.programs(args), ())
    for size in args.sizes:
        net = lab.Net(f'fattree:{size}')
        for simulator in bench.usable(args.simulators):
            measure(simulator, net, contestants, args)
    return 0


if __name__ == '__main__':
    sys.exit(main())
