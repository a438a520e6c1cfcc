#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Where the time of a cold start goes: processor time, context switches and system calls, by thread
and per MAD; ours beside the peer, on ibsim and on osmsim.

The threads' figures come from /proc when the subnet is up. System calls are counted by strace in
a run of their own (--strace), as it slows the daemon down; those of a preloaded simulator count,
too."""

import argparse
import os
import re
import statistics
import subprocess
import sys

sys.dont_write_bytecode = True

import bench  # noqa: E402 (after the switch above: the source tree may be read-only)
import lab  # noqa: E402

PER_MAD = ('us', 'voluntary', 'forced')
CALLS = ('futex', 'poll', 'ppoll', 'read', 'recvfrom', 'recvmsg', 'write', 'sendto', 'sendmsg',
         'sched_yield', 'clock_nanosleep')


def threads(pid):
    """{name: (CPU in seconds, voluntary switches, forced ones)}; threads of one name are added."""
    found = {}
    for task in os.listdir(f'/proc/{pid}/task'):
        folder = f'/proc/{pid}/task/{task}'
        with open(f'{folder}/comm') as file:
            name = file.read().strip()
        with open(f'{folder}/schedstat') as file:
            seconds = int(file.read().split()[0]) / 1e9
        with open(f'{folder}/status') as file:
            switches = [int(line.split()[1]) for line in file if 'ctxt_switches' in line]
        now = (seconds, *switches)
        found[name] = tuple(map(sum, zip(found.get(name, (0, 0, 0)), now)))
    return found


def cold_start(net, simulator, program, flags, args):
    with lab.SIMULATORS[simulator](net) as fabric:
        daemon = lab.Daemon(fabric, program, flags, args.deadline, args.quiet)
        daemon.start()
        daemon.wait(daemon.is_up, 'SUBNET UP')
        up_s, found, mads = daemon.ups[0] - daemon.began, threads(daemon.child.pid), \
            daemon.counts.read()['mads']
        return up_s, mads, found


def count_calls(net, simulator, program, flags, args):
    """{system call: calls}, from the start to SUBNET UP and SIGTERM."""
    with lab.SIMULATORS[simulator](net) as fabric:
        out = fabric.path('strace')
        wrapper = fabric.path('traced')
        with open(wrapper, 'w') as file:  # only the daemon needs the preloaded libraries
            file.write(f'#!/bin/sh\nexec strace -f -c -o {out} -E LD_PRELOAD="$LD_PRELOAD_TRACED" '
                       f'{program} "$@"\n')
        os.chmod(wrapper, 0o755)
        plain = fabric.preloaded

        def preloaded(node, *before):
            env = plain(node, *before)
            env['LD_PRELOAD_TRACED'] = env.pop('LD_PRELOAD')
            return env
        fabric.preloaded = preloaded
        daemon = lab.Daemon(fabric, wrapper, flags, args.deadline, args.quiet)
        daemon.start()
        daemon.wait(daemon.is_up, 'SUBNET UP')
        mads = daemon.counts.read()['mads']
        children = f'/proc/{daemon.child.pid}/task/{daemon.child.pid}/children'
        with open(children) as file:
            traced = [int(pid) for pid in file.read().split()]
        for pid in traced:
            os.kill(pid, 15)
        daemon.child.wait(args.deadline)
        counts = {}
        for line in fabric.read('strace').splitlines():
            if match := re.match(r'\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?(\w+)$', line):
                counts[match[2]] = int(match[1])
        return mads, counts


def show(simulator, name, samples):
    ups = [up for up, _, _ in samples]
    mads = statistics.median(mads for _, mads, _ in samples)
    print(f'\n{simulator}, {name}: up in {statistics.median(ups):.3f} s '
          f'({min(ups):.3f}-{max(ups):.3f}), {mads:.0f} MADs')
    print(f'  {"thread":<16}{"CPU s":>8}{"us a MAD":>10}{"waits a MAD":>13}{"forced a MAD":>14}')
    names = sorted({name for _, _, found in samples for name in found})
    rows = []
    for thread in names:
        rows.append((thread, *(statistics.median(found.get(thread, (0, 0, 0))[i]
                                                 for _, _, found in samples) for i in range(3))))
    rows.sort(key=lambda row: -row[1])
    rows.append(('all', *(sum(row[i] for row in rows) for i in (1, 2, 3))))
    for thread, seconds, waits, forced in rows:
        if seconds > 0.001 or waits > mads / 1000:
            print(f'  {thread:<16}{seconds:>8.3f}{seconds * 1e6 / mads:>10.2f}{waits / mads:>13.3f}'
                  f'{forced / mads:>14.3f}')


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--net', default='fattree:16', metavar='SPEC')
    parser.add_argument('--simulators', type=bench.words, default=list(lab.SIMULATORS))
    parser.add_argument('--runs', type=int, default=5)
    parser.add_argument('--deadline', type=float, default=300)
    parser.add_argument('--quiet', type=float, default=1.5)
    parser.add_argument('--strace', action='store_true', help='count system calls, too')
    bench.add_programs(parser)
    args = parser.parse_args()
    contestants = bench.introduce(bench.programs(args), ())
    contestants = [(name, program, ('-n', '64') if name == 'opensm' else flags)
                   for name, program, flags in contestants]
    net = lab.Net(args.net)
    for simulator in bench.usable(args.simulators):
        samples = {name: [] for name, _, _ in contestants}
        for _ in range(args.runs):
            for name, program, flags in contestants:
                samples[name].append(cold_start(net, simulator, program, flags, args))
        for name, _, _ in contestants:
            show(simulator, name, samples[name])
        for name, program, flags in contestants if args.strace else ():
            mads, counts = count_calls(net, simulator, program, flags, args)
            print(f'\n{simulator}, {name}, traced: calls a MAD ({mads} MADs): ' +
                  ', '.join(f'{call} {counts[call] / mads:.2f}' for call in CALLS
                            if counts.get(call, 0) > mads / 100))
    return 0


if __name__ == '__main__':
    sys.exit(main())
