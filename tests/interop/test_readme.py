#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The commands of the README's section on simulated fabrics, as written there and in their order,
beside a build directory and with an empty HOME, as root and as a user; the output that it shows for
them; and that no file of the site was written."""

import glob
import os
import re
import socket
import subprocess
import sys

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import osmsim  # noqa: E402
import subnet  # noqa: E402

SECTION = 'On a simulated fabric'
COMMAND = re.compile(r'(?:[A-Z_]+=\S+ )*(?:opensm|osmsim|osmsim-run|osmroute|mkdir|export) |PATH=')
USER_PATH = '/usr/local/bin:/usr/bin:/bin'  # as Debian's login sets it
SETTING = re.compile(r'(?:PATH=|export )')  # settings that the shell keeps for later commands
NOBODY = 65534
PORT = 31977  # of a console; below those that the kernel assigns to any program
NEEDED = ('ibnetdiscover', 'saquery', 'ibdiagnet')


def section(text):
    """The lines of the section."""
    lines = text.split('\n')
    first = lines.index(SECTION) + 2
    last = next(i for i in range(first, len(lines)) if lines[i].startswith('----')) - 1
    return lines[first:last]


def examples(lines):
    """Commands, without the remarks to their right."""
    indented = [line[4:] for line in lines if line.startswith('    ')]
    return [re.split(r'   +', line)[0] for line in indented if COMMAND.match(line)]


def milestones(lines):
    """The block of output, which ends with SUBNET UP."""
    block = []
    for line in lines:
        block = block + [line[4:]] if line.startswith('    ') else []
        if block and block[-1] == 'SUBNET UP':
            return block
    return []


class Place(ibsim.Fabric):
    """A directory with the build directory in it and an empty HOME, for a user."""

    def __init__(self, user):
        super().__init__('')
        self.user = user

    def start_ibsim(self):
        """Nothing runs but the examples."""
        os.symlink(osmsim.built(), self.path('build'))
        os.mkdir(self.path('home'))
        # Settings that make runs of this test independent of each other and of the user.
        self.env = {name: value for name, value in os.environ.items()
                    if not name.startswith(('OSM', 'XDG_', 'LD_', 'NOTIFY_'))}
        self.env.update(PATH=USER_PATH if self.user else ibsim.tool_path(), TMPDIR=self.dir,
                        HOME=self.path('home'), OSMSIM_SOCKET=self.path('example'))
        self.identity = {}
        if self.user != os.getuid():
            self.identity = {'user': self.user, 'group': self.user, 'extra_groups': [],
                             'umask': 0o002}  # also as Debian's login sets it
            for path in (self.dir, self.path('home')):
                os.chown(path, self.user, self.user)


class Examples:
    """Runs commands of one shell, each in a process of its own."""

    def __init__(self, place, checks):
        self.place, self.checks, self.runs, self.settings = place, checks, 0, []

    def argv(self, command):
        """A process that is the program, not a shell that waits for it."""
        own = re.sub(r'^((?:[A-Z_]+=\S+ )*)', r'\1exec ', command)
        return ['bash', '-c', '\n'.join(self.settings + [own])]

    def lasting(self, command, ready):
        """Starts one that keeps running; waits until it is ready and returns it."""
        self.runs += 1
        out = f'out.{self.runs}'
        child = self.place.spawn(self.argv(command), out, env=self.place.env,
                                 stdin=subprocess.DEVNULL, **self.place.identity)
        try:
            self.place.wait(lambda: ready in self.place.read(out), ibsim.PATIENCE,
                            f'"{command}" to say "{ready}"', alive=child)
        except ibsim.Failure as failure:
            self.checks.check(command, False, (failure, self.place.read(out)))
        return child, out

    def ends(self, command):
        run = subprocess.run(self.argv(command), cwd=self.place.dir, env=self.place.env, text=True,
                             stdin=subprocess.DEVNULL, capture_output=True, errors='replace',
                             timeout=2 * ibsim.PATIENCE, **self.place.identity)
        self.checks.check(command, run.returncode == 0,
                          (run.returncode, run.stderr, run.stdout[-1000:]))

    def run(self, command, printed):
        if SETTING.match(command):
            self.settings.append(command)
        elif command.endswith('&'):
            self.lasting(command.rstrip('& '), 'SUBNET UP' if 'opensm' in command else ' at ')
        elif 'opensm --sim' in command:
            child, out = self.lasting(command, 'SUBNET UP')
            lines = self.place.read(out).split('\n')[:-1]
            self.checks.equal(f'{command} prints', lines[-len(printed):], printed)
            self.checks.equal(f'{command} ends', self.place.stop(child), 0)
        else:
            self.ends(command)


def site_files():
    """Logs, dumps and cache where this build has them, and when each was written."""
    with open(osmsim.built('config.status')) as file:
        values = dict(re.findall(r'^S\["(prefix|localstatedir)"\]="(.*)"$', file.read(), re.M))
    state = values['localstatedir'].replace('${prefix}', values['prefix'])
    logs, cache = os.path.join(state, 'log'), os.path.join(state, 'cache', 'opensm')
    return {path: os.stat(path).st_mtime_ns
            for path in glob.glob(os.path.join(logs, 'opensm*')) + glob.glob(cache + '/**')}


def pulled_link(place, checks, shell, text):
    """The README's example of the console: this many blocks change when that link is pulled."""
    said = re.search(r'watch ([\d,]+) of ([\d,]+) LFT blocks change\s+\("(.*?)" on (\S+?),', text)
    if not checks.check('the README has an example of the console', said):
        return
    changed, blocks, command, spec = said.groups()
    shell.lasting(f'opensm --sim {spec} --console loopback -C {PORT}', 'SUBNET UP')
    shown = []

    def console(line):
        with socket.create_connection(('127.0.0.1', PORT), ibsim.PATIENCE) as client:
            client.sendall(f'{line}\nquit\n'.encode())
            return b''.join(iter(lambda: client.recv(4096), b'')).decode()

    def has_changed():
        shown[:] = re.findall(r'(\w+) sweep in .* (\d+) LFT blocks changed', console('events'))
        return len(shown) > 1

    console(command)
    place.wait(has_changed, ibsim.PATIENCE, 'a sweep for the link')
    checks.equal('LFT blocks of all and of the link', [number for _, number in shown[:2]],
                 [number.replace(',', '') for number in (blocks, changed)])


def main():
    why = osmsim.missing(NEEDED)
    if why:
        print(f'SKIP: {why}')
        return subnet.SKIPPED
    sys.stdout.reconfigure(line_buffering=True)
    ibsim.end_cleanly()
    checks = ibsim.Checks()
    top = os.environ.get('top_srcdir', '.')
    with open(os.path.join(top, 'README')) as file:
        text = file.read()
    lines = section(text)
    commands = examples(lines)
    checks.check('the README has examples', len(commands) > 12, commands)
    before = site_files()
    for user in {os.getuid(), os.getuid() or NOBODY}:
        with Place(user) as place:
            shell = Examples(place, checks)
            for command in commands:
                shell.run(command, milestones(lines))
            log = place.read('home/sm/log')
            checks.check(f'a control socket, of user {user}', 'SUBNET UP' in log and
                         'does not work' not in log, log)
            if user == os.getuid():
                pulled_link(place, checks, shell, text)
    checks.equal('files of the site', site_files(), before)
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
