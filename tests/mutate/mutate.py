#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Makes small wrong changes to the sources, one at a time, and sees whether some test fails.

usage: mutate.py [--sample N] [--seed S] [--jobs N] [--again] [--base REVISION] [PLACE...]

A place is FILE, FILE:FUNCTION, DIRECTORY or DIRECTORY:FUNCTION, from the top of the tree; without
any, it is the files of opensm/{sm,sa,mad} that differ from REVISION. All mutants of a run are in
one build of a copy of the tree in ./mutate, where the environment says which of them is active
(switch.h). Each test function of the programs of "make check" that link the files runs once by
itself to see how long it takes and which places it reaches; then each mutant meets those that reach
it, those first that have killed most in the least time, themselves or the functions of their
program on average, now and in earlier runs, or were changed together with the file, until one fails
or --budget is used up: then it has survived. Test functions that an earlier run found longer than
--longest do not count. So the score is a lower bound. Results
stay in ./mutate and are not computed again as long as the file does not change (--again: survivors
meet the tests again). A mutant that gives the same object does not count. Survivors that
tests/mutate/survivors accepts as equivalent do not count, others there do. Fails if a directory has
a lower share of killed mutants than --least."""

import argparse
import functools
import hashlib
import json
import os
import random
import re
import resource
import shlex
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor

import accepted
import operators

DIRECTORIES = ('opensm/sm', 'opensm/sa', 'opensm/mad')
TESTS = re.compile(r'tests/(unit|scenario|fuzz|golden)/[a-z0-9_]+$')
# Random tests kill at random: faults from seeds, and threads in real time. The routes make long
# tests, which are for the code that computes them.
LEFT_OUT = re.compile(r'tests/scenario/(seeds|test_threads)$|'
                      r'tests/unit/test_(route_property|route_repair|preload)$')
CFLAGS = '-O1 -w'
MEMORY = 2 << 30
# A test hangs if it takes this much longer, in seconds of its own and of the clock.
GRACE_S, SLOWER, GRACE_WALL_S, SLOWER_WALL = 2, 5, 20, 20
WIDE = 20  # files in a commit that says nothing about one in particular
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


def changed_together(top):
    """By (file, file of tests without '.c'): of the commits that changed the tests, the share that
    changed the file as well. So it is known which tests are about a file, whatever their names."""
    done = run(['git', '-C', top, 'log', '--format=%x00', '--name-only'], top)
    both, alone = Counter(), Counter()
    for commit in done.stdout.split('\0') if not done.returncode else ():
        names = [name[:-2] for name in commit.split() if name.endswith('.c')]
        if len(names) > WIDE:
            continue
        tests = [name for name in names if TESTS.match(name)]
        alone.update(tests)
        both.update((f'{name}.c', test) for name in names for test in tests)
    return {pair: n / alone[pair[1]] for pair, n in both.items()}


def digest(data):
    return hashlib.sha1(data).hexdigest()[:16]


class Copy:
    """A copy of the tree, built in its own directory."""

    def __init__(self, top, directory):
        self.top, self.source = top, os.path.join(directory, 'tree')
        self.build = os.path.join(self.source, 'build')
        self.files = {}  # by test function, the file that it is in, without '.c'

    def take_over(self, texts, kept=()):
        """Copies the tree, with these texts by path, and leaves kept files as they are. Only what
        differs is written, so that make does not build the rest again."""
        for name in git(self.top, 'ls-files', '-co', '--exclude-standard'):
            path = os.path.join(self.top, name)
            if name not in texts and name not in kept and os.path.isfile(path):
                with open(path, 'rb') as file:
                    self.write(name, file.read(), os.stat(path).st_mode)
        for name, text in texts.items():
            self.write(name, text.encode(), 0o644)

    def write(self, name, data, mode):
        path = os.path.join(self.source, name)
        if os.path.isfile(path):
            with open(path, 'rb') as file:
                if file.read() == data:
                    return
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'wb') as file:
            file.write(data)
        os.chmod(path, mode)

    def configure(self):
        os.makedirs(self.build, exist_ok=True)
        switch = os.path.join(self.source, 'tests/mutate/switch')
        self.must(['cc', '-O1', '-fPIC', '-c', '-o', f'{self.build}/switch.o', f'{switch}.c'],
                  self.build)
        self.must([os.path.join(self.source, 'autogen.sh')], self.source)
        self.must(['../configure', '-q', f'CFLAGS={CFLAGS} -include {switch}.h',
                   f'LDFLAGS={self.build}/switch.o -fuse-ld=gold -Wl,--wrap=_tcase_add_test'],
                  self.build)

    def must(self, command, directory):
        done = run(command, directory)
        if done.returncode:
            raise SystemExit(f'mutate: {" ".join(command)}:\n{done.stdout[-3000:]}')
        return done.stdout

    def make(self, *targets, jobs=1):
        return run(['make', '-s', f'-j{jobs}', *targets], self.build)

    def test(self, name, function, usual=None, **variables):
        """Whether the test passes in the usual seconds or a bit more, and seconds of CPU and of
        the clock."""
        environment = {**os.environ, 'G_DEBUG': 'fatal-criticals', 'G_SLICE': 'always-malloc',
                       'CK_TIMEOUT_MULTIPLIER': '10', 'top_srcdir': self.source,
                       'top_builddir': self.build, 'MALLOC_PERTURB_': '165', **variables}
        if function:
            environment['MUTANT_TEST'] = function
        usual_cpu, usual_wall = usual or (100, 15)

        def limits():
            cpu = int(GRACE_S + SLOWER * usual_cpu)
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))
        wall = GRACE_WALL_S + SLOWER_WALL * usual_wall
        begin = time.monotonic()
        child = subprocess.Popen(['timeout', '-k', '1', f'{wall:.0f}', name], cwd=self.build,
                                 env=environment, preexec_fn=limits, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = status
        return status == 0, usage.ru_utime + usage.ru_stime, time.monotonic() - begin

    def functions(self, name):
        """The test functions of a program; [''] if it has none but is one test as a whole."""
        environment = {**os.environ, 'MUTANT_TEST': '', 'top_srcdir': self.source,
                       'top_builddir': self.build}
        shown = run([name], self.build, env=environment).stdout
        found = re.findall(r'^test function: (\S+) (?:\S*?/)?(tests/\S+)\.c$', shown, re.M)
        self.files.update({(name, function): file for function, file in found})
        return list(dict(found)) or ['']

    def file(self, test):
        """The file of a test function; of a program without any, the one that it is named for."""
        return self.files.get(test, test[0])


@functools.lru_cache(None)
def compiler_arguments(copy, directory):
    """-I, -D and -std of the command that make compiles files of the directory with."""
    path = next(name for name in sorted(os.listdir(os.path.join(copy.top, directory)))
                if name.endswith('.c'))
    target = f'{directory}/{path[:-2]}.o'
    shown = copy.must(['make', '-n', 'V=1', '-W', f'../{directory}/{path}', target], copy.build)
    lines = shown.replace('\\\n', ' ').splitlines()
    words = next((shlex.split(line) for line in lines if ' -c ' in line and target in line), [])
    return [re.sub(r'^-I(?!/)', f'-I{copy.build}/', word) for word in words
            if re.match(r'-[ID]|-std', word)]


def symbols(copy, name):
    text = copy.must(['nm', '-P', '--defined-only', name], copy.build)
    return {line.split()[0] for line in text.splitlines() if ' T ' in line or ' D ' in line or
            ' R ' in line}


class File:
    """A source file, and its mutants."""

    def __init__(self, copy, path):
        self.copy, self.path = copy, path
        with open(os.path.join(copy.top, path), encoding='utf-8') as source:
            self.text = source.read()
        self.hash = digest(self.text.encode())
        self.arguments = compiler_arguments(copy, os.path.dirname(path))
        self.mutants = operators.mutants_of(os.path.join(copy.top, path), self.arguments, path)

    def key(self, mutant):
        return f'{mutant.path} {self.hash} {mutant.start} {mutant.end} {mutant.new.strip()}'

    def compiled(self, text):
        """The object that the text gives."""
        with tempfile.TemporaryDirectory() as directory:
            target = os.path.join(directory, 'out.o')
            done = subprocess.run(['cc', *self.arguments, '-O2', '-w', '-x', 'c', '-c', '-', '-o',
                                   target], input=text, text=True, cwd=self.copy.build,
                                  check=False, stderr=subprocess.DEVNULL)
            if done.returncode:
                return None
            with open(target, 'rb') as file:
                return file.read()

    def same(self, mutant):
        return self.compiled(operators.apply(self.text, mutant)) == self.compiled(self.text)


class Campaign:
    def __init__(self, options, copy, files, work):
        self.options, self.copy, self.files = options, copy, files
        self.results_path = os.path.join(work, 'results')
        self.seconds_path = os.path.join(work, 'seconds')
        self.results = self.load()
        self.lock = threading.Lock()
        self.kills = self.kills_before()
        self.together = changed_together(copy.top)
        self.usual = {}  # seconds of a test function, of CPU and of the clock
        self.n_functions = Counter()  # by program
        self.reaching = defaultdict(list)  # test functions by mutant
        self.tests = self.list_tests()
        self.cpu = self.octets = 0

    def load(self):
        if not os.path.exists(self.results_path):
            return {}
        with open(self.results_path, encoding='utf-8') as lines:
            return dict(json.loads(line) for line in lines)

    def kills_before(self):
        """By file, and by directory, how much each test has killed in earlier runs."""
        kills = defaultdict(Counter)
        for key, (verdict, test) in self.results.items():
            if verdict == KILLED:
                self.count_kill(kills, key.split()[0], tuple(test.split(' ')))
        return kills

    @staticmethod
    def count_kill(kills, path, test):
        for place in (path, os.path.dirname(path)):
            kills[place][test] += 1
            kills[place][test[0]] += 1  # for the program as a whole

    def in_parallel(self, function, things):
        with ThreadPoolExecutor(self.options.jobs) as pool:
            return list(pool.map(function, things))

    def build(self, mutants):
        """Builds the tests with the mutants in it, by number; those that the compiler refuses are
        removed."""
        numbered = {number: mutant for number, mutant in enumerate(mutants, 1)
                    if self.verdict(mutant) != REFUSED}
        self.octets = len(mutants) + 1
        while True:
            texts = {path: operators.woven(file.text, [(number, mutant) for number, mutant in
                                                       numbered.items() if mutant.path == path])
                     for path, file in self.files.items()}
            self.copy.take_over(texts)
            # "all" would make the same files in a separate make beside that of the tests.
            done = self.copy.make('-k', 'all-am', *self.tests, jobs=self.options.jobs)
            bad = self.refused(numbered, texts, done.stdout if done.returncode else '')
            if not bad and done.returncode:
                raise SystemExit(f'mutate: make:\n{done.stdout[-3000:]}')
            for number in bad:
                self.note(numbered.pop(number), REFUSED, '')
            if not bad:
                return numbered

    @staticmethod
    def refused(numbered, texts, said):
        """Mutants on lines that the compiler named, and those that partly overlap another one."""
        wrong = {(path, int(line)) for path, line in
                 re.findall(r'^\.\./(\S+?):(\d+):\d+: error', said, re.M)}
        return [number for number, mutant in numbered.items()
                if f'mutant_on({number})' not in texts[mutant.path] or
                any((mutant.path, line) in wrong for line in mutant.lines)]

    def list_tests(self):
        listed = self.copy.must(['make', '-s', 'print-tests'], self.copy.build).split()
        return [name for name in listed if TESTS.match(name) and not LEFT_OUT.match(name)]

    def linking(self):
        """The tests that link one of the files."""
        own = set().union(*(symbols(self.copy, path[:-2] + '.o') for path in self.files))
        return [name for name in self.tests if own & symbols(self.copy, name)]

    def try_without(self, test, numbered):
        """Records what the test function reaches."""
        with tempfile.NamedTemporaryFile() as reached:
            reached.truncate(self.octets)
            good, *seconds = self.copy.test(*test, MUTANT_REACHED=reached.name)
            octets = reached.read()
        with self.lock:
            self.cpu += seconds[0]
            if not good:
                print(f'left out, as it fails without a mutant: {" ".join(test)}', flush=True)
                return
            self.usual[test] = seconds
            for number, mutant in numbered.items():
                if octets[number]:
                    self.reaching[mutant].append(test)

    def tests_of(self, mutant):
        """The tests that reach it; first those that kill most in a second."""
        def worth(test):
            kills = 3 * self.kills[mutant.path][test] + self.kills[mutant.directory][test] + 0.1
            kills += self.kills[mutant.directory][test[0]] / self.n_functions[test[0]]
            file = self.copy.file(test)
            if module in file:
                kills += 1
            kills += 3 * self.together.get((mutant.path, file), 0)
            return -kills / (self.usual[test][0] + 0.02)
        module = os.path.basename(mutant.path)[:-2]
        return sorted(self.reaching[mutant], key=worth)

    def try_one(self, item):
        number, mutant = item
        with self.lock:
            tests = self.tests_of(mutant)
        spent = 0
        for test in tests:
            if spent + self.usual[test][0] > self.options.budget:
                continue
            good, cpu, _ = self.copy.test(*test, self.usual[test], MUTANT=str(number))
            spent += cpu
            with self.lock:
                self.cpu += cpu
            if not good:
                self.note(mutant, KILLED, ' '.join(test))
                with self.lock:
                    self.count_kill(self.kills, mutant.path, test)
                return
        same = self.files[mutant.path].same(mutant)
        self.note(mutant, SAME if same else SURVIVED,
                  f'{spent:.1f} s of tests' if tests else 'not reached')

    def known_seconds(self):
        """Processor time, by test, as measured by an earlier run."""
        if not os.path.exists(self.seconds_path):
            return {}
        with open(self.seconds_path, encoding='utf-8') as file:
            return json.load(file)

    def try_all_without(self, numbered):
        """The longest begin, and those that take too long are skipped."""
        before = self.known_seconds()

        def short(name, function=''):
            return before.get(f'{name} {function}', 0) <= self.options.longest
        programs = [name for name in self.linking() if short(name)]
        functions = self.in_parallel(self.copy.functions, programs)
        tests = [(name, function) for name, inside in zip(programs, functions)
                 for function in inside if short(name, function)]
        self.n_functions = Counter(name for name, _ in tests)
        tests.sort(key=lambda test: -before.get(' '.join(test), 0))
        self.in_parallel(lambda test: self.try_without(test, numbered), tests)
        with open(self.seconds_path, 'w', encoding='utf-8') as file:
            json.dump({**before, **{' '.join(test): cpu for test, (cpu, _) in self.usual.items()}},
                      file)
        return tests

    def run(self, mutants, todo):
        """Tries the remaining ones; the build has all, so that it need not change with them."""
        numbered = self.build(mutants)
        numbered = {number: mutant for number, mutant in numbered.items() if mutant in todo}
        tests = self.try_all_without(numbered)
        print(f'{len(tests)} test functions, {self.cpu:.0f} CPU seconds', flush=True)
        self.in_parallel(self.try_one, numbered.items())
        print(f'{self.cpu:.0f} CPU seconds of tests', flush=True)

    def note(self, mutant, verdict, test):
        with self.lock:
            self.results[self.files[mutant.path].key(mutant)] = (verdict, test)
            print(f'{verdict} {mutant.path}:{mutant.line} {test}', flush=True)
            with open(self.results_path, 'a', encoding='utf-8') as lines:
                key = self.files[mutant.path].key(mutant)
                print(json.dumps([key, [verdict, test]]), file=lines)

    def verdict(self, mutant):
        return self.results.get(self.files[mutant.path].key(mutant), (None,))[0]


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
    """The same number from each directory."""
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
    parser.add_argument('--budget', type=float, default=15,
                        help='CPU seconds of tests after which a mutant has survived')
    parser.add_argument('--longest', type=float, default=2.5,
                        help='CPU seconds of a test function that is too long')
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
    work = os.path.abspath('mutate')
    copy = Copy(top, work)
    if os.path.exists(os.path.join(copy.build, 'Makefile')):
        copy.take_over({}, paths)
    else:
        copy.take_over({})
        copy.configure()
    files = {path: File(copy, path) for path in paths}
    found = [mutant for path in paths for mutant in files[path].mutants]
    stale = accepted.stale(entries, found, paths)
    wanted = sample([mutant for mutant in found
                     if functions[mutant.path] & {'', mutant.function} and
                     not entries.get(mutant.name, '').startswith(accepted.EQUIVALENT)], options)
    outcome = {mutant: SURVIVED for mutant in wanted if mutant.name in entries}
    campaign = Campaign(options, copy, files, work)
    again = (None, SURVIVED) if options.again else (None,)
    todo = {mutant for mutant in wanted
            if mutant not in outcome and campaign.verdict(mutant) in again}
    print(f'{len(wanted)} of {len(found)} mutants, {len(todo)} to try', flush=True)
    if todo:
        campaign.run(wanted, todo)
    for mutant in wanted:
        outcome.setdefault(mutant, campaign.verdict(mutant))
    enough = report(wanted, outcome, options.least)
    for name in stale:
        print('accepted as a survivor, but no longer there:\n' + accepted.form_name(name), end='')
    return 0 if enough and not stale else 1


if __name__ == '__main__':
    sys.exit(main())
