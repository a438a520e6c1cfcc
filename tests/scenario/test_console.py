#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The console of the program as a user sees it: by TCP and on the standard input. On a simulated
fabric; run in the build directory. Prints one line per failure."""

import ctypes
import fcntl
import json
import os
import pty
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))

from checks import Checks  # noqa: E402 (found through the path above)

PROMPT = b'OpenSM $ '
KEY = 'correct horse battery staple'
SECONDS = 120  # for what takes well below a second on an idle machine
LIBC = ctypes.CDLL(None)

checks = Checks()
check = checks.check


def free_port():
    """Not one of those that the kernel assigns to programs that ask for any: no other takes it
    before the daemon does, except by the same chance."""
    while True:
        port = random.randrange(10240, 32768)
        with socket.socket() as probe:
            try:
                probe.bind(('127.0.0.1', port))
                return port
            except OSError:
                pass


class Daemon:
    """opensm with a console; with Daemon('--console', 'loopback') as daemon: ..."""

    def __init__(self, *options, spec='fattree:8', port=None, **popen):
        self.dir = tempfile.TemporaryDirectory(prefix='opensm-console.')
        self.port = port or free_port()
        self.log = os.path.join(self.dir.name, 'log')
        self.argv = [os.environ.get('OPENSM', './opensm/opensm'), '-F', self.path('conf', ''),
                     '--sim', spec, '-f', self.log, '-C', str(self.port), *options]
        self.more_env = popen.pop('env', {})
        self.popen = popen

    def path(self, name, text=None):
        path = os.path.join(self.dir.name, name)
        if text is not None:
            with open(path, 'w') as file:
                file.write(text)
        return path

    def __enter__(self):
        # GLib's own allocator passes memory from thread to thread unseen by ThreadSanitizer.
        env = {**os.environ, 'OSM_CACHE_DIR': self.dir.name, 'G_SLICE': 'always-malloc',
               **self.more_env}
        env.pop('NOTIFY_SOCKET', None)
        with open(self.path('stderr'), 'w') as errors:
            self.child = subprocess.Popen(
                self.argv, env=env, stderr=errors, **{'stdin': subprocess.DEVNULL,
                                                      'stdout': errors, **self.popen},
                preexec_fn=lambda: LIBC.prctl(1, signal.SIGKILL))
        return self

    def __exit__(self, *_):
        self.wait_log('Entering ')  # before this line a signal is not caught yet
        if self.child.poll() is None:
            self.child.terminate()
        try:
            check('the daemon ends with code 0', self.child.wait(SECONDS) == 0, self.errors())
        except subprocess.TimeoutExpired:
            self.child.kill()
            check('the daemon ends', False)
        self.dir.cleanup()

    def read(self, name):
        with open(self.path(name)) as file:
            return file.read()

    def errors(self):
        return self.read('stderr')

    def wait_log(self, text):
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline and self.child.poll() is None:
            if os.path.exists(self.log) and text in self.read('log'):
                return True
            time.sleep(0.05)
        return False

    def client(self, host='127.0.0.1', key=None):
        """A client that is served; there may be too many until the daemon notices that others
        left."""
        deadline = time.monotonic() + SECONDS
        while True:
            late = time.monotonic() > deadline or self.child.poll() is not None
            try:
                client = Client(socket.create_connection((host, self.port), SECONDS), key)
                if late or 'too many sessions' not in client.greeting:
                    return client
                client.sock.close()
            except ConnectionRefusedError:
                if late:
                    raise
            time.sleep(0.05)

    def enters(self, key=None):
        """Whether a client is served at its first try."""
        try:
            with Client(socket.create_connection(('127.0.0.1', self.port), SECONDS), key) as client:
                return client.ask('version').startswith('OpenSM ')
        except OSError:  # turned away
            return False

    def alive(self):
        with self.client() as client:
            return self.child.poll() is None and 'OpenSM' in client.ask('version')


class Client:
    """Sends lines, reads up to the prompt."""

    def __init__(self, sock, key=None):
        self.sock, self.ahead = sock, b''
        sock.settimeout(SECONDS)
        if key is not None:
            self.read_to(b'Key: ')
            self.send(key + '\n')
        self.greeting = self.read_to(PROMPT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sock.close()

    def send(self, data):
        self.sock.sendall(data.encode() if isinstance(data, str) else data)

    def read_to(self, end):
        """The text before end; all there is if the connection closes."""
        while end not in self.ahead:
            try:
                data = self.sock.recv(65536)
            except ConnectionResetError:
                data = b''
            if not data:
                text, self.ahead = self.ahead, b''
                return text.decode()
            self.ahead += data
        text, self.ahead = self.ahead.split(end, 1)
        return text.decode()

    def ask(self, line):
        self.send(line if isinstance(line, bytes) else line + '\n')
        return self.read_to(PROMPT)

    def json(self, line):
        return json.loads(self.ask(line + ' json'))

    def closed(self):
        try:
            while data := self.sock.recv(65536):
                self.ahead += data
        except ConnectionResetError:
            pass
        return True


def wait_for(done):
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        if done():
            return True
        time.sleep(0.05)
    return False


def everyday(daemon):
    with daemon.client() as client:
        check('the prompt', client.greeting == '', client.greeting)
        check('the log has the subnet', daemon.wait_log('SUBNET UP'))
        status = client.ask('status')
        check('status', 'SM State             : Master\n' in status, status)
        check('status as JSON', client.json('status')['subnet']['hosts'] == 128)
        whole = client.json('path host-0 host-127')
        check('a path', whole['arrives'] and len(whole['hops']) == 7, whole)
        name, port = whole['hops'][1]['node'], whole['hops'][1]['out_port']
        check('pull a cable', 'is pulled' in client.ask(f'sim unlink {name} {port}'))
        check('the loss is in the journal',
              wait_for(lambda: 'link down: ' in client.ask('events')), client.ask('events'))

        def other_path():
            other = client.json('path host-0 host-127')
            return other['arrives'] and (other['hops'][1]['node'],
                                         other['hops'][1]['out_port']) != (name, port)
        check('the path is another one', wait_for(other_path), client.ask('path host-0 host-127'))
        check('where it is', f'port {port} ({name})' in client.ask('ports down'))
        check('plug it', 'is plugged' in client.ask(f'sim link {name} {port}'))
        check('it is back', wait_for(lambda: '0 port(s) down' in client.ask('ports down')))
        check('quit', client.ask('quit') == '' and client.closed())


def loops(daemon):
    with daemon.client() as client:
        client.send('status loop\n')
        for _ in range(3):
            client.read_to(b'Known SMs')
        client.ask('')
        check('a line ends a loop', client.ask('version') == client.ask('version'))
        time.sleep(1.5)
        check('and it stays ended', client.ask('version').startswith('OpenSM '))


def hostile(daemon):
    with daemon.client() as client:
        telnet = b'\xff\xfd\x03\xff\xfb\x18ver\xff\xfa\x18\x00x\n\xff\xf0sion\r\n'
        check('telnet', client.ask(telnet).startswith('OpenSM '))
        check('garbage', client.ask(b'\x00\x01\xfe\n') == 'The line is not text\n')
        check('a long line', 'expected at most 4194304' in client.ask(b'x' * 4194305 + b'\n'))
        check('a prefix', client.ask('vers').startswith('OpenSM '))
        check('an unknown command', 'Command not found' in client.ask('nothing'))
        client.send(b'version\n' * 1000)
        check('a thousand lines at once',
              all(client.read_to(PROMPT).startswith('OpenSM ') for _ in range(1000)))
    with daemon.client() as client:
        client.send(b'version\nversion')
        client.sock.shutdown(socket.SHUT_WR)
        text = client.read_to(b'\0')
        check('lines before the end of input', text.count('OpenSM 4') == 1, text)
        check('but not one without its end', 'no newline at its end and is ignored' in text, text)
    with daemon.client() as client:
        client.send('POST / HTTP/1.1\r\nHost: x\r\n\r\nsweep off\r\n')
        check('a browser is sent away', client.closed() and
              b'This is not a web server' in client.ahead, client.ahead)
    with daemon.client() as client:
        check('and has done nothing', client.json('status')['subnet_flags']['sweeping_enabled'])
        check('keys are hidden', 'm_key (hidden)' in client.ask('dump_conf'))
    for _ in range(50):  # gone without a word, or in the middle of one
        client = daemon.client()
        client.send(b'dump_conf\n' * 20)
        client.sock.close()
    check('it lives after clients that vanish', daemon.alive())


def slow_reader(daemon):
    """Asks for more than fits anywhere and reads nothing: it holds up only itself."""
    with daemon.client() as slow:
        slow.sock.settimeout(0.5)
        sent = 0
        try:
            while sent < 1 << 24:
                sent += slow.sock.send(b'switchbalance verbose json\n' * 100)
        except socket.timeout:
            pass
        check('a client that does not read is not read either', sent < 1 << 24, sent)
        with daemon.client() as other:
            check('others do not notice', other.ask('version').startswith('OpenSM '))


def sessions(daemon):
    clients = [daemon.client() for _ in range(8)]
    check('eight at once', all(c.ask('version').startswith('OpenSM ') for c in clients))
    with socket.create_connection(('127.0.0.1', daemon.port), SECONDS) as ninth:
        check('the ninth is turned away', b'too many sessions' in ninth.recv(100))
    clients[0].ask('quit')
    clients[0].closed()
    check('until one has gone', daemon.alive())
    for client in clients:
        client.sock.close()


def loopback():
    with Daemon('--console', 'loopback') as daemon:
        everyday(daemon)
        loops(daemon)
        hostile(daemon)
        slow_reader(daemon)
        sessions(daemon)
        if socket.has_ipv6:
            try:
                with daemon.client('::1') as client:
                    check('IPv6', client.ask('version').startswith('OpenSM '))
            except OSError as error:
                check('this host has no IPv6', 'not on ::1' in daemon.read('log'), error)


def with_key():
    daemon = Daemon('--console', 'socket')
    path = daemon.path('key', KEY + '\n')
    os.chmod(path, 0o600)
    daemon.argv += ['--console-key-file', path]
    with daemon:
        with daemon.client(key=KEY) as client:
            check('the key opens', client.ask('version').startswith('OpenSM '))
            check('and shows keys', 'm_key 0x' in client.ask('dump_conf'))
        begin = time.monotonic()
        wrong = daemon.client(key='sweep off\nhelp\n' + KEY + 'x')
        check('three wrong keys', wrong.closed() and wrong.greeting.count('not the key') == 3,
              wrong.greeting)
        check('cost three seconds', time.monotonic() - begin >= 2.9)
        check('and are in the log', daemon.wait_log('gave a wrong key'))
        late = daemon.client(key='a wrong one\n' + KEY)
        check('the second try may be right', late.ask('version').startswith('OpenSM '))
        late.sock.close()
        check('the key is not in the log', KEY not in daemon.read('log'))


def key_in_the_file():
    """Like the options beside it; SIGHUP refuses what the next start would refuse."""
    daemon = Daemon('--console', 'loopback')
    path = daemon.path('key', KEY + '\n')
    os.chmod(path, 0o600)
    daemon.path('conf', f'console_key_file {path}\n')
    with daemon:
        with daemon.client(key=KEY) as client:
            check('the key of opensm.conf opens', client.ask('version').startswith('OpenSM '))
            daemon.path('key', '')
            daemon.child.send_signal(signal.SIGHUP)
            check('an emptied key file is refused',
                  daemon.wait_log('the options are unchanged: console_key_file: '))
            check('as health says', 'console_key_file' in client.ask('health'))
        wrong = daemon.client(key='\n\n\n')
        check('and opens nothing', wrong.closed() and wrong.greeting.count('not the key') == 3,
              wrong.greeting)


def strangers():
    """Many clients that never show the key do not keep out one that has it."""
    daemon = Daemon('--console', 'loopback', spec='fattree:4')
    path = daemon.path('key', KEY + '\n')
    os.chmod(path, 0o600)
    daemon.argv += ['--console-key-file', path]
    with daemon:
        daemon.client(key=KEY).sock.close()
        crowd = [socket.create_connection(('127.0.0.1', daemon.port), SECONDS)
                 for _ in range(10)]
        text = [sock.recv(5) for sock in crowd]
        check('ten strangers are asked for the key', text == [b'Key: '] * 10, text)
        check('one with the key gets in at once', daemon.enters(key=KEY))
        crowd[0].settimeout(SECONDS)
        told = b''
        while more := crowd[0].recv(100):
            told += more
        check('the oldest stranger had to go, and was told', b'make room' in told, told)
        check('it is in the log', daemon.wait_log('was closed to make room for another'))
        for sock in crowd:
            sock.close()


class Idlers:
    """Eight idle sessions. It takes a minute until that counts against them, in which other tests
    run."""

    def __init__(self):
        self.daemon = Daemon('--console', 'loopback', spec='fattree:4').__enter__()
        self.daemon.client().sock.close()
        self.clients = [self.daemon.client() for _ in range(8)]
        self.begin = time.monotonic()

    def finish(self):
        time.sleep(max(0, self.begin + 61 - time.monotonic()))
        check('who has work to do gets in past eight idle sessions', self.daemon.enters())
        check('the longest idle one had to go', self.clients[0].closed())
        check('and was told', b'make room' in self.clients[0].ahead, self.clients[0].ahead)
        check('the others stay', self.clients[7].ask('version').startswith('OpenSM '))
        for client in self.clients:
            client.sock.close()
        self.daemon.__exit__()


def refused():
    for options, text in (
            (['--console', 'local', '--daemon'], "console: 'local' needs the terminal"),
            (['--console', 'loopback', '--console-key-file', '/dev/null'], 'not a regular file'),
            (['--console', 'sockets'], "console: 'sockets' is not one of"),
            (['--console', 'loopback', '--console-key-file', '/dev/null/key'], 'Not a directory')):
        with Daemon(*options, spec='fattree:4') as daemon:
            check(f'{options} is refused', daemon.child.wait(SECONDS) == 1)
            check(f'{options} says why', text in daemon.errors(), daemon.errors())
            daemon.child.returncode = 0
    with Daemon('--console', 'socket', spec='fattree:4') as daemon:
        with daemon.client() as client:
            check('socket without a key stays here', client.ask('version').startswith('OpenSM '))
        check('and says so', 'only listens on this host' in daemon.errors(), daemon.errors())
        check('in the log too', 'of this host' in daemon.read('log'))


def busy():
    """Two instances with one opensm.conf: the second manages its subnet without a console."""
    with Daemon('--console', 'loopback', spec='fattree:4') as first:
        first.client().sock.close()
        with Daemon('--console', 'loopback', spec='fattree:4', port=first.port) as second:
            check('a busy port does not stop it', second.wait_log('SUBNET UP'), second.errors())
            check('it is in the log', second.wait_log(f'console: TCP port {first.port}: '))
            first.child.terminate()
            first.child.wait(SECONDS)
            second.child.send_signal(signal.SIGHUP)
            check('SIGHUP tries again', second.wait_log(f'TCP port {first.port} of this host'))
            with second.client() as client:
                check('the console is there', client.ask('version').startswith('OpenSM '))


def on_pipe():
    with Daemon('--console', 'local', spec='fattree:4', stdin=subprocess.PIPE,
                stdout=subprocess.PIPE) as daemon:
        daemon.child.stdin.write(b'version\n')
        daemon.child.stdin.flush()
        text = b''
        while len(text) < len(PROMPT) and (more := os.read(daemon.child.stdout.fileno(), 1)):
            text += more
        check('the prompt', text == PROMPT, text)
        daemon.child.stdin.write(b'status')  # as from echo -n
        daemon.child.stdin.close()
        check('the end of input', daemon.wait_log('end of the session of the terminal'))
        time.sleep(0.2)
        check('does not end the daemon', daemon.child.poll() is None)
        daemon.child.terminate()
        text = daemon.child.stdout.read()
        check('what it printed', text.startswith(b'OpenSM 4') and b'SM State' in text, text)
        daemon.child.stdout.close()


def on_terminal():
    master, slave = pty.openpty()
    with Daemon('--console', 'local', '--progress', spec='fattree:4', stdin=slave,
                stdout=slave) as daemon:
        os.close(slave)
        client = Client(Terminal(master, b'the daemon continues'))
        check('a terminal', 'OpenSM' in client.ask('version'))
        check('--progress says that it shows nothing', 'uses the terminal' in daemon.errors(),
              daemon.errors())
        check('quit closes the console', 'the daemon continues' in client.ask('quit'))
        time.sleep(0.2)
        check('not the daemon', daemon.child.poll() is None)
    os.close(master)


def progress_fits(columns):
    """No line of --progress is wider than the terminal, nor is a redrawn one."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
    with Daemon('--progress', spec='fattree:8', stdin=slave, stdout=slave,
                env={'TERM': 'xterm', 'LC_ALL': 'C.UTF-8'}) as daemon:
        os.close(slave)
        text, deadline = '', time.monotonic() + SECONDS
        while text.count('active ports') < 4 and time.monotonic() < deadline:
            text += os.read(master, 4096).decode(errors='replace')
        check('it is up', daemon.wait_log('SUBNET UP'))
    os.close(master)
    lines = re.split('\x1b\\[[0-9]*[AJK]|[\r\n]', text)
    check(f'progress at {columns} columns', max(map(len, lines)) < columns, max(lines, key=len))
    check('says the most important', any(re.match('MASTER  .*active ports', line)
                                         for line in lines), lines[-3:])


