# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The mutants of a C file: small wrong changes inside its functions, found in clang's syntax tree.

Code of macros is left alone, and so are logging, assertions and code that only frees memory: the
first two are not behaviour, leaks are for the build with AddressSanitizer."""

import re
from dataclasses import dataclass

from clang.cindex import CursorKind, Index, TranslationUnit, TypeKind

SKIPPED_CALL = re.compile(r'(log_\w+|g_assert\w*|g_return\w*|g_clear_\w+|va_end|free|\w+_free\w*|'
                          r'\w+_clear|\w+_unref|\w+_release|G_STATIC_ASSERT|static_assert)$')
SWAPPED = {'<': '<=', '<=': '<', '>': '>=', '>=': '>', '==': '!=', '!=': '==', '&&': '||',
           '||': '&&'}
ASSIGNED = re.compile(r'([-+*/%&|^]|<<|>>)?=$')
NUMBER = re.compile(r'(0[xX][0-9a-fA-F]+|\d+)[uUlL]*$')
NO_CONDITION = re.compile(r'(true|false|\d+)$')
POINTERS = (TypeKind.POINTER, TypeKind.CONSTANTARRAY)
STATEMENT, TRUTH, VALUE = 'statement', 'truth', 'value'
STATEMENTS = (CursorKind.CALL_EXPR, CursorKind.BINARY_OPERATOR, CursorKind.UNARY_OPERATOR,
              CursorKind.COMPOUND_ASSIGNMENT_OPERATOR)
HOLDERS = (CursorKind.COMPOUND_STMT, CursorKind.IF_STMT, CursorKind.FOR_STMT,
           CursorKind.WHILE_STMT, CursorKind.CASE_STMT, CursorKind.DEFAULT_STMT)


@dataclass(frozen=True)
class Mutant:
    """The bytes from start to end of the file at path become new."""
    path: str
    function: str
    line: int
    start: int
    end: int
    new: str
    before: str  # the lines concerned in one, without indentation
    after: str
    kind: str  # STATEMENT, or what the expression is used as: TRUTH or VALUE
    outer: tuple  # start and end of the whole expression

    @property
    def directory(self):
        return self.path.rsplit('/', 1)[0]

    @property
    def lines(self):
        return range(self.line, self.line + self.new.count('\n') + 1)

    @property
    def name(self):
        """A key that stays the same when other lines of the file change."""
        return self.path, self.function, self.before, self.after


def one_line(text):
    return ' '.join(text.split())


class Finder:
    def __init__(self, path, text, arguments, shown_path):
        self.path, self.text = shown_path, text
        self.code = text.encode()
        options = TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD
        unit = Index.create().parse(path, args=arguments, options=options,
                                    unsaved_files=[(path, text)])
        errors = [str(fault) for fault in unit.diagnostics if fault.severity >= 3]
        if errors:
            raise ValueError(f'{path}: clang cannot read it: {errors[0]}')
        self.macros, self.found = [], {}
        for cursor in unit.cursor.get_children():
            if cursor.location.file and cursor.location.file.name == path:
                self.top_level(cursor)

    def top_level(self, cursor):
        if cursor.kind == CursorKind.MACRO_INSTANTIATION:
            self.macros.append(self.span(cursor))
        elif cursor.kind == CursorKind.FUNCTION_DECL and cursor.is_definition():
            self.function, self.result = cursor.spelling, cursor.result_type
            for child in cursor.get_children():
                if child.kind == CursorKind.COMPOUND_STMT:
                    self.walk(child, cursor)

    @staticmethod
    def span(cursor):
        return cursor.extent.start.offset, cursor.extent.end.offset

    def source(self, cursor):
        start, end = self.span(cursor)
        return self.code[start:end].decode()

    def add(self, start, end, new, kind, outer=None):
        old = self.code[start:end].decode()
        first = self.code.rfind(b'\n', 0, start) + 1
        last = self.code.find(b'\n', end)
        head, tail = self.code[first:start].decode(), self.code[end:last].decode()
        line = self.code.count(b'\n', 0, start) + 1
        self.found.setdefault((start, end, new), Mutant(
            self.path, self.function, line, start, end, new + '\n' * old.count('\n'),
            one_line(head + old + tail), one_line(head + new + tail), kind, outer or (start, end)))

    def replace(self, cursor, new, kind=VALUE):
        self.add(*self.span(cursor), new, kind)

    def in_macro(self, cursor):
        """Whether a macro wrote it: then it has no text of its own."""
        start, end = self.span(cursor)
        return any(first <= start and end <= last for first, last in self.macros)

    def operator_of(self, cursor):
        left, right = list(cursor.get_children())[:2]
        start, end = left.extent.end.offset, right.extent.start.offset
        return self.code[start:end].decode(), start

    def condition(self, cursor, values):
        text = self.source(cursor)
        if not text or NO_CONDITION.match(text):
            return
        for value in values:
            self.replace(cursor, value, TRUTH)
        if cursor.kind == CursorKind.UNARY_OPERATOR and text.startswith('!'):
            return
        if cursor.kind == CursorKind.BINARY_OPERATOR:
            if self.operator_of(cursor)[0].strip() in ('==', '!='):
                return
        self.replace(cursor, f'!({text})', TRUTH)

    def statement(self, cursor):
        """Calls and assignments whose value is not used."""
        text = self.source(cursor)
        call = re.match(r'(?:\(void\)\s*)?(\w+)\s*\(', text)
        if call and SKIPPED_CALL.match(call.group(1)):
            return
        is_assignment = cursor.kind == CursorKind.BINARY_OPERATOR and \
            ASSIGNED.match(self.operator_of(cursor)[0].strip())
        if cursor.kind != CursorKind.BINARY_OPERATOR or is_assignment or call:
            self.replace(cursor, '', STATEMENT)

    def result_flipped(self, cursor):
        children = list(cursor.get_children())
        if not children:
            return
        text, kind = self.source(children[0]), self.result.get_canonical().kind
        if kind == TypeKind.BOOL:
            literal = {'true': 'false', 'false': 'true'}.get(text)
            if literal or not text.startswith('!'):
                self.replace(children[0], literal or f'!({text})')
        elif kind in POINTERS and text != 'NULL':
            self.replace(children[0], 'NULL')
        elif kind not in POINTERS and kind != TypeKind.RECORD and text != '0':
            self.replace(children[0], '0')

    def expression(self, cursor, parent):
        text = self.source(cursor)
        if cursor.kind == CursorKind.BINARY_OPERATOR:
            gap, start = self.operator_of(cursor)
            if gap.strip() in SWAPPED:
                new = gap.replace(gap.strip(), SWAPPED[gap.strip()])
                self.add(start, start + len(gap), new, VALUE, self.span(cursor))
        elif cursor.kind == CursorKind.UNARY_OPERATOR and text.startswith('!'):
            self.replace(cursor, text[1:], TRUTH)
        elif cursor.kind == CursorKind.INTEGER_LITERAL and NUMBER.match(text):
            if parent.kind != CursorKind.INIT_LIST_EXPR:
                self.replace(cursor, f'({text} + 1)')
        elif cursor.kind == CursorKind.RETURN_STMT:
            self.result_flipped(cursor)

    def walk(self, cursor, parent):
        children = list(cursor.get_children())
        if cursor.kind in HOLDERS:
            body = children if cursor.kind == CursorKind.COMPOUND_STMT else children[1:]
            if cursor.kind == CursorKind.FOR_STMT:
                body = children[-1:]
            for child in body:
                if child.kind in STATEMENTS or child.kind != CursorKind.COMPOUND_STMT and \
                        self.in_macro(child):
                    self.statement(child)
        if self.in_macro(cursor) or (cursor.kind == CursorKind.CALL_EXPR and
                                     SKIPPED_CALL.match(cursor.spelling)):
            return
        if cursor.kind in (CursorKind.IF_STMT, CursorKind.CONDITIONAL_OPERATOR):
            self.condition(children[0], ('true', 'false'))
        elif cursor.kind == CursorKind.WHILE_STMT:
            self.condition(children[0], ('false',))
        self.expression(cursor, parent)
        for child in children:
            self.walk(child, cursor)


def mutants_of(path, arguments, shown_path=None):
    """All mutants of the file, by place; arguments are those of its compiler."""
    with open(path, encoding='utf-8') as source:
        text = source.read()
    finder = Finder(path, text, arguments, shown_path or path)
    return sorted(finder.found.values(), key=lambda mutant: (mutant.start, mutant.end, mutant.new))


def changed(code, mutant, start=0, end=None):
    """The code, or the part of it from start to end, with this mutant."""
    return code[start:mutant.start] + mutant.new.encode() + code[mutant.end:end]


def apply(text, mutant):
    return changed(text.encode(), mutant).decode()


def switch(code, numbered, old):
    """Replaces old, a place where each of the mutants can be active: see switch.h."""
    mutants = [mutant for _, mutant in numbered]
    if any(mutant.kind == STATEMENT for mutant in mutants):
        # Not "if", to which the "else" of another would belong.
        off = ' && '.join(f'!mutant_on({number})' for number, _ in numbered)
        return f'for (int mutant_off = {off}; mutant_off; mutant_off = 0) '.encode() + old
    truth = b'!!' if any(mutant.kind == TRUTH for mutant in mutants) else b''
    text = b'('
    for number, mutant in numbered:
        new = b' '.join(changed(code, mutant, *mutant.outer).split())
        text += f'mutant_on({number}) ? '.encode() + truth + b'(' + new + b') : '
    return text + truth + b'(' + old + b'))'


def woven(text, numbered):
    """The text with all of these (number, mutant) in it, on lines of the same number."""
    code, places = text.encode(), {}
    for number, mutant in numbered:
        places.setdefault(mutant.outer, []).append((number, mutant))
    spans = sorted(places, key=lambda span: (span[0], -span[1]))

    def weave(start, end):
        parts = []
        while spans and spans[0][1] <= end:
            span = spans.pop(0)
            parts += [code[start:span[0]], switch(code, places[span], weave(*span))]
            start = span[1]
        return b''.join(parts) + code[start:end]
    return weave(0, len(code)).decode()
