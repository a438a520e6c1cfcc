# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What tshark decodes in a capture, bit by bit, compared with the intended meaning."""

import collections
import re
import subprocess
import xml.etree.ElementTree as ElementTree

# A part of a packet: bits from the start of its LRH, as decoded by tshark or intended by us.
Leaf = collections.namedtuple('Leaf', 'name bit width value')
# One of our own parts; record is None before the attribute.
Meaning = collections.namedtuple('Meaning', 'key record bit width value')
Frame = collections.namedtuple('Frame', 'mgmt_class label meanings')

PREFIX = 'infiniband.'
# Not decoded: octets that tshark shows as they are, and headings.
RAW = {PREFIX + name for name in (
    'reserved', 'mad.data', 'smplid.smpdata', 'sa.subnetadmindata', 'payload', 'rawdata', 'vendor',
    'classportinfo.reserved', 'rmpp.transferreddata', 'notice.datadetails', 'sa.drdlid', 'mad',
    'rmpp', 'smplid', 'smpdirected', 'lrh', 'grh', 'bth', 'deth')}


def parse_samples(text):
    """Output of wire_samples: the names of all fields, and frames."""
    known, frames = [], []
    for line in text.splitlines():
        first, *rest = line.split('\t')
        if first == 'known':
            known.append(rest[0])
        elif first == 'frame':
            frames.append(Frame(int(rest[0], 16), rest[1], []))
        else:
            record, bit, width, value = rest
            frames[-1].meanings.append(Meaning(first, int(record) if record else None, int(bit),
                                               int(width), int(value, 16)))
    return known, frames


def mask_of(field, width):
    """First bit and width of what 'showname' picks out: '.011 .... = Name: 3'."""
    match = re.match(r'([01. ]+) = ', field.get('showname', ''))
    bits = match.group(1).replace(' ', '') if match else ''
    if len(bits) != width:
        return 0, width
    picked = [i for i, bit in enumerate(bits) if bit != '.']
    return picked[0], picked[-1] - picked[0] + 1


def leaf_of(field, base):
    size, value = int(field.get('size') or 0), field.get('value')
    if not size or not value or not field.get('name', '').startswith(PREFIX):
        return None
    first, width = mask_of(field, 8 * size)
    whole = int(field.get('unmaskedvalue') or value, 16)
    return Leaf(field.get('name'), 8 * (int(field.get('pos')) - base) + first, width,
                whole >> (8 * size - first - width) & ((1 << width) - 1))


def leaves_of(packet):
    fields = list(packet.iter('field'))
    base = next(int(f.get('pos')) for f in fields if f.get('name') == PREFIX + 'lrh.vl')
    return [leaf for leaf in (leaf_of(field, base) for field in fields) if leaf]


def decode(capture):
    """The leaves of each packet, by tshark."""
    pdml = subprocess.run(['tshark', '-r', capture, '-T', 'pdml'], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout
    return [leaves_of(packet) for packet in ElementTree.fromstring(pdml)]


def overlaps(meaning, leaf):
    return meaning.bit < leaf.bit + leaf.width and leaf.bit < meaning.bit + meaning.width


def part(value, bit, width, first, end):
    """Bits first to end of a value that lies at bit."""
    return value >> (bit + width - end) & ((1 << (end - first)) - 1)


def compare(meaning, leaves, names):
    """(bits that tshark shows under one of names, whether they are ours). A field of tshark that
    reaches beyond ours agrees with it only if it is octets, longer than any number."""
    covered, same = 0, True
    for leaf in leaves:
        if leaf.name not in names or not overlaps(meaning, leaf):
            continue
        first, end = max(meaning.bit, leaf.bit), min(meaning.bit + meaning.width,
                                                     leaf.bit + leaf.width)
        covered += end - first
        inside = first == leaf.bit and end == leaf.bit + leaf.width
        same &= (inside or leaf.width > 64) and (
            part(meaning.value, meaning.bit, meaning.width, first, end) ==
            part(leaf.value, leaf.bit, leaf.width, first, end))
    return covered, same


def decoded(meaning, leaves):
    """Names under which tshark shows some of the field, if not as raw octets."""
    return {leaf.name for leaf in leaves
            if overlaps(meaning, leaf) and leaf.name not in RAW and
            (leaf.width <= 128 or leaf.width <= meaning.width)}
