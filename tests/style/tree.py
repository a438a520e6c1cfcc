# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The files of a source tree and the layer that each belongs to."""

import os
import subprocess

import csource

# What each layer may include and call besides itself, lowest first. sm, sa, perf and cc have
# nothing in common except core/events.h and struct fabric; route and mad do not know of each other.
BASE = ['complib', 'iba', 'vendor', 'core']
MANAGERS = BASE + ['fabric', 'mad', 'route', 'policy', 'subnet']
MAY_USE = {
    'complib': [],
    'iba': ['complib'],
    'vendor': ['complib', 'iba'],
    'core': ['complib', 'iba', 'vendor'],
    'fabric': BASE,
    'mad': BASE + ['fabric'],
    'route': BASE + ['fabric'],
    'policy': BASE + ['fabric', 'route'],
    'subnet': BASE + ['fabric', 'route', 'policy'],
    'plugin': BASE + ['fabric', 'route'],
    'ha': MANAGERS,
    'sm': MANAGERS + ['ha'],
    'sa': MANAGERS + ['ha'],
    'perf': MANAGERS,
    'cc': MANAGERS + ['ha'],
    'ssa': ['complib', 'iba'],
    'ssacore': MANAGERS + ['ssa'],
    'ssanode': ['complib', 'iba', 'ssa', 'client'],
    'client': [],
    'ctl': MANAGERS + ['plugin', 'ha', 'sm', 'sa', 'perf', 'cc', 'ssacore', 'client'],
    'opensmctl': BASE + ['client', 'ctl'],
    'web': ['client'],
    'snmp': ['client'],
    'osmroute': MANAGERS + ['plugin', 'perf', 'ctl'],
    'main': MANAGERS + ['plugin', 'ha', 'sm', 'sa', 'perf', 'cc', 'ssacore', 'ctl'],
}
# First match wins.
LAYER_OF_PATH = [
    ('include/complib/', 'complib'), ('complib/', 'complib'),
    ('include/iba/', 'iba'), ('libvendor/iba/', 'iba'),
    ('include/vendor/', 'vendor'), ('libvendor/', 'vendor'),
    ('include/opensm/', 'core'), ('opensm/main.c', 'main'), ('opensm/ssa/core/', 'ssacore'),
    ('opensm/ssa/tree/', 'ssanode'), ('opensm/ssa/node/', 'ssanode'),
    ('opensm/ssa/admin/', 'ssanode'), ('opensm/ssa/acm/', 'ssanode'),
] + [(f'opensm/{layer}/', layer) for layer in MAY_USE]
LAYER_OF_LIBRARY = {'libsim.a': 'vendor', 'libumad.a': 'vendor'}

C_FILES = ('.c', '.h', '.def')
SCRIPTS = ('.py', '.sh', '.awk', '.mk', '.am', '.ac')
GENERATED = ('configure', 'config.h.in', 'Makefile.in', 'aclocal.m4', 'INSTALL')
GENERATED_DIRS = ('config/aux', 'autom4te.cache', '.git', '.library')


def layer_of(path):
    """The layer of a source file, or None for a file outside all layers (tests)."""
    for prefix, layer in LAYER_OF_PATH:
        if path.startswith(prefix):
            return layer
    return None


def layer_of_library(name):
    """The layer of a convenience library's file name; None if it is not one of ours."""
    layer = LAYER_OF_LIBRARY.get(name, name[len('lib'):-len('.a')])
    return layer if layer in MAY_USE else None


class SourceFile:
    """One text file; `code` and `comments` are its two halves where it is C."""

    def __init__(self, path, text):
        self.path, self.text = path, text
        self.lines = text.split('\n')
        self.is_c = path.endswith(C_FILES)
        self.is_script = path.endswith(SCRIPTS) or text.startswith('#!')
        self.is_table = path.endswith('.def')
        self.layer = layer_of(path)
        self.code = csource.code_only(text) if self.is_c else ''
        self.comments = csource.comments_only(text) if self.is_c else text
        self.strings = csource.strings(text) if self.is_c else []
        self.functions = csource.functions(self.code) if self.is_c and not self.is_table else []


def walk(top):
    """All files below top except those that a build makes."""
    for directory, subdirectories, names in os.walk(top):
        relative = os.path.relpath(directory, top)
        prefix = '' if relative == '.' else relative + '/'
        subdirectories[:] = sorted(
            name for name in subdirectories
            if prefix + name not in GENERATED_DIRS and name != '__pycache__' and
            not (prefix == '' and (name.startswith('build') or name.endswith('-dist') or
                                   name == '_build')))
        yield from (prefix + name for name in sorted(names)
                    if not (prefix == '' and name in GENERATED))


def listed(top):
    """The files that git knows or would add; in an unpacked tarball, all there are."""
    try:
        output = subprocess.run(
            ['git', '-C', top, 'ls-files', '-co', '--exclude-standard', '-z'],
            check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return list(walk(top))
    return sorted(path for path in output.split('\0') if path)


def load(top):
    """Every text file of the tree. Files of other encodings than UTF-8 are data, not source."""
    in_git = os.path.exists(os.path.join(top, '.git'))
    files = []
    for path in listed(top) if in_git else walk(top):
        full = os.path.join(top, path)
        if not os.path.isfile(full) or os.path.islink(full):
            continue
        try:
            with open(full, encoding='utf-8') as stream:
                files.append(SourceFile(path, stream.read()))
        except UnicodeDecodeError:
            continue
    return files
