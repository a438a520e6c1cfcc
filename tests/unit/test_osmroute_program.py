#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""osmroute as a user sees it: reports, files, exit codes, and its manual page against --help."""

import json
import math
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))

from checks import Checks  # noqa: E402 (found through the path above)

BUILD = os.environ.get('top_builddir', '.')
SOURCE = os.environ.get('top_srcdir', '.')
PROGRAM = os.path.join(BUILD, 'opensm', 'osmroute', 'osmroute')

checks = Checks()
check = checks.check


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, timeout=120)


def report(*arguments):
    result = run('--json', *arguments)
    try:
        return json.loads(result.stdout)
    except ValueError:
        check(f'JSON of {arguments}', False, (result.stdout, result.stderr))
        sys.exit(1)


def without_cost(value):
    """Without what differs from run to run."""
    if isinstance(value, dict):
        return {key: without_cost(inner) for key, inner in value.items()
                if not key.endswith('_cost')}
    return [without_cost(inner) for inner in value] if isinstance(value, list) else value


def test_json():
    found = report('--lose', '2', '--trials', '3', 'fattree:4')
    check('of the topology', (found['switches'], found['cables'], found['nodes_left_out']) ==
          (20, 32, 0), found)
    engines = {engine['engine']: engine for engine in found['engines']}
    check('engines', {'minhop', 'updn', 'ftree'} <= set(engines), list(engines))
    for engine in (engines['minhop'], engines['updn'], engines['ftree']):
        name = engine['engine']
        check(f'{name}: right', engine['right'] and engine['complete'] and engine['loop_free'])
        check(f'{name}: no loops', not engine['credit_loops'] and 'witness' not in engine)
        check(f'{name}: figures', engine['hosts'] == 16 and engine['pairs'] == 240 and
              engine['pairs_routed'] == 240 and engine['shift_load_max'] == 1 and
              0 < engine['bisection'] <= 1 and engine['load_ratio'] >= 1, engine)
        check(f'{name}: cost', engine['engine_cost']['seconds'] > 0)
        check(f'{name}: losses', len(engine['losses']) == 3 and
              all(loss['cables_lost'] == 2 and 0 < loss['blocks_changed'] <= loss['blocks']
                  for loss in engine['losses']), engine['losses'])
    check('same seed, same figures', without_cost(found) == without_cost(
        report('--lose', '2', '--trials', '3', 'fattree:4')))
    check('another seed, other figures', without_cost(found) != without_cost(
        report('--lose', '2', '--trials', '3', '--seed', '2', 'fattree:4')))
    loops = report('-R', 'minhop', 'torus:4x4')['engines'][0]
    check('witness', loops['credit_loops'] and 'credit loop: ' in loops['witness'], loops)
    part = report('-R', 'minhop', '-x', '50', '--trials', '1', 'torus:4x4')['engines'][0]
    check('a part of the cables', part['losses'][0]['cables_lost'] == 16)


def test_table():
    result = run('-R', 'minhop', '-R', 'updn,ftree', '-n', '1', 'torus:4x4')
    lines = result.stdout.split('\n')
    names = [line.split()[0] for line in lines[3:8]]
    check('rows', names == ['minhop', '-1', 'updn', '-1', 'ftree'], lines)
    check('columns', all(re.search(r'(yes|no|\d of \d) +right$', line) for line in lines[3:7]),
          lines)
    check('a named engine refused', result.returncode == 2 and
          'ftree: the switches' in result.stdout, result.stdout)
    check('an engine among all refused', run('torus:4x4').returncode == 0)


