#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Tests of the style checker: each rule is shown a made-up file that breaks it, and one that does
not. The objects are compiled here, with $CC or gcc."""

import os
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

import csource  # noqa: E402
import figures  # noqa: E402
import floors  # noqa: E402
import objects  # noqa: E402
import prose  # noqa: E402
import rules  # noqa: E402
import suite  # noqa: E402
import tree  # noqa: E402

HEAD = '// ' + rules.LICENCE + '\n'


def broken(rule, path, text, *others):
    """Messages of a rule about a tree of this file and other (path, text)."""
    files = [tree.SourceFile(path, text)] + [tree.SourceFile(*other) for other in others]
    return list(rule(files))


class Parser(unittest.TestCase):
    SOURCE = '''static const struct row rows[] =
{
\t{ 1, 2 },
};

struct thing
{
\tint (*call)(int x);
};

/* { int not_me(void)
{
} */
static int
two(const char *text,
    int length)
{
\tchar brace = '}';
\tif (length) {
\t\tputs("{ \\" /* no comment");
\t}
\treturn brace;
}

static inline int one(void) { return 1; }

#define MACRO(x) \\
{ \\
}

START_TEST(of_check)
{
}
END_TEST
'''

    def test_functions(self):
        found = csource.functions(csource.code_only(self.SOURCE))
        self.assertEqual([(f.name, f.length) for f in found],
                         [('two', 10), ('one', 1), ('of_check', 3)])

    def test_brace_at_end_is_still_a_function(self):
        code = 'int f(void) {\n\treturn 0;\n}\n'
        self.assertEqual([f.length for f in csource.functions(code)], [3])
        self.assertEqual(csource.braces_at_end(code), [1])

    def test_comments_and_code_split(self):
        text = 'int a; // x "y"\nchar *b = "// no"; /* c\nd */ int e;\n'
        self.assertEqual(csource.code_only(text).split(),
                         ['int', 'a;', 'char', '*b', '=', '"', '";', 'int', 'e;'])
        self.assertEqual(csource.comments_only(text).split(),
                         ['//', 'x', '"y"', '/*', 'c', 'd', '*/'])

    def test_prototypes(self):
        code = ('int f(int a,\n      int b);\nstatic void g(void);\nint v = h(1);\n'
                'typedef int t(void);\nstruct s;\nint i(void)\n{\n\tk();\n}\n'
                'void p(void (*done)(void *arg), void *arg);\n')
        self.assertEqual([(first, last) for first, last, _ in csource.prototypes(code)],
                         [(1, 2), (3, 3), (11, 11)])


class Rules(unittest.TestCase):
    def test_good_file(self):
        text = (HEAD + '#include "core/log.h"\n\n/* Why. */\nint f(void)\n{\n\treturn 0;\n}\n')
        others = (('opensm/core/log.h', HEAD),
                  ('opensm/local.mk', f'# {rules.LICENCE}\nopensm/sm/x.c opensm/core/log.h\n'))
        for rule in rules.RULES:
            self.assertEqual(broken(rule, 'opensm/sm/x.c', text, *others), [], rule)

    def test_licence(self):
        self.assertTrue(broken(rules.licence, 'a.c', 'int x;\n'))
        self.assertTrue(broken(rules.licence, 'a.sh', '#!/bin/sh\nexit\n'))
        self.assertFalse(broken(rules.licence, 'a.sh', f'#!/bin/sh\n# {rules.LICENCE}\n'))

    def test_layout(self):
        for text in ('int x; \n', '\t' + 'x' * 93 + '\n', '        int x;\n', 'int x;',
                     'int x;\n\n', '  \tint x;\n'):
            self.assertEqual(len(broken(rules.layout, 'a.c', text)), 1, repr(text))
        self.assertFalse(broken(rules.layout, 'tests/golden/a.txt', 'anything '))

    def test_words(self):
        for text in ('/* TO' 'DO later */\n', '// FIX' 'ME\n', '/* see /ho' 'me/me/x */\n'):
            self.assertEqual(len(broken(rules.words, 'a.c', text)), 1, text)
        self.assertFalse(broken(rules.words, 'a.c', '/* /tmp/x.XXXXXX, todos */\n'))

    def test_lengths(self):
        body = '\tx();\n' * 97
        function = f'int f(void)\n{{\n{body}}}\n'
        self.assertFalse(broken(rules.function_length, 'a.c', function))
        longer = function.replace('{\n', '{\n\tx();\n')
        self.assertTrue(broken(rules.function_length, 'a.c', longer))
        self.assertTrue(broken(rules.file_length, 'a.c', '\n' * 1200))
        self.assertFalse(broken(rules.file_length, 'a.def', '\n' * 1200))

    def test_braces(self):
        self.assertTrue(broken(rules.braces, 'a.c', 'int f(void) {\n}\n'))

    def test_include_direction(self):
        def include(path, name, target):
            return broken(rules.include_direction, path, f'#include "{name}"\n',
                          (target, HEAD))
        for path, name in (('opensm/route/a.c', 'mad/b.h'), ('opensm/route/a.c', 'sm/b.h'),
                           ('opensm/sm/a.c', 'sa/b.h'), ('opensm/sa/a.c', 'sm/b.h'),
                           ('opensm/core/a.c', 'fabric/b.h'), ('opensm/fabric/a.c', 'ctl/b.h'),
                           ('opensm/sa/a.c', 'fabric/b_private.h')):
            self.assertEqual(len(include(path, name, 'opensm/' + name)), 1, (path, name))
        self.assertTrue(include('libvendor/umad/a.c', 'core/b.h', 'opensm/core/b.h'))
        self.assertTrue(include('complib/a.c', 'iba/iba.h', 'include/iba/iba.h'))
        self.assertTrue(include('opensm/sm/a.c', 'gone.h', 'opensm/sm/other.h'))
        self.assertTrue(include('opensm/sm/a.c', 'tests/b.h', 'tests/b.h'))
        self.assertFalse(include('opensm/sm/a.c', 'policy/b.h', 'opensm/policy/b.h'))
        self.assertFalse(include('tests/unit/a.c', 'sa/b_private.h', 'opensm/sa/b_private.h'))

    def test_typedefs(self):
        self.assertTrue(broken(rules.typedefs, 'a.h', 'typedef struct x x_t;\n'))
        self.assertFalse(broken(rules.typedefs, 'a.h', 'typedef struct x *maker(void);\n'))

    def test_callee_first(self):
        forward = 'static int f(void);\nint g(void)\n{\n\treturn f();\n}\n'
        plain = forward + 'static int f(void)\n{\n\treturn 1;\n}\n'
        circle = forward + 'static int f(void)\n{\n\treturn g();\n}\n'
        self.assertEqual(len(broken(rules.callee_first, 'a.c', plain)), 1)
        self.assertFalse(broken(rules.callee_first, 'a.c', circle))

    def test_glib_threads(self):
        for word in ('g_mutex_lock(&m);', 'GThread *t;', 'g_atomic_int_inc(&x);',
                     'g_async_queue_push(q, p);', 'g_object_new(t);'):
            self.assertTrue(broken(rules.glib_threads, 'a.c', f'\t{word}\n'), word)
        self.assertFalse(broken(rules.glib_threads, 'a.c', '/* no g_mutex_lock() */\n'))

    def test_option_states(self):
        def table(state):
            return ('opensm/core/options.def',
                    f'OPTION(sm_sl, U8, NULL, LIVE, {state}, DEVICE,\n       "help")\n#undef X\n')

        reader = ('opensm/sm/a.c', HEAD + 'int f(void)\n{\n\treturn options->sm_sl;\n}\n')
        other = ('opensm/core/a.c', reader[1])
        for state, source, wrong in (('WORKS', reader, 0), ('WORKS', other, 1),
                                     ('LATER', reader, 1), ('LATER', other, 0),
                                     ('ALWAYS', other, 0)):
            found = broken(rules.option_states, *table(state), source)
            self.assertEqual(len(found), wrong, (state, source))

    def test_distributed(self):
        header = ('opensm/sm/a.h', HEAD)
        self.assertTrue(broken(rules.distributed, *header))
        self.assertTrue(broken(rules.distributed, *header, ('opensm/sm/local.mk', 'x/a.h a.h')))
        self.assertFalse(broken(rules.distributed, *header, ('opensm/local.mk', header[0])))

    def test_one_draw(self):
        maker = ('tests/a.h', HEAD + 'static inline int draw(uint64_t *state)\n{\n'
                 '\treturn *state += UINT64_C(0x9E3779B97F4A7C15);\n}\n')
        helper = 'static int roll(struct game *g)\n{\n\treturn 1 + draw(&g->state);\n}\n'
        anew = 'static int whole(int seed)\n{\n\treturn draw(&(uint64_t){seed});\n}\n'

        def found(statement):
            text = f'{HEAD}{helper}{anew}static void f(void)\n{{\n\t{statement}\n}}\n'
            return broken(rules.one_draw, 'tests/b.c', text, maker)

        for statement in ('g(roll(x), 1, roll(x));', 'n = roll(x) + draw(s);',
                          'a[roll(x)] = roll(x);', 'a[roll(x)][roll(x)] = 0;',
                          'struct p p = {.x = roll(x), .y = roll(x)};',
                          'h((struct p){roll(x), roll(x)});', 'n = MAX(1, roll(x));',
                          'g(x ? roll(x) : 2, h(roll(x)));', 'a[roll(x)] = y ? roll(x) : 0;',
                          'if (y)\n\t\tg(1 + roll(x), (roll(x)));',
                          'n = g_rand_int(r) | g_rand_int(r);'):
            self.assertEqual(len(found(statement)), 1, statement)
        for statement in ('int a = roll(x), b = roll(x);', 'n = y ? roll(x) : draw(s);',
                          'if (roll(x) && roll(x))\n\t\tg(roll(x));', 'g(roll(x) ? 1 : 2);',
                          'for (n = roll(x); draw(s); n--)\n\t\tg(roll(x));', 'g(a[roll(x)], y);',
                          'n = h(roll(x) * 2) + 1;', 'g(whole(1), whole(2));',
                          'switch (roll(x)) {\n\tcase 0:\n\t\tn = roll(x);\n\t}'):
            self.assertFalse(found(statement), statement)

    def test_documented_headers(self):
        self.assertTrue(broken(rules.documented_headers, 'include/a.h', 'int f(void);\n'))
        for text in ('/* Counts. */\nint f(void);\nint g(void);\n', 'int f(void); /* counts */\n',
                     'void a_free(struct a *a);\n'):
            self.assertFalse(broken(rules.documented_headers, 'include/a.h', text), text)


class Figures(unittest.TestCase):
    def test_percentile(self):
        self.assertEqual([figures.percentile([1, 2, 3, 4], share) for share in (50, 90, 99)],
                         [2, 4, 4])
        self.assertEqual(figures.percentile([], 50), 0)

    def test_over_limits(self):
        def functions(length, number):
            text = ('int f(void)\n{\n' + '\tx();\n' * (length - 3) + '}\n') * number
            return [tree.SourceFile('a.c', text)]
        self.assertFalse(list(figures.over_limits(functions(15, 10))))
        self.assertEqual(len(list(figures.over_limits(functions(16, 10)))), 1)
        self.assertEqual(len(list(figures.over_limits(functions(46, 10)))), 2)


class Objects(unittest.TestCase):
    def build(self, sources):
        """Libraries with one object each, compiled from {library: C code}."""
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        for library, code in sources.items():
            base = os.path.join(self.directory.name, library)
            with open(base + '.c', 'w', encoding='utf-8') as stream:
                stream.write(code)
            compiler = os.environ.get('CC', 'gcc').split()
            subprocess.run(compiler + ['-fPIE', '-c', base + '.c', '-o', base + '.o'], check=True)
            subprocess.run(['ar', 'cr', base + '.a', base + '.o'], check=True)
        return objects.load(self.directory.name)

    def test_mutable_data(self):
        libraries = self.build({'libsm': '''
            extern int other; const int number = 1; static const char *const names[] = {"a", "b"};
            const char *name(int i) { return other ? names[i] : 0; }'''})
        self.assertEqual(list(objects.mutable_data(libraries)), [])
        libraries = self.build({'libsm': '''
            int common; int set = 1; static const char *names[] = {"a"}; _Thread_local int mine;
            int next(void) { static int last; return ++last + (names[0] != 0); }'''})
        self.assertEqual(len(list(objects.mutable_data(libraries))), 5)

    def test_upward_calls(self):
        sources = {'libfabric': 'int freeze(void) { return 1; }',
                   'libsm': 'int freeze(void); int sweep(void) { return freeze(); }',
                   'libumad': 'int get(void) { return 1; }'}
        self.assertEqual(list(objects.upward_calls(self.build(sources))), [])
        sources['libfabric'] = 'int sweep(void); int freeze(void) { return sweep(); }'
        sources['libsa'] = 'int sweep(void); int reply(void) { return sweep(); }'
        self.assertEqual(len(list(objects.upward_calls(self.build(sources)))), 2)


class Floors(unittest.TestCase):
    def test_a_folder_is_crowded(self):
        files = [tree.SourceFile(f'opensm/sm/keys/k{number}.c', HEAD) for number in range(21)]
        self.assertEqual(['opensm/sm/keys: 21 files'], list(floors.crowded(files)))
        self.assertEqual([], list(floors.crowded(files[1:])))

    def test_a_call_to_a_folder_above(self):
        with tempfile.TemporaryDirectory() as top:
            for path, text in (('store/low', 'int high(void); int low(void) { return high(); }'),
                               ('forward/high', 'int high(void) { return 1; }'),
                               ('sweep', 'int low(void); int sweep(void) { return low(); }')):
                source = os.path.join(top, 'opensm', 'sm', path)
                os.makedirs(os.path.dirname(source), exist_ok=True)
                with open(source + '.c', 'w', encoding='utf-8') as stream:
                    stream.write(text)
                subprocess.run([*os.environ.get('CC', 'gcc').split(), '-c', '-o', source + '.o',
                                source + '.c'], check=True)
            os.makedirs(os.path.join(top, 'tests', 'style'))
            known = os.path.join(top, 'tests', 'style', 'floors_known')
            for text, told in (('# none', ['sm: high is of a folder above']), ('sm: high\n', []),
                               ('sm: high\nsm: low\n', ['sm: low goes back no more'])):
                with open(known, 'w', encoding='utf-8') as stream:
                    stream.write(text)
                found = list(floors.calls_up(top, top))
                self.assertEqual(len(told), len(found), found)
                for line, begin in zip(found, told):
                    self.assertTrue(line.startswith(begin), line)


class Prose(unittest.TestCase):
    FILES = [tree.SourceFile('opensm/sm/a.c', HEAD + '/* Who answers is met. */\nint who;\n'),
             tree.SourceFile('opensm/sm/b.c', HEAD +
                             'f("the one "\n  "who");\nf("who");\nf("so " PRIu64 "many");\n'
                             'f("there is no file");\nf("port %u is no switch");\n'),
             tree.SourceFile('tests/b.c', HEAD + 'f("the one who");\n'),
             tree.SourceFile('man/a.8', 'There is no way.\n'),
             tree.SourceFile('tests/a.py', '# who\n')]

    def test_counts(self):
        found = {name: number for name, number in prose.counts(self.FILES).items() if number}
        self.assertEqual({'who': 1, 'is met': 1, 'is no': 1, 'text who': 1, 'text so many': 1,
                          'text is no': 1}, found)

    def test_a_count_only_falls(self):
        with tempfile.TemporaryDirectory() as top:
            os.makedirs(os.path.join(top, 'tests', 'style'))
            path = os.path.join(top, 'tests', 'style', 'prose_known')
            texts = 'text who 1\ntext so many 1\ntext is no 1\n'
            for text, told in (('who 1\nis met 1\nis no 1\n', []),
                               ('# some\nwho 0\nis met 1\nis no 1\n', ["'who' stands 1 times"]),
                               ('who 1\nis met 2\nis no 1\n', ["'is met' stands 1 times: put"])):
                with open(path, 'w', encoding='utf-8') as stream:
                    stream.write(text + texts)
                found = list(prose.phrases(self.FILES, top))
                self.assertEqual(len(told), len(found), found)
                for line, begin in zip(found, told):
                    self.assertTrue(line.startswith(begin), line)


if __name__ == '__main__':
    sys.exit(suite.run())
