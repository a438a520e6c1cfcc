#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""opensmctl events --follow: restarts of the daemon, gaps, slow readers, kinds, and how it ends.
On a simulated fabric; run in the build directory."""

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from test_console import SECONDS, check, checks, wait_for  # noqa: E402
from test_control_socket import Control, SocketDaemon  # noqa: E402
from test_opensmctl import OPENSMCTL, ends, run  # noqa: E402


class Follower:
    """A program that reads the stream as JSON; `reads` false: not before read() is called."""

    def __init__(self, path, *words, reads=True):
        self.child = subprocess.Popen([OPENSMCTL, '-s', path, 'events', '--follow', '--json',
                                       *words], stdout=subprocess.PIPE)
        self.rows = []
        self.thread = threading.Thread(target=self._read)
        if reads:
            self.thread.start()
        else:
            fcntl.fcntl(self.child.stdout, fcntl.F_SETPIPE_SZ, 4096)

    def _read(self):
        for line in self.child.stdout:
            self.rows.append(json.loads(line))

    def read(self):
        self.thread.start()

    def find(self, **wanted):
        return [row for row in list(self.rows)
                if all(row.get(name) == value for name, value in wanted.items())]

    def sees(self, what, **wanted):
        check(what, wait_for(lambda: self.find(**wanted)), self.rows[-5:])
        return self.find(**wanted)[0]

    def ends(self, what, number=signal.SIGINT, code=0):
        self.child.send_signal(number)
        check(what, self.child.wait(SECONDS) == code, self.child.returncode)
        self.thread.join(SECONDS)


def up(daemon):
    check('it listens', daemon.listens())
    check('the subnet', daemon.wait_log('SUBNET UP'))
    # The sweeps of the start are over once the journal has no more news.
    last = None
    while last != (last := json.loads(run('-s', daemon.socket, '-j', 'events', '0').stdout)):
        time.sleep(0.3)


def in_order(rows):
    """Serials of each run only grow; a gap and a new run say where they go on."""
    place = None
    for row in rows:
        if row['kind'] == 'stream' and row['change'] in ('start', 'run'):
            place = row['serial']
        elif row['kind'] == 'stream' and row['change'] == 'gap':
            if row['after'] < place or row['serial'] != row['after'] + row['missed']:
                return False
            place = row['serial']
        elif row['kind'] != 'stream':
            if row['serial'] <= place:
                return False
            place = row['serial']
    return True


def restart(path):
    with SocketDaemon(socket_path=path) as daemon:
        up(daemon)
        follower = Follower(path)
        start = follower.sees('the start', kind='stream', change='start')
        check('where it starts', start['state'] == 'MASTER' and start['generation'] > 0 and
              re.fullmatch('0x[0-9a-f]{16}', start['run']), start)
        run('-s', path, 'sim', 'unlink', 'leaf-0-0', '3')
        down = follower.sees('a link', kind='link', change='link_down')
        check('of which subnet', down['generation'] > start['generation'], down)
        check('of which port', down['guid'] == '0x0200000080000700' and down['port'] == 3, down)
        daemon.child.kill()
        daemon.child.wait(SECONDS)
        follower.sees('the loss', kind='stream', change='lost')
        daemon.child.returncode = 0
    with SocketDaemon(socket_path=path) as daemon:
        again = follower.sees('another run', kind='stream', change='run')
        check('it is another one', again['run'] != start['run'] and again['serial'] == 0, again)
        first = follower.sees('its first event', run=again['run'], text='the SM is DISCOVERING')
        check('from the beginning', first['serial'] == 1, first)
        up(daemon)
        run('-s', path, 'sim', 'unlink', 'leaf-0-0', '3')
        follower.sees('a link', run=again['run'], change='link_down')
        check('told once each', len(follower.find(kind='stream')) == 3 and
              in_order(follower.rows), follower.rows)
        old = Follower(path, '--since', f'{start["run"]}:{down["serial"]}')
        old.sees('an old place is of an earlier run', kind='stream', change='run')
        old.sees('from the beginning', run=again['run'], serial=1)
        old.ends('SIGTERM', signal.SIGTERM)
        stops_and_goes_on(daemon, follower)
        follower.ends('SIGINT')


def stops_and_goes_on(daemon, follower):
    """A session that the daemon ends, while the daemon itself goes on."""
    with Control(daemon.socket) as control:
        seats = control.ask('events 0 json')
        check('it answers', seats['status'] == 0)
    before = len(follower.find(kind='stream'))
    resume = follower.rows[-1]
    other = Follower(daemon.socket, '--since', f'{resume["run"]}:{resume["serial"]}')
    other.sees('a place of this run', kind='stream', change='start')
    run('-s', daemon.socket, 'sweep', 'off')
    other.sees('what is new', text='sweeps are off')
    follower.sees('to all', text='sweeps are off')
    check('and nothing twice', in_order(other.rows) and len(follower.find(kind='stream')) ==
          before and not other.find(serial=resume['serial'], kind=resume['kind']), other.rows)
    other.ends('SIGINT')


def kinds(daemon):
    follower = Follower(daemon.socket, '--since', '0', '--kind', 'link,options')
    follower.sees('the start', kind='stream', change='start')
    run('-s', daemon.socket, 'sim', 'unlink', 'leaf-1-0', '3')
    follower.sees('a link', kind='link')
    daemon.child.send_signal(signal.SIGHUP)
    follower.sees('options', kind='options')
    check('nothing else', {row['kind'] for row in follower.rows} == {'stream', 'link', 'options'},
          follower.rows)
    follower.ends('SIGINT')


def slow(daemon):
    """4,000 events while a reader sleeps: the daemon keeps half of them."""
    quick = Follower(daemon.socket, '--kind', 'sweep')
    sleeper = Follower(daemon.socket, reads=False)
    quick.sees('the start', kind='stream', change='start')
    with Control(daemon.socket) as control:
        began = time.monotonic()
        for i in range(4000):
            control.ask('sweep off' if i % 2 else 'sweep on')
        took = time.monotonic() - began
        check('nothing waits for the sleeper', took < SECONDS, took)
    run('-s', daemon.socket, 'sweep', 'on')
    last = json.loads(run('-s', daemon.socket, '-j', 'events', '1').stdout)
    check('a quick reader gets all', wait_for(
        lambda: quick.rows[-1]['serial'] >= last['events'][0]['serial']), quick.rows[-1])
    check('without a gap', not quick.find(change='gap') and
          len(quick.find(text='sweeps are off')) == 2000, quick.find(change='gap'))
    sleeper.read()
    gap = sleeper.sees('the sleeper is told of the gap', kind='stream', change='gap')
    check('it goes on', wait_for(
        lambda: sleeper.rows[-1]['serial'] >= last['events'][0]['serial']), sleeper.rows[-1])
    check('one gap, in order', len(sleeper.find(change='gap')) == 1 and in_order(sleeper.rows),
          gap)
    after = [row for row in sleeper.rows if row['serial'] > gap['serial'] and
             row['kind'] != 'stream']
    check('all that is kept comes after it', len(after) >= 2000 and
          after[0]['serial'] == gap['serial'] + 1, (len(after), gap, after[0]))
    sleeper.ends('SIGINT')
    quick.ends('SIGINT')


def how_it_ends(daemon):
    def follow(*words):
        return run('-s', daemon.socket, 'events', '--follow', *words)

    for words, err in ((['--kind', 'wire'], "'wire': expected kinds of events"),
                       (['--kind', 'LINK'], '--kind'), (['--since', 'x'], '--since'),
                       (['x'], "'x'"), (['--nonsense'], '--nonsense')):
        ends(f'wrong: {words}', follow(*words), 2, err=err)
    ends('quiet', run('-q', '-s', daemon.socket, 'events', '--follow'), 2, err='--quiet')
    with open('/dev/full', 'w') as full:
        lost = subprocess.run([OPENSMCTL, '-s', daemon.socket, 'events', '--follow'], stdout=full,
                              stderr=subprocess.PIPE, text=True, timeout=SECONDS)
    check('events that cannot be written', lost.returncode == 1 and
          'No space left' in lost.stderr, lost)
    with subprocess.Popen([OPENSMCTL, '-s', daemon.socket, 'events', '--follow', '--kind',
                           'options'], stdout=subprocess.PIPE) as idle:
        idle.stdout.readline()
        idle.stdout.close()
        check('a closed output', idle.wait(SECONDS) == -signal.SIGPIPE, idle.returncode)
    sleeper = subprocess.Popen([OPENSMCTL, '-s', daemon.socket, 'events', '--follow', '--since',
                                '0'], stdout=subprocess.PIPE)
    time.sleep(0.5)  # it waits for its reader now
    sleeper.terminate()
    check('a signal ends it all the same', sleeper.wait(SECONDS) == 0, sleeper.returncode)
    text = sleeper.stdout.read()
    check('after a whole line', len(text) > 2000 and text.endswith(b'\n'), text[-100:])
    check('as text', re.match(rb'0 \S+ stream  the stream starts: run 0x\w{16}, MASTER, '
                              rb'generation \d+\n\d+ \S+ (stream|sweep)  ', text), text[:200])
    sleeper.stdout.close()


def main():
    with tempfile.TemporaryDirectory() as top:
        path = os.path.join(top, 'sm.sock')
        ends('no daemon', run('-s', path, 'events', '--follow'), 3, err='sm.sock: ')
        restart(path)
    with SocketDaemon() as daemon:
        up(daemon)
        kinds(daemon)
        slow(daemon)
        how_it_ends(daemon)
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
