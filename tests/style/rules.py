# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Rules on source text. Each takes the files of the tree and yields 'path:line: what is wrong';
RULES is the list of all."""

import os
import re

import csource
import draws
import tree

LICENCE = 'SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB'
COLUMNS = 100
MAX_FUNCTION = 100
MAX_FILE = 1200
# Written in halves so that this file does not break its own rule.
UNFINISHED = re.compile(r'\b(TO' r'DO|FIX' r'ME|XX' r'X|TB' r'D|HA' r'CK)\b')
# Threads use complib/handoff.h: ThreadSanitizer does not see into GLib.
GLIB_THREADS = re.compile(
    r'\b(g_(thread|mutex|rec_mutex|rw_lock|cond|atomic|async_queue|once|private|static_mutex|bit)_'
    r'\w+|G(Thread|Mutex|RecMutex|RWLock|Cond|AsyncQueue|Once|Private|ThreadPool)\b|G_LOCK\w*|'
    r'G_DEFINE_(TYPE|QUARK|BOXED_TYPE)\w*|g_object_new)')
# Functions that need no sentence of their own.
OBVIOUS = re.compile(r'_(new|free|ref|unref|init|clear)\s*\(')
OWN_MACHINE = re.compile(r'(^|[\s"\'=:(])/(work|home|root)/\w')


def is_data(file):
    """Golden results, topologies and corpora: what they look like is not up to us."""
    return not (file.is_c or file.is_script)


def licence(files):
    """The licence is named in the first line, or the second of what starts with #!."""
    for file in files:
        if is_data(file):
            continue
        line = 1 if file.text.startswith('#!') and len(file.lines) > 1 else 0
        mark = '// ' if file.is_c else '# '
        if not file.lines[line].startswith(mark + LICENCE):
            yield f'{file.path}:{line + 1}: expected "{mark}{LICENCE}"'


def layout(files):
    """Tabs in C, no trailing space, 100 columns (but for tables), one line end at the end."""
    for file in files:
        if is_data(file):
            continue
        if not file.text.endswith('\n') or file.text.endswith('\n\n'):
            yield f'{file.path}:{len(file.lines)}: expected exactly one line end at the end'
        for number, line in enumerate(file.lines, 1):
            if line != line.rstrip():
                yield f'{file.path}:{number}: trailing space'
            if len(line.expandtabs(8)) > COLUMNS and not file.is_table:
                yield f'{file.path}:{number}: {len(line.expandtabs(8))} columns'
            if file.is_c and re.match(r' *\t* {8}| +\t', line) and line.strip() != '\\':
                yield f'{file.path}:{number}: indented with spaces'


def words(files):
    """Nothing is left for later, and no path of a developer's machine is left behind."""
    for file in files:
        if is_data(file):
            continue
        for number, line in enumerate(file.lines, 1):
            for pattern in (UNFINISHED, OWN_MACHINE):
                found = pattern.search(line)
                if found and not file.path.startswith('tests/style/'):
                    yield f'{file.path}:{number}: "{found.group(0).strip()}"'


def function_length(files):
    """No function is longer than 100 lines."""
    for file in files:
        for function in file.functions:
            if function.length > MAX_FUNCTION:
                yield f'{file.path}:{function.first}: {function.name} has {function.length} lines'


def file_length(files):
    """No file is longer than 1200 lines; tables are exempt."""
    for file in files:
        if not is_data(file) and not file.is_table and len(file.lines) > MAX_FILE:
            yield f'{file.path}:1: {len(file.lines)} lines'


def braces(files):
    """The body of a function opens with a brace alone in column 0."""
    for file in files:
        for number in csource.braces_at_end(file.code):
            if not file.is_table:
                yield f'{file.path}:{number}: the brace of a function goes on its own line'


def resolve(file, name, paths):
    """The path of the tree that #include "name" in file means, or None."""
    here = os.path.dirname(file.path)
    for directory in (here, 'include', 'opensm', ''):
        path = os.path.normpath(os.path.join(directory, name))
        if path in paths:
            return path
    return None


def include_direction(files):
    """A layer includes itself and what tree.MAY_USE lists; private headers stay at home."""
    paths = {file.path for file in files}
    for file in files:
        for number, name in csource.includes(file.text) if file.is_c else ():
            where = f'{file.path}:{number}'
            path = resolve(file, name, paths)
            if name in ('config.h', 'opensm/ctl/process/source_names.h'):  # made by a build
                continue
            if path is None:
                yield f'{where}: "{name}" is not in the tree'
                continue
            layer = tree.layer_of(path)
            if file.layer and layer is None:
                yield f'{where}: {file.layer} includes {path}, which is in no layer'
            elif file.layer and layer not in [file.layer] + tree.MAY_USE[file.layer]:
                yield f'{where}: {file.layer} must not include {layer} ({path})'
            elif file.layer and path.endswith('_private.h') and layer != file.layer:
                yield f'{where}: {path} is private to {layer}'


def typedefs(files):
    """Structs, unions and enums go by their tag."""
    for file in files:
        for number, line in enumerate(file.code.split('\n') if file.is_c else (), 1):
            if re.match(r'\s*typedef\s+(struct|union|enum)\b[^(]*$', line):
                yield f'{file.path}:{number}: typedef of a struct, union or enum'


