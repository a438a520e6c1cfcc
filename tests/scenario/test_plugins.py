#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Plug-ins of the daemon, on threads and in processes of their own: loading, events, requests, the
command plugins; those that hang, crash, flood and cannot be loaded. On a simulated fabric; run in
the build directory."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from test_console import SECONDS, check, checks, wait_for  # noqa: E402
from test_control_socket import SocketDaemon  # noqa: E402
from test_opensmctl import ends, run  # noqa: E402

BUILT = os.path.abspath('tests/plugin')
OPENSM = os.environ.get('OPENSM', './opensm/opensm')
DIRECTORY = tempfile.TemporaryDirectory(prefix='opensm-plugins.')
SWEEP_DONE, LOST = 16, 63


def install(name, source):
    """A file of its own, so that two of them share no variables."""
    shutil.copy(os.path.join(BUILT, source), os.path.join(DIRECTORY.name, f'lib{name}.so'))


def conf(names, process, options, more=''):
    return (f'event_plugin_name {names}\nevent_plugin_options "{options}"\n'
            f'event_plugin_process {"TRUE" if process else "FALSE"}\n{more}')


class PluginDaemon(SocketDaemon):
    def __init__(self, names, process, options='', more='', spec='fattree:4'):
        super().__init__(env={'LD_LIBRARY_PATH': DIRECTORY.name})
        self.argv[self.argv.index('--sim') + 1] = spec
        self.record = self.path('record')
        self.path('conf', conf(names, process, options.replace('@', self.record), more))

    def lines(self):
        return self.read('record').split('\n') if os.path.exists(self.record) else []

    def events(self, number):
        return [line for line in self.lines() if line.startswith(f'event {number} ')]

    def ask(self, *words, code=0):
        result = run('-s', self.socket, *words)
        check(f'{words}', result.returncode == code, result)
        return result.stdout + result.stderr

    def plugin(self, number=0):
        return json.loads(self.ask('-j', 'plugins'))['plugins'][number]

    def becomes(self, what, **wanted):
        def is_so():
            row = self.plugin()
            return all(row[name] == value for name, value in wanted.items())
        check(what, wait_for(is_so), (self.plugin(), self.read('log')[-2000:]))

    def up(self):
        check('the subnet', self.wait_log('SUBNET UP'), self.errors())

    def routes_by(self, engine):
        def is_so():
            return json.loads(self.ask('-j', 'status'))['routing_engine'] == engine
        check(f'routes by {engine}', wait_for(is_so), self.read('log')[-2000:])

    def sweeps(self):
        """A sweep begins and ends though the plug-in does what it does."""
        before = self.read('log').count('SUBNET UP')
        self.ask('resweep', 'heavy')
        check('a sweep', wait_for(lambda: self.read('log').count('SUBNET UP') > before))


