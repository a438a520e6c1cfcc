#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Runs many seeds of faults over all kinds of fabrics, several at a time.

usage: soak.py [-j JOBS] [FIRST [COUNT]]

Seed N decides everything: fabric, loss, whether faults stay. A seed that fails is printed with the
command that repeats it and the end of its log; the others continue. An interrupted run is resumed
with the FIRST that it printed last. Ends with 'N passed, N failed'."""

import argparse
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

FABRICS = ('fattree:4', 'fattree:8', 'torus:3x3x3:1', 'random:10:4:2:3',
           '{top}/tests/scenario/dual_port.topo', 'torus:4x4:2', 'random:16:5:2:7',
           '{top}/tests/scenario/dual_plane.topo', '{top}/tests/scenario/one_switch.topo',
           '{top}/tests/scenario/own_loop_2.topo', '{top}/tests/scenario/own_loops.topo')
LOSSES = (0, 0.01, 0, 0.05, 0, 0.02, 0.1)
BRIEF_EVERY = 5  # one of this many seeds runs the faults that end by themselves
LANES_EVERY = 3  # one of this many seeds is routed by an engine that uses virtual lanes
OPTIONS_EVERY = 2  # one of this many seeds has random options
TIMEOUT_S = 600
CHUNK = 100
TAIL_LINES = 4


def command_of(seed, top_srcdir):
    spec = FABRICS[seed % len(FABRICS)].format(top=top_srcdir)
    lasting = seed % BRIEF_EVERY != 0
    loss = LOSSES[seed % len(LOSSES)]
    program = os.path.join(os.environ.get('top_builddir', '.'), 'tests/scenario/seeds')
    flags = (['--lasting'] * lasting + ['--lanes'] * (seed % LANES_EVERY == 0) +
             ['--options'] * (seed % OPTIONS_EVERY == 0))
    return [program, *flags, str(seed), '1', spec, str(loss)]


def run_seed(seed, top_srcdir):
    """What went wrong, or None."""
    command = command_of(seed, top_srcdir)
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        return f'FAILED seed {seed}: not done in {TIMEOUT_S} s\n    again: {" ".join(command)}'
    if done.returncode == 0:
        return None
    tail = done.stdout.decode(errors='replace').splitlines()[-TAIL_LINES:]
    return '\n'.join([f'FAILED seed {seed} (status {done.returncode})',
                      f'    again: {" ".join(command)}', *('    ' + line for line in tail)])


def main():
    parser = argparse.ArgumentParser(description='Runs many seeds of faults.')
    parser.add_argument('-j', '--jobs', type=int, default=os.cpu_count() or 1)
    parser.add_argument('first', nargs='?', type=int, default=1)
    parser.add_argument('count', nargs='?', type=int, default=20000)
    arguments = parser.parse_args()
    top_srcdir = os.environ.get('top_srcdir', '.')
    end = arguments.first + arguments.count
    passed = failed = 0
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for chunk in range(arguments.first, end, CHUNK):
            seeds = range(chunk, min(chunk + CHUNK, end))
            for wrong in pool.map(lambda seed: run_seed(seed, top_srcdir), seeds):
                if wrong:
                    failed += 1
                    print(wrong, flush=True)
                else:
                    passed += 1
            print(f'seeds {seeds[0]} to {seeds[-1]} done; {passed} passed, {failed} failed so far',
                  flush=True)
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