def test_outages():
    result = run('-R', 'updn,ftree', '--outage', 'link,leaf', '--trials', '2', 'torus:4x4')
    # On a torus a full recomputation may be more even than a repaired table.
    rows = re.findall(r'^  (link|leaf) +(lost|back) +\d+/\d+ .* (\d of \d) +'
                      r'right(?:, \d not repaired)?$', result.stdout, re.M)
    check('rows of outages', rows == [(what, when, '0 of 2') for what in ('link', 'leaf')
                                      for when in ('lost', 'back')], result.stdout)
    classes = report('-R', 'minhop', '--outage', 'all', '--trials', '1',
                     'fattree:4')['engines'][0]['outages']
    check('classes', [one['class'] for one in classes] ==
          ['link 0-1', 'link 1-2', 'switch 1', 'switch 2', 'leaf'], classes)
    check('blocks', all((trial[step]['blocks_changed'] > 0 or one['class'] == 'leaf') and
                        trial[step]['right'] and trial[step]['computed'] == 'repaired'
                        for one in classes for trial in one['trials']
                        for step in ('lost', 'back')), classes)
    check('blocks of a switch that was rebooted',
          [one['trials'][0]['back']['blocks_own'] > 0 for one in classes] ==
          [False, False, True, True, True], classes)


def svg_of(directory, *arguments):
    path = os.path.join(directory, 'svg')
    check(f'picture of {arguments}', run('--svg', path, *arguments).returncode == 0)
    space = '{http://www.w3.org/2000/svg}'
    groups = {group.get('id'): list(group) for group in
              xml.etree.ElementTree.parse(path).getroot().iter(space + 'g')}
    return groups


def is_blue(colour):
    red, green, blue = (int(colour[i:i + 2], 16) for i in (1, 3, 5))
    return blue > green > red


def places_of(switches):
    return {(float(switch.get('x')), float(switch.get('y'))) for switch in switches}


def are_in_a_grid(switches, columns, rows):
    places = places_of(switches)
    return (len(places) == len(switches) == columns * rows and
            [len({place[i] for place in places}) for i in (0, 1)] == [columns, rows])


def is_bent(cable):
    """Whether a cable is a curve whose control point is not on the line between its ends."""
    x1, y1, x, y, x2, y2 = (float(number) for number in re.findall(r'[\d.]+', cable.get('d')))
    return abs((x - x1) * (y2 - y1) - (y - y1) * (x2 - x1)) > 1


def expect_names_apart(what, labels):
    """Names at one angle lie on lines that are apart, or one after another."""
    places = []
    for label in labels:
        turn = re.match(r'rotate\((\S+) ', label.get('transform', ''))
        angle = math.radians(float(turn[1]) if turn else 0)
        x, y = float(label.get('x')), float(label.get('y'))
        length = 4 * len(label.text) * (-1 if label.get('text-anchor') == 'end' else 1)
        along = x * math.cos(angle) + y * math.sin(angle)
        places.append((angle, y * math.cos(angle) - x * math.sin(angle),
                       *sorted((along, along + length))))
    over = [(a, b) for i, a in enumerate(places) for b in places[:i] if abs(a[0] - b[0]) < 0.01 and
            abs(a[1] - b[1]) < 8 and a[2] < b[3] and b[2] < a[3]]
    check(f'names are apart: {what}', len(places) > 4 and not over, over[:3])


def with_long_names(directory, name):
    """A topology whose switches have names of 60 characters."""
    with open(os.path.join(SOURCE, 'tests', 'golden', name + '.topo')) as file:
        text = file.read()
    for i, switch in enumerate(re.findall(r'^Switch \d+ "([^"]+)"', text, re.MULTILINE)):
        name = f'rack-{i:02}-row-b/chassis-7/leaf-switch-of-the-storage-island'
        text = text.replace(f'"{switch}"', f'"{name}"')
    path = os.path.join(directory, 'long.topo')
    with open(path, 'w') as file:
        file.write(text)
    return path


def test_names(directory):
    for spec in 'fattree:8', 'dragonfly:4:2:4', 'torus:6x5', 'mesh:12x12', 'hypercube:5':
        expect_names_apart(spec, svg_of(directory, '-R', 'minhop', spec)['labels'])
    for name in 'irregular', 'uneven_tree', 'torus_3x3', 'mesh_3x3':
        expect_names_apart(f'long, {name}', svg_of(
            directory, '-R', 'minhop', with_long_names(directory, name))['labels'])


