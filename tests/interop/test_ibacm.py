#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Debian's ibacm with the provider libibacmssa.so, on osmsim: ib_acme, clients of librdmacm's
protocol and a kernel get the SA's own answers, out of a snapshot or from the SA."""

import os
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True

import ibacm  # noqa: E402 (after the switch above: the source tree may be read-only)
import ibsim  # noqa: E402
import osmsim  # noqa: E402
import ssa_table  # noqa: E402
import subnet  # noqa: E402

SECONDS = 60
MAX_AGE = 600  # files are made old: however slow the machine is, none becomes so by itself
SUCCESS, EINVAL, ENODATA, EDESTADDR = 0, 2, 3, 9
SA_NO_RECORDS = 3
BOTH_WAYS, ONE_WAY = 0x2b, 0x0a
FAILED = 0x100  # nlmsg_flags
OWN_IPV4, OTHER_IPV4 = bytes((127, 0, 0, 1)), bytes((127, 0, 0, 9))
OTHER_IPV6 = bytes.fromhex('fd000000000000000000000000000009')
PARTITION = 0x8011


def grown(before, after):
    return {name: after[name] - before[name] for name in after if after[name] != before[name]}


class Bed:
    """A subnet with its SM on one host, ibacm on another, and a third one that is looked for."""

    def __init__(self, checks, fabric):
        self.checks, self.fabric = checks, fabric
        self.sm_host, self.host, self.other = fabric.hosts()[0], fabric.hosts()[1], \
            fabric.hosts()[-1]
        self.file = fabric.path('snapshot')
        with open(fabric.path('partitions.conf'), 'w') as file:
            file.write('Default=0x7fff,ipoib:ALL=full;\nBlue=0x11:ALL=full;\n')
        self.start_sm()
        self.service = ibacm.Service(
            fabric, self.host, {'self': 'default', '127.0.0.1': 'default', 'fd00::1': 'default',
                                'blue': f'0x{PARTITION:x}'},
            f'ssa_snapshot {self.file}\nssa_max_age {MAX_AGE}\nssa_wrong 1\nssa_max_age 0\n',
            kernel=os.getuid() == 0)
        self.client = ibacm.Client(self.service)

    def start_sm(self, *flags, log='osm.log'):
        self.sm = self.fabric.start_opensm(
            subnet.daemon(), self.sm_host, '-P', self.fabric.path('partitions.conf'), *flags,
            log=log)
        self.fabric.wait_subnet_up(self.sm, SECONDS, log)
        self.nodes = self.fabric.dump()

    def guid(self, host):
        return self.nodes[host].ports[1].guid

    def lid(self, host):
        return self.nodes[host].lid(1)

    def snapshot(self, epoch, lmc=0):
        """A snapshot of what osmsim says."""
        made = ssa_table.Snapshot({port.guid: (port.lid, lmc * (not node.is_switch))
                                   for node in self.nodes.values()
                                   for port in node.ports.values() if port.lid}, epoch=epoch)
        made.p_keys = [PARTITION, 0xffff]
        rest = made.rest(self.guid(self.other))
        made.names['other'] = rest
        made.names['elsewhere'] = made.rest(self.guid(self.other), p_key=0x8022)
        made.ipv4[OTHER_IPV4], made.ipv6[OTHER_IPV6] = rest, rest
        return made

    def publish(self, octets, say):
        """As an agent does; waits until the provider has said that."""
        mark = self.service.mark()
        with open(self.file + '.new', 'wb') as file:
            file.write(octets)
        os.rename(self.file + '.new', self.file)
        self.service.wait(say, mark)

    def touch(self):
        os.utime(self.file)

    def leave(self, seconds):
        """Until the file is too old."""
        then = time.time() - MAX_AGE + seconds
        os.utime(self.file, (then, then))

    def query(self, **more):
        return ibacm.record(ibacm.gid(self.guid(self.host)), ibacm.gid(self.guid(self.other)),
                            **more)

    def counted(self, request):
        """The answer, and by how much it moved which counters."""
        before = self.client.counters()
        answer = request()
        after = self.client.counters()
        return answer, grown(before, after)


