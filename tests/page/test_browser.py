#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The page in a browser (page.mjs): Debian's chromium, driven by playwright-core, and axe-core,
which npm installs into the build directory. Pictures of it are left in tests/page/shots there."""

import json
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.environ.get('top_srcdir', os.path.join(HERE, '..', '..'))
BUILD = os.environ.get('top_builddir', os.getcwd())
ROOM = os.path.join(BUILD, 'tests', 'page')
sys.path.insert(0, os.path.join(TOP, 'tests'))
sys.path.insert(0, os.path.join(TOP, 'tests', 'interop'))

import ibsim  # noqa: E402
import osmsim  # noqa: E402
import subnet  # noqa: E402
from test_managers import SECONDS, Manager  # noqa: E402
from test_web_standby import Web  # noqa: E402

PACKAGES = ('playwright-core@1.65.1', 'axe-core@4.14.1')
SKIPPED = 77


def skip(why):
    print(f'SKIP: {why}')
    sys.exit(SKIPPED)


def install():
    """The packages in these versions, or no test."""
    modules = os.path.join(ROOM, 'node_modules')
    stamp = os.path.join(ROOM, 'installed')
    if os.path.exists(stamp) and open(stamp).read() == ' '.join(PACKAGES):
        return modules
    if not shutil.which('npm'):
        skip('there is no npm, which installs playwright-core and axe-core')
    os.makedirs(ROOM, exist_ok=True)
    with open(os.path.join(ROOM, 'package.json'), 'w') as file:
        file.write('{"private": true}\n')
    done = subprocess.run(['npm', 'install', '--no-audit', '--no-fund', '--ignore-scripts',
                           '--prefix', ROOM, *PACKAGES], capture_output=True, text=True)
    if done.returncode:
        skip(f'npm cannot install {" and ".join(PACKAGES)}: {done.stderr.strip()[-300:]}')
    with open(stamp, 'w') as file:
        file.write(' '.join(PACKAGES))
    return modules


def environment():
    return {**os.environ, 'top_builddir': os.path.abspath(BUILD), 'PAGE_MODULES': ROOM}


def run(*arguments):
    shots = os.path.join(ROOM, 'shots')
    os.makedirs(shots, exist_ok=True)
    return subprocess.run(['node', os.path.join(HERE, 'page.mjs'), shots, *arguments],
                          env=environment()).returncode


def standby():
    """Two managers of one fabric: what the page of the second says."""
    why = osmsim.missing(())
    if why:
        print(f'SKIP the standby: {why}')
        return 0
    ibsim.end_cleanly()
    checks = ibsim.Checks()
    try:
        with osmsim.Fabric(ibsim.fat_tree(4)) as fabric:
            hosts = fabric.hosts()
            managers = [Manager(fabric, subnet.daemon(), hosts[i * -1], i, priority=1 - i,
                                options=f'control_socket {fabric.path(f"control{i}")}\n')
                        for i in range(2)]
            webs = [Web(fabric, i) for i in range(2)]
            managers[0].wait('MASTER')
            managers[1].wait('STANDBY')
            for web in webs:
                fabric.wait(lambda: web.status('/readyz') == 200, SECONDS, 'readyz',
                            alive=web.child)
            guid = json.loads(webs[0].ask('/api/v1/status')[1])['sm_guid']
            checks.check('the page of a standby',
                         run(f'http://127.0.0.1:{webs[1].port}', guid) == 0)
    except ibsim.Failure as failure:
        checks.check('it ends', False, failure)
    return checks.close()


def main():
    for program, package in (('node', 'nodejs'), ('/usr/bin/chromium', 'chromium')):
        if not shutil.which(program):
            skip(f'there is no {program}, which is in the package {package}')
    install()
    only = os.environ.get('PAGE_ONLY', '')
    status = run() if only != 'standby' else 0
    return status if only and only != 'standby' else standby() or status


if __name__ == '__main__':
    sys.exit(main())
