#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The classic daemon starts from the option file that ours writes with -c."""

import os
import subprocess
import sys

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import subnet  # noqa: E402

NET = ibsim.fat_tree(4)
COMPLAINTS = ('unrecognized', 'unrecognised', 'invalid', 'cannot parse', 'bad value',
              'out of range', 'ignoring')


def run(checks):
    with ibsim.Fabric(NET) as fabric:
        host = fabric.hosts()[0]
        written = fabric.path('written.conf')
        ours = subprocess.run([subnet.daemon(), '-c', written], cwd=fabric.dir,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env=fabric.on(host),
                              timeout=ibsim.PATIENCE)
        checks.equal('-c ends well', ours.returncode, 0)
        if not checks.check('-c writes the file', os.path.exists(written), ours.stdout):
            return
        child = fabric.spawn([ibsim.CLASSIC, '-F', written, '-f', fabric.path('classic.log')],
                             'classic.out', stdin=subprocess.DEVNULL,
                             env=fabric.on(host, OSM_CACHE_DIR=fabric.dir,
                                           OSM_TMP_DIR=fabric.dir))
        try:
            fabric.wait(lambda: all(port.state == 'Active' for node in fabric.dump().values()
                                    for port in node.ports.values() if port.num and port.peer),
                        ibsim.PATIENCE, 'the classic daemon to configure the subnet',
                        alive=child)
            checks.passed += 1
        except ibsim.Failure as failure:
            checks.check('the classic daemon runs with the file', False, failure)
        complaints = [line for line in fabric.read('classic.out').splitlines()
                      if any(word in line.lower() for word in COMPLAINTS)]
        checks.check('the classic daemon complains of nothing', not complaints, complaints)
        fabric.stop(child)


def main():
    why = ibsim.missing([])
    if why or not os.path.exists(ibsim.CLASSIC):
        print(f'SKIP: {why or ibsim.CLASSIC + " is not installed (Debian: opensm)"}')
        return subnet.SKIPPED
    ibsim.end_cleanly()
    checks = ibsim.Checks()
    run(checks)
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