CACHED = {'resolve': 1, 'route cache': 1}
ASKED = {'resolve': 1, 'route query': 1}


def without_snapshot(bed, checks):
    code, out = bed.service.acme('-e')
    checks.equal('ib_acme -e lists the endpoint',
                 (code, re.findall(r',1,(0x\w+),\d,(\w+),(.*)$', out, re.M)),
                 (0, [('0x8011', 'ibacmssa', 'blue'),
                      ('0xffff', 'ibacmssa', 'self,127.0.0.1,fd00::1')]))
    answer, moved = bed.counted(lambda: bed.client.path(bed.query()))
    checks.equal('the SA is asked', (answer.status, moved), (SUCCESS, ASKED))
    answer, moved = bed.counted(lambda: bed.client.ask(
        ibacm.address(ibacm.NAME, ibacm.SOURCE, b'self'),
        ibacm.address(ibacm.NAME, ibacm.DESTINATION, b'other')))
    checks.equal('it knows no names', (answer.status, answer.length, len(answer.octets), moved),
                 (ENODATA, 16, 16, {'resolve': 1, 'no data': 1}))
    for line in ('ssa_wrong is unknown', 'ssa_max_age 0: expected seconds, from 1'):
        checks.check(f'the log has "{line}"', line in bed.service.log(), bed.service.log())


def layout(bed, checks):
    """Each octet of answers."""
    request = bed.query()
    answer, moved = bed.counted(lambda: bed.client.path(request))
    checks.equal('a path comes out of the snapshot', (answer.status, moved), (SUCCESS, CACHED))
    checks.equal('header', (answer.version, answer.opcode, answer.data, answer.length,
                            len(answer.octets), answer.tid),
                 (1, ibacm.RESOLVE | ibacm.ACK, bytes(3), 88, 88, bed.client.tid))
    checks.equal('entry', answer.entries[0][:3], (BOTH_WAYS, ibacm.PATH, 0))
    sa = bed.client.path(request, ibacm.ASK_SA)
    checks.equal('the relayed answer', (sa.status, sa.opcode, sa.length, sa.tid),
                 (SUCCESS, ibacm.RESOLVE | ibacm.ACK, 88, bed.client.tid))
    checks.equal("the record is the SA's, octet for octet", answer.record.hex(), sa.record.hex())
    forms = {
        'by LIDs': ibacm.record(slid=bed.lid(bed.host), dlid=bed.lid(bed.other)),
        'another P_Key': bed.query(p_key=PARTITION),
        'either way': bed.query(reversible=False),
        'to itself': ibacm.record(*2 * (ibacm.gid(bed.guid(bed.host)),)),
        'to the SM': ibacm.record(ibacm.gid(bed.guid(bed.host)), ibacm.gid(bed.guid(bed.sm_host))),
        'with a ServiceID': bed.query(service=0x1234567890abcdef),
        'for SL 0 of class 1': bed.query(qos=0x10),
    }
    for what, octets in forms.items():
        answer, moved = bed.counted(lambda octets=octets: bed.client.path(octets))
        sa = bed.client.path(octets, ibacm.ASK_SA)
        checks.equal(f"{what}: the SA's record", (answer.record and answer.record.hex(), moved),
                     (sa.record.hex(), CACHED))
    before = bed.client.counters(1)
    bed.client.path(bed.query(p_key=PARTITION))
    bed.client.path(bed.query(p_key=0xffff))
    after = bed.client.counters(1)
    checks.equal('the endpoint of that P_Key counts for itself',
                 grown(before, after), CACHED)
    unknown = ibacm.record(ibacm.gid(bed.guid(bed.host)), ibacm.gid(0x999))
    answer, moved = bed.counted(lambda: bed.client.path(unknown))
    checks.equal('an unknown GID', (answer.status, answer.length, moved),
                 (ENODATA, 16, CACHED | {'no data': 1}))
    answer, moved = bed.counted(lambda: bed.client.path(unknown, ibacm.ASK_SA))
    checks.equal('the SA knows none, too', (answer.status, moved),
                 (SA_NO_RECORDS, ASKED | {'error': 1}))


