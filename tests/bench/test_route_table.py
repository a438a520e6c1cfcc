#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""route_table.py still works: every engine on small nets, and every figure of a row makes sense."""

import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import lab  # noqa: E402 (after the switch above: the source tree may be read-only)
import phases  # noqa: E402
import route_nets  # noqa: E402
import route_outages  # noqa: E402
import route_print  # noqa: E402
import route_table  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
HOSTS = {'fattree:4': 16, 'fattree:8-5%': 128}

checks = lab.ibsim.Checks()
check = checks.check


def check_tables(what, figures, net):
    pairs = HOSTS[net] * (HOSTS[net] - 1)
    check(f'{what}: figures', figures['load_ratio'] >= 1 and 0 < figures['bisection'] <= 1 and
          figures['shift_load_max'] >= 1 and 1 <= figures['hops_mean'] <= figures['hops_max'] and
          figures['pairs'] == pairs >= figures['pairs_routed'] > 0, figures)


def check_ours(what, ours, net):
    check_tables(what, ours, net)
    check(f'{what}: right and complete', ours['right'] and ours['pairs'] == ours['pairs_routed'])
    check(f'{what}: threads', ours['same_bytes'] is True)
    check(f'{what}: times', all(len(ours[key]) == 1 and 0 < ours[key][0] < 60 for key in
                                ('seconds', 'caller_2', 'clock_2', 'all_2', 'verify')), ours)


def check_peer(what, peer, net):
    if 'failed' in peer:
        check(f'{what}: the peer fell back', peer['failed'] == 'fell back to minhop', peer)
        return
    check_tables(f'{what}, peer', peer, net)
    check(f'{what}: cost of the peer', 0 < peer['seconds'][0] < 60 and peer['megabytes'] > 1, peer)


def check_results(results, output, has_peer):
    check('nets', list(results) == list(route_table.QUICK), list(results))
    for net, engines in results.items():
        check(f'{net}: engines', list(engines) == list(route_table.ENGINES), list(engines))
        for engine, figures in engines.items():
            check_ours(f'{net} {engine}', figures['ours'], net)
            if has_peer:
                check_peer(f'{net} {engine}', figures['peer'], net)
            else:
                check(f'{net} {engine}: no peer', not figures['peer'], figures)
    tree = results['fattree:4']
    for engine in route_print.TREE_ENGINES:
        check(f'{engine}: worst shift', tree[engine]['ours']['shift_load_max'] == 1, tree[engine])
    rows = [line for line in output.splitlines() if line.startswith('| fattree')]
    check('rows', len(rows) == len(route_table.QUICK) * len(route_table.ENGINES) and
          all(row.count('|') == len(route_print.HEADINGS) + 1 for row in rows), output)


def run(directory):
    path = os.path.join(directory, 'json')
    argv = [os.path.join(HERE, 'route_table.py'), '--quick', '--json', path]
    process = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             errors='replace')
    check('it runs', process.returncode == 0, process.stdout)
    if process.returncode == 0:
        with open(path) as file:
            has_peer = os.path.exists(lab.ibsim.CLASSIC) and not lab.Osmsim.missing()
            check_results(json.load(file)['results'], process.stdout, has_peer)
    again = subprocess.run([*argv[:1], '--nets', '', '--json', path], stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, errors='replace')
    check('it prints what a file has', again.stdout.count('| fattree:4 |') ==
          len(route_table.ENGINES), again.stdout)


def check_outages():
    run = subprocess.run([os.path.join(HERE, 'route_outages.py'), '--quick'],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors='replace')
    rows = [[cell.strip() for cell in line.split('|')[1:-1]]
            for line in run.stdout.splitlines() if line.startswith('| fattree:4')]
    check('outages: rows', run.returncode == 0 and [row[:3] for row in rows] ==
          [['fattree:4', engine, what] for engine in route_outages.ENGINES
           for what in ('link 0-1', 'link 1-2', 'switch 1', 'switch 2', 'leaf')], run.stdout)
    for row in rows:
        named = dict(zip(route_outages.HEADINGS, row))
        check('outages: as many cells as headings', len(row) == len(route_outages.HEADINGS), row)
        check('outages: repaired and right', named['repaired'] == '4 of 4' and
              named['tables'] == 'right', row)
        check('outages: balanced again', named['load'].startswith('1.077 -> ') and
              named['load'].endswith(' -> 1.077') and named['shift'].endswith(' -> 1'), row)
        check('outages: blocks', named['lost'] == 'leaf' or
              int(named['blocks lost'].split()[0]) > 0, row)