def screen_of(text):
    """The resulting lines of a terminal, which never scrolls."""
    lines, at = [''], 0
    for move, n, what, plain in re.findall('(\x1b\\[([0-9]*)([AJK])|[\r\n])|([^\r\n\x1b]+)', text):
        if move == '\n':
            at += 1
            lines += [''] * (at + 1 - len(lines))
        elif what == 'A':
            at -= int(n)
        elif what == 'J':
            lines[at:] = ['']
        elif what == 'K':
            lines[at] = ''
        elif plain:
            lines[at] += plain
    return lines


def progress_goes_on():
    """A command printed once it is up works when it is typed, and has its effect."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 30, 120, 0, 0))
    with tempfile.TemporaryDirectory() as directory, \
            Daemon('--progress', '--control-socket', os.path.join(directory, 'sm'),
                   spec='fattree:4', stdin=slave, stdout=slave, env={'TERM': 'xterm'}) as daemon:
        os.close(slave)
        text, deadline, hints = '', time.monotonic() + SECONDS, []
        whole = 'last sweep: .*link trap.*\n.*link +down: .*\x1b\\[[0-9]+A'
        while not re.search(whole, text, re.S):
            if time.monotonic() > deadline:
                break
            text += os.read(master, 4096).decode(errors='replace')
            if not hints and 'last sweep:' in text:
                hints = re.findall('^    (.+?)\r', text, re.M)
                for command in hints:
                    run = subprocess.run(['sh', '-c', command], capture_output=True, text=True)
                    check(f'"{command}" works', run.returncode == 0 and run.stdout, run.stderr)
        check('three commands are shown', len(hints) == 3, hints)
        check('it goes on', daemon.child.poll() is None)
    os.close(master)
    lines = screen_of(re.match('(.*)\x1b\\[[0-9]+A', text, re.S)[1])  # each line is complete
    start = max(i for i, line in enumerate(lines) if line.startswith('MASTER  '))
    check('why the last sweep began', re.match(r'last sweep: .* \(.+\)', lines[start + 1]),
          lines[start:])
    check('the last events below it, and nothing else',
          1 <= len(lines) - start - 2 <= 5 and
          all(re.match('\\d\\d:\\d\\d:\\d\\d [a-z]+ ', line) for line in lines[start + 2:]),
          lines[start:])
    check('one status line', sum(line.startswith('MASTER  ') for line in lines) == 1, lines)


class Terminal:
    """A pseudo terminal with the few methods of a socket that Client needs; last ends it."""

    def __init__(self, fd, last):
        self.fd, self.last, self.ended = fd, last, False

    def settimeout(self, seconds):
        pass

    def sendall(self, data):
        os.write(self.fd, data)

    def recv(self, size):
        data = b'' if self.ended else os.read(self.fd, size)
        self.ended = self.ended or self.last in data
        return data


def main():
    idlers = Idlers()
    loopback()
    with_key()
    key_in_the_file()
    strangers()
    refused()
    busy()
    on_pipe()
    on_terminal()
    for columns in (80, 40, 200):
        progress_fits(columns)
    progress_goes_on()
    idlers.finish()
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
