# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The survivors that are accepted, with the reason, in a file of entries such as

    opensm/sm/write/lid.c lid_of
    - if (lid < top)
    + if (lid <= top)
    equivalent: the table is one longer and ends with 0

The first line names file and function, the next two are the code before and after, and the reason
starts with "equivalent:" (no test can tell) or "untested:" (one could; it counts as a survivor).
Lines that start with # are comments."""

EQUIVALENT, UNTESTED = 'equivalent:', 'untested:'


class Malformed(ValueError):
    pass


def form_name(name):
    path, function, before, after = name
    return f'{path} {function}\n- {before}\n+ {after}\n'


def form(mutant):
    return form_name(mutant.name)


def entry_of(where, block):
    if len(block) < 4:
        raise Malformed(f'{where}: expected four lines: "FILE FUNCTION", "- BEFORE", "+ AFTER" '
                        f'and the reason, not {len(block)}')
    words = block[0].split()
    if len(words) != 2 or block[1][:2] != '- ' or block[2][:2] not in ('+ ', '+'):
        raise Malformed(f'{where}: expected "FILE FUNCTION", "- BEFORE", "+ AFTER"')
    reason = ' '.join(block[3:])
    if not reason.startswith((EQUIVALENT, UNTESTED)):
        raise Malformed(f'{where}: "{reason}" starts with neither "{EQUIVALENT}" nor "{UNTESTED}"')
    return (*words, block[1][2:], block[2][2:]), reason


def parse(name, text):
    """Reason by (file, function, before, after)."""
    entries, block, first = {}, [], 0
    for number, line in enumerate([*text.split('\n'), ''], 1):
        if line.startswith('#'):
            continue
        if line.strip():
            first = first if block else number
            block.append(line.strip())
        elif block:
            key, reason = entry_of(f'{name}:{first}', block)
            entries[key], block = reason, []
    return entries


def load(path):
    with open(path, encoding='utf-8') as file:
        return parse(path, file.read())


def stale(entries, mutants, paths):
    """Entries of these files that no mutant has."""
    names = {mutant.name for mutant in mutants}
    return [name for name in entries if name[0] in paths and name not in names]
