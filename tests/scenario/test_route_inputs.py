#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The daemon and the files that its routing options name: a wrong one stops the start; while it
runs, SIGHUP with a wrong one changes neither routes nor the contents of the other files, and the
log names file and line; a right one is used. On a simulated fabric."""

import ctypes
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))

from checks import Checks  # noqa: E402 (found through the path above)

BUILD = os.environ.get('top_builddir', '.')
LIBC = ctypes.CDLL(None)
OPENSM = os.environ.get('OPENSM') or os.path.abspath(os.path.join(BUILD, 'opensm', 'opensm'))
FABRIC = 'fattree:4'
SECONDS = 120  # for what takes well below a second on an idle machine
TABLES = 'opensm-lfts.dump'
HOPS = 'opensm-lid-matrix.dump'
ROOTS = 'opensm-updn-roots.dump'
LAST_DUMP = 'opensm.mcfdbs'
# What makes each file wrong, and the message about it: line and text.
WRONG = {
    'root_guid_file': ('spine-1\n', "1: 'spine-1' is not a GUID"),
    'cn_guid_file': ('0x0\n', "1: '0x0' is not a GUID"),
    'io_guid_file': ('0x1\n0x2, 0x3\n', "2: '0x2, 0x3': '0x2,' is not a GUID"),
    'guid_routing_order_file': ('0x1\n\x00\n', "2: '': a NUL octet"),
    'ids_guid_file': ('0x1\n', "1: '0x1': 0 numbers after the GUID"),
    'port_prof_ignore_file': ('0x1 300\n', "1: '0x1 300': '300' is not a number from 0 to 255"),
    'port_search_ordering_file': ('0x1 0\n', "1: '0x1 0': '0' is not a number from 1 to 254"),
    'hop_weights_file': ('# a\n0x1 1 256\n', "2: '0x1 1 256': '256' is not a number from 1 to 255"),
    'partition_links_file': ('0x1 0x8001\n0x1 0x8000 2\n',
                             '2: P_Key 0x8000 does not belong to a partition, expected 0x0001'),
    'lfts_file': ('0x1 1\n', "1: '0x1 1': there is no switch before it"),
    'lid_matrix_dump_file': ('', "0: '': the file ends without any switch"),
}
# Those that neither minhop nor a fall-back reads.
UNREAD = ('cn_guid_file', 'io_guid_file', 'lfts_file', 'lid_matrix_dump_file')


class Daemon:
    """One in the foreground, with all files named."""

    def __init__(self, directory, *flags):
        self.dir = directory
        with open(self.path('opensm.conf'), 'w') as file:
            # On a busy machine an answer of the simulated fabric may take its time.
            file.write(f'dump_files_dir {directory}\nforce_log_flush TRUE\n'
                       'transaction_timeout 5000\n')
            file.writelines(f'{option} {self.path(option)}\n' for option in WRONG)
        self.argv = [OPENSM, '-F', self.path('opensm.conf'), '--sim', FABRIC, '-D', '0x43', *flags]
        self.env = dict(os.environ, OSM_CACHE_DIR=self.path('cache'))
        self.child = None

    def path(self, name):
        return os.path.join(self.dir, name)

    def read(self, name):
        try:
            with open(self.path(name), errors='replace') as file:
                return file.read()
        except FileNotFoundError:
            return ''

    def write(self, option, text):
        with open(self.path(option), 'w') as file:
            file.write(text)

    def once(self):
        """Exit code and output of a run that ends with the first sweep."""
        run = subprocess.run([*self.argv, '--once', '-f', 'stdout'], env=self.env, timeout=SECONDS,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, errors='replace')
        return run.returncode, run.stdout

    def start(self):
        with open(self.path('out'), 'w') as out:
            self.child = subprocess.Popen([*self.argv, '-f', self.path('log')], env=self.env,
                                          stdin=subprocess.DEVNULL, stdout=out,
                                          stderr=subprocess.STDOUT,
                                          preexec_fn=lambda: LIBC.prctl(1, signal.SIGKILL))

    def wait(self, done):
        end = time.monotonic() + SECONDS
        while not done():
            if time.monotonic() > end or self.child.poll() is not None:
                return False
            time.sleep(0.05)
        return True

    def hang_up(self):
        """SIGHUP, and the sweep after it with its dumps; returns the log of that time."""
        before = len(self.read('log'))
        dumped = self.dumped()
        self.child.send_signal(signal.SIGHUP)
        done = self.wait(lambda: self.dumped() != dumped and
                         ' sweep: ' in self.read('log')[before:])
        return self.read('log')[before:] if done else 'no sweep'

    def dumped(self):
        """Tells dumps of one sweep from those of another: the last of the files, which appear
        whole, one after the other."""
        try:
            status = os.stat(self.path(LAST_DUMP))
        except FileNotFoundError:
            return None
        return status.st_ino, status.st_mtime_ns

    def stop(self):
        if self.child and self.child.poll() is None:
            self.child.terminate()
            return self.child.wait(SECONDS)
        return self.child and self.child.returncode


def switches(tables):
    return re.findall(r'^Unicast lids .* guid (0x\w+)', tables, re.M)


def right_texts(daemon):
    """A right file for each option, from dumps of a run without any."""
    tables, hops = daemon.read(TABLES), daemon.read(HOPS)
    guids = switches(tables)
    hosts = re.findall(r'Channel Adapter portguid (0x\w+)', tables)
    texts = {option: f'{hosts[0]}\n{hosts[1]}\n' for option in WRONG}
    texts['root_guid_file'] = '\n'.join(guids[:4]) + '\n'
    texts['ids_guid_file'] = ''.join(f'{guid} {i}\n' for i, guid in enumerate(guids))
    texts['port_search_ordering_file'] = f'{guids[0]} 4 3 2 1\n'
    texts['hop_weights_file'] = f'{guids[0]} 1 3\n0xdead 1 2\n'
    texts['partition_links_file'] = f'{guids[0]} 0x7fff\n{guids[0]} 5 1\n'
    texts['lfts_file'], texts['lid_matrix_dump_file'] = tables, hops
    return texts


def stops_the_start(checks, daemon, texts):
    for option, (wrong, told) in WRONG.items():
        daemon.write(option, wrong)
        code, out = daemon.once()
        checks.check(f'{option}: a wrong one stops the start', code == 1, (code, out))
        checks.check(f'{option}: with a message', f'{daemon.path(option)}:{told}' in out, out)
        os.unlink(daemon.path(option))
        code, out = daemon.once()
        checks.check(f'{option}: so does none', code == 1 and daemon.path(option) in out, out)
        daemon.write(option, texts[option])
    code, out = daemon.once()
    checks.check('all right ones start', code == 0 and 'SUBNET UP' in out, (code, out))


def changes_nothing(checks, daemon, texts):
    """While it runs, one file after the other is wrong, then missing."""
    before = daemon.read(TABLES), daemon.read(HOPS)
    for option, (wrong, told) in WRONG.items():
        daemon.write(option, wrong)
        log = daemon.hang_up()
        checks.check(f'{option}: the log tells what is wrong',
                     f'stay in effect: {option}: {daemon.path(option)}:{told}' in log, log)
        os.unlink(daemon.path(option))
        log = daemon.hang_up()
        checks.check(f'{option}: or that it is gone', re.search(
            rf'stay in effect: .*{re.escape(daemon.path(option))}.*: No such file', log), log)
        checks.check(f'{option}: the routes stay',
                     (daemon.read(TABLES), daemon.read(HOPS)) == before)
        daemon.write(option, texts[option])
    log = daemon.hang_up()
    checks.check('right again: nothing to say', 'stay in effect' not in log and
                 'sweep' in log.lower(), log)
    checks.check('right again: the routes stay',
                 (daemon.read(TABLES), daemon.read(HOPS)) == before)


def takes_another(checks, daemon, texts):
    before = daemon.read(TABLES)
    weights = ''.join(f'{guid} {port} {2 + i % 3}\n' for i, guid in enumerate(switches(before))
                      for port in (1, 3))
    daemon.write('hop_weights_file', weights)
    log = daemon.hang_up()
    checks.check('another right file is taken', 'routing files changed' in log, log)
    checks.check('and changes the routes', daemon.wait(lambda: daemon.read(TABLES) != before))
    daemon.write('hop_weights_file', texts['hop_weights_file'])
    daemon.hang_up()
    checks.check('and back', daemon.wait(lambda: daemon.read(TABLES) == before))


def takes_odd_ones(checks, daemon, texts):
    """Odd files that the classic daemon accepts silently are accepted with a warning, once."""
    before = daemon.read(TABLES)
    guid = switches(before)[0]
    daemon.write('hop_weights_file', texts['hop_weights_file'] + f'{guid} 2 0\n')
    daemon.write('io_guid_file', ''.join(f'{line} "a host"\n' for line in
                                         texts['io_guid_file'].split()))
    log = daemon.hang_up()
    checks.check('weight 0 is told', re.search(r'hop_weights_file: .*:3: weight 0 of port 2 of '
                                               rf'switch {guid} counts as 1, expected', log), log)
    checks.check('names are told', 'io_guid_file:1: \'"a\' is ignored: expected' in log and
                 'io_guid_file: 1 more lines with words that are ignored' in log, log)
    checks.check('they change nothing',
                 'stay in effect' not in log and daemon.read(TABLES) == before)
    log = daemon.hang_up()
    checks.check('and are told once', 'counts as 1' not in log and 'is ignored' not in log, log)
    daemon.write('hop_weights_file', texts['hop_weights_file'])
    daemon.write('io_guid_file', texts['io_guid_file'])
    daemon.hang_up()


def run(checks, directory):
    daemon = Daemon(directory, '-R', 'minhop,ftree,dor,file')  # with the readers of all files
    for option in WRONG:  # of devices that do not exist
        daemon.write(option, '0xdead\n')
    daemon.write('ids_guid_file', '0xdead 1\n')
    daemon.write('port_search_ordering_file', '0xdead 1\n')
    daemon.write('hop_weights_file', '0xdead 1 2\n')
    daemon.write('partition_links_file', '0xdead 0x7fff\n')
    daemon.write('lfts_file', 'Unicast lids guid 0xdead:\n')
    daemon.write('lid_matrix_dump_file', 'Switch: guid 0xdead\n')
    code, out = daemon.once()
    checks.check('lists of strangers', code == 0 and os.path.exists(daemon.path(TABLES)),
                 (code, out))
    daemon.write('root_guid_file', '')
    code, out = daemon.once()
    checks.check('an empty list', code == 1 and daemon.path('root_guid_file') in out, (code, out))
    texts = right_texts(daemon)
    for option, text in texts.items():
        daemon.write(option, text)
    stops_the_start(checks, daemon, texts)
    os.unlink(daemon.path(LAST_DUMP))
    daemon.start()
    try:
        if not daemon.wait(daemon.dumped):
            checks.check('the daemon starts', False, daemon.read('out') + daemon.read('log'))
            return
        changes_nothing(checks, daemon, texts)
        takes_another(checks, daemon, texts)
        takes_odd_ones(checks, daemon, texts)
    finally:
        checks.check('it ends well', daemon.stop() == 0)
    dumps_what_is_used(checks, directory, texts)
    forgives_unread_ones(checks, Daemon(directory, '-R', 'minhop'))


def forgives_unread_ones(checks, daemon):
    """A wrong file that no engine of the list reads is reported, and no more."""
    for option, (wrong, told) in WRONG.items():
        unread = option in UNREAD
        saved = daemon.read(option)
        daemon.write(option, wrong)
        code, out = daemon.once()
        checks.check(f'{option}: stops the start if it is read', code == (0 if unread else 1),
                     (code, out))
        checks.check(f'{option}: is told', f'{option}: {daemon.path(option)}:{told}' in out and
                     ('this has no effect' in out) == unread, out)
        daemon.write(option, saved)


def dumps_what_is_used(checks, directory, texts):
    """Missing roots: the dumps name those that the present routes use."""
    daemon = Daemon(directory, '-R', 'updn')
    for option, text in texts.items():
        daemon.write(option, text)
    daemon.start()
    try:
        checks.check('updn starts', daemon.wait(lambda: daemon.read(ROOTS) and 'SUBNET UP' in
                                                daemon.read('log')), daemon.read('log'))
        time.sleep(0.3)
        before = daemon.read(TABLES), daemon.read(HOPS), daemon.read(ROOTS)
        daemon.write('root_guid_file', '0xdead\n')
        log = daemon.hang_up()
        checks.check('roots that are not there are told',
                     'stay in effect: updn: there is no root' in log, log)
        checks.check('the dumps are of the ones before', before == (
            daemon.read(TABLES), daemon.read(HOPS), daemon.read(ROOTS)) and
            before[2] == texts['root_guid_file'].replace('0x0', '0x'), before[2])
    finally:
        checks.check('updn ends well', daemon.stop() == 0)


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit('terminated: out of time'))
    checks = Checks()
    directory = tempfile.mkdtemp(prefix='opensm-inputs.')
    try:
        run(checks, directory)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
