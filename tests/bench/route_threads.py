#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What more threads do for the routing engines and the verifier: seconds by the clock and of the
processors, and whether tables and lanes are equal, byte by byte.

Rounds take turns between numbers of threads (and between two builds, with --before), so that a
disturbance of the machine affects all; of each figure the least of all rounds counts."""

import argparse
import os
import sys
import tempfile

sys.dont_write_bytecode = True

import lab  # noqa: E402 (after the switch above: the source tree may be read-only)
import route_nets  # noqa: E402
from bench import machine, tell, words  # noqa: E402
from route_table import UNJUDGED, osmroute  # noqa: E402

NETS = ('fattree:16', 'fattree:16-5%', 'fattree:32', 'fattree:32-5%', 'torus:8x8x8:4',
        'dragonfly:12:6:6', 'slimfly:13:9')
ENGINES = ('minhop', 'updn', 'ftree', 'sssp', 'dfsssp', 'lash', 'nue', 'hoplanes')
THREADS = ('1', '2', '4')
PARTS = (('engine', 'engine_cost'), ('verifier', 'verify_cost'))
FIGURES = ('seconds_least', 'seconds_caller', 'seconds_all')
EXPLANATION = (
    's: seconds by the clock, but of the processor on one thread: on a busy machine threads then '
    'seem to lose; lead: processor seconds of the leading thread, which takes its share '
    'of what all do and does alone what one does alone: close to what the clock says on an idle '
    'machine; all: processor seconds of all threads; x: of one thread / with these. Each the least '
    'of all rounds.',
    'bytes: whether tables and lanes are equal for any number of threads (and as before).',
)


class Figures:
    """Of an engine on a net, by build and number of threads."""

    def __init__(self):
        self.least, self.digests, self.refused = {}, {}, None

    def add(self, build, threads, judgement):
        self.refused = self.refused or judgement.get('refused')
        if 'refused' in judgement:
            return
        self.digests.setdefault(build, set()).add(judgement['digest'])
        for part, cost in PARTS:
            for figure in FIGURES:
                key, value = (build, threads, part, figure), judgement[cost][figure]
                self.least[key] = min(value, self.least.get(key, value))

    def cells(self, build, part, args):
        """For each number of threads: the clock, the leading thread, all; with their gains."""
        first = args.threads[0]
        for threads in args.threads:
            clock, lead, all_threads = (self.least[build, threads, part, figure]
                                        for figure in FIGURES)
            if threads == first:
                yield f'{clock:.5f}'
                continue
            yield from (f'{value:.5f} ({self.least[build, first, part, figure] / value:.2f}x)'
                        for figure, value in zip(FIGURES, (clock, lead)))
            yield f'{all_threads:.5f}'

    def bytes(self, build, is_last):
        if len(self.digests[build]) > 1:
            return '**differ**'
        both = set().union(*self.digests.values())
        return 'same' if len(both) == 1 or not is_last else 'same, not as before'


def measure(args, builds, topology, engine):
    figures = Figures()
    for _ in range(args.rounds):
        for threads in args.threads:
            for name, program in builds:
                args.osmroute = program
                figures.add(name, threads,
                            osmroute(args, topology, engine, '--repeats', str(args.repeats), '-t',
                                     threads, *UNJUDGED))
                if figures.refused:
                    return figures
    return figures


def rows(args, builds, net):
    """Rows of a net."""
    with tempfile.NamedTemporaryFile('w', prefix='opensm-threads.') as topology:
        topology.write(route_nets.Net(net).text)
        topology.flush()
        for engine in args.engines:
            figures = measure(args, builds, topology.name, engine)
            if figures.refused:
                tell(f'{net}, {engine}: {figures.refused}')
                continue
            for build, _ in builds:
                for part, _ in PARTS:
                    name = part if len(builds) == 1 else f'{part}, {build}'
                    yield (net, engine, name, *figures.cells(build, part, args),
                           figures.bytes(build, build == builds[-1][0]))


def headings(args):
    columns = (f'{title} {threads}' for threads in args.threads[1:]
               for title in ('s', 'lead', 'all'))
    return ('net', 'engine', 'of', f's {args.threads[0]}', *columns, 'bytes')


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--nets', type=words, default=NETS, metavar='SPEC,SPEC-5%%')
    parser.add_argument('--engines', type=words, default=ENGINES, metavar='NAMES')
    parser.add_argument('--threads', type=words, default=THREADS, metavar='N,N',
                        help='the first is compared with (default 1,2,4)')
    parser.add_argument('--rounds', type=int, default=3, help='of all builds (default 3)')
    parser.add_argument('--repeats', type=int, default=3, help='within osmroute (default 3)')
    parser.add_argument('--deadline', type=float, default=600, metavar='SECONDS',
                        help='of one engine (default 600)')
    parser.add_argument('--osmroute', default=lab.built('opensm/osmroute/osmroute'))
    parser.add_argument('--before', metavar='FILE', help='osmroute of another build')
    return parser.parse_args()


def main():
    args = arguments()
    builds = [('before', args.before)] if args.before else []
    builds.append(('ours', args.osmroute))
    for name, value in machine([]).items():
        print(f'{name}: {value}  ')
    print('\n| ' + ' | '.join(headings(args)) + ' |\n|' + '---|' * len(headings(args)))
    differ = False
    for net in args.nets:
        for row in rows(args, builds, net):
            differ |= row[-1] == '**differ**'
            print('| ' + ' | '.join(row) + ' |', flush=True)
    print('')
    for line in EXPLANATION:
        print(f'* {line}')
    over = [threads for threads in args.threads if int(threads) > os.cpu_count()]
    if over:
        print(f'* This machine has {os.cpu_count()} processors: {", ".join(over)} threads show '
              'overhead.')
    return differ


if __name__ == '__main__':
    sys.exit(main())
