#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Messages of the program to a service manager, played by this test: sd_notify(3)."""

import ctypes
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))

from checks import Checks  # noqa: E402 (found through the path above)

SECONDS = 120  # for what takes well below a second on an idle machine

checks = Checks()
check = checks.check


class Manager:
    """Starts opensm and receives its messages."""

    def __init__(self, directory, *options, **env):
        self.dir, self.options, self.env = directory, options, env
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(os.path.join(directory, 'notify'))

    def __enter__(self):
        conf = os.path.join(self.dir, 'conf')
        with open(conf, 'w') as file:
            file.write('transaction_timeout 5000\n')
        self.child = subprocess.Popen(
            [os.environ.get('OPENSM', './opensm/opensm'), '-F', conf, '--sim', 'fattree:4', '-f',
             os.path.join(self.dir, 'log'), *self.options], stdin=subprocess.DEVNULL,
            stdout=open(os.path.join(self.dir, 'out'), 'w'),
            env=dict(os.environ, OSM_CACHE_DIR=self.dir, NOTIFY_SOCKET=self.socket.getsockname(),
                     **self.env))
        return self

    def __exit__(self, *_):
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait()
        self.socket.close()

    def log(self):
        with open(os.path.join(self.dir, 'log')) as file:
            return file.read()

    def logs(self, text, times=1, seconds=SECONDS):
        """Whether the log has a text that many times; it is written by a separate thread."""
        for _ in range(seconds * 10):
            if self.log().count(text) >= times:
                return True
            time.sleep(0.1)
        return False

    def says(self, seconds):
        """The next message, or None."""
        self.socket.settimeout(seconds)
        try:
            return self.socket.recv(4096).decode()
        except TimeoutError:
            return None

    def until(self, start):
        """All messages until one begins like this."""
        said = []
        while not said or not said[-1].startswith(start):
            text = self.says(SECONDS)
            if text is None:
                check(f'{start} is said', False, said)
                return said
            said.append(text)
        return said


def life(manager):
    said = manager.until('READY=1')
    check('READY=1 when the subnet is up', manager.logs('SUBNET UP'), manager.log())
    check('STATUS= before it', any(re.match('STATUS=MASTER, subnet up: 20 switches', text)
                                   for text in said), said)
    before = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
    manager.child.send_signal(signal.SIGHUP)
    told = re.match('RELOADING=1\nMONOTONIC_USEC=([0-9]+)$', manager.until('RELOADING=1')[-1])
    check('RELOADING=1 with its time', told and int(told[1]) >= before, told)
    check('READY=1 after it', manager.until('READY=1')[-1] == 'READY=1')
    manager.child.terminate()
    check('STOPPING=1', manager.until('STOPPING=1')[-1] == 'STOPPING=1')
    manager.child.terminate()
    check('it ends well, though asked twice', manager.child.wait(SECONDS) == 0)
    said = []
    while said[-1:] != [None]:
        said.append(manager.says(0.01))
    check('STOPPING=1 once', 'STOPPING=1' not in said, said)


def patience(manager):
    """A first sweep that takes longer than the time between two messages."""
    said = manager.until('READY=1')
    extended = [text for text in said if text == 'EXTEND_TIMEOUT_USEC=120000000']
    check('patience is asked for at once', 'EXTEND_TIMEOUT_USEC=120000000' in said[:4], said)
    check('and repeatedly', len(extended) > 2, said)
    said = [manager.until('WATCHDOG=1') for _ in range(4)]
    check('but not after READY=1', not any('EXTEND' in text for texts in said for text in texts),
          said)


OPENSMCTL = os.path.abspath(os.environ.get('OPENSMCTL', './opensm/opensmctl/opensmctl'))


def control(manager, *words):
    done = subprocess.run([OPENSMCTL, '-s', os.path.join(manager.dir, 'control'), *words],
                          capture_output=True, text=True, timeout=SECONDS)
    check(f'opensmctl {" ".join(words)}', done.returncode == 0, done)


def shows(manager, text, times):
    """Whether --progress has had a line that many times; it writes one on each change."""
    lines = []
    for _ in range(30 * 10):
        with open(os.path.join(manager.dir, 'out')) as file:
            lines = file.read().splitlines()
        if lines.count(text) >= times:
            break
        time.sleep(0.1)
    check(f'--progress shows {text}', lines.count(text) == times, lines[-5:])


