#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What QoS costs at a cold start: SMPs for SL2VL and VL arbitration tables with -Q, with and
without use_optimized_slvl, on osmsim and in real time."""

import argparse
import subprocess
import sys

sys.dont_write_bytecode = True

import bench  # noqa: E402 (after the switch above: the source tree may be read-only)
import faults  # noqa: E402
import lab  # noqa: E402

ROWS = (('sl2vl_gets', 'Get(SLtoVLMappingTable)'), ('sl2vl_sets', 'Set(SLtoVLMappingTable)'),
        ('vlarb_gets', 'Get(VLArbitrationTable)'), ('vlarb_sets', 'Set(VLArbitrationTable)'),
        ('gets', 'all Gets'), ('sets', 'all Sets'), ('up', 'to SUBNET UP, s'),
        ('cpu', 'processor of the daemon, s'), ('peak', 'most memory, MB'))
CONF = 'force_log_flush TRUE\nsweep_interval 0\nqos TRUE\nuse_optimized_slvl {}\n'


def measure(program, optimized, args):
    with faults.Fabric(args.net) as fabric:
        conf = fabric.path('qos.conf')
        with open(conf, 'w') as file:
            file.write(CONF.format('TRUE' if optimized else 'FALSE'))
        daemon = faults.Daemon(fabric, program, ('-F', conf), args.deadline, 1)
        daemon.start()
        figures = daemon.settle()
        return {**figures, 'up': daemon.ups[0] - daemon.began, 'cpu': daemon.cpu_seconds(),
                'peak': daemon.peak_megabytes()}


def run(name, program, optimized, args):
    try:
        return measure(program, optimized, args)
    except (lab.Failure, OSError, subprocess.SubprocessError, ValueError, IndexError) as why:
        bench.tell(f'{name}: {why}')
        return {}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--net', default='fattree:16', metavar='SPEC')
    parser.add_argument('--deadline', type=float, default=300, metavar='SECONDS')
    bench.add_programs(parser)
    return parser.parse_args()


def main():
    args = arguments()
    lab.ibsim.end_cleanly()
    contestants = bench.introduce(bench.programs(args), ())
    for optimized in (False, True):
        results = [run(name, program, optimized, args) for name, program, _ in contestants]
        how = 'with' if optimized else 'without'
        bench.print_columns(f'{args.net} -Q, {how} use_optimized_slvl', contestants, ROWS, results)


if __name__ == '__main__':
    main()