def test_svg(directory):
    groups = svg_of(directory, '-R', 'updn', 'fattree:4')
    check('parts of a tree', [len(groups[name]) for name in ('cables', 'hosts', 'switches',
                                                             'labels')] == [32, 16, 20, 20])
    check('rows', len({switch.get('y') for switch in groups['switches']}) == 3)
    check('loads', all(re.fullmatch(r'\S+ port \d+: \d+ flows, \S+ port \d+: \d+ flows',
                                    cable[0].text) for cable in groups['cables']))
    groups = svg_of(directory, '-R', 'dor', 'torus:4x4')
    colours = {cable.get('stroke') for cable in groups['cables']}
    check('an even load is one colour', len(colours) == 1 and is_blue(*colours), colours)
    check('a legend', [text.text for text in groups['legend'] if text.text][1:] ==
          ['idle: 0', 'mean: 12', 'most: 12', 'switch', 'host'],
          [text.text for text in groups['legend']])
    for spec, columns, rows in (('torus:6x5', 6, 5), ('mesh:3x7', 3, 7), ('torus:5x3x3', 15, 3),
                                ('torus:4x4', 4, 4), ('hypercube:3', 4, 2)):
        groups = svg_of(directory, '-R', 'minhop', spec)
        check(f'the grid of {spec}', are_in_a_grid(groups['switches'], columns, rows), spec)
    bent = [cable for cable in svg_of(directory, '-R', 'minhop', 'torus:6x5')['cables']
            if is_bent(cable)]
    check('cables that close the rings go round', len(bent) == 6 + 5, len(bent))
    for spec in ('torus:6', 'dragonfly:4:2:2'):
        groups = svg_of(directory, '-R', 'minhop', spec)
        check(f'no grid of {spec}', not are_in_a_grid(groups['switches'], 6, 1) and
              len(places_of(groups['switches'])) == len(groups['switches']), spec)
    topo = os.path.join(directory, 'names')
    with open(topo, 'wb') as file:
        file.write(b'Switch 2 "s" # "<&\x01\xff]]>"\n[1] "a"[1]\n[2] "b"[1]\n\n'
                   b'Ca 1 "a"\n[1] "s"[1]\n\nCa 1 "b"\n[1] "s"[2]\n')
    groups = svg_of(directory, '-R', 'minhop', topo)
    check('names', groups['switches'][0][0].text == '<& \ufffd]]>, 2 hosts' and
          not groups['cables'], groups['switches'][0][0].text)


def test_files(directory):
    dot, lfts, topo = (os.path.join(directory, name) for name in ('dot', 'lfts', 'topo'))
    roots = os.path.join(directory, 'roots')
    check('writes', run('-R', 'updn', '--dot', dot, '--lfts', lfts, 'fattree:4').returncode == 0)
    with open(dot) as file:
        lines = file.read().split('\n')
    check('head and end', lines[0] == 'graph fabric {' and lines[-2:] == ['}', ''], lines)
    statement = re.compile(r'\tn\d+( -- n\d+)? \[\w+=("[^"]*"|[\w.]+)(, \w+=("[^"]*"|[\w.]+))*\];')
    check('statements', all(statement.fullmatch(line) for line in lines[2:-2]), lines)
    check('nodes and cables', sum('label=' in line for line in lines) == 36 and
          sum('penwidth=' in line for line in lines) == 32 and
          sum('color=gray' in line for line in lines) == 16)
    check('writes again', run('-R', 'minhop', '--dot', dot, 'fattree:10').returncode == 0)
    with open(dot) as file:
        large = file.read()
    check('large ones without hosts', 'ellipse' not in large and ' (5 hosts)' in large)
    again = report('-R', 'file', '-U', lfts, 'fattree:4')['engines'][0]
    first = report('-R', 'updn', 'fattree:4')['engines'][0]
    same = ('load_max', 'hops_mean', 'shift_load_max', 'bisection', 'pairs_routed')
    check('the table read back', all(again[key] == first[key] for key in same), (again, first))
    kept = report('--tables', lfts, 'fattree:4')['engines']
    check('tables as they are', len(kept) == 1 and kept[0]['engine'] == 'tables' and
          kept[0]['digest'] == first['digest'] != report('-R', 'dor', 'fattree:4')
          ['engines'][0]['digest'], kept)
    with open(lfts) as file:
        lines = file.read().split('\n')
    with open(lfts, 'w') as file:
        file.write('\n'.join(line for line in lines if not line.startswith('0x0008 ')))
    holes = report('--tables', lfts, 'fattree:4')['engines'][0]
    check('holes stay', not holes['complete'] and not holes['right'], holes)
    for what, old, new in (('no such port', r'^(0x0009) ...', r'\1 255'),
                           ('owners unknown', 'portguid 0x02', 'portguid 0x03'),
                           ('switches unknown', 'Lid (.*) guid 0x02', r'Lid \1 guid 0x03')):
        wrong = write(directory, 'wrong', re.sub(old, new, '\n'.join(lines), flags=re.M))
        result = run('--tables', wrong, '--outage', 'all', '--trials', '1', 'fattree:4')
        check(f'tables: {what}', result.returncode == 2 and 'WRONG' in result.stdout, result)
    check('the engine file fills them',
          report('-R', 'file', '-U', lfts, 'fattree:4')['engines'][0]['complete'])
    with open(topo, 'w') as file:
        file.write('Switch 4 "s"\n[1] "a"[1]\n[2] "b"[1]\n\nCa 1 "a"\n[1] "s"[1]\n\n'
                   'Ca 1 "b"\n[1] "s"[2]\n\nCa 1 "c"\n')
    found = report('-R', 'minhop', topo)
    check('a file, with a node alone', found['switches'] == 1 and found['nodes_left_out'] == 1 and
          found['engines'][0]['pairs_routed'] == 2 and found['engines'][0]['hops_max'] == 0, found)
    with open(roots, 'w') as file:
        file.write('0xdead\n')
    result = run('-R', 'updn', '-a', roots, 'fattree:4')
    check('roots that are not there', result.returncode == 2 and 'updn: ' in result.stdout,
          result.stdout)


