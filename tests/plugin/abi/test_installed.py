#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What a developer of plug-ins installs is enough, and true: the examples of opensm-plugin(3)
compile by pkg-config against an installed tree and do their work in a daemon, and the page names
all that the header has."""

import ctypes
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import layout  # noqa: E402 (after the switch above: the source tree may be read-only)

BUILD = os.environ.get('top_builddir', '.')
OPENSM = os.path.abspath(os.path.join(BUILD, 'opensm', 'opensm'))
OSMROUTE = os.path.abspath(os.path.join(BUILD, 'opensm', 'osmroute', 'osmroute'))
PARTS = ('install-pkgincludeHEADERS', 'install-pkgconfigDATA', 'install-man3')
WARNINGS = ('-Wall', '-Wextra', '-Werror')
# What plug-ins in C++ may be compiled with, and the macros that they use.
PLUS_PLUS = ('-std=c++98', '-Wpedantic', '-Wno-long-long', '-Wold-style-cast')
MACROS = '''#include "plugin.h"
bool has_leave(const struct osm_host *host);
bool has_leave(const struct osm_host *host)
{
\treturn OSM_HAS(host, struct osm_host, leave) && (OSM_EVENTS_ALL & OSM_EVENT_BIT(3));
}
'''
NAMED = ('osm_event_id', 'osm_part')  # enums of which the page lists all values
STRUCTS = ('osm_host', 'osm_plugin')  # and structs of which it names all members
PRIVATE = ('size', 'abi', 'data', 'version')
FAILED = []


def check(what, good, said=''):
    print(f'{"ok" if good else "FAILED"}: {what}')
    if not good:
        print(said)
        FAILED.append(what)
    return good


def run(*argv, **more):
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, **more)
    return done.returncode, done.stdout


def install(root):
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(('MAKE', 'MFLAGS'))}
    return run('make', '-s', '-C', BUILD, *PARTS, f'DESTDIR={root}', env=env)


def find(root, name):
    for directory, _, names in os.walk(root):
        if name in names:
            return os.path.join(directory, name)
    return ''


def pkg_config(root, *words):
    env = dict(os.environ, PKG_CONFIG_SYSROOT_DIR=root,
               PKG_CONFIG_PATH=os.path.dirname(find(root, 'opensm-plugin.pc')))
    return run('pkg-config', *words, 'opensm-plugin', env=env)


def example(page, section):
    """The program of that section, without what is for troff."""
    text = re.search(rf'^\.Sh {section}\n(.*?)(?=^\.Sh )', page, flags=re.S | re.M)[1]
    text = re.search(r'^\.Bd -literal\n(.*?)^\.Ed\n', text, flags=re.S | re.M)[1]
    return re.sub(r'^\\&', '', text, flags=re.M).replace('\\e', '\\')


def compile_example(root, page, section, name):
    """The file of the example."""
    source, made = os.path.join(root, f'{name}.c'), os.path.join(root, f'lib{name}.so')
    with open(source, 'w', encoding='utf-8') as file:
        file.write(example(page, section))
    code, flags = pkg_config(root, '--cflags')
    check('pkg-config knows the flags', code == 0 and root in flags, flags)
    compiler = shlex.split(os.environ.get('CC') or 'cc')
    code, said = run(*compiler, *WARNINGS, '-std=c11', '-shared', '-fPIC', *shlex.split(flags),
                     '-o', made, source)
    check(f'the example {name} compiles', code == 0, said)
    return made


def build(root, page):
    """The files of the examples."""
    source = os.path.join(root, 'has.cc')
    with open(source, 'w', encoding='utf-8') as file:
        file.write(MACROS)
    for plus_plus in filter(shutil.which, ('c++', 'clang++')):
        code, said = run(plus_plus, *WARNINGS, *PLUS_PLUS, '-fsyntax-only',
                         '-I' + os.path.dirname(find(root, 'plugin.h')), source)
        check(f'{plus_plus} understands the header', code == 0, said)
    return (compile_example(root, page, 'EXAMPLE', 'narrow'),
            compile_example(root, page, 'ROUTING ENGINES', 'fewest'))


def evaluate(fewest):
    code, said = run(OSMROUTE, '--plugin', fewest, '-R', 'fewest', 'dragonfly:4:2:2')
    check('osmroute evaluates the engine', code == 0 and re.search(r'^fewest .* right$', said,
                                                                   re.M), said)


def load(root, narrow, fewest, process):
    """A daemon on a simulated fabric with both."""
    where = f'process {process}'
    conf, log = os.path.join(root, 'conf'), os.path.join(root, 'log')
    with open(conf, 'w', encoding='utf-8') as file:
        file.write(f'event_plugin_name {narrow},{fewest}\nevent_plugin_process {process}\n'
                   'routing_engine fewest\n')
    code, said = run(OPENSM, '-F', conf, '--sim', 'dragonfly:4:2:2', '--once', '-e', '-f', log,
                     env=dict(os.environ, OSM_CACHE_DIR=root), timeout=60)
    written = read(log)
    check(f'{where}: a start', code == 0, said + written)
    for plugin, title in ((narrow, 'narrow'), (fewest, 'fewest')):
        check(f'{where}: {title} is loaded',
              f'plug-in {plugin}: {title} 1.0 is loaded' in written, written)
    check(f'{where}: its routes are used', re.search(r'fewest tables configured', written),
          written)


def look(made):
    """As the daemon does: size, version and functions."""
    plugin = ctypes.CDLL(made).osm_plugin_v1
    plugin.restype = ctypes.POINTER(ctypes.c_uint32)
    struct = plugin()
    check('it has the version of the header', struct[1] == 1 and struct[0] >= 64,
          (struct[0], struct[1]))


def names(page, header):
    parsed = layout.parse(header)
    words = set(re.findall(r'\w+', page))
    wanted = {value for name in NAMED for value in parsed['enum'][name]}
    wanted |= {member for name in STRUCTS for member, _ in parsed['struct'][name]
               if member not in PRIVATE}
    check('the page names events, parts and functions', wanted <= words, wanted - words)
    values = re.findall(r'^\.It Dv (OSM_EVENT_\w+) Pq (\d+)$', page, flags=re.M)
    measured = layout.load(layout.measure(header))['enum osm_event_id'][1]
    check('events have their numbers', dict(values) == measured, (values, measured))


def read(name):
    with open(name, encoding='utf-8') as file:
        return file.read()


def main():
    if not shutil.which('pkg-config'):
        print('SKIP: pkg-config is not installed')
        return 77
    with tempfile.TemporaryDirectory(prefix='opensm-plugin.') as root:
        code, said = install(root)
        if check('it is installed', code == 0 and find(root, 'plugin.h'), said):
            page = read(find(root, 'opensm-plugin.3'))
            code, said = pkg_config(root, '--variable=plugindir')
            check('the directory of plug-ins', said.strip().endswith('/opensm/plugins'), said)
            narrow, fewest = build(root, page)
            look(narrow)
            evaluate(fewest)
            for process in ('FALSE', 'TRUE'):
                load(root, narrow, fewest, process)
            names(page, read(find(root, 'plugin.h')))
    print(f'{1 if not FAILED else 0} passed, {len(FAILED)} failed')
    return 1 if FAILED else 0


if __name__ == '__main__':
    sys.exit(main())