def cut_off(manager):
    """Its port is down, and up again: shown by STATUS= and --progress, which know no subnet
    then."""
    down, up = 'MASTER, its port is down', 'MASTER  20 switches  16 hosts  116 active ports'
    manager.until('READY=1')
    shows(manager, up, 1)
    control(manager, 'sim', 'unlink', 'host-0', '1')
    check('STATUS= names the port that is down', manager.until(f'STATUS={down}'))
    shows(manager, down, 1)
    control(manager, 'sim', 'link', 'host-0', '1')
    check('STATUS= of the subnet again', manager.until('STATUS=MASTER, subnet up: 20 switches'))
    shows(manager, up, 2)


def stays(manager):
    """daemon TRUE in a file that was made for the classic daemon."""
    manager.until('READY=1')
    check('daemon is ignored', manager.child.poll() is None)
    check('the log says so', manager.logs('daemon is ignored'), manager.log())
    manager.child.terminate()
    check('it ends well', manager.child.wait(SECONDS) == 0)


def watched(manager):
    begin = time.monotonic()
    for _ in range(4):
        manager.until('WATCHDOG=1')
    check('twice in the time that is given', time.monotonic() - begin < SECONDS / 2)
    check('not more often', time.monotonic() - begin > 0.25)


def thread(child, name):
    tasks = f'/proc/{child.pid}/task'
    for task in os.listdir(tasks):
        with open(f'{tasks}/{task}/comm') as file:
            if file.read().strip() == name:
                return int(task)
    raise LookupError(name)


class Stopped:
    """One thread of a child, by ptrace(2)."""

    SEIZE, INTERRUPT, DETACH = 0x4206, 0x4207, 17
    WALL = 0x40000000  # of waitpid(2): threads, too

    def __init__(self, task):
        self.task = task
        self.libc = ctypes.CDLL(None, use_errno=True)

    def trace(self, request):
        if self.libc.ptrace(request, self.task, None, None):
            raise OSError(ctypes.get_errno(), 'ptrace')

    def __enter__(self):
        self.trace(self.SEIZE)
        self.trace(self.INTERRUPT)
        os.waitpid(self.task, self.WALL)

    def __exit__(self, *_):
        self.trace(self.DETACH)


def missed(manager, name):
    """Whether the log reports it; a thread stopped with a lock held also stops those that would log
    it."""
    text = f'the actor {name} does not run'
    before = manager.log().count(text)  # on a busy machine; one may be on its way, too
    return manager.logs(text, before + 2, seconds=5)


def stuck(manager, name, actors):
    manager.until('READY=1')
    for _ in range(SECONDS // 5):
        with Stopped(thread(manager.child, actors)):
            told = missed(manager, name)
            if told:
                while manager.says(0.01):
                    pass  # before it was missed
                said = manager.says(1)
                check(f'silence while {name} does not run', said is None, said)
                break
    check(f'{name} is missed', told, manager.log())
    check(f'WATCHDOG=1 once {name} runs again', manager.until('WATCHDOG=1')[-1] == 'WATCHDOG=1')


def main():
    with tempfile.TemporaryDirectory(prefix='opensm-service.') as directory:
        with Manager(directory) as manager:
            life(manager)
    with tempfile.TemporaryDirectory(prefix='opensm-service.') as directory:
        with Manager(directory, '--sim-sma-ns', '5000000', WATCHDOG_USEC='200000') as manager:
            patience(manager)
    with tempfile.TemporaryDirectory(prefix='opensm-service.') as directory:
        with Manager(directory, '--progress', '--control-socket',
                     os.path.join(directory, 'control')) as manager:
            cut_off(manager)
    with tempfile.TemporaryDirectory(prefix='opensm-service.') as directory:
        with Manager(directory, '-B') as manager:
            stays(manager)
    with tempfile.TemporaryDirectory(prefix='opensm-service.') as directory:
        with Manager(directory, WATCHDOG_USEC='200000') as manager:
            watched(manager)
    for name, actors in (('mad', 'mad+sm'), ('sm', 'mad+sm'), ('sa', 'rmpp+sa')):
        with tempfile.TemporaryDirectory(prefix='opensm-service.') as directory:
            with Manager(directory, WATCHDOG_USEC='200000') as manager:
                stuck(manager, name, actors)
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
