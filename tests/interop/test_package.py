#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The Debian packages: they build from the tree, lintian finds nothing, their files are in the
right places, and the service manager accepts their units."""

import glob
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import package  # noqa: E402

NEEDED = ('git', 'dpkg-buildpackage', 'dh', 'lintian', 'systemd-analyze', 'man')
SKIPPED = 77
EXPOSURE = 20  # tenths
CONFFILES = ['/etc/logrotate.d/opensm']  # PORTS must not raise a question: debian/opensm.postinst
CONTENTS = {
    'opensm': '''/etc/logrotate.d/opensm /etc/opensm/ /usr/bin/opensmctl
        /usr/share/bash-completion/completions/opensmctl /usr/share/man/man8/opensmctl.8.gz
        /lib/systemd/system/opensm-hotplug@.service
        /lib/systemd/system/opensm.service /lib/systemd/system/opensm@.service
        /lib/udev/rules.d/90-opensm.rules /usr/lib/sysusers.d/opensm.conf
        /usr/lib/systemd/catalog/opensm.catalog
        /usr/lib/tmpfiles.d/opensm.conf /usr/libexec/opensm/opensm-ports /usr/sbin/opensm
        /usr/share/bash-completion/completions/opensm /usr/share/doc/opensm/NEWS.Debian.gz
        /usr/share/doc/opensm/changelog.gz
        /usr/share/doc/opensm/copyright /usr/share/man/man5/opensm-ports-policy.5.gz
        /usr/share/man/man5/opensm-metrics.5.gz
        /usr/share/man/man5/opensm-perfmgr-rules.5.gz
        /usr/share/man/man5/opensm.conf.5.gz /usr/share/man/man5/qos-policy.conf.5.gz
        /usr/share/man/man5/torus-2QoS.conf.5.gz
        /usr/share/man/man8/opensm-console.8.gz /usr/share/man/man8/opensm.8.gz
        /usr/share/man/man8/torus-2QoS.8.gz
        /usr/share/opensm/ports.default''',
    'opensm-tools': '''/usr/bin/osmroute /usr/bin/osmsim /usr/bin/osmsim-run
        /usr/lib/ARCH/opensm/libosmsim-preload.so /usr/lib/ARCH/opensm/libosmsim-verbs.so
        /usr/share/bash-completion/completions/osmroute
        /usr/share/bash-completion/completions/osmsim
        /usr/share/bash-completion/completions/osmsim-run
        /usr/share/doc/opensm-tools/changelog.gz
        /usr/share/doc/opensm-tools/copyright /usr/share/man/man1/osmroute.1.gz
        /usr/share/man/man1/osmsim-run.1.gz /usr/share/man/man1/osmsim.1.gz''',
    'opensm-web': '''/lib/systemd/system/opensm-web.service
        /lib/systemd/system/opensm-web.socket /usr/sbin/opensm-web
        /usr/share/doc/opensm-web/changelog.gz /usr/share/doc/opensm-web/copyright
        /usr/share/man/man5/opensm-web.conf.5.gz /usr/share/man/man8/opensm-web.8.gz''',
    'opensm-snmp': '''/lib/systemd/system/opensm-snmp.service /usr/sbin/opensm-snmp
        /usr/share/doc/opensm-snmp/changelog.gz /usr/share/doc/opensm-snmp/copyright
        /usr/share/man/man8/opensm-snmp.8.gz /usr/share/snmp/mibs/OPENSM-MIB.txt''',
    'ibacm-ssa': '''/usr/lib/ARCH/ibacm/libibacmssa.so
        /usr/share/doc/ibacm-ssa/changelog.gz /usr/share/doc/ibacm-ssa/copyright
        /usr/share/man/man7/ibacmssa.7.gz''',
    'opensm-ssa': '''/lib/systemd/system/opensm-ssa.service
        /usr/lib/sysusers.d/opensm-ssa.conf /usr/lib/tmpfiles.d/opensm-ssa.conf
        /usr/sbin/opensm-ssa /usr/sbin/ssadmin
        /usr/share/bash-completion/completions/opensm-ssa
        /usr/share/bash-completion/completions/ssadmin
        /usr/share/doc/opensm-ssa/changelog.gz /usr/share/doc/opensm-ssa/copyright
        /usr/share/man/man5/ssa.conf.5.gz /usr/share/man/man8/opensm-ssa.8.gz
        /usr/share/man/man8/ssadmin.8.gz''',
    'opensm-dev': '''/usr/include/opensm/plugin.h
        /usr/lib/ARCH/pkgconfig/opensm-plugin.pc /usr/share/doc/opensm-dev/changelog.gz
        /usr/share/doc/opensm-dev/copyright /usr/share/man/man3/opensm-plugin.3.gz''',
    'opensm-doc': '''/usr/share/doc/opensm/README.gz /usr/share/doc/opensm/REPORTING
        /usr/share/doc/opensm/examples/container/Containerfile
        /usr/share/doc/opensm/examples/container/opensm.yaml
        /usr/share/doc/opensm/examples/opensm.conf /usr/share/doc/opensm/examples/partitions.conf
        /usr/share/doc/opensm/examples/ports-policy.conf
        /usr/share/doc/opensm/examples/opensm-ssa-redis.conf
        /usr/share/doc/opensm/examples/opensm-ssa-users.acl
        /usr/share/doc/opensm/examples/opensm-web.conf
        /usr/share/doc/opensm/examples/opensm.rules.yml
        /usr/share/doc/opensm/examples/opensm-dashboard.json
        /usr/share/doc/opensm/examples/perfmgr-rules.conf
        /usr/share/doc/opensm/examples/prefix-routes.conf
        /usr/share/doc/opensm/examples/qos-policy.conf
        /usr/share/doc/opensm/examples/snmpd.conf
        /usr/share/doc/opensm-doc/changelog.gz /usr/share/doc/opensm-doc/copyright''',
}


def lintian(checks, directory):
    changes = glob.glob(os.path.join(directory, '*.changes'))
    code, said = package.run('lintian', '--allow-root', '--no-cfg', '--fail-on',
                             'error,warning', *changes)
    checks.equal('lintian is content', (code, said), (0, ''))


def contents(deb):
    """Its files and its empty directories."""
    _, said = package.run('dpkg-deb', '--contents', deb)
    paths = [line.split()[5][1:] for line in said.splitlines()]
    return {re.sub('(?<=^/usr/lib/)[^/]*-linux-gnu[^/]*', 'ARCH', path) for path in paths
            if not path.endswith('/') or not any(
                other != path and other.startswith(path) for other in paths)}


def conffiles(deb):
    with tempfile.TemporaryDirectory(prefix='opensm-package.') as control:
        package.run('dpkg-deb', '--control', deb, control)
        try:
            with open(os.path.join(control, 'conffiles')) as file:
                return file.read().split()
        except FileNotFoundError:
            return []


def version(checks, deb):
    """The packages are those of this version, and later than what they replace."""
    _, said = package.run('dpkg-deb', '--field', deb, 'Version')
    with open(os.path.join(package.TOP, 'configure.ac')) as file:
        ours = re.search(r'AC_INIT\(\[opensm\], \[([^]]*)\]', file.read())[1]
    checks.equal('version', said.strip(), ours)
    code, _ = package.run('dpkg', '--compare-versions', said.strip(), 'gt', '3.3.23-2+b1')
    checks.equal('later than the classic', code, 0)


def units(checks, root, directory):
    """As systemd sees them, with what they start where it has been unpacked."""
    found = glob.glob(os.path.join(root, 'lib/systemd/system/*.service'))
    checks.equal('three units', len(found), 3)
    for path in found:
        name = os.path.basename(path)
        with open(path) as file:
            text = file.read().replace('/usr/libexec', f'{root}/usr/libexec')
        copy = os.path.join(directory, name)
        with open(copy, 'w') as file:
            file.write(text)
    for path in found:
        name = os.path.basename(path)
        instance = os.path.join(directory, name.replace('@', '@0x1'))
        code, said = package.run('systemd-analyze', 'verify', instance,
                                 env=dict(os.environ, MANPATH=f'{root}/usr/share/man:'))
        said = [line for line in said.splitlines() if 'opensm' in line]  # not of other units
        checks.equal(f'{name} is verified', (said, code if said else 0), ([], 0))
        code, said = package.run('systemd-analyze', 'security', '--offline=true',
                                 f'--threshold={EXPOSURE}', os.path.join(directory, name))
        print(next((line for line in said.splitlines() if 'Overall' in line), said))
        checks.check(f'{name}: exposure', code == 0, said)


def programs(checks, root):
    for path in ('usr/sbin/opensm', 'usr/bin/osmsim', 'usr/bin/osmroute'):
        code, said = package.run(os.path.join(root, path), '--version')
        checks.check(f'{path} runs', code == 0 and re.search(r'\d+\.\d+\.\d+', said), said)


def purge(checks):
    """Every file that a daemon without instances dumps is known to the script that purges."""
    with open(os.path.join(package.TOP, 'debian/opensm.postrm')) as file:
        removed = re.findall(r'/var/log/(\S+)', file.read())
    names = []
    for source in ('opensm/ctl/dump/dump.c', 'opensm/sa/dump.c'):
        with open(os.path.join(package.TOP, source)) as file:
            names += re.findall(r'"(opensm[-.]\S+)"', file.read())
    checks.check('there are dumps', len(names) > 5, names)
    checks.same_set('dumps that purge removes', set(names) & set(removed), set(names))


def clean_source(checks, source):
    """Git ignores what the build leaves in the tree, and the tree is not configured."""
    code, said = package.run('git', 'status', '--porcelain', cwd=source)
    checks.equal('git sees nothing', (code, said), (0, ''))
    left = [name for name in ('config.status', 'Makefile', 'config.h')
            if os.path.exists(os.path.join(source, name))]
    checks.equal('the source tree is not configured', left, [])


def examine(checks, directory):
    root, scratch = os.path.join(directory, 'root'), os.path.join(directory, 'units')
    os.mkdir(scratch)
    lintian(checks, directory)
    for name in package.NAMES:
        deb = package.file_of(directory, name)
        checks.same_set(f'contents of {name}', contents(deb), set(CONTENTS[name].split()))
        checks.equal(f'conffiles of {name}', conffiles(deb), CONFFILES if name == 'opensm' else [])
        package.run('dpkg-deb', '--extract', deb, root)
    version(checks, package.file_of(directory, 'opensm'))
    units(checks, root, scratch)
    programs(checks, root)


def main():
    why = package.missing(NEEDED)
    if why:
        print(f'SKIP: {why}')
        return SKIPPED
    ibsim.end_cleanly()
    checks = ibsim.Checks()
    with tempfile.TemporaryDirectory(prefix='opensm-package.') as directory:
        purge(checks)
        code, said = package.build(directory)
        built = [name for name in package.NAMES if package.file_of(directory, name)]
        if checks.check('they build', code == 0 and len(built) == len(package.NAMES), said[-1500:]):
            warnings = [line for line in said.splitlines() if 'warning:' in line]
            checks.equal('without warnings', warnings, [])
            examine(checks, directory)
            clean_source(checks, os.path.join(directory, 'source'))
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
