#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The packages under a real service manager: a bare Debian with the classic is booted in a
container, ours installed over it, and boot.sh looks at the service there.

usage: boot.py [DIRECTORY-OF-PACKAGES]     ("make boot"; the default is to build them)

Needs root, systemd-nspawn, and the network for mmdebstrap."""

import os
import re
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import migration  # noqa: E402
import package  # noqa: E402

NEEDED = (*migration.NEEDED, 'systemd-nspawn')
MORE = 'dbus'
SECONDS = 300
UNIT = '''[Unit]
After=multi-user.target
[Service]
Type=oneshot
ExecStart=/bin/bash -c 'bash /opt/boot.sh >/opt/out 2>&1; systemctl poweroff'
[Install]
WantedBy=default.target
'''


def boot(checks, root, top):
    shutil.copy(os.path.join(top, 'tests/interop/boot.sh'), root.at('opt/boot.sh'))
    root.write('etc/systemd/system/boot.service', UNIT)
    root.run('systemctl', 'enable', 'boot.service')
    # Not registered with any service: this host need not run systemd itself.
    _, said = package.run('timeout', str(SECONDS), 'systemd-nspawn', '--quiet', '--directory',
                          root.path, '--boot', '--private-network', '--register=no',
                          '--keep-unit', '--link-journal=no')
    out = root.read('opt/out') or ''
    found = re.findall(r'^(ok|not ok) ([^\n]*)', out, re.M)
    checks.check('the service was looked at', len(found) > 10, said[-500:] + out)
    for how, what in found:
        print(f'    {how} {what}')
        checks.check(what, how == 'ok')


def main():
    why = package.missing(NEEDED) or ibsim.missing([])
    if why or os.getuid() != 0:
        print(f'boot: {why or "only root can do this"}', file=sys.stderr)
        return 2
    sys.stdout.reconfigure(line_buffering=True)
    ibsim.end_cleanly()
    checks = ibsim.Checks()
    directory = tempfile.mkdtemp(prefix='opensm-boot.')
    try:
        deb, said = migration.packages(directory, sys.argv[1] if len(sys.argv) > 1 else None)
        failure = said if not deb else migration.bare_debian(directory, MORE)
        if checks.check('packages and a Debian', not failure, failure):
            root = migration.Root(os.path.join(directory, 'root'))
            migration.put(checks, root, deb)
            package.run('umount', root.at('proc'))
            os.remove(root.at('usr/sbin/policy-rc.d'))
            boot(checks, root, package.TOP)
    finally:
        migration.remove(directory)
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