def path_sls(directory, tables, engine, digit):
    """A file in which all pairs of switches of these tables have that SL."""
    with open(tables) as file:
        guids = sorted(set(re.findall(r'^Unicast lids .* guid (0x[0-9a-f]{16})', file.read(),
                                      re.MULTILINE)))
    name = os.path.join(directory, f'sls-{engine}-{digit}')
    with open(name, 'w') as file:
        print(engine, 'word', file=file)
        for i, guid in enumerate(guids):
            print(guid, digit * i, file=file)
    return name, len(guids)


def test_transition_sls(directory, old):
    """Hosts keep the SLs that they had, which the new routes may not agree with."""
    ring = os.path.join(directory, 'ring')
    check('tables of a ring', run('-R', 'updn', '--lfts', ring, 'torus:6:1').returncode == 0)
    ask = '--transition', ring, '-R', 'dfsssp', 'torus:6:1'
    unknown = report(*ask)['engines'][0]['transition']
    sls, n = path_sls(directory, ring, 'dfsssp', '1')
    check('all switches of the ring', n == 6, n)
    ones = report('--transition-sls', sls, *ask)['engines'][0]['transition']
    check('SL 0 if nothing else is known', re.search(
        r'may deadlock until hosts have queried their paths again: \d+ pairs of switches get '
        'another SL', unknown.get('may_deadlock', '')), unknown)
    pairs = [int(re.search(r'(\d+) pairs', found['may_deadlock'])[1]) for found in (unknown, ones)]
    check('each pair has another SL by one of the two', sum(pairs) >= 15 and
          pairs[0] != pairs[1], pairs)
    check('for people', f"dfsssp: {ones['may_deadlock']}\n" in
          run('--transition-sls', sls, *ask).stdout)
    check('no lanes before and after', 'may_deadlock' not in report(
        '--transition-sls', path_sls(directory, ring, 'dfsssp', '0')[0], '--transition', ring, '-R',
        'updn', 'torus:6:1')['engines'][0]['transition'])
    check('lanes given up', 'use the virtual lanes of the routes before' in report(
        '--transition-sls', sls, '--transition', ring, '-R', 'updn', 'torus:6:1')['engines'][0]
        ['transition']['may_deadlock'])
    for name, arguments in (('no SLs', ['--transition-sls', '/nonexistent', *ask]),
                            ('tables for SLs', ['--transition-sls', ring, *ask]),
                            ('SLs alone', ['--transition-sls', sls, 'torus:6:1'])):
        result = run(*arguments)
        check(f'error: {name}', result.returncode == 1 and
              re.match(r'osmroute: \S.*\n', result.stderr), result)


