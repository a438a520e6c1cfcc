# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Fabrics to route: as a specification names them, or with some of their cables lost."""

import random
import re

import lab

SEED = 1
CABLE = re.compile(r'^\[(\d+)\](?:\([^)]*\))?\s+"([^"]+)"\s*\[(\d+)\]')


def cable_ends(text):
    """(line, node, port, other node, other port, between switches) of each end of a cable."""
    lines, switches, node = text.splitlines(), set(), None
    for line in lines:
        if (match := lab.NODE.match(line)) and match[1] == 'Switch':
            switches.add(match[3])
    for number, line in enumerate(lines):
        if match := lab.NODE.match(line):
            node = match[3]
        elif match := CABLE.match(line):
            yield (number, node, int(match[1]), match[2], int(match[3]),
                   node in switches and match[2] in switches and node != match[2])


def degrade(text, percent):
    """The text without some of its cables between switches, the same ones each time."""
    ends = [end[:5] for end in cable_ends(text) if end[5]]
    cables = sorted({tuple(sorted((end[1:3], end[3:5]))) for end in ends})
    lost = set(random.Random(SEED).sample(cables, max(1, round(len(cables) * percent / 100))))
    gone = {end[0] for end in ends if tuple(sorted((end[1:3], end[3:5]))) in lost}
    return '\n'.join(line for number, line in enumerate(text.splitlines()) if number not in gone)


class Net(lab.Net):
    """'SPEC', or 'SPEC-5%' for one without 5 % of its cables between switches."""

    def __init__(self, name):
        match = re.fullmatch(r'([^-]+?)(?:-([\d.]+)%)?', name)
        if not match:
            raise lab.Failure(f'{name} is neither SPEC nor SPEC-PERCENT%')
        super().__init__(match[1])
        self.name, self.percent = name, float(match[2] or 0)
        if self.percent:
            self.text = degrade(self.text, self.percent)
