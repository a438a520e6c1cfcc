#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The judge of the interop tests itself: it must see each kind of wrong subnet."""

import sys

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import truth  # noqa: E402

RIGHT = '''# Net status
Switch 4 "S1"\tnodeguid 1000\tsysimgguid 1000
#\tlinearcap 30720 FDBtop 4 portchange 0
#\tForwarding table 0-1: [0]FF [1]1
#\tForwarding table 2-4: [2]0 [3]3 [4]3
1000\t[0]\t"Sma Port"[0]\t lid 2 lmc 0 smlid 1  4x  2.5G Active/LinkUp
1000\t[1]\t"H1"[1]\t  4x  2.5G Active/LinkUp
1000\t[2]\t\t\t  4x  2.5G Down/Polling
1000\t[3]\t"S2"[3]\t  4x  2.5G Active/LinkUp

Switch 4 "S2"\tnodeguid 1001\tsysimgguid 1001
#\tForwarding table 0-4: [0]FF [1]3 [2]3 [3]0 [4]1
1001\t[0]\t"Sma Port"[0]\t lid 3 lmc 0 smlid 1  4x  2.5G Active/LinkUp
1001\t[1]\t"H2"[1]\t  4x  2.5G Active/LinkUp
1001\t[3]\t"S1"[3]\t  4x  2.5G Active/LinkUp

Ca 1 "H1"\tnodeguid 2000\tsysimgguid 2000
2001\t[1]\t"S1"[1]\t lid 1 lmc 0 smlid 1  4x  2.5G Active/LinkUp

Ca 1 "H2"\tnodeguid 2002\tsysimgguid 2002
2003\t[1]\t"S2"[1]\t lid 4 lmc 0 smlid 1  4x  2.5G Active/LinkUp
#  dumped 4 nodes
'''

# The error: what to replace in the dump, by what.
WRONG = {
    'a loop': ('[4]1', '[4]3'),
    'no entry': ('[4]1', '[4]FF'),
    'a port without cable': ('[4]1', '[4]2'),
    'an entry that ends at the wrong switch': ('[3]3 [4]3', '[3]3 [4]0'),
    'a wrong host': ('[3]3 [4]3', '[3]3 [4]1'),
    'a LID twice': ('"S2"[1]\t lid 4', '"S2"[1]\t lid 1'),
    'no LID': ('"S2"[1]\t lid 4', '"S2"[1]\t lid 0'),
    'a port that is not Active': ('"S2"[3]\t  4x  2.5G Active', '"S2"[3]\t  4x  2.5G Init'),
}


class Silent(ibsim.Checks):
    def check(self, name, ok, detail=''):
        self.passed, self.failed = self.passed + bool(ok), self.failed + (not ok)
        return ok


def verdict(text):
    checks = Silent()
    nodes = ibsim.parse_dump(text)
    truth.judge(checks, nodes, truth.reachable(nodes, 'H1'), 0x2001)
    return checks.failed


def main():
    checks = ibsim.Checks()
    nodes = ibsim.parse_dump(RIGHT)
    checks.equal('a right subnet is right', verdict(RIGHT), 0)
    checks.equal('the tables are read over several lines', nodes['S1'].lft,
                 {0: 255, 1: 1, 2: 0, 3: 3, 4: 3})
    checks.equal('the walk follows the tables', truth.walk(nodes, 'H1', 1, 4),
                 ['H1', 'S1', 'S2', 'H2'])
    checks.equal('a fat tree has its hosts', ibsim.fat_tree(8).count('Hca '), 128)
    for what, (old, new) in WRONG.items():
        checks.check('the change applies: ' + what, old in RIGHT)
        checks.check('seen as wrong: ' + what, verdict(RIGHT.replace(old, new)) > 0)
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
