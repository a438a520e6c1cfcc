# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Words and phrases that no native reader would write about ports, switches and programs.

They are counted in comments and manual pages, and, in names that begin with "text", in the strings
of the product, which users read. The known counts are in prose_known, 0 if a name is not there; a
count may only fall, and then the number there falls with it."""

import os
import re

# Name -> pattern. What to write instead is beside it.
PHRASES = {
    'who': r'\b(?:who|whom|whoever)\b',  # a switch that, the port that
    'he': r'\b(?:he|him|his)\b',  # it, its
    'nobody': r'\b(?:nobody|somebody|anybody|everybody)\b',  # no device, a client, any host
    'so many': r'\bso many\b',  # at most 8 tries
    'at hand': r'\bat hand\b',  # known, given
    'likewise': r'\blikewise\b',  # also
    'is no': r'\b(?:is|was|are|were) no [a-z]+',  # is not a
    'the same': r'(?:^|[.:] |/\*\s)the same\b',  # a comment names what it is about
    'is met': r'\b(?:is|was|are|were) met\b',  # is found
    'anew': r'\banew\b',  # again
}
# What is looked for in strings: these phrases, and a few more that sound wrong in messages.
TEXT_PHRASES = {
    **PHRASES,
    'is no': r'(?<!there )\b(?:is|was|are|were) no (?!longer\b)[a-z]+',  # is not a
    'left out': r'\bleft out\b',  # excluded, ignored
    'held back': r'\bheld back\b',  # suppressed
    'put right': r'\bputs? right\b',  # corrected
    'no sense': r'\bno sense\b',  # is invalid
    'all the same': r'\ball the same\b',  # nevertheless; or left out
    'for want of': r'\bfor want of\b',  # because it has no
}


def is_prose(file):
    """Comments of C, manual pages, and texts for people."""
    return (file.is_c or file.path.startswith('man/') or
            os.path.basename(file.path) in ('README', 'ARCHITECTURE', 'NEWS', 'REPORTING'))


def count(phrase, texts):
    return sum(len(re.findall(phrase, text, re.IGNORECASE | re.MULTILINE)) for text in texts)


def counts(files):
    """How often each of the phrases occurs."""
    texts = [file.comments if file.is_c else file.text for file in files if is_prose(file)]
    strings = [text for file in files if not file.path.startswith('tests/')
               for text in file.strings if ' ' in text]
    found = {name: count(phrase, texts) for name, phrase in PHRASES.items()}
    found.update((f'text {name}', count(phrase, strings))
                 for name, phrase in TEXT_PHRASES.items())
    return found


def known(top):
    """The counts of prose_known."""
    with open(os.path.join(top, 'tests', 'style', 'prose_known'), encoding='utf-8') as stream:
        rows = [line.rsplit(' ', 1) for line in stream if line.strip() and line[0] != '#']
    return {name: int(number) for name, number in rows}


def phrases(files, top):
    """Comments, manual pages and messages are in plain English: these phrases only become fewer."""
    limits = known(top)
    for name, number in counts(files).items():
        limit = limits.get(name, 0)
        if number > limit:
            yield f"'{name}' stands {number} times, {limit} are known (prose.py)"
        elif number < limit:
            yield f"'{name}' stands {number} times: put that into prose_known for {limit}"
