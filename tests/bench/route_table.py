#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""One table of what the routing engines cost and are worth, beside the classic daemon's.

Every engine is run by osmroute, on one thread and on two; the classic daemon routes the same fabric
on osmsim in the same round, and its tables are judged by osmroute too. With --json a table can be
made in pieces: figures in the file stay unless they are measured again."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True

import lab  # noqa: E402 (after the switch above: the source tree may be read-only)
import route_nets  # noqa: E402
import route_peer  # noqa: E402
import route_print  # noqa: E402
from bench import machine, tell, words  # noqa: E402

ENGINES = ('minhop', 'updn', 'dnup', 'ftree', 'dor')
NETS = ('fattree:16', 'fattree:24', 'fattree:32', 'fattree:48', 'fattree:56', 'torus:8x8x8:4',
        'dragonfly:8:4:4', 'hypercube:8:4', 'slimfly:7:5', 'hyperx:8x8:8',
        *(f'fattree:{k}-{percent}%' for k in (16, 24, 32) for percent in (1, 5, 10)))
LAYERED = ('dfsssp', 'lash', 'nue', 'hoplanes')  # and these, on some nets
LAYERED_NETS = ('torus:8x8x8:4', 'dragonfly:8:4:4', 'hypercube:8:4', 'slimfly:7:5',
                'hyperx:8x8:8')
NOT_OF_PEER = ('hoplanes',)
QUICK = ('fattree:4', 'fattree:8-5%')
QUALITY = ('right', 'credit_loops', 'load_ratio', 'bisection', 'shift_load_max', 'hops_mean',
           'hops_max', 'pairs', 'pairs_routed')
UNJUDGED = ('--shifts', '0', '--matchings', '0')


