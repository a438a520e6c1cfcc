#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Tests of the mutation tool: on a small file, and as a whole on a small tree."""

import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.dirname(HERE))

import accepted  # noqa: E402
import checks  # noqa: E402

CODE = '''#include <stdbool.h>
#define log_info(text) say("said", text)
#define EACH(i) for (int i = 0; i < 4; i++)

int limit;
void say(const char *how, const char *text);
void thing_free(int *thing);

bool below(const int *value, int top)
{
	log_info("below");
	if (!value)
		return false;
	return *value < top && top > 7;
}

const int *first(int *from, int to)
{
	limit = to;
	say("plain", "call");
	EACH(i)
		limit += i;
	thing_free(from);
	while (limit > 100)
		limit--;
	return from;
}
'''
EXPECTED = '''
below:if (false)
below:if (true)
below:if (value)
below:return !(*value < top && top > 7);
below:return *value < top && top > (7 + 1);
below:return *value < top && top >= 7;
below:return *value < top || top > 7;
below:return *value <= top && top > 7;
below:return true;
first:;
first:;
first:;
first:;
first:return NULL;
first:while (!(limit > 100))
first:while (false)
first:while (limit > (100 + 1))
first:while (limit >= 100)
'''
# All of the mutants in one text; each is switched on by its number.
CHOICES = '''
	for (int mutant_off = !mutant_on(N); mutant_off; mutant_off = 0) limit = to;
	if ((mutant_on(N) ? !!(true) : mutant_on(N) ? !!(value) : !!(!value)))
	return (mutant_on(N) ? (*value <= top) : (*value < top)) && top > 7;
	return (mutant_on(N) ? (*value < top || top > 7) : ((mutant_on(N) ? (*value <= top) : \
(*value < top)) && top > 7));
	return *value < top && top > (mutant_on(N) ? ((7 + 1)) : (7));
'''
# A tree that the tool can build: one module, and a test that covers a part of it. No mutant of the
# static number can be switched on.
MODULE = '''#include <stdbool.h>
int twice(int n)
{
	static const unsigned int one = 1;
	if (n > 10)
		return 99;
	return n + n * 1u * one;
}
'''
TEST = '''int twice(int n);
int main(void)
{
	return BROKEN || twice(3) != 6 || twice(20) != 99;
}
'''
MAKEFILE = '''CC = cc -include ../tests/mutate/switch.h
TEST = tests/unit/test_module.c opensm/sm/module.o
print-tests:
	@echo tests/unit/test_module tests/unit/test_broken
all-am:
opensm/sm/module.o: ../opensm/sm/module.c
	mkdir -p opensm/sm && $(CC) -c -o $@ ../opensm/sm/module.c
tests/unit/test_module: ../tests/unit/test_module.c opensm/sm/module.o
	mkdir -p tests/unit && $(CC) -DBROKEN=0 -o $@ ../$(TEST) switch.o
tests/unit/test_broken: ../tests/unit/test_module.c opensm/sm/module.o
	mkdir -p tests/unit && $(CC) -DBROKEN=1 -o $@ ../$(TEST) switch.o
'''
ACCEPTED = '''# a comment

opensm/sm/module.c twice
- return n + n * 1u * one;
+ return n + n * (1u + 1) * one;
equivalent: not so, but the tool
believes it

opensm/sm/module.c twice
- if (n > 12)
+ if (n >= 12)
untested: it is not there
'''


def write(top, name, text, mode=0o644):
    path = os.path.join(top, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)
    os.chmod(path, mode)
    return path


def check_operators(c, operators, directory):
    path = write(directory, 'code.c', CODE)
    found = operators.mutants_of(path, ['-std=gnu11'])
    shown = sorted(f'{mutant.function}:{mutant.after}' for mutant in found)
    c.check('the mutants of a file', shown == EXPECTED.split('\n')[1:-1], '\n'.join(shown))
    for mutant in found:
        changed = operators.apply(CODE, mutant)
        c.check('a mutant keeps the lines', changed.count('\n') == CODE.count('\n') and
                changed != CODE, mutant)
        c.check('the line is right', mutant.before.split()[0] in
                CODE.split('\n')[mutant.line - 1], mutant)
    try:
        operators.mutants_of(write(directory, 'bad.c', 'int f(void) { return }'), [])
        c.check('no C is refused', False)
    except ValueError as error:
        c.check('no C is refused', 'bad.c' in str(error), error)


def check_choices(c, operators, directory):
    """Mutants chosen by number, at one place, around others, and inside them."""
    found = operators.mutants_of(write(directory, 'code.c', CODE), ['-std=gnu11'])
    lines = [(';',), ('if (true)', 'if (value)'), ('return *value <= top && top > 7;',),
             ('return *value < top || top > 7;', 'return *value <= top && top > 7;'),
             ('return *value < top && top > (7 + 1);',)]
    for names, expected in zip(lines, CHOICES.split('\n')[1:-1]):
        chosen = [next(mutant for mutant in found if mutant.after == name) for name in names]
        text = operators.woven(CODE, list(enumerate(chosen, 1)))
        shown = re.sub(r'mutant_on\(\d+\)', 'mutant_on(N)', text).split('\n')
        c.check('the text with mutants', expected in shown and
                text.count('\n') == CODE.count('\n'), text)


