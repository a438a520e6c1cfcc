#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Tests of ./bootstrap without any package installed, and of the sums that it prints at the end."""

import errno
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True

import suite  # noqa: E402

TOP = os.environ.get('top_srcdir', '.')
TOOLS = ('bash', 'cat', 'dirname', 'grep', 'nproc', 'readlink')


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
        """A PATH with only a few tools and these scripts."""
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

    def test_disables_services_that_it_installed(self):
        log = tempfile.NamedTemporaryFile('r')
        self.addCleanup(log.close)
        note = f'echo "$(basename $0) $*" >>{log.name}'
        for missing, disabled in (('prometheus', ['prometheus']), ('gcc', []),
                                  ('opensm|gcc|prometheus', ['opensm', 'prometheus'])):
            path = self.stubs(
                dpkg_query=f'case $4 in {missing}) ;; *) echo "installed ";; esac', id='echo 0',
                rm='', tee='cat >/dev/null', chmod='', env='exit 100', apt_get='',
                basename='echo "${1##*/}"', deb_systemd_helper=note, update_rc_d=note)
            os.rename(os.path.join(path, 'update-rc-d'), os.path.join(path, 'update-rc.d'))
            with open(log.name, 'w', encoding='utf-8'):
                pass
            result = self.run_bootstrap('check', PATH=path)
            self.assertIn('apt-get failed', result.stderr)
            log.seek(0)
            self.assertEqual(sorted(log.read().splitlines()), sorted(
                line for name in disabled
                for line in (f'deb-systemd-helper disable {name}.service',
                             f'update-rc.d {name} disable')), missing)

    def test_knows_the_services_of_its_packages(self):
        """Of the packages that are installed here."""
        with open(os.path.join(TOP, 'bootstrap'), encoding='utf-8') as stream:
            text = stream.read()
        packages = ' '.join(re.findall(r'^(?:BUILD|TEST)_PACKAGES="([^"]*)"', text, re.M)).split()
        known = re.search(r'^SERVICES="([^"]*)"', text, re.M)[1].split()
        for package in packages:
            files = subprocess.run(['dpkg', '-L', package], capture_output=True, text=True).stdout
            for service in re.findall(r'/etc/init\.d/(\S+)', files):
                units = (f'{package}:{service}.service', f'{package}:{service}.socket')
                self.assertTrue(set(units) & set(known), units)


# A configure of a tree that has nothing to compile: its Makefile says what is made and checked.
CONFIGURE = """#!/bin/sh
cat >Makefile <<'END'
{makefile}
print-tests: ; @echo tests/style/a
print-check-programs: ; @echo tests/style/a
END
"""
PATIENCE = 300  # seconds until an event counts as missing; no successful test waits for it


class Tree(unittest.TestCase):
    """bootstrap in a tree of its own, with all packages installed."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.top = directory.name
        shutil.copy(os.path.join(TOP, 'bootstrap'), self.top)
        os.makedirs(self.path('tests'))
        shutil.copy(os.path.join(TOP, 'tests/tally.awk'), self.path('tests'))
        os.mkdir(self.path('bin'))
        self.program('bin/dpkg-query', '#!/bin/sh\necho "installed "\n')
        # A reader of it waits until it is killed, or until the test ends.
        os.mkfifo(self.path('hold'))
        self.addCleanup(self.release)
        self.env = dict(os.environ, PATH=self.path('bin') + ':' + os.environ['PATH'],
                        TMPDIR=self.top, BOOTSTRAP_POLICY=self.path('policy-rc.d'))

    def path(self, name):
        return os.path.join(self.top, name)

    def program(self, name, text):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), 'w', encoding='utf-8') as stream:
            stream.write(text)
        os.chmod(self.path(name), 0o755)

    def makefile(self, text):
        self.program('configure', CONFIGURE.format(makefile=text))

    def start(self, command, **more):
        more = {'stdout': subprocess.PIPE, 'stderr': subprocess.STDOUT, **more}
        child = subprocess.Popen([self.path('bootstrap'), command], stdin=subprocess.DEVNULL,
                                 env=self.env, start_new_session=True,
                                 preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
                                 **more)
        self.addCleanup(self.end, child)
        return child

    def release(self):
        try:
            os.close(os.open(self.path('hold'), os.O_WRONLY | os.O_NONBLOCK))
        except OSError as error:
            self.assertEqual(error.errno, errno.ENXIO)  # no process waits

    def end(self, child):
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        if child.stdout:
            child.stdout.close()

    def wait_for(self, child, name):
        """The process that a program writes into a file once it has come that far."""
        deadline = time.monotonic() + PATIENCE
        while True:
            ended = child.poll() is not None
            try:
                with open(self.path(name), encoding='utf-8') as stream:
                    line = stream.readline()
            except FileNotFoundError:
                line = ''
            if line.endswith('\n'):
                return int(line)
            self.assertFalse(ended, f'it ended without {name}')
            self.assertLess(time.monotonic(), deadline, name)
            time.sleep(0.02)

    def assert_gone(self, process):
        """A process that its parent has not waited for yet does nothing more."""
        try:
            with open(f'/proc/{process}/stat', encoding='utf-8') as stream:
                self.assertIn(') Z ', stream.read())
        except (FileNotFoundError, ProcessLookupError):
            pass

    def interrupt(self, child):
        """As the terminal does it: the whole foreground gets the signal."""
        os.killpg(child.pid, signal.SIGINT)
        code = child.wait(PATIENCE)
        os.set_blocking(child.stdout.fileno(), False)  # a leftover process may hold the other end
        return code, (child.stdout.read() or b'').decode()

    def test_interrupted_while_it_installs(self):
        """The policy that refuses to start services is removed as well, and there is no next
        step."""
        self.program('bin/dpkg-query', '#!/bin/sh\n')
        self.program('bin/id', '#!/bin/sh\necho 0\n')
        self.program('bin/apt-get', f'#!/bin/sh\n[ "$1" != install ] || {{ '
                                    f'echo $$ >{self.path("begun")}; '
                                    f'exec cat {self.path("hold")}; }}\n')
        self.makefile('all: ; touch ../built')
        child = self.start('run')
        installer = self.wait_for(child, 'begun')
        self.assertTrue(os.access(self.path('policy-rc.d'), os.X_OK))
        code, output = self.interrupt(child)
        self.assertEqual(code, 128 + signal.SIGINT, output)
        self.assert_gone(installer)
        self.assertFalse(os.path.exists(self.path('policy-rc.d')), output)
        self.assertFalse(os.path.exists(self.path('built')))

    def test_policy_of_others_stays(self):
        """One that an earlier bootstrap left does not stay either."""
        self.makefile('all: ; exit 1')
        with open(os.path.join(TOP, 'bootstrap'), encoding='utf-8') as stream:
            mark = re.search("^POLICY_MARK='(.*)'$", stream.read(), re.M)[1]
        for text, stays in (('#!/bin/sh\nexit 101\n', True), (f'{mark}\nexit 101\n', False)):
            self.program('policy-rc.d', text)
            self.start('run').communicate(timeout=PATIENCE)
            self.assertEqual(os.path.exists(self.path('policy-rc.d')), stays, text)

    def test_interrupted_while_it_tests(self):
        """All of it ends at once: the test, what is built meanwhile, and the remaining stages."""
        self.makefile("""all: ; @[ ! -e ../begun ] || { echo $$$$ >../ahead; cat ../hold; }
