#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""How long a cold start takes if MADs get lost, ours beside Debian's opensm, on ibsim: it drops
MADs at the nodes themselves, requests as well as forwarded ones."""

import argparse
import statistics
import subprocess
import sys
import time

sys.dont_write_bytecode = True

import bench  # noqa: E402 (after the switch above: the source tree may be read-only)
import lab  # noqa: E402

ibsim = lab.ibsim
WHERE = ('hosts', 'everywhere')


def start(net, where, percent, contestant, args):
    """Seconds from the start of the process to SUBNET UP, or None."""
    name, program, flags = contestant
    try:
        with lab.Ibsim(net) as fabric:
            daemon = lab.Daemon(fabric, program, flags, args.deadline, 1)
            nodes = net.hosts + (net.switches if where == 'everywhere' else [])
            for node in nodes:
                if node != daemon.host:
                    fabric.console(f'Error "{node}" {percent}')
            daemon.start()
            daemon.wait(daemon.is_up, 'SUBNET UP')
            return daemon.ups[0] - daemon.began
    except (lab.Failure, OSError, subprocess.SubprocessError) as why:
        bench.tell(f'{name}, {percent} % at {where}: {why}')
        return None


def cell(values):
    good = [value for value in values if value is not None]
    if not good:
        return 'never'
    text = f'{statistics.median(good):.2f} ({max(good):.2f})'
    return text if len(good) == len(values) else f'{text} {len(values) - len(good)}!'


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--net', default='fattree:8', metavar='SPEC')
    parser.add_argument('--percent', type=bench.words, default=['1', '5', '10', '30'],
                        metavar='P,P', help='lost at each node (default 1,5,10,30)')
    parser.add_argument('--where', type=bench.words, default=list(WHERE), metavar='NAMES',
                        help=f'default {",".join(WHERE)}')
    parser.add_argument('--runs', type=int, default=3)
    parser.add_argument('--deadline', type=float, default=60, metavar='SECONDS')
    bench.add_programs(parser)
    args = parser.parse_args()
    if set(args.where) - set(WHERE):
        parser.error(f'no place {", ".join(set(args.where) - set(WHERE))}')
    return args


def main():
    args = arguments()
    ibsim.end_cleanly()
    why = lab.Ibsim.missing()
    if why:
        sys.exit(f'loss.py: {why}')
    contestants = bench.introduce(bench.programs(args), ())
    net = lab.Net(args.net)
    print(f'\n{args.net + ", seconds to SUBNET UP":<36}' +
          ''.join(f'{name:>20}' for name, _, _ in contestants))
    for where in args.where:
        for percent in args.percent:
            times = {contestant[0]: [] for contestant in contestants}
            for _ in range(args.runs):
                for contestant in contestants:
                    if times[contestant[0]] != [None]:  # once is enough to see that it is never up
                        times[contestant[0]].append(start(net, where, percent, contestant, args))
            print(f'{percent + " % at " + where:<36}' +
                  ''.join(f'{cell(values):>20}' for values in times.values()), flush=True)
    print(f'\nMedian and (worst) of {args.runs} runs; never: not in {args.deadline:g} s;'
          ' N!: so many runs without a figure.\n'
          f'ended {time.strftime("%Y-%m-%d %H:%M:%S %z")}')


if __name__ == '__main__':
    main()
