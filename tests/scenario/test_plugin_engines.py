#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Routing engines of plug-ins in the daemon, on threads and in processes of their own: lies are
refused and named, a process that dies while it computes, a torus that loses a cable. On a simulated
fabric; run in the build directory."""

import json
import os
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from test_console import SECONDS, check, checks, wait_for  # noqa: E402
from test_plugins import DIRECTORY, OPENSM, PluginDaemon, conf, install  # noqa: E402

TORUS = 'torus:3x5:1'
LIES = (('loop', 'loop'), ('hole', 'LID'), ('promise', 'credit loop: '),
        ('detour', 'it promises shortest paths, but that from '),
        ('port', 'is port 6, but it has 5 ports'), ('mute', 'hosts without an SL: '),
        ('vl', 'SL 0 is on VL 15, but there are only '), ('fails', 'this is no torus'),
        ('silent', 'it fails with -2, and does not say why'))


def lies(process):
    """Each is told in one line, and another engine makes the tables."""
    for lie, text in LIES:
        with tempfile.TemporaryDirectory() as directory:
            path, log = os.path.join(directory, 'conf'), os.path.join(directory, 'log')
            with open(path, 'w') as file:
                file.write(conf('liar', process, f'liar {lie}', 'routing_engine liar,updn\n'))
            result = subprocess.run(
                [OPENSM, '-F', path, '--sim', TORUS, '--once', '-f', log], capture_output=True,
                text=True, timeout=SECONDS, env={**os.environ, 'OSM_CACHE_DIR': directory,
                                                 'LD_LIBRARY_PATH': DIRECTORY.name})
            with open(log) as file:
                lines = file.read().split('\n')
        named = [line for line in lines if 'ERR routing engine liar: ' in line]
        check(f'{lie}: it is named', len(named) == 1 and text in named[0], lines)
        check(f'{lie}: the next engine routes', result.returncode == 0 and any(
            'updn tables configured on all switches' in line for line in lines), lines)


class EngineDaemon(PluginDaemon):
    def __init__(self, name, process, options='', engines=''):
        super().__init__(name, process, options, f'routing_engine {engines or name},updn\n')
        self.argv[self.argv.index('--sim') + 1] = TORUS

    def engine(self):
        return json.loads(self.ask('-j', 'status'))['routing_engine']

    def routed_by(self, what, engine):
        check(what, wait_for(lambda: self.engine() == engine), self.read('log')[-3000:])


def dies():
    """While it computes: the next engine routes; it is started again, and asked again."""
    with EngineDaemon('liar', True, 'liar never') as daemon:
        check('it computes', daemon.wait_log('Entering MASTER'))
        daemon.becomes('it runs', state='running')
        os.kill(daemon.plugin()['process'], signal.SIGKILL)
        check('it is named', daemon.wait_log('ERR routing engine liar: plug-in liar: '),
              daemon.read('log')[-2000:])
        daemon.up()
        daemon.routed_by('the next engine', 'updn')
        daemon.becomes('it is started again', state='running', restarts=1)


def torus(process):
    with EngineDaemon('torus_dor', process) as daemon:
        daemon.up()
        daemon.routed_by('a torus', 'torus_dor')
        for port in (('switch-0-0', '2'), ('switch-1-2', '4')):
            daemon.ask('sim', 'unlink', *port)
            daemon.routed_by('without a cable', 'updn')
            check('why', 'torus_dor: plug-in torus_dor: a cable or VL is missing' in
                  daemon.read('log'), daemon.read('log')[-2000:])
            daemon.ask('sim', 'link', *port)
            daemon.routed_by('with it', 'torus_dor')
        daemon.ask('plugins', 'stop', 'torus_dor')
        daemon.becomes('it is stopped', state='stopped')
        daemon.ask('reroute')
        daemon.routed_by('without the plug-in', 'updn')
        daemon.ask('plugins', 'start', 'torus_dor')
        daemon.becomes('it runs', state='running')
        daemon.ask('reroute')
        daemon.routed_by('with it', 'torus_dor')


def main():
    install('liar', 'liar.so')
    install('torus_dor', 'torus_dor.so')
    wanted = sys.argv[1:]
    for process in (False, True):
        for test in (lies, torus):
            if not wanted or test.__name__ in wanted:
                test(process)
    if not wanted or 'dies' in wanted:
        dies()
    DIRECTORY.cleanup()
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
