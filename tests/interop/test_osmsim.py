#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Unmodified programs on osmsim: both daemons, infiniband-diags, ibutils, osmtest.

What the classic daemon passes here shows that the simulator is right."""

import concurrent.futures
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import ibutils  # noqa: E402
import osmsim  # noqa: E402
import subnet  # noqa: E402
import tools  # noqa: E402
import truth  # noqa: E402

NEEDED = tools.NEEDED + ['opensm', 'osmtest', 'ibdiagnet', 'ibstat', 'perfquery', 'ibping']
SECONDS = ibsim.PATIENCE
# osmtest's flows, all of which the classic daemon passes. In one lane they follow each other; the
# lanes, from different hosts, run at once.
LANES = (('v', 'e', 'q', 'm', 't', 'a'), ('f -s1', 'f -s2', 'f -s3'), ('s',))
# saquery's tables on a tree of 128 hosts, and of 80 switches with 8 ports: records. A P_Key table
# has 4 blocks on a host, and 1 on an external port of a switch or its port 0.
TABLES = {
    'NR': ('NodeRecord', 128 + 80),
    'PIR': ('PortInfoRecord', 128 + 80 * 9),
    'SWIR': ('SwitchInfoRecord', 80),
    'LR': ('LinkRecord', 128 + 80 * 8),
    'LFTR': ('LFT Record', 80 * 4),
    'PR': ('PathRecord', (128 + 80) * (128 + 80)),
    'PKTR': ('PKeyTableRecord', 128 * 4 + 80 * 9),
    'GIR': ('GUIDInfo Record', (128 + 80) * 4),
    'SMIR': ('SMInfoRecord', 1),
}


def whole_tables(run):
    """Each comes in many MADs, which RMPP puts together."""
    for name, (title, count) in TABLES.items():
        code, out = run.fabric.tool(run.client, *tools.patient(('saquery', '--smkey', '1', name)))
        run.checks.equal(f'saquery {name}: records',
                         (code, len(re.findall(f'^{title} dump:', out, re.M))), (0, count))


def small_tools(run):
    """Those that Tools does not run: they see the node that they run on."""
    code, out = run.fabric.tool(run.client, 'ibstat')
    guid = run.nodes[run.client].ports[1].guid
    run.checks.check('ibstat tells of the port',
                     code == 0 and "CA 'osmsim0'" in out and f'Port GUID: 0x{guid:016x}' in out and
                     'State: Active' in out and
                     f'Base lid: {run.nodes[run.client].lid(1)}\n' in out, out)
    code, out = run.fabric.tool(run.client, 'ibstat', '-l')
    run.checks.equal('ibstat -l', (code, out), (0, 'osmsim0'))
    switch = next(node for node in run.nodes.values() if node.is_switch)
    code, out = run.fabric.tool(switch.name, 'ibstat')
    run.checks.check('ibstat on a switch tells of port 0', code == 0 and 'Port 0:' in out and
                     f'Base lid: {switch.lid()}\n' in out, out)
    code, out = run.fabric.tool(run.client,
                                *tools.patient(('perfquery', str(switch.lid()), '1')))
    sent = re.search(r'PortXmitPkts:\.*(\d+)', out)
    run.checks.check('perfquery tells of packets', code == 0 and sent and int(sent[1]) > 0, out)


def ibping(run):
    server = run.fabric.spawn(['ibping', '-S'], 'ibping.out', env=run.fabric.on(run.host))
    lid = str(run.nodes[run.host].lid(1))
    run.fabric.wait(lambda: run.fabric.tool(run.client, 'ibping', '-c', '1', lid)[0] == 0, SECONDS,
                    'the server of ibping', alive=server)
    code, out = run.fabric.tool(run.client, 'ibping', '-t', '5000', '-f', '-c', '100', lid)
    run.checks.check('ibping loses nothing', code == 0 and ' 0% packet loss' in out, out)
    run.fabric.stop(server)


def slow_down(fabric):
    """All cables to 10 Gb/s: the default group of IPoIB has that rate, and ibdiagnet would
    complain of members that could do more."""
    fabric.console('\n'.join(f'degrade "{node.name}" {port.num} 4 2500'
                             for node in fabric.dump().values() if node.is_switch
                             for port in node.ports.values() if port.num))


def unanswered(run):
    """A request to an unassigned LID ends when its time is up. libibmad waits as long for it as the
    simulator, and tries again if libibmad's time ended first."""
    begin = time.monotonic()
    code, out = run.fabric.tool(run.client, 'smpquery', '-t', '300', 'nodeinfo', '40000')
    took = time.monotonic() - begin
    run.checks.check('a request that nobody answers times out',
                     code != 0 and 'failed' in out and 0.29 < took < SECONDS / 2, (code, took, out))


