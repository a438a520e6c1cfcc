# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Words and phrases that no native reader would write about ports, switches and programs.

They are counted in comments, manual pages and texts. The known counts are in prose_known; a count
may only fall, and then the number there falls with it."""

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


def is_prose(file):
    """Comments of C, manual pages, and texts for people."""
    return (file.is_c or file.path.startswith('man/') or
            os.path.basename(file.path) in ('README', 'ARCHITECTURE', 'NEWS', 'REPORTING'))


def counts(files):
    """How often each of the phrases occurs."""
    texts = [file.comments if file.is_c else file.text for file in files if is_prose(file)]
    return {name: sum(len(re.findall(phrase, text, re.IGNORECASE | re.MULTILINE))
                      for text in texts)
            for name, phrase in PHRASES.items()}


def known(top):
    """The counts of prose_known."""
    with open(os.path.join(top, 'tests', 'style', 'prose_known'), encoding='utf-8') as stream:
        rows = [line.rsplit(' ', 1) for line in stream if line.strip() and line[0] != '#']
    return {name: int(number) for name, number in rows}


def phrases(files, top):
    """Comments and manual pages are in plain English: these phrases only become fewer."""
    limits = known(top)
    for name, number in counts(files).items():
        limit = limits.get(name, 0)
        if number > limit:
            yield f"'{name}' stands {number} times, {limit} are known (prose.py)"
        elif number < limit:
            yield f"'{name}' stands {number} times: put that into prose_known for {limit}"
