#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Plug-ins that were compiled before still fit: include/opensm/plugin.h has the layout that
tests/plugin/abi/layout.txt records, or more. With --update, what is new is recorded; with --break,
as well, that something else has changed, which no version that was published may do. No struct has
padding: what is left over has a name, such as reserved."""

import os
import sys

sys.dont_write_bytecode = True

import layout  # noqa: E402 (after the switch above: the source tree may be read-only)

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.environ.get('top_srcdir') or os.path.join(HERE, '..', '..', '..')
HEADER = os.path.join(TOP, 'include', 'opensm', 'plugin.h')
RECORD = os.path.join(TOP, 'tests', 'plugin', 'abi', 'layout.txt')
HEAD = '''# The layout of include/opensm/plugin.h on 64-bit machines: constants and enumerators
# with their values; structs with size and alignment; members with offset, size and type. Written by
# tests/plugin/abi/test_layout.py --update.
'''


def read(name):
    with open(name, encoding='utf-8') as file:
        return file.read()


def main():
    if sys.maxsize < 2 ** 32:
        print('SKIP: the record is that of 64-bit machines')
        return 77
    now = HEAD + layout.measure(read(HEADER))
    broken, added = layout.changes(read(RECORD) if os.path.exists(RECORD) else '', now)
    for line in broken:
        print(f'breaks plug-ins that exist: {line}')
    if '--break' in sys.argv or ('--update' in sys.argv and not broken):
        with open(RECORD, 'w', encoding='utf-8') as file:
            file.write(now)
        return 0
    for line in added:
        print(f'not recorded yet (--update): {line}')
    padded = list(layout.padding(now))
    for line in padded:
        print(f'padding: {line}')
    n, failed = len(layout.load(now)), len(broken) + len(added) + len(padded)
    print(f'{n - failed} passed, {failed} failed')
    return 1 if failed or not n else 0


if __name__ == '__main__':
    sys.exit(main())
