# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The Debian packages of this tree, built from a copy of its files."""

import glob
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'style'))

import tree  # noqa: E402 (found through the path above)

TOP = os.environ.get('top_srcdir', '.')
NAMES = ('opensm', 'opensm-tools', 'opensm-dev', 'opensm-doc')


def missing(tools):
    """The tools that are not installed, or None."""
    lacking = [tool for tool in tools if not shutil.which(tool)]
    return f'{", ".join(lacking)} not installed' if lacking else None


def run(*argv, **more):
    """(exit code, output and errors) of a program."""
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, errors='replace', **more)
    return done.returncode, done.stdout


def copy_tree(into):
    in_git = os.path.exists(os.path.join(TOP, '.git'))
    for path in tree.listed(TOP) if in_git else tree.walk(TOP):
        source = os.path.join(TOP, path)
        if os.path.exists(source):  # not one removed from the tree but still in git
            os.makedirs(os.path.dirname(os.path.join(into, path)), exist_ok=True)
            shutil.copy(source, os.path.join(into, path))


def keep_in_git(source):
    """Makes git show what a build leaves there."""
    run('git', 'init', '-q', cwd=source)
    run('git', 'add', '-A', cwd=source)
    run('git', '-c', 'user.name=test', '-c', 'user.email=test@localhost', 'commit', '-qm', 'tree',
        cwd=source)


def build(directory):
    """Leaves the packages in the directory; (exit code, messages)."""
    source = os.path.join(directory, 'source')
    copy_tree(source)
    keep_in_git(source)
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(('MAKE', 'MFLAGS', 'DEB_'))}
    env['DEB_BUILD_OPTIONS'] = f'nocheck noautodbgsym terse parallel={os.cpu_count()}'
    env['DEB_CFLAGS_APPEND'] = '-O1 -g1'  # compiles in two thirds of the time
    return run('dpkg-buildpackage', '-us', '-uc', '-b', cwd=source, env=env)


def file_of(directory, name):
    """The .deb of a package, or None."""
    found = glob.glob(os.path.join(directory, f'{name}_*.deb'))
    return found[0] if found else None