def runs_programs(checks):
    """osmsim-run with an osmsim of its own: the program's exit status is passed on."""
    def run(*argv):
        done = subprocess.run([osmsim.built('libvendor', 'preload', 'osmsim-run'), *argv],
                              capture_output=True, text=True, timeout=60, cwd='/', env=env)
        return done.returncode, done.stdout + done.stderr

    with tempfile.TemporaryDirectory(prefix='opensm-interop.') as directory:
        env = dict(os.environ, TMPDIR=directory, PATH=ibsim.tool_path())
        env.pop('LD_PRELOAD', None)
        for status in (0, 3):
            checks.equal(f'exit code {status} is passed on',
                         run('-t', 'fattree:2', 'sh', '-c', f'exit {status}'), (status, ''))
        checks.equal('as is a signal', run('-t', 'fattree:2', 'sh', '-c', 'kill -9 $$'), (137, ''))
        checks.equal('and SIGTERM to the program, which ends by it',
                     run('-t', 'fattree:2', 'sh', '-c', 'kill $PPID; exec sleep 60'), (143, ''))
        code, out = run('-t', 'fattree:4', '-n', 'host-3', 'ibstat')
        checks.check('the program is on its node', code == 0 and 'osmsim0' in out, out)
        for argv, expected, words in ((('-t', 'no:such', 'true'), 125, 'no:such'),
                                      (('-t', 'fattree:2', 'no-such-program'), 127, 'no-such'),
                                      (('-t', 'fattree:2', '-n', 'X', 'ibstat'), 255, '"X"'),
                                      (('-s', '/none', 'ibstat'), 255, '/none'),
                                      (('-t', 'fattree:2'), 125, 'no program')):
            code, out = run(*argv)
            checks.check(f'osmsim-run {" ".join(argv)} says what is wrong',
                         code == expected and words in out, (code, out))
        checks.equal('nothing is left behind', os.listdir(directory), [])


def brings_up(checks, daemon, thorough):
    with osmsim.Fabric(ibsim.fat_tree(8)) as fabric:
        slow_down(fabric)
        run = subnet.Run(checks, fabric, SECONDS)
        child = run.start(binary=daemon)
        run.judge()
        whole_tables(run)
        if thorough:
            run.use_tools(thorough=True)
            small_tools(run)
            ibping(run)
            unanswered(run)
            run.lose_link()
        run.stop(child)


def osmtest(fabric, host, flow):
    """Whether the flow passes, its last output, and seconds."""
    begin = time.monotonic()
    code, out = fabric.tool(host, 'osmtest', '-t', '500', '-w', '1', '-i',
                            fabric.path('inventory'), '-f', *flow.split(), seconds=2 * SECONDS)
    return code == 0 and 'PASS' in out, out[-300:], time.monotonic() - begin


def flows(daemon):
    """{flow: (whether it passes, its last output, seconds)} of the daemon.

    It must not sweep meanwhile: LocalPortNum of a switch in the inventory is the port by which the
    daemon reached it, and of several paths with equal hops the next sweep may take another."""
    with osmsim.Fabric(ibsim.fat_tree(4)) as fabric:
        hosts = fabric.hosts()
        child = fabric.start_opensm(daemon, hosts[0],
                                    options='sweep_interval 0\nsweep_on_trap FALSE\n')
        fabric.wait_subnet_up(child, SECONDS)
        results = {'c': osmtest(fabric, hosts[1], 'c')}
        with concurrent.futures.ThreadPoolExecutor() as pool:
            lanes = [pool.submit(lambda lane=lane, host=host:
                                 {flow: osmtest(fabric, host, flow) for flow in lane})
                     for lane, host in zip(LANES, hosts[1:])]
            for lane in lanes:
                results.update(lane.result())
        fabric.stop(child)
        return results


def passes_flows(checks, classic, ours):
    for flow, (passed, out, seconds) in classic.items():
        print(f'osmtest -f {flow}: {ours[flow][2]:.2f} s, with the classic daemon {seconds:.2f}')
        checks.check(f'osmtest -f {flow} passes with the classic daemon', passed, out)
        checks.check(f'osmtest -f {flow} passes', *ours[flow][:2])


