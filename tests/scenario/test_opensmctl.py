#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""opensmctl as scripts and people use it: exit codes, JSON, the choice of a daemon, editing on a
terminal. On a simulated fabric; run in the build directory."""

import glob
import json
import os
import pty
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from test_console import SECONDS, Daemon, check, checks, wait_for  # noqa: E402
from test_control_socket import IS_ROOT, NOBODY, SocketDaemon  # noqa: E402

SOURCE = os.environ.get('top_srcdir', '..')
# Options in the shell or in mdoc, then a word; in a list of JSON, too.
ADVICE = re.compile(r'\bopensmctl"?,?(?: +(?:(?:Fl|Op|Ar) \S+|-\S+))*,? +"?(?:Cm )?([a-z_]+)')
OPENSMCTL = os.path.abspath(os.environ.get('OPENSMCTL', './opensm/opensmctl/opensmctl'))


def run(*words, stdin='', env=None, **more):
    return subprocess.run([OPENSMCTL, *words], input=stdin, capture_output=True, text=True,
                          timeout=SECONDS, env=dict(os.environ, **(env or {})), **more)


def ends(what, result, code, out='', err=''):
    check(what, result.returncode == code and out in result.stdout and err in result.stderr,
          result)


def without_daemon():
    with tempfile.TemporaryDirectory() as empty:
        env = {'OSM_RUN_DIR': empty}
        ends('no daemon', run('health', env=env), 3, err=f'no daemon has a socket in {empty}')
        ends('nor there', run('-s', empty + '/x', 'health'), 3, err='/x: ')
        ends('nor of that port', run('-p', '0x99', 'health', env=env), 3,
             err='0x0000000000000099.sock: ')
        ends('an option', run('--nonsense'), 2, err='--nonsense')
        ends('help', run('--help'), 0, out='--socket')
        ends('version', run('--version'), 0, out='opensmctl 4')


def answers(daemon):
    def ctl(*words, **more):
        return run('-s', daemon.socket, *words, **more)

    check('up', daemon.wait_log('SUBNET UP'))
    ends('a command', ctl('version'), 0, out='OpenSM 4')
    with open('/dev/full', 'w') as full:
        lost = subprocess.run([OPENSMCTL, '-s', daemon.socket, 'dump_conf'], stdout=full,
                              stderr=subprocess.PIPE, text=True, timeout=SECONDS)
    check('an answer that cannot be written', lost.returncode == 1 and
          'cannot write' in lost.stderr, lost)
    ends('words are one each', ctl('path', 'host-0', 'host-1'), 0, out='Path from host-0')
    ends('an unknown one', ctl('nothing'), 2, err='Command not found')
    ends('wrong arguments', ctl('sweep', 'of'), 2, err='expected on or off')
    ends('it cannot', ctl('querylid', '999'), 1, err='Invalid lid 999')
    ends('two lines are none', ctl('version\nsweep off'), 2, err='control characters')
    status = json.loads(ctl('-j', 'status').stdout)
    check('JSON', status['subnet']['hosts'] == 16, status)
    failed = ctl('-j', 'querylid', '999')
    check('a failure as JSON', failed.returncode == 1 and
          json.loads(failed.stdout)['error'] == 'Invalid lid 999', failed)
    script = ctl(stdin='version\n\nquerylid 999\nversion\n')
    check('a script', script.returncode == 1 and script.stdout.count('OpenSM 4') == 2, script)
    script = ctl(stdin='querylid 999\nversion')
    check('whose last line has no end', script.stdout.count('OpenSM 4') == 1, script)
    script = ctl(stdin='version\n quit \nnothing\n')
    check('that ends with quit', script.returncode == 0 and not script.stderr and
          script.stdout.count('OpenSM 4') == 1, script)
    check('a loop ends with the input', ctl(stdin='status loop\n').returncode == 0)
    with subprocess.Popen([OPENSMCTL, '-s', daemon.socket, 'status', 'loop'],
                          stdout=subprocess.PIPE) as loop:
        text = b''
        while text.count(b'Known SMs') < 2:
            text += os.read(loop.stdout.fileno(), 65536)
        loop.stdout.close()
        check('or when nobody reads it', loop.wait(SECONDS) == -signal.SIGPIPE)


def health(daemon):
    def ctl(*words):
        return run('-s', daemon.socket, *words)

    ends('healthy', ctl('health'), 0, out='healthy: MASTER, subnet up')
    good = json.loads(ctl('-j', 'health').stdout)
    check('as JSON', good['healthy'] and not good['problems'] and good['warnings'] and
          not good['last_sweep']['errors'], good)
    for text, why in (('routing_engine nothing\n',
                       'conf:1: routing_engine: there is no engine nothing'),
                      ('root_guid_file /nowhere\n', 'root_guid_file: /nowhere'),
                      ('replication_key_file /nowhere\n', 'replication_key_file: /nowhere')):
        daemon.path('conf', text)  # what the next start would refuse; each is waited for
        daemon.child.send_signal(signal.SIGHUP)
        check(text, wait_for(lambda: why in ctl('health').stdout), ctl('health'))
    daemon.path('conf', 'sm_sl 99\n')
    daemon.child.send_signal(signal.SIGHUP)
    check('a file is refused', wait_for(lambda: 'sm_sl' in ctl('health').stdout))
    ends('which', ctl('health'), 13, out='sm_sl')
    bad = json.loads(ctl('-j', 'health').stdout)
    check('as JSON', not bad['healthy'] and bad['status'] == 13 and
          bad['problems'][0]['subject'] == 'files', bad)
    daemon.path('conf', '')
    daemon.child.send_signal(signal.SIGHUP)
    check('no more', wait_for(lambda: ctl('health').returncode == 0))


def metrics(daemon):
    """They come as a file; what they mean is tested elsewhere."""
    def ctl(*words, **more):
        return run('-s', daemon.socket, *words, **more)

    plain = ctl('metrics')
    ends('metrics', plain, 0, out='\nopensm_sm_state{state="master"} 1\n')
    check('to the end', plain.stdout.endswith('\nopensm_metrics_incomplete 0\n'), plain)
    check('in less than 100 kB', len(plain.stdout) < 100000, len(plain.stdout))
    ends('OpenMetrics', ctl('metrics', '--openmetrics'), 0, out='\n# EOF\n')
    text = json.loads(ctl('-j', 'metrics').stdout)['text']
    check('as JSON', '\nopensm_sm_state{state="master"} 1\n' in text, text)
    ends('without counters of ports', ctl('metrics', 'all'), 0)
    ends('a wrong filter', ctl('metrics', 'all', 'shard=2/1'), 2, err='expected I/N')
    ends('no such group', ctl('metrics', 'all', 'group=x'), 1, err='has no such group')
    script = ctl(stdin='metrics off openmetrics\nversion\nmetrics off openmetrics\n')
    check('a script', script.stdout.count('# EOF\n') == 2 and 'OpenSM 4' in script.stdout and
          script.returncode == 0, script)
    with open('/dev/full', 'w') as full:
        lost_ones = subprocess.run([OPENSMCTL, '-s', daemon.socket, 'metrics'], stdout=full,
                                   stderr=subprocess.PIPE, text=True, timeout=SECONDS)
    check('metrics that cannot be written', lost_ones.returncode == 1 and
          'No space left' in lost_ones.stderr, lost_ones)
    before = len(os.listdir(f'/proc/{daemon.child.pid}/fd'))
    for _ in range(5):
        ctl('metrics')
    check('no file stays open', wait_for(
        lambda: len(os.listdir(f'/proc/{daemon.child.pid}/fd')) <= before))
    promtool(plain.stdout)


def rules_of_dashboard():
    """Each expression of the dashboard as a rule: Prometheus parses those, not dashboards."""
    with open(os.path.join(SOURCE, 'config/samples/opensm-dashboard.json')) as file:
        panels = json.load(file)['panels']
    rules = [{'record': f'panel{panel["id"]}:{target["refId"]}',
              'expr': target['expr'].replace('$fabric', '.*')}
             for panel in panels for target in panel.get('targets', [])]
    check('expressions of the dashboard', len(rules) > 30 and
          not any('$' in rule['expr'] for rule in rules), rules)
    return rules


def promtool(text):
    """Prometheus takes the metrics and the rules, and these find what they should."""
    program = os.environ.get('PROMTOOL') or shutil.which('promtool')
    if not program:
        checks.skip('metrics and rules', 'promtool (package prometheus) is not installed')
        return
    result = subprocess.run([program, 'check', 'metrics'], input=text, capture_output=True,
                            text=True, timeout=SECONDS)
    wrong = [line for line in result.stderr.splitlines()  # an M_Key is not a length
             if not re.match(r'\w+_m_key\w* metric names should not contain abbreviated', line)]
    check('metrics for Prometheus', not wrong and result.returncode in (0, 3), result)
    with tempfile.TemporaryDirectory() as top:
        for name, file in (('rules.yml', 'config/samples/opensm.rules.yml'),
                           ('test.yml', 'tests/scenario/rules.test.yml')):
            shutil.copy(os.path.join(SOURCE, file), os.path.join(top, name))
        with open(os.path.join(top, 'dashboard.yml'), 'w') as file:
            json.dump({'groups': [{'name': 'dashboard', 'rules': rules_of_dashboard()}]}, file)
        for words in (('check', 'rules', 'rules.yml'), ('test', 'rules', 'test.yml'),
                      ('check', 'rules', 'dashboard.yml')):
            result = subprocess.run([program, *words], cwd=top, capture_output=True, text=True,
                                    timeout=SECONDS)
            check(' '.join(words), result.returncode == 0, result)


def plan(daemon):
    """A preview of a file before it is used; the session waits, and another one does not."""
    def ctl(*words, **more):
        return run('-s', daemon.socket, *words, **more)

    ends('nothing to plan', ctl('plan'), 0, out='Nothing would change')
    log = None
    while log != (log := daemon.read('log')):
        time.sleep(1)  # a sweep that is still due since SIGHUP would read the file
    daemon.path('conf', 'subnet_timeout 17\nlmc 1\n')
    ends('a plan', ctl('plan'), 20, out='subnet_timeout 18 -> 17')
    answer = json.loads(ctl('-j', 'plan', 'all').stdout)
    check('as JSON', answer['changes'] and len(answer['nodes']) == 36 and
          answer['notes'][0]['text'] == 'lmc: 0 stays in effect, 1 needs a restart', answer)
    script = ctl(stdin='plan\nversion\nplan\n')
    check('a script waits for it', script.returncode == 20 and
          script.stdout.count('18 -> 17') == 2 * 20 and 'OpenSM 4' in script.stdout, script)
    other = daemon.path('other.conf', 'subnet_timeout 33\n')
    ends('a file that is wrong', ctl('plan', other), 1, err='other.conf:1: subnet_timeout')
    ends('a file of whom', ctl('plan', 'other.conf'), 2, err='expected the absolute name')
    daemon.path('conf', '')


def partitions_change(ctl):
    request = 'Jobs=0x11,ipoib: 0x200000000000101=full, 0x200000000000201;'
    first = json.loads(ctl('-j', 'partitions', 'change', request).stdout)
    check('in effect', first['in_effect'] and first['serial'] == 2, first)
    ends('once more', ctl('partitions', 'change', request), 0, out='policy 2 is in effect\n')
    ends('not so', ctl('partitions', 'change', '0x11: ALL'), 1,
         err="no change was made: request:1:7: found 'ALL', expected the GUID of a port")
    ends('whom nobody has seen yet', ctl('partitions', 'change', '0x13: 0x1'), 0,
         out='policy 3 is in effect\n')
    ends('there it is', ctl('partitions', '0x13'), 0, out="P_Key 0x0013 '': 0 full and 0 limited")
    many = '0x12: ' + ', '.join(f'0x{guid:016x}=full' for guid in range(1, 20000))
    answer = ctl('-j', stdin=f'partitions change {many}\n')
    check('many', answer.returncode == 0 and json.loads(answer.stdout)['in_effect'], answer)
    ends('too many', ctl(stdin='x' * 4194305 + '\nversion\n'), 2, out='OpenSM 4',
         err='The line is too long: expected at most 4194304 octets\n')
    ends('forgotten', ctl('partitions', 'forget', '0x12'), 0, out='policy 5 is in effect\n')
    ends('what?', ctl('partitions', 'forget', 'x'), 2, err='a P_Key or all')


def partitions():
    """Members at run time: answered when in effect, and back after a restart."""
    kept = None
    for start in range(2):
        daemon = SocketDaemon()
        if kept:
            daemon.path('partitions.state', kept)
        with daemon:
            def ctl(*words, **more):
                return run('-s', daemon.socket, *words, **more)

            check('up', daemon.wait_log('SUBNET UP'))
            if not start:
                partitions_change(ctl)
            check('the policy', wait_for(
                lambda: json.loads(ctl('-j', 'partitions').stdout)['policy'] == 5))
            jobs = json.loads(ctl('-j', 'partitions', 'Jobs').stdout)['partitions'][0]
            check('members', [(row['port_guid'], row['membership']) for row in jobs['members']] ==
                  [('0x0200000000000101', 'full'), ('0x0200000000000201', 'limited')], jobs)
            check('indexes', [row['index'] for row in jobs['members']] == ['1', '1'], jobs)
            ends('for people', ctl('partitions', 'Jobs'), 0,
                 out='0x0200000000000201 host-1 port 1: limited, at index 1\n')
            kept = daemon.read('partitions.state')
    with tempfile.TemporaryDirectory() as cache:
        path = os.path.join(cache, 'partitions.state')
        with open(path, 'w') as file:
            file.write(kept[:150])
        for more in ([], ['--check-config']):
            torn = subprocess.run([daemon.argv[0], '--sim', 'fattree:4', '-f', cache + '/log',
                                   '-F', '/dev/null', *more], capture_output=True, text=True,
                                  timeout=SECONDS, env=dict(os.environ, OSM_CACHE_DIR=cache))
            check('a torn one stops the start', torn.returncode != 0 and
                  'the checksum is not' in torn.stdout + torn.stderr and
                  path in torn.stdout + torn.stderr, torn)


def choice():
    """Several daemons of a host."""
    with tempfile.TemporaryDirectory() as directory:
        env = {'OSM_RUN_DIR': directory}
        path = os.path.join(directory, '0x0200000000000101.sock')
        other = os.path.join(directory, 'other.sock')
        with SocketDaemon(socket_path=path) as first:
            first.listens()
            ends('the only one', run('version', env=env), 0, out='OpenSM')
            with SocketDaemon(socket_path=other) as second:
                second.listens()
                ends('which?', run('version', env=env), 2, err='several daemons')
                check('both are named', path in run('version', env=env).stderr and
                      other in run('version', env=env).stderr)
                ends('by its port', run('-p', '0x200000000000101', 'version', env=env), 0)
                second.child.kill()
                second.child.wait(SECONDS)
                check('it left its name', os.path.exists(other))
                ends('the only one that lives', run('version', env=env), 0, out='OpenSM')
                second.child.returncode = 0
        ends('none lives', run('version', env=env), 3, err='other.sock: ')


def congestion():
    """The command cc, while congestion control is switched on and off again."""
    with SocketDaemon() as daemon:
        daemon.listens()
        check('up', daemon.wait_log('SUBNET UP'))

        def ctl(*words, **more):
            return run('-s', daemon.socket, *words, **more)

        def counts(state):
            rows = json.loads(ctl('-j', 'cc').stdout)['states']
            return [(row['switches'], row['ca_ports']) for row in rows if row['state'] == state]

        def switch(conf):
            daemon.path('conf', conf)
            daemon.child.send_signal(signal.SIGHUP)

        ends('cc, off', ctl('cc'), 0, out='congestion control is off')
        ends('cc ask, off', ctl('cc', 'ask'), 1, err='congestion control is off')
        switch('congestion_control TRUE\ncc_profile standard\n')
        check('all are set', wait_for(lambda: counts('right') == [(20, 16)]), ctl('cc'))
        ends('cc, on', ctl('cc'), 0, out='congestion control is on: profile standard')
        fields = json.loads(ctl('-j', 'cc', 'ports', 'host-5', '1').stdout)['ports'][0]['fields']
        check('cc ports', {'field': 'CCTI_Limit', 'wanted': '127', 'has': '127',
                           'differs': False} in fields, fields)
        before = json.loads(ctl('-j', 'cc').stdout)['last_round']['number']
        ends('cc ask', ctl('cc', 'ask'), 0, out='all ports will be asked again')
        check('they are asked', wait_for(
            lambda: json.loads(ctl('-j', 'cc').stdout)['last_round']['number'] > before))
        ends('cc effect', ctl('cc', 'effect'), 0, out='there are no counters')
        ends('an unknown word', ctl('cc', 'of'), 2, err='expected ports, values, log, effect, ask')
        switch('congestion_control FALSE\n')
        check('they have what they had', wait_for(
            lambda: 'for when' not in ctl('cc', 'ports', 'leaf-0-0').stdout),
              ctl('cc', 'ports', 'leaf-0-0'))


def not_allowed():
    if not IS_ROOT:
        checks.skip('another user', 'only root can become one')
        return
    with SocketDaemon() as daemon:
        daemon.listens()
        os.chmod(daemon.dir.name, 0o755)
        user = {'user': NOBODY, 'group': NOBODY, 'extra_groups': [], 'cwd': '/'}
        shared = os.path.join(daemon.dir.name, 'opensmctl')
        with open(OPENSMCTL, 'rb') as program, open(shared, 'wb') as copy:
            copy.write(program.read())
        os.chmod(shared, 0o755)

        def ctl():
            return subprocess.run([shared, '-s', daemon.socket, 'version'], text=True,
                                  capture_output=True, timeout=SECONDS, **user)
        ends('by the mode', ctl(), 4, err='ermission denied')
        os.chmod(daemon.socket, 0o666)
        ends('by the credentials', ctl(), 4, err='may not use this socket')


def hostile():
    """A process that is not a daemon can neither write to the terminal as it likes, nor go on for
    ever."""
    for answer, code, out, err in (
            (b'\x1e{"status":0}\n\x1e{"status":0,"output":"a\\u001b[2Jb\\n"}\n', 0,
             'a\\x1b[2Jb', ''),
            (b'\x1b[2J', 3, '', 'connection: \\x1b[2J'),
            (b'\x1e{"status":0}\n\x1e{"status":7777}\n', 3, '', 'this is not an answer of opensm'),
            (b'x' * (65 << 20), 3, '', 'does not end')):
        with tempfile.TemporaryDirectory() as directory, socket.socket(socket.AF_UNIX) as server:
            path = os.path.join(directory, 'sock')
            server.bind(path)
            server.listen()

            def serve():
                client, _ = server.accept()
                with client:
                    try:
                        client.sendall(answer)
                        client.shutdown(socket.SHUT_WR)
                        while client.recv(4096):
                            pass
                    except OSError:
                        pass
            thread = threading.Thread(target=serve)
            thread.start()
            ends(f'{answer[:20]}', run('-s', path, 'version'), code, out, err)
            thread.join()


class Terminal:
    """opensmctl on a pseudo terminal."""

    def __init__(self, *words):
        self.home = tempfile.TemporaryDirectory()
        self.child, self.fd = pty.fork()
        if not self.child:
            os.environ.update(TERM='vt100', HOME=self.home.name)
            os.execv(OPENSMCTL, [OPENSMCTL, *words])
        self.text = self.all = ''

    def type(self, keys, edited=True):
        """Keys for the editor wait for it: otherwise the terminal itself takes some of them."""
        if edited:
            wait_for(lambda: not termios.tcgetattr(self.fd)[3] & termios.ICANON)
        os.write(self.fd, keys.encode())

    def sees(self, what, text, times=1):
        """This must come now, after what was seen before."""
        deadline = time.monotonic() + SECONDS
        while self.text.count(text) < times and time.monotonic() < deadline:
            if select.select([self.fd], [], [], 1)[0]:
                try:
                    text_now = os.read(self.fd, 65536).decode(errors='replace')
                    self.text, self.all = self.text + text_now, self.all + text_now
                except OSError:
                    break
        check(what, self.text.count(text) >= times, self.text)
        self.text = self.text.rpartition(text)[2] if text in self.text else ''

    def ends(self):
        status = []
        if not wait_for(lambda: status.append(os.waitpid(self.child, os.WNOHANG)) or
                        status[-1][0]):
            os.kill(self.child, signal.SIGKILL)
            status.append(os.waitpid(self.child, 0))
        os.close(self.fd)
        check('it leaves nothing at home', not os.listdir(self.home.name))
        self.home.cleanup()
        return os.waitstatus_to_exitcode(status[-1][1])


def terminal(daemon):
    user = Terminal('-s', daemon.socket)
    user.sees('a prompt', 'opensmctl> ')
    # Only changes of a line are drawn: the final line is what counts.
    user.type('vers\t\n')
    user.sees('completion of a command', 'OpenSM 4')
    user.type('switchbalance v\t\n')
    user.sees('completion of an argument', '\nSwitch: 0x')
    user.sees('a prompt', 'opensmctl> ')
    user.type('sw\t')
    user.sees('the choice', 'sweep  switchbalance')
    user.type('\x15')  # the line is discarded
    user.type('\x1b[A\x1b[A\n')
    user.sees('history', 'OpenSM 4')
    user.type('status loop\n')
    user.sees('a loop', 'Known SMs', times=2)
    user.type('\n', edited=False)
    user.type('nothing\n')
    user.sees('a line ends it', 'Command not found')
    user.type('quit\n')
    check('quit', user.ends() == 2)
    user = Terminal('-s', daemon.socket, 'image', 'descriptor')
    user.sees('no octets for a terminal', 'expected a file or a pipe')
    check('refused', user.ends() == 2 and 'OSMIMAGE' not in user.all, user.all)
    image = subprocess.run([OPENSMCTL, '-s', daemon.socket, 'image', 'descriptor'],
                           stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS)
    check('octets for a pipe', image.returncode == 0 and image.stdout.startswith(b'OSMIMAGE'))
    user = Terminal('-s', daemon.socket)
    user.sees('a prompt', 'opensmctl> ')
    user.type('\x04')
    check('the end of the input', user.ends() == 0)


def lost():
    with SocketDaemon() as daemon:
        daemon.listens()
        user = Terminal('-s', daemon.socket)
        user.sees('a prompt', 'opensmctl> ')
        daemon.child.terminate()
        check('the daemon ends in spite of a session', daemon.child.wait(SECONDS) == 0)
        user.type('version\n')
        user.sees('it is gone', 'the daemon closed the connection')
        check('the code says so', user.ends() == 3)


def nothing_is_kept():
    with SocketDaemon(env={'OSM_CACHE_DIR': '/dev/null/cache'}) as daemon:
        daemon.listens()
        check('up all the same', daemon.wait_log('SUBNET UP'))
        ends('LIDs are not kept', run('-s', daemon.socket, 'health'), 13,
             out='could not be written')


def dumps_are_not_written():
    for name, text in (('opensm-subnet.lst', 'dumps could not be written'),
                       ('opensm-sa.dump', 'the dump of the SA could not be written')):
        with tempfile.TemporaryDirectory() as top:
            path = os.path.join(top, name)
            os.mkdir(path)
            daemon = SocketDaemon(env={'OSM_TMP_DIR': top})
            daemon.path('conf', 'sa_db_dump TRUE\n')
            with daemon:
                daemon.listens()
                check(f'the log has {name}', daemon.wait_log(f'{name}: '), daemon.read('log'))
                ends(name, run('-s', daemon.socket, 'health'), 13, out=text)
                os.rmdir(path)
                ends('once more', run('-s', daemon.socket, 'resweep', 'heavy'), 0)
                check(f'{name} is written', wait_for(lambda: os.path.isfile(path)))
                check('healthy', wait_for(
                    lambda: run('-s', daemon.socket, 'health').returncode == 0))


def manual():
    """The page has the options and the exit codes of the program, and no others."""
    with open(os.path.join(SOURCE, 'man/opensmctl.8')) as file:
        page = file.read()
    flags = set(re.findall(r'^\.It .*Fl -([a-z-]+)', page, re.M))
    check('options', flags == set(re.findall(r'--([a-z-]+)', run('--help').stdout)), flags)
    with open(os.path.join(SOURCE, 'opensm/client/control.h')) as file:
        codes = re.findall(r'^\tCONTROL_\w+ = (\d+),', file.read(), re.M)
    check('exit codes', re.findall(r'^\.It (\d+)$', page, re.M) == codes, codes)


def advice():
    """Every command that a text of the tree advises is one."""
    with open(os.path.join(SOURCE, 'opensm/ctl/command/commands.def')) as file:
        known = set(re.findall(r'^(?:COMMAND|ALIAS)\((\w+),', file.read(), re.M))
    advised = []
    for place in ('README', 'REPORTING', 'bootstrap', 'config/*.*', 'config/samples/**', 'man/*'):
        for name in glob.glob(os.path.join(SOURCE, place), recursive=True):
            if os.path.isdir(name) or name.endswith('.mk'):
                continue
            with open(name) as file:
                advised += [(name, word) for word in ADVICE.findall(file.read())]
    check('advice is found', len({name for name, _ in advised}) > 5, advised)
    wrong = [(name, word) for name, word in advised if word not in known]
    check('it names commands', not wrong, wrong)


def main():
    manual()
    advice()
    without_daemon()
    with SocketDaemon() as daemon:
        daemon.listens()
        answers(daemon)
        metrics(daemon)
        health(daemon)
        plan(daemon)
        terminal(daemon)
    partitions()
    congestion()
    choice()
    not_allowed()
    hostile()
    lost()
    nothing_is_kept()
    dumps_are_not_written()
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
