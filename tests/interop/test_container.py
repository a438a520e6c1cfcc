#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The command line of the sample image without an engine of containers: as PID 1 of a PID
namespace, in a root that has nothing but the program and its libraries, all of it read-only but
what the samples say. Two of them manage a simulated subnet."""

import fcntl
import http.client
import json
import os
import re
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import osmsim  # noqa: E402

SAMPLES = os.path.join(os.environ.get('top_srcdir', '.'), 'config', 'samples', 'container')
SPACES = ('unshare', '--user', '--map-root-user', '--mount', '--pid', '--net', '--fork',
          '--kill-child')
ANSWER_SECONDS = 10  # a standby asks the daemon twice, for 5 s each (web/api/probes.c)
GRACE = 30  # terminationGracePeriodSeconds of the sample
SECONDS = 60
ORPHANS = 20
WEB = osmsim.built('opensm', 'web', 'opensm-web')
WEB_ADDRESS = '10.93.15.1'  # no loopback address, on the loopback interface
SIOCSIFADDR, SIOCSIFFLAGS, IFF_UP = 0x8916, 0x8914, 1
NET = '''Switch 4 "S"
[1] "A"[1]
[2] "B"[1]
[3] "C"[1]

Hca 1 "A"
[1] "S"[1]

Hca 1 "B"
[1] "S"[2]

Hca 1 "C"
[1] "S"[3]
'''
# By the parent of the namespace's PID 1, then by that itself, up to the command line of the image.
ENTER = '''
set -e
cd "$ROOT"
mount --bind . .
cd "$ROOT"
mount --bind "$STATE" var/cache/opensm
mount --bind "$RUN" run/opensm
mount --bind "$SIM" sim
mount -o remount,bind,ro,nosuid,nodev .
mount --bind /dev/null dev/null
mount -t proc proc proc
exec chroot . "$@"
'''


def missing():
    """Why this host cannot run the test, or None."""
    for tool in ('unshare', 'nsenter', 'mount', 'chroot'):
        if not shutil.which(tool):
            return f'{tool} is not installed'
    probe = subprocess.run([*SPACES, 'sh', '-c', 'mount -t proc proc /proc'],
                           capture_output=True, text=True)
    return f'no user namespaces here: {probe.stderr.strip()}' if probe.returncode else None


def read_sample(name):
    with open(os.path.join(SAMPLES, name)) as file:
        return file.read()


def instruction(text, name):
    """The words of an instruction of the Containerfile, in its last stage."""
    return json.loads(re.findall(rf'^{name} .*?(\[.*\])$', text, re.M)[-1])


def block(manifest, name):
    """A file in the manifest."""
    lines = re.search(rf'^( *){re.escape(name)}: \|\n((?:\1  .*\n)+)', manifest, re.M)
    return re.sub(rf'^{lines[1]}  ', '', lines[2], flags=re.M)


def libraries(*programs):
    """The shared libraries of the programs, and what loads them."""
    out = subprocess.run(['ldd', *programs], capture_output=True, text=True, check=True).stdout
    return sorted(set(re.findall(r'(/\S+) \(0x', out)))


class Root:
    """Directories of an image, made of what was built."""

    def __init__(self, path):
        self.path = path
        for directory in ('dev', 'proc', 'sim', 'tmp', 'etc/opensm', 'run/opensm',
                          'var/cache/opensm', 'var/log'):
            os.makedirs(os.path.join(path, directory))
        open(os.path.join(path, 'dev/null'), 'w').close()
        programs = {'/usr/sbin/opensm': osmsim.built('opensm', 'opensm'),
                    '/usr/bin/opensmctl': osmsim.built('opensm', 'opensmctl', 'opensmctl'),
                    '/bin/sh': shutil.which('sh'), '/usr/bin/env': shutil.which('env'),
                    '/usr/lib/sim.so': osmsim.built(*osmsim.LIBRARY)}
        for inside, outside in programs.items():
            self.put(inside, outside)
        for library in libraries(*programs.values()):
            self.put(library, library)

    def put(self, inside, outside):
        path = self.path + inside
        os.makedirs(os.path.dirname(path), exist_ok=True)
        shutil.copy(outside, path)


class Container:
    def __init__(self, fabric, root, host, command, env):
        self.fabric, self.out = fabric, f'{host}.out'
        self.state = fabric.path(f'{host}.state')
        run = fabric.path(f'{host}.run')
        for directory in (self.state, run):
            os.makedirs(directory, exist_ok=True)
        where = dict(ROOT=root.path, STATE=self.state, RUN=run, SIM=fabric.dir)
        # A directory of packages, not of the prefix that this was built for.
        self.env = dict(env, OSM_CACHE_DIR='/var/cache/opensm', LD_PRELOAD='/usr/lib/sim.so',
                        OSMSIM_NODE=host, OSMSIM_SOCKET='/sim/socket',
                        PATH='/usr/sbin:/usr/bin:/sbin:/bin')
        self.child = fabric.spawn([*SPACES, 'sh', '-c', ENTER, 'sh', *self.within(*command)],
                                  self.out, env=dict(where, PATH=os.environ['PATH']),
                                  stdin=subprocess.DEVNULL)

    def within(self, *command, without=()):
        words = [f'{name}={value}' for name, value in self.env.items() if name not in without]
        # Where the simulator is, which names its issm devices by a relative path.
        return ['/usr/bin/env', '-i', '-C', '/sim', *words, *command]

    def lines(self):
        """What it has logged."""
        text = self.fabric.read(self.out)
        try:
            return [json.loads(line) for line in text.splitlines(True) if line.endswith('\n')]
        except ValueError as wrong:
            raise ibsim.Failure(f'{self.out} is not JSON: {wrong}: {text[:500]}') from wrong

    def says(self, text):
        try:
            self.fabric.wait(lambda: any(text in line['message'] for line in self.lines()),
                             SECONDS, f'"{text}" of {self.out}', alive=self.child)
        except ibsim.Failure as failure:
            raise ibsim.Failure(f'{failure}; {self.fabric.read(self.out)[-1500:]}') from failure

    def pid(self):
        """Of PID 1, as seen from outside."""
        with open(f'/proc/{self.child.pid}/task/{self.child.pid}/children') as file:
            return int(file.read())

    def run(self, *command):
        """As an engine runs a probe: (exit code, output)."""
        done = subprocess.run(['nsenter', '-t', str(self.pid()), '-U', '--preserve-credentials',
                               '-m', '-p', '-r', '-w',
                               *self.within(*command, without=['LD_PRELOAD'])],
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=SECONDS)
        return done.returncode, done.stdout + done.stderr

    def zombies(self):
        """Children of its PID 1 that have ended and that nobody waits for."""
        found = 0
        for name in filter(str.isdigit, os.listdir('/proc')):
            try:
                with open(f'/proc/{name}/stat') as file:
                    state, parent = file.read().rpartition(')')[2].split()[:2]
            except OSError:
                continue  # it has ended meanwhile
            found += state == 'Z' and int(parent) == self.pid()
        return found

    def end(self):
        """As an engine ends it: the code, and how long it took."""
        since = time.monotonic()
        os.kill(self.pid(), signal.SIGTERM)
        code = self.child.wait(SECONDS)
        return code, time.monotonic() - since


def probed(checks, containers):
    for container in containers:
        code, said = container.run('/usr/bin/opensmctl', 'health')
        checks.check('the probe of the samples finds it healthy', code == 0, said)
        code, said = container.run('/bin/sh', '-c', '>/etc/opensm/x')
        checks.check('its root is read-only', code != 0 and 'Read-only' in said, said)
        code, said = container.run('/bin/sh', '-c', 'read -r x </proc/1/comm; echo "$x"')
        checks.equal('it is PID 1', said.strip(), 'opensm')


def orphans(checks, container):
    """What a probe leaves behind when its time is up becomes a child of PID 1."""
    for _ in range(ORPHANS):
        container.run('/bin/sh', '-c', 'sh -c : & exit')
    container.fabric.wait(lambda: not container.zombies(), 5, 'zombies to be gone',
                          alive=container.child)
    checks.check('no zombies', True)


def life(checks, fabric, command, env):
    root = Root(fabric.path('root'))
    first = Container(fabric, root, 'A', command, env)
    first.says('SUBNET UP')
    second = Container(fabric, root, 'B', command, env)
    second.says('Entering STANDBY state')
    probed(checks, (first, second))
    orphans(checks, first)
    checks.check('its state is in the volume', os.listdir(first.state))
    before = len(second.lines())
    code, took = first.end()
    checks.check(f'SIGTERM ends it well within its time: code {code}, {took:.1f} s',
                 code == 0 and took < GRACE / 3)
    second.says('Entering MASTER state')
    new = [line['message'] for line in second.lines()[before:]]
    checks.check('it was handed over', any('sent HANDOVER: obeyed' in text for text in new), new)
    again = Container(fabric, root, 'A', command, env)
    again.says('Entering STANDBY state')
    for container in (again, second):
        checks.equal('the end', container.end()[0], 0)


def samples(checks, container_file, manifest, directory):
    command = instruction(container_file, 'CMD')
    args = json.loads(re.search(r'args: (\[.*\])', manifest)[1])
    checks.equal('image and manifest have one command line', args, command)
    probe = instruction(container_file, 'HEALTHCHECK')
    checks.check('and one probe', json.dumps(probe) in manifest, probe)
    for name in ('opensm.conf', 'partitions.conf'):
        with open(os.path.join(directory, name), 'w') as file:
            file.write(block(manifest, name))
    check = subprocess.run([osmsim.built('opensm', 'opensm'), '--check-config',
                            '-F', os.path.join(directory, 'opensm.conf'),
                            '-P', os.path.join(directory, 'partitions.conf'), '-f', 'stdout'],
                           env=dict(os.environ, OSM_CACHE_DIR=directory, OSM_TMP_DIR=directory),
                           stdin=subprocess.DEVNULL, capture_output=True, text=True)
    checks.check('its configuration is right', check.returncode == 0, check)
    checks.equal('and one time to end', re.findall(r'GracePeriodSeconds: (\d+)', manifest),
                 [str(GRACE)])
    probes = re.findall(r'Probe:\n((?: {10}.*\n)+)', manifest)
    waits = [int(time) for probe in probes for time in re.findall(r'timeoutSeconds: (\d+)', probe)]
    checks.check('probes wait as long as answers may take', len(probes) == 3 == len(waits) and
                 min(waits) > ANSWER_SECONDS, probes)
    checks.check('which the image tells', f'--stop-timeout {GRACE}' in container_file)


def set_addresses(*addresses):
    """The loopback interface of this network namespace is up and has these."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        for number, address in enumerate(addresses):
            name = b'lo:%d' % number if number else b'lo'
            fcntl.ioctl(control, SIOCSIFADDR, struct.pack('16sHH4s8x', name, socket.AF_INET, 0,
                                                          socket.inet_aton(address)))
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack('16sH14x', b'lo', IFF_UP))