def master(fabric, client):
    """LID of the SM that the client's port knows, if that SM says it is the master."""
    _, out = fabric.tool(client, 'sminfo')
    match = re.search(r'sm lid (\d+) .* state 3 ', out)
    return int(match[1]) if match else None


TWO_PORTS = """Switch 4 "S1"
[1] "H1"[1]
[2] "H1"[2]
[3] "H2"[1]

Hca 2 "H1"
[1] "S1"[1]
[2] "S1"[2]

Hca 2 "H2"
[1] "S1"[3]
"""


def other_ports(checks, daemon):
    """The SM on the second port of a CA, and on port 0 of a switch."""
    for host, num in (('H1', 2), ('S1', 0)):
        with osmsim.Fabric(TWO_PORTS) as fabric:
            port = fabric.dump()[host].ports[num]
            child = fabric.start_opensm(daemon, host, '-g', f'0x{port.guid:x}')
            fabric.wait_subnet_up(child, SECONDS)
            nodes = fabric.dump()
            truth.judge(checks, nodes, set(nodes), port.guid)
            checks.equal(f'the master is port {num} of {host}', master(fabric, 'H2'),
                         nodes[host].ports[num].lid)
            code, out = fabric.tool('H2', 'ibstat')
            checks.equal('ibstat tells the states of both ports',
                         (code, re.findall(r'State: (\w+)', out)), (0, ['Active', 'Down']))
            checks.equal('it ends well', fabric.stop(child), 0)


def two_managers(checks, daemon):
    """One is master; the other stays standby, and takes over when the first is killed."""
    options = 'sminfo_polling_timeout 500\npolling_retry_number 6\n'
    with osmsim.Fabric(ibsim.fat_tree(4)) as fabric:
        hosts = fabric.hosts()
        pair = []
        for host, log in ((hosts[0], 'first.log'), (hosts[-1], 'second.log')):
            pair.append(fabric.start_opensm(daemon, host, log=log, cache=log + '.d',
                                            options=options))
            if host == hosts[0]:
                fabric.wait_subnet_up(pair[0], SECONDS, log)
        fabric.wait(lambda: 'Entering STANDBY state' in fabric.read('second.log'), SECONDS,
                    'the second to stand aside', alive=pair[1])
        client = hosts[1]
        checks.equal('the first is master', master(fabric, client), fabric.dump()[hosts[0]].lid(1))
        # The second reports itself by a trap, once it has IsSM.
        fabric.wait(lambda: fabric.tool(client, 'saquery', '--smkey', '1', 'SMIR')[1].count(
            'SMInfoRecord dump') == 2, SECONDS, 'both SMs to be known', alive=pair[0])
        pair[0].send_signal(signal.SIGKILL)
        fabric.wait_subnet_up(pair[1], SECONDS, 'second.log')
        fabric.wait(lambda: master(fabric, client) == fabric.dump()[hosts[-1]].lid(1), SECONDS,
                    'the second to be master', alive=pair[1])
        nodes = fabric.dump()
        truth.judge(checks, nodes, truth.reachable(nodes, hosts[0]),
                    nodes[hosts[-1]].ports[1].guid)
        checks.equal('the second ends well', fabric.stop(pair[1]), 0)


def main():
    why = osmsim.missing(NEEDED) or ibutils.missing('ibdmchk')
    if why:
        print(f'SKIP: {why}')
        return subnet.SKIPPED
    sys.stdout.reconfigure(line_buffering=True)
    ibsim.end_cleanly()
    checks = ibsim.Checks()
    with concurrent.futures.ThreadPoolExecutor() as pool:
        results = [pool.submit(flows, daemon) for daemon in (ibsim.CLASSIC, subnet.daemon())]
        runs_programs(checks)
        for part, *arguments in ((brings_up, subnet.daemon(), True),
                                 (brings_up, ibsim.CLASSIC, False),
                                 (other_ports, subnet.daemon()),
                                 (two_managers, subnet.daemon()), (two_managers, ibsim.CLASSIC)):
            try:
                part(checks, *arguments)
            except ibsim.Failure as failure:
                checks.check(f'{part.__name__} of {os.path.basename(arguments[0])} ends', False,
                             failure)
        passes_flows(checks, *(result.result() for result in results))
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
