# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""opensm-ssa, ssadmin and Redis servers beside the programs of an osmsim.Fabric."""

import json
import os
import shutil
import socket
import subprocess

import ibsim
import osmsim

SECONDS = 60
KEY = 'a key that is long enough\n'
NODE, ADMIN = ('opensm', 'ssa', 'node', 'opensm-ssa'), ('opensm', 'ssa', 'admin', 'ssadmin')
REDIS = ('--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--repl-diskless-sync', 'yes',
         '--repl-diskless-sync-delay', '0', '--loglevel', 'warning')


def missing():
    """Why this host cannot run a tree, or None."""
    return None if shutil.which('redis-server') else 'redis-server is not installed'


def write(fabric, name, text, mode=0o644):
    with open(fabric.path(name), 'w', opener=lambda *a: os.open(*a, mode=mode)) as file:
        file.write(text)


def write_key(fabric):
    write(fabric, 'key', KEY, 0o600)


def daemon_options(fabric, store='store'):
    return (f'ssa TRUE\nssa_directory {fabric.path(store)}\n'
            f'ssa_key_file {fabric.path("key")}\n')


def start_node(fabric, name, text, host=None):
    """opensm-ssa with a configuration of that name; on a host, it has umad devices."""
    write(fabric, f'{name}.conf', f'key_file {fabric.path("key")}\n{text}')
    return fabric.spawn([osmsim.built(*NODE), '-c', f'{name}.conf'], f'{name}.out',
                        env=fabric.on(host) if host else fabric.env)


def ssadmin(fabric, host, *words, snapshot='snapshot'):
    """(exit code, answer)"""
    run = subprocess.run([osmsim.built(*ADMIN), '-s', fabric.path(snapshot), '--json', *words],
                         env=fabric.on(host), text=True, capture_output=True, timeout=SECONDS)
    if run.stderr:
        print(run.stderr, end='')
    return run.returncode, json.loads(run.stdout) if run.stdout else None


def epoch(fabric, host, **more):
    """(term, epoch) of a snapshot; (0, 0): there is none."""
    if not os.path.exists(fabric.path(more.get('snapshot', 'snapshot'))):
        return 0, 0
    code, answer = ssadmin(fabric, host, 'snapshot', **more)
    return (answer['term'], answer['epoch']) if code == 0 else (0, 0)


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


class Redis:
    """A server of its own on the loopback."""

    def __init__(self, fabric, name):
        self.port, out = free_port(), f'{name}.out'
        os.mkdir(fabric.path(name))
        self.child = fabric.spawn(['redis-server', '--port', str(self.port), '--dir',
                                   fabric.path(name), *REDIS], out, stdin=subprocess.DEVNULL)
        self.uri = f'redis://127.0.0.1:{self.port}'
        fabric.wait(self.answers, ibsim.PATIENCE, 'redis-server', alive=self.child)

    def answers(self):
        try:
            with socket.create_connection(('127.0.0.1', self.port), 1) as link:
                link.sendall(b'PING\r\n')
                return link.recv(16).startswith(b'+PONG')
        except OSError:
            return False
