#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What a change of partitions costs, ours beside Debian's opensm, on osmsim: a partition of 200
hosts is added to two others, and one host moves from one of these to the other. The file is changed
and SIGHUP sent; ours also gets the change as a request at run time, which causes no sweep."""

import argparse
import statistics
import subprocess
import sys
import time

sys.dont_write_bytecode = True

import bench  # noqa: E402 (after the switch above: the source tree may be read-only)
import lab  # noqa: E402

ROWS = [(f'{what}_{unit}', f'{title}, {unit}')
        for what, title in (('add', '200 hosts get a partition'), ('move', 'a host moves'))
        for unit in ('mads', 'sets', 'ms')]


def hosts_of(fabric):
    """Port GUIDs of the hosts, except that of the SM."""
    _, text = fabric.run_tool('ibnetdiscover', '-p')
    rows = [line.split() for line in text.splitlines()]
    guids = sorted({row[3] for row in rows if len(row) > 3 and row[0] == 'CA'})
    if len(guids) < 402:
        raise lab.Failure(f'{len(guids)} hosts, expected 402 or more')
    return guids[1:]


class Policy:
    """Three partitions; as a file, and as a request with the changes."""

    def __init__(self, guids):
        self.guids = guids
        self.members = {0x10: guids[:100], 0x11: guids[100:200], 0x12: []}

    def text(self):
        return 'Default=0x7fff,ipoib: ALL=limited, SELF=full;\n' + ''.join(
            f'P{p_key:x}=0x{p_key:x}: ' + ',\n'.join(f'{guid}=full' for guid in guids) + ';\n'
            for p_key, guids in self.members.items() if guids)

    def add(self):
        self.members[0x12] = self.guids[200:400]
        return '0x12: ' + ', '.join(f'{guid}=full' for guid in self.members[0x12])

    def move(self):
        guid = self.members[0x10].pop()
        self.members[0x11].append(guid)
        return f'0x10: {guid}=none; 0x11: {guid}=full'


def change(daemon, file, policy, what, at_run_time):
    request = getattr(policy, what)()
    daemon.begin()
    if at_run_time:
        daemon.command(f'partitions change {request}')
    else:
        with open(file, 'w') as out:
            out.write(policy.text())
        daemon.hang_up()
    daemon.wait(lambda: daemon.counts.read()['mads'], 'the first MAD')
    counts = daemon.settle(up=False)
    return {f'{what}_mads': counts['mads'], f'{what}_sets': counts['sets'],
            f'{what}_ms': (counts['last_ns'] / 1e9 - daemon.began) * 1e3}


def run(net, contestant, args):
    """The figures of a run; none, or not all, if it failed."""
    name, program, flags, at_run_time = contestant
    figures = {}
    try:
        with lab.Osmsim(net) as fabric:
            policy = Policy(hosts_of(fabric))
            file = fabric.path('partitions.conf')
            with open(file, 'w') as out:
                out.write(policy.text())
            daemon = lab.Daemon(fabric, program, ('-P', file, *flags), args.deadline, 2)
            daemon.start()
            daemon.settle()
            daemon.calm_down(0)
            for what in ('add', 'move'):
                figures.update(change(daemon, file, policy, what, at_run_time))
    except (lab.Failure, OSError, subprocess.SubprocessError) as why:
        bench.tell(f'{name}: {why}')
    return figures


def median_of(runs):
    return {key: statistics.median(figures[key] for figures in runs if key in figures)
            for key, _ in ROWS if any(key in figures for figures in runs)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--net', default='fattree:16', metavar='SPEC')
    parser.add_argument('--runs', type=int, default=3)
    parser.add_argument('--deadline', type=float, default=120, metavar='SECONDS')
    bench.add_programs(parser)
    args = parser.parse_args()
    lab.ibsim.end_cleanly()
    why = lab.Osmsim.missing()
    if why:
        sys.exit(f'partitions.py: {why}')
    contestants = []
    for contestant in bench.introduce(bench.programs(args), ()):
        contestants.append((*contestant, False))
        if contestant[0] == 'ours':
            contestants.append(('at run time', *contestant[1:], True))
    net = lab.Net(args.net)
    runs = [[run(net, contestant, args) for contestant in contestants] for _ in range(args.runs)]
    bench.print_columns(args.net, [contestant[:3] for contestant in contestants], ROWS,
                        [median_of(figures) for figures in zip(*runs)])
    print(f'\nMedian of {args.runs} runs; ms: until the last MAD.\n'
          f'ended {time.strftime("%Y-%m-%d %H:%M:%S %z")}')


if __name__ == '__main__':
    main()
