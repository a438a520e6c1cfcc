#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The console by TLS, with opensmctl as its client: what is on the wire, which side trusts which,
and bad files. On a simulated fabric; run in the build directory."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from test_console import KEY, SECONDS, Daemon, check, checks, wait_for  # noqa: E402
from test_opensmctl import OPENSMCTL, Terminal, ends, run  # noqa: E402


# LeakSanitizer crashes as it looks for leaks at the end of a program that has used GnuTLS.
os.environ['ASAN_OPTIONS'] = os.environ.get('ASAN_OPTIONS', '') + ':detect_leaks=0'


class Certificates:
    """Of two CAs: ca, server, client and other, other_server."""

    def __init__(self, directory):
        self.dir = directory
        self.make_ca('ca')
        self.make_ca('other')
        self.make('server', 'ca', 'subjectAltName=IP:127.0.0.1')
        self.make('renewed', 'ca', 'subjectAltName=IP:127.0.0.1')
        self.make('client', 'ca')
        self.make('foreign', 'other')

    def path(self, name):
        return os.path.join(self.dir, name)

    def openssl(self, *words):
        subprocess.run(['openssl', *words], check=True, cwd=self.dir, capture_output=True,
                       stdin=subprocess.DEVNULL)

    def make_ca(self, name):
        self.openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj',
                     f'/CN={name}', '-keyout', f'{name}.key', '-out', f'{name}.pem')

    def make(self, name, ca, extension='basicConstraints=CA:FALSE'):
        with open(self.path('extensions'), 'w') as file:
            file.write(extension + '\n')
        self.openssl('req', '-newkey', 'rsa:2048', '-nodes', '-subj', f'/CN={name}', '-keyout',
                     f'{name}.key', '-out', 'request')
        self.openssl('x509', '-req', '-in', 'request', '-CA', f'{ca}.pem', '-CAkey', f'{ca}.key',
                     '-CAcreateserial', '-days', '2', '-extfile', 'extensions', '-out',
                     f'{name}.pem')
        os.chmod(self.path(f'{name}.key'), 0o600)


class TlsDaemon(Daemon):
    """A console socket with TLS; its certificate and key are copies that may be changed."""

    def __init__(self, made, *options):
        super().__init__('--console', 'socket', *options, spec='fattree:4')
        self.made = made
        self.cert, self.private = self.path('cert.pem'), self.path('private.pem')
        self.install('server')
        self.key = self.path('key', KEY + '\n')
        os.chmod(self.key, 0o600)
        self.argv += ['--console-key-file', self.key, '--console-tls-cert', self.cert,
                      '--console-tls-key', self.private]

    def install(self, name):
        shutil.copy(self.made.path(name + '.pem'), self.cert)
        shutil.copy(self.made.path(name + '.key'), self.private)

    def listens(self):
        return self.wait_log('of all addresses, with TLS')

    def ctl(self, *words, ca='ca', port=None, host='127.0.0.1', key=None, **more):
        trust = ['--ca', self.made.path(ca + '.pem')] if ca else []
        return run('--connect', f'{host}:{port or self.port}', *trust, '--key-file',
                   key or self.key, *words, **more)


class Recorder:
    """A relay in front of the daemon that records the traffic."""

    def __init__(self, port):
        self.target, self.bytes = port, b''
        self.server = socket.create_server(('127.0.0.1', 0))
        self.port = self.server.getsockname()[1]
        self.thread = threading.Thread(target=self.serve)
        self.thread.start()

    def serve(self):
        client, _ = self.server.accept()
        daemon = socket.create_connection(('127.0.0.1', self.target))
        back = threading.Thread(target=self.relay, args=(daemon, client))
        back.start()
        self.relay(client, daemon)
        back.join()
        client.close()
        daemon.close()

    def relay(self, source, target):
        try:
            while data := source.recv(65536):
                self.bytes += data
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close(self):
        self.thread.join(SECONDS)
        self.server.close()


