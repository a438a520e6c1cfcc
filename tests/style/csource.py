# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Just enough of a C reader for the style checks, made for one layout: functions, types and
prototypes start in column 0, the braces of a function's body stand alone in column 0."""

import re

TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
ONE_LINE_FUNCTION = re.compile(r'^[A-Za-z_][^=;]*\)\s*\{.*\}\s*$')
BRACE_AT_END = re.compile(r'^[A-Za-z_][^=;]*\)\s*\{\s*$')


def blank(text):
    """The text with every character but line ends turned into a space."""
    return re.sub(r'[^\n]', ' ', text)


def code_only(text):
    """Comments and the insides of strings blanked, so that no word in them counts; lines stay."""
    def replace(match):
        token = match.group(0)
        if token[0] in '"\'':
            return token[0] + blank(token[1:-1]) + token[0]
        return blank(token)
    return TOKEN.sub(replace, text)


def comments_only(text):
    """Everything except comments blanked; lines stay."""
    kept, last = [], 0
    for match in TOKEN.finditer(text):
        kept.append(blank(text[last:match.start()]))
        token = match.group(0)
        kept.append(token if token[0] == '/' else blank(token))
        last = match.end()
    return ''.join(kept) + blank(text[last:])


def strings(text):
    """The insides of all strings; those with only blanks or a macro between them are one."""
    found, last = [], None
    for match in TOKEN.finditer(text):
        if match.group(0)[0] != '"':
            continue
        if last is not None and re.fullmatch(r'[\s\\]*(?:[A-Z][A-Za-z0-9_]*\s*)?',
                                             text[last:match.start()]):
            found[-1] += match.group(0)[1:-1]
        else:
            found.append(match.group(0)[1:-1])
        last = match.end()
    return found


class Function:
    """A function's name and its lines from the first of the signature to the closing brace."""

    def __init__(self, signature, first, last):
        called = re.search(r'([A-Za-z_]\w*)\s*\(\s*([A-Za-z_]\w*)?', signature)
        self.name = called.group(1)
        if self.name == 'START_TEST' and called.group(2):
            self.name = called.group(2)
        self.signature = signature
        self.first, self.last = first, last
        self.length = last - first + 1


def signature_above(lines, brace):
    """Index of the first line of what the brace on line index `brace` belongs to."""
    first = brace
    while first > 0:
        above = lines[first - 1].rstrip()
        if not above or above[0] in '#}' or above[-1] in ';}\\':
            break
        first -= 1
    return first


def end_of_body(lines, start):
    """Index of the first line from `start` on with a closing brace in column 0."""
    for index in range(start, len(lines)):
        if lines[index].startswith('}'):
            return index
    return len(lines) - 1


def functions(code):
    """All function definitions of a file whose comments are blanked already (code_only)."""
    lines = code.split('\n')
    found, index = [], 0
    while index < len(lines):
        line, first = lines[index].rstrip(), index
        if ONE_LINE_FUNCTION.match(line):
            found.append(Function(line, index + 1, index + 1))
        elif line == '{' or BRACE_AT_END.match(line):
            if line == '{':
                first = signature_above(lines, index)
            signature = ' '.join(lines[first:index + 1])
            if '(' in signature and '=' not in signature:
                index = end_of_body(lines, index + 1)
                found.append(Function(signature, first + 1, index + 1))
        index += 1
    return found


def braces_at_end(code):
    """Numbers of the lines that open a function's body at the end of its signature."""
    return [number for number, line in enumerate(code.split('\n'), 1)
            if BRACE_AT_END.match(line)]


def prototypes(code):
    """(number of first line, number of last line, text) of each function prototype."""
    lines = code.split('\n')
    inside = set()
    for function in functions(code):
        inside.update(range(function.first, function.last + 1))
    found, index = [], 0
    while index < len(lines):
        start = index
        index += 1
        if start + 1 in inside or not re.match(r'[a-z_]', lines[start]):
            continue
        text = lines[start]
        while ';' not in text and '{' not in text and index < len(lines) and lines[index].strip():
            text += ' ' + lines[index].strip()
            index += 1
        if re.match(r'(typedef|return|_Static_assert|struct\s+\w+\s*;)\b', text):
            continue
        if re.search(r'\w\s*\([^=]*\)[^=()]*(\w+\(.*\)\s*)?;', text) and '=' not in text:
            if '{' not in text:
                found.append((start + 1, index, text))
    return found


def includes(text):
    """(number of line, name) of each #include "name"."""
    return [(number, match.group(1))
            for number, line in enumerate(text.split('\n'), 1)
            if (match := re.match(r'\s*#\s*include\s+"([^"]+)"', line))]
