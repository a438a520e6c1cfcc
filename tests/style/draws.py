# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Draws of random numbers whose order C leaves to the compiler: two in one list of arguments, in
one list of initial values, or on both sides of an operator that is not a sequence point. Such a
seed means another fabric with another compiler."""

import re

# Functions that step a generator of this tree, or of libraries.
GENERATOR = re.compile(r'\+= UINT64_C\(0x9E3779B97F4A7C15\)|\* (UINT64_C\()?6364136223846793005')
LIBRARY = re.compile(r'g_rand(om)?_(int|double|boolean)(_range)?|rand|random|[dlm]rand48')
CALL = re.compile(r'(\w+)\s*\(')
TOKEN = re.compile(r'\w+|->|&&|\|\||<<=|>>=|[-+*/%&|^!=<>]=|[^\w\s]')
DIRECTIVE = re.compile(r'^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', re.M)
NAME = re.compile(r'[A-Za-z_]\w*$')
CONTROL = {'if', 'for', 'while', 'switch', 'return', 'sizeof', 'else', 'do', 'case'}
HEADS = {'if', 'for', 'while', 'switch'}
ASSIGNMENTS = {'=', '+=', '-=', '*=', '/=', '%=', '&=', '|=', '^=', '<<=', '>>='}
CLOSING = {'(': ')', '[': ']', '{': '}'}
# Macros of GLib that evaluate an argument a second time.
TWICE = {'MAX', 'MIN', 'CLAMP', 'ABS'}


class Token(str):
    """A token and the number of its line."""

    line = 0


class Group(list):
    """The contents of two brackets: tokens and groups."""

    def __init__(self, bracket, line):
        super().__init__()
        self.bracket, self.line = bracket, line
        self.after_name = False  # a name is in front of it
        self.call = None  # that name, if the group is a list of arguments
        self.head = False  # of a statement such as if
        self.initial = False  # a list of initial values


def tokens(text, first):
    """The tokens of a function's body, whose first line has this number."""
    text = DIRECTIVE.sub(lambda match: re.sub(r'[^\n]', ' ', match.group(0)), text)
    line, last = first, 0
    for match in TOKEN.finditer(text):
        line += text.count('\n', last, match.start())
        last = match.start()
        token = Token(match.group(0))
        token.line = line
        yield token


def group_of(stream, group):
    """Fills the group from the stream, up to its end."""
    for token in stream:
        if token in CLOSING.values():
            return group
        if token not in CLOSING:
            group.append(token)
            continue
        before = group[-1] if group else None
        inner = Group(str(token), token.line)
        if token == '(' and isinstance(before, Token) and NAME.match(before):
            inner.after_name = True
            inner.call = before if before not in CONTROL else None
            inner.head = before in HEADS
        if token == '{':
            cast = isinstance(before, Group) and before.bracket == '(' and not before.after_name
            inner.initial = (cast or group.initial or group.bracket == '(' or
                             isinstance(before, Token) and before in ASSIGNMENTS)
        group.append(group_of(stream, inner))
    return group


def split(items, separators):
    """The runs of items between the separators."""
    parts = [[]]
    for item in items:
        if isinstance(item, Token) and item in separators:
            parts.append([])
        else:
            parts[-1].append(item)
    return parts


class Reader:
    """Finds the lines of a body where the order of two draws is open."""

    def __init__(self, drawing):
        self.drawing = drawing  # names of functions that draw
        self.lines = []

    def at_most_one(self, counts, line):
        if sum(counts) > 1:
            self.lines.append(line)
        return min(sum(counts), 1)

    def group(self, group):
        """Whether a group draws (1 or 0), after its contents were checked."""
        if group.bracket == '{' and not group.initial:  # a block: its statements are no value
            self.statements(group)
            return 0
        if group.initial or group.call:
            parts = [self.assignment(part) for part in split(group, {','})]
            draws = self.at_most_one(parts, group.line)
            if group.call in TWICE:
                self.at_most_one([draws, draws], group.line)
            return int(draws or (group.call in self.drawing))
        return self.statements(group)

    def statements(self, items):
        """A block, the head of a loop or a parenthesis: one after the other."""
        drawn, run = 0, []
        for item in [*items, Token(';')]:
            whole = isinstance(item, Group) and (
                item.head or item.bracket == '{' and not item.initial)
            if not whole and item != ';':
                run.append(item)
                continue
            drawn = max([drawn] + [self.assignment(part) for part in split(run, {','})])
            run = []
            if whole:
                self.group(item)
        return drawn

    def assignment(self, items):
        sides = [self.choice(side) for side in split(items, ASSIGNMENTS)]
        return self.at_most_one(sides, self.line_of(items))

    def choice(self, items):
        """Of a ? b : c, a && b and a || b, one part comes after the other."""
        return max(self.operands(part) for part in split(items, {'?', ':', '&&', '||'}))

    def operands(self, items):
        counts = [self.group(item) for item in items if isinstance(item, Group)]
        return self.at_most_one(counts, self.line_of(items))

    @staticmethod
    def line_of(items):
        return items[0].line if items else 0


def open_orders(body, first, drawing):
    """Numbers of the lines of a function that leave the order of two draws open."""
    if not any(name in drawing for name in CALL.findall(body)):
        return []
    reader = Reader(drawing)
    reader.statements(group_of(tokens(body, first), Group('{', first)))
    return sorted(set(reader.lines))


def bodies_of(file):
    """(function, its text) of each function of a file."""
    lines = file.code.split('\n')
    return [(function, '\n'.join(lines[function.first - 1:function.last]))
            for function in file.functions]


def begins_anew(function):
    """Whether a function gets a seed by value: it changes no state of its caller."""
    parameters = function.signature.partition('(')[2]
    return re.search(r'\bseed\b', parameters) and '*' not in parameters


def known_elsewhere(file, function):
    return file.path.endswith('.h') or 'static' not in function.signature.split('(')[0].split()


def callers_of(texts, exported):
    """{a function: those that call it}. A function of the tree is (path, name), because a static
    one is known to its own file only; others go by their name."""
    callers = {}
    for key, text in texts.items():
        for name in set(CALL.findall(text)) - {key[1]}:
            own = (key[0], name)
            callee = own if own in texts else exported.get(name, name)
            callers.setdefault(callee, set()).add(key)
    return callers


def drawing_functions(files):
    """{path: names of the functions that draw, as this file knows them}."""
    texts, exported, anew = {}, {}, set()
    for file in files:
        for function, text in bodies_of(file):
            key = (file.path, function.name)
            texts[key] = text
            if begins_anew(function):
                anew.add(key)
            if known_elsewhere(file, function):
                exported[function.name] = key
    callers = callers_of(texts, exported)
    edge = {key for key, text in texts.items() if GENERATOR.search(text)}
    edge |= {name for name in callers if isinstance(name, str) and LIBRARY.fullmatch(name)}
    drawing = set(edge)
    while edge:
        edge = set().union(*(callers.get(callee, ()) for callee in edge)) - anew - drawing
        drawing |= edge
    foreign = {name for name in drawing if isinstance(name, str)}
    foreign |= {name for name, key in exported.items() if key in drawing}
    return {file.path: foreign - {function.name for function in file.functions} |
            {key[1] for key in drawing if key[0] == file.path} for file in files}