def conversation(made):
    with TlsDaemon(made) as daemon:
        check('it listens', daemon.listens())
        check('up', daemon.wait_log('SUBNET UP'))
        recorder = Recorder(daemon.port)
        ends('a command', daemon.ctl('version', port=recorder.port), 0, out='OpenSM 4')
        recorder.close()
        check('nothing is in clear', len(recorder.bytes) > 1000 and
              KEY.encode() not in recorder.bytes and b'OpenSM' not in recorder.bytes and
              b'opensmctl' not in recorder.bytes)
        ends('health', daemon.ctl('health'), 0, out='healthy: MASTER')
        status = daemon.ctl('status')
        check('the console is not insecure', 'console socket' not in status.stdout, status)
        long = daemon.ctl('dump_conf')
        check('long answers', long.returncode == 0 and len(long.stdout) > 1000, long)
        wrong = daemon.path('wrong', KEY + 'x\n')
        os.chmod(wrong, 0o600)
        ends('a wrong key', daemon.ctl('version', key=wrong), 4, err='That is not the key')
        os.chmod(wrong, 0o644)
        ends('a key that others may read', daemon.ctl('version', key=wrong), 2, err='mode 0600')
        ends('another CA', daemon.ctl('version', ca='other'), 4, err='TLS: ')
        ends('those of the system', daemon.ctl('version', ca=None), 4, err='TLS: ')
        ends('no CA', daemon.ctl('version', ca='nonexistent'), 2, err='nonexistent.pem')
        ends('another name', daemon.ctl('version', host='127.0.0.2'), 4, err='TLS: ')
        check('the wrong key is in the log', daemon.wait_log('gave a wrong key 1 times'))


def follow(made):
    """Events of a console on another host, whose session ends when the follower does."""
    with TlsDaemon(made) as daemon:
        check('it listens', daemon.listens())
        check('up', daemon.wait_log('SUBNET UP'))
        with subprocess.Popen([OPENSMCTL, '--connect', f'127.0.0.1:{daemon.port}', '--ca',
                               made.path('ca.pem'), '--key-file', daemon.key, 'events', '--follow',
                               '--kind', 'link'], stdout=subprocess.PIPE, text=True) as follower:
            check('the start', ' stream  the stream starts: ' in follower.stdout.readline())
            for word in ('unlink', 'link'):
                daemon.ctl('sim', word, 'leaf-0-0', '3')
                line = follower.stdout.readline()
                check(f'{word} is told', ' link    link ' in line, line)
            daemon.child.kill()
            check('the end is told', ' the connection is lost: ' in follower.stdout.readline())
            follower.terminate()
            check('it ends', follower.wait(SECONDS) == 0, follower.returncode)
        daemon.child.wait(SECONDS)
        daemon.child.returncode = 0


def by_hand(made):
    """The key is typed, and not seen."""
    with TlsDaemon(made) as daemon:
        daemon.listens()
        user = Terminal('--connect', f'127.0.0.1:{daemon.port}', '--ca', made.path('ca.pem'))
        user.sees('it asks', 'Key of the console: ')
        user.type(KEY + '\n', edited=False)
        user.sees('a prompt', 'opensmctl> ')
        user.type('version\n')
        user.sees('an answer', 'OpenSM 4')
        check('the key is not shown', KEY not in user.all)
        user.type('quit\n')
        check('quit', user.ends() == 0)


def clear_text(made):
    with TlsDaemon(made) as daemon:
        daemon.listens()
        with socket.create_connection(('127.0.0.1', daemon.port), SECONDS) as sock:
            answer = b''
            try:
                sock.sendall(f'{KEY}\nversion\n'.encode())
                while data := sock.recv(4096):
                    answer += data
            except OSError:
                pass
        check('clear text is not answered', b'Key' not in answer and b'OpenSM' not in answer,
              answer)
        silent = [socket.create_connection(('127.0.0.1', daemon.port), SECONDS)
                  for _ in range(12)]
        ends('silent strangers keep nobody out', daemon.ctl('version'), 0, out='OpenSM 4')
        for sock in silent:
            sock.close()
    with Daemon('--console', 'socket', spec='fattree:4') as daemon:
        ends('one that speaks clear text', run('--connect', f'127.0.0.1:{daemon.port}', '--ca',
                                               made.path('ca.pem'), 'version'), 3)


