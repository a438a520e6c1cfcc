#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Every option that names a file, with a FIFO, a device and a directory under that name: opensm
reports it and ends, and does not wait. The files with keys: for their owner only, never through a
link. Loops over options.def, so that a new option is tested too. On a simulated fabric."""

import contextlib
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))

from checks import Checks  # noqa: E402 (found through the path above)

SOURCE = os.environ.get('top_srcdir', '.')
BUILD = os.environ.get('top_builddir', '.')
OPENSM = os.environ.get('OPENSM') or os.path.abspath(os.path.join(BUILD, 'opensm', 'opensm'))
OSMROUTE = os.environ.get('OSMROUTE') or os.path.abspath(
    os.path.join(BUILD, 'opensm', 'osmroute', 'osmroute'))
FABRIC = 'mesh:2'
SECONDS = 20  # for what takes a fraction of one on an idle machine
# KiB of address space: a program that reads a device to its end fails before the machine does.
MEMORY = 4 << 20
SANITIZER = rb'__[at]san_init'  # a sanitizer needs terabytes of it
ENGINES = 'minhop,ftree,dor,file'  # with the readers of all files
# Rewritten; and appended to, which may be a device.
WRITTEN = ('create_config', 'pidfile', 'pcap')
APPENDED = ('log_file',)
# If something is wrong with these files, it is logged, and stops nothing.
DIRECTORIES = ('dump_files_dir', 'ssa_directory')
# Ways to the daemon: it logs why there is none, and works without.
TOLD = ('control_socket', 'console_tls_cert', 'console_tls_key', 'console_tls_ca')
# Written only when a command asks for it.
ON_DEMAND = ('event_db_dump_file',)
# State of earlier runs of the daemon.
STATE = ('sa_db_file',)
# Files of which the first line is read.
SECRETS = ('console_key_file', 'm_key_seed_file', 'replication_key_file', 'ssa_key_file')


def file_options():
    """Name and scope of all options whose value is the name of a file."""
    with open(os.path.join(SOURCE, 'opensm/core/options.def')) as file:
        text = file.read()
    rows = re.findall(r'^OPTION\((\w+), PATH,.*?\b(LIVE|RESTART|COMMAND),', text,
                      re.M | re.S)
    return rows + [('sim', 'COMMAND')]


class Bench(Checks):
    def __init__(self, directory):
        super().__init__()
        self.dir = directory
        with open(OPENSM, 'rb') as file:
            self.memory = 'unlimited' if re.search(SANITIZER, file.read()) else str(MEMORY)

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, text):
        with open(self.path(name), 'w') as file:
            file.write(text)
        return self.path(name)

    def run(self, *argv, stdin=subprocess.DEVNULL):
        """Exit code and output; None and the reason if it does not end."""
        try:
            run = subprocess.run(['sh', '-c', 'ulimit -v $0; exec "$@"', self.memory, *argv],
                                 env=dict(os.environ, OSM_CACHE_DIR=self.path('cache')),
                                 timeout=SECONDS, stdin=stdin, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, errors='replace')
        except subprocess.TimeoutExpired:
            return None, 'hangs'
        return run.returncode, run.stdout

    def opensm(self, option, scope, file):
        """The daemon for one sweep, with this option of this value."""
        # On a busy machine an answer of the simulated fabric may take its time.
        text = f'dump_files_dir {self.dir}\nlog_file stdout\ntransaction_timeout 5000\n'
        argv = [] if option == 'sim' else ['--sim', FABRIC]
        if option == 'console_key_file':
            argv += ['--console', 'loopback', '--console-port', '49876']
        if option == 'qos_policy_file':
            argv += ['--qos']
        if option.startswith('ssa_'):
            text += 'ssa TRUE\n'
        if option.startswith('console_tls'):
            argv += ['--console', 'socket', '--console-port', '49876']
        if scope == 'COMMAND':
            argv += ['--' + option.replace('_', '-'), file]
        else:
            text += f'{option} {file}\n'
        if option != 'config':
            argv += ['-F', self.write('opensm.conf', text)]
        # Each is a separate site: files of the one before are not missing here.
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path('cache/options.state'))
        engines = 'torus-2QoS' if option == 'torus_config' else ENGINES
        return self.run(OPENSM, '--once', '-R', engines, *argv)

    def refused(self, what, option, scope, file):
        """At start; state of earlier runs of the daemon is skipped instead, which is logged."""
        code, out = self.opensm(option, scope, file)
        for _ in range(20):  # by the SA, beside the sweep after which the daemon ends
            if option not in STATE or file in out:
                break
            code, out = self.opensm(option, scope, file)
        self.check(f'{option}: {what} is refused',
                   code == (0 if option in STATE else 1) and file in out, (code, out))
        return out


def is_fifo(path):
    return os.path.exists(path) and stat.S_ISFIFO(os.stat(path).st_mode)


def not_regular(bench):
    fifo = bench.path('fifo')
    os.mkfifo(fifo)
    options = file_options()
    bench.check('options.def is read', len(options) > 20, options)
    for option, scope in options:
        if option in ON_DEMAND:
            continue  # see dump_counters in tests/unit/test_console_perfmgr.c
        if option in DIRECTORIES:
            code, out = bench.opensm(option, scope, fifo)
            told = re.search(f'cannot (write|make).*{fifo}|{fifo}: cannot make', out)
            bench.check(f'{option}: a FIFO is told', code == 0 and told, (code, out))
        elif option in TOLD:
            for file in (fifo, bench.dir, '/dev/zero'):
                code, out = bench.opensm(option, scope, file)
                bench.check(f'{option}: {file} is told',
                            code == 0 and f'{option}: {file}: expected' in out, (code, out))
        else:
            bench.refused('a FIFO', option, scope, fifo)
            bench.refused('a directory', option, scope, bench.dir)
            # Never written to: a program that gets that wrong as root replaces the device of this
            # machine.
            if option not in WRITTEN + APPENDED:
                bench.refused('a device', option, scope, '/dev/zero')
        bench.check(f'{option}: the FIFO stays', is_fifo(fifo))
        if not is_fifo(fifo):
            os.mkfifo(fifo)


def written(bench):
    for option in WRITTEN:
        file = bench.write(option, 'old\n')
        os.chmod(file, 0o644)
        link, victim = bench.path('link'), bench.write('victim', 'mine\n')
        with open(file, errors='replace') as before:
            code, out = bench.opensm(option, 'COMMAND', file)
            bench.check(f'{option}: is written', code == 0, (code, out))
            bench.check(f'{option}: not into what others have open', before.read() == 'old\n')
        if option != 'pidfile':
            mode = stat.S_IMODE(os.stat(file).st_mode)
            bench.check(f'{option}: for its owner only', mode == 0o600, oct(mode))
        os.symlink(victim, link)
        bench.refused('a symbolic link', option, 'COMMAND', link)
        with open(victim, errors='replace') as after:
            bench.check(f'{option}: where it leads all stays', after.read() == 'mine\n')
        if os.path.lexists(link):
            os.unlink(link)
        left = [name for name in os.listdir(bench.dir) if name.startswith(option + '.')]
        bench.check(f'{option}: nothing is left behind', not left, left)


def too_large(bench):
    huge = bench.path('huge')
    with open(huge, 'w') as file:
        file.truncate(2 << 30)
    for option, scope in file_options():
        if option in WRITTEN + APPENDED + ON_DEMAND + DIRECTORIES + TOLD + SECRETS:
            continue
        out = bench.refused('2 GiB', option, scope, huge)
        bench.check(f'{option}: the limit is told', 'expected at most' in out, out)


def topologies(bench):
    """A topology comes from a pipe only where that is requested by name."""
    text = 'Switch 2 "S-1"\n[1] "H-2"[1]\nHca 1 "H-2"\n[1] "S-1"[1]\n'
    link, file = bench.path('net-link'), bench.write('net', text)
    os.symlink(file, link)
    code, out = bench.run(OSMROUTE, '-R', 'minhop', link)
    bench.check('a link to a topology', code == 0, (code, out))
    with open(file) as stream:
        code, out = bench.run('sh', '-c', f'cat | exec {OSMROUTE} -R minhop -', stdin=stream)
    bench.check('a topology from a pipe', code == 0, (code, out))
    code, out = bench.run(OSMROUTE, '-R', 'minhop', '/dev/zero')
    bench.check('a topology of /dev/zero', code == 1 and '/dev/zero' in out, (code, out))
    for flag in ('--dot', '--svg', '--lfts'):
        code, out = bench.run(OSMROUTE, '-R', 'minhop', flag, bench.path('fifo'), file)
        bench.check(f'osmroute {flag}: a FIFO is refused', code == 1 and 'fifo' in out, (code, out))


def main():
    directory = tempfile.mkdtemp(prefix='opensm-files-')
    bench = Bench(directory)
    try:
        not_regular(bench)
        written(bench)
        too_large(bench)
        topologies(bench)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return bench.close()


if __name__ == '__main__':
    sys.exit(main())
