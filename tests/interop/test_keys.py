#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The files guid2mkey and neighbors, in both directions: the classic daemon and ours take turns on
a subnet that is protected at level 2, each with another m_key, so that only the files open it."""

import os
import re
import sys

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import osmsim  # noqa: E402
import subnet  # noqa: E402

NEEDED = ('opensm',)
SECONDS = 60
CACHE = 'cache'
LINES = {
    'guid2mkey': re.compile(r'^(0x[0-9a-f]{16}) (0x[0-9a-f]{16})$', re.M),
    'neighbors': re.compile(r'^(0x[0-9a-f]{16}:\d+) (0x[0-9a-f]{16}:\d+)$', re.M),
}


def records(fabric, name):
    """The contents of the file; a line that is neither empty nor a record makes it None."""
    text = fabric.read(os.path.join(CACHE, name))
    found = LINES[name].findall(text)
    return dict(found) if len(found) == len([line for line in text.split('\n') if line]) else None


def run(fabric, program, number, m_key):
    """One run of a daemon to SUBNET UP; returns its log."""
    log = f'sm{number}.log'
    options = f'm_key 0x{m_key:x}\nm_key_protection_level 2\n'
    child = fabric.start_opensm(program, fabric.hosts()[0], log=log, cache=CACHE, options=options)
    fabric.wait_subnet_up(child, SECONDS, log=log)
    fabric.wait(lambda: set((records(fabric, 'guid2mkey') or {}).values()) == {f'0x{m_key:016x}'},
                SECONDS, f'all keys to be 0x{m_key:x} in guid2mkey')
    fabric.stop(child)
    return fabric.read(log)


def main():
    why = osmsim.missing(NEEDED)
    if why:
        print(f'SKIP: {why}')
        return subnet.SKIPPED
    sys.stdout.reconfigure(line_buffering=True)
    ibsim.end_cleanly()
    checks = ibsim.Checks()
    ours, classic = subnet.daemon(), ibsim.CLASSIC
    with osmsim.Fabric(ibsim.fat_tree(4)) as fabric:
        neighbors = None
        for number, program in enumerate((classic, ours, classic, ours, ours)):
            name = 'the classic' if program == classic else 'ours'
            try:
                log = run(fabric, program, number, 0x1000 + number)
            except ibsim.Failure as failure:
                checks.check(f'{name}, run {number}, ends', False, failure)
                break
            checks.equal(f'{name}, run {number}: ports in guid2mkey',
                         len(records(fabric, 'guid2mkey') or {}), 36)
            found = records(fabric, 'neighbors')
            checks.check(f'{name}, run {number}: neighbors as before',
                         found is not None and neighbors in (None, found))
            neighbors = found
            checks.check(f'{name}, run {number}: no complaint of the files',
                         not any(text in log
                                 for text in ('line is ignored', 'ERR 75', 'ERR 61')))
        checks.equal('mode of guid2mkey',
                     oct(os.stat(fabric.path(os.path.join(CACHE, 'guid2mkey'))).st_mode & 0o777),
                     '0o600')
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
