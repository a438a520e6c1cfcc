#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""opensm --pcap: tshark opens what the daemon wrote while it served a subnet."""

import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import osmsim  # noqa: E402
import subnet  # noqa: E402

COLUMNS = ('lrh.vl', 'lrh.slid', 'lrh.dlid', 'bth.destqp', 'deth.srcqp', 'deth.q_key', 'bth.p_key',
           'mad.mgmtclass', 'mad.method', 'mad.attributeid')
SUBN_ADM, GET, GET_TABLE, GET_TABLE_RESP = 3, 0x01, 0x12, 0x92
NODE_RECORD = 0x11
SECONDS = ibsim.PATIENCE


def tshark(capture, *argv):
    return subprocess.run(['tshark', '-r', capture, *argv], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, universal_newlines=True,
                          check=True).stdout.splitlines()


def packets(capture):
    """Each packet as a dict of COLUMNS."""
    argv = [arg for name in COLUMNS for arg in ('-e', 'infiniband.' + name)]
    return [dict(zip(COLUMNS, (int(value or '-1', 0) for value in line.split('\t'))))
            for line in tshark(capture, '-T', 'fields', *argv)]


def is_answered(capture):
    """Whether saquery's answer is in the file, which may end in the middle of a packet."""
    try:
        return any(packet['mad.method'] == GET_TABLE_RESP for packet in packets(capture))
    except subprocess.CalledProcessError:
        return False


def judge(checks, what, capture, began):
    """Properties of every capture that began then; returns its packets."""
    found = packets(capture)
    checks.check(f'{what}: packets were captured', len(found) > 100, len(found))
    checks.equal(f'{what}: none is malformed', tshark(capture, '-Y', '_ws.malformed'), [])
    checks.equal(f'{what}: the MADs of QP0 travel on VL 15, no others',
                 [p for p in found if (p['bth.destqp'] == 0) != (p['lrh.vl'] == 15)], [])
    checks.equal(f'{what}: SMPs and nothing else are of QP0',
                 [p for p in found if (p['mad.mgmtclass'] in (1, 0x81)) != (p['bth.destqp'] == 0)],
                 [])
    times = [float(line) for line in tshark(capture, '-T', 'fields', '-e', 'frame.time_epoch')]
    checks.check(f'{what}: times go forward and are of now',
                 times == sorted(times) and began < times[0] and times[-1] < time.time(),
                 (began, times[:1], times[-1:]))
    return found


def on_osmsim(checks):
    """The SM on one host, a client that asks for all nodes on another. Not on ibsim, which leaves
    the P_Key index of delivered MADs to chance."""
    began = time.time()
    with osmsim.Fabric(ibsim.fat_tree(4)) as fabric:
        hosts = fabric.hosts()
        host, client = hosts[0], hosts[-1]
        capture = fabric.path('daemon.pcap')
        child = fabric.start_opensm(subnet.daemon(), host, '--pcap', capture,
                                    '-g', f'0x{subnet.sm_guid(fabric, host):x}')
        try:
            fabric.wait_subnet_up(child, SECONDS)
            checks.equal('saquery works', fabric.tool(client, 'saquery', '-D')[0], 0)
            nodes = fabric.dump()
            fabric.wait(lambda: is_answered(capture), SECONDS,
                        'the answer to saquery to be in the file while the daemon runs')
        except ibsim.Failure as failure:
            checks.check('the daemon serves the subnet', False, failure)
            return
        checks.equal('the daemon ends well', fabric.stop(child), 0)
        found = judge(checks, 'on osmsim', capture, began)
        sa = [p for p in found if p['mad.mgmtclass'] == SUBN_ADM]
        lids = nodes[client].lid(1), nodes[host].lid(1)
        for method, ends in ((GET_TABLE, lids), (GET_TABLE_RESP, lids[::-1])):
            got = {(p['lrh.slid'], p['lrh.dlid']) for p in sa if p['mad.method'] == method
                   and p['mad.attributeid'] == NODE_RECORD}
            checks.equal(f'LIDs of NodeRecord, method 0x{method:02x}', got, {ends})
        checks.equal('SA MADs have the Q_Key and a P_Key',
                     {(p['deth.q_key'], p['bth.p_key']) for p in sa}, {(0x80010000, 0xFFFF)})


def in_the_background(checks, directory):
    began = time.time()
    capture, pid = os.path.join(directory, 'sim.pcap'), os.path.join(directory, 'pid')
    log = os.path.join(directory, 'log')
    env = dict(os.environ, OSM_CACHE_DIR=directory, OSM_TMP_DIR=directory)
    code = subprocess.run([subnet.daemon(), '--sim', 'fattree:4', '--daemon', '--once', '--pcap',
                           os.path.basename(capture), '--log_file', log, '--pidfile', pid],
                          env=env, cwd=directory, timeout=SECONDS).returncode
    checks.equal('the daemon goes to the background', code, 0)
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline and os.path.exists(pid):  # it closes the capture before that
        time.sleep(0.05)
    checks.check('it ended', not os.path.exists(pid) and os.path.exists(log))
    judge(checks, 'in the background', capture, began)


def refused(checks, directory):
    run = subprocess.run([subnet.daemon(), '--sim', 'fattree:4', '--once', '--log_file', 'stdout',
                          '--pcap', '/nonexistent/x'], cwd=directory, timeout=SECONDS,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    checks.check('a file that cannot be written is refused by name',
                 run.returncode and '--pcap: cannot write /nonexistent/x' in run.stdout,
                 (run.returncode, run.stdout[-300:]))


def main():
    if not shutil.which('tshark'):
        print('FAIL: there is no tshark (Debian: tshark)')
        return 1
    why = osmsim.missing(['saquery'])
    if why:
        print(f'SKIP: {why}')
        return subnet.SKIPPED
    ibsim.end_cleanly()
    checks = ibsim.Checks()
    on_osmsim(checks)
    with tempfile.TemporaryDirectory(prefix='opensm-pcap.') as directory:
        in_the_background(checks, directory)
        refused(checks, directory)
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