def check_accepted(c):
    entries = accepted.parse('survivors', ACCEPTED)
    c.check('two entries', len(entries) == 2, entries)
    reason = entries['opensm/sm/module.c', 'twice', 'return n + n * 1u * one;',
                     'return n + n * (1u + 1) * one;']
    c.check('the reason', reason == 'equivalent: not so, but the tool believes it', reason)
    for wrong, told in (('a.c f\n- x\n+ y\n', 'survivors:1: expected four lines'),
                        ('\na.c f\n- x\n+ y\nbecause\n', 'survivors:2: "because"'),
                        ('a.c\n- x\n+ y\nequivalent: z\n', 'survivors:1: expected "FILE')):
        try:
            accepted.parse('survivors', wrong)
            c.check('what is malformed is refused', False, wrong)
        except accepted.Malformed as error:
            c.check('what is malformed is refused', told in str(error), error)


def check_together(c, mutate, top):
    """The second of two commits changes the test alone."""
    git = ['git', '-C', top, '-c', 'user.name=x', '-c', 'user.email=x']
    os.makedirs(top)
    subprocess.run([*git, 'init', '-q'], check=True)
    for name, text in (('opensm/sm/module.c', MODULE), ('tests/unit/test_module.c', TEST),
                       ('tests/unit/test_module.c', MODULE)):
        write(top, name, text)
        if 'test' in name:
            subprocess.run([*git, 'add', '.'], check=True)
            subprocess.run([*git, 'commit', '-qm', 'x'], check=True)
    share = mutate.changed_together(top).get(('opensm/sm/module.c', 'tests/unit/test_module'))
    c.check('a test is about what changed with it', share == 0.5, share)


def run_tool(top, *arguments):
    done = subprocess.run([os.path.join(HERE, 'mutate.py'), '--jobs', '1', *arguments],
                          cwd=os.path.join(top, 'out'), env={**os.environ, 'top_srcdir': top},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def check_tool(c, top):
    """A whole run: mutants in tested code are killed, others survive, as the file says."""
    write(top, 'opensm/sm/module.c', MODULE)
    for name in ('switch.c', 'switch.h'):
        with open(os.path.join(HERE, name), encoding='utf-8') as file:
            write(top, f'tests/mutate/{name}', file.read())
    write(top, 'tests/unit/test_module.c', TEST)
    write(top, 'tests/mutate/survivors', ACCEPTED)
    write(top, 'Makefile.in', MAKEFILE)
    write(top, 'autogen.sh', '#!/bin/sh\n', 0o755)
    write(top, 'configure', '#!/bin/sh\ncp ../Makefile.in Makefile\n', 0o755)
    write(top, '.gitignore', '/out/\n')
    os.makedirs(os.path.join(top, 'out'))
    subprocess.run(['git', 'init', '-q', top], check=True)
    status, text = run_tool(top, 'opensm/sm')
    c.check('a low score and a stale entry fail', status == 1, text)
    c.check('a broken test is left out', 'fails without a mutant: tests/unit/test_broken' in text,
            text)
    c.check('the limit is not tested', '- if (n > 10)\n+ if (n >= 10)\n' in text and
            '- if (n > 10)\n+ if (n > (10 + 1))\n' in text, text)
    c.check('the rest is killed', 'opensm/sm              6         2   75.0%' in text, text)
    c.check('an entry is stale', 'no longer there:\nopensm/sm/module.c twice\n- if (n > 12)' in
            text, text)
    write(top, 'tests/unit/test_module.c', TEST.replace(
        'twice(20) != 99', 'twice(10) != 20 || twice(11) != 99'))
    write(top, 'tests/mutate/survivors', '')
    status, text = run_tool(top, 'opensm/sm:twice')
    c.check('results are kept', ', 1 to try\n' in text and '7         2' in text, text)
    status, text = run_tool(top, '--again', 'opensm/sm/module.c')
    c.check('survivors are tried again', ', 2 to try\n' in text and '9         0' in text, text)
    c.check('a good score', status == 0, text)
    status, text = run_tool(top, '--fast', 'opensm/sm/module.c')
    c.check('a bad option is refused', status == 2 and 'unrecognized arguments: --fast' in text,
            text)


def main():
    c = checks.Checks()
    check_accepted(c)
    try:
        import mutate
        import operators
    except ImportError as error:
        c.skip('the mutants', f'{error}; the package python3-clang has it')
        return c.close()
    with tempfile.TemporaryDirectory() as directory:
        check_operators(c, operators, directory)
        check_choices(c, operators, directory)
        check_together(c, mutate, os.path.join(directory, 'history'))
        check_tool(c, os.path.join(directory, 'tree'))
    return c.close()


if __name__ == '__main__':
    sys.exit(main())