def client_certificates(made):
    def mine(name):
        return ['--cert', made.path(name + '.pem'), '--cert-key', made.path(name + '.key')]
    with TlsDaemon(made, '--console-tls-ca', made.path('ca.pem')) as daemon:
        daemon.listens()
        ends('with ours', daemon.ctl(*mine('client'), 'version'), 0, out='OpenSM 4')
        ends('without', daemon.ctl('version'), 4, err='certificate')
        ends('with a foreign one', daemon.ctl(*mine('foreign'), 'version'), 4, err='certificate')
        check('it is in the log', daemon.wait_log('console: 127.0.0.1:'))


def wrong_files(made):
    def refuses(what, text, spoil):
        daemon = TlsDaemon(made)
        spoil(daemon)
        with daemon:
            check(f'{what}: the log', daemon.wait_log(text), daemon.read('log'))
            check(f'{what}: the subnet', daemon.wait_log('SUBNET UP'))
            with socket.socket() as probe:
                check(f'{what}: no console', probe.connect_ex(('127.0.0.1', daemon.port)) != 0)
            daemon.install('server')
            os.chmod(daemon.private, 0o600)
            daemon.child.send_signal(signal.SIGHUP)
            check(f'{what}: SIGHUP tries again', daemon.listens())
            ends(f'{what}: then it works', daemon.ctl('version'), 0, out='OpenSM 4')

    refuses('no certificate', 'console_tls_cert: ', lambda d: os.unlink(d.cert))
    refuses('no certificate in it', 'console_tls_cert: ', lambda d: d.path('cert.pem', 'x\n'))
    refuses('an open key', 'expected mode 0600', lambda d: os.chmod(d.private, 0o644))
    refuses('no key', 'console_tls_key: ', lambda d: os.unlink(d.private))
    refuses('the key of another certificate', 'do not belong together',
            lambda d: shutil.copy(made.path('client.key'), d.private))
    with Daemon('--console', 'socket', '--console-tls-cert', made.path('server.pem'),
                spec='fattree:4') as daemon:
        check('half of it', daemon.wait_log('belong together'))


def renewal(made):
    with TlsDaemon(made) as daemon:
        daemon.listens()

        def subject():
            out = subprocess.run(['openssl', 's_client', '-connect', f'127.0.0.1:{daemon.port}'],
                                 stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                 timeout=SECONDS)
            return out.stdout
        check('the first', 'CN = server' in subject())
        daemon.install('renewed')
        daemon.child.send_signal(signal.SIGHUP)
        check('the second, after SIGHUP', wait_for(lambda: 'CN = renewed' in subject()))
        daemon.path('cert.pem', 'x\n')
        daemon.child.send_signal(signal.SIGHUP)
        check('a wrong one is told', daemon.wait_log('the old certificate stays in use'))
        ends('and not taken', daemon.ctl('version'), 0, out='OpenSM 4')
        ends('health has it', daemon.ctl('health'), 13, out='_key or _ca refused at 2')
        daemon.install('server')
        daemon.child.send_signal(signal.SIGHUP)
        check('until there is a good one', wait_for(lambda: daemon.ctl('health').returncode == 0))


def versions(made):
    def shakes_hands(version):
        out = subprocess.run(['openssl', 's_client', '-connect', f'127.0.0.1:{daemon.port}',
                              f'-{version}', '-cipher', 'ALL:@SECLEVEL=0'],
                             stdin=subprocess.DEVNULL, capture_output=True, text=True,
                             timeout=SECONDS)
        return 'CN = server' in out.stdout
    with TlsDaemon(made) as daemon:
        daemon.listens()
        for version in 'tls1', 'tls1_1':
            check(f'{version} is too old', not shakes_hands(version))
        check('tls1_2 is not', shakes_hands('tls1_2'))


def insecure():
    daemon = Daemon('--console', 'socket', spec='fattree:4')
    key = daemon.path('key', KEY + '\n')
    os.chmod(key, 0o600)
    daemon.argv += ['--console-key-file', key]
    with daemon, daemon.client(key=KEY) as client:
        for command in ('status', 'health security'):
            text = client.ask(command)
            check(f'{command} names clear text',
                  'socket shows its key to anyone that can read the network' in text, text)


def main():
    with tempfile.TemporaryDirectory(prefix='opensm-tls.') as directory:
        made = Certificates(directory)
        conversation(made)
        follow(made)
        by_hand(made)
        clear_text(made)
        client_certificates(made)
        wrong_files(made)
        renewal(made)
        versions(made)
        insecure()
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
