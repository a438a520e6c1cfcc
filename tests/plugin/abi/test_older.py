#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A plug-in that was compiled with an earlier header is loaded by a daemon whose structs have more
members: load.c is compiled with such a header, and a plug-in with the header as it is."""

import os
import re
import shlex
import subprocess
import sys
import tempfile

SOURCE = os.environ.get('top_srcdir', os.path.join(os.path.dirname(__file__), '..', '..', '..'))
CC = [*shlex.split(os.environ.get('CC', 'cc')), '-std=gnu11']
PROGRAM = r'''
#include <stdio.h>
#include "plugin/host/load.h"
int main(int argc, char **argv)
{
	GError *error = NULL;
	void *object;

	puts(argc == 2 && load_plugin(argv[1], &object, &error) ? "loaded" : error->message);
	return 0;
}
'''


def longer(header, struct):
    """The header, with one more member at the end of that struct."""
    text, n = re.subn(rf'(\nstruct {struct} {{\n.*?\n)}};', r'\1\tvoid (*more)(void);\n};', header,
                      count=1, flags=re.DOTALL)
    assert n == 1, struct
    return text


def main():
    with open(os.path.join(SOURCE, 'include/opensm/plugin.h')) as file:
        header = longer(longer(file.read(), 'osm_engine'), 'osm_plugin')
    glib = subprocess.run(['pkg-config', '--cflags', '--libs', 'glib-2.0'], capture_output=True,
                          text=True, check=True).stdout.split()
    with tempfile.TemporaryDirectory() as directory:
        os.mkdir(os.path.join(directory, 'opensm'))
        for name, text in (('opensm/plugin.h', header), ('main.c', PROGRAM)):
            with open(os.path.join(directory, name), 'w') as file:
                file.write(text)
        program = os.path.join(directory, 'main')
        plugin = os.path.join(directory, 'plugin.so')
        subprocess.run([*CC, f'-I{directory}', f'-I{SOURCE}/opensm', '-DOSM_PLUGIN_DIR="/nowhere"',
                        '-o', program, f'{directory}/main.c',
                        f'{SOURCE}/opensm/plugin/host/load.c', *glib, '-ldl'], check=True)
        subprocess.run([*CC, f'-I{SOURCE}/include', '-fPIC', '-shared', '-o', plugin,
                        f'{SOURCE}/tests/plugin/torus_dor.c'], check=True)
        said = subprocess.run([program, plugin], capture_output=True, text=True).stdout
    print(said, end='')
    return 0 if said == 'loaded\n' else 1


if __name__ == '__main__':
    sys.exit(main())
