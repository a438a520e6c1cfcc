#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""One table of what a subnet manager costs: ours beside Debian's opensm, on ibsim and on osmsim.

Every contestant goes through the same phases on a fabric of its own, one after another within a
run, and then all again in the next run: a disturbance of the machine affects all. A contestant that
fails a phase, or takes longer than the deadline, has no figure there, and none after it."""

import argparse
import json
import os
import platform
import subprocess
import sys
import time

sys.dont_write_bytecode = True

import lab  # noqa: E402 (after the switch above: the source tree may be read-only)
import phases  # noqa: E402
import table  # noqa: E402

ibsim = lab.ibsim
TITLE_WIDTH = 40
WIDTH = 14


def tell(text):
    print(text, file=sys.stderr, flush=True)


def run_phases(daemon, args, results, name):
    """All phases until one fails."""
    failed = None
    for phase, needs_rmpp in phases.PHASES:
        title = phase.__name__
        if needs_rmpp and not daemon.lab.has_rmpp or title in args.skip:
            continue
        if failed:
            results.fail(name, title, 'not run', f'after {failed} failed')
            continue
        try:
            results.add(name, phase(daemon, args))
        except lab.TooLong as why:
            failed = title
            results.fail(name, title, f'> {args.deadline} s', str(why))
        except (lab.Failure, OSError, subprocess.SubprocessError) as why:
            failed = title
            results.fail(name, title, 'failed', str(why))


def run_contestant(net, simulator, contestant, args, results):
    name, program, flags = contestant
    started = time.monotonic()
    try:
        with lab.SIMULATORS[simulator](net) as fabric:
            daemon = lab.Daemon(fabric, program, flags, args.deadline, args.quiet)
            run_phases(daemon, args, results, name)
    except (lab.Failure, OSError) as why:
        results.fail(name, 'cold', 'failed', f'the simulator: {why}')
    tell(f'{net.spec} on {simulator}: {name} took {time.monotonic() - started:.1f} s')


def measure(spec, contestants, args):
    """The results of a fabric, one for each simulator."""
    net = lab.Net(spec)
    names = [name for name, _, _ in contestants]
    all_results = [table.Results(spec, simulator, names) for simulator in args.simulators]
    for _ in range(args.runs):
        for results in all_results:
            for contestant in contestants:
                if not results.failed(contestant[0]):
                    run_contestant(net, results.simulator, contestant, args, results)
    return all_results


def version_of(program):
    try:
        run = subprocess.run([program, '--version'], stdin=subprocess.DEVNULL, timeout=20,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors='replace')
        lines = [line for line in run.stdout.splitlines() if line.strip('- ')]
        return lines[0] if lines else 'unknown'
    except (OSError, subprocess.SubprocessError) as why:
        return f'unknown ({why})'


def processor():
    try:
        with open('/proc/cpuinfo') as file:
            for line in file:
                if line.startswith('model name'):
                    return line.split(':', 1)[1].strip()
    except OSError:
        pass
    return platform.machine()


def machine(contestants):
    facts = {
        'date': time.strftime('%Y-%m-%d %H:%M:%S %z'),
        'processor': f'{os.cpu_count()} x {processor()}',
        'system': f'{platform.system()} {platform.release()}',
        'load before': ' '.join(f'{load:.2f}' for load in os.getloadavg()),
    }
    for name, program, flags in contestants:
        facts[name] = f'{version_of(program)}{" with " + " ".join(flags) if flags else ""}'
    return facts


def words(text):
    return [part for part in text.split(',') if part]


def add_programs(parser):
    parser.add_argument('--opensm', default=lab.built('opensm/opensm'))
    parser.add_argument('--before', metavar='FILE', help='another build of ours')
    parser.add_argument('--classic', default=ibsim.CLASSIC)


def introduce(programs, flags):
    """Prints which of these (name, program) are measured, and on what machine; returns (name,
    program, flags) of those that exist."""
    contestants = [(name, program, flags) for name, program in programs
                   if program and os.path.exists(program)]
    for name, value in machine(contestants).items():
        print(f'{name + ":":<14}{value}')
    return contestants


def programs(args):
    return [('ours', args.opensm), ('before', args.before), ('opensm', args.classic)]


def cell(value):
    if value is None:
        return '-'
    return f'{value}' if isinstance(value, int) else f'{value:.3f}'


def print_columns(title, contestants, rows, results):
    """A table: a row for each (key, text), a column for each contestant's figures by key."""
    print(f'\n{title:<{TITLE_WIDTH}}' + ''.join(f'{name:>{WIDTH}}' for name, _, _ in contestants))
    for key, text in rows:
        print(f'{text:<{TITLE_WIDTH}}' +
              ''.join(f'{cell(figures.get(key)):>{WIDTH}}' for figures in results))
    sys.stdout.flush()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--sizes', type=words, default=None, metavar='K,K',
                        help='fat trees of K-port switches (default 16,24,32)')
    parser.add_argument('--fabrics', type=words, default=[], metavar='SPEC,SPEC',
                        help='others, as osmsim makes them: torus:8x8x8:4, dragonfly:8:4:4')
    parser.add_argument('--simulators', type=words, default=list(lab.SIMULATORS), metavar='NAMES',
                        help=f'default {",".join(lab.SIMULATORS)}')
    parser.add_argument('--runs', type=int, default=3, help='of each contestant (default 3)')
    parser.add_argument('--deadline', type=float, default=300, metavar='SECONDS',
                        help='of each phase (default 300)')
    parser.add_argument('--quiet', type=float, default=1.5, metavar='SECONDS',
                        help='without an SMP: the wire is quiet (default 1.5)')
    parser.add_argument('--sa-seconds', type=float, default=3, metavar='SECONDS',
                        help='of queries to the SA of each kind (default 3)')
    parser.add_argument('--skip', type=words, default=[], metavar='PHASE,PHASE',
                        help='of ' + ', '.join(phase.__name__ for phase, _ in phases.PHASES))
    parser.add_argument('--only', type=words, default=None, metavar='NAMES',
                        help='contestants (default: ours,opensm,opensm -n 64)')
    parser.add_argument('--json', metavar='FILE', help='all samples too')
    parser.add_argument('--opensm', default=lab.built('opensm/opensm'))
    parser.add_argument('--classic', default=ibsim.CLASSIC)
    args = parser.parse_args()
    if args.sizes is None:
        args.sizes = [] if args.fabrics else ['16', '24', '32']
    unknown = set(args.simulators) - set(lab.SIMULATORS)
    if unknown:
        parser.error(f'no simulator {", ".join(unknown)}')
    return args


