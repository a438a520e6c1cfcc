# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The checks of a test that is a script: counted, with a message for each failure."""


class Checks:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def check(self, what, ok, detail=''):
        if ok:
            self.passed += 1
        else:
            self.failed += 1
            print(f'FAIL {what}: {detail}'[:2000], flush=True)
        return ok

    def skip(self, what, why):
        self.skipped += 1
        print(f'SKIP {what}: {why}')

    def close(self):
        """Prints the sum; the code to exit with."""
        print(f'{self.passed} passed, {self.failed} failed, {self.skipped} skipped')
        return 1 if self.failed or not self.passed else 0
