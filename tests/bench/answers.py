#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""One table of answers in segments: tables a second that one client and eight clients on separate
hosts get from the SA, and their cost for the daemon, on osmsim and in real time."""

import argparse
import json
import subprocess
import sys
import time

sys.dont_write_bytecode = True

import bench  # noqa: E402 (after the switch above: the source tree may be read-only)
import faults  # noqa: E402
import lab  # noqa: E402

ROWS = (('rate', 'tables a second'), ('p50', '  p50, ms'), ('p99', '  p99, ms'),
        ('errors', '  errors'), ('lost', '  lost (no answer in 5 s)'),
        ('cpu', 'processor of the daemon, ms a table'), ('peak', 'most memory, MB'))


def spawn(daemon, host, args):
    name = f'client.{len(daemon.lab.children)}'
    daemon.lab.net.descriptions[host] = host
    child = daemon.lab.spawn([lab.CLIENT, args.kind, str(args.seconds), '1'], name,
                             env=daemon.lab.preloaded(host))
    return name, child


def measure(daemon, n, args):
    daemon.bring_up()
    hosts = [name for kind, name in daemon.lab.names if kind == 'ca'][-n:]
    clients = [spawn(daemon, host, args) for host in hosts]
    for name, child in clients:
        daemon.lab.wait(lambda name=name: 'ready' in daemon.lab.read(name), 60,
                        'the clients of the SA', alive=child)
    cpu, began = daemon.cpu_seconds(), time.monotonic()
    for _, child in clients:
        child.wait(args.seconds + 30)
    cpu, took = daemon.cpu_seconds() - cpu, time.monotonic() - began
    told = [json.loads(daemon.lab.read(name).splitlines()[-1]) for name, _ in clients]
    answers = sum(one['answers'] for one in told)
    return {'rate': answers / took, 'cpu': 1e3 * cpu / answers, 'peak': daemon.peak_megabytes(),
            'p50': max(one['p50_us'] for one in told) / 1e3,
            'p99': max(one['p99_us'] for one in told) / 1e3,
            'errors': sum(one['errors'] for one in told), 'lost': sum(one['lost'] for one in told)}


def run(contestant, n, args):
    name, program, flags = contestant
    try:
        with faults.Fabric(args.net) as fabric:
            if name == 'kernel_rmpp':
                with open(fabric.path('kernel.conf'), 'w') as file:
                    file.write('kernel_rmpp TRUE\n')
                flags = (*flags, '-F', fabric.path('kernel.conf'))
            return measure(faults.Daemon(fabric, program, flags, 120, 1), n, args)
    except (lab.Failure, OSError, subprocess.SubprocessError, ValueError, IndexError) as why:
        bench.tell(f'{name}, {n} clients: {why}')
        return {}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--net', default='fattree:8', metavar='SPEC')
    parser.add_argument('--kind', default='nodes', choices=('nodes', 'all-paths'))
    parser.add_argument('--clients', type=bench.words, default=['1', '8'], metavar='N,N')
    parser.add_argument('--seconds', type=float, default=8)
    bench.add_programs(parser)
    return parser.parse_args()


def main():
    args = arguments()
    lab.ibsim.end_cleanly()
    ours, *others = bench.programs(args)
    contestants = bench.introduce([ours, ('kernel_rmpp', args.opensm), *others], ('-s', '10'))
    for n in args.clients:
        results = [run(contestant, int(n), args) for contestant in contestants]
        title = f'{args.net}, {args.kind}, {n} clients'
        bench.print_columns(title, contestants, ROWS, results)


if __name__ == '__main__':
    main()
