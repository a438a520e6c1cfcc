#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The Unix socket of the daemon: where it listens, which users it lets in, what it answers. On a
simulated fabric; run in the build directory. Some of it needs root."""

import grp
import json
import os
import signal
import socket
import stat
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from test_console import KEY, SECONDS, Daemon, check, checks, wait_for  # noqa: E402

RECORD = b'\x1e'
NOBODY = 65534
IS_ROOT = os.geteuid() == 0


class Control:
    """A program at the socket: a line gets a record."""

    def __init__(self, path):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(SECONDS)
        self.sock.connect(path)
        self.ahead = b''
        self.welcome = self.ask('opensmctl 1')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sock.close()

    def send(self, line):
        try:
            self.sock.sendall(line.encode() + b'\n')
        except BrokenPipeError:
            pass  # a daemon that closes has said why

    def receive(self):
        while b'\n' not in self.ahead.partition(RECORD)[2]:
            try:
                data = self.sock.recv(65536)
            except ConnectionResetError:
                data = b''
            if not data:
                return None
            self.ahead += data
        record, self.ahead = self.ahead.split(RECORD, 1)[1].split(b'\n', 1)
        return json.loads(record)

    def ask(self, line):
        self.send(line)
        return self.receive()


def mode_of(path):
    return stat.S_IMODE(os.lstat(path).st_mode)


class SocketDaemon(Daemon):
    """One that listens at self.socket."""

    def __init__(self, *options, socket_path=None, **more):
        super().__init__(*options, spec='fattree:4', **more)
        self.socket = socket_path or os.path.join(self.dir.name, 'run', 'sm.sock')
        self.argv += ['--control-socket', self.socket]

    def listens(self):
        return self.wait_log(f'console: Unix socket {self.socket}')

    def says(self, text):
        """Checks that it does not listen, and why; and that the subnet is up all the same."""
        check(f'the log has: {text}', self.wait_log(f'control_socket: {self.socket}: {text}'),
              self.read('log'))
        check('the daemon works without', self.wait_log('SUBNET UP'))


def as_user(uid, gid, groups, do):
    """The exit code of do() in a process of that user."""
    child = os.fork()
    if not child:
        code = 99
        try:
            os.setgroups(groups)
            os.setresgid(gid, gid, gid)
            os.setresuid(uid, uid, uid)
            code = do()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def conversation():
    with SocketDaemon() as daemon:
        check('it listens', daemon.listens())
        check('for its user only', mode_of(daemon.socket) == 0o600, oct(mode_of(daemon.socket)))
        check('its directory is made', mode_of(os.path.dirname(daemon.socket)) == 0o755)
        with Control(daemon.socket) as control:
            check('a welcome', control.welcome['status'] == 0 and not control.welcome['key'] and
                  control.welcome['version'].startswith('OpenSM '), control.welcome)
            check('the subnet', daemon.wait_log('SUBNET UP'))
            status = control.ask('status json')
            check('an answer', status['status'] == 0 and
                  json.loads(status['output'])['subnet']['hosts'] == 16, status)
            check('keys', 'm_key 0x' in control.ask('dump_conf')['output'])
            for line, code in (('nothing', 2), ('sweep', 2), ('querylid 999', 1), ('', 0),
                               ('opensmctl 1', 2), ('x' * 5000, 2), ('\x01', 2)):
                check(f'status of {line[:20]!r}', control.ask(line)['status'] == code)
            check('a loop goes on', control.ask('status loop')['more'])
            check('and on', control.receive()['more'])
            control.send('')
            while (record := control.receive())['more']:
                pass
            check('until an empty line', record['output'] == '' and
                  control.ask('version')['status'] == 0)
            check('a sweep', control.ask('resweep light')['status'] == 0)
            control.send('quit')
            check('quit', control.receive()['status'] == 0 and control.receive() is None)
        check('who changes something is logged', daemon.wait_log('asked for a light sweep'))
        check('who looks is not', 'session of' not in daemon.read('log'))
        with Control(daemon.socket) as control:
            check('verbose', control.ask('loglevel 0x07')['status'] == 0)
        with Control(daemon.socket) as control:
            check('a session', daemon.wait_log(f'session of uid {os.geteuid()}'))
        check('the end of it', daemon.wait_log('end of the session of uid'))
    check('its name goes with it', not os.path.lexists(daemon.socket))


def taken():
    """A file that has the name stays, except one that a dead daemon left behind."""
    with SocketDaemon() as first:
        first.listens()
        with SocketDaemon(socket_path=first.socket) as second:
            second.says('the socket is in use: ')
            with Control(first.socket) as control:
                check('the first has it still', control.ask('version')['status'] == 0)
            first.child.send_signal(signal.SIGKILL)
            first.child.wait(SECONDS)
            check('a dead one leaves it behind', os.path.lexists(first.socket))
            second.child.send_signal(signal.SIGHUP)
            check('SIGHUP tries again', second.listens())
            with Control(second.socket) as control:
                check('it is the new one\'s', control.ask('version')['status'] == 0)
        first.child.returncode = 0
        check('and goes with it', not os.path.lexists(second.socket))
    for what, make in (('a file', lambda path: open(path, 'w').close()),
                       ('a FIFO', os.mkfifo), ('a directory', os.mkdir),
                       ('a link', lambda path: os.symlink('/nonexistent', path))):
        daemon = SocketDaemon()
        os.mkdir(os.path.dirname(daemon.socket))
        make(daemon.socket)
        before = os.lstat(daemon.socket)
        with daemon:
            daemon.says('expected nothing, or the socket of a daemon that has ended')
            check(f'{what} stays', os.path.samestat(os.lstat(daemon.socket), before))


def no_place():
    daemon = SocketDaemon()
    os.mkdir(os.path.dirname(daemon.socket))
    os.chmod(os.path.dirname(daemon.socket), 0o777)
    with daemon:
        daemon.says('other users may write in directory')
    daemon = SocketDaemon()
    daemon.socket = daemon.argv[-1] = os.path.join(daemon.dir.name, 'no', 'such', 'sm.sock')
    with daemon:
        daemon.says(f'directory {os.path.dirname(daemon.socket)}: No such file')
    with SocketDaemon(socket_path='/tmp/' + 'x' * 200) as daemon:
        daemon.says('expected a name of at most 107 octets')
    with SocketDaemon('--control-group', 'no such group') as daemon:
        daemon.says("control_group: there is no group 'no such group'")
    daemon = SocketDaemon(socket_path='(null)')
    daemon.more_env = {'OSM_RUN_DIR': daemon.dir.name}
    with daemon:
        check('none is wanted', daemon.wait_log('SUBNET UP') and
              'Unix socket' not in daemon.read('log'))
    daemon = Daemon(spec='fattree:4')
    daemon.more_env = {'OSM_RUN_DIR': daemon.dir.name}
    with daemon:
        path = os.path.join(daemon.dir.name, '0x0200000000000101.sock')
        check('by the GUID of the port', wait_for(lambda: os.path.exists(path)))
    with Daemon(spec='fattree:4') as daemon:
        check('none by itself on a simulated fabric', daemon.wait_log('SUBNET UP') and
              'Unix socket' not in daemon.read('log'))


def who_may(daemon, uid, gid, groups):
    """What the user gets: 'no' because of the mode, else the status of a command; keys visible or
    hidden."""
    def look():
        try:
            with Control(daemon.socket) as control:
                if control.welcome['status']:
                    return 10 + control.welcome['status']
                text = control.ask('dump_conf')['output']
                return 1 if 'm_key 0x' in text else 2 if 'm_key (hidden)' in text else 3
        except PermissionError:
            return 4
    return {1: 'keys', 2: 'hidden', 4: 'mode', 14: 'refused'}.get(as_user(uid, gid, groups, look))


def others():
    if not IS_ROOT:
        checks.skip('other users', 'only root can become one')
        return
    group, other = [entry for entry in grp.getgrall() if entry.gr_gid not in (0, NOBODY)][:2]
    with SocketDaemon() as daemon:
        daemon.listens()
        os.chmod(daemon.dir.name, 0o755)
        check('root', who_may(daemon, 0, 0, []) == 'keys')
        check('others may not', who_may(daemon, NOBODY, NOBODY, []) == 'mode')
        os.chmod(daemon.socket, 0o666)
        check('whatever its mode becomes', who_may(daemon, NOBODY, NOBODY, [0]) == 'refused')
        check('it is in the log', daemon.wait_log(f'rejected uid {NOBODY}: '))
    with SocketDaemon('--control-group', group.gr_name) as daemon:
        daemon.listens()
        os.chmod(daemon.dir.name, 0o755)
        about = os.lstat(daemon.socket)
        check('it is the group\'s', about.st_gid == group.gr_gid and
              mode_of(daemon.socket) == 0o660, about)
        check('a member may, but sees no keys',
              who_may(daemon, NOBODY, NOBODY, [group.gr_gid]) == 'hidden')
        check('by the first group too', who_may(daemon, NOBODY, group.gr_gid, []) == 'hidden')
        check('others may not', who_may(daemon, NOBODY, NOBODY, [other.gr_gid]) == 'mode')


def asks_by_tcp(daemon, host, lines):
    """Bits of the lines that no TCP user is refused; 64: a user that may only look is."""
    def ask():
        with daemon.client(host) as client:
            looked = client.ask('version').startswith('OpenSM ')
            return sum(1 << i for i, line in enumerate(lines)
                       if 'only root' in client.ask(line)) | (0 if looked else 64)
    return as_user(NOBODY, NOBODY, [], ask)


def leaves_at_once(daemon):
    """A client that closes before its user is looked up, and that the kernel lists as root's."""
    def leave():
        for _ in range(200):
            with socket.create_connection(('127.0.0.1', daemon.port), SECONDS) as sock:
                sock.sendall(b'priority 7\n')
        return 0
    return as_user(NOBODY, NOBODY, [], leave)


