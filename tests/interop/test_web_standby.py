#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""opensm-web beside each of two subnet managers: what it says of a standby, and what follows the
master when it is killed."""

import json
import os
import signal
import socket
import sys
import urllib.error
import urllib.request

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import osmsim  # noqa: E402
import subnet  # noqa: E402
from test_managers import Manager, SECONDS  # noqa: E402


def free_port():
    with socket.create_server(('127.0.0.1', 0)) as probe:
        return probe.getsockname()[1]


class Web:
    """opensm-web of the manager with that number."""

    def __init__(self, fabric, number):
        self.port = free_port()
        self.conf = f'web{number}.conf'
        with open(fabric.path(self.conf), 'w') as file:
            file.write(f'listen 127.0.0.1:{self.port}\n'
                       f'control_socket {fabric.path(f"control{number}")}\n')
        self.child = fabric.spawn([osmsim.built('opensm', 'web', 'opensm-web'), '-F',
                                   fabric.path(self.conf)], f'web{number}.out')

    def ask(self, path):
        """(status, text); (0, reason) if it does not serve."""
        try:
            with urllib.request.urlopen(f'http://127.0.0.1:{self.port}{path}',
                                        timeout=SECONDS) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError as error:
            return 0, str(error)

    def status(self, path):
        return self.ask(path)[0]


def follows(checks, fabric):
    hosts = fabric.hosts()
    managers = [Manager(fabric, subnet.daemon(), hosts[i * -1], i, priority=1 - i,
                        options=f'control_socket {fabric.path(f"control{i}")}\n')
                for i in range(2)]
    high, low = (Web(fabric, i) for i in range(2))
    managers[0].wait('MASTER')
    managers[1].wait('STANDBY')
    for web in (high, low):
        fabric.wait(lambda: web.status('/readyz') == 200, SECONDS,
                    f'readyz, it is {web.ask("/readyz")}', alive=web.child)
    checks.check('both are ready, one is the master', (high.status('/readyz?role=master'),
                                                       low.status('/readyz?role=master')) ==
                 (200, 503), low.ask('/readyz?role=master'))
    status, text = low.ask('/api/v1/path?from=1&to=2')
    guid = json.loads(high.ask('/api/v1/status')[1])['sm_guid']
    checks.check('the standby names the master', status == 503 and
                 json.loads(text).get('master') == guid, (status, text, guid))
    checks.check('the standby tells of itself', low.status('/api/v1/status') == 200 and
                 low.status('/metrics') == 200)
    managers[0].child.send_signal(signal.SIGKILL)
    fabric.wait(lambda: low.status('/readyz?role=master') == 200, SECONDS,
                'the standby to be ready as the master', alive=low.child)
    checks.check('it answers now', low.status('/api/v1/partitions') == 200)
    checks.check('the other has no daemon', high.status('/livez') == 503)
    managers[0].start()
    fabric.wait(lambda: high.status('/readyz?role=master') == 200, SECONDS,
                'the first to be the master again', alive=high.child)
    fabric.wait(lambda: low.status('/readyz?role=master') == 503 and
                low.status('/readyz') == 200, SECONDS, 'the second to be a standby',
                alive=low.child)


def main():
    why = osmsim.missing(())
    if not os.path.exists(osmsim.built('opensm', 'web', 'opensm-web')):
        why = 'opensm-web is not built'
    if why:
        print(f'SKIP: {why}')
        return subnet.SKIPPED
    ibsim.end_cleanly()
    checks = ibsim.Checks()
    try:
        with osmsim.Fabric(ibsim.fat_tree(4)) as fabric:
            follows(checks, fabric)
    except ibsim.Failure as failure:
        checks.check('it ends', False, failure)
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
