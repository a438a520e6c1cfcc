#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Builds and tests this tree with compilers and libraries of other distributions.

usage: distributions.py [--keep DIRECTORY] [--tests PATTERN] [ROW...]        ("make distributions")

Each row is a root made by mmdebstrap, in which a copy of the tree is configured with warnings as
errors and built, and the tests run whose names match the extended regular expression; of a foreign
architecture there are only libraries in the root, and programs run under qemu. Debian has no other
libraries for musl: its compiler makes the objects of the product here, and no program is linked. At
the end: a table with a line for each row. --keep leaves roots and logs in the directory, and uses
the roots that are there already.

Needs root, the network for mmdebstrap, and Debian's mmdebstrap, gcc-s390x-linux-gnu,
libc6-dev-s390x-cross, qemu-user-static and musl-tools."""

import argparse
import collections
import glob
import os
import re
import shlex
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True

import package  # noqa: E402 (after the switch above: the source tree may be read-only)

MIRROR = os.environ.get('MIRROR', 'http://deb.debian.org/debian')
TOOLS = 'automake autoconf make gcc pkg-config lld clang libclang-rt-dev python3'.split()
LIBRARIES = ('libc6-dev libglib2.0-dev libibumad-dev libibverbs-dev libjson-glib-dev libedit-dev '
             'libsystemd-dev check libibmad-dev').split()
# Tests that depend on time or on the machine's other programs are left to "make check".
TESTS = r'^tests/(unit|golden|scenario)/test_[^.]*$'
WIRE_TESTS = r'^tests/(golden/test_[^.]*|unit/test_(iba.*|seeds|topology|vendor))$'
EMULATED_SECONDS = 3600  # of a program: some stories are long
JOBS = os.cpu_count() or 2
CONFIGURE = ('./autogen.sh && mkdir build && cd build && ../configure -q --enable-werror'
             ' CFLAGS="-g0 -O1"')
IN_ROOT = 'mount -t proc proc "$1/proc" && exec chroot "$@"'
ENVIRONMENT = {'LC_ALL': 'C.UTF-8', 'PATH': '/usr/sbin:/usr/bin:/sbin:/bin', 'CK_FORK': 'no'}

# A line of the table: numbers of programs of tests, and of cases in them.
COLUMNS = ('row', 'compiler', 'GLib', 'built', 'passed', 'failed', 'skipped', 'cases', 'bad cases')
Tally = collections.namedtuple('Tally', 'passed failed skipped cases bad', defaults=('-',) * 5)


class Row:
    """A distribution, an architecture and a compiler."""

    def __init__(self, suite, architecture, compiler, prefix=None, qemu=None):
        self.suite, self.architecture, self.compiler = suite, architecture, compiler
        self.prefix, self.qemu = prefix, qemu  # of a foreign architecture
        self.name = f'{suite}-{architecture}-{compiler}'
        self.root = f'{suite}-{architecture}'
        self.in_root = not prefix and compiler != 'musl-gcc'
        self.tests = WIRE_TESTS if prefix else TESTS

    def needed(self):
        if self.prefix:
            return ['mmdebstrap', f'{self.prefix}-gcc', self.qemu]
        return ['mmdebstrap', 'chroot', 'unshare'] if self.in_root else [self.compiler]


ROWS = [
    Row('bookworm', 'amd64', 'gcc'),
    Row('trixie', 'amd64', 'gcc'),
    Row('trixie', 'amd64', 'clang'),
    Row('bookworm', 'i386', 'gcc'),
    Row('bookworm', 's390x', 'gcc', 's390x-linux-gnu', 'qemu-s390x-static'),
]
MUSL = Row('musl', 'amd64', 'musl-gcc')
# Headers of this host that musl comes without; none of them is glibc's.
MUSL_HEADERS = 'linux asm-generic infiniband rdma histedit.h systemd'.split()


class Bench:
    """The directory of all roots, and commands in one."""

    def __init__(self, directory, pattern):
        self.directory, self.pattern = directory, pattern

    def at(self, *names):
        return os.path.join(self.directory, *names)

    def run(self, row, what, argv, **more):
        """Whether a program succeeds, and its output, which goes to the row's log."""
        code, said = package.run(*argv, env={**ENVIRONMENT, **more})
        with open(self.at(row.name + '.log'), 'a') as log:
            log.write(f'== {what}\n{said}\n')
        return code == 0, said

    def make_root(self, row):
        root = self.at(row.root)
        if os.path.isdir(root):
            return True
        packages = LIBRARIES if row.prefix else LIBRARIES + TOOLS
        good, _ = self.run(row, 'root', [
            'mmdebstrap', '--skip=check/qemu', f'--architectures={row.architecture}',
            f'--variant={"extract" if row.prefix else "apt"}', f'--include={",".join(packages)}',
            row.suite, root, MIRROR])
        if not good:
            shutil.rmtree(root, ignore_errors=True)
        return good

    def shell(self, row, what, script, **more):
        """run() of a script in the copy of the tree; for a native architecture, inside the root."""
        directory = self.source(row)
        argv = ['nice', 'sh', '-c', f'cd {shlex.quote(directory)} && {script}']
        if row.in_root:
            argv = ['unshare', '--mount', 'sh', '-c', IN_ROOT, 'sh', self.at(row.root)] + argv
        return self.run(row, what, argv, **more)

    def source(self, row):
        return f'/source-{row.compiler}' if row.in_root else self.at(row.name + '-source')

    def copy(self, row):
        source = self.source(row)
        path = self.at(row.root) + source if row.in_root else source
        shutil.rmtree(path, ignore_errors=True)
        package.copy_tree(path)
        return os.path.join(path, 'build')

    def libraries(self, row):
        """Where pkg-config finds the libraries of a root of a foreign architecture."""
        root = self.at(row.root)
        return {'PKG_CONFIG_SYSROOT_DIR': root, 'PKG_CONFIG_LIBDIR':
                f'{root}/usr/lib/{row.prefix}/pkgconfig:{root}/usr/share/pkgconfig'
                } if row.prefix else {}

    def versions(self, row):
        """Versions of the compiler and of GLib."""
        compiler = f'{row.prefix}-gcc' if row.prefix else row.compiler
        ask_glib = 'echo "headers only"' if row == MUSL else 'pkg-config --modversion glib-2.0'
        good, said = self.shell(row, 'versions', f'{compiler} -dumpfullversion -dumpversion && '
                                f'{ask_glib}', **self.libraries(row))
        compiler_is, glib_is = said.splitlines()[-2:] if good else '??'
        return f'{row.compiler} {compiler_is}', glib_is

    def configure(self, row):
        """--enable-werror, for the libraries of the root."""
        flags = f'CC={row.compiler} LDFLAGS=-fuse-ld=lld'
        if row.prefix:
            compiler = f'{row.prefix}-gcc --sysroot={self.at(row.root)}'
            flags = f'--host={row.prefix} CC={shlex.quote(compiler)}'
        return self.shell(row, 'configure', f'{CONFIGURE} {flags}', **self.libraries(row))[0]

    def make(self, row):
        return self.shell(row, 'make', f'make -C build -k -j{JOBS} all')[0]

    def make_objects(self, row):
        """The product's objects, by musl's compiler."""
        headers = self.at('musl-headers')
        shutil.rmtree(headers, ignore_errors=True)
        os.makedirs(headers)
        for name in MUSL_HEADERS:
            os.symlink(os.path.join('/usr/include', name), os.path.join(headers, name))
        os.symlink(f'/usr/include/{os.uname().machine}-linux-gnu/asm', os.path.join(headers, 'asm'))
        compiler = shlex.quote(f'{row.compiler} -isystem {headers}')
        return self.shell(row, 'make', f'{CONFIGURE} --disable-tests CC={compiler} && '
                          f'make -k -j{JOBS} ' r"$(sed -n 's/^\(lib[a-z]*\.a\):.*/\1/p' Makefile)"
                          )[0]

    def check(self, row):
        """Builds and runs the programs that the pattern names, whatever else fails; returns whether
        all are well, and how many were named."""
        said = self.shell(row, 'tests', 'make -s --no-print-directory -C build print-tests')[1]
        names = [name for name in said.split() if re.search(self.pattern or row.tests, name)]
        tests, runner = ' '.join(names), ''
        if row.prefix:
            emulator = f'timeout -k 10 {EMULATED_SECONDS} {row.qemu} -L {self.at(row.root)}'
            runner = f'LOG_COMPILER={shlex.quote(emulator)} AM_LOG_FLAGS='
        built, _ = self.shell(row, 'make tests', f'make -C build -k -j{JOBS} {tests}')
        passed, _ = self.shell(row, 'check', f'cd build && make -k -j{JOBS} check '
                               f'TESTS="$(echo $(ls {tests}))" check_PROGRAMS= {runner}')
        return built and passed, len(names)