def calls(files):
    """For each function of the tree, the names of functions that it mentions. Static functions of
    one name in two files count as one."""
    names = {function.name for file in files for function in file.functions}
    graph = {}
    for file in files:
        lines = file.code.split('\n')
        for function in file.functions:
            body = '\n'.join(lines[function.first:function.last])
            graph.setdefault(function.name, set()).update(
                names.intersection(re.findall(r'\w+', body)))
    return graph


def reaches(graph, start, goal):
    """Whether a path of at least one step leads from start to goal."""
    seen, edge = set(), {start}
    while edge:
        edge = set().union(*(graph.get(name, set()) for name in edge)) - seen
        seen |= edge
    return goal in seen


def callee_first(files):
    """A file reads bottom-up: no forward declaration of a static function that no circle needs."""
    graph = calls(files)
    for file in files:
        if not file.path.endswith('.c'):
            continue
        for number, _, text in csource.prototypes(file.code):
            name = re.search(r'(\w+)\s*\(', text).group(1)
            attribute = re.search(r'\)\s*\w+\s*\(.*\)\s*;', text)
            if text.startswith('static ') and not attribute and not reaches(graph, name, name):
                yield f'{file.path}:{number}: forward declaration of {name}'


def glib_threads(files):
    """Threads, locks, atomics and objects of GLib are not used."""
    for file in files:
        for number, line in enumerate(file.code.split('\n') if file.is_c else (), 1):
            for found in GLIB_THREADS.finditer(line):
                yield f'{file.path}:{number}: {found.group(0)}'


def undocumented(file):
    """Line numbers of the prototypes of a header with no comment above, beside, or above the
    unbroken group of prototypes that they are in."""
    documented_until = -1
    comments = file.comments.split('\n')
    for first, last, text in csource.prototypes(file.code):
        above = file.lines[first - 2].rstrip() if first > 1 else ''
        if (above.endswith('*/') or above.lstrip().startswith('//') or
                comments[last - 1].strip() or documented_until == first - 1):
            documented_until = last
        elif not OBVIOUS.search(text):
            yield first


def documented_headers(files):
    """Of the functions that include/ exports, 9 of 10 have their sentence."""
    exported, missing = 0, []
    for file in files:
        if file.path.startswith('include/') and file.path.endswith('.h'):
            exported += len(csource.prototypes(file.code))
            missing += [f'{file.path}:{number}: function without a comment'
                        for number in undocumented(file)]
    if 10 * len(missing) > exported:
        yield from missing


# Where an option without effect so far is read.
READ_IN_CORE = {'no_partition_enforcement'}  # stands for another
READ_ALL_THE_SAME = {
    'sm_inactive': 'refused at the start',
    'sm_priority': 'others are told, and status shows it; no election',
}
OPTION_ROW = re.compile(r'^OPTION\((\w+),(.*?)\n(?=[^ \t])', re.S | re.M)


def states_of_options(text):
    """(line, name, state) of each row of options.def except those that a macro makes."""
    for row in OPTION_ROW.finditer(text):
        state = re.search(r'\b(WORKS|LATER|ALWAYS)\b', row.group(2))
        if not re.search(r'\bCOMMAND\b', row.group(2)):
            yield text.count('\n', 0, row.start()) + 1, row.group(1), state and state.group(1)


def option_states(files):
    """An option that WORKS is read outside core/, others are not: the daemon names them."""
    product = [file for file in files
               if file.is_c and re.match(r'(opensm/(?!core/)|libvendor/)', file.path)]
    read = {name for file in product
            for name in re.findall(r'\b(?:options|o)->(\w+)', file.code)}
    # route/inputs.def: INPUT(member, type, option), LIST(member, kind, option, readers).
    read |= {name for file in product if file.is_table
             for name in re.findall(r'^(?:INPUT|LIST)\(\w+, \w+, (\w+)', file.code, re.M)}
    for table in (file for file in files if file.path == 'opensm/core/options.def'):
        for number, name, state in states_of_options(table.text):
            if state == 'WORKS' and name not in read | READ_IN_CORE:
                yield f'{table.path}:{number}: {name} WORKS, but nobody reads it'
            elif state != 'WORKS' and name in read and name not in READ_ALL_THE_SAME:
                yield f'{table.path}:{number}: {name} is {state}, but it is read'


def distributed(files):
    """A makefile names each source of the product: builds find what 'make dist' leaves out."""
    makefiles = '\n'.join(file.text for file in files if file.path.endswith('.mk'))
    named = set(re.findall(r'[\w./@-]+', makefiles))
    for file in files:
        if file.is_c and file.path.startswith(('opensm/', 'libvendor/')) and file.path not in named:
            yield f'{file.path}: in no makefile'


def one_draw(files):
    """Each random number is drawn in a statement of its own: seeds mean the same everywhere."""
    chancy = [file for file in files if file.is_c and not file.is_table and
              not file.path.startswith('opensm/')]
    drawing = draws.drawing_functions(chancy)
    for file in chancy:
        for function, text in draws.bodies_of(file):
            for number in draws.open_orders(text, function.first, drawing[file.path]):
                yield f'{file.path}:{number}: two draws of {function.name} in any order'


RULES = [
    licence, layout, words, function_length, file_length, braces, include_direction, typedefs,
    callee_first, glib_threads, documented_headers, option_states, distributed,
    one_draw,
]