def expected_blocks(net, engine, directory):
    """{(node, port): (rank, blocks lost, blocks back)} of each cable, by the end that is named."""
    topology = os.path.join(directory, 'topology')
    with open(topology, 'w') as file:
        file.write(net.text)
    run = subprocess.run([lab.built('opensm/osmroute/osmroute'), '-j', '-R', engine, '--outage',
                          'link', '--trials', '1000000', '--shifts', '0', '--matchings', '0',
                          topology], stdout=subprocess.PIPE)
    expected = {}
    for outage in json.loads(run.stdout)['engines'][0]['outages']:
        for trial in outage['trials']:
            name, _, _, port = trial['what'].rsplit(' ', 3)
            expected[name, int(port)] = (outage['class'], trial['lost']['blocks_changed'],
                                         trial['back']['blocks_changed'])
    return expected


def check_daemon(directory):
    """
    osmroute predicts how many LFT blocks change when a cable goes and comes back. The daemon sets
    these; a few of them twice, where some entries of a block have to wait for other switches.
    """
    net, engine = route_nets.Net('fattree:8'), 'minhop'
    expected = expected_blocks(net, engine, directory)
    cables = {}
    for _, node, port, _, _, inner in route_nets.cable_ends(net.text):
        key = net.descriptions[node], port
        if inner and key in expected:
            cables[expected[key][0]] = (node, port), expected[key]
    check('cables of both ranks', set(cables) == {'link 0-1', 'link 1-2'}, cables)
    with lab.Osmsim(net) as fabric:
        # A MAD that is sent again, since a busy machine answers late, counts again.
        daemon = lab.Daemon(fabric, lab.built('opensm/opensm'), ('-R', engine, '-t', '5000'),
                            lab.ibsim.PATIENCE, 0.5)
        daemon.start()
        daemon.wait(daemon.is_up, 'SUBNET UP')
        daemon.calm_down(0)
        for net.cable, (rank, lost, back) in cables.values():
            counted = (phases.lost(daemon, None)['lost_blocks'],
                       phases.back(daemon, None)['back_blocks'])
            check(f'{rank}: blocks that the daemon sets', lost > 0 and
                  all(least <= n <= least * 5 // 4 for n, least in zip(counted, (lost, back))),
                  (net.cable, counted, lost, back, daemon.log_tail(60)))


def check_threads():
    """A row for the engine and one for the verifier; none for an engine that refuses a net."""
    run = subprocess.run([os.path.join(HERE, 'route_threads.py'), '--rounds', '1', '--threads',
                          '1,2', '--nets', 'fattree:4,torus:3x3:1', '--engines',
                          'ftree,hoplanes'], stdout=subprocess.PIPE, timeout=lab.ibsim.PATIENCE)
    rows = [line.split(' | ') for line in run.stdout.decode().splitlines()
            if line.startswith(('| fattree', '| torus'))]
    check('threads: rows', [row[:3] for row in rows] ==
          [[f'| {net}', engine, part]
           for net, engine in (('fattree:4', 'ftree'), ('fattree:4', 'hoplanes'),
                               ('torus:3x3:1', 'hoplanes')) for part in ('engine', 'verifier')],
          run.stdout)
    check('threads: equal bytes', run.returncode == 0 and
          all(row[-1] == 'same |' and all(float(cell.split()[0]) > 0 for cell in row[3:7])
              for row in rows), run.stdout)


def check_degraded():
    whole, less = route_nets.Net('fattree:8'), route_nets.Net('fattree:8-5%')
    ends = [sum(end[5] for end in route_nets.cable_ends(net.text)) for net in (whole, less)]
    check('a part of the cables, with both ends', ends == [512, 512 - 2 * 13], ends)
    hosts = [sum(not end[5] for end in route_nets.cable_ends(net.text)) for net in (whole, less)]
    check('and none of hosts', hosts[0] == hosts[1] == 256, hosts)
    check('the same ones each time', less.text == route_nets.Net('fattree:8-5%').text)


def main():
    lab.ibsim.end_cleanly()
    check_degraded()
    check_outages()
    with tempfile.TemporaryDirectory(prefix='opensm-bench.') as directory:
        run(directory)
        if not lab.Osmsim.missing():
            check_threads()
            check_daemon(directory)
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
