#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A job starts, and each rank of each host wants the path to all other hosts: what that costs the
SA when it is asked, and when hosts have the Scalable SA. On osmsim, each host a process of its
own."""

import argparse
import json
import subprocess
import sys

sys.dont_write_bytecode = True

import bench  # noqa: E402 (after the switch above: the source tree may be read-only)
import lab  # noqa: E402

STORM = lab.built('tests/bench/ssa_storm')
PROGRAM = lab.built('opensm/opensm')


def storm(daemon, args, way):
    """The figures of ssa_storm, and CPU seconds of the daemon and the simulator meanwhile."""
    fabric = daemon.lab
    hosts = [fabric.net.descriptions[host] for host in fabric.net.hosts[:args.hosts]]
    child = subprocess.Popen([STORM, str(args.ranks), way], env=fabric.preloaded(None), text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    fabric.children.append(child)
    print(*hosts, '', sep='\n', file=child.stdin, flush=True)
    if child.stdout.readline() != 'ready\n':
        raise lab.Failure('the hosts are not ready')
    before = daemon.cpu_seconds(), fabric.cpu_seconds()
    print(file=child.stdin, flush=True)
    line = child.stdout.readline()
    after = daemon.cpu_seconds(), fabric.cpu_seconds()
    child.communicate()
    figures = json.loads(line)
    figures['sa_cpu'], figures['sim_cpu'] = (b - a for a, b in zip(before, after))
    return figures


def tell(name, figures):
    queries, taken = figures['queries'], figures['seconds']
    print(f'{name:>12}: {figures["hosts"]} hosts x {figures["ranks"]} ranks, '
          f'{figures["paths"]} paths, {queries} queries ({queries / taken:.0f}/s), '
          f'last rank done after {taken:.3f} s; CPU s: opensm {figures["sa_cpu"]:.3f}, '
          f'hosts {figures["hosts_cpu"]:.3f}, simulator {figures["sim_cpu"]:.2f}; '
          f'{figures["errors"]} errors, {figures["lost"]} lost, digest {figures["digest"]}',
          flush=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--net', default='fattree:16', metavar='SPEC')
    parser.add_argument('--hosts', type=int, default=1000)
    parser.add_argument('--ranks', type=int, default=4, help='on each host (default 4)')
    parser.add_argument('--deadline', type=float, default=120)
    return parser.parse_args()


def main():
    args = arguments()
    lab.ibsim.end_cleanly()
    with lab.Osmsim(lab.Net(args.net)) as fabric:
        store = fabric.path('store')
        daemon = lab.Daemon(fabric, PROGRAM, (), args.deadline, 1)
        daemon.conf += f'ssa TRUE\nssa_directory {store}\n'
        daemon.start()
        try:
            daemon.settle()
            results = {'Scalable SA': storm(daemon, args, f'files:{store}'),
                       'SA': storm(daemon, args, 'sa')}
        except (lab.Failure, OSError, subprocess.SubprocessError, ValueError) as why:
            return bench.tell(f'ssa_storm: {why}') or 1
    for name, figures in results.items():
        tell(name, figures)
    wrong = len({(one['paths'], one['errors'], one['digest']) for one in results.values()}) > 1
    if wrong:
        print('the answers differ')
    return wrong


if __name__ == '__main__':
    sys.exit(main())