def test_transition(directory):
    """From the table of one engine to that of another, or to the same, or from nothing."""
    old = os.path.join(directory, 'old')
    check('table to begin with', run('-R', 'dor', '--lfts', old, 'mesh:5x5:1').returncode == 0)
    found = report('--transition', old, '-R', 'dor,updn', 'mesh:5x5:1')['engines']
    same, updn = (engine['transition'] for engine in found)
    check('to the same', same == {'stages': 1, 'blocks_written': 0, 'lids_in_order': 0,
                                  'lids_discarded_first': 0}, same)
    check('in groups', updn['stages'] > 1 and updn['lids_in_order'] > 0 and
          updn['lids_discarded_first'] == 0 and updn['blocks_written'] > 25, updn)
    result = run('--transition', old, '-R', 'updn', 'mesh:5x5:1')
    check('for people', f"updn: transition in {updn['stages']} stages of "
          f"{updn['blocks_written']} blocks; LIDs in order {updn['lids_in_order']}, discarded "
          f"first {updn['lids_discarded_first']}\n" in result.stdout, result)
    new = os.path.join(directory, 'new')
    check('table to end with', run('-R', 'updn', '--lfts', new, 'mesh:5x5:1').returncode == 0)
    read = report('--transition', old, '--tables', new, 'mesh:5x5:1')['engines'][0]
    check('two files, of which none tells an order', read['transition'] == updn, read)
    check('empty switches', report('--transition', old, '-R', 'updn', 'fattree:4')['engines'][0]
          ['transition']['blocks_written'] >= 20)
    test_transition_sls(directory, old)
    check('without the question', 'transition' not in report('-R', 'updn', 'mesh:5x5:1')
          ['engines'][0])


def plugin(name, options=''):
    return ('--plugin', os.path.join(BUILD, 'tests/plugin', name) + options)


def test_plugin():
    """Engines of plug-ins are evaluated by the same proofs as those built in."""
    found = report(*plugin('torus_dor.so'), '-R', 'torus_dor,dor', '--lose', '1', 'torus:4x4x4')
    ours, other = found['engines']
    check('a plug-in routes a torus', ours['engine'] == 'torus_dor' and ours['right'] and
          not ours['credit_loops'] and other['credit_loops'], found)
    check('by shortest paths', (ours['hops_mean'], ours['hops_max']) ==
          (other['hops_mean'], other['hops_max']), found)
    check('its time is measured', ours['engine_cost']['seconds'] > 0, ours)
    check('a cable is missing', all('a cable or VL is missing' in loss['refused']
                                    for loss in ours['losses']), ours['losses'])
    every = report(*plugin('torus_dor.so'), 'torus:3x3')['engines']
    check('by default beside all others', len(every) > 8 and every[-1]['engine'] == 'torus_dor',
          every)
    for lie, code, text in (('honest', 0, r' right\n'), ('loop', 2, r'\nliar: LID \d+: loop: '),
                            ('hole', 2, r'\nliar: LID \d+: '), ('promise', 2, r'\nliar: '),
                            ('bogus', 2, 'liar: plug-in liar: there is no such lie: ')):
        result = run(*plugin('liar.so', f':do {lie}'), '-R', 'liar', 'torus:4x4')
        check(f'lie: {lie}', result.returncode == code and re.search(text, result.stdout), result)
    for name, text in (('wrong0.so', 'it exports no osm_plugin_v1'),
                       ('wrong1.so', 'written for the classic OpenSM'),
                       ('odd.so', 'it has no routing engine'),
                       ('none.so', 'No such file'),
                       ('odd.so:odd log 1 null',
                        r'(?s)line 0.*told to fail.*create\(\) has failed')):
        result = run(*plugin(name), 'torus:4x4')
        check(f'plug-in {name}', result.returncode == 1 and not result.stdout and
              re.search('osmroute: --plugin: .*/tests/plugin/', result.stderr) and
              re.search(text, result.stderr), result)
    result = run(*plugin('liar.so'), *plugin('liar.so'), 'torus:4x4')
    check('a name that is taken', result.returncode == 1 and
          'its routing engine liar cannot be used' in result.stderr, result)