def addresses(bed, checks):
    expected = bed.client.path(bed.query(p_key=0xffff), ibacm.ASK_SA).record
    for kind, own, other in ((ibacm.NAME, b'self', b'other'),
                             (ibacm.IPV4, OWN_IPV4, OTHER_IPV4),
                             (ibacm.IPV6, b'\xfd' + bytes(14) + b'\x01', OTHER_IPV6)):
        answer, moved = bed.counted(lambda kind=kind, own=own, other=other: bed.client.ask(
            ibacm.address(kind, ibacm.SOURCE, own), ibacm.address(kind, ibacm.DESTINATION, other)))
        checks.equal(f'an address of type {kind}',
                     (answer.status, answer.length, answer.record == expected, moved),
                     (SUCCESS, 88, True, CACHED | {'address cache': 1}))
    answer = bed.client.ask(ibacm.address(ibacm.IPV4, ibacm.DESTINATION, OTHER_IPV4))
    checks.equal('without a source ibacm chooses one, and tells it',
                 (answer.status, answer.length, len(answer.octets), answer.record == expected),
                 (SUCCESS, 160, 160, True))
    checks.equal('the source', (answer.entries[1][1], answer.entries[1][3][:4]),
                 (ibacm.IPV4, OWN_IPV4))
    hinted = bed.client.ask(
        ibacm.address(ibacm.NAME, ibacm.SOURCE, b'self'),
        ibacm.address(ibacm.NAME, ibacm.DESTINATION, b'other'),
        ibacm.address(ibacm.PATH, 0, ibacm.record(service=0x77, p_key=PARTITION)))
    fields = ibacm.RECORD.unpack(hinted.record)
    checks.equal('ServiceID and P_Key of a path entry', (fields[0], fields[8]), (0x77, PARTITION))
    for name in (b'unknown', b'elsewhere', b'x' * 64):
        answer, moved = bed.counted(lambda name=name: bed.client.ask(
            ibacm.address(ibacm.NAME, ibacm.SOURCE, b'self'),
            ibacm.address(ibacm.NAME, ibacm.DESTINATION, name)))
        checks.equal(f'no such name here: {name}', (answer.status, len(answer.octets), moved),
                     (EDESTADDR, 16, {'resolve': 1, 'error': 1}))


def acme(bed, checks):
    formats = {'n': ('self', 'other'), 'i': ('127.0.0.1', '127.0.0.9'),
               'l': (str(bed.lid(bed.host)), str(bed.lid(bed.other)))}
    for letter, (source, destination) in formats.items():
        code, out = bed.service.acme('-f', letter, '-s', source, '-d', destination, '-v')
        checks.check(f'ib_acme -f {letter} -v', code == 0 and 'SA verification: success' in out,
                     out)
    code, out = bed.service.acme('-f', 'n', '-s', 'self', '-d', 'other', '-C', '200')
    checks.equal('two hundred times', code, 0)
    answer, moved = bed.counted(lambda: bed.service.acme('-P', 'all'))
    checks.check('ib_acme -P', not moved and 'Route Cache Count' in answer[1], answer)


def kernel(bed, checks):
    if os.getuid() != 0:
        print('requests of a kernel are not tried: they take root')
        return
    asker = ibacm.Kernel(bed.service)
    ends = ibacm.gid(bed.guid(bed.host)), ibacm.gid(bed.guid(bed.other))
    sa = bed.client.path(bed.query(p_key=0xffff), ibacm.ASK_SA).record
    for use, flags in ((asker.ALL, BOTH_WAYS), (asker.GMP, BOTH_WAYS), (asker.ONE_WAY, ONE_WAY)):
        kind, nl_flags, sequence, body = asker.ask(*ends, use=use)
        checks.equal(f'use {use}: the answer', (kind, nl_flags & FAILED, sequence, len(body)),
                     (asker.RESOLVE, 0, asker.sequence, 76))
        size, attribute, got, _ = ibacm.struct.unpack_from('=HHII', body)
        checks.equal(f"use {use}: a record, the SA's",
                     (size, attribute & 0x1fff, got, body[12:76]), (76, 1, flags, sa))
    kind, nl_flags, sequence, body = asker.ask(ends[0], ibacm.gid(0x999))
    checks.equal('none: it failed', (kind, nl_flags & FAILED, sequence, len(body)),
                 (asker.RESOLVE, FAILED, asker.sequence, 0))
    made = bed.snapshot(epoch=3)
    made.flags = ssa_table.BY_SERVICE
    bed.publish(made.octets(), 'epoch 3')
    before = bed.client.counters()['route query']
    kind, nl_flags, sequence, body = asker.ask(*ends, service_id=0x42)
    checks.equal('with a ServiceID the SA is asked',
                 (nl_flags & FAILED, sequence, body[12:20].hex(),
                  bed.client.counters()['route query']),
                 (0, asker.sequence, '0000000000000042', before + 1))


