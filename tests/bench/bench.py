#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Bring-up from cold to SUBNET UP: ours and the classic daemon, run by run in turn, medians.

On ibsim a preloaded library counts the MADs that a daemon hands to libibumad, the same way for
all. Seconds count from the start of the process to the milestone in its log; memory is VmHWM then.
Ratios are to the first row of a size. --sim rows are ours alone on its own simulated fabric, whose
memory they include."""

import argparse
import os
import statistics
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'interop'))

import ibsim  # noqa: E402 (found through the path above)

COUNTERS = ('mads', 'gets', 'sets', 'directed', 'hops')
HEADER = (f'{"fabric":<16}{"daemon":<18}{"MADs":>9}{"hops/DR":>9}{"seconds":>9}{"ratio":>7}'
          f'{"RSS MB":>8}{"ratio":>7}  runs')


class Sample:
    def __init__(self, seconds, megabytes, counts):
        self.seconds, self.megabytes, self.counts = seconds, megabytes, counts


def build_counter(directory):
    library = os.path.join(directory, 'count_mads.so')
    cc = os.environ.get('CC', 'cc').split()
    subprocess.run(cc + ['-O2', '-shared', '-fPIC', '-o', library,
                         os.path.join(HERE, 'count_mads.c'), '-libumad', '-ldl'], check=True)
    return library


def peak_megabytes(child):
    with open(f'/proc/{child.pid}/status') as file:
        for line in file:
            if line.startswith('VmHWM:'):
                return int(line.split()[1]) / 1024
    raise ibsim.Failure('no VmHWM: the daemon ended')


def measure(fabric, child, started, seconds, log):
    fabric.wait(lambda: 'SUBNET UP' in fabric.read(log), seconds, 'SUBNET UP', alive=child)
    elapsed = time.monotonic() - started
    return elapsed, peak_megabytes(child)


def run_on_ibsim(net, daemon, flags, counter, seconds):
    with ibsim.Fabric(net) as fabric:
        host = fabric.hosts()[0]
        counts = fabric.path('counts')
        fabric.env['COUNT_MADS_FILE'] = counts
        preload = ibsim.PRELOAD[0]
        try:
            ibsim.PRELOAD[0] = f'{counter}:{preload}'
            started = time.monotonic()
            child = fabric.start_opensm(daemon, host, *flags)
        finally:
            ibsim.PRELOAD[0] = preload
        elapsed, megabytes = measure(fabric, child, started, seconds, 'osm.log')
        with open(counts, 'rb') as file:
            values = struct.unpack('5Q', file.read(40))
        fabric.stop(child)
    return Sample(elapsed, megabytes, dict(zip(COUNTERS, values)))


class Alone(ibsim.Fabric):
    """A directory and processes without ibsim."""

    def start_ibsim(self):
        self.env = dict(os.environ)

    def on(self, host, **more):
        return dict(self.env, **more)


def run_alone(spec, daemon, seconds):
    with Alone('') as place:
        started = time.monotonic()
        child = place.start_opensm(daemon, None, '--sim', spec)
        elapsed, megabytes = measure(place, child, started, seconds, 'osm.log')
        place.stop(child)
    return Sample(elapsed, megabytes, None)


def median(samples, key):
    return statistics.median(key(sample) for sample in samples)


def row(fabric, name, samples, base):
    seconds = median(samples, lambda s: s.seconds)
    megabytes = median(samples, lambda s: s.megabytes)
    mads = hops = '-'
    if samples[0].counts:
        mads = f'{median(samples, lambda s: s.counts["mads"]):.0f}'
        hops = f'{median(samples, lambda s: s.counts["hops"] / max(1, s.counts["directed"])):.2f}'
    ratios = ('', '')
    if base:
        ratios = (f'{seconds / median(base, lambda s: s.seconds):.2f}',
                  f'{megabytes / median(base, lambda s: s.megabytes):.2f}')
    print(f'{fabric:<16}{name:<18}{mads:>9}{hops:>9}{seconds:>9.2f}{ratios[0]:>7}'
          f'{megabytes:>8.1f}{ratios[1]:>7}  {len(samples)}', flush=True)


def compare(size, contestants, runs, counter, seconds):
    """Every contestant once, then every one again: what disturbs the machine disturbs all."""
    net = ibsim.fat_tree(size)
    samples, failures = {}, {}
    for _ in range(runs):
        for name, daemon, flags in contestants:
            if name in failures:
                continue
            try:
                sample = run_on_ibsim(net, daemon, flags, counter, seconds)
                samples.setdefault(name, []).append(sample)
            except (ibsim.Failure, OSError) as failure:
                failures[name] = failure
    fabric = f'fat tree {size}'
    base = samples.get(contestants[0][0])
    for name, _, _ in contestants:
        if name in failures:
            print(f'{fabric:<16}{name:<18}  {failures[name]}', flush=True)
        else:
            row(fabric, name, samples[name], base)


def alone(size, daemon, runs, seconds):
    fabric = f'--sim {size}'
    try:
        samples = [run_alone(f'fattree:{size}', daemon, seconds) for _ in range(runs)]
        row(fabric, 'ours', samples, None)
    except (ibsim.Failure, OSError) as failure:
        print(f'{fabric:<16}{"ours":<18}  {failure}', flush=True)


def numbers(text):
    return [int(part) for part in text.split(',') if part]


def arguments():
    build = os.environ.get('top_builddir', '.')
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--sizes', type=numbers, default=[16, 24, 32], metavar='K,K',
                        help='fat trees on ibsim (default 16,24,32)')
    parser.add_argument('--sim-sizes', type=numbers, default=[16, 24, 32, 48], metavar='K,K',
                        help='fat trees of --sim (default 16,24,32,48)')
    parser.add_argument('--runs', type=int, default=3, help='runs of each (default 3)')
    parser.add_argument('--deadline', type=int, default=400, metavar='SECONDS',
                        help='until SUBNET UP (default 400)')
    parser.add_argument('--opensm', default=os.path.abspath(os.path.join(build, 'opensm/opensm')))
    parser.add_argument('--classic', default=ibsim.CLASSIC)
    return parser.parse_args()


def main():
    args = arguments()
    ibsim.end_cleanly()
    contestants = []
    if os.path.exists(args.classic):
        contestants = [('classic', args.classic, ()), ('classic -n 64', args.classic, ('-n', '64'))]
    contestants.append(('ours', args.opensm, ()))
    print(HEADER)
    why = ibsim.missing([])
    if why:
        print(f'no comparison: {why}')
    with tempfile.TemporaryDirectory(prefix='opensm-bench.') as directory:
        counter = None if why else build_counter(directory)
        for size in [] if why else args.sizes:
            compare(size, contestants, args.runs, counter, args.deadline)
    for size in args.sim_sizes:
        alone(size, args.opensm, args.runs, args.deadline)
    return 0


if __name__ == '__main__':
    sys.exit(main())