def answer(path):
    """The status of an answer to another host, and its text; (0, why) if nobody answers."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    client = http.client.HTTPSConnection(WEB_ADDRESS, 9315, timeout=SECONDS, context=context)
    try:
        client.request('GET', path)
        got = client.getresponse()
        return got.status, got.read().decode()
    except OSError as why:
        return 0, str(why)
    finally:
        client.close()


def answers_of_web(directory):
    """Both programs of the pod; in a network namespace of its own. Prints what is answered."""
    set_addresses('127.0.0.1', WEB_ADDRESS)

    def path(name):
        return os.path.join(directory, name)
    daemon = [osmsim.built('opensm', 'opensm'), '--sim', 'fattree:4', '-f', path('log'), '-F',
              '/dev/null', '--control-socket', path('sock')]
    env = dict(os.environ, OSM_CACHE_DIR=directory, OSM_TMP_DIR=directory)
    with subprocess.Popen(daemon, env=env, stdin=subprocess.DEVNULL, stdout=sys.stderr) as first, \
            subprocess.Popen([WEB, '-F', path('opensm-web.conf')], stdout=sys.stderr) as second:
        deadline = time.monotonic() + SECONDS
        while answer('/readyz')[0] != 200 and time.monotonic() < deadline:
            time.sleep(0.1)
        print(json.dumps({name: answer(name) for name in ('/livez', '/readyz', '/metrics')}))
        second.terminate()
        first.terminate()


def web(checks, manifest, directory):
    """What the pod promises is answered to clients on other hosts, too."""
    conf = block(manifest, 'opensm-web.conf').replace('/etc/opensm-tls', directory)
    with open(os.path.join(directory, 'opensm-web.conf'), 'w') as file:
        file.write(f'{conf}control_socket {directory}/sock\n')
    subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=web',
                    '-keyout', 'tls.key', '-out', 'tls.crt'], check=True, cwd=directory,
                   capture_output=True)
    run = subprocess.run(['unshare', '--user', '--map-root-user', '--net', '--pid', '--fork',
                          '--kill-child', sys.executable, __file__, directory],
                         capture_output=True, text=True, timeout=2 * SECONDS)
    answers = json.loads(run.stdout or '{}')
    for name, text in (('/livez', ''), ('/readyz', ''), ('/metrics', 'opensm_subnet_up 1')):
        status, got = answers.get(name, (0, run.stderr))
        checks.check(f'{name} is answered', status == 200 and text in got, (status, got[:500]))


def main():
    checks = ibsim.Checks()
    container_file, manifest = read_sample('Containerfile'), read_sample('opensm.yaml')
    with tempfile.TemporaryDirectory(prefix='opensm-container.') as directory:
        samples(checks, container_file, manifest, directory)
    why = missing()
    if why:
        print(f'SKIP: {why}')
        return 77 if not checks.failed else 1
    if os.path.exists(WEB):
        with tempfile.TemporaryDirectory(prefix='opensm-container.') as directory:
            web(checks, manifest, directory)
    else:
        print('SKIP: opensm-web is not built')
    ibsim.end_cleanly()
    command = instruction(container_file, 'ENTRYPOINT') + instruction(container_file, 'CMD')
    env = dict(re.findall(r'^ENV (\w+)=(\S+)$', container_file, re.M))
    try:
        with osmsim.Fabric(NET) as fabric:
            life(checks, fabric, command, env)
    except ibsim.Failure as failure:
        checks.check('the run', False, failure)
    return checks.close()


if __name__ == '__main__':
    sys.exit(answers_of_web(*sys.argv[1:]) if sys.argv[1:] else main())
