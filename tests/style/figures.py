# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Lengths of functions and files, and how much clang-format would change."""

import difflib
import shutil
import subprocess

# Upper limits of the whole tree's function lengths in lines, by share of functions.
LIMITS = {50: 15, 90: 45, 99: 100}


def percentile(values, share):
    """The smallest value that at least this share (in percent) of the sorted values reach."""
    return values[max(0, -(-len(values) * share // 100) - 1)] if values else 0


def function_lengths(files):
    return sorted(function.length for file in files for function in file.functions)


def file_lengths(files):
    return sorted(len(file.lines) - 1 for file in files if file.is_c and not file.is_table)


def line_of_figures(name, files):
    """One line of a table: the lengths in these files."""
    lengths, sizes = function_lengths(files), file_lengths(files)
    if not sizes:
        return f'{name:10} no C files'
    return (f'{name:10} {len(lengths):5} functions: median {percentile(lengths, 50)}, '
            f'p90 {percentile(lengths, 90)}, p99 {percentile(lengths, 99)}, '
            f'longest {lengths[-1] if lengths else 0}; '
            f'{len(sizes)} files: median {percentile(sizes, 50)}, longest {sizes[-1]}, '
            f'sum {sum(sizes)}')


def over_limits(files):
    """What the percentiles of function lengths break."""
    lengths = function_lengths(files)
    for share, limit in LIMITS.items():
        if percentile(lengths, share) > limit:
            yield (f'{share} % of the functions have up to {percentile(lengths, share)} lines, '
                   f'allowed are {limit}')


def unformatted_lines(path, text):
    """Lines of a file that clang-format would write in another way."""
    formatted = subprocess.run(['clang-format', '--assume-filename=' + path], input=text,
                               check=True, capture_output=True, text=True).stdout
    matcher = difflib.SequenceMatcher(None, text.split('\n'), formatted.split('\n'), False)
    return sum(max(i2 - i1, j2 - j1)
               for tag, i1, i2, j1, j2 in matcher.get_opcodes() if tag != 'equal')


def conformity(files):
    """A line on how far the tree is from clang-format; for information only."""
    if not shutil.which('clang-format'):
        return 'clang-format is not installed: conformity not measured'
    checked = [file for file in files if file.is_c and not file.is_table]
    total = sum(len(file.lines) for file in checked)
    other = sum(unformatted_lines(file.path, file.text) for file in checked)
    return f'clang-format would change {other} of {total} lines ({100 * other / total:.1f} %)'
