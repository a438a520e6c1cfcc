#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What the plug-ins do that sites had for the classic daemon, as small plug-ins and as scripts that
follow events: what they write is compared with the simulator and with opensmctl. On a simulated
fabric; run in the build directory."""

import collections
import json
import os
import select
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from test_console import SECONDS, check, checks, wait_for  # noqa: E402
from test_control_socket import SocketDaemon  # noqa: E402
from test_opensmctl import OPENSMCTL, SOURCE  # noqa: E402
from test_plugins import DIRECTORY, PluginDaemon, install  # noqa: E402

NAMES = ('path_tables', 'database', 'statsd', 'manager')
SCRIPTS = ('oms.py', 'json_log.sh')
SAMPLES = os.path.join(SOURCE, 'tests', 'plugin')
DISCARD = 0xFF  # in an LFT
INTERVAL = 2  # of the performance manager: rates are not growths
ODD_NAME = "it's; DROP TABLE data; --"
TABLES = '''CREATE TABLE errors (guid, port, name, symbols, received);
CREATE TABLE data (guid, port, name, sent, received);
CREATE TABLE traps (lid, number);
INSERT INTO traps VALUES (0, 0);
'''


def short():
    for name in [f'{name}.c' for name in NAMES] + list(SCRIPTS):
        with open(os.path.join(SAMPLES, name)) as file:
            n = len(file.readlines())
        check(f'{name} has at most 60 lines', n <= 60, n)


class GroupDaemon(PluginDaemon):
    def __init__(self, process):
        self.gauges = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.gauges.bind(('127.0.0.1', 0))
        self.gauges.settimeout(SECONDS)
        super().__init__(','.join(NAMES), process)
        self.path('db.conf', f'OUT={self.path("sql")}\nCLEAR_DB_ON_LOAD=TRUE\n')
        self.path('names', f'0x0200000080000700 "{ODD_NAME}"\n')
        options = (f'path_tables {self.path("tables")} database {self.path("db.conf")} '
                   f'statsd {self.gauges.getsockname()[1]} manager {self.path("manager")}')
        self.path('conf', f'event_plugin_name {",".join(NAMES)}\n'
                  f'event_plugin_options "{options}"\n'
                  f'event_plugin_process {"TRUE" if process else "FALSE"}\n'
                  f'node_name_map_name {self.path("names")}\nperfmgr TRUE\n'
                  f'perfmgr_sweep_time_s {INTERVAL}\nperfmgr_history_hours 0\n')

    def __exit__(self, *about):
        super().__exit__(*about)
        self.gauges.close()

    def json(self, *words):
        return json.loads(self.ask('-j', *words))

    def rows(self, name):
        """Whole lines of a file that a plug-in is still writing."""
        return self.read(name).split('\n')[:-1] if os.path.exists(self.path(name)) else []

    def sent(self, node, port):
        """What the simulator has counted, in units of 4 octets."""
        rows = dict(line.rsplit(None, 1) for line in
                    self.ask('sim', 'counters', node, str(port)).splitlines())
        return int(rows['PortXmitData'])


def all_answer(daemon):
    check('all switches answer', wait_for(
        lambda: 'event 4: 20 of 20 switches answer' in daemon.rows('manager')),
        daemon.rows('manager'))
    daemon.ask('sim', 'agent', 'spine-0-0', 'silent')
    daemon.ask('resweep', 'heavy')
    check('all but one', wait_for(
        lambda: 'event 4: 19 of 20 switches answer' in daemon.rows('manager')),
        daemon.rows('manager'))
    daemon.ask('sim', 'agent', 'spine-0-0', 'no-silent')


def lfts(daemon):
    """As opensmctl shows them, without entries that discard."""
    return {(table['guid'], row['lid']): row['port'] for lid in daemon.switch_lids
            for table in [daemon.json('lft', str(lid))] for row in table['entries']}


def told_lfts(daemon):
    """As the plug-in tells them: the tables, how many blocks after the first copy, and how many of
    these without news."""
    lines = [line.split() for line in daemon.rows('tables') if line.startswith('0x')]
    first = len(daemon.switch_lids) * (daemon.top + 1)
    tables = {(guid, int(lid)): int(port) for guid, lid, port in lines[:first]}
    told = idle = 0
    for begin in range(first, len(lines) - 63, 64):
        news = {(guid, int(lid)): int(port) for guid, lid, port in lines[begin:begin + 64]}
        told += 1
        idle += all(tables.get(key, DISCARD) == port for key, port in news.items())
        tables.update(news)
    return {key: port for key, port in tables.items() if port != DISCARD}, told, idle


def tables_are_true(daemon):
    status = daemon.json('status')['subnet']
    daemon.top = status['highest_lid']
    daemon.switch_lids = [lid for lid in range(1, daemon.top + 1)
                          if 'Switch' in daemon.ask('querylid', str(lid))]
    check('a copy', wait_for(lambda: told_lfts(daemon)[0] == lfts(daemon)))
    check('of all nodes', f'nodes {status["switches"] + status["hosts"]} ' in
          daemon.rows('tables')[0], daemon.rows('tables')[0])
    before = lfts(daemon)
    daemon.ask('sim', 'unlink', '0x0200000080000700', '3')
    check('the cable is missed', daemon.wait_log('link'))
    check('other tables', wait_for(lambda: lfts(daemon) != before))
    check('told', wait_for(lambda: told_lfts(daemon)[0] == lfts(daemon)),
          set(told_lfts(daemon)[0].items()) ^ set(lfts(daemon).items()))
    _, told, idle = told_lfts(daemon)
    check('only blocks that differ', told and not idle, (told, idle))


def rates_are_true(daemon):
    def gauge():
        while True:
            name, _, value = daemon.gauges.recv(1000).decode().partition(':')
            if name == 'ib.host-0.1.perf.xmit_data':
                return float(value.removesuffix('|g'))

    began, before = time.monotonic(), daemon.sent('host-0', 1)
    time.sleep(INTERVAL)  # a whole interval with traffic is ahead
    while select.select([daemon.gauges], [], [], 0)[0]:
        daemon.gauges.recv(1000)
    value = gauge()
    rate = (daemon.sent('host-0', 1) - before) / (time.monotonic() - began)
    check('a rate a second', 0.8 * rate < value < 1.2 * rate, (value, rate))


def sql_is_true(daemon):
    """The sums of what it inserts are the totals of the performance manager."""
    def sums():
        database = sqlite3.connect(':memory:')
        database.executescript(TABLES + '\n'.join(daemon.rows('sql')))
        return database

    def totals(*names):
        return {(row['guid'], row['port'], *(row['counters'][name] for name in names))
                for row in daemon.json('perfmgr', 'print_counters')['ports']
                if any(row['counters'][name] for name in names)}

    def data():
        return set(sums().execute('SELECT guid, port, SUM(sent), SUM(received) FROM data '
                                  'GROUP BY guid, port'))

    def errors():
        return set(sums().execute('SELECT guid, port, SUM(symbols), SUM(received) FROM errors '
                                  'GROUP BY guid, port HAVING SUM(symbols) + SUM(received) > 0'))

    def same(inserted, *names):
        return wait_for(lambda: totals(*names) and totals(*names) == inserted())

    check('data', same(data, 'PortXmitData', 'PortRcvData'),
          totals('PortXmitData', 'PortRcvData') ^ data())
    check('errors', same(errors, 'SymbolErrorCounter', 'PortRcvErrors'), errors())
    check('an odd name', wait_for(lambda: (ODD_NAME,) in set(
        sums().execute("SELECT name FROM errors WHERE port = 4"))), daemon.rows('sql')[-5:])
    check('traps', wait_for(lambda: sums().execute(
        'SELECT COUNT(*) FROM traps WHERE number = 128').fetchone()[0]), daemon.rows('sql')[-5:])
    check('it cleared what was there', (0, 0) not in set(sums().execute('SELECT * FROM traps')))


def plugins(process):
    with GroupDaemon(process) as daemon:
        daemon.up()
        daemon.ask('sim', 'traffic', 'add', 'host-0', 'host-5', '100M')
        daemon.ask('sim', 'errors', '0x0200000080000700', '4', 'SymbolErrorCounter', '50')
        all_answer(daemon)
        tables_are_true(daemon)
        rates_are_true(daemon)
        sql_is_true(daemon)
        rows = daemon.json('plugins')['plugins']
        check('they run, and nothing is lost', all(
            row['state'] == 'running' and not row['restarts'] for row in rows), rows)
        check('no event is lost', not any(row['lost'] for row in rows), rows)


# ---- scripts ----

def start(name, *words, **popen):
    return subprocess.Popen([os.path.join(SAMPLES, name), *words], **popen)


def end(child):
    """The script and the opensmctl that it has started."""
    os.killpg(child.pid, signal.SIGTERM)
    child.wait(SECONDS)


def oms():
    """It has the state after each sweep, answers commands, and tells what happens."""
    with SocketDaemon('--perfmgr') as daemon, tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, 'state.json')

        def state():
            if not os.path.exists(path):
                return {'serial': 0}
            with open(path) as file:
                return json.load(file)

        daemon.listens()
        child = start('oms.py', directory, OPENSMCTL, '-s', daemon.socket, text=True,
                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)

        def ask(line):
            child.stdin.write(line + '\n')
            child.stdin.flush()
            return json.loads(child.stdout.readline())

        check('the subnet', wait_for(lambda: state().get('status', {}).get('has_subnet')), state())
        check('of all', state()['status']['subnet']['hosts'] == 16 and
              state()['switches']['nodes'] == 20 and state()['health']['healthy'], state())
        before = state()['serial']
        check('a sweep', 'error' not in ask('resweep heavy'))
        check('another state', wait_for(lambda: state()['serial'] > before), state())
        for line in ('resweep light', 'reroute', 'loglevel 0x07', 'update_desc', 'perfmgr sweep',
                     'perfmgr sweep_time 60', 'perfmgr clear_counters'):
            answer = ask(line)
            check(line, 'error' not in answer, answer)
        check('an error', 'error' in ask('nonsense'))
        check('counters', wait_for(lambda: len(
            state().get('counters', {}).get('ports', [])) == 96), state().get('counters'))
        run_ctl(daemon, 'sim', 'unlink', 'leaf-0-0', '3')
        check('a notice', wait_for(lambda: ' link ' in notices(directory)), notices(directory))
        check('the cable is gone', wait_for(
            lambda: state()['status']['subnet']['links'] == 47), state()['status'])
        end(child)
        child.stdin.close()
        child.stdout.close()


def notices(directory):
    with open(os.path.join(directory, 'notices')) as file:
        return file.read()


def run_ctl(daemon, *words):
    return subprocess.run([OPENSMCTL, '-s', daemon.socket, *words], capture_output=True, text=True,
                          timeout=SECONDS, check=True).stdout


class Log:
    def __init__(self, path, daemon):
        self.path, self.words = path, [path, OPENSMCTL, '-s', daemon.socket]
        self.start()

    def start(self):
        self.child = start('json_log.sh', *self.words, start_new_session=True)

    def rows(self):
        """By run: events in order."""
        rows = collections.defaultdict(list)
        if os.path.exists(self.path):
            with open(self.path) as file:
                for line in file.read().split('\n')[:-1]:
                    row = json.loads(line)
                    if row['kind'] != 'stream':
                        rows[row['run']].append(row)
        return rows

    def has_all(self, daemon):
        """Waits until it has what the daemon has."""
        def is_so():
            kept = json.loads(run_ctl(daemon, '-j', 'events', '2000'))
            told = [row['serial'] for row in self.rows()[kept['run']]]
            return told == sorted(set(told)) and {row['serial'] for row in kept['events']} <= set(
                told)
        check('a line for each event', wait_for(is_so), self.rows())


def json_log():
    """Its lines are complete though the daemon and it are started again."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, 'run', 'sm.sock')
        with SocketDaemon(socket_path=path) as daemon:
            check('the subnet', daemon.listens() and daemon.wait_log('SUBNET UP'))
            log = Log(os.path.join(directory, 'events.json'), daemon)
            log.has_all(daemon)
            end(log.child)
            run_ctl(daemon, 'sim', 'unlink', 'leaf-0-0', '3')
            check('a loss', wait_for(lambda: '"link_down"' in run_ctl(daemon, '-j', 'events')))
            log.start()
            log.has_all(daemon)
            daemon.child.kill()
            daemon.child.wait(SECONDS)
            daemon.child.returncode = 0
        with SocketDaemon(socket_path=path) as daemon:
            check('the subnet again', daemon.listens() and daemon.wait_log('SUBNET UP'))
            log.has_all(daemon)
            run_ctl(daemon, 'resweep', 'heavy')
            log.has_all(daemon)
        end(log.child)
        check('two runs', len(log.rows()) == 2, log.rows())


def main():
    for name in NAMES:
        install(name, f'{name}.so')
    wanted = sys.argv[1:]
    for test in (short, oms, json_log):
        if not wanted or test.__name__ in wanted:
            test()
    for process in (False, True):
        if not wanted or 'plugins' in wanted:
            plugins(process)
    DIRECTORY.cleanup()
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
