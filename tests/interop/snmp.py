# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Debian's snmpd, snmptrapd and SNMP tools, all private: nothing of the host's own is read."""

import os
import re
import socket
import subprocess

import ibsim
import osmsim

NEEDED = ('snmpd', 'snmptrapd', 'snmpset', 'snmpget', 'snmpwalk', 'snmpbulkwalk', 'snmptranslate')
SECONDS = 60
BASE = '1.3.6.1.4.1.8072.9999.9999'
OBJECTS = f'{BASE}.1.1'
SUBAGENT = ('opensm', 'snmp', 'opensm-snmp')
# RowStatus
ACTIVE, CREATE_AND_GO, CREATE_AND_WAIT, DESTROY = 1, 4, 5, 6
# What of the modules that OPENSM-MIB needs: Debian has no texts of the IETF.
MODULES = {
    'SNMPv2-SMI': '''org OBJECT IDENTIFIER ::= { iso 3 }
dod OBJECT IDENTIFIER ::= { org 6 }
internet OBJECT IDENTIFIER ::= { dod 1 }
private OBJECT IDENTIFIER ::= { internet 4 }
enterprises OBJECT IDENTIFIER ::= { private 1 }
Integer32 ::= INTEGER (-2147483648..2147483647)
Gauge32 ::= [APPLICATION 2] IMPLICIT INTEGER (0..4294967295)
Unsigned32 ::= [APPLICATION 2] IMPLICIT INTEGER (0..4294967295)
Counter64 ::= [APPLICATION 6] IMPLICIT INTEGER (0..18446744073709551615)
''',
    'SNMPv2-TC': '''TruthValue ::= TEXTUAL-CONVENTION
    STATUS current
    DESCRIPTION "yes or no"
    SYNTAX INTEGER { true(1), false(2) }
RowStatus ::= TEXTUAL-CONVENTION
    STATUS current
    DESCRIPTION "of a row"
    SYNTAX INTEGER { active(1), notInService(2), notReady(3), createAndGo(4), createAndWait(5),
                     destroy(6) }
''',
    'SNMPv2-CONF': '',
}
MACROS = {
    'SNMPv2-SMI': ('MODULE-IDENTITY', 'OBJECT-IDENTITY', 'OBJECT-TYPE', 'NOTIFICATION-TYPE'),
    'SNMPv2-TC': ('TEXTUAL-CONVENTION',),
    'SNMPv2-CONF': ('OBJECT-GROUP', 'NOTIFICATION-GROUP', 'MODULE-COMPLIANCE'),
}


def missing():
    """Why this host cannot run the tests, or None."""
    if not os.path.exists(osmsim.built(*SUBAGENT)):
        return 'opensm-snmp is not built (Debian: libsnmp-dev)'
    lacking = [tool for tool in NEEDED if not ibsim.shutil.which(tool, path=ibsim.tool_path())]
    return f'{", ".join(lacking)} not installed (Debian: snmpd, snmp, snmptrapd)' if lacking \
        else None


def write_modules(directory):
    for name, text in MODULES.items():
        with open(os.path.join(directory, f'{name}.txt'), 'w') as file:
            file.write(f'{name} DEFINITIONS ::= BEGIN\n{text}')
            file.writelines(f'{macro} MACRO ::= BEGIN\nEND\n' for macro in MACROS[name])
            file.write('END\n')


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


def guid_index(guid):
    return '.'.join(str(octet) for octet in guid.to_bytes(8, 'big'))


