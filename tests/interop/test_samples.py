#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""ibsim's sample nets."""

import os
import sys

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import subnet  # noqa: E402


def samples():
    if not os.path.isdir(ibsim.SAMPLES):
        return
    for name in sorted(os.listdir(ibsim.SAMPLES)):
        if name.startswith('net'):
            with open(os.path.join(ibsim.SAMPLES, name)) as file:
                yield name, file.read()


if __name__ == '__main__':
    NETS = list(samples())
    if not NETS:
        print(f'SKIP: no sample nets in {ibsim.SAMPLES} (Debian: ibsim-utils)')
        sys.exit(subnet.SKIPPED)
    sys.exit(subnet.main(NETS))