def test_errors(directory):
    garbage = os.path.join(directory, 'garbage')
    with open(garbage, 'wb') as file:
        file.write(b'\x00\xff\xfe garbage\n')
    cases = {
        'no tables': ['--tables', '/nonexistent', 'fattree:4'],
        'no image': ['--load', '/nonexistent', 'fattree:4'],
        'garbage for an image': ['--load', garbage, 'fattree:4'],
        'no tables to begin with': ['--transition', '/nonexistent', 'fattree:4'],
        'garbage to begin with': ['--transition', garbage, 'fattree:4'],
        'kind of outage': ['--outage', 'link,bogus', 'fattree:4'],
        'no place for a picture': ['-R', 'minhop', '--svg', '/nonexistent/svg', 'fattree:4'],
        'no topology': [],
        'two topologies': ['fattree:4', 'fattree:4'],
        'no such file': ['/nonexistent'],
        'garbage': [garbage],
        'spec': ['torus:0x4'],
        'engine': ['-R', 'bogus', 'fattree:4'],
        'option': ['--bogus', 'fattree:4'],
        'number': ['--lose', 'many', 'fattree:4'],
        'range': ['--threads', '0', 'fattree:4'],
        'percent': ['--lose-percent', '101', 'fattree:4'],
        'both': ['--lose', '1', '-x', '1', 'fattree:4'],
        'lmc': ['-l', '8', 'fattree:4'],
        'LIDs': ['-l', '7', 'fattree:16'],
        'no roots file': ['-a', '/nonexistent', 'fattree:4'],
        'wrong roots file': ['-a', garbage, 'fattree:4'],
        'wrong order file': ['-O', garbage, 'fattree:4'],
        'no place to write': ['-R', 'minhop', '--dot', '/nonexistent/dot', 'fattree:4'],
        'nothing to write': ['-R', 'ftree', '--lfts', garbage, 'torus:4x4'],
    }
    for name, arguments in cases.items():
        result = run(*arguments)
        check(f'error: {name}', result.returncode == 1 and
              re.match(r'osmroute: \S.*\n', result.stderr), result)
    check('the engines are named', 'minhop' in run('-R', 'bogus', 'fattree:4').stderr)


def write(directory, name, text):
    path = os.path.join(directory, name)
    with open(path, 'wb') as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    return path


ALL = ('-R', 'minhop,updn,dor', '--lose', '1', '--outage', 'all', '--trials', '2')


def test_odd_fabrics(directory):
    """Too little to route is not an error; what cannot be routed is named."""
    odd = {
        'a switch alone': 'Switch 4 "s"\n',
        'no hosts': 'Switch 4 "s"\n[1] "t"[1]\n\nSwitch 4 "t"\n[1] "s"[1]\n',
        'a cable to itself': 'Switch 4 "s"\n[1] "s"[2]\n[2] "s"[1]\n\nCa 1 "a"\n[1] "s"[3]\n',
        'a very long name': 'Switch 4 "' + 'x' * 100000 + '"\n',
        'mesh:1:0': None, 'torus:3x3:0': None, 'random:5:200:3:1': None, 'mesh:100x2': None,
    }
    files = [word for kind in ('svg', 'dot', 'lfts')
             for word in (f'--{kind}', os.path.join(directory, kind))]
    for name, text in odd.items():
        topology = write(directory, 'odd', text) if text else name
        result = run(*ALL, *files, topology)
        check(f'odd: {name}', result.returncode == 0 and 'WRONG' not in result.stdout, result)
        xml.etree.ElementTree.parse(os.path.join(directory, 'svg'))
    check('nothing to lose is told', run(*ALL, 'mesh:1').stderr.count(' to lose\n') == 2)
    unfit = {
        'no switch': ('Ca 1 "a"\n[1] "b"[1]\n\nCa 1 "b"\n[1] "a"[1]\n', 'no switch'),
        'no cable': ('Ca 1 "a"\n', 'no switch'),
        'nothing': ('', 'line 1: found no node'),
        'noise': (bytes(range(256)) * 100, r"line 1: found '\\0'"),
        'too many ports': ('Switch 300 "s"\n', 'line 1: found \'300'),
        'a cable to nowhere': ('Switch 4 "s"\n[1] "t"[1]\n', 'line 2: found a cable'),
        'two in a port': ('Switch 4 "s"\n[1] "t"[1]\n[1] "t"[2]\n\nSwitch 4 "t"\n'
                          '[1] "s"[1]\n', 'line 3: found a cable'),
        'two of a name': ('Switch 4 "s"\n\nSwitch 4 "s"\n', 'line 3: found a second'),
    }
    for name, (text, why) in unfit.items():
        path = write(directory, 'unfit', text)
        result = run(*ALL, path)
        check(f'unfit: {name}', result.returncode == 1 and not result.stdout and
              re.match(rf'osmroute: {re.escape(path)}[:,] {why}.*\n$', result.stderr), result)
    for spec in ('fattree:3', 'fattree:66', 'fattree:64', 'torus:1000x1000', 'hypercube:40',
                 'dragonfly:99:99:99', 'random:0:1:1:1', 'mesh:', 'torus:2x'):
        result = run(*ALL, spec)
        check(f'spec {spec}', result.returncode == 1 and spec in result.stderr and
              result.stderr.count('\n') == 1, result)


