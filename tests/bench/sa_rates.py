#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""One table of what the SA answers: rates, latencies and what an answer costs the daemon, ours
beside Debian's opensm, on ibsim and on osmsim. The clients of all contestants run one after
another, so that a disturbance of the machine affects all; each figure is the median of the runs."""

import argparse
import statistics
import subprocess
import sys

sys.dont_write_bytecode = True

import bench  # noqa: E402 (after the switch above: the source tree may be read-only)
import lab  # noqa: E402

# kind of sa_client, title, requests outstanding; tables need RMPP.
# ibsim hangs when both ends of its sockets are full, from about 128 requests on.
IBSIM_MOST = 100
HOST_MOST = 128
KINDS = (('paths', 'PathRecord by GID', (1, 16, 64, 512)),
         ('paths-lid', 'PathRecord by LID', (1, 16, 64, 512)),
         ('members', 'join, leave', (1, 64)))
TABLES = (('node', 'table of one node', (1, 16)), ('nodes', 'table of all nodes', (1, 2)),
          ('all-paths', 'table of all paths of a port', (1, 2)))
FIGURES = (('rate', 'answers a second'), ('cpu', '  CPU, us an answer'), ('p50', '  p50, ms'),
           ('p99', '  p99, ms'))


def measure(daemon, kind, outstanding, args):
    """Of one client; of several on separate hosts if one may not have that many requests
    outstanding."""
    n = -(-outstanding // HOST_MOST)
    clients = [lab.Client(daemon, kind, args.seconds, outstanding // n, -1 - i) for i in range(n)]
    cpu = daemon.cpu_seconds()
    results = [client.result() for client in clients]
    cpu = daemon.cpu_seconds() - cpu
    answers = sum(result['answers'] for result in results)
    return {'rate': sum(result['answers'] / result['seconds'] for result in results),
            'cpu': cpu * 1e6 / answers,
            'p50': statistics.median(result['p50_us'] for result in results) / 1e3,
            'p99': max(result['p99_us'] for result in results) / 1e3}


class Contestant:
    """A daemon on a fabric of its own, and the samples of each question."""

    def __init__(self, contestant, fabric, args):
        self.name, program, flags = contestant
        self.samples = {}
        self.daemon = lab.Daemon(fabric, program, flags, args.deadline, 1)
        self.daemon.start()
        self.daemon.settle()

    def ask(self, kind, outstanding, args):
        try:
            figures = measure(self.daemon, kind, outstanding, args)
        except (lab.Failure, OSError, subprocess.SubprocessError, ValueError) as why:
            bench.tell(f'{self.name}, {kind}, {outstanding} outstanding: {why}')
            return
        for key, value in figures.items():
            self.samples.setdefault(key, []).append(value)

    def medians(self):
        medians = {key: statistics.median(values) for key, values in self.samples.items()}
        self.samples = {}
        return medians


def compare(simulator, contestants, args):
    net = lab.Net(args.net)
    fabrics = []
    try:
        for contestant in contestants:
            fabrics.append(lab.SIMULATORS[simulator](net))
            fabrics[-1].__enter__()
        running = [Contestant(contestant, fabric, args)
                   for contestant, fabric in zip(contestants, fabrics)]
        for kind, title, windows in KINDS + (TABLES if fabrics[0].has_rmpp else ()):
            for outstanding in windows if kind in args.kinds else ():
                if simulator == 'ibsim' and outstanding > IBSIM_MOST:
                    continue
                for _ in range(args.runs):
                    for one in running:
                        one.ask(kind, outstanding, args)
                bench.print_columns(f'{simulator}: {title}, {outstanding} outstanding',
                                    contestants, FIGURES, [one.medians() for one in running])
    finally:
        for fabric in fabrics:
            fabric.__exit__(None, None, None)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--net', default='fattree:8', metavar='SPEC')
    parser.add_argument('--simulators', type=bench.words, default=list(lab.SIMULATORS))
    parser.add_argument('--kinds', type=bench.words, metavar='KIND,KIND',
                        default=[kind for kind, _, _ in KINDS + TABLES])
    parser.add_argument('--runs', type=int, default=3, help='of each question (default 3)')
    parser.add_argument('--seconds', type=float, default=2, help='of a run (default 2)')
    parser.add_argument('--deadline', type=float, default=60)
    bench.add_programs(parser)
    return parser.parse_args()


def main():
    args = arguments()
    lab.ibsim.end_cleanly()
    contestants = bench.introduce(bench.programs(args), ())
    for simulator in bench.usable(args.simulators):
        compare(simulator, contestants, args)


if __name__ == '__main__':
    main()
