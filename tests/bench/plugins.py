#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What plug-ins that misbehave cost others: heavy sweeps and PathRecords of a daemon without a
plug-in, and with one that never returns from its first event, that floods the daemon with requests,
or that crashes again and again. On osmsim, in real time; medians of several runs in turn."""

import argparse
import re
import statistics
import subprocess
import sys
import time

sys.dont_write_bytecode = True

import bench  # noqa: E402 (after the switch above: the source tree may be read-only)
import lab  # noqa: E402

ODD = lab.built('tests/plugin/odd.so')
SWEEP = re.compile(r'heavy sweep: ([0-9.]+) ms, 0 errors')
KINDS = (('none', None, False), ('blocks', 'slow-event 1000000000', False),
         ('floods', 'flood 2', False), ('floods, own process', 'flood 2', True),
         ('crashes', 'crash 16', True))
ROWS = (('sweep_ms', 'heavy sweep, ms'), ('p50_us', 'PathRecord p50, us'),
        ('p99_us', 'PathRecord p99, us'), ('rate', 'PathRecords per second'))


class Daemon(lab.Daemon):
    def __init__(self, fabric, args, options, process):
        super().__init__(fabric, args.opensm, (), 120, 1)
        if options:
            self.conf += (f'event_plugin_name {ODD}\nevent_plugin_options "{options}"\n'
                          f'event_plugin_process {"TRUE" if process else "FALSE"}\n')

    def sweeps(self):
        """Of each sweep so far, ms."""
        with open(self.log, errors='replace') as file:
            return [float(ms) for ms in SWEEP.findall(file.read())]

    def sweep(self):
        n = len(self.sweeps())
        self.begin()
        self.command('resweep heavy')
        self.wait(lambda: len(self.sweeps()) > n, 'a heavy sweep')
        return self.sweeps()[-1]


def measure(daemon, args):
    daemon.start()
    daemon.wait(daemon.is_up, 'SUBNET UP')
    time.sleep(1)  # the plug-in has begun what it does
    sweeps = [daemon.sweep() for _ in range(args.sweeps)]
    daemon.begin()
    paths = lab.Client(daemon, 'paths', args.seconds, 4).result()
    daemon.stop()
    return {'sweep_ms': statistics.median(sweeps), 'p50_us': paths['p50_us'],
            'p99_us': paths['p99_us'], 'rate': paths['answers'] / paths['seconds']}


def run(kind, args):
    _, options, process = kind
    try:
        with lab.Osmsim(lab.Net(args.net)) as fabric:
            return measure(Daemon(fabric, args, options, process), args)
    except (lab.Failure, OSError, subprocess.SubprocessError, ValueError) as why:
        bench.tell(f'{kind[0]}: {why}')
        return {}


def show(results):
    names = [name for name, _, _ in KINDS]
    print(f'{"":24}' + ''.join(f'{name:>21}' for name in names))
    for key, title in ROWS:
        medians = [statistics.median(values) if (values := [
            row[key] for row in results[name] if key in row]) else None for name in names]
        cells = ['-' if median is None or not medians[0] else
                 f'{median:.1f} ({median / medians[0]:.2f})' for median in medians]
        print(f'{title:24}' + ''.join(f'{cell:>21}' for cell in cells))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--net', default='fattree:8', metavar='SPEC')
    parser.add_argument('--runs', type=int, default=5)
    parser.add_argument('--sweeps', type=int, default=5, help='in a run')
    parser.add_argument('--seconds', type=float, default=2, help='of PathRecords in a run')
    parser.add_argument('--opensm', default=lab.built('opensm/opensm'))
    args = parser.parse_args()
    lab.ibsim.end_cleanly()
    results = {name: [] for name, _, _ in KINDS}
    for _ in range(args.runs):
        for kind in KINDS:
            results[kind[0]].append(run(kind, args))
    print(f'{args.net}: medians of {args.runs} runs (and how many times that without a plug-in)')
    show(results)
    return 0 if all(all(rows) for rows in results.values()) else 1


if __name__ == '__main__':
    sys.exit(main())
