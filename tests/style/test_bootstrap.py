#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Tests of ./bootstrap where no package is installed, and of the sums that it closes with."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

import suite  # noqa: E402

TOP = os.environ.get('top_srcdir', '.')
TOOLS = ('bash', 'cat', 'dirname', 'nproc', 'readlink')


class Arguments(unittest.TestCase):
    def run_bootstrap(self, *arguments, **environment):
        return subprocess.run([os.path.join(TOP, 'bootstrap'), *arguments], text=True,
                              capture_output=True, stdin=subprocess.DEVNULL,
                              env={**os.environ, **environment})

    def test_help(self):
        result = self.run_bootstrap('help')
        self.assertEqual((result.returncode, result.stderr), (0, ''))
        self.assertIn('./bootstrap run', result.stdout)

    def test_usage_errors(self):
        for arguments in ([], ['nonsense'], ['run', 'check'], ['']):
            result = self.run_bootstrap(*arguments)
            self.assertEqual((result.returncode, result.stdout), (2, ''), arguments)
            self.assertIn('usage: ', result.stderr)

    def stubs(self, **scripts):
        """A PATH with a few tools and these scripts alone."""
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        for tool in TOOLS:
            os.symlink(shutil.which(tool), os.path.join(directory.name, tool))
        for name, text in scripts.items():
            path = os.path.join(directory.name, name.replace('_', '-'))
            with open(path, 'w', encoding='utf-8') as stream:
                stream.write('#!/bin/bash\n' + text)
            os.chmod(path, 0o755)
        return directory.name

    def test_names_what_it_may_not_install(self):
        path = self.stubs(dpkg_query='[ "$4" != gcc ] && [ "$4" != make ] && echo "installed "',
                          id='echo 1000', apt_get='echo called >&2')
        for command in ('run', 'check'):
            result = self.run_bootstrap(command, PATH=path)
            self.assertEqual(result.returncode, 1)
            self.assertRegex(result.stderr, r'install these packages.*: make gcc *\n')
            self.assertNotIn('called', result.stderr)

    def test_a_package_dpkg_only_heard_of_is_missing(self):
        path = self.stubs(
            dpkg_query='case $4 in make) echo "not-installed ";; gcc) echo "half-installed ";;'
                       ' automake) echo "config-files ";; *) echo "installed ";; esac',
            id='echo 1000', apt_get='')
        result = self.run_bootstrap('run', PATH=path)
        self.assertRegex(result.stderr, r'install these packages.*: automake make gcc *\n')

    def test_a_package_of_two_architectures_is_there_once(self):
        path = self.stubs(dpkg_query='[ "$4" != gcc ] && echo "installed "; '
                                     '[ "$4" != make ] || echo "not-installed "',
                          id='echo 1000', apt_get='')
        result = self.run_bootstrap('run', PATH=path)
        self.assertRegex(result.stderr, r'install these packages.*: gcc *\n')

    def test_names_packages_where_there_is_no_apt(self):
        result = self.run_bootstrap('run', PATH=self.stubs(id='echo 0'))
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, 'not a Debian system; .*automake autoconf make gcc')

    def test_installs_without_starting_services(self):
        path = self.stubs(
            dpkg_query='[ "$4" != gcc ] && echo "installed "', id='echo 0', rm='exit 0',
            tee='cat >&2', chmod='exit 0', env='echo "env $*"; exit 100', apt_get='echo "apt $*"')
        result = self.run_bootstrap('run', PATH=path)
        self.assertEqual(result.returncode, 1)
        self.assertIn('apt update', result.stdout)
        self.assertIn('env DEBIAN_FRONTEND=noninteractive apt-get install -y -q '
                      '--no-install-recommends gcc\n', result.stdout)
        self.assertIn('apt-get failed', result.stderr)
        if not os.path.exists('/usr/sbin/policy-rc.d'):
            self.assertIn('exit 101', result.stderr)


class Tally(unittest.TestCase):
    def tally(self, **tests):
        """What tally.awk makes of tests given as name=(verdict or None, log)."""
        with tempfile.TemporaryDirectory() as directory:
            for name, (verdict, log) in tests.items():
                base = os.path.join(directory, name)
                if verdict:
                    with open(base + '.trs', 'w', encoding='utf-8') as stream:
                        stream.write(f':test-result: {verdict}\n:recheck: no\n')
                with open(base + '.log', 'w', encoding='utf-8') as stream:
                    stream.write(log)
            result = subprocess.run(
                ['awk', '-v', 'dir=' + directory, '-f', os.path.join(TOP, 'tests/tally.awk')],
                input='\n'.join(tests) + '\n', text=True, capture_output=True, check=True)
            return result.stdout.strip(), result.stderr

    def assert_tally(self, figures, **tests):
        self.assertEqual(self.tally(**tests)[0], figures)

    def test_libcheck(self):
        self.assert_tally('12 passed, 0 failed, 0 skipped',
                          a=('PASS', '100%: Checks: 12, Failures: 0, Errors: 0\n'))
        self.assert_tally('15 passed, 3 failed, 0 skipped', a=(
            'FAIL', '80%: Checks: 10, Failures: 1, Errors: 1\n87%: Checks: 8, Failures: 1, '
            'Errors: 0\n'))

    def test_scripts(self):
        self.assert_tally('7 passed, 0 failed, 2 skipped',
                          a=('PASS', 'x\n3 passed, 0 failed\n7 passed, 0 failed, 2 skipped\n'))
        self.assert_tally('4 passed, 2 failed, 0 skipped', a=('FAIL', '4 passed, 2 failed\n'))

    def test_others_count_one(self):
        self.assert_tally('1 passed, 1 failed, 1 skipped',
                          a=('PASS', ''), b=('FAIL', ''), c=('SKIP', 'no ibsim\n'))

    def test_verdict_stands_above_the_log(self):
        good = '100%: Checks: 3, Failures: 0, Errors: 0\n'
        self.assert_tally('3 passed, 1 failed, 0 skipped', a=('FAIL', good))
        self.assert_tally('3 passed, 1 failed, 0 skipped', a=('ERROR', good))
        self.assert_tally('0 passed, 1 failed, 0 skipped', a=(None, good))

    def test_tells_why(self):
        log = '==1==ERROR: AddressSanitizer: heap\n' + 'shadow\n' * 60
        told = self.tally(a=('FAIL', 'before\n' * 50 + log), b=('SKIP', 'needs root\n'))[1]
        self.assertIn('AddressSanitizer: heap', told)
        self.assertIn('needs root', told)
        self.assertNotIn('before', told)


if __name__ == '__main__':
    sys.exit(suite.run())
