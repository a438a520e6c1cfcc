#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Checks the source tree and the built libraries against the style of this project.

usage: check_style.py [--format] [SOURCE-TREE [BUILD-DIRECTORY]]
Without arguments: $top_srcdir and $top_builddir as 'make check' sets them. --format also measures
conformity with .clang-format. Each rule counts as one test."""

import os
import sys

sys.dont_write_bytecode = True

import figures  # noqa: E402 (after the switch above: the source tree may be read-only)
import floors  # noqa: E402
import objects  # noqa: E402
import prose  # noqa: E402
import rules  # noqa: E402
import tree  # noqa: E402

MAX_TOLD = 30


class Results:
    """Counts rules and prints what breaks them."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def judge(self, name, purpose, violations):
        violations = list(violations)
        if not violations:
            self.passed += 1
            return
        self.failed += 1
        print(f'FAIL {name}: {len(violations)} violations of: {purpose}')
        for violation in violations[:MAX_TOLD]:
            print('    ' + violation)
        if len(violations) > MAX_TOLD:
            print(f'    and {len(violations) - MAX_TOLD} more')


def purpose(rule):
    return ' '.join(rule.__doc__.split())


def check(top, build, with_format):
    """Runs all rules; returns the results."""
    results = Results()
    files = tree.load(top)
    tests = [file for file in files if file.path.startswith('tests/')]
    product = [file for file in files if not file.path.startswith('tests/')]
    print(figures.line_of_figures('product', product))
    print(figures.line_of_figures('tests', tests))
    print(figures.line_of_figures('all', files))
    if with_format:
        print(figures.conformity(files))
    for rule in rules.RULES:
        results.judge(rule.__name__, purpose(rule), rule(files))
    for name, part in (('product', product), ('tests', tests)):
        results.judge(f'percentiles of {name}', 'functions are short', figures.over_limits(part))
    results.judge('crowded', purpose(floors.crowded), floors.crowded(files))
    results.judge('phrases', purpose(prose.phrases), prose.phrases(files, top))
    libraries = objects.load(build)
    if not libraries:
        print(f'SKIP the rules on objects: no libraries in {build}')
        results.skipped += len(objects.RULES) + 1
        return results
    for rule in objects.RULES:
        results.judge(rule.__name__, purpose(rule), rule(libraries))
    results.judge('calls_up', purpose(floors.calls_up), floors.calls_up(top, build))
    return results


def main():
    arguments = [argument for argument in sys.argv[1:] if argument != '--format']
    top = arguments[0] if arguments else os.environ.get('top_srcdir', '.')
    build = arguments[1] if len(arguments) > 1 else os.environ.get('top_builddir', top + '/build')
    results = check(top, build, '--format' in sys.argv)
    print(f'{results.passed} passed, {results.failed} failed' +
          (f', {results.skipped} skipped' if results.skipped else ''))
    return 1 if results.failed or not results.passed else 0


if __name__ == '__main__':
    sys.exit(main())
