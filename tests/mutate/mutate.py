#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Makes small wrong changes to the sources, one at a time, and sees whether some test fails.

usage: mutate.py [--sample N] [--seed S] [--jobs N] [--again] [--base REVISION] [PLACE...]

A place is FILE, FILE:FUNCTION, DIRECTORY or DIRECTORY:FUNCTION, from the top of the tree; without
any, it is the files of opensm/{sm,sa,mad} that differ from REVISION. Each job works in a copy of
tree and build in ./mutate; results stay there and are not computed again as long as the file does
not change (--again: survivors meet the tests anew). Tests are the programs of "make check" that
link the file, those first that have killed most in the least time. A mutant that gives the same
object is none. Survivors that tests/mutate/survivors accepts as equivalent do not count, others
there do. Fails if a directory has a lower share of killed mutants than --least."""

import argparse
import hashlib
import json
import os
import random
import re
import resource
import shlex
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from queue import Queue

import accepted
import operators

DIRECTORIES = ('opensm/sm', 'opensm/sa', 'opensm/mad')
TESTS = re.compile(r'tests/(unit|scenario|fuzz)/[a-z0-9_]+$')
# What comes by chance kills by chance: faults from seeds, and threads in real time. The routes
# make long tests, which are for what computes them.
LEFT_OUT = re.compile(r'tests/scenario/(seeds|test_threads)$|'
                      r'tests/unit/test_(route_property|route_repair|preload)$')
CFLAGS = '-O1 -w'
MEMORY = 4 << 30
GRACE_S, SLOWER = 4, 6  # a test that takes so much longer hangs
KILLED, SURVIVED, SAME, REFUSED = 'killed', 'survived', 'same', 'refused'


def run(command, directory, **options):
    options = {'stdout': subprocess.PIPE, 'stderr': subprocess.STDOUT, **options}
    return subprocess.run(command, cwd=directory, check=False, text=True, errors='replace',
                          stdin=subprocess.DEVNULL, **options)


def git(top, *arguments):
    done = run(['git', '-C', top, *arguments], top)
    if done.returncode:
        raise SystemExit(f'mutate: git {" ".join(arguments)}: {done.stdout.strip()}')
    return done.stdout.splitlines()


def digest(data):
    return hashlib.sha1(data).hexdigest()[:16]


class Copy:
    """A copy of the tree, built in its own directory."""

    def __init__(self, top, directory):
        self.top, self.source = top, os.path.join(directory, 'tree')
        self.build = os.path.join(self.source, 'build')
        self.take_over()
        if not os.path.exists(os.path.join(self.build, 'Makefile')):
            os.makedirs(self.build, exist_ok=True)
            self.must([os.path.join(self.source, 'autogen.sh')], self.source)
            self.must(['../configure', '-q', f'CFLAGS={CFLAGS}', 'LDFLAGS=-fuse-ld=gold'],
                      self.build)

    def take_over(self):
        """Only what differs is written, so that make does not build the rest again."""
        for name in git(self.top, 'ls-files', '-co', '--exclude-standard'):
            old, new = os.path.join(self.source, name), os.path.join(self.top, name)
            if os.path.isfile(new) and not self.equal(old, new):
                os.makedirs(os.path.dirname(old), exist_ok=True)
                shutil.copy(new, old)
                os.utime(old)

    @staticmethod
    def equal(old, new):
        try:
            with open(old, 'rb') as one, open(new, 'rb') as other:
                return one.read() == other.read()
        except FileNotFoundError:
            return False

    def must(self, command, directory):
        done = run(command, directory)
        if done.returncode:
            raise SystemExit(f'mutate: {" ".join(command)}:\n{done.stdout[-3000:]}')
        return done.stdout

    def make(self, *targets, jobs=1):
        return run(['make', '-s', f'-j{jobs}', *targets], self.build)

    def read(self, name):
        with open(os.path.join(self.build, name), 'rb') as file:
            return file.read()

    def write(self, path, text):
        with open(os.path.join(self.source, path), 'w', encoding='utf-8') as file:
            file.write(text)

    def test(self, name, seconds):
        """Whether the test passes in time."""
        environment = {**os.environ, 'G_DEBUG': 'fatal-criticals', 'G_SLICE': 'always-malloc',
                       'CK_TIMEOUT_MULTIPLIER': '10', 'top_srcdir': self.source,
                       'top_builddir': self.build, 'MALLOC_PERTURB_': '165'}

        def limits():
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        command = ['timeout', '-k', '1', f'{seconds:.0f}', name]
        return run(command, self.build, env=environment, preexec_fn=limits,
                   stdout=subprocess.DEVNULL).returncode == 0


def compiler_arguments(copy, path):
    """-I, -D and -std of the command that make compiles the file with."""
    target = path[:-2] + '.o'
    shown = copy.must(['make', '-n', 'V=1', '-W', f'../{path}', target], copy.build)
    lines = shown.replace('\\\n', ' ').splitlines()
    words = next((shlex.split(line) for line in lines if ' -c ' in line and target in line), [])
    return [re.sub(r'^-I(?!/)', f'-I{copy.build}/', word) for word in words
            if re.match(r'-[ID]|-std', word)]


def symbols(copy, name):
    text = copy.must(['nm', '-P', '--defined-only', name], copy.build)
    return {line.split()[0] for line in text.splitlines() if ' T ' in line or ' D ' in line or
            ' R ' in line}


class Campaign:
    def __init__(self, options, top, work, paths):
        self.options, self.top = options, top
        self.results_path = os.path.join(work, 'results')
        self.results = self.load()
        self.lock = threading.Lock()
        self.kills = defaultdict(Counter)
        jobs = options.jobs
        self.copies = [Copy(top, os.path.join(work, str(n))) for n in range(jobs)]
        self.free = Queue()
        first = self.copies[0]
        listed = first.must(['make', '-s', 'print-tests'], first.build).split()
        tests = [name for name in listed if TESTS.match(name) and not LEFT_OUT.match(name)]
        for copy in self.copies:
            copy.must(['make', '-s', f'-j{jobs}', 'all', *tests], copy.build)
            self.free.put(copy)
        own = set().union(*(symbols(first, path[:-2] + '.o') for path in paths))
        self.symbols = {name: symbols(first, name) for name in tests}
        self.seconds = self.time_tests(first, [name for name in tests if own & self.symbols[name]])

    def load(self):
        if not os.path.exists(self.results_path):
            return {}
        with open(self.results_path, encoding='utf-8') as lines:
            return dict(json.loads(line) for line in lines)

    @staticmethod
    def time_tests(copy, tests):
        seconds = {}
        for name in tests:
            begin = time.monotonic()
            if copy.test(name, 300):
                seconds[name] = time.monotonic() - begin
            else:
                print(f'left out, as it fails without a mutant: {name}', flush=True)
        return seconds

    def tests_of(self, path):
        """The tests that link the file, what kills most in a second first."""
        own = symbols(self.copies[0], path[:-2] + '.o')
        directory = os.path.dirname(path)

        def worth(name):
            kills = 3 * self.kills[path][name] + self.kills[directory][name] + 0.1
            return -kills / (self.seconds[name] + 0.3)
        return sorted((name for name in self.seconds if own & self.symbols[name]), key=worth)

    def judge(self, copy, mutant, text, original, tests):
        """What became of the mutant, and the test that killed it."""
        target = mutant.path[:-2] + '.o'
        copy.write(mutant.path, operators.apply(text, mutant))
        if copy.make(target).returncode:
            return REFUSED, ''
        if copy.read(target) == original:
            return SAME, ''
        for name in tests:
            if copy.make(name).returncode:
                return REFUSED, ''
            if not copy.test(name, GRACE_S + SLOWER * self.seconds[name]):
                return KILLED, name
        return SURVIVED, ''

    def try_one(self, mutant, file):
        copy = self.free.get()
        try:
            with self.lock:
                tests = self.tests_of(mutant.path)
            verdict, test = self.judge(copy, mutant, file.text, file.original, tests)
        finally:
            copy.write(mutant.path, file.text)
            self.free.put(copy)
        with self.lock:
            if test:
                self.kills[mutant.path][test] += 1
                self.kills[mutant.directory][test] += 1
            self.note(file.key(mutant), verdict, test)
            print(f'{verdict} {mutant.path}:{mutant.line} {test}', flush=True)

    def note(self, key, verdict, test):
        self.results[key] = (verdict, test)
        with open(self.results_path, 'a', encoding='utf-8') as lines:
            print(json.dumps([key, [verdict, test]]), file=lines)


class File:
    """A source file, what it compiles to, and its mutants."""

    def __init__(self, campaign, path):
        copy = campaign.copies[0]
        with open(os.path.join(campaign.top, path), encoding='utf-8') as source:
            self.text = source.read()
        self.hash = digest(self.text.encode())
        self.original = copy.read(path[:-2] + '.o')
        where = os.path.join(copy.source, path)
        self.mutants = operators.mutants_of(where, compiler_arguments(copy, path), path)

    def key(self, mutant):
        return f'{mutant.path} {self.hash} {mutant.start} {mutant.end} {mutant.new.strip()}'


def chosen(options, top):
    """Functions ('': all) by path."""
    names = options.places
    if not names:
        base = git(top, 'merge-base', 'HEAD', options.base)[0]
        changed = git(top, 'diff', '--name-only', '--diff-filter=d', base)
        names = [name for name in changed if os.path.dirname(name) in DIRECTORIES]
    functions = defaultdict(set)
    for name in names:
        path, _, function = name.partition(':')
        inside = [path]
        if os.path.isdir(os.path.join(top, path)):
            inside = [f'{path.rstrip("/")}/{entry}' for entry in
                      sorted(os.listdir(os.path.join(top, path)))]
        for file in inside:
            if file.endswith('.c'):
                functions[file].add(function)
    return functions


def sample(mutants, options):
    """As many of each directory."""
    if not options.sample:
        return mutants
    groups = defaultdict(list)
    for mutant in mutants:
        groups[mutant.directory].append(mutant)
    each = -(-options.sample // len(groups)) if groups else 0
    chance = random.Random(options.seed)
    return [mutant for name in sorted(groups)
            for mutant in chance.sample(groups[name], min(each, len(groups[name])))]


def report(mutants, outcome, least):
    """Prints survivors and the score of each directory; whether all reach the least."""
    for mutant in mutants:
        if outcome[mutant] == SURVIVED:
            print(f'\nsurvived: {mutant.path}:{mutant.line}\n' + accepted.form(mutant), end='')
    print(f'\n{"directory":<16}{"killed":>8}{"survived":>10}{"score":>8}')
    enough = True
    for directory in sorted({mutant.directory for mutant in mutants}):
        count = Counter(outcome[mutant] for mutant in mutants if mutant.directory == directory)
        total = count[KILLED] + count[SURVIVED]
        score = 100 * count[KILLED] / total if total else 100
        enough = enough and score >= least
        print(f'{directory:<16}{count[KILLED]:>8}{count[SURVIVED]:>10}{score:>7.1f}%')
    return enough


def parse():
    parser = argparse.ArgumentParser(description='Do the tests notice mutants of the sources?')
    parser.add_argument('--sample', type=int, default=0, help='so many at random; 0: all')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--jobs', type=int, default=os.cpu_count() or 1)
    parser.add_argument('--again', action='store_true', help='try survivors of before again')
    parser.add_argument('--base', default='main')
    parser.add_argument('--least', type=float, default=90, help='per cent')
    parser.add_argument('places', nargs='*')
    return parser.parse_args()


def main():
    options, top = parse(), os.path.abspath(os.environ.get('top_srcdir', '.'))
    entries = accepted.load(os.path.join(top, 'tests/mutate/survivors'))
    functions = chosen(options, top)
    paths = list(functions)
    if not paths:
        print('nothing to mutate: no file named, and none differs from', options.base)
        return 0
    campaign = Campaign(options, top, os.path.abspath('mutate'), paths)
    files = {path: File(campaign, path) for path in paths}
    found = [mutant for path in paths for mutant in files[path].mutants]
    stale = accepted.stale(entries, found, paths)
    wanted = sample([mutant for mutant in found
                     if functions[mutant.path] & {'', mutant.function} and
                     not entries.get(mutant.name, '').startswith(accepted.EQUIVALENT)], options)
    outcome = {mutant: SURVIVED for mutant in wanted if mutant.name in entries}

    def known(mutant):
        verdict = campaign.results.get(files[mutant.path].key(mutant), (None,))[0]
        return verdict and not (options.again and verdict == SURVIVED)
    todo = [mutant for mutant in wanted if mutant not in outcome and not known(mutant)]
    print(f'{len(wanted)} of {len(found)} mutants, {len(todo)} to try', flush=True)
    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(lambda mutant: campaign.try_one(mutant, files[mutant.path]), todo))
    for mutant in wanted:
        outcome.setdefault(mutant, campaign.results[files[mutant.path].key(mutant)][0])
    enough = report(wanted, outcome, options.least)
    for name in stale:
        print('accepted as a survivor, but no longer there:\n' + accepted.form_name(name), end='')
    return 0 if enough and not stale else 1


if __name__ == '__main__':
    sys.exit(main())
