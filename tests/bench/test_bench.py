#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""bench.py still works: every phase of the built daemon on a small fabric, and every figure. So
does ssa_storm.py: the Scalable SA gives a job the records that the SA gives, without asking it; and
plugins.py."""

import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import lab  # noqa: E402 (after the switch above: the source tree may be read-only)
import table  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
TABLES = ('nodes', 'all_paths')  # by RMPP


def lacking(result, has_rmpp):
    """Rows without a sensible figure."""
    medians = result['medians'].get('ours', {})
    for key, phase, _, _, _, _ in table.ROWS:
        if phase in TABLES and not has_rmpp:
            continue
        value = medians.get(key)
        if value is None or value < 0:
            yield f'{key}: {value}'


def run(directory, simulators):
    out = os.path.join(directory, 'json')
    process = subprocess.run([os.path.join(HERE, 'bench.py'), '--sizes', '4', '--runs', '1',
                              '--simulators', ','.join(simulators), '--only', 'ours',
                              '--sa-seconds', '0.2', '--quiet', '0.3', '--json', out],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors='replace')
    if process.returncode != 0:
        return [], process.stdout
    with open(out) as file:
        return json.load(file)['results'], process.stdout


def storm():
    """What is wrong with a small storm."""
    process = subprocess.run([os.path.join(HERE, 'ssa_storm.py'), '--net', 'fattree:4', '--hosts',
                              '16', '--ranks', '2'], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, errors='replace')
    asked = dict(re.findall(r'^ *([\w ]+): .* (\d+) queries', process.stdout, re.M))
    if process.returncode or asked != {'Scalable SA': '0', 'SA': str(16 * 2 * 15)}:
        return process.stdout
    return ''


def plugins():
    """What is wrong with plugins.py: each daemon sweeps and answers."""
    process = subprocess.run([os.path.join(HERE, 'plugins.py'), '--net', 'fattree:4', '--runs', '1',
                              '--sweeps', '1', '--seconds', '0.2'], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, errors='replace')
    return process.stdout if process.returncode or process.stdout.count('(1.00)') < 4 else ''


def main():
    lab.ibsim.end_cleanly()
    simulators = [name for name in lab.SIMULATORS if not lab.SIMULATORS[name].missing()]
    if not simulators:
        print('SKIP: neither ibsim nor osmsim')
        return 77
    passed = failed = 0
    with tempfile.TemporaryDirectory(prefix='opensm-bench.') as directory:
        results, output = run(directory, simulators)
    for result in results:
        wrong = list(lacking(result, lab.SIMULATORS[result['simulator']].has_rmpp))
        if wrong or result['failures']['ours']:
            print(f'FAIL {result["simulator"]}: {", ".join(wrong)} {result["failures"]["ours"]}')
            failed += 1
        else:
            passed += 1
    if 'osmsim' in simulators:
        for script, wrong in (('ssa_storm.py', storm()), ('plugins.py', plugins())):
            if wrong:
                print(f'FAIL {script}:\n{wrong}')
            passed, failed = passed + (not wrong), failed + bool(wrong)
    if len(results) != len(simulators):
        print('FAIL bench.py:\n' + output)
        failed += 1
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