def keys_of(value):
    if isinstance(value, list):
        return set().union(*map(keys_of, value))
    return set(value).union(*map(keys_of, value.values())) if isinstance(value, dict) else set()


def test_manual():
    text = run('--help').stdout
    told = set()
    for match in re.finditer(r'^  (?:-(\S), )?--([\w-]+)', text, re.M):
        told.update(word for word in match.groups() if word)
    written = set()
    with open(os.path.join(SOURCE, 'man', 'osmroute.1')) as file:
        manual = file.read()
    page = manual.split('.SH OPTIONS\n')[1].split('\n.SH ')[0]
    for tag in re.findall(r'^\.TP\n(.*)$', page, re.M):
        plain = re.sub(r'\\f[A-Z]', '', tag).replace('\\-', '-')
        written.update(word for pair in re.findall(r'(?<![\w-])(?:--([\w-]+)|-(\w))(?![\w-])',
                                                   plain)
                       for word in pair if word)
    with open(os.path.join(SOURCE, 'opensm', 'route', 'inputs.def'), encoding='utf-8') as table:
        rows = re.findall(r'^(?:INPUT|LIST|INPUT_FILE)\((.*)\)', table.read(), re.MULTILINE)
    with open(os.path.join(SOURCE, 'opensm', 'core', 'options.def'), encoding='utf-8') as table:
        flags = dict(re.findall(r'^OPTION\((\w+), \w+, [^,]*(?:, [^,"]+){2}, "[^"]*", (\S+),',
                                table.read(), re.MULTILINE))
    for row in rows:
        columns = [column.strip() for column in row.split(',')]
        option = columns[2] if len(columns) > 1 else columns[0]
        flag = option if flags[option] == 'NULL' else flags[option].strip('"')
        check(f'{option} of inputs.def is an option', flag in told, flag)
    check('options of the manual page and of --help', told == written,
          (sorted(told - written), sorted(written - told)))
    with tempfile.NamedTemporaryFile() as held:
        run('-R', 'updn', '--lfts', held.name, 'torus:4x4')
        keys = keys_of(report('--lose', '1', '--outage', 'leaf', '--transition', held.name,
                              'torus:4x4'))
    explained = set(re.findall(r'\w+', manual.split('.SH JSON\n')[1].split('\n.SH ')[0]))
    check('keys of JSON in the manual page', keys <= explained, sorted(keys - explained))
    check('there are keys', {'refused', 'witness', 'computed'} <= keys, sorted(keys))
    check('there are options', len(told) > 30, told)
    check('version', run('-V').stdout.startswith('osmroute '))


def main():
    with tempfile.TemporaryDirectory() as directory:
        test_json()
        test_table()
        test_outages()
        test_svg(directory)
        test_names(directory)
        test_files(directory)
        test_transition(directory)
        test_plugin()
        test_errors(directory)
        test_odd_fabrics(directory)
    test_manual()
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