def watching(bed, checks):
    """Files that are refused, that age, and that vanish."""
    octets = bed.snapshot(epoch=5).octets()
    request = bed.query()
    bed.publish(octets, 'epoch 5')
    for what, broken, say in (
            ('torn', octets[:-4096], 'refused: .*octets: expected .*the one in use stays'),
            ('no snapshot', b'hello', 'refused: .*the one in use stays'),
            ('of another format', octets[:8] + b'\x02' + octets[9:], 'refused: format 2'),
            ('of an earlier epoch', bed.snapshot(epoch=4).octets(),
             'epoch 4 is before term 1 epoch 5'),
            ('empty', b'', 'refused')):
        bed.publish(broken, say)
        answer, moved = bed.counted(lambda: bed.client.path(request))
        checks.equal(f'a file that is {what}: the one in use stays', (answer.status, moved),
                     (SUCCESS, CACHED))
    bed.publish(octets[:-1] + b'\x01', 'ssa: ')  # octets that mean nothing
    mark = bed.service.mark()
    bed.leave(1)
    bed.service.wait('older than ssa_max_age; the SA is asked', mark)
    answer, moved = bed.counted(lambda: bed.client.path(request))
    checks.equal('too old: the SA is asked', (answer.status, moved), (SUCCESS, ASKED))
    mark = bed.service.mark()
    bed.touch()
    bed.service.wait('current again', mark)
    answer, moved = bed.counted(lambda: bed.client.path(request))
    checks.equal('still current: out of the snapshot', (answer.status, moved), (SUCCESS, CACHED))
    answer, moved = vanishing(bed, request)
    checks.equal('gone: it is used until it is too old', (answer.status, moved), (SUCCESS, CACHED))
    bed.publish(bed.snapshot(epoch=4).octets(), 'epoch 4, ')  # what was too old cannot forbid it


def vanishing(bed, request):
    """What is answered after the file has gone, and before it is too old: on a machine that is so
    slow that it is too old by then, the next try leaves more time."""
    for seconds in (2, 8, 32):
        mark = bed.service.mark()
        bed.leave(-1)
        bed.service.wait('older than ssa_max_age', mark)
        mark, then = bed.service.mark(), time.time() + seconds
        bed.leave(seconds)
        bed.fabric.wait(lambda mark=mark, then=then: 'current again' in bed.service.log(mark) or
                        time.time() > then, SECONDS, '"current again"')
        os.remove(bed.file)
        bed.service.wait('No such file or directory; what it said is used', mark)
        answer, moved = bed.counted(lambda: bed.client.path(request))
        slow = 'older than ssa_max_age' in bed.service.log(mark) or time.time() > then
        bed.service.wait('older than ssa_max_age', mark)
        if not slow:
            break
        bed.publish(bed.snapshot(epoch=5 + seconds).octets(), f'epoch {5 + seconds}, ')
    return answer, moved


def without_sm(bed, checks):
    """The SM is dead: paths come as before, what only the SA knows fails."""
    made = bed.snapshot(epoch=6)
    made.flags = ssa_table.BY_SERVICE
    bed.publish(made.octets(), 'epoch 6')
    bed.sm.kill()
    bed.sm.wait()
    answer, moved = bed.counted(lambda: bed.client.path(bed.query()))
    checks.equal('a path without an SM', (answer.status, moved), (SUCCESS, CACHED))


