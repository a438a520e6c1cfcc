#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""tshark, an independent decoder, reads our captures as intended: every field of every attribute,
with random values. Unknown and wrong fields of tshark are listed in tshark_fields.py, and the test
fails if that list is outdated."""

import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import ibsim  # noqa: E402 (after the switch above: the source tree may be read-only)
import tshark  # noqa: E402
import tshark_fields as fields  # noqa: E402

SEED, ROUNDS = 1, 8


def expand(words, known):
    """Keys that 'type.field type.*' stand for."""
    keys = set()
    for word in words.split():
        keys |= ({key for key in known if key.startswith(word[:-1])} if word.endswith('.*')
                 else {word})
    return keys


def full(prefix, name):
    return tshark.PREFIX + (name if '.' in name else f'{prefix}.{name}')


def table():
    """Our key -> names in tshark."""
    names = {}
    for kind, (prefix, words) in fields.TABLE.items():
        for word in words.split():
            ours, _, theirs = word.partition('=')
            parts = (theirs or ours.replace('_', '')).split('+')
            names[f'{kind}.{ours}'] = {full(prefix, part) for part in parts}
    return names


def named(entries):
    return {key: {full('', name) for name in names.split()} for key, (names, _) in entries.items()}


class Judge:
    """Compares every field of every packet, and counts the results by key."""

    def __init__(self, known):
        self.table, self.partial, self.wrong = table(), named(fields.PARTIAL), named(fields.WRONG)
        self.unknown = expand(' '.join(fields.UNKNOWN.values()), known)
        self.values = self.unseen_records = 0
        self.agreed, self.seen_unknown, self.differ = (collections.Counter() for _ in range(3))
        self.lacking = collections.Counter()
        self.sensitive = {}  # key -> whether a changed value shows
        self.failures = {}

    def fail(self, meaning, frame, why):
        self.failures.setdefault(meaning.key, f'{frame.label}: {why}')

    def expect_unknown(self, frame, meaning, leaves):
        names = tshark.decoded(meaning, leaves)
        if names:
            self.fail(meaning, frame, f'tshark knows it as {sorted(names)}')

    def expect_same(self, frame, meaning, leaves, names, whole):
        covered, same = tshark.compare(meaning, leaves, names)
        if not whole:
            self.lacking[meaning.key] += covered < meaning.width
            if same and covered == 0:
                return
        if not same or (whole and covered < meaning.width):
            self.fail(meaning, frame, f'{meaning.value:#x} at bit {meaning.bit}, width '
                      f'{meaning.width}; tshark has ' + str([
                          (leaf.name, leaf.bit, leaf.width, hex(leaf.value)) for leaf in leaves
                          if leaf.name in names]))
            return
        self.values += 1
        self.agreed[meaning.key] += 1
        if meaning.key not in self.sensitive and covered:
            other = meaning._replace(value=meaning.value ^ ((1 << meaning.width) - 1))
            self.sensitive[meaning.key] = not tshark.compare(other, leaves, names)[1]

    @staticmethod
    def is_elsewhere(frame, meaning):
        """In a place where tshark decodes nothing, though it may know the field."""
        return meaning.record is not None and (
            meaning.record > 0 or frame.mgmt_class in fields.UNKNOWN_CLASSES)

    def field(self, frame, meaning, leaves):
        key = meaning.key
        if key in self.unknown:
            self.seen_unknown[key] += 1
            self.expect_unknown(frame, meaning, leaves)
        elif self.is_elsewhere(frame, meaning):
            self.unseen_records += 1
            self.expect_unknown(frame, meaning, leaves)
        elif key in self.wrong:
            covered, same = tshark.compare(meaning, leaves, self.wrong[key])
            self.differ[key] += not same or covered != meaning.width
        elif key in self.partial:
            self.expect_same(frame, meaning, leaves, self.partial[key], False)
        elif key in self.table:
            self.expect_same(frame, meaning, leaves, self.table[key], True)
        else:
            self.fail(meaning, frame, 'is in no table')


def judge_lists(checks, judge, known):
    headers = {key for key in judge.table if key.split('.')[0] in ('lrh', 'grh', 'bth', 'deth')}
    lists = [set(judge.table) - headers, set(judge.partial), set(judge.wrong), judge.unknown,
             expand(fields.NOT_SAMPLED, known)]
    checks.same_set('every field is in a table', set().union(*lists), set(known))
    twice = [key for key, n in collections.Counter(key for keys in lists for key in keys).items()
             if n > 1]
    checks.equal('no field is in two tables', twice, [])
    for what, keys, counted in (
            ('tshark shows every field of the table', set(judge.table) | set(judge.partial),
             judge.agreed),
            ('every field that tshark does not know was sent', judge.unknown, judge.seen_unknown),
            ('tshark shows only a part of these', set(judge.partial), judge.lacking),
            ('another value would be seen', set(judge.table) | set(judge.partial),
             judge.sensitive),
            ('what tshark has wrong differs', set(judge.wrong), judge.differ)):
        checks.same_set(what, {key for key in counted if counted[key]}, keys)


def judge_values(checks, frames, packets, known):
    judge = Judge(known)
    for frame, leaves in zip(frames, packets):
        for meaning in frame.meanings:
            judge.field(frame, meaning, leaves)
    for key in sorted({meaning.key for frame in frames for meaning in frame.meanings}):
        checks.check(f'tshark and {key}', key not in judge.failures, judge.failures.get(key))
    return judge


def report(judge, frames):
    kinds = {re.match(r'\w+', frame.label).group() for frame in frames}
    print(f'{len(frames)} packets of {len(kinds)} attributes: tshark agrees in '
          f'{len(judge.agreed)} fields, {judge.values} values; {judge.unseen_records} values are '
          'in later records or other places that it does not decode')
    for key, (_, why) in sorted(fields.PARTIAL.items()):
        print(f'tshark shows a part of {key}: {why}')
    print(f'tshark does not know {len(judge.unknown)} fields:')
    for why, words in fields.UNKNOWN.items():
        keys = expand(words, judge.unknown)
        print(f'  {len(keys)} {why}: {" ".join(sorted(keys))}')
    print(f'tshark is wrong in {len(fields.WRONG)} fields:')
    for key, (_, why) in sorted(fields.WRONG.items()):
        print(f'  {key}: {why}')


def run(checks, directory):
    program = os.path.join(os.environ.get('top_builddir', '.'), 'tests', 'interop', 'wire_samples')
    capture = os.path.join(directory, 'samples.pcap')
    text = subprocess.run([program, capture, str(SEED), str(ROUNDS)], check=True,
                          stdout=subprocess.PIPE, universal_newlines=True).stdout
    known, frames = tshark.parse_samples(text)
    packets = tshark.decode(capture)
    if not checks.equal('tshark sees every packet', len(packets), len(frames)):
        return
    judge = judge_values(checks, frames, packets, known)
    judge_lists(checks, judge, known)
    report(judge, frames)


def main():
    if not shutil.which('tshark'):
        print('FAIL: there is no tshark (Debian: tshark)')
        return 1
    checks = ibsim.Checks()
    with tempfile.TemporaryDirectory(prefix='opensm-tshark.') as directory:
        run(checks, directory)
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