def by_tcp():
    """Without a key users other than root and the daemon's may look, and change nothing."""
    changes = ('resweep heavy', 'sweep off', 'priority 9', 'partitions change 0x12: 0x1',
               'loglevel 0xff', 'plan')
    looks = ('status', 'health', 'partitions', 'priority', 'loglevel', 'partitions 0x7fff')
    if not IS_ROOT:
        checks.skip('other users by TCP', 'only root can become one')
        return
    with SocketDaemon('--console', 'loopback') as daemon:
        check('up', daemon.wait_log('SUBNET UP') and daemon.alive())  # also loads Python's codecs
        for host in ('127.0.0.1', '::1'):
            if ':' in host and 'not on ::1' in daemon.read('log'):
                continue
            refused = asks_by_tcp(daemon, host, changes)
            check('others change nothing', refused == 63, (host, refused))
            refused = asks_by_tcp(daemon, host, looks)
            check('others look', refused == 0, (host, refused))
            with daemon.client(host) as client:
                client.ask('priority 3')
                check('root does', 'is 3' in client.ask('priority'),
                      client.ask('priority'))
                client.ask('sweep on')
        check('who leaves at once', leaves_at_once(daemon) == 0)
        with daemon.client() as client:
            check('changed nothing', '7' not in client.ask('priority'), client.ask('priority'))
            check('it is told', 'any user of this host may look' in client.ask('status') and
                  'console_key_file is not set: ' in client.ask('health security'))
        check('and logged', daemon.wait_log(f', uid {NOBODY}, read only,') and
              'without console_key_file any user' in daemon.read('log'))