def reopened(bed, checks):
    """Another SM with other LIDs: the endpoint closes and opens again."""
    mark = bed.service.mark()
    bed.start_sm('-l', '1', log='second.log')
    bed.service.wait('processing async event LID change', mark)
    bed.fabric.wait(lambda: 'acm_port_up' in bed.service.log(mark), SECONDS, 'the endpoint')
    bed.publish(bed.snapshot(epoch=7, lmc=1).octets(), 'epoch 7')
    answer, moved = bed.counted(lambda: bed.client.path(bed.query()))
    sa = bed.client.path(bed.query(), ibacm.ASK_SA)
    checks.equal("the SA's record with the other LIDs",
                 (answer.record.hex(), 'route cache' in moved), (sa.record.hex(), True))
    checks.equal('the other LID', ibacm.RECORD.unpack(answer.record)[4], bed.lid(bed.host))
    mark = bed.service.mark()
    with open(bed.fabric.path('partitions.conf'), 'a') as file:
        file.write('Red=0x33:ALL=full;\n')
    bed.sm.send_signal(1)  # SIGHUP
    bed.service.wait('processing async event P_Key change', mark)
    for _ in range(2):
        mark = bed.service.mark()
        bed.fabric.link_down(bed.host, 1)
        bed.service.wait('is down', mark)
        mark = bed.service.mark()  # before that, the endpoint may have opened for its P_Keys
        bed.fabric.link_up(bed.host, 1)
        bed.service.wait('acm_port_up', mark)
    bed.fabric.wait(lambda: bed.client.path(bed.query()).status == SUCCESS, SECONDS,
                    'an answer after all that')


