#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A simulated fabric that loses packets, and single_thread TRUE: the same seed gives the same
packets, octet by octet, however busy the machine is; another seed gives others."""

import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))

from checks import Checks  # noqa: E402 (found through the path above)

BUILD = os.environ.get('top_builddir', '.')
OPENSM = os.environ.get('OPENSM') or os.path.abspath(os.path.join(BUILD, 'opensm', 'opensm'))
SECONDS = 60   # for a sweep of a small fabric, on a busy machine
AFTER_S = 1.5  # continues after SUBNET UP, with light sweeps
CONF = 'single_thread TRUE\nsweep_interval 1\n'
GLOBAL_HEADER, RECORD_HEADER, TIME = 24, 16, 8


def packets(path):
    """Packets of a capture, without the times, which are those of the clock."""
    with open(path, 'rb') as file:
        data = file.read()
    found, at = [], GLOBAL_HEADER
    while at + RECORD_HEADER <= len(data):
        length = struct.unpack_from('>I', data, at + 8)[0]
        at += RECORD_HEADER
        if at + length > len(data):
            break  # it was being written
        found.append(data[at + TIME:at + length])
        at += length
    return found


class Bench(Checks):
    def __init__(self, directory):
        super().__init__()
        self.dir = directory
        self.runs = 0

    def run(self, spec, seed, loss='0.05', busy=0):
        """The packets of a daemon from its start to a while after SUBNET UP, and their number by
        then."""
        self.runs += 1
        home = os.path.join(self.dir, str(self.runs))
        os.mkdir(home)
        conf, log, pcap = (os.path.join(home, name) for name in ('conf', 'log', 'pcap'))
        with open(conf, 'w') as file:
            file.write(CONF + f'log_file {log}\ndump_files_dir {home}\n')
        others = [subprocess.Popen([sys.executable, '-c', 'while True: pass'])
                  for _ in range(busy)]
        daemon = subprocess.Popen([OPENSM, '--sim', spec, '--sim-seed', str(seed), '--sim-loss',
                                   loss, '--pcap', pcap, '-F', conf],
                                  env=dict(os.environ, OSM_CACHE_DIR=home, OSM_TMP_DIR=home),
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        up = self.wait_up(daemon, log)
        before = len(packets(pcap)) if up else 0
        time.sleep(AFTER_S)
        daemon.send_signal(signal.SIGTERM)
        code = daemon.wait(SECONDS)
        for other in others:
            other.kill()
            other.wait()
        self.check(f'{spec}, seed {seed}: comes up and ends well', up and code == 0, (up, code))
        return packets(pcap), before

    @staticmethod
    def wait_up(daemon, log):
        end = time.monotonic() + SECONDS
        while time.monotonic() < end and daemon.poll() is None:
            if os.path.exists(log):
                with open(log, errors='replace') as file:
                    if 'SUBNET UP' in file.read():
                        return True
            time.sleep(0.02)
        return False

    def same(self, what, first, second):
        """One may have been stopped a little later than the other."""
        n = min(len(first[0]), len(second[0]))
        differs = next((i for i in range(n) if first[0][i] != second[0][i]), None)
        self.check(f'{what}: the same packets', differs is None,
                   (differs, n) if differs is None else
                   (differs, n, first[0][differs].hex(), second[0][differs].hex()))
        self.check(f'{what}: all of them up to SUBNET UP', n >= max(first[1], second[1], 200),
                   (n, first[1], second[1]))


def main():
    directory = tempfile.mkdtemp(prefix='repeatable.')
    bench = Bench(directory)
    try:
        for spec in ('fattree:4', 'torus:3x3:2'):
            first = bench.run(spec, 7)
            bench.same(spec, first, bench.run(spec, 7))
            bench.same(f'{spec} on a busy machine', first, bench.run(spec, 7, busy=4))
        other = bench.run('torus:3x3:2', 8)
        n = min(len(first[0]), len(other[0]))
        bench.check('another seed gives others', first[0][:n] != other[0][:n])
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return bench.close()


if __name__ == '__main__':
    sys.exit(main())
