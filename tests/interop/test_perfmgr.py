#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The command perfmgr, its file and its log lines are those of the classic daemon: both run on one
osmsim, one after the other, and are given the same commands after the same errors. And the view of
opensmctl leaves the terminal as it was."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import osmsim  # noqa: E402
import subnet  # noqa: E402
from test_classic_console import PROMPT  # noqa: E402

HOSTS = ['host a', 'host-b', 'host-c']
NET = '\n\n'.join(['Switch 4 "leaf one"\n' + '\n'.join(f'[{i + 1}] "{host}"[1]'
                                                       for i, host in enumerate(HOSTS))] +
                  [f'Hca 1 "{host}"\n[1] "leaf one"[{i + 1}]'
                   for i, host in enumerate(HOSTS)]) + '\n'
# Before the daemon starts, which ours does not count, and while it reads.
BEFORE = {'SymbolErrorCounter': 1000, 'PortRcvErrors': 7}
AFTER = {'SymbolErrorCounter': 5, 'PortRcvErrors': 3, 'PortXmitDiscards': 2, 'VL15Dropped': 1,
         'PortXmitData': 12345678, 'PortXmitWait': 9}
SAME = ['perfmgr', 'pm', 'pm pe host-b', 'pm pc host-b', 'perfmgr print_counters host-b:1',
        'pm pc host-b:0x1', 'pm pc 0x200000000000300', 'pm pc host a', 'pm pc nobody',
        'pm pc 0x99', 'pm pc 153', 'pm pc host-b:9', 'pm pc host-b:x', 'pm pc host-b:',
        'pm pc host-b:1x', 'pm pc host-b:-1', 'pm pc :1', 'pm pe nobody', 'pm pc host-b host-b',
        'pm sweep_time', 'pm sweep_time 0', 'pm sweep_time abc', 'pm sweep_time 3000', 'pm',
        'pm set_rm_nodes', 'pm clear_rm_nodes', 'pm clear_query_cpi', 'pm', 'pm set_query_cpi',
        'pm set_rm_nodes', 'pm clear_inactive', 'pm dump_redir', 'pm dump_redir host-b',
        'pm dump_redir nobody', 'pm clear_redir', 'pm clear_redir nobody', 'pm bogus', 'pm PC',
        'pm disable', 'pm', 'pm enable', 'pm clear_counters', 'pm sweep']
MOMENT = r'\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}'


class Daemon:
    def __init__(self, fabric, program, host, name):
        self.fabric, self.name, self.read_so_far = fabric, name, 0
        env = fabric.on(host, OSM_CACHE_DIR=fabric.dir, OSM_TMP_DIR=fabric.dir)
        with open(fabric.path('conf'), 'w') as file:
            file.write('force_log_flush TRUE\nperfmgr TRUE\nperfmgr_sweep_time_s 3600\n'
                       f'dump_files_dir {fabric.dir}\n')
            if name == 'ours':
                file.write(f'control_socket {fabric.path("control")}\nperfmgr_log_lines 100\n')
        self.child = fabric.spawn(
            [program, '-F', 'conf', '-g', f'0x{subnet.sm_guid(fabric, host):x}', '-f',
             fabric.path(f'{name}.log'), '-D', '0x03', '--console', 'local'], name, env=env,
            stdin=subprocess.PIPE)
        fabric.wait_subnet_up(self.child, ibsim.PATIENCE, f'{name}.log')
        fabric.wait(lambda: PROMPT in self.new(), ibsim.PATIENCE, 'the prompt', alive=self.child)
        self.read_so_far = len(self.new())

    def new(self):
        return self.fabric.read(self.name)[self.read_so_far:]

    def ask(self, line):
        self.child.stdin.write(f'{line}\n'.encode())
        self.child.stdin.flush()
        self.fabric.wait(lambda: PROMPT in self.new(), ibsim.PATIENCE,
                         f'{self.name} to answer {line}', alive=self.child)
        answer = self.new().split(PROMPT)[0]
        self.read_so_far += len(answer) + len(PROMPT)
        return answer

    def sweep_until(self, done, what):
        """Sweeps come one after the other, and the classic daemon skips one that is too early."""
        def swept():
            self.ask('pm sweep')
            time.sleep(0.3)
            return done()
        self.fabric.wait(swept, ibsim.PATIENCE, what, alive=self.child)

    def file(self, line):
        """The file that a command writes."""
        path = self.fabric.path('opensm_port_counters.log')
        if os.path.exists(path):
            os.unlink(path)
        self.ask(line)
        self.fabric.wait(lambda: self.fabric.read('opensm_port_counters.log'), ibsim.PATIENCE,
                         f'the file of {line}', alive=self.child)
        return self.fabric.read('opensm_port_counters.log')


def count(fabric, host, counters):
    for name, number in counters.items():
        fabric.console(f'count "{host}" 1 {name} {number}')


def without_chance(text):
    """Without times, and without packets of the daemons themselves and of the links' past."""
    text = re.sub(MOMENT, 'TIME', text)
    text = re.sub(r' +(link_downed|\w+_pkts|rcv_data) +: .*\n', '', text)
    text = re.sub(r'xmit_data +: 12345\d{3} \(47\.\d+MB\)', 'about 12345678 units', text)
    text = re.sub(r' +xmit_data +: .*\n', '', text)
    text = re.sub(r'(sweep state +:) \w+|(outstanding queries/max +:) \d+', r'\1\2', text)
    return text.replace('sweep time                   : 3600s', 'sweep time')