class Site:
    """snmpd and snmptrapd in the directory of a fabric, and a subagent of the manager with that
    number."""

    def __init__(self, fabric, number=0):
        self.fabric, self.number = fabric, number
        self.port, self.trap_port = free_port(), free_port()
        self.env = {**os.environ, 'PATH': ibsim.tool_path(), 'MIBS': '',
                    'SNMP_PERSISTENT_DIR': fabric.path(f'snmp{number}'),
                    'SNMPCONFPATH': fabric.path(f'snmp{number}')}
        self.env.pop('JOURNAL_STREAM', None)
        os.makedirs(fabric.path(f'snmp{number}'))
        self.traps = f'traps{number}'
        self.agentx = f'unix:{fabric.path(f"agentx{number}")}'
        self.conf = self.write(f'snmpd{number}.conf', f'''master agentx
agentXSocket {self.agentx}
agentXPerms 0600 0700
rwcommunity secret 127.0.0.1 .{BASE}
rocommunity public 127.0.0.1 .{BASE}
trap2sink 127.0.0.1:{self.trap_port} public
''')
        trap_conf = self.write(f'snmptrapd{number}.conf', 'authCommunity log public\n')
        self.start_snmpd()
        self.trapd = self.spawn(['snmptrapd', '-C', '-c', trap_conf, '-f', '-On', '-n', '-Lf',
                                 fabric.path(self.traps), f'127.0.0.1:{self.trap_port}'],
                                f'snmptrapd{number}.out')
        self.wait(lambda: 'NET-SNMP' in fabric.read(self.traps), 'snmptrapd', self.trapd)

    def write(self, name, text):
        with open(self.fabric.path(name), 'w') as file:
            file.write(text)
        return self.fabric.path(name)

    def spawn(self, argv, out):
        return self.fabric.spawn(argv, out, env=self.env, stdin=subprocess.DEVNULL)

    def wait(self, done, what, alive=None):
        self.fabric.wait(done, SECONDS, what, alive=alive)

    def start_snmpd(self):
        out = f'snmpd{self.number}.out'
        since = len(self.fabric.read(out))
        self.snmpd = self.spawn(['snmpd', '-C', '-c', self.conf, '-Lo', '-f', '-r',
                                 f'udp:127.0.0.1:{self.port}'], out)
        self.wait(lambda: 'NET-SNMP version' in self.fabric.read(out, since), 'snmpd', self.snmpd)

    def start_subagent(self, socket_path, *options):
        """In front of the daemon with that control socket."""
        self.out = f'subagent{self.number}.out'
        since = len(self.fabric.read(self.out))
        self.subagent = self.spawn([osmsim.built(*SUBAGENT), '-s', socket_path, '-x', self.agentx,
                                    *options], self.out)
        self.wait(lambda: 'connected to snmpd' in self.said(since), 'the subagent', self.subagent)

    def said(self, since=0):
        return self.fabric.read(self.out, since)

    def run(self, tool, *argv, community='public', seconds=20):
        run = subprocess.run([tool, '-v2c', '-c', community, '-On', '-t', str(seconds), '-r', '0',
                              *(('-Cr50',) if tool == 'snmpbulkwalk' else ()),
                              f'127.0.0.1:{self.port}', *argv], env=self.env, text=True,
                             capture_output=True, timeout=2 * SECONDS, check=False)
        return run.stdout + run.stderr

    def walk(self, under='', tool='snmpwalk'):
        """{relative OID: value}"""
        return dict(re.findall(
            rf'^\.{re.escape(OBJECTS)}\.(\S+) = (?!No more variables)(?:[\w\-]+: )?(.*?) ?$',
            self.run(tool, f'{OBJECTS}{under}'), re.M))

    def get(self, oid):
        found = re.search(r' = (?:[\w\-]+: )?(.*?) ?$', self.run('snmpget', f'{OBJECTS}.{oid}'),
                          re.M)
        return found[1] if found else None

    def set(self, *values, community='secret', seconds=20):
        """OID, value pairs in one SET; '' or the word of the error."""
        argv = []
        for oid, value in values:
            argv += [f'{OBJECTS}.{oid}', 's' if isinstance(value, str) else 'i', str(value)]
        out = self.run('snmpset', *argv, community=community, seconds=seconds)
        error = re.search(r'Reason: (\w+)', out)
        return error[1] if error else '' if ' = ' in out else out

    def trapped(self, number, since=0):
        """The lines of notifications with that number."""
        return [line for line in self.fabric.read(self.traps, since).splitlines()
                if f'OID: .{BASE}.1.0.{number}\t' in line]
