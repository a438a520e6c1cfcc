# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""A snapshot of the Scalable SA, octet by octet, for a fabric in which all links are alike: written
after opensm/ssa/table/layout.h, and with nothing of the daemon."""

import struct

PAGE = 4096
NONE = 0xffffffff
MAGIC = b'OSMSSA\r\n'
(SUBNET, ENDPORTS, SWITCHES, RATES, PATHS, REACH, PAIRS, VERDICTS, NAMES, IPV4, IPV6,
 DESCRIPTIONS) = 1, 2, 5, 6, 7, 8, 10, 11, 13, 14, 15, 16
BY_SERVICE = 1
LAST, KNOWN = 1, 8
RANK = 1


class Snapshot:
    """ports: {GUID: (LID, LMC)}; all are cabled to one switch here, as all ways are alike."""

    def __init__(self, ports, prefix=0xfe80 << 48, mtu=5, rate=16, life=18, term=1, epoch=1):
        self.ports, self.prefix = ports, prefix
        self.mtu, self.rate, self.life = mtu, rate, life
        self.term, self.epoch = term, epoch
        self.flags = 0
        self.p_keys = [0xffff]  # each port is in all; the first is for queries without one
        self.names, self.ipv4, self.ipv6 = {}, {}, {}

    def rest(self, guid, p_key=0, qpn=0):
        return (struct.pack('>QQ', self.prefix, guid) + struct.pack('<H', p_key) +
                qpn.to_bytes(3, 'big') + b'\x80')

    def tables(self):
        top = max(lid + (1 << lmc) - 1 for lid, lmc in self.ports.values())
        way = self.mtu << 5 | RANK
        ranks = bytes([0, self.rate]) + bytes(30)
        verdicts = [(0, self.p_keys[0], KNOWN), *((key & 0x7fff, 0, KNOWN) for key in self.p_keys)]
        known = range(64)
        return {
            SUBNET: (128, struct.pack('<QIIHHBBBB32s72x', self.prefix, self.flags, 1, top, 0, 0, 0,
                                      0, 0, ranks)),
            ENDPORTS: (32, b''.join(struct.pack('<QIIIIHBBBBBB', guid, 0, NONE, 0, 0, lid, lmc, 1,
                                                way, way, 0, 1)
                                    for guid, (lid, lmc) in sorted(self.ports.items()))),
            SWITCHES: (16, struct.pack('<QIHH', 1, 0, 0, 0)),
            RATES: (64, bytes(known)),
            PATHS: (top + 1, bytes([way]) * (top + 1)),
            REACH: (1, b'\x01' * (top + 1)),
            PAIRS: (4, bytes(4)),
            VERDICTS: (16, b''.join(
                struct.pack('<HHHBBBBBB4x', asked, p_key, 0, flags | (LAST if last else 0), 0, 0, 0,
                            self.life, 0)
                for asked, p_key, flags, last in
                ((*verdict, verdict is verdicts[-1]) for verdict in verdicts))),
            NAMES: (92, b''.join(name.encode().ljust(64, b'\0') + rest + bytes(6)
                                 for name, rest in sorted(self.names.items()))),
            IPV4: (36, b''.join(address + rest + bytes(10)
                                for address, rest in sorted(self.ipv4.items()))),
            IPV6: (48, b''.join(address + rest + bytes(10)
                                for address, rest in sorted(self.ipv6.items()))),
            DESCRIPTIONS: (72, bytes(72 * len(self.ports))),
        }

    def octets(self):
        directory, body = b'', b''
        for number, (size, rows) in sorted(self.tables().items()):
            directory += struct.pack('<HHIQQQQQ16x16x', number, 0, size, len(rows) // size, 0,
                                     len(rows) // size, PAGE + len(body), self.epoch)
            body += rows + bytes(-len(rows) % PAGE)
        header = struct.pack('<8sHHIQQQQQQ64x', MAGIC, 1, 0, len(directory) // 80, self.prefix,
                             self.term, self.epoch, 0, 1, PAGE + len(body))
        return (header + directory).ljust(PAGE, b'\0') + body