def story(fabric, program, host, name):
    """{command: answer}"""
    daemon = Daemon(fabric, program, host, name)
    daemon.sweep_until(lambda: '"host-b"' in daemon.ask('pm pc host-b'), 'the first reading')
    daemon.ask('pm clear_counters')  # what the classic daemon counts of the past
    count(fabric, 'host-b', AFTER)
    daemon.sweep_until(lambda: 'rcv_err              : 3' in daemon.ask('pm pe host-b'),
                       'the second reading')
    found = {}
    human, machine = daemon.file('pm dump_counters'), daemon.file('pm dump_counters mach')
    found['file'] = without_chance(human)
    found['columns'] = [[len(line.split('\t')), re.sub(r'\d+', 'N', line.split('\t')[0])]
                        for line in machine.splitlines() if '\t' not in line or
                        line.split('\t')[3] != '4']  # a port without a link, which ours skips
    found['titles'] = machine.splitlines()[1]
    found['file'] = found['file'].split('"leaf one"')[0]
    for number, line in enumerate(SAME):
        found[f'{number}: {line}'] = without_chance(daemon.ask(line))
        if line == 'pm clear_counters':  # ours obeys after the sweep that 'enable' began
            fabric.wait(lambda: not daemon.ask('pm pe'), ibsim.PATIENCE, 'errors to be cleared',
                        alive=daemon.child)
    status = daemon.ask('status')
    found['status'] = len(re.findall(r'\n\n   PerfMgr state/sweep state : Enabled/\w+\n\n',
                                     status))
    log = fabric.read(f'{name}.log')
    found['log'] = sorted(set(re.sub(r'(connected to "leaf one" \(NodeGUID: )\w+', r'\1GUID', line)
                              for line in re.findall(r'ERR 543[^3].* : node "host-b".*', log)
                              if not re.search(r': (1000|7|1005|10) :', line)))
    return daemon, found


def view(fabric, keys, seconds, **env):
    """Exit status and output of opensmctl perfmgr on a terminal, and whether that is as before."""
    pid, terminal = pty.fork()
    if not pid:
        os.environ.update(env)
        os.execv(osmsim.built('opensm', 'opensmctl', 'opensmctl'),
                 ['opensmctl', '-s', fabric.path('control'), 'perfmgr'])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack('HHHH', 12, 90, 0, 0))
    before = termios.tcgetattr(terminal)
    output, deadline, same = b'', time.monotonic() + seconds, None
    while time.monotonic() < deadline:
        if not select.select([terminal], [], [], 0.1)[0]:
            continue
        try:
            new = os.read(terminal, 65536)
        except OSError:  # it has ended
            break
        output += new
        if b'q quit' in output and keys:
            os.write(terminal, keys)
            keys = b''
        if b'\x1b[?1049l' in output:
            until = time.monotonic() + 10  # the modes come back after that
            while not (same := termios.tcgetattr(terminal) == before) and time.monotonic() < until:
                time.sleep(0.02)
            # With the terminal it would be hung up before it ends.
            while not os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) and \
                    time.monotonic() < until:
                time.sleep(0.02)
            break
    else:
        os.kill(pid, signal.SIGKILL)
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), output.decode(), same


def check_view(checks, fabric):
    for name, keys in (('q', b'q'), ('Ctrl-C', b'\x03')):
        code, output, same = view(fabric, keys, 20, TERM='xterm', LC_ALL='C.UTF-8')
        checks.equal(f'{name} ends the view', (code, same), (0, True))
        checks.check('it shows ports', 'CONNECTED TO' in output and '\x1b[1m' in output, output)
        checks.check('the cursor is back', output.endswith('\x1b[?25h\x1b[?1049l'), output)
    _, output, _ = view(fabric, b'q', 20, TERM='xterm', NO_COLOR='1')
    checks.check('NO_COLOR is obeyed', 'CONNECTED TO' in output and '\x1b[1m' not in output, output)
    code, output, _ = view(fabric, b'', 20, TERM='dumb')
    checks.check('TERM=dumb gives one plain table', code == 0 and '\x1b' not in output and
                 output.count('Performance Manager status:') == 1, output)


def run(checks):
    answers = []
    for program, name in ((ibsim.CLASSIC, 'classic'), (subnet.daemon(), 'ours')):
        with osmsim.Fabric(NET) as fabric:
            count(fabric, 'host-b', BEFORE)
            daemon, found = story(fabric, program, HOSTS[0], name)
            answers.append(found)
            if name == 'ours':
                check_view(checks, fabric)
            fabric.stop(daemon.child)
    for line, classic in answers[0].items():
        checks.equal(line, answers[1][line], classic)
    checks.check('the log has the lines', len(answers[0]['log']) >= 4, answers[0]['log'])


def main():
    why = osmsim.missing([])
    if why or not os.path.exists(ibsim.CLASSIC):
        print(f'SKIP: {why or ibsim.CLASSIC + " is not installed (Debian: opensm)"}')
        return subnet.SKIPPED
    ibsim.end_cleanly()
    checks = ibsim.Checks()
    try:
        run(checks)
    except ibsim.Failure as failure:
        checks.check('the run goes to its end', False, failure)
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