def start_fails(what, names, process, options, text, more=''):
    """The start ends, and tells why; or goes on without the plug-in, as it is not required."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, 'conf')
        for required in (True, False):
            with open(path, 'w') as file:
                file.write(conf(names, process, options,
                                more + ('' if required else 'event_plugin_required FALSE\n')))
            result = subprocess.run(
                [OPENSM, '-F', path, '--sim', 'fattree:4', '--once', '-f',
                 os.path.join(directory, 'log')], capture_output=True, text=True,
                env={**os.environ, 'OSM_CACHE_DIR': directory, 'LD_LIBRARY_PATH': DIRECTORY.name},
                timeout=SECONDS)
            with open(os.path.join(directory, 'log')) as file:
                log = file.read()
            if required:
                check(f'{what}: no start', result.returncode == 1 and
                      re.search(text, result.stderr), result)
            else:
                check(f'{what}: a start without', result.returncode == 0 and
                      re.search(text, log) and 'SUBNET UP' in result.stdout, (result, log))


def life(process):
    with PluginDaemon('odd, two', process, 'first odd to @ two log 2 odd') as daemon:
        daemon.up()
        check('an event', wait_for(lambda: daemon.events(SWEEP_DONE)), daemon.lines())
        check('the options', f'own "to {daemon.record}" request 3' in daemon.lines()[0],
              daemon.lines())
        rows = [daemon.plugin(0), daemon.plugin(1)]
        check('both run', all(row['state'] == 'running' and row['title'] == 'odd' and
                              row['version'] == '1.2' and row['own_process'] == process and
                              (row['process'] != 0) == process for row in rows), rows)
        check('their lines', 'plug-in two: line 1; second\n' in daemon.read('log'))
        check('in words', 'odd: running, odd 1.2, ' in daemon.ask('plugins'))
        check('metrics', 'opensm_plugin_up{plugin="odd"} 1\n' in daemon.ask('metrics'))
        daemon.becomes('taken', waiting=0)
        delivered = daemon.plugin()['delivered']
        check('counted', delivered > 0)
        daemon.ask('plugins', 'start', 'odd', code=1)
        daemon.ask('plugins', 'stop', 'nobody', code=1)
        daemon.ask('plugins', 'halt', 'odd', code=2)
        daemon.ask('plugins', 'stop', 'odd')
        daemon.becomes('stopped', state='stopped', process=0)
        check('by destroy()', daemon.lines()[-2] == 'destroy', daemon.lines())
        check('only this one', daemon.plugin(1)['state'] == 'running')
        check('its counts stay', daemon.plugin()['delivered'] >= delivered, daemon.plugin())
        daemon.sweeps()
        daemon.ask('plugins', 'start', 'odd')
        daemon.becomes('running again', state='running')
        before = len(daemon.events(SWEEP_DONE))
        daemon.sweeps()
        check('with events', wait_for(lambda: len(daemon.events(SWEEP_DONE)) > before))
        check('and nothing lost', not daemon.events(LOST), daemon.lines())


def asks(process):
    with PluginDaemon('odd', process, 'odd to @ ask status_--json events 0x10000') as daemon:
        daemon.up()
        check('an answer', wait_for(lambda: any(line.startswith('answer 0 {"')
                                                for line in daemon.lines())), daemon.lines())
    with PluginDaemon('odd', process, 'odd to @ ask plugins_stop_odd') as daemon:
        daemon.up()
        daemon.becomes('it stops itself', state='stopped')
    with PluginDaemon('odd', process, f'odd to @ leave {SWEEP_DONE}') as daemon:
        daemon.up()
        daemon.becomes('it leaves', state='stopped')
        check('why', daemon.wait_log('plug-in odd: it asks to be unloaded'))
        daemon.sweeps()
    with PluginDaemon('odd', process, 'odd to @ leave-create') as daemon:
        daemon.up()
        daemon.becomes('it leaves in create()', state='stopped')
        check('after it was loaded', daemon.lines()[-2] == 'destroy', daemon.lines())


def once(process):
    with tempfile.TemporaryDirectory() as directory:
        for words in ([], ['--single_thread', 'TRUE']):
            record = os.path.join(directory, 'record')
            path = os.path.join(directory, 'conf')
            with open(path, 'w') as file:
                file.write(conf('odd', process, f'odd to {record} slow-event 20',
                                'single_thread TRUE\n' if words else ''))
            result = subprocess.run(
                [OPENSM, '-F', path, '--sim', 'fattree:4', '--once', '-f',
                 os.path.join(directory, 'log')], capture_output=True, text=True,
                env={**os.environ, 'OSM_CACHE_DIR': directory, 'LD_LIBRARY_PATH': DIRECTORY.name},
                timeout=SECONDS)
            with open(record) as file:
                text = file.read()
            check('--once', result.returncode == 0 and f'event {SWEEP_DONE} ' in text and
                  text.endswith('destroy\n'), (result, text))
            os.remove(record)


def hangs(process):
    options = 'odd to @ slow-event 1000000'
    with PluginDaemon('odd', process, options) as daemon:
        daemon.up()
        daemon.sweeps()
        daemon.becomes('it is stuck', state='stuck')
        check('which is told', 'plug-in odd: it has not taken an event for 10 s' in
              daemon.read('log'))
        daemon.sweeps()
        began = time.monotonic()
        daemon.child.terminate()
        check('the daemon ends', daemon.child.wait(SECONDS) == 0)
        check('soon', time.monotonic() - began < 10, time.monotonic() - began)
        check('it is named', 'plug-in odd: its on_event() has not returned' +
              (': signal 15' if process else ' after 2 s: it stays loaded') in daemon.read('log'),
              daemon.read('log')[-2000:])
    with PluginDaemon('odd', process, 'odd to @ slow-end 1000000') as daemon:
        daemon.up()
        daemon.ask('plugins', 'stop', 'odd')
        daemon.becomes('it is left, or killed', state='stopped', process=0)
        text = ': signal 15' if process else ' after 2 s: it stays loaded'
        check('it is told', daemon.wait_log('plug-in odd: its destroy() has not returned' + text))
        daemon.sweeps()
        result = run('-s', daemon.socket, 'plugins', 'start', 'odd')
        check('it may start in a process only', (result.returncode == 0) == process, result)


def runs_on(process):
    """After destroy(): the code of its threads has to stay where it is."""
    with PluginDaemon('odd', process, 'odd hammer 16') as daemon:
        daemon.up()
        daemon.ask('plugins', 'stop', 'odd')
        daemon.becomes('it is stopped', state='stopped', process=0)
        text = 'plug-in odd: a thread of it still runs after destroy(): it stays loaded'
        check('its threads run on', process or daemon.wait_log(text), daemon.read('log')[-2000:])
        time.sleep(0.1)  # by then the daemon has seen that its host has ended
        check('not as a process', not process or text not in daemon.read('log'))
        result = run('-s', daemon.socket, 'plugins', 'start', 'odd')
        check('nor may it start then', (result.returncode == 0) == process, result)


def crashes():
    with PluginDaemon('odd', True, f'odd to @ crash {SWEEP_DONE}') as daemon:
        daemon.up()
        check('its death', daemon.wait_log('plug-in odd: signal 6 (Aborted) ended it'))
        check('the next start', daemon.wait_log('plug-in odd: it is started again in 1 s'))
        # Any sweep may end it again at once.
        check('it runs again', wait_for(lambda: daemon.plugin()['restarts'] >= 1), daemon.plugin())
        check('its first event', wait_for(lambda: daemon.events(LOST)), daemon.lines())
        lines = daemon.lines()
        check('is the loss', lines[lines.index(daemon.events(LOST)[0]) - 1].startswith('create'),
              lines)
        daemon.ask('resweep', 'heavy')
        check('later each time', daemon.wait_log('plug-in odd: it is started again in 2 s'))
        daemon.ask('plugins', 'stop', 'odd')
        daemon.becomes('it stays stopped', state='stopped')
    with PluginDaemon('odd', True, 'odd to @ crash-end') as daemon:
        daemon.up()
        daemon.ask('plugins', 'stop', 'odd')
        daemon.becomes('it dies in destroy()', state='stopped')
        check('which is told',
              daemon.wait_log('plug-in odd: its destroy() has not returned: signal 6'))


def exits():
    """In a process it ends only that; on a thread it ends the daemon, as a failure."""
    with PluginDaemon('odd', True, f'odd to @ exit {SWEEP_DONE}') as daemon:
        check('its end', daemon.wait_log('plug-in odd: it ended with exit code 0'))
    daemon = PluginDaemon('odd', False, f'odd to @ exit {SWEEP_DONE}').__enter__()
    check('no success', daemon.child.wait(SECONDS) == 1, daemon.child.returncode)
    check('it is named', 'exit() was called on the thread odd, by a plug-in: the daemon ends' in
          daemon.read('stderr'), daemon.read('stderr'))
    daemon.dir.cleanup()


def floods(process):
    with PluginDaemon('odd', process, 'odd flood 8') as daemon:
        daemon.up()
        for _ in range(3):
            daemon.sweeps()
        check('requests are served', wait_for(lambda: daemon.plugin()['requests'] > 100),
              daemon.plugin())
        daemon.ask('status')
        began = time.monotonic()
        daemon.ask('plugins', 'stop', 'odd')
        daemon.becomes('it stops', state='stopped')
        check('in time', time.monotonic() - began < 10)


def talks(process):
    with PluginDaemon('odd', process, 'odd log 3000') as daemon:
        daemon.up()
        n = daemon.read('log').count('plug-in odd: line ')
        check('few of its lines', 500 <= n <= 600, n)
        daemon.ask('plugins', 'stop', 'odd')
        daemon.becomes('stopped', state='stopped', process=0)
        time.sleep(0.2)
        daemon.ask('plugins', 'start', 'odd')
        check('which is told', daemon.wait_log('plug-in odd: line 0; second ('), n)
        check('how many', ' lines before this one were dropped)' in daemon.read('log'))


def cannot_be_loaded(process):
    start_fails('no file', 'odd,nowhere', process, '',
                'plug-in nowhere cannot be loaded: libnowhere.so: cannot open shared object file')
    start_fails('the classic', 'classic', process, '', 'written for the classic OpenSM')
    start_fails('another ABI', 'abi', process, '', 'it is made for version 2 of the interface')
    start_fails('create() fails', 'odd', process, 'null', 'its create\\(\\) has failed')
    start_fails('options too long', 'odd', process, 'y' * 61000,
                'event_plugin_options is too long: .* expected at most 60000')
    start_fails('its engine', 'nowhere', process, '', 'plug-in nowhere cannot be loaded: ',
                'routing_engine torus_dor, updn\n')
    if process:
        start_fails('a crash', 'odd', process, 'crash-create',
                    'its create\\(\\) has not returned: signal 6')


def routes(process):
    """An engine is used again as soon as its plug-in is back."""
    with PluginDaemon('torus', process, more='routing_engine torus_dor, minhop\n',
                      spec='torus:3x3x3') as daemon:
        daemon.up()
        daemon.routes_by('torus_dor')
        daemon.ask('plugins', 'stop', 'torus')
        daemon.becomes('it stops', state='stopped')
        daemon.ask('reroute')
        daemon.routes_by('minhop')
        daemon.ask('plugins', 'start', 'torus')
        daemon.routes_by('torus_dor')
        if process:
            os.kill(daemon.plugin()['process'], signal.SIGKILL)
            daemon.becomes('it dies', state='ended')
            daemon.ask('reroute')
            daemon.routes_by('minhop')
            daemon.routes_by('torus_dor')


def own_glib(process):
    with PluginDaemon('glibby', process) as daemon:
        daemon.up()
        check('its own loop', daemon.wait_log('plug-in glibby: tick'))
        daemon.ask('plugins', 'stop', 'glibby')
        daemon.becomes('it stops', state='stopped')
        daemon.ask('plugins', 'start', 'glibby')
        daemon.becomes('and starts', state='running')


def without():
    with SocketDaemon() as daemon:
        check('the subnet', daemon.wait_log('SUBNET UP'))
        ends('no plug-ins', run('-s', daemon.socket, 'plugins'), 0, out='There are no plug-ins')
        ends('none to stop', run('-s', daemon.socket, 'plugins', 'stop', 'x'), 1,
             err='event_plugin_name does not list x')
        check('no metrics', 'opensm_plugin' not in run('-s', daemon.socket, 'metrics').stdout)


def main():
    install('odd', 'odd.so')
    install('two', 'odd.so')
    install('torus', 'torus_dor.so')
    install('glibby', 'glibby.so')
    install('classic', 'wrong1.so')
    install('abi', 'wrong2.so')
    wanted = sys.argv[1:]
    for process in (False, True):
        for test in (life, asks, once, floods, talks, cannot_be_loaded, routes, own_glib,
                     runs_on, hangs):
            if not wanted or test.__name__ in wanted:
                test(process)
    if not wanted or 'crashes' in wanted:
        crashes()
    if not wanted or 'exits' in wanted:
        exits()
    if not wanted or 'without' in wanted:
        without()
    DIRECTORY.cleanup()
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