def tally(build, n_programs):
    """Results of the test programs in a build directory; one that was not built has failed."""
    results, cases = {}, [0, 0]
    for path in glob.glob(os.path.join(build, 'tests/**/*.trs'), recursive=True):
        with open(path) as file:
            results[path] = re.search(r':test-result: (\w+)', file.read())[1]
        with open(path[:-len('trs')] + 'log', errors='replace') as file:
            for n, failures, errors in re.findall(
                    r'Checks: (\d+), Failures: (\d+), Errors: (\d+)', file.read()):
                cases[0] += int(n)
                cases[1] += int(failures) + int(errors)
    passed = sum(result == 'PASS' for result in results.values())
    skipped = sum(result == 'SKIP' for result in results.values())
    return Tally(passed, n_programs - passed - skipped, skipped, *cases)


def try_row(bench, row):
    """Whether a row is good, and its line of the table."""
    versions, figures = ('-', '-'), Tally()

    def line(good, built):
        return good, (row.name, *versions, built, *figures)

    why = package.missing(row.needed())
    if why:
        return line(False, why)
    if row != MUSL and not bench.make_root(row):
        return line(False, 'no root')
    build = bench.copy(row)
    versions = bench.versions(row)
    if row == MUSL:
        good = bench.make_objects(row)
        n = len(glob.glob(os.path.join(build, '**/*.o'), recursive=True))
        return line(good, f'{n} objects' if good else 'no')
    if not bench.configure(row):
        return line(False, 'not configured')
    if not bench.make(row):
        return line(False, 'no')
    good, n_programs = bench.check(row)
    figures = tally(build, n_programs)
    return line(good and figures.passed > 0, 'yes')