def choose(args):
    """The contestants, ours first, since "better" refers to the first."""
    contestants = [('ours', args.opensm, ()), ('opensm', args.classic, ()),
                   ('opensm -n 64', args.classic, ('-n', '64'))]
    for contestant in contestants:
        if not os.path.exists(contestant[1]):
            tell(f'{contestant[0]}: no {contestant[1]}')
    return [contestant for contestant in contestants if os.path.exists(contestant[1]) and
            (args.only is None or contestant[0] in args.only)]


def usable(simulators):
    for name in simulators:
        why = lab.SIMULATORS[name].missing()
        if why:
            tell(f'not on {name}: {why}')
    return [name for name in simulators if not lab.SIMULATORS[name].missing()]


def main():
    args = arguments()
    ibsim.end_cleanly()
    args.simulators = usable(args.simulators)
    contestants = choose(args)
    if not args.simulators or not contestants:
        sys.exit('nothing to measure, or nothing to measure it on')
    facts = machine(contestants)
    for name, value in facts.items():
        print(f'{name + ":":<14}{value}')
    all_results = []
    for spec in [f'fattree:{size}' for size in args.sizes] + args.fabrics:
        for results in measure(spec, contestants, args):
            results.print(sys.stdout)
            all_results.append(results)
    table.explain(sys.stdout)
    if args.json:
        with open(args.json, 'w') as file:
            json.dump({'machine': facts, 'runs': args.runs,
                       'results': [results.as_json() for results in all_results]}, file, indent=1)
    return 0


if __name__ == '__main__':
    sys.exit(main())
