#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""One table of single losses: what a link, a switch or a leaf costs when it goes and comes back."""

import argparse
import json
import statistics
import subprocess
import sys

sys.dont_write_bytecode = True

import lab  # noqa: E402 (after the switch above: the source tree may be read-only)
from bench import machine, tell, words  # noqa: E402

NETS = ('fattree:16', 'fattree:24', 'fattree:32', 'fattree:48', 'torus:8x8x8:4',
        'dragonfly:8:4:4')
ENGINES = ('minhop', 'updn', 'ftree')
# LFT blocks that must change if a link is lost.
GOAL_BLOCKS = {'fattree:16': 75, 'fattree:24': 91, 'fattree:32': 159, 'fattree:48': 251}
HEADINGS = ('net', 'engine', 'lost', 'blocks lost', 'goal', 'blocks back', 'own blocks back',
            'ms lost', 'ms back', 'ms anew', 'verify ms', 'load', 'bisection', 'shift', 'repaired',
            'tables')
EXPLANATION = (
    'Medians, and the worst in parentheses. Ranks of a tree: 0 are leaves; link 1-2 joins ranks 1 '
    'and 2.',
    'blocks: LFT blocks that the daemon has to program; own: all those of a switch that comes back '
    'rebooted. ms: processor time of the repair, anew: of the engine for the whole fabric; verify: '
    'of the verifier, after the loss.',
    'load: before -> after the loss (if computed anew) -> after the return. bisection, shift: '
    'before -> after the loss -> after the return. repaired: not computed anew, losses + returns.',
)


def middle(values, decimals, worst=max):
    """The median, and the worst if it differs."""
    median, extreme = (f'{value:.{decimals}f}'
                       for value in (statistics.median(values), worst(values)))
    return median if median == extreme else f'{median} ({extreme})'


def column(outage, step, key):
    return [trial[step][key] for trial in outage['trials']]


def milliseconds(outage, step, cost='engine_cost'):
    return middle([1e3 * value['seconds'] for value in column(outage, step, cost)], 2)


def arrows(engine, outage, key, decimals, worst=max):
    return ' -> '.join((f'{engine[key]:.{decimals}f}',
                        middle(column(outage, 'lost', key), decimals, worst),
                        middle(column(outage, 'back', key), decimals, worst)))


def load(engine, outage):
    before, lost, back = arrows(engine, outage, 'load_ratio', 3).split(' -> ')
    anew = middle(column(outage, 'lost', 'load_ratio_anew'), 3)
    return f'{before} -> {lost} (anew {anew}) -> {back}'


def cells(net, engine, outage):
    steps = [trial[step] for trial in outage['trials'] for step in ('lost', 'back')]
    wrong = sum(not step['right'] for step in steps)
    is_link = outage['class'].startswith('link')
    return (net, engine['engine'], outage['class'],
            middle(column(outage, 'lost', 'blocks_changed'), 0),
            str(GOAL_BLOCKS.get(net, '-')) if is_link else '-',
            middle(column(outage, 'back', 'blocks_changed'), 0),
            middle(column(outage, 'back', 'blocks_own'), 0),
            milliseconds(outage, 'lost'), milliseconds(outage, 'back'),
            f'{1e3 * engine["engine_cost"]["seconds"]:.2f}',
            milliseconds(outage, 'lost', 'verify_cost'), load(engine, outage),
            arrows(engine, outage, 'bisection', 3, min),
            arrows(engine, outage, 'shift_load_max', 0),
            f'{sum(step["computed"] == "repaired" for step in steps)} of {len(steps)}',
            f'**{wrong} WRONG**' if wrong else 'right')


def measure(args, net):
    """Rows of a net."""
    run = subprocess.run([args.osmroute, '-j', '-R', ','.join(args.engines), '--outage', 'all',
                          '--trials', str(args.trials), '--repeats', str(args.repeats),
                          '--shifts', str(args.shifts), '--matchings', str(args.matchings), net],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=args.deadline)
    if run.returncode not in (0, 2):
        raise lab.Failure(f'osmroute: {run.stderr.decode(errors="replace")[-300:]}')
    for engine in json.loads(run.stdout)['engines']:
        if 'refused' in engine:
            tell(f'{net}, {engine["engine"]}: {engine["refused"]}')
            continue
        for outage in engine['outages']:
            if any('refused' in trial[step] for trial in outage['trials']
                   for step in ('lost', 'back')):
                tell(f'{net}, {engine["engine"]}, {outage["class"]}: refused')
                continue
            yield cells(net, engine, outage)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--nets', type=words, default=NETS, metavar='SPEC,SPEC')
    parser.add_argument('--engines', type=words, default=ENGINES, metavar='NAMES')
    parser.add_argument('--quick', action='store_true', help='a small net, few losses')
    parser.add_argument('--trials', type=int, default=5, help='losses of each kind (default 5)')
    parser.add_argument('--repeats', type=int, default=3, help='within osmroute (default 3)')
    parser.add_argument('--shifts', type=int, default=64, help='to try (default 64)')
    parser.add_argument('--matchings', type=int, default=10, help='to try (default 10)')
    parser.add_argument('--deadline', type=float, default=1800, metavar='SECONDS',
                        help='of one net (default 1800)')
    parser.add_argument('--osmroute', default=lab.built('opensm/osmroute/osmroute'))
    args = parser.parse_args()
    if args.quick:
        args.nets, args.trials, args.repeats = ('fattree:4',), 2, 1
    return args


def main():
    args = arguments()
    for name, value in machine([]).items():
        print(f'{name}: {value}  ')
    print('\n| ' + ' | '.join(HEADINGS) + ' |\n|' + '---|' * len(HEADINGS))
    for net in args.nets:
        for row in measure(args, net):
            print('| ' + ' | '.join(row) + ' |', flush=True)
    print('')
    for line in EXPLANATION:
        print(f'* {line}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
