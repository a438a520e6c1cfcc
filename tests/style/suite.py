# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Runs the unit tests of a program and closes with the line that tests/tally.awk counts."""

import sys
import unittest


def run():
    """Run all tests of the program itself; returns its exit code, 1 if one failed or none ran."""
    suite = unittest.defaultTestLoader.loadTestsFromModule(sys.modules['__main__'])
    result = unittest.TextTestRunner(verbosity=1).run(suite)
    failed = len(result.failures) + len(result.errors)
    print(f'{result.testsRun - failed} passed, {failed} failed')
    return 1 if failed or not result.testsRun else 0