def osmroute(args, topology, engine, *flags):
    """The judgement of an engine, or of given tables, from JSON."""
    what = ('-R', engine) if engine else ()
    run = subprocess.run([args.osmroute, '-j', *what, *flags, topology],
                         timeout=args.deadline, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if run.returncode not in (0, 2):
        raise lab.Failure(f'osmroute: {run.stderr.decode(errors="replace")[-300:]}')
    return json.loads(run.stdout)['engines'][0]


def quality(judgement):
    return {key: judgement[key] for key in QUALITY}


def run_ours(args, topology, engine, results):
    """One round: on one thread and on two, each a median of its own."""
    first = 'hops_mean' not in results
    flags = ('--repeats', str(args.repeats))
    one = osmroute(args, topology, engine, *flags, '-t', '1', *(() if first else UNJUDGED))
    if 'refused' in one:
        results['refused'] = one['refused']
        return
    two = osmroute(args, topology, engine, *flags, '-t', '2', *UNJUDGED)
    if first:
        results.update(quality(one), same_bytes=True,
                       **{key: [] for key in ('seconds', 'caller_2', 'clock_2', 'all_2', 'verify')})
    results['same_bytes'] &= one['digest'] == two['digest']
    results['megabytes'] = one['engine_cost'].get('memory_bytes', 0) / 2**20
    results['seconds'].append(one['engine_cost']['seconds'])
    for key, name in (('caller_2', 'seconds_caller'), ('all_2', 'seconds_all'),
                      ('clock_2', 'seconds_least')):
        results[key].append(two['engine_cost'][name])
    results['verify'].append(one['verify_cost']['seconds'])


def run_peer(args, net, topology, engine, results):
    first = 'seconds' not in results
    with tempfile.NamedTemporaryFile(prefix='opensm-route.') as tables:
        figures = route_peer.measure(net, args.classic, engine, args.peer_deadline,
                                     tables.name if first else None)
        if first and 'failed' not in figures:
            results.update(quality(osmroute(args, topology, None, '--tables', tables.name)))
    if 'failed' in figures:
        results['failed'] = figures['failed']
        return
    results.setdefault('seconds', []).append(figures.pop('seconds'))
    results.update(figures)


def has_peer(args, net, engine):
    return ('peer' in args.who and engine not in NOT_OF_PEER and
            os.path.exists(args.classic) and not lab.Osmsim.missing() and
            len(net.switches) <= args.peer_switches)


def measure_engine(args, net, topology, engine, round_number, results):
    ours, peer = results.setdefault('ours', {}), results.setdefault('peer', {})
    started = time.monotonic()
    if 'ours' in args.who and 'refused' not in ours:
        run_ours(args, topology, engine, ours)
    if has_peer(args, net, engine) and 'failed' not in peer and round_number < args.peer_runs:
        run_peer(args, net, topology, engine, peer)
    tell(f'{net.name} {engine}: {time.monotonic() - started:.1f} s')


def engines_for(args, name):
    return args.engines or ENGINES + (LAYERED if name in LAYERED_NETS else ())


def measure_net(args, name, done):
    """Adds {engine: {'ours', 'peer'}} of a net to the results; all engines take turns."""
    net = route_nets.Net(name)
    engines = engines_for(args, name)
    for engine in engines:
        for who in args.who:
            done.setdefault(engine, {})[who] = {}
    with tempfile.NamedTemporaryFile('w', prefix='opensm-route.', suffix='.topo') as topology:
        topology.write(net.text)
        topology.flush()
        for number in range(args.runs):
            for engine in engines:
                measure_engine(args, net, topology.name, engine, number, done[engine])


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--nets', type=words, default=NETS, metavar='NET,NET',
                        help='specifications as osmsim takes them, with -5%% behind: without 5 '
                        '%% of the cables between switches (default: the whole table)')
    parser.add_argument('--engines', type=words, metavar='NAMES',
                        help='on all nets (default: all, the layered ones where they fit)')
    parser.add_argument('--quick', action='store_true', help='small nets, once')
    parser.add_argument('--who', type=words, default=('ours', 'peer'), metavar='NAMES',
                        help='ours, peer or both (default)')
    parser.add_argument('--runs', type=int, default=3, help='rounds of all engines (default 3)')
    parser.add_argument('--repeats', type=int, default=3, help='within osmroute (default 3)')
    parser.add_argument('--peer-runs', type=int, default=1000, metavar='N',
                        help='rounds in which the classic daemon takes part (default all)')
    parser.add_argument('--peer-switches', type=int, default=800, metavar='N',
                        help='larger nets without the classic daemon (default 800)')
    parser.add_argument('--peer-deadline', type=float, default=120, metavar='SECONDS',
                        help='of its bring-up (default 120)')
    parser.add_argument('--deadline', type=float, default=1200, metavar='SECONDS',
                        help='of one osmroute (default 1200)')
    parser.add_argument('--json', metavar='FILE', help='read results from it, write them to it')
    parser.add_argument('--osmroute', default=lab.built('opensm/osmroute/osmroute'))
    parser.add_argument('--classic', default=lab.ibsim.CLASSIC)
    args = parser.parse_args()
    if args.quick:
        args.nets, args.runs, args.repeats = QUICK, 1, 1
    return args


def save(args, facts, results):
    if args.json:
        with open(args.json, 'w') as file:
            json.dump({'machine': facts, 'results': results}, file, indent=1)


def main():
    args = arguments()
    lab.ibsim.end_cleanly()
    facts = machine([('opensm', args.classic, ())] if os.path.exists(args.classic) else [])
    results = {}
    if args.json and os.path.exists(args.json):
        with open(args.json) as file:
            results = json.load(file)['results']
    for name in args.nets:
        measure_net(args, name, results.setdefault(name, {}))
        save(args, facts, results)
    order = [name for name in NETS if name in results]
    order += [name for name in results if name not in order]
    route_print.write(sys.stdout, facts, {name: results[name] for name in order})
    return 0


if __name__ == '__main__':
    sys.exit(main())
