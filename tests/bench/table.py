# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The rows of the table of `make bench`: what a figure means, and how it is printed."""

import statistics

LESS, MORE, NOTE = 'less', 'more', 'note'  # what is better; NOTE: nothing to compare

# key, phase, title, decimals, what is better, how it is measured
ROWS = (
    ('up_s', 'cold', 'cold bring-up, s', 3, LESS,
     'start of the process to the first SUBNET UP in its log'),
    ('up_mads', 'cold', 'cold bring-up, SMPs', 0, LESS,
     'requests by SMP that the daemon sent until SUBNET UP'),
    ('up_hops', 'cold', 'hops per directed SMP', 2, LESS,
     'mean HopCount of the directed requests of the bring-up'),
    ('route_s', 'cold', 'routing pause, s', 4, LESS,
     'longest silence of the daemon up to its first LFT block: freeze, engine, verification'),
    ('up_mb', 'cold', 'peak memory at SUBNET UP, MB', 1, LESS, 'VmHWM after the bring-up'),
    ('light_mads', 'light', 'light sweep, SMPs', 0, LESS, 'console command: resweep light'),
    ('heavy_s', 'heavy', 'heavy sweep of no change, s', 3, LESS,
     'SIGHUP to the last SUBNET UP before the wire is quiet'),
    ('heavy_mads', 'heavy', 'heavy sweep of no change, SMPs', 0, LESS,
     'requests by SMP until the wire was quiet'),
    ('heavy_sets', 'heavy', '  Sets of these', 0, LESS, 'by method'),
    ('path_rate', 'paths', 'PathRecords per second', 0, MORE,
     'Get by random GIDs, 64 outstanding, client and simulator on the same cores'),
    ('path_us', 'paths', 'CPU per PathRecord, us', 2, LESS,
     'processor time of the daemon, all threads, over the answers'),
    ('node_rate', 'nodes', 'GetTable(NodeRecord) per second', 1, MORE,
     'all records, RMPP by the umad layer, 2 outstanding'),
    ('node_ms', 'nodes', '  CPU each, ms', 3, LESS, 'processor time of the daemon'),
    ('node_records', 'nodes', '  records each', 0, NOTE, 'must be the same for all'),
    ('all_rate', 'all_paths', 'GetTable(PathRecord) per second', 1, MORE,
     'all paths of one source: SGID and NumbPath 1, 2 outstanding'),
    ('all_ms', 'all_paths', '  CPU each, ms', 3, LESS, 'processor time of the daemon'),
    ('all_records', 'all_paths', '  records each', 0, NOTE, 'must be the same for all'),
    ('busy_ms', 'sweeping', 'PathRecord p99 in a heavy sweep, ms', 3, LESS,
     'latency with 4 outstanding from SIGHUP to SUBNET UP'),
    ('busy_max_ms', 'sweeping', '  longest, ms', 3, LESS, 'the longest latency'),
    ('lost_s', 'lost', 'link lost: to SUBNET UP, s', 4, LESS,
     'from the arrival of the trap to the last SUBNET UP'),
    ('lost_lft_s', 'lost', '  to the last LFT response, s', 4, LESS,
     'from the arrival of the trap'),
    ('lost_mads', 'lost', '  SMPs', 0, LESS, 'requests by SMP until the wire was quiet'),
    ('lost_blocks', 'lost', '  LFT blocks set', 0, LESS, 'Set(LinearForwardingTable)'),
    ('back_s', 'back', 'link restored: to SUBNET UP, s', 4, LESS, 'as above'),
    ('back_lft_s', 'back', '  to the last LFT response, s', 4, LESS, 'as above'),
    ('back_mads', 'back', '  SMPs', 0, LESS, 'as above'),
    ('back_blocks', 'back', '  LFT blocks set', 0, LESS, 'as above'),
    ('again_s', 'restart', 'restart on a healthy fabric, s', 3, LESS,
     'stopped by SIGTERM, started again with its files: process start to SUBNET UP'),
    ('again_gets', 'restart', '  Gets', 0, LESS, 'until the wire was quiet'),
    ('again_sets', 'restart', '  Sets', 0, LESS, 'until the wire was quiet'),
    ('end_mb', 'restart', 'peak memory after all, MB', 1, LESS, 'VmHWM before the restart'),
)
PHASE_OF = {row[0]: row[1] for row in ROWS}
TITLE_WIDTH = max(len(row[2]) for row in ROWS) + 1
WIDTH = 15


class Results:
    """Of one fabric on one simulator: the samples of each contestant, and why it has none."""

    def __init__(self, fabric, simulator, contestants):
        self.fabric, self.simulator, self.contestants = fabric, simulator, contestants
        self.samples = {name: {} for name in contestants}
        self.failures = {name: {} for name in contestants}  # phase: (short word, reason)

    def add(self, contestant, figures):
        for key, value in figures.items():
            if key not in PHASE_OF:
                raise KeyError(f'{key} has no row')
            self.samples[contestant].setdefault(key, []).append(value)

    def fail(self, contestant, phase, word, reason):
        self.failures[contestant][phase] = (word, reason)

    def failed(self, contestant):
        return bool(self.failures[contestant])

    def median(self, contestant, key):
        if PHASE_OF[key] in self.failures[contestant]:
            return None
        values = self.samples[contestant].get(key)
        return statistics.median(values) if values else None

    def is_wanted(self, key):
        return any(key in samples for samples in self.samples.values())

    def cell(self, contestant, key, decimals):
        value = self.median(contestant, key)
        if value is not None:
            return f'{value:.{decimals}f}'
        return self.failures[contestant].get(PHASE_OF[key], ('-',))[0]

    def ratio(self, contestant, key, better):
        """How many times better ours, the first contestant, is; empty if it cannot be said."""
        ours, peer = self.median(self.contestants[0], key), self.median(contestant, key)
        if better == NOTE or ours is None or peer is None:
            return ''
        low, high = (ours, peer) if better == LESS else (peer, ours)
        if low <= 0:
            return '1.00' if high <= 0 else 'inf'
        return f'{high / low:.2f}'

    def line(self, row):
        key, _, title, decimals, better, _ = row
        text = f'{title:<{TITLE_WIDTH}}'
        for name in self.contestants:
            text += f'{self.cell(name, key, decimals):>{WIDTH}}'
        for name in self.contestants[1:]:
            text += f'{self.ratio(name, key, better):>{WIDTH}}'
        return text.rstrip()

    def print(self, file):
        heads = [*self.contestants, *(f'x {name}' for name in self.contestants[1:])]
        title = f'{self.fabric} on {self.simulator}'
        print(f'\n{title:<{TITLE_WIDTH}}' + ''.join(f'{head:>{WIDTH}}' for head in heads),
              file=file)
        for row in ROWS:
            if self.is_wanted(row[0]):
                print(self.line(row), file=file)
        for name, failures in self.failures.items():
            for phase, (_, reason) in failures.items():
                print(f'  {name}, {phase}: {reason}', file=file)
        file.flush()

    def as_json(self):
        return {'fabric': self.fabric, 'simulator': self.simulator, 'samples': self.samples,
                'failures': self.failures,
                'medians': {name: {row[0]: self.median(name, row[0]) for row in ROWS
                                   if self.median(name, row[0]) is not None}
                            for name in self.contestants}}


def explain(file):
    print('\nHow each row is measured; medians of the runs; x: how many times better ours is:',
          file=file)
    for _, _, title, _, _, how in ROWS:
        print(f'  {title.strip():<{TITLE_WIDTH}}{how}', file=file)