class Published:
    """A daemon that publishes epochs, and ibacm with what a host makes of them."""

    def __init__(self, fabric):
        self.fabric = fabric
        self.hosts = fabric.hosts()
        self.sm_host, self.host = self.hosts[0], self.hosts[1]
        self.store, self.file = fabric.path('store'), fabric.path('snapshot')
        guids = {name: node.ports[1].guid for name, node in fabric.dump().items()
                 if not node.is_switch}
        self.write('partitions.conf', 'Default=0x7fff,ipoib:ALL=limited,SELF=full;\n'
                   f'Blue=0x11:0x{guids[self.host]:x}=full,0x{guids[self.hosts[2]]:x}=full,'
                   f'0x{guids[self.hosts[3]]:x}=limited;\n'
                   f'Red=0x22:0x{guids[self.host]:x}=limited,0x{guids[self.hosts[4]]:x}=limited,'
                   f'0x{guids[self.hosts[5]]:x}=full;\n')
        other = f'fe80::{guids[self.hosts[2]] >> 48:x}:0:0:{guids[self.hosts[2]] & 0xffff:x}'
        self.write('addresses', f'other {other}\n[pkey=0x8011]\nother-blue {other}\n')
        self.sm = fabric.start_opensm(
            subnet.daemon(), self.sm_host, '-P', fabric.path('partitions.conf'), '-l', '1',
            options=f'ssa TRUE\nssa_directory {self.store}\n'
                    f'ssa_address_file {fabric.path("addresses")}\n')
        fabric.wait_subnet_up(self.sm, SECONDS)
        self.epoch = 0
        self.service = ibacm.Service(fabric, self.host, {'self': 'default', 'blue': '0x8011'},
                                     f'ssa_snapshot {self.file}\nlog_level 1\n')
        self.client = ibacm.Client(self.service)
        self.nodes = None

    def write(self, name, text):
        with open(self.fabric.path(name), 'w') as file:
            file.write(text)

    def join(self):
        run = subprocess.run([osmsim.built('tests', 'interop', 'ssa_join'), f'files:{self.store}',
                              self.file], capture_output=True, text=True, timeout=SECONDS)
        found = re.search(r'^epoch (\d+)$', run.stdout)
        return int(found[1]) if found else 0

    def follow(self):
        """Until the provider has an epoch that is newer than the last one."""
        def newer():
            epoch = self.join()
            done, self.epoch = epoch > self.epoch, max(epoch, self.epoch)
            return done
        self.fabric.wait(newer, SECONDS, 'a newer epoch', alive=self.sm)
        self.service.wait(f'epoch {self.epoch}, ')
        self.nodes = self.fabric.dump()

    def questions(self):
        own = self.nodes[self.host].ports[1]
        for name in self.hosts:
            port = self.nodes[name].ports[1]
            gids = ibacm.gid(own.guid), ibacm.gid(port.guid)
            for p_key in (0, 0xffff, 0x7fff, 0x8011, 0x11, 0x22, 0x8022):
                yield name, ibacm.record(*gids, p_key=p_key)
            yield name, ibacm.record(*gids, reversible=False)
            yield name, ibacm.record(*gids, service=0x1234)
            for bits in range(4):
                yield name, ibacm.record(slid=own.lid + bits // 2, dlid=port.lid + bits % 2)

    def compare(self, checks, what):
        before = self.client.counters()
        asked, wrong = 0, []
        for name, octets in self.questions():
            own, sa = self.client.path(octets), self.client.path(octets, ibacm.ASK_SA)
            asked += 1
            if (own.status == 0 and own.record) != (sa.status == 0 and sa.record):
                wrong.append((name, octets.hex(), own.status, own.octets.hex(), sa.octets.hex()))
        moved = grown(before, self.client.counters())
        checks.equal(f"{what}: {asked} answers are the SA's", wrong, [])
        # Some are refused by ibacm itself, for it has no endpoint of that P_Key.
        checks.check(f'{what}: {moved["route cache"]} of them came out of the snapshot',
                     moved['route cache'] > asked / 2 and
                     moved['route query'] == moved['route cache'], moved)


def published(checks):
    with osmsim.Fabric(ibsim.fat_tree(4)) as fabric:
        made = Published(fabric)
        made.follow()
        made.compare(checks, 'limited members and LMC')
        for source, name, status in ((b'blue', b'other-blue', SUCCESS),
                                     (b'self', b'other', ENODATA),
                                     (b'self', b'other-blue', EDESTADDR)):
            answer = made.client.ask(ibacm.address(ibacm.NAME, ibacm.SOURCE, source),
                                     ibacm.address(ibacm.NAME, ibacm.DESTINATION, name))
            checks.equal(f"{name} of the operator's file, from {source}", answer.status, status)
        fabric.link_down(made.hosts[-1], 1)
        made.follow()
        made.compare(checks, 'without a host')
        made.sm.kill()
        made.sm.wait()
        own, far = (ibacm.gid(made.nodes[host].ports[1].guid)
                    for host in (made.host, made.hosts[2]))
        checks.equal('the SM is dead', made.client.path(ibacm.record(own, far)).status, SUCCESS)


def main():
    why = ibacm.missing() or osmsim.missing(['sminfo'])
    if why:
        print(f'SKIP: {why}')
        return subnet.SKIPPED
    sys.stdout.reconfigure(line_buffering=True)
    ibsim.end_cleanly()
    checks = ibsim.Checks()
    with osmsim.Fabric(ibsim.fat_tree(4)) as fabric:
        bed = Bed(checks, fabric)
        try:
            without_snapshot(bed, checks)
            bed.publish(bed.snapshot(epoch=2).octets(), 'epoch 2, 36 ports')
            for part in (layout, addresses, acme, kernel, watching, without_sm, reopened):
                if os.path.exists(bed.file):
                    bed.touch()
                part(bed, checks)
            checks.check('ibacm lives', bed.service.child.poll() is None)
            checks.equal('and ends by SIGTERM, as without us', fabric.stop(bed.service.child), -15)
        except (ibsim.Failure, TimeoutError) as failure:
            checks.check('it answers', False, failure)
            print(bed.service.log()[-4000:])
    try:
        published(checks)
    except (ibsim.Failure, TimeoutError) as failure:
        checks.check('a daemon publishes', False, failure)
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
