# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Rules on what was compiled: the symbols of the convenience libraries, as nm tells them."""

import glob
import os
import re
import subprocess

import tree


class Symbol:
    """A line of nm's sysv format."""

    def __init__(self, member, fields):
        self.member, self.name = member, fields[0]
        self.kind, self.type, self.section = fields[2], fields[3], fields[6]

    def undefined(self):
        return self.kind == 'U'

    def exported(self):
        return self.kind in 'TRDBVWCi'

    def mutable(self):
        """Data that can change; what only the dynamic linker changes is constant to us."""
        return self.type in ('OBJECT', 'TLS') and (
            self.section == '*COM*' or
            re.match(r'\.(data|bss|tdata|tbss|sdata|sbss)\b(?!\.rel\.ro)', self.section))


def symbols(library):
    """All symbols of the objects in a library."""
    output = subprocess.run(['nm', '-f', 'sysv', library], check=True, capture_output=True,
                            text=True, env={**os.environ, 'LC_ALL': 'C'}).stdout
    found, member = [], ''
    for line in output.split('\n'):
        heading = re.match(r'(?:Undefined symbols|Symbols) from (.*?):?$', line)
        if heading:
            member = heading.group(1)
        fields = [field.strip() for field in line.split('|')]
        if len(fields) == 7 and fields[0] != 'Name':
            found.append(Symbol(member, fields))
    return found


def load(build):
    """Symbols by library of those libraries of the build directory that are of a layer."""
    libraries = sorted(glob.glob(os.path.join(build, 'lib*.a')))
    return {os.path.basename(path): symbols(path) for path in libraries
            if tree.layer_of_library(os.path.basename(path))}


def mutable_data(libraries):
    """No global and no static variable: two daemons must live in one process."""
    for library, found in libraries.items():
        for symbol in found:
            if symbol.mutable():
                yield f'{library}: {symbol.member}: {symbol.name} is in {symbol.section}'


def upward_calls(libraries):
    """No library needs what only a layer above it, or beside it, defines."""
    homes = {}
    for library, found in libraries.items():
        for symbol in found:
            if symbol.exported():
                homes.setdefault(symbol.name, set()).add(tree.layer_of_library(library))
    for library, found in libraries.items():
        layer = tree.layer_of_library(library)
        allowed = {layer, *tree.MAY_USE[layer]}
        for symbol in found:
            if symbol.undefined() and symbol.name in homes and not homes[symbol.name] & allowed:
                home = ', '.join(sorted(homes[symbol.name]))
                yield f'{library}: {symbol.member}: {symbol.name} is of {home}'


RULES = [mutable_data, upward_calls]
