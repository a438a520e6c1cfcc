# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The table of routing engines: its columns, the goals, and how a figure is printed."""

import statistics

# Seconds of the engine on one thread.
GOAL_SECONDS = {
    'fattree:16': {'minhop': 0.004, 'updn': 0.004, 'ftree': 0.003},
    'fattree:24': {'minhop': 0.020, 'updn': 0.025, 'ftree': 0.018},
    'fattree:32': {'minhop': 0.075, 'updn': 0.075, 'ftree': 0.055},
    'fattree:48': {'minhop': 0.4, 'updn': 0.4, 'ftree': 0.3},
    'torus:8x8x8:4': {'dor': 0.020},
    'dragonfly:8:4:4': {'lash': 0.1, 'dfsssp': 0.020, 'nue': 0.080},
}
GOAL_LOAD = {
    'torus:8x8x8:4': {'dfsssp': 1.6, 'lash': 1.6, 'hoplanes': 1.6, 'nue': 2.5},
    'dragonfly:8:4:4': {'dfsssp': 1.6, 'lash': 1.6, 'hoplanes': 1.6, 'nue': 1.6},
}
FAT_TREES = [f'fattree:{k}' for k in (16, 24, 32, 48, 56)]
FAT_TREE = {'load_ratio': 1.05, 'bisection': 0.5, 'shift_load_max': 1}
TREE_ENGINES = ('minhop', 'updn', 'dnup', 'ftree')
EXPLANATION = (
    's 1: processor seconds of the engine on one thread, the median; a goal is for it. s 2: '
    'processor seconds of the leading thread of two, which does its half of what both do and all '
    'that one does alone: what the clock says if nothing else runs; and how many times less.',
    'peer s: the longest silence of the classic daemon before its first LFT block, in processor '
    'seconds of it: mostly its engine; x: peer s / s 1. All medians.',
    'MB: what the process grew by while the engine ran; peer MB: VmHWM of the whole classic daemon '
    'when the subnet was up.',
    'verify: processor seconds of the verifier on one thread, and as a part of s 1.',
    'load: flows on the busiest channel over their mean, all to all; bisection: mean share of a '
    'link over random matchings; shift: flows on the busiest channel, worst shift permutation; '
    'ours / peer (goal). The tables of the peer were judged by the same program.',
    'hops: mean and most, between switches. loops: whether there are credit loops, ours / peer. '
    'Bold: short of the goal.',
)


def goal_seconds(net, engine):
    return GOAL_SECONDS.get(net, {}).get(engine)


def goal_quality(net, engine, key):
    if net in FAT_TREES and engine in TREE_ENGINES:
        return FAT_TREE.get(key)
    if key == 'load_ratio':
        return GOAL_LOAD.get(net, {}).get(engine)
    return None


def median(values):
    return statistics.median(values) if values else None


def short(value, digits=3):
    """A figure of about this many digits."""
    if value is None:
        return '-'
    if value == 0 or value >= 100:
        return f'{value:.0f}'
    return f'{value:.{digits}g}' if value >= 1 else f'{float(f"{value:.2g}"):g}'


def bold(text, wrong):
    return f'**{text}**' if wrong else text


class Row:
    """Results of an engine on a net: {'ours': figures, 'peer': figures}."""

    def __init__(self, net, engine, results):
        self.net, self.engine = net, engine
        self.ours, self.peer = results.get('ours', {}), results.get('peer', {})

    def time(self):
        goal, value = goal_seconds(self.net, self.engine), median(self.ours.get('seconds'))
        return bold(short(value), goal is not None and value > goal)

    def two(self):
        one, two = median(self.ours.get('seconds')), median(self.ours.get('caller_2'))
        return f'{short(two)} ({one / two:.2f}x)' if one and two else '-'

    def ratio(self):
        ours, peer = median(self.ours.get('seconds')), median(self.peer.get('seconds'))
        return f'{peer / ours:.0f}' if ours and peer else '-'

    def peer_time(self):
        return self.peer.get('failed') or short(median(self.peer.get('seconds')))

    def verify(self):
        engine, value = median(self.ours.get('seconds')), median(self.ours.get('verify'))
        return f'{short(value)} ({value / engine:.0%})' if engine and value else '-'

    def quality(self, key, more_is_better=False):
        goal = goal_quality(self.net, self.engine, key)
        ours, peer = self.ours[key], self.peer.get(key)
        wrong = goal is not None and (ours < goal if more_is_better else ours > goal)
        # A rounded figure must not look as if it missed the goal, or the reverse.
        text = bold(f'{ours:.3f}' if isinstance(ours, float) else str(ours), wrong)
        text += f' / {short(peer)}' if peer is not None else ''
        return text + (f' ({goal:g})' if goal is not None else '')

    def loops(self):
        words = {True: 'yes', False: 'no', None: '-'}
        return f'{words[self.ours["credit_loops"]]} / {words[self.peer.get("credit_loops")]}'

    def same(self):
        return bold('yes' if self.ours['same_bytes'] else 'NO', not self.ours['same_bytes'])

    def cells(self):
        head = [self.net, self.engine]
        if 'right' not in self.ours:
            return [*head, 'refused' if 'refused' in self.ours else '-', '-', '-', '-',
                    self.peer_time(), *['-'] * 10]
        return head + [
            self.time(), self.two(), self.same(),
            short(goal_seconds(self.net, self.engine)), self.peer_time(), self.ratio(),
            short(self.ours['megabytes']), short(self.peer.get('megabytes')), self.verify(),
            self.quality('load_ratio'), self.quality('bisection', True),
            self.quality('shift_load_max'),
            f'{self.ours["hops_mean"]:.2f} / {self.ours["hops_max"]}', self.loops(),
            'right' if self.ours['right'] else '**WRONG**']


HEADINGS = ('net', 'engine', 's 1', 's 2', 'same bytes', 'goal', 'peer s', 'x', 'MB', 'peer MB',
            'verify', 'load', 'bisection', 'shift', 'hops', 'loops', 'table')


def write(file, facts, results):
    """results: {net: {engine: {'ours': .., 'peer': ..}}}"""
    for name, value in facts.items():
        print(f'{name}: {value}  ', file=file)
    print('\n| ' + ' | '.join(HEADINGS) + ' |', file=file)
    print('|' + '---|' * len(HEADINGS), file=file)
    for net, engines in results.items():
        for engine, figures in engines.items():
            print('| ' + ' | '.join(Row(net, engine, figures).cells()) + ' |', file=file)
    print('', file=file)
    for line in EXPLANATION:
        print(f'* {line}', file=file)
    write_remarks(file, results)


def write_remarks(file, results):
    for net, engines in results.items():
        for engine, figures in engines.items():
            ours, peer = figures.get('ours', {}), figures.get('peer', {})
            if 'refused' in ours:
                print(f'* {net}, {engine}: {ours["refused"]}', file=file)
            if peer.get('holes'):
                print(f'* {net}, {engine}: the peer left {peer["holes"]} entries empty; of '
                      f'{peer["pairs"]} pairs of hosts {peer["pairs"] - peer["pairs_routed"]} have '
                      'no path', file=file)
