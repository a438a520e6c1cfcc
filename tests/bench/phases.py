# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What is done with a daemon, in this order, and the figures that each phase yields."""

from lab import Client

OUTSTANDING = 64
OUTSTANDING_TABLES = 2
OUTSTANDING_SWEEPING = 4


def cold(daemon, _):
    daemon.start()
    daemon.wait(daemon.is_up, 'SUBNET UP')
    counts = daemon.counts.read()
    daemon.calm_down(counts['pause_ns'] / 1e9)
    return {'up_s': daemon.ups[0] - daemon.began, 'up_mads': counts['mads'],
            'up_hops': counts['hops'] / max(1, counts['directed']),
            'route_s': counts['pause_ns'] / 1e9, 'up_mb': daemon.peak_megabytes()}


def light(daemon, _):
    daemon.begin()
    daemon.command('resweep light')
    daemon.wait(lambda: daemon.counts.read()['gets'], 'a light sweep')
    counts = daemon.settle(up=False)
    return {'light_mads': counts['mads']}


def heavy(daemon, _):
    daemon.begin()
    daemon.hang_up()
    counts = daemon.settle()
    return {'heavy_s': daemon.ups[-1] - daemon.began, 'heavy_mads': counts['mads'],
            'heavy_sets': counts['sets']}


def paths(daemon, args):
    client = Client(daemon, 'paths', args.sa_seconds, OUTSTANDING)
    cpu = daemon.cpu_seconds()
    result = client.result()
    cpu = daemon.cpu_seconds() - cpu
    return {'path_rate': result['answers'] / result['seconds'],
            'path_us': cpu * 1e6 / result['answers']}


def rate_and_cpu(daemon, args, kind):
    client = Client(daemon, kind, args.sa_seconds, OUTSTANDING_TABLES)
    cpu = daemon.cpu_seconds()
    result = client.result()
    cpu = daemon.cpu_seconds() - cpu
    return (result['answers'] / result['seconds'], result['records'] / result['answers'],
            cpu * 1e3 / result['answers'])


def nodes(daemon, args):
    rate, records, cpu = rate_and_cpu(daemon, args, 'nodes')
    return {'node_rate': rate, 'node_records': records, 'node_ms': cpu}


def all_paths(daemon, args):
    rate, records, cpu = rate_and_cpu(daemon, args, 'all-paths')
    return {'all_rate': rate, 'all_records': records, 'all_ms': cpu}


def sweeping(daemon, _):
    """Paths while everything is discovered and routed again."""
    client = Client(daemon, 'paths', 2 * daemon.deadline, OUTSTANDING_SWEEPING)
    daemon.begin()
    daemon.hang_up()
    try:
        daemon.wait(daemon.is_up, 'SUBNET UP')
    finally:
        client.stop()
    result = client.result()
    daemon.settle()
    return {'busy_ms': result['p99_us'] / 1e3, 'busy_max_ms': result['max_us'] / 1e3}


def cable(daemon, change, prefix):
    daemon.begin()
    change()
    daemon.wait(lambda: daemon.counts.read()['trap_ns'], 'a trap')
    counts = daemon.settle()
    trap = counts['trap_ns'] / 1e9
    figures = {f'{prefix}_s': daemon.ups[-1] - trap, f'{prefix}_mads': counts['mads'],
               f'{prefix}_blocks': counts['lft_sets']}
    if counts['lft_sets']:
        figures[f'{prefix}_lft_s'] = counts['lft_ns'] / 1e9 - trap
    return figures


def lost(daemon, _):
    return cable(daemon, daemon.lab.cut, 'lost')


def back(daemon, _):
    return cable(daemon, daemon.lab.mend, 'back')


def restart(daemon, _):
    memory = daemon.peak_megabytes()
    daemon.stop()
    daemon.start()
    counts = daemon.settle()
    return {'end_mb': memory, 'again_s': daemon.ups[0] - daemon.began, 'again_gets': counts['gets'],
            'again_sets': counts['sets']}


# (phase, needs RMPP)
PHASES = ((cold, False), (heavy, False), (light, False), (paths, False), (nodes, True),
          (all_paths, True), (sweeping, False), (lost, False), (back, False), (restart, False))
