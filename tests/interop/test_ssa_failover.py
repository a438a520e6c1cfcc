#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The host of the MASTER dies while programs resolve paths by Debian's ibacm: opensm, the core's
opensm-ssa and its Redis server at once. No resolve fails or asks the SA, and no epoch goes back;
the new MASTER goes on from the epoch of the old one, as its core had that."""

import os
import shutil
import sys
import threading
import time

sys.dont_write_bytecode = True

import ibacm  # noqa: E402 (after the switch above: the source tree may be read-only)
import ibsim  # noqa: E402
import osmsim  # noqa: E402
import ssa  # noqa: E402
import subnet  # noqa: E402

SECONDS = 60
POLLS = 'sminfo_polling_timeout 500\npolling_retry_number 2\n'
ACME_REPEATS = 50


class Core:
    """The host of an SM: the daemon, its Redis server, and opensm-ssa between them."""

    def __init__(self, fabric, number, priority):
        self.fabric, self.host = fabric, fabric.hosts()[number]
        self.name, self.log = f'core{number}', f'osm{number}.log'
        self.store = f'store{number}'
        self.redis = ssa.Redis(fabric, f'redis{number}')
        self.sm = fabric.start_opensm(subnet.daemon(), self.host, log=self.log,
                                      cache=f'cache{number}', out=f'osm{number}.out',
                                      options=f'{POLLS}sm_priority {priority}\n' +
                                      ssa.daemon_options(fabric, self.store))

    def start_node(self, cores):
        guid = self.fabric.dump()[self.host].ports[1].guid
        self.node = ssa.start_node(
            self.fabric, self.name, f'role core\nserver {self.redis.uri}\nnode_guid {guid:x}\n'
            f'store files:{self.fabric.path(self.store)}\n'
            + ''.join(f'core {core.redis.uri}\n' for core in cores), self.host)

    def epoch(self):
        """(term, epoch) of what the daemon would go on from."""
        if not os.path.exists(os.path.join(self.fabric.path(self.store), 'manifest')):
            return 0, 0
        code, answer = ssa.ssadmin(self.fabric, self.host, '--store',
                                   f'files:{self.fabric.path(self.store)}', 'snapshot')
        return (answer['term'], answer['epoch']) if code == 0 else (0, 0)

    def kill(self):
        for child in (self.sm, self.node, self.redis.child):
            child.kill()
        for child in (self.sm, self.node, self.redis.child):
            child.wait()


class Resolving(threading.Thread):
    """Asks ibacm for the paths to all hosts, one after another, and again."""

    def __init__(self, service, own, others):
        super().__init__(daemon=True)
        self.client, self.own, self.others = ibacm.Client(service), own, others
        self.answers, self.wrong, self.stopping = 0, [], False
        self.first, self.longest = {}, 0

    def run(self):
        while not self.stopping:
            for guid in self.others:
                began = time.monotonic()
                answer = self.client.path(ibacm.record(ibacm.gid(self.own), ibacm.gid(guid)))
                self.longest = max(self.longest, time.monotonic() - began)
                self.answers += 1
                if answer.status or self.first.setdefault(guid, answer.record) != answer.record:
                    self.wrong.append((guid, answer.octets))

    def stop(self):
        self.stopping = True
        self.join(SECONDS)


class Acme(threading.Thread):
    """ib_acme by LIDs, again and again."""

    def __init__(self, service, own, others):
        super().__init__(daemon=True)
        self.service, self.own, self.others = service, own, others
        self.runs, self.wrong, self.stopping = 0, [], False

    def run(self):
        while not self.stopping:
            lid = self.others[self.runs % len(self.others)]
            code, out = self.service.acme('-f', 'l', '-s', str(self.own), '-d', str(lid), '-C',
                                          str(ACME_REPEATS))
            self.runs += 1
            if code or 'failed' in out:
                self.wrong.append((lid, code, out))
            time.sleep(0.05)

    def stop(self):
        self.stopping = True
        self.join(SECONDS)


class Bed:
    def __init__(self, fabric):
        self.fabric = fabric
        ssa.write_key(fabric)
        self.first = Core(fabric, 0, priority=9)
        fabric.wait_subnet_up(self.first.sm, SECONDS, self.first.log)
        self.second = Core(fabric, 1, priority=5)
        fabric.wait(lambda: 'STANDBY' in fabric.read(self.second.log), SECONDS, 'a STANDBY',
                    alive=self.second.sm)
        for core in (self.first, self.second):
            core.start_node((self.first, self.second))
        self.nodes = fabric.dump()
        self.host = fabric.hosts()[2]
        self.own = self.nodes[self.host].ports[1]
        self.others = [self.nodes[name].ports[1] for name in fabric.hosts()]
        self.agent = ssa.start_node(
            fabric, 'agent', f'role agent\nport_guid {self.own.guid:x}\n'
            f'snapshot {fabric.path("snapshot")}\ncore {self.first.redis.uri}\n'
            f'core {self.second.redis.uri}\n')
        self.service = ibacm.Service(fabric, self.host, {'self': 'default'},
                                     f'ssa_snapshot {fabric.path("snapshot")}\nlog_level 1\n')

    def epoch(self):
        return ssa.epoch(self.fabric, self.host)

    def wait_settled(self):
        """Until the STANDBY and the host have what the MASTER has published."""
        fabric, first = self.fabric, self.first
        fabric.wait(lambda: self.epoch() == first.epoch() == self.second.epoch() != (0, 0),
                    SECONDS, 'one epoch everywhere', alive=self.agent)
        self.service.wait(f'epoch {self.epoch()[1]}, ')


def fail_over(bed, checks):
    fabric = bed.fabric
    bed.wait_settled()
    before = bed.epoch()
    shutil.copy(fabric.path('snapshot'), fabric.path('before'))
    counted = ibacm.Client(bed.service).counters()
    resolving = Resolving(bed.service, bed.own.guid, [port.guid for port in bed.others])
    acme = Acme(bed.service, bed.own.lid, [port.lid for port in bed.others])
    resolving.start()
    acme.start()
    fabric.wait(lambda: acme.runs > 1, SECONDS, 'ib_acme', alive=bed.service.child)
    bed.first.kill()
    killed, answers = time.monotonic(), resolving.answers
    fabric.wait_subnet_up(bed.second.sm, SECONDS, bed.second.log)
    master = time.monotonic() - killed
    seen = {before}
    fabric.wait(lambda: seen.add(bed.epoch()) or max(seen)[0] > before[0], SECONDS,
                'the term of the new MASTER', alive=bed.agent)
    heard = time.monotonic() - killed
    runs = acme.runs
    fabric.wait(lambda: acme.runs > runs + 1, SECONDS, 'ib_acme', alive=bed.service.child)
    for thread in (resolving, acme):
        thread.stop()
    after = bed.epoch()
    print(f'MASTER after {master:.2f} s, its term at the host after {heard:.2f} s; '
          f'{resolving.answers - answers} resolves since the death, the longest '
          f'{1000 * resolving.longest:.1f} ms; {acme.runs} x {ACME_REPEATS} of ib_acme')
    checks.equal('no resolve failed, or got another record', resolving.wrong[:3], [])
    checks.equal('no ib_acme failed', acme.wrong[:3], [])
    checks.check('the term is higher', after[0] > before[0], after)
    checks.equal('the epoch is the same, as nothing changed', after[1], before[1])
    checks.equal('the host had no other one in between', seen, {before, after})
    checks.equal('all tables are as before', ssa.ssadmin(
        fabric, bed.host, 'snapshot', fabric.path('snapshot'), snapshot='before'),
        (0, {'tables': [], 'ports': []}))
    now = ibacm.Client(bed.service).counters()
    checks.equal('the SA was not asked, and nothing failed',
                 [now[name] - counted[name] for name in ('route query', 'error', 'no data')],
                 [0, 0, 0])
    checks.equal('the host reads on', (bed.agent.poll(), bed.service.child.poll()), (None, None))


def change(bed, checks):
    """What the new MASTER publishes comes, too: one host less."""
    fabric, before = bed.fabric, bed.epoch()
    lost = fabric.hosts()[-1]
    fabric.link_down(*bed.nodes[lost].ports[1].peer)
    fabric.wait(lambda: bed.epoch() > before, SECONDS, 'another epoch', alive=bed.agent)
    after = bed.epoch()
    checks.equal('the next epoch, of the same term', after, (before[0], before[1] + 1))
    bed.service.wait(f'epoch {after[1]}, ')
    answer = ibacm.Client(bed.service).path(
        ibacm.record(ibacm.gid(bed.own.guid), ibacm.gid(bed.nodes[lost].ports[1].guid)))
    checks.equal('no path to the lost host', answer.status, 3)


def main():
    why = ibacm.missing() or osmsim.missing(()) or ssa.missing()
    if why:
        print(f'SKIP: {why}')
        return subnet.SKIPPED
    sys.stdout.reconfigure(line_buffering=True)
    ibsim.end_cleanly()
    checks = ibsim.Checks()
    with osmsim.Fabric(ibsim.fat_tree(4)) as fabric:
        try:
            bed = Bed(fabric)
            fail_over(bed, checks)
            change(bed, checks)
        except (ibsim.Failure, TimeoutError) as failure:
            checks.check('the host goes on', False, failure)
            for name in sorted(os.listdir(fabric.dir)):
                if name.endswith('.out'):
                    print(f'{name}: {fabric.read(name)[-1500:]}')
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