def group_of_directory():
    """As installed: the directory decides on the owner of the sockets."""
    if not IS_ROOT:
        checks.skip('the group of a directory', 'only root can give it one')
        return
    group = [entry for entry in grp.getgrall() if entry.gr_gid not in (0, NOBODY)][0]
    daemon = SocketDaemon()
    directory = os.path.dirname(daemon.socket)
    os.mkdir(directory)
    os.chown(directory, 0, group.gr_gid)
    os.chmod(directory, 0o2750)
    os.chmod(daemon.dir.name, 0o755)
    with daemon:
        daemon.listens()
        about = os.lstat(daemon.socket)
        check('it has the group', about.st_gid == group.gr_gid and
              mode_of(daemon.socket) == 0o660, about)
        check('a member may', who_may(daemon, NOBODY, NOBODY, [group.gr_gid]) == 'hidden')
        check('others may not', who_may(daemon, NOBODY, NOBODY, []) == 'mode')


def reserved():
    """When the TCP port is full, the operator has another way in."""
    daemon = SocketDaemon('--console', 'loopback')
    path = daemon.path('key', KEY + '\n')
    os.chmod(path, 0o600)
    daemon.argv += ['--console-key-file', path]
    with daemon:
        clients = [daemon.client(key=KEY) for _ in range(8)]
        crowd = [socket.create_connection(('127.0.0.1', daemon.port), SECONDS)
                 for _ in range(10)]
        check('TCP is full', not daemon.enters(key=KEY))
        with Control(daemon.socket) as control:
            check('the operator gets in', control.ask('version')['status'] == 0)
        many = [Control(daemon.socket) for _ in range(16)]
        late = Control(daemon.socket)
        check('16 at once', all(one.ask('version')['status'] == 0 for one in many) and
              b'too many sessions' in late.ahead, late.ahead)
        for client in clients + crowd + many + [late]:
            getattr(client, 'sock', client).close()


def main():
    conversation()
    taken()
    no_place()
    others()
    by_tcp()
    group_of_directory()
    reserved()
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
