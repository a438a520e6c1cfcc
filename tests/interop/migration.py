#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A site moves from Debian's opensm to this one, and back.

usage: migration.py [DIRECTORY-OF-PACKAGES]     ("make migration"; the default is to build them)

In a bare Debian with the classic installed, configured and run, our package is installed over it:
the ports keep their LIDs, the files of the site stay, a script for the console hears the same, the
units are verified. Then Debian's package comes back, and finds the LIDs that ours has given.
Programs of that Debian run as their units say, on ibsim; only no systemd runs. Needs root, and the
network, for mmdebstrap and apt."""

import hashlib
import os
import re
import shutil
import socket
import sys
import tempfile

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import package  # noqa: E402
import subnet  # noqa: E402
import test_classic_console  # noqa: E402

NEEDED = ('mmdebstrap', 'chroot', 'dpkg-buildpackage', 'dh')
PACKAGES = 'opensm,opensm-doc,ibsim-utils,infiniband-diags,systemd-sysv,man-db'
MIRROR = os.environ.get('MIRROR', 'http://deb.debian.org/debian')
# Files and links that a site keeps, whatever manages the subnet.
KEPT = ('etc/opensm', 'etc/default/opensm', 'etc/logrotate.d/opensm', 'etc/init.d/opensm')
ENABLED = ('etc/systemd/system', 'etc/rc2.d', 'etc/rc6.d')
FIRST_LID = 0x64  # in the file of LIDs that the site begins with: no daemon would choose it
NEW_HOST = 'New'  # added while ours runs
PROMPT = 'OpenSM $ '
# Everything except what depends on routes, which are better now.
SCRIPT = [line for line in test_classic_console.SAME if line != 'lidbalance']
EXPOSURE = 20


class Root:
    """A Debian below a directory."""

    def __init__(self, path):
        self.path = path

    def at(self, name):
        return os.path.join(self.path, name)

    def read(self, name):
        try:
            with open(self.at(name), errors='replace') as file:
                return file.read()
        except FileNotFoundError:
            return None

    def write(self, name, text):
        os.makedirs(os.path.dirname(self.at(name)), exist_ok=True)
        with open(self.at(name), 'w') as file:
            file.write(text)

    def command(self, argv, **env):
        """Arguments that run argv in there, in its root directory and with only this
        environment."""
        return ['chroot', self.path, 'env', '-i', 'PATH=/usr/sbin:/usr/bin:/sbin:/bin', 'LC_ALL=C',
                *[f'{name}={value}' for name, value in env.items()], *argv]

    def run(self, *argv, **env):
        return package.run(*self.command(argv, **env))

    def apt(self, *argv):
        return self.run('apt-get', '-q', '-y', '--no-install-recommends', '--allow-downgrades',
                        *argv, DEBIAN_FRONTEND='noninteractive')

    def version(self):
        return self.run('dpkg-query', '-W', '-f', '${db:Status-Status} ${Version}', 'opensm')[1]

    def files(self, names):
        """{path: hash, or target of a link} of everything there."""
        found = {}
        for name in names:
            for directory, _, leaves in os.walk(self.at(name)):
                found.update((os.path.join(directory, leaf), None) for leaf in leaves)
            if os.path.isfile(self.at(name)):
                found[self.at(name)] = None
        for path in found:
            if os.path.islink(path):
                found[path] = os.readlink(path)
            else:
                with open(path, 'rb') as file:
                    found[path] = hashlib.sha256(file.read()).hexdigest()
        return {os.path.relpath(path, self.path): value for path, value in found.items()}

    def unit(self, name, key):
        """The value of a key in an installed unit."""
        return re.search(f'^{key}=(.*)$', self.read(f'lib/systemd/system/{name}'), re.M)[1]


def net(with_new_host=True):
    """A full tree, so that no port is down; the new host has a leaf port of its own."""
    text = ibsim.fat_tree(4)
    if not with_new_host:
        return text
    text = text.replace('Switch 4 "L3-1"', f'Switch 5 "L3-1"\n[5] "{NEW_HOST}"[1]')
    return f'{text}\nHca 1 "{NEW_HOST}"\n[1] "L3-1"[5]\n'


class Site:
    """The host of the subnet manager, and its present fabric."""

    def __init__(self, root, checks):
        self.root, self.checks = root, checks
        with socket.socket() as free:
            free.bind(('127.0.0.1', 0))
            self.console_port = free.getsockname()[1]

    def configure(self, guid, lids):
        self.guid = guid
        self.root.write('etc/opensm/opensm.conf', f'''# Of this site.
guid 0x0000000000000000
sm_priority 5
lmc 1
console loopback
console_port {self.console_port}
force_log_flush TRUE
transaction_timeout 2000
''')
        self.root.write('etc/opensm/partitions.conf', '''# Of this site.
Default=0x7fff, ipoib : ALL=full ;
storage=0x0010, ipoib, mtu=5 : ALL_CAS=limited,
    SELF=full ;
''')
        self.root.write('etc/default/opensm', f'PORTS="{guid}"\n')
        self.root.write('var/cache/opensm/guid2lid', ''.join(
            f'0x{port:016x} 0x{lid:04x} 0x{lid + 1:04x}\n\n' for port, lid in lids.items()))

    def start(self, fabric, host):
        """Runs what the unit of the port starts, until the subnet is up."""
        command = self.root.unit('opensm@.service', 'ExecStart').replace('%I', self.guid)
        env = {name: value for name, value in fabric.on(host).items()
               if name.startswith(('LD_PRELOAD', 'SIM', 'IBSIM'))}
        defaults = dict(re.findall(r'^(\w+)="?(.*?)"?$', self.root.read('etc/default/opensm'),
                                   re.M))
        log = f'var/log/opensm.{self.guid}.log'
        before = len(self.root.read(log) or '')
        # The preloaded library is for the fabric's programs, not for those that start them.
        child = fabric.spawn(self.root.command(
            ['sh', '-c', f'cd /tmp && exec env "$@" {command}', 'start',
             *[f'{name}={value}' for name, value in env.items()]], **defaults), 'daemon.out')
        fabric.wait(lambda: 'SUBNET UP' in (self.root.read(log) or '')[before:], ibsim.PATIENCE,
                    f'SUBNET UP in {log}', alive=child)
        print(f'    started: {command}')
        return child

    def lids(self, fabric, hosts):
        """{GUID of a host's port: its LID}, once all are ACTIVE."""
        fabric.wait(lambda: all(node.ports[1].state == 'Active' for node in map(
            fabric.dump().get, hosts)), ibsim.PATIENCE, 'the ports of hosts to be ACTIVE')
        nodes = fabric.dump()
        return {nodes[host].ports[1].guid: nodes[host].lid(1) for host in hosts}

    def p_keys(self, fabric, hosts):
        """The P_Key table of each host, as smpquery shows it."""
        nodes = fabric.dump()
        return {host: fabric.tool(hosts[0], 'smpquery', 'pkeys', str(nodes[host].lid(1)), '1')
                for host in hosts}

    def telnet(self):
        """The script of the site: {command: answer}."""
        with socket.create_connection(('127.0.0.1', self.console_port), 30) as connection:
            connection.settimeout(30)
            said = self.until_prompt(connection)
            answers = {}
            for line in SCRIPT:
                connection.sendall(f'{line}\r\n'.encode())
                said = self.until_prompt(connection)
                answers[line] = re.sub(r' in \d+ us|(?<= at ).*', '', said).strip()
            return answers

    def until_prompt(self, connection):
        said = ''
        while PROMPT not in said:
            got = connection.recv(65536)
            if not got:
                raise ibsim.Failure(f'the console hangs up after {said!r}')
            said += got.decode(errors='replace')
        return said.split(PROMPT)[0].replace('\r', '')


def step(text):
    print(f'== {text}')


def site_lids(fabric, hosts):
    """A file of LIDs for the hosts, two each, in an unusual order."""
    nodes = fabric.dump()
    return {nodes[host].ports[1].guid: FIRST_LID + 2 * i for i, host in enumerate(reversed(hosts))}


def manage(site, fabric, hosts, then):
    """Starts the daemon on the first host; returns what then() makes of LIDs and telnet script."""
    child = site.start(fabric, hosts[0])
    lids = site.lids(fabric, hosts)
    then(lids, dict(site.telnet(), p_keys=site.p_keys(fabric, hosts)))
    site.checks.equal('it ends well', fabric.stop(child), 0)
    return lids


def same_lids(site, hosts, expected, what):
    """On a fabric that has forgotten all LIDs, the daemon gives the expected ones."""
    with ibsim.Fabric(net()) as fabric:
        lids = manage(site, fabric, hosts, lambda *_: None)
    same = {guid: lid for guid, lid in lids.items() if guid in expected}
    site.checks.same_table(what, same, expected)
    site.checks.check('no LID twice', len(set(lids.values())) == len(lids), lids)
    print(f'    {len(same)} LIDs as before, of a fabric without LIDs; '
          f'{sorted(set(lids.values()) - set(same.values())) or "none"} new')
    return lids


def configure(site, fabric, hosts):
    step('configured: PORTS, opensm.conf, partitions.conf, guid2lid')
    guid = f'0x{subnet.sm_guid(fabric, hosts[0]):016x}'
    lids = site_lids(fabric, hosts)
    site.configure(guid, lids)
    print(f'    PORTS={guid}, LIDs {FIRST_LID} to {max(lids.values())}')
    return lids


def classic(site, fabric, hosts, expected):
    step(f'the classic: opensm {site.root.version()}')
    answers = {}
    lids = manage(site, fabric, hosts, lambda _, said: answers.update(said))
    site.checks.same_table('the LIDs of guid2lid', lids, expected)
    print(f'    {len(lids)} LIDs, those of guid2lid; {len(answers)} answers')
    return answers


def put(checks, root, deb):
    """Installs our package as an administrator would."""
    with open(deb, 'rb') as file, open(root.at('tmp/opensm.deb'), 'wb') as copy:
        copy.write(file.read())
    code, said = root.apt('install', '/tmp/opensm.deb')
    checks.check('apt installs it without a question', code == 0, said[-1500:])
    print(f'    opensm {root.version()}')


def install(site, deb):
    step(f'{os.path.basename(deb)} installed over it')
    root = site.root
    put(site.checks, root, deb)
    site.checks.check('the group of the control sockets', 'opensm:' in root.read('etc/group'))
    state = root.run('stat', '-c', '%a %U %G', '/run/opensm')
    site.checks.equal('their directory', state, (0, '2750 root opensm\n'))
    site.checks.check('no init script is left', root.read('etc/init.d/opensm') is None)


def units(site):
    step('units verified')
    root = site.root
    names = ('opensm.service', f'opensm@{site.guid}.service', 'opensm-hotplug@umad0.service')
    code, said = root.run('systemd-analyze', 'verify', *names)
    site.checks.equal('systemd-analyze verify', (code, said), (0, ''))
    for name in names:
        path = '/lib/systemd/system/' + re.sub('@.*[.]', '@.', name)
        code, said = root.run('systemd-analyze', 'security', '--offline=true',
                              f'--threshold={EXPOSURE}', path)
        print('    ' + next((line for line in said.splitlines() if 'Overall' in line), said))
        site.checks.check(f'{name} is exposed by 2.0 at most', code == 0, said)


def ours(site, fabric, hosts, lids, answers):
    step('ours, on the same fabric')

    def judge(now, said):
        site.checks.same_table('the same LIDs', now, lids)
        for line, expected in answers.items():
            site.checks.equal(f'said of {line}', said[line], expected)

    manage(site, fabric, hosts, judge)
    print(f'    {len(lids)} LIDs as before; {len(answers)} answers compared')


def back(site, version):
    step(f'and back to {version}')
    code, said = site.root.apt('install', f'opensm={version}')
    site.checks.check('apt goes back without a question', code == 0, said[-1500:])
    print(f'    opensm {site.root.version()}')


def over(site, fabric, hosts, deb):
    """The classic works on the fabric; then ours is installed, and works there."""
    root, checks = site.root, site.checks
    lids = configure(site, fabric, hosts)
    answers = classic(site, fabric, hosts, lids)
    kept, links = root.files(KEPT), root.files(ENABLED)
    cache = root.read('var/cache/opensm/guid2lid')
    install(site, deb)
    packaged = ('etc/init.d/opensm', 'etc/logrotate.d/opensm')
    checks.same_table('files of the site', without(root.files(KEPT), packaged),
                      without(kept, packaged))
    checks.equal('guid2lid', root.read('var/cache/opensm/guid2lid'), cache)
    checks.same_table('enabled as before', root.files(ENABLED[:1]), without(links, ('etc/rc',)))
    print(f'    kept: {", ".join(sorted(without(kept, packaged)))}, guid2lid')
    units(site)
    ours(site, fabric, hosts, lids, answers)
    return lids, kept, links


def without(table, beginnings):
    return {path: value for path, value in table.items() if not path.startswith(beginnings)}


def migrate(site, deb):
    root, checks = site.root, site.checks
    version = root.version().split()[1]
    with ibsim.Fabric(net(with_new_host=False)) as fabric:
        old_hosts = fabric.hosts()
        lids, kept, links = over(site, fabric, old_hosts, deb)
    hosts = [*old_hosts, NEW_HOST]
    step(f'ours, with {NEW_HOST} as a new host')
    lids = same_lids(site, hosts, lids, 'the same LIDs')
    checks.equal('and one more', len(lids), len(hosts))
    back(site, version)
    checks.same_table('files as at first', root.files(KEPT), kept)
    checks.same_table('enabled as at first', root.files(ENABLED), links)
    same_lids(site, hosts, lids, 'the classic knows the LIDs that ours gave')
    install(site, deb)
    same_lids(site, hosts, lids, 'ours, again')


def bare_debian(directory, more=None):
    """Builds it; the messages if that fails, else None."""
    path = os.path.join(directory, 'root')
    code, said = package.run('mmdebstrap', '--variant=apt', '--skip=cleanup/apt',
                             f'--include={",".join(filter(None, (PACKAGES, more)))}', 'bookworm',
                             path, MIRROR)
    if code:
        return said
    with open('/etc/resolv.conf') as file:
        Root(path).write('etc/resolv.conf', file.read())
    Root(path).write('usr/sbin/policy-rc.d', '#!/bin/sh\nexit 101\n')
    os.chmod(os.path.join(path, 'usr/sbin/policy-rc.d'), 0o755)
    code, said = package.run('mount', '-t', 'proc', 'proc', os.path.join(path, 'proc'))
    return said if code else None


def remove(directory):
    package.run('umount', os.path.join(directory, 'root/proc'))
    shutil.rmtree(directory)


def packages(directory, given):
    """The place of our package, built if necessary; None and the messages."""
    if given:
        return package.file_of(given, 'opensm'), f'no opensm_*.deb in {given}'
    step('building the packages')
    _, said = package.build(directory)
    return package.file_of(directory, 'opensm'), said[-1500:]


def work(checks, directory, given):
    deb, said = packages(directory, given)
    if not checks.check('the package', deb, said):
        return
    step('a bare Debian with its opensm')
    failure = bare_debian(directory)
    if checks.check('mmdebstrap', not failure, failure):
        migrate(Site(Root(os.path.join(directory, 'root')), checks), deb)


def main():
    why = package.missing(NEEDED) or ibsim.missing(['smpquery'])
    if why or os.getuid() != 0:
        print(f'migration: {why or "only root can do this"}', file=sys.stderr)
        return 2
    sys.stdout.reconfigure(line_buffering=True)
    ibsim.end_cleanly()
    checks = ibsim.Checks()
    directory = tempfile.mkdtemp(prefix='opensm-migration.')
    try:
        work(checks, directory, sys.argv[1] if len(sys.argv) > 1 else None)
    except ibsim.Failure as failure:
        checks.check('the migration goes to its end', False, failure)
    finally:
        remove(directory)
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
