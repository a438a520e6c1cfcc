# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The classic daemon's routing of a fabric on osmsim: time, memory and tables."""

import re
import subprocess

import lab

TABLES = re.compile(r'ucast_mgr_process: (\S+) tables configured')
NODE = re.compile(r'^(\S+)\s+(0x\w+)\s')
QUIET_SECONDS = 0.5


class Tables:
    """Tables of a simulator's switches, as a file that the engine file reads."""

    def __init__(self, fabric):
        self.fabric = fabric
        self.lids = self.read_lids()
        self.holes = 0

    def command(self, text):
        run = subprocess.run([lab.OSMSIM, '-s', self.fabric.path('socket'), '-c', text],
                             env=self.fabric.env, timeout=600, stdout=subprocess.PIPE)
        if run.returncode != 0:
            raise lab.Failure(f'osmsim: {text}: {run.stdout.decode()[-200:]}')
        return run.stdout.decode()

    def read_lids(self):
        """GUIDs of ports by LID, as the daemon saved them."""
        lids = {}
        for line in self.fabric.read('cache/guid2lid').splitlines():
            if line.strip():
                guid, low, high = (int(word, 16) for word in line.split())
                lids.update((lid, guid) for lid in range(low, high + 1))
        if not lids:
            raise lab.Failure('the daemon wrote no guid2lid')
        return lids

    def write(self, path):
        tails = {lid: f' # portguid 0x{guid:016x}\n' for lid, guid in self.lids.items()}
        with open(path, 'w') as file:
            for kind, guid in self.nodes():
                if kind == 'switch':
                    self.write_switch(file, guid, tails)

    def nodes(self):
        return [match.groups() for match in map(NODE.match, self.command('nodes').splitlines())
                if match]

    def write_switch(self, file, guid, tails):
        lines, known = [], 0
        for line in self.command(f'dump lft {guid}').splitlines():
            words = line.split()
            lid, port = int(words[0]), int(words[1])
            if lid in tails and len(words) == 2:
                lines.append(f'0x{lid:04x} {port:03d}{tails[lid]}')
                known += 1
        self.holes += len(tails) - known
        file.write(f'Unicast lids [0-{max(tails)}] of switch Lid 0 guid {guid} (x):\n')
        file.writelines(lines)


def engine_used(log):
    """The engine whose tables were configured last, or None."""
    found = TABLES.findall(log)
    return found[-1] if found else None


def measure(net, program, engine, deadline, tables_path):
    """Figures of one bring-up; the tables go to a file if there is a path. {'failed': why} if it
    does not come up in time."""
    try:
        with lab.Osmsim(net) as fabric:
            fabric.env['COUNT_MADS_CPU'] = '1'
            daemon = lab.Daemon(fabric, program, ('-R', engine), deadline, QUIET_SECONDS)
            daemon.start()
            daemon.wait(daemon.is_up, 'SUBNET UP')
            figures = {'seconds': daemon.counts.read()['pause_cpu_ns'] / 1e9,
                       'megabytes': daemon.peak_megabytes()}
            used = engine_used(fabric.read('log.1'))
            if used != engine:
                return {'failed': f'fell back to {used}'}
            if tables_path:
                daemon.wait(daemon.is_quiet, 'silence')
                tables = Tables(fabric)
                tables.write(tables_path)
                figures['holes'] = tables.holes
            return figures
    except lab.TooLong:
        return {'failed': f'> {deadline:g} s'}
    except (lab.Failure, OSError, subprocess.SubprocessError) as why:
        return {'failed': str(why)}
