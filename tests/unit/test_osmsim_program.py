#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""osmsim as a shell starts it."""

import os
import pty
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))

from checks import Checks  # noqa: E402 (found through the path above)

PROGRAM = os.path.join(os.environ.get('top_builddir', '.'), 'libvendor', 'osmsim', 'osmsim')
SECONDS = 60

checks = Checks()
check = checks.check


def command(line):
    """The running server's answer, or None."""
    try:
        return subprocess.run([PROGRAM, '-c', line], capture_output=True, text=True,
                              timeout=SECONDS).stdout
    except subprocess.TimeoutExpired:
        return None


def read_until(master, words):
    said = b''
    while words not in said:
        try:
            more = os.read(master, 4096)
        except OSError:  # no process has the terminal open any more
            more = b''
        if not more:
            break
        said += more
    return said


def test_background():
    """"osmsim SPEC &" continues to serve whatever is typed at that terminal."""
    pid, master = pty.fork()
    if pid == 0:
        server = subprocess.Popen([PROGRAM, 'fattree:4'], preexec_fn=os.setpgrp)
        try:
            os._exit(server.wait(2 * SECONDS))
        except subprocess.TimeoutExpired:
            server.kill()
            os._exit(1)
    said = read_until(master, b'osmsim.socket\r\n')
    os.write(master, b'quit\n')
    answer = command('nodes host-0')
    check('it answers in the background', answer is not None and 'host-0' in answer, answer)
    command('quit')
    said += read_until(master, b'no such words')
    check('it ends well', os.waitpid(pid, 0)[1] == 0)
    check('it prompts nobody', b'osmsim>' not in said, said)
    os.close(master)


with tempfile.TemporaryDirectory() as directory:
    os.environ['OSMSIM_SOCKET'] = os.path.join(directory, 'osmsim.socket')
    test_background()
sys.exit(checks.close())
