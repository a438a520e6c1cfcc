#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""One table of floods: what other hosts notice while one host asks the SA for a path as often as it
can, ours beside Debian's opensm, on osmsim and in real time. Meanwhile a cable is lost
elsewhere."""

import argparse
import json
import subprocess
import sys
import time

sys.dont_write_bytecode = True

import bench  # noqa: E402 (after the switch above: the source tree may be read-only)
import faults  # noqa: E402
import lab  # noqa: E402

ROWS = (('p50', 'another host\'s PathRecord, p50, ms'), ('p99', '  p99, ms'),
        ('lost', '  lost (no answer in 2 s)'), ('answers', '  answers'),
        ('leaf_p50', 'a leaf\'s NodeInfo (simulator), p50, ms'), ('leaf_p99', '  p99, ms'),
        ('sent', 'sent by the flood, 1000/s'), ('mended', 'a cable lost: mended, s'),
        ('rss', 'memory: before the flood, MB'), ('peak', '  most in the flood, MB'),
        ('after', '  10 s after it, MB'))


def spawn(daemon, host, *arguments):
    name = f'client.{len(daemon.lab.children)}'
    daemon.lab.net.descriptions[host] = host
    return name, daemon.lab.spawn([faults.CLIENT, *arguments], name,
                                  env=daemon.lab.preloaded(host))


def memory(daemon, key):
    with open(f'/proc/{daemon.child.pid}/status') as file:
        for line in file:
            if line.startswith(key):
                return int(line.split()[1]) / 1024
    raise lab.Failure(f'no {key}: the daemon ended')


def last_line(daemon, name):
    return json.loads(daemon.lab.read(name).splitlines()[-1])


def flood(daemon, rate, args):
    daemon.bring_up()
    figures = {'rss': memory(daemon, 'VmRSS')}
    hosts = [name for kind, name in daemon.lab.names if kind == 'ca']
    flooder = spawn(daemon, hosts[-1], 'flood', str(rate), str(args.seconds)) if rate else None
    time.sleep(1)
    victim, leaf = (spawn(daemon, hosts[len(hosts) // 2 + i], kind, str(args.seconds - 2))
                    for i, kind in enumerate(('path', 'leaf')))
    port = faults.leaf_cables(daemon, 'leaf-3-0')[0]
    since = daemon.fault(f'unlink leaf-3-0 {port}')
    try:
        figures['mended'] = daemon.mended(since)
    except lab.TooLong:
        figures['mended'] = None
    for _, child in filter(None, (victim, leaf, flooder)):
        child.wait(args.seconds + 30)
    figures['peak'] = memory(daemon, 'VmHWM')
    if flooder:
        figures['sent'] = last_line(daemon, flooder[0])['sent'] / args.seconds / 1e3
    time.sleep(10)
    figures['after'] = memory(daemon, 'VmRSS')
    path, leaf = (last_line(daemon, name) for name, _ in (victim, leaf))
    figures.update(p50=path['p50_us'] / 1e3, p99=path['p99_us'] / 1e3, lost=path['lost'],
                   answers=path['answers'], leaf_p50=leaf['p50_us'] / 1e3,
                   leaf_p99=leaf['p99_us'] / 1e3)
    return figures


def run(contestant, rate, args):
    name, program, flags = contestant
    try:
        with faults.Fabric(args.net) as fabric:
            daemon = faults.Daemon(fabric, program, flags, args.seconds, 1)
            return flood(daemon, rate, args)
    except (lab.Failure, OSError, subprocess.SubprocessError, ValueError, IndexError) as why:
        bench.tell(f'{name}, {rate} a second: {why}')
        return {}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--net', default='fattree:8', metavar='SPEC')
    parser.add_argument('--rates', type=bench.words, metavar='N,N', help='requests a second',
                        default=['0', '1000', '10000', '50000', '200000'])
    parser.add_argument('--seconds', type=float, default=12, help='of a flood (default 12)')
    bench.add_programs(parser)
    return parser.parse_args()


def main():
    args = arguments()
    lab.ibsim.end_cleanly()
    contestants = bench.introduce(bench.programs(args), ('-s', '10'))
    for rate in args.rates:
        results = [run(contestant, int(rate), args) for contestant in contestants]
        title = f'{args.net}, {rate} a second'
        bench.print_columns(title, contestants, ROWS, results)


if __name__ == '__main__':
    main()
