# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Rules on the folders of a large room: how many files each has, and which calls which."""

import glob
import os
import re
import subprocess

MAX_FILES = 20

# The folders of a room, lowest first; '' are the files of the room itself.
FLOORS = {
    'sm': ['base', 'schedule', 'store', 'keys', 'health', 'smp', 'election', 'discover', 'read',
           'write', 'takeover', 'forward', ''],
    'route': ['graph', 'value', 'order', 'fill', 'layers', 'engine', 'multicast', '', 'renew',
              'transition', 'proof'],
    'policy': ['partition', 'qos', 'files', 'names'],
    'sa': ['clients', 'groups', 'admit', 'report', 'record', ''],
    'perf': ['image', 'disk', 'judge', 'read', ''],
    'ctl': ['base', 'process', 'site', 'plan', '', 'dump', 'report', 'perfmgr', 'cc',
            'metrics', 'image', 'command', 'feed', 'plugin', 'console'],
    'ssa': ['table', 'wire', 'store', 'look', 'core', 'tree', 'node', 'admin', 'acm'],
    'web': ['base', 'auth', 'serve', 'fabric', 'api', 'page', 'rest', ''],
}


def folder(path, room):
    """'keys' of opensm/sm/keys/keys.c; '' of opensm/sm/sm.c."""
    return os.path.relpath(os.path.dirname(path), os.path.join('opensm', room)).replace('.', '')


def crowded(files):
    """A folder of a room has at most 20 files: more than that nobody keeps in mind."""
    count = {}
    for file in files:
        directory = os.path.dirname(file.path)
        if re.match(r'opensm/\w+/\w+$', directory) and file.is_c:
            count[directory] = count.get(directory, 0) + 1
    for directory, number in sorted(count.items()):
        if number > MAX_FILES:
            yield f'{directory}: {number} files'


def symbols(top, build, room):
    """(names defined, names needed) by source file of that room."""
    defined, needed = {}, {}
    for path in glob.glob(os.path.join(build, 'opensm', room, '**', '*.o'), recursive=True):
        source = os.path.relpath(path, build)[:-2] + '.c'
        if not os.path.exists(os.path.join(top, source)):
            continue
        output = subprocess.run(['nm', '-P', path], check=True, capture_output=True,
                                text=True).stdout
        for line in output.splitlines():
            name, kind = line.split()[:2]
            if kind == 'U':
                needed.setdefault(source, set()).add(name)
            elif kind in 'TDRBVW':
                defined[name] = source
    return defined, needed


def going_back(top, build):
    """'ROOM: NAME' of each function that a folder needs of one above it."""
    found = set()
    for room, order in FLOORS.items():
        floor = {name: place for place, name in enumerate(order)}
        defined, needed = symbols(top, build, room)
        for source, names in needed.items():
            for name in names & defined.keys():
                if floor[folder(defined[name], room)] > floor[folder(source, room)]:
                    found.add(f'{room}: {name}')
    return found


def listed(top):
    """Those that are known to go back, of the file floors_known."""
    with open(os.path.join(top, 'tests', 'style', 'floors_known'), encoding='utf-8') as stream:
        return {line.strip() for line in stream if line.strip() and not line.startswith('#')}


def calls_up(top, build):
    """No folder needs a name of one above it, but for those listed, which only become fewer."""
    found, known = going_back(top, build), listed(top)
    for name in sorted(found - known):
        yield f'{name} is of a folder above the one that needs it (floors.py)'
    for name in sorted(known - found):
        yield f'{name} goes back no more: take it out of floors_known'