def print_table(lines):
    lines = [[str(cell) for cell in line] for line in [COLUMNS, *lines]]
    widths = [max(map(len, column)) for column in zip(*lines)]
    for line in lines:
        print('  '.join(map(str.ljust, line, widths)).rstrip())


def main():
    parser = argparse.ArgumentParser(description='see the head of this file')
    parser.add_argument('--keep')
    parser.add_argument('--tests')
    parser.add_argument('rows', nargs='*')
    arguments = parser.parse_args()
    names = [row.name for row in [*ROWS, MUSL]]
    unknown = set(arguments.rows) - set(names)
    if unknown or os.getuid() != 0:
        print('distributions: ' + (f'no row {", ".join(sorted(unknown))}; rows: {", ".join(names)}'
                                   if unknown else 'only root can do this'), file=sys.stderr)
        return 2
    directory = os.path.abspath(arguments.keep or tempfile.mkdtemp(prefix='opensm-distributions.'))
    os.makedirs(directory, exist_ok=True)
    bench, table, failed = Bench(directory, arguments.tests), [], 0
    for row in [*ROWS, MUSL]:
        if not arguments.rows or row.name in arguments.rows:
            print(f'== {row.name}', flush=True)
            good, line = try_row(bench, row)
            failed += not good
            table.append(line)
            print('PASS' if good else 'FAIL', *line, flush=True)
    print_table(table)
    print(f'{len(table) - failed} passed, {failed} failed')
    if not arguments.keep and not failed:
        shutil.rmtree(directory)
    else:
        print(f'roots and logs: {directory}')
    return 1 if failed or not table else 0


if __name__ == '__main__':
    sys.exit(main())
