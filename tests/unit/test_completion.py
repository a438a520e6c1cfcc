#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Completions, as made by bash itself: every flag that --help knows is offered, and after one with
an argument the files or the words that it takes."""

import os
import re
import shlex
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))

from checks import Checks  # noqa: E402 (found through the path above)

LIBRARY = '/usr/share/bash-completion/bash_completion'
BUILD = os.environ.get('top_builddir', '.')
OPENSM = os.path.join(BUILD, 'opensm/opensm')
TOOLS = {'osmsim': 'libvendor/osmsim/osmsim', 'osmroute': 'opensm/osmroute/osmroute',
         'osmsim-run': 'libvendor/preload/osmsim-run',
         'opensmctl': 'opensm/opensmctl/opensmctl'}
SSA_TOOLS = {'ssadmin': 'opensm/ssa/admin/ssadmin', 'opensm-ssa': 'opensm/ssa/node/opensm-ssa'}
NOTHING = ('N', 'HEX', 'TEXT', 'X')  # arguments that cannot be guessed
GUESSED = ('--guid', '--sim', '--log_file')
SKIPPED = 77
# One line of words a question, of which the last is completed; one line of words an answer.
SCRIPT = r'''
. {library}
. {build}/config/completion/opensm
. {build}/config/completion/opensmctl
. {build}/config/completion/osmsim
if [ -e {build}/config/completion/ssadmin ]; then . {build}/config/completion/ssadmin; fi
declare -A functions
while IFS= read -r line; do
	eval "COMP_WORDS=($line)"
	COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)) COMP_LINE="${{COMP_WORDS[*]}}" COMPREPLY=()
	COMP_LINE=${{COMP_LINE// = /=}}
	COMP_POINT=${{#COMP_LINE}}
	word=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD - 1]}}
	command=${{COMP_WORDS[0]##*/}}
	if [ -z "${{functions[$command]-}}" ]; then
		function=$(complete -p "$command") function=${{function#*-F }}
		functions[$command]=${{function%% *}}
	fi
	${{functions[$command]}} "${{COMP_WORDS[0]}}" "$word" "$prev" 2>/dev/null
	printf '%s\n' "${{COMPREPLY[*]}}"
done
'''

checks = Checks()
check = checks.check


class Bash:
    """Collects questions and gives them to one bash."""

    def __init__(self, directory):
        self.directory, self.questions = directory, []

    def ask(self, what, words, judge):
        """judge(list of offers) says whether that is right."""
        self.questions.append((what, words, judge))

    def close(self):
        lines = [' '.join(shlex.quote(word) for word in words) for _, words, _ in self.questions]
        # compopt works only while bash itself completes.
        script = 'compopt() { :; }\n' + SCRIPT.format(library=LIBRARY,
                                                      build=os.path.abspath(BUILD))
        run = subprocess.run(['bash', '--norc', '-c', script], input='\n'.join(lines) + '\n',
                             capture_output=True, text=True, cwd=self.directory)
        answers = run.stdout.split('\n')[:-1]
        if not check('an answer each', len(answers) == len(lines), run.stderr or run.stdout):
            return
        for (what, words, judge), answer in zip(self.questions, answers):
            check(what, judge(answer.split()), f'{words}: {answer}')


def flags_of(program):
    """(list of spellings, argument or None) of each flag that --help shows."""
    text = subprocess.run([program, '--help'], capture_output=True, text=True).stdout
    found = []
    for flags, argument in re.findall(r'^  (-[^\s,]+(?:, --\S+)?)(?: (\S+))?$', text, re.M):
        found.append((flags.split(', '), argument or None))
    return found


def ask_value(bash, flag, argument):
    name = f'{flag} {argument}'
    if argument in ('FILE', 'DIR'):
        bash.ask(name, ['opensm', flag, 'some-f'], lambda got: 'some-file' in got)
    elif argument == 'LIST':
        bash.ask(name, ['opensm', flag, 'min'], lambda got: got == ['minhop'])
        bash.ask(name + ' goes on', ['opensm', flag, 'dor,min'],
                 lambda got: got == ['dor,minhop'])
    elif '|' in argument:
        bash.ask(name, ['opensm', flag, ''], lambda got: sorted(got) == sorted(argument.split('|')))
    elif argument in NOTHING:
        bash.ask(name, ['opensm', flag, 'some-f'], lambda got: got in ([], ['some-file']))
    else:
        check(f'{name} is known to this test', False)


def ask_opensm(bash):
    flags = flags_of(OPENSM)
    check('--help has flags', len(flags) > 60, len(flags))
    for spellings, argument in flags:
        for flag in spellings:
            bash.ask(f'{flag} is offered', ['opensm', flag], lambda got, flag=flag: flag in got)
            if argument:
                ask_value(bash, flag, argument)
        if argument in ('FILE', 'DIR'):
            long = spellings[-1]
            bash.ask(f'{long}=', ['opensm', long, '=', 'some-f'], lambda got: 'some-file' in got)
            bash.ask(f'{long[1:]}', ['opensm', long[1:], 'some-f'], lambda got: 'some-file' in got)
    known = {flag for spellings, _ in flags for flag in spellings}
    bash.ask('nothing else is offered', ['opensm', '-'], lambda got: set(got) == known)
    bash.ask('the log may be no file', ['opensm', '-f', 's'],
             lambda got: set(got) == {'some-file', 'stdout', 'stderr', 'syslog'})
    bash.ask('no port is the first', ['opensm', '-g', '0'], lambda got: '0' in got)
    bash.ask('shapes', ['opensm', '--sim', 'fat'], lambda got: got == ['fattree:'])
    bash.ask('an old name', ['opensm', '--dimn_ports_file', 'some-f'],
             lambda got: 'some-file' in got)


def ask_engines(bash):
    """The offers must be exactly these."""
    program = os.path.join(BUILD, TOOLS['osmroute'])
    said = subprocess.run([program, '-R', '?', 'fattree:4'], capture_output=True, text=True).stderr
    known = set(re.findall(r'[\w-]+', said.rsplit('expected one of', 1)[-1]))
    check('osmroute names engines', 'minhop' in known, said)
    bash.ask('all engines', ['osmroute', '-R', ''], lambda got: set(got) == known)
    bash.ask('and no_fallback', ['opensm', '-R', ''],
             lambda got: set(got) == known | {'no_fallback'})


def ask_tools(bash):
    for name, path in TOOLS.items():
        program = os.path.join(BUILD, path)
        text = subprocess.run([program, '--help'], capture_output=True, text=True).stdout
        for flag in re.findall(r'^  (?:-\w, )?(--[\w-]+)', text, re.M):
            bash.ask(f'{name} {flag}', [name, flag], lambda got, flag=flag: any(
                word.rstrip('=') == flag for word in got))
    bash.ask('commands', ['osmsim', '-c', 'unl'], lambda got: got == ['unlink'])
    bash.ask('commands', ['opensmctl', 'heal'], lambda got: got == ['health'])
    bash.ask('after options', ['opensmctl', '-s', 'some-file', '-j', 'vers'],
             lambda got: got == ['version'])
    bash.ask('options of events', ['opensmctl', '-j', 'events', '--f'],
             lambda got: got == ['--follow'])
    bash.ask('more of them', ['opensmctl', 'events', '--follow', '--'],
             lambda got: got == ['--follow', '--json', '--since', '--kind'])
    bash.ask('plug-ins', ['opensmctl', 'plugins', 'st'], lambda got: got == ['start', 'stop'])
    bash.ask('their names', ['fake/opensmctl', '-j', '-s', 'x', 'plugins', 'stop', 'o'],
             lambda got: got == ['odd'])
    bash.ask('without a daemon', ['opensmctl', '-s', 'some-file', 'plugins', 'stop', 'o'],
             lambda got: got == [])
    bash.ask('a socket', ['opensmctl', '-s', 'some-f'], lambda got: got == ['some-file'])
    bash.ask('shapes', ['osmroute', 'tor'], lambda got: got == ['torus:'])
    bash.ask('a topology', ['osmsim', 'some-f'], lambda got: got == ['some-file'])
    bash.ask('what is lost', ['osmroute', '--outage', 'link,le'],
             lambda got: got == ['link,leaf'])


def ask_ssa(bash):
    for name, words, expected in (
            ('commands', ['sna'], ['snapshot']), ('after options', ['-j', 'tr'], ['tree']),
            ('roles', ['--filter', '=', 'ac'], ['access', 'acm']),
            ('formats', ['-f', 's'], ['short']), ('directions', ['-r', ''], ['d', 'u']),
            ('a file', ['-s', 'some-f'], ['some-file']),
            ('another snapshot', ['snapshot', 'some-f'], ['some-file']),
            ('no second command', ['ping', 's'], [])):
        bash.ask(f'ssadmin: {name}', ['ssadmin', *words],
                 lambda got, expected=expected: got == expected)
    bash.ask('its configuration', ['opensm-ssa', '-c', 'some-f'], lambda got: got == ['some-file'])


def make_fake(directory):
    """An opensmctl whose daemon has plug-ins."""
    path = os.path.join(directory, 'fake', 'opensmctl')
    os.mkdir(os.path.dirname(path))
    with open(path, 'w') as file:
        file.write('#!/bin/sh\n[ "$*" = "-s x plugins" ] && printf \'%s\\n\' '
                   '"odd: running, odd 1.2" "./lib.so: failed"\n')
    os.chmod(path, 0o755)


def main():
    if not os.path.exists(LIBRARY):
        print('SKIP: bash-completion is not installed')
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix='opensm-completion.') as directory:
        with open(os.path.join(directory, 'some-file'), 'w'):
            pass
        make_fake(directory)
        programs = os.path.join(directory, 'programs')
        os.mkdir(programs)
        has_ssa = all(os.path.exists(os.path.join(BUILD, path)) for path in SSA_TOOLS.values())
        if has_ssa:
            TOOLS.update(SSA_TOOLS)
        for name, path in TOOLS.items():
            os.symlink(os.path.abspath(os.path.join(BUILD, path)), os.path.join(programs, name))
        os.environ['PATH'] = f'{programs}:{os.environ["PATH"]}'
        bash = Bash(directory)
        ask_opensm(bash)
        ask_engines(bash)
        ask_tools(bash)
        if has_ssa:
            ask_ssa(bash)
        bash.close()
    return checks.close()


if __name__ == '__main__':
    sys.exit(main())
