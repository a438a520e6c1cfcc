#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What OMS of LLNL does, without a plug-in: oms.py DIRECTORY OPENSMCTL...

Writes DIRECTORY/state.json, the whole state, after each heavy sweep and each change of routes, and
DIRECTORY/notices, a line for each change. Each line of its input is a command of a client, such as
"resweep heavy", "reroute", "loglevel 0x07", "update_desc", "perfmgr sweep" or
"perfmgr clear_counters"; it is answered by a line of JSON."""

import json
import os
import subprocess
import sys
import threading

DIRECTORY, OPENSMCTL = sys.argv[1], sys.argv[2:]
STATE = {'status': 'status', 'health': 'health', 'switches': 'portstatus switch',
         'hosts': 'portstatus ca', 'partitions': 'partitions', 'groups': 'mgroups',
         'counters': 'perfmgr print_counters', 'metrics': 'metrics'}


def ask(command):
    """The answer as JSON, an error too."""
    done = subprocess.run([*OPENSMCTL, '--json', *command.split()], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False)
    try:
        return json.loads(done.stdout)
    except ValueError:
        return {'error': done.stderr or done.stdout, 'status': done.returncode}


def write_state(serial):
    """It is read by others at any time, so it is replaced as a whole."""
    path = os.path.join(DIRECTORY, 'state.json')
    with open(path + '.new', 'w') as file:
        json.dump({'serial': serial, **{name: ask(line) for name, line in STATE.items()}}, file)
    os.rename(path + '.new', path)


def serve():
    for line in sys.stdin:
        print(json.dumps(ask(line)), flush=True)


threading.Thread(target=serve, daemon=True).start()
stream = subprocess.Popen([*OPENSMCTL, 'events', '--follow', '--json'], stdout=subprocess.PIPE)
with open(os.path.join(DIRECTORY, 'notices'), 'a', buffering=1) as notices:
    for row in map(json.loads, stream.stdout):
        if row['kind'] == 'sweep' or row['kind'] == 'stream':
            write_state(row['serial'])
        notices.write(f'{row["serial"]} {row["kind"]} {row["text"]}\n')
