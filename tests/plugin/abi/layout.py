# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The layout of the interface of plug-ins: read from the header and a compiler, kept in a file, and
what may change of it."""

import os
import re
import shlex
import subprocess
import tempfile

NUMBER = re.compile(r'-?\d+')
TYPE = (r'(?:const\s+)?(?:void|char|int|float|double|size_t|u?int(?:8|16|32|64)_t|'
        r'(?:struct|enum)\s+\w+)')
POINTERS = r'(?:\s*\*(?:\s*const\b)?)*'
# name, name[N], *name, *const *name
DECLARATOR = re.compile(rf'({POINTERS})\s*(\w+)\s*((?:\[[\w+\- ]+\])*)\s*')
# result (*name)(arguments), perhaps with an attribute
FUNCTION = re.compile(rf'({TYPE}{POINTERS})\s*\(\s*\*\s*(\w+)\s*\)\s*\(([^()]*)\)'
                      r'(?:\s*OSM_PRINTF\(\d+, \d+\))?')
MEMBER = re.compile(rf'({TYPE})\b(.*)')
# What has no layout: functions that plug-ins compile in, and the one that they export.
OTHER = re.compile(rf'static inline {TYPE}{POINTERS}\s*\w+\s*\([^()]*\)')
ACCESS = re.compile(r'OSM_ACCESS\(\w+, \w+, \w+\)')
EXPORTED = 'const struct osm_plugin *osm_plugin_v1(void)'


class Unknown(Exception):
    """The header has something that this program does not understand."""


def words(text):
    """With one blank between words and none at pointers, so that only meaning differs."""
    return re.sub(r'\s*\*\s*', ' *', ' '.join(text.split())).replace('* *', '**').strip()


# ---- the header ----

def preprocess(text):
    """(what is left for C, the names of constants)."""
    text = re.sub(r'/\*.*?\*/', ' ', text, flags=re.S)
    if '//' in text.split('\n', 1)[1]:
        raise Unknown('a comment that begins with //')
    text = text.split('\n', 1)[1] if text.startswith('//') else text
    text = text.replace('\\\n', ' ')
    text = re.sub(r'^#ifdef __cplusplus\n.*?^#endif\n', '', text, flags=re.S | re.M)
    constants, code = [], []
    for line in text.split('\n'):
        if not line.startswith('#'):
            code.append('' if ACCESS.fullmatch(line) else line)
            continue
        match = re.match(r'#define (\w+) +(\S.*)$', line)
        if match:
            constants.append(match[1])
        elif not re.match(r'#(define \w+\(|define OPENSM_PLUGIN_H$|define OSM_PRINTF\(|undef |if|'
                          r'else$|endif$|include <)', line):
            raise Unknown(line)
    return '\n'.join(code), constants


def pieces(code):
    """(what stands before braces, what stands in them or None) of all that ends on this level."""
    depth, start, head, body = 0, 0, None, 0
    for at, char in enumerate(code):
        if char == '{':
            depth += 1
            if depth == 1:
                head, body = code[start:at], at + 1
        elif char == '}':
            depth -= 1
            if depth == 0 and head.strip().startswith('static '):
                yield words(head), None  # a function
                head, start = None, at + 1
        elif char == ';' and depth == 0:
            if head is None:
                yield words(code[start:at]), None
            else:
                end = code.rindex('}', 0, at)
                if code[end + 1:at].strip():
                    raise Unknown(words(code[start:at]))
                yield words(head), code[body:end]
            head, start = None, at + 1
    if code[start:].strip() or depth:
        raise Unknown(words(code[start:]))


def enumerators(name, body):
    found = []
    for part in filter(None, (words(part) for part in body.split(','))):
        match = re.fullmatch(r'(\w+)(?: = [\w<>()+\- ]+)?', part)
        if not match:
            raise Unknown(f'enum {name}: {part}')
        found.append(match[1])
    return found


def members(name, body):
    """(member, its type as text) of a struct."""
    found = []
    *statements, rest = body.split(';')
    if rest.strip():
        raise Unknown(f'struct {name}: {words(rest)}')
    for statement in map(words, statements):
        function = FUNCTION.fullmatch(statement)
        if function:
            found.append((function[2], f'{words(function[1])} (*)({words(function[3])})'))
            continue
        match = MEMBER.fullmatch(statement)
        declarators = match[2].split(',') if match else []
        for text in declarators or ['']:
            declarator = DECLARATOR.fullmatch(text)
            if not declarator:
                raise Unknown(f'struct {name}: {statement}')
            kind = words(f'{match[1]} {declarator[1]}')
            found.append((declarator[2], kind + declarator[3]))
    return found


def parse(text):
    """{'constant': names, 'enum': {name: names}, 'struct': {name: [(member, type)]}}."""
    code, constants = preprocess(text)
    found = {'constant': constants, 'enum': {}, 'struct': {}}
    for head, body in pieces(code):
        match = re.fullmatch(r'(enum|struct) (\w+)', head)
        if match and body is not None:
            read = enumerators if match[1] == 'enum' else members
            found[match[1]][match[2]] = read(match[2], body)
        elif not ((match and match[1] == 'struct') or OTHER.fullmatch(head) or head == EXPORTED):
            raise Unknown(head)
    return found


# ---- the compiler ----

def program(parsed):
    lines = ['#include <stdio.h>', '#include "plugin.h"', 'int main(void)', '{']

    def show(line, *values):
        values = ''.join(f', (long long)({value})' for value in values)
        lines.append(f'\tprintf("{line}\\n"{values});')

    for name in parsed['constant']:
        show(f'constant {name} %lld', name)
    for name, values in parsed['enum'].items():
        show(f'enum {name}')
        for value in values:
            show(f'\t{value} %lld', value)
    for name, rows in parsed['struct'].items():
        show(f'struct {name} %lld %lld', f'sizeof(struct {name})', f'_Alignof(struct {name})')
        for member, kind in rows:
            show(f'\t{member} %lld %lld {kind}', f'offsetof(struct {name}, {member})',
                 f'sizeof(((struct {name} *)0)->{member})')
    return '\n'.join(lines + ['\treturn 0;', '}', ''])


def measure(text):
    """The layout of that header, as the text of a file."""
    compiler = shlex.split(os.environ.get('CC') or 'cc')
    with tempfile.TemporaryDirectory(prefix='opensm-abi.') as directory:
        for name, content in (('plugin.h', text), ('layout.c', program(parse(text)))):
            with open(os.path.join(directory, name), 'w', encoding='utf-8') as file:
                file.write(content)
        built = subprocess.run([*compiler, '-std=gnu11', '-o', 'layout', 'layout.c'],
                               cwd=directory, capture_output=True, text=True)
        if built.returncode:
            raise Unknown(built.stderr)
        return subprocess.run([os.path.join(directory, 'layout')], check=True,
                              capture_output=True, text=True).stdout


# ---- two layouts ----

def load(text):
    """{'struct osm_node': (its line, {'guid': the rest of its line})}."""
    found, rows = {}, None
    for line in text.splitlines():
        first, _, rest = line.strip().partition(' ')
        if line.startswith('\t'):
            rows[first] = rest
        elif line and not line.startswith('#'):
            name, _, figures = rest.partition(' ')
            rows = {}
            found[f'{first} {name}'] = (figures, rows)
    return found


def compare_struct(name, old, new):
    """A struct may grow at its end. A new member in what was padding could not be told from the
    padding of a program that does not know it."""
    (size, align), (now_size, now_align) = (map(int, part[0].split()) for part in (old, new))
    if now_size < size or now_align != align:
        yield f'{name}: size and alignment were {size} and {align}, are {now_size} and {now_align}'
    for member, figures in new[1].items():
        if member not in old[1] and int(NUMBER.match(figures)[0]) < size:
            yield f'{name}: {member} is new and not behind all that there was'


def padding(layout):
    """What structs have between their members, or behind them, so that no new member fits there."""
    for name, (figures, rows) in load(layout).items():
        if not name.startswith('struct'):
            continue
        end = 0
        for member, row in rows.items():
            at, size = map(int, row.split()[:2])
            if at != end:
                yield f'{name}: {at - end} octets before {member}'
            end = at + size
        size = int(figures.split()[0])
        if size != end:
            yield f'{name}: {size - end} octets at its end'


def changes(old, new):
    """(what breaks plug-ins that exist, what is new)."""
    old, new = load(old), load(new)
    broken, added = [], [name for name in new if name not in old]
    for name, (figures, rows) in old.items():
        if name not in new:
            broken.append(f'{name} is missing')
            continue
        now, now_rows = new[name]
        if name.startswith('constant') and figures != now:
            broken.append(f'{name} was {figures}, is {now}')
        if name.startswith('struct'):
            broken += compare_struct(name, old[name], new[name])
        for row, was in rows.items():
            if now_rows.get(row) != was:
                broken.append(f'{name}: {row} was {was}, is {now_rows.get(row, "missing")}')
        added += [f'{name}: {row}' for row in now_rows if row not in rows]
    return broken, added
