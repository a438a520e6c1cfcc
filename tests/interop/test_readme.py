#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The commands of the README's section on simulated fabrics, as they stand there and in their
order, in a directory of their own; and what it says that they print."""

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
PROGRAMS = ('libvendor/osmsim', 'libvendor/preload', 'opensm/osmroute', 'opensm')
COMMAND = re.compile(r'(?:[A-Z_]+=\S+ )*(?:opensm|osmsim|osmsim-run|osmroute|mkdir) ')
PORT = 31977  # of a console; below those that the kernel gives to anybody
NEEDED = ('ibnetdiscover', 'saquery', 'ibdiagnet')


def section(text):
    """The lines of the section."""
    lines = text.split('\n')
    first = lines.index(SECTION) + 2
    last = next(i for i in range(first, len(lines)) if lines[i].startswith('----')) - 1
    return lines[first:last]


def examples(lines):
    """Commands, without what is said about them to their right."""
    indented = [line[4:] for line in lines if line.startswith('    ')]
    return [re.split(r'   +', line)[0] for line in indented if COMMAND.match(line)]


def milestones(lines):
    """The block of what is printed, which ends with SUBNET UP."""
    block = []
    for line in lines:
        block = block + [line[4:]] if line.startswith('    ') else []
        if block and block[-1] == 'SUBNET UP':
            return block
    return []


class Examples:
    """Runs commands of the shell in the directory of a fabric, which is not used itself."""

    def __init__(self, fabric, checks):
        self.fabric, self.checks, self.runs = fabric, checks, 0
        paths = [osmsim.built(program) for program in PROGRAMS] + [ibsim.tool_path()]
        self.env = dict(os.environ, PATH=':'.join(paths), HOME=fabric.dir, TMPDIR=fabric.dir,
                        OSMSIM_SOCKET=fabric.path('example'), OSM_CACHE_DIR=fabric.path('cache'),
                        OSM_TMP_DIR=fabric.path('cache'))
        for name in ('LD_PRELOAD', 'NOTIFY_SOCKET'):
            self.env.pop(name, None)

    def prepared(self, command):
        """The same without files outside the directory."""
        command = command.replace('/tmp/x', self.fabric.path('x')).replace('FILE', 'topology')
        if 'opensm ' in command and ' -f ' not in command:
            command = command.replace('opensm ', 'opensm -f log ', 1)
        return re.sub('ibdiagnet$', 'ibdiagnet -o .', command)

    def lasting(self, command, ready):
        """Starts one that goes on; waits until it is ready and returns it."""
        self.runs += 1
        out = f'out.{self.runs}'
        child = self.fabric.spawn(['sh', '-c', f'exec {command}'], out, env=self.env,
                                  stdin=subprocess.DEVNULL)
        try:
            self.fabric.wait(lambda: ready in self.fabric.read(out), ibsim.PATIENCE,
                             f'"{command}" to say "{ready}"', alive=child)
        except ibsim.Failure as failure:
            self.checks.check(command, False, (failure, self.fabric.read(out)))
        return child, out

    def ends(self, command):
        run = subprocess.run(['sh', '-c', command], cwd=self.fabric.dir, env=self.env, text=True,
                             stdin=subprocess.DEVNULL, capture_output=True, errors='replace',
                             timeout=2 * ibsim.PATIENCE)
        self.checks.check(command, run.returncode == 0,
                          (run.returncode, run.stderr, run.stdout[-1000:]))
        return run.stdout

    def run(self, command, printed):
        prepared = self.prepared(command)
        if command.endswith('&'):
            self.lasting(prepared.rstrip('& '), 'SUBNET UP' if 'opensm' in command else ' at ')
        elif 'opensm --sim' in command:
            child, out = self.lasting(re.sub('^((?:[A-Z_]+=.*? )*)opensm', r'env \1opensm',
                                             prepared), 'SUBNET UP')
            self.checks.equal(f'{command} prints', self.fabric.read(out).split('\n')[:-1], printed)
            self.checks.equal(f'{command} ends', self.fabric.stop(child), 0)
        else:
            return self.ends(prepared)
        return ''


def pulled_link(fabric, checks, shell, text):
    """What the README says of the console: so many blocks change when that link is pulled."""
    said = re.search(r'watch ([\d,]+) of ([\d,]+) LFT blocks change\s+\("(.*?)" on (\S+?),', text)
    if not checks.check('the README has an example of the console', said):
        return
    changed, blocks, command, spec = said.groups()
    fabric.spawn(['sh', '-c', f'exec opensm --sim {spec} --console loopback -C {PORT} -f log.pull'],
                 'out.pull', env=dict(shell.env, OSM_CACHE_DIR=fabric.path('new')),
                 stdin=subprocess.DEVNULL)
    fabric.wait(lambda: 'SUBNET UP' in fabric.read('out.pull'), ibsim.PATIENCE, f'{spec} to be up')
    shown = []

    def console(line):
        with socket.create_connection(('127.0.0.1', PORT), ibsim.PATIENCE) as client:
            client.sendall(f'{line}\nquit\n'.encode())
            return b''.join(iter(lambda: client.recv(4096), b'')).decode()

    def has_changed():
        shown[:] = re.findall(r'(\w+) sweep in .* (\d+) LFT blocks changed', console('events'))
        return len(shown) > 1

    console(command)
    fabric.wait(has_changed, ibsim.PATIENCE, 'a sweep for the link')
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
    with osmsim.Fabric(ibsim.fat_tree(4)) as fabric:
        shell = Examples(fabric, checks)
        with open(fabric.path('topology'), 'w') as file:
            file.write(shell.ends('osmsim-run -t fattree:4 ibnetdiscover'))
        commands = examples(lines)
        checks.check('the README has examples', len(commands) > 8, commands)
        for command in commands:
            shell.run(command, milestones(lines))
        pulled_link(fabric, checks, shell, text)
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