check: ; @trap '' INT; echo $$$$ >../begun; cat ../hold; touch ../went-on""")
        self.program('bin/renice', f'#!/bin/sh\nuntil [ -s {self.path("begun")} ]; do :; done\n')
        child = self.start('check')
        test = self.wait_for(child, 'begun')
        ahead = self.wait_for(child, 'ahead')
        code, output = self.interrupt(child)
        self.assertEqual(code, 128 + signal.SIGINT, output)
        self.assert_gone(test)
        self.assert_gone(ahead)
        self.assertFalse(os.path.exists(self.path('went-on')))
        self.assertFalse(os.path.exists(self.path('build-tsan')), output)
        self.assertNotRegex(output, '[0-9]+ passed')

    def test_no_run_without_a_build(self):
        """Whatever the reason for its failure, an earlier result is not run."""
        def no_log():
            os.makedirs(self.path('build/bootstrap.log'))

        def bad_make():
            shutil.rmtree(self.path('build/bootstrap.log'))
            self.makefile('all: ; @echo error: it is broken; exit 1\nclean: ; @:')

        self.program('build/opensm/opensm', '#!/bin/sh\ntouch ran\n')
        self.makefile('all: ; @:\nclean: ; @:')
        for spoil in (no_log, bad_make):
            spoil()
            child = self.start('run')
            output = child.communicate(timeout=PATIENCE)[0].decode()
            self.assertEqual(child.returncode, 1, output)
            self.assertFalse(os.path.exists(self.path('ran')), output)
        self.assertIn('it is broken', output)

    def test_tells_that_it_lives(self):
        self.makefile('all: ; @echo one of many; cat ../hold\nclean: ; @:')
        master, slave = pty.openpty()
        child = self.start('run', stdout=slave)
        os.close(slave)
        output = b''
        while not re.search(b'[1-9] s  one of many.*s  one of many', output, re.S):
            output += os.read(master, 4096)
        child.terminate()
        os.close(master)
        self.assertRegex(output.decode(),
                         r'\r\x1b\[Kbootstrap: building in build/: [0-9]+ s  one of many')

    def test_runs_what_it_has_built(self):
        self.makefile("""all: ; @mkdir -p opensm; cp ../daemon opensm/opensm
clean: ; @:""")
        self.program('daemon', '#!/bin/sh\necho "args: $*; $OSM_CACHE_DIR $OSM_TMP_DIR"\n')
        child = self.start('run')
        output = child.communicate(timeout=PATIENCE)[0].decode()
        self.assertEqual(child.returncode, 0, output)
        directory = re.search('control socket are in (.*)', output)[1]
        self.assertIn(f'--control-socket {directory}/sm ', output)
        self.assertIn(f'; {directory} {directory}\n', output)
        self.assertFalse(os.path.exists(directory))

    def test_serves_at_the_first_free_port(self):
        self.makefile("""all: ; @mkdir -p opensm/web; cp ../daemon opensm/opensm; \\
	cp ../web opensm/web/opensm-web
clean: ; @:""")
        self.program('daemon', '#!/bin/sh\necho up\n')
        self.program('web', '#!/bin/bash\ngrep -q "listen 127.0.0.1:9317" "$2" || exit 1\n'
                     f'echo $$ >{self.path("pid")}\necho serving at\nexec sleep 100\n')
        child = self.start('run')
        output = child.communicate(timeout=PATIENCE)[0].decode()
        self.assertEqual(child.returncode, 0, output)
        self.assertIn('browser: http://127.0.0.1:9317/\n', output)
        self.assertLess(output.index('9317'), output.index('up\n'))
        with open(self.path('pid')) as file:
            self.assert_gone(int(file.read()))


class Tally(unittest.TestCase):
    def tally(self, **tests):
        """tally.awk's result for tests given as name=(verdict or None, log)."""
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
