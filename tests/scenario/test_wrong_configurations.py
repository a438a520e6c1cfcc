#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Wrong configurations, and the messages about each: by --check-config, for people and as JSON, and
by a start, which must be stopped by the errors and by nothing else. Run in the build directory."""

import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
SOURCE = os.environ.get('top_srcdir', '..')
sys.path.insert(0, os.path.join(SOURCE, 'tests'))

from checks import Checks  # noqa: E402

OPENSM = os.path.abspath(os.environ.get('OPENSM', './opensm/opensm'))
SECONDS = 120
checks = Checks()

# Name, opensm.conf, other files, words of the command line, messages; @ is the directory. A line
# that begins with E stops the start, one with W does not; no other errors may be reported.
CASES = [
    ('a number out of bounds', 'lmc 9\n', {}, '',
     ["E @/conf:1: error: lmc: '9' is not a number from 0 to 7"]),
    ('two mistakes in one file', 'lmc 9\n\nsm_priority high\n', {}, '',
     ["E @/conf:1: error: lmc: '9'", "E @/conf:3: error: sm_priority: 'high'"]),
    ('mistakes in the file, on the command line and in other files',
     'lmc 9\nroot_guid_file @/roots\n', {'roots': '0xzz\n'}, '-p 16 -s x',
     ["E @/conf:1: error: lmc: '9'", "E opensm: error: priority: '16'",
      "E opensm: error: sweep: 'x'", "E @/roots:1: error: root_guid_file: '0xzz'"]),
    ('a key spelled wrong', 'sweep_intervall 5\n', {}, '',
     ["W @/conf:1: warning: unknown key 'sweep_intervall' ignored; did you mean sweep_interval?"]),
    ('many unknown keys hide no other warning', ''.join(f'vendors_key_{i} 1\n' for i in range(30)) +
     'lmc 1\nlmc 2\n', {}, '',
     ['W opensm: warning: @/conf: 10 more unknown keys ignored',
      'W @/conf:32: warning: lmc: overrides line 31']),
    ('two GUIDs', 'guid 0x100001,0x100002\n', {}, '',
     ['E @/conf:1: error: guid: .* names several ports, but a daemon serves one']),
    ('a window for nothing, and options for no plug-in', 'cc_max_outstanding_mads 0\n'
     'event_plugin_options some\nevent_plugin_process TRUE\nevent_plugin_required FALSE\n', {}, '',
     ["E @/conf:1: error: cc_max_outstanding_mads: '0' is not a number from 1",
      'W @/conf:2: warning: event_plugin_options: has no effect, as event_plugin_name is not set',
      'W @/conf:3: warning: event_plugin_process: has no effect, as event_plugin_name is not set',
      'W @/conf:4: warning: event_plugin_required: has no effect, as event_plugin_name is not set'
      ]),
    ('as the classic daemon', 'perfmgr_sweep_time_s 0\nperfmgr_max_outstanding_queries 0\n', {}, '',
     ['W @/conf:1: warning: perfmgr_sweep_time_s: 0: 180 s is used',
      'W @/conf:2: warning: perfmgr_max_outstanding_queries: 0: 500 is used']),
    ('a timeout that is raised', 'long_transaction_timeout 100\nuse_optimized_slvl TRUE\n', {}, '',
     ['W @/conf:1: warning: long_transaction_timeout: 100 ms is less than transaction_timeout: '
      '200 ms is used']),
    ('a timer without use', 'max_smps_timeout 1000\n', {}, '',
     ['W @/conf:1: warning: max_smps_timeout: has no effect, as max_wire_smps2 is not above '
      'max_wire_smps']),
    ('a timeout of what is not done', 'long_transaction_timeout 900\n', {}, '',
     ['W @/conf:1: warning: long_transaction_timeout: has no effect, as use_optimized_slvl is '
      'FALSE']),
    ('engines of another subnet manager', 'routing_engine ar_updn,ar_ftree,ar_minhop\n', {}, '',
     ["W @/conf:1: warning: routing_engine: 'ar_updn' is taken as updn",
      "W @/conf:1: warning: routing_engine: 'ar_ftree' is taken as ftree",
      "W @/conf:1: warning: routing_engine: 'ar_minhop' is taken as minhop"]),
    ('engines that nobody knows', '\nrouting_engine magic,updn,dust\n', {}, '',
     ['E @/conf:2: error: routing_engine: there is no engine magic, dust, expected']),
    ('no engine and no other one', 'routing_engine no_fallback\n', {}, '',
     ['E @/conf:1: error: routing_engine: names no engine']),
    ('a file of roots that is not there', 'routing_engine updn\nroot_guid_file @/none\n', {}, '',
     ['E @/conf:2: error: root_guid_file: @/none: No such file']),
    ('several routing files', 'routing_engine ftree\nroot_guid_file @/none\ncn_guid_file @/cn\n'
     'hop_weights_file @/w\n', {'cn': '0x1\nx\n0x2\ny\n', 'w': '0x1 1\n'}, '',
     ['E @/conf:2: error: root_guid_file: @/none', "E @/cn:2: error: cn_guid_file: 'x'",
      "E @/cn:4: error: 'y'", "E @/w:1: error: hop_weights_file: '0x1 1'"]),
    ('a file of routes for another engine', 'routing_engine updn\nlfts_file @/none\n', {}, '',
     ['W @/conf:2: warning: lfts_file: has no effect, as routing_engine does not list file']),
    ('a log whose directory is missing', 'log_file @/none/log\n', {}, '',
     ['E @/conf:1: error: log_file: cannot open log file @/none/log: No such file']),
    ('a log that is a directory', 'log_file @\n', {}, '',
     ['E @/conf:1: error: log_file: cannot open log file @: Is a directory']),
    ('dumps that have no directory', 'dump_files_dir @/none\n', {}, '',
     ['W @/conf:1: warning: dump_files_dir: no dump can be written into @/none: No such file']),
    ('dumps into a file', 'dump_files_dir @/conf\n', {}, '',
     ['W @/conf:1: warning: dump_files_dir: no dump can be written into @/conf: Not a directory']),
    ('a console for all without key', 'console socket\nconsole_port 0\n', {}, '',
     ['W @/conf:1: warning: console: socket without console_key_file',
      "E @/conf:2: error: console_port: '0'"]),
    ('a prefix that has lost a digit', 'subnet_prefix 0xfe8000000000000\n', {}, '',
     ["W @/conf:1: warning: subnet_prefix: '0x0fe8000000000000' begins with 0: was a digit lost"]),
    ('a prefix of multicast', '\nsubnet_prefix 0xff80000000000000\n', {}, '',
     ["E @/conf:2: error: subnet_prefix: '0xff80000000000000' is a prefix of multicast GIDs"]),
    ('qos without a policy', '\nqos TRUE\n', {}, '',
     ['W @/conf:2: warning: qos: TRUE, but the policy file .* cannot be read: No such file']),
    ('a policy that is not there', 'qos_policy_file @/none\nqos TRUE\n', {}, '',
     ['E @/conf:1: error: qos_policy_file: @/none: ']),
    ('a policy without qos', 'qos_policy_file @/none\n', {}, '',
     ['W @/conf:1: warning: qos_policy_file: has no effect, as qos is FALSE']),
    ('a wrong policy of QoS', 'qos_policy_file @/qos\nqos TRUE\n', {'qos': 'nonsense\n'}, '',
     ['E @/qos:1:1: error: ']),
    ('wrong partitions', 'partition_config_file @/parts\n', {'parts': 'A=1: ALL=full;\nB=2 ALL;\n'},
     '', ['E @/parts:2:1: error: found ']),
    ('all that is wrong in partitions', 'partition_config_file @/parts\n',
     {'parts': 'A=1: 0x0, ALL=full\nB=2: ALL=full;\nC=0x10000: x;\ninclude none\n'}, '',
     ["E @/parts:1:6: error: found '0x0', expected a port GUID",
      "E @/parts:2:1: error: found 'B', expected a member, or before it ';', which ends the "
      'definition that line 1 begins', "E @/parts:3:3: error: found '0x10000', expected a P_Key",
      'E @/parts:4: error: include: @/none: No such file']),
    ('all that is wrong in a policy of QoS', 'qos_policy_file @/qos\nqos TRUE\n',
     {'qos': 'port-groups\nport-grop\nname: a\nend-port-group\nend-port-groups\nqos-ulps\n'
             'default 0\nsdp: 16\nend-qos-ulps\n'}, '',
     ["E @/qos:2:1: error: found 'port-grop', expected port-group or end-port-groups",
      "E @/qos:7:1: error: found 'default 0', expected a rule, ':' and an SL",
      "E @/qos:8:6: error: found '16', expected an SL from 0 to 15"]),
    ('a file of partitions with more mistakes than are told', 'partition_config_file @/parts\n',
     {'parts': 'A=1: 0x0;\n' * 30}, '',
     [f"E @/parts:{i}:6: error: found '0x0'" for i in range(1, 21)] +
     ['E opensm: error: @/parts: 10 more mistakes']),
    ('keys per port without seed', 'm_key_per_port TRUE\n', {}, '',
     ['E @/conf:1: error: m_key_per_port: needs m_key_seed_file, which is not given']),
    ('a protection of no key', 'm_key_protection_level 2\n', {}, '',
     ['W @/conf:1: warning: m_key_protection_level: has no effect, as m_key is 0']),
    ('a bound without its model', 'sa_etm_max_num_mcgs 7\n', {}, '',
     ['W @/conf:1: warning: sa_etm_max_num_mcgs: has no effect, as sa_enhanced_trust_model']),
    ('congestion control with nothing to set', 'congestion_control TRUE\n', {}, '',
     ['W @/conf:1: warning: congestion_control: cc_sw_cong_setting_control_map is 0: switches',
      'W @/conf:1: warning: congestion_control: cc_cct is empty: no host slows down']),
    ('values beside a profile', 'congestion_control TRUE\ncc_profile standard\n'
     'cc_cct 0:0,1:2\ncc_key_lease_period 9\ncc_key_update_interval 60\n', {}, '',
     ['W @/conf:3: warning: cc_cct: has no effect, as congestion_control is FALSE, or cc_profile '
      'is not classic',
      'W @/conf:4: warning: cc_key_lease_period: has no effect, as congestion_control is FALSE, or '
      'cc_key_mode is send',
      'W @/conf:5: warning: cc_key_update_interval: has no effect, as congestion_control is FALSE, '
      'or cc_key_mode is not per_port']),
    ('a profile that is off', 'cc_profile gentle\n', {}, '',
     ['W @/conf:1: warning: cc_profile: has no effect, as congestion_control is FALSE']),
    ('routes to other subnets that are not there', 'prefix_routes_file @/none\n', {}, '',
     ['E @/conf:1: error: prefix_routes_file: @/none: ']),
    ('flags of modules that are not there', 'per_module_logging_file @/none\n', {}, '',
     ['W @/conf:1: warning: per_module_logging_file: @/none: No such file']),
    ('names of nodes that are not there', 'node_name_map_name @/none\n', {}, '',
     ['W @/conf:1: warning: node_name_map_name: @/none: No such file']),
    ('wrong lines of log flags and names', 'per_module_logging_file @/flags\n'
     'node_name_map_name @/names\n', {'flags': 'osm_sa.c 0x7\nswep.c 1\n',
                                       'names': 'leaf 1\n0x5 leaf'}, '',
     ["W @/flags:2: warning: found 'swep.c', expected a source file of this program or of",
      "W @/names:1: warning: found 'leaf 1', expected the GUID of a node or a port, as 0x"]),
    ('a file of another kind', '\0\1\2', {}, '',
     ['E @/conf:1: error: holds a zero byte']),
    ('a quote without end', 'log_prefix "x\n', {}, '',
     ['E @/conf:1: error: log_prefix: the quote that opens its value is not closed']),
    ('the log given as the options', '', {}, '-F @/opensm.log',
     ['E opensm: error: @/opensm.log: No such file .*; -F names the options file, -f the']),
    ('partitions given as a priority', '', {}, '-p /etc/opensm/partitions.conf',
     ["E opensm: error: priority: '/etc/opensm/partitions.conf' is not .*; did you mean -P?"]),
    ('an option that there is not', '', {}, '--nonsense',
     ["E opensm: error: unknown option '--nonsense'"]),
    # What a newcomer may write who knows other programs and other subnet managers.
    ('keys and values with an equals sign', 'sm_priority = 15\nlmc=2\nsweep_interval: 5\n', {}, '',
     ["E @/conf:1: error: sm_priority: '= 15' is not .*; write the value after its key without",
      "E @/conf:2: error: 'lmc=2' is not a key followed by a value; write them without '=' or",
      "E @/conf:3: error: 'sweep_interval:' is not a key followed by a value; write them"]),
    ('a GUID as ibv_devinfo writes it', 'guid 0002:c903:00f1:abcd\n', {}, '',
     ["E @/conf:1: error: guid: '0002:c903:00f1:abcd' .*; write it without colons, as 0x and 16"]),
    ('a prefix without 0x', 'subnet_prefix fe80000000000000\n', {}, '',
     ["E @/conf:1: error: subnet_prefix: 'fe80000000000000' .*0x before hexadecimal ones"]),
    ('a key in capital letters', 'LMC 2\n', {}, '',
     ["W @/conf:1: warning: unknown key 'LMC' ignored; did you mean lmc?"]),
    ('a size with its unit', 'log_max_size 100M\n', {}, '',
     ["E @/conf:1: error: log_max_size: '100M' is not a number from 0"]),
    ('yes and no', 'qos yes\nbabbling_port_policy 0\n', {}, '',
     ["E @/conf:1: error: qos: 'yes' is not TRUE or FALSE",
      "E @/conf:2: error: babbling_port_policy: '0' is not TRUE or FALSE"]),
    ('a console of a name that it had elsewhere', 'console telnet\n', {}, '',
     ["E @/conf:1: error: console: 'telnet' is not one of off, local, loopback, socket"]),
    ('an engine by the name of its topology', 'routing_engine fat-tree\n', {}, '',
     ['E @/conf:1: error: routing_engine: there is no engine fat-tree, expected a list of minhop']),
    ('a key that is a word, which is not told', 'm_key 0xhunter2\n', {}, '',
     ['E @/conf:1: error: m_key: its value is not a number']),
    ('sections, as in other files', '[sm]\nlmc 2\n', {}, '',
     ["E @/conf:1: error: '.sm.' is not a key followed by a value$"]),
    ('roots by their names', 'routing_engine updn\nroot_guid_file @/r\n',
     {'r': 'S-0002c90300f1abcd\n0x0002c90300f1abcd "spine 1"\n'}, '',
     ["E @/r:1: error: root_guid_file: 'S-0002c90300f1abcd' is not a GUID, expected a GUID"]),
    ('hosts by their names, an MTU in octets, a rate in Gb/s', 'partition_config_file @/p\n',
     {'p': 'A=0x10,ipoib,mtu=2048,rate=40: node01=full,\n  "node02*"=full;\n'}, '',
     ["E @/p:1:32: error: found 'node01', expected a port GUID, GUID-GUID, .NODE"]),
    ('an MTU in octets, a rate in Gb/s', 'partition_config_file @/p\n',
     {'p': 'A=0x10,ipoib,mtu=2048,rate=40: ALL=Full;\n'}, '',
     ["W @/p:1: warning: mtu: found '2048', expected 1 to 5, a code: 1 is 256",
      "W @/p:1: warning: rate: found '40', expected 2 to 24, a code: 3 is 10",
      "W @/p:1: warning: found 'Full', expected the membership full"]),
    ('a policy of QoS without its end', 'qos TRUE\nqos_policy_file @/q\n',
     {'q': 'qos-ulps\n default: 0\n ipoib: 1\n'}, '',
     ["E @/q:4:1: error: found 'the end of the file', expected end-qos-ulps .it begins in line 1"]),
    ('a log that is unset', 'log_file (null)\n', {}, '', []),
]


def run(*words):
    return subprocess.run([OPENSM, *words], capture_output=True, text=True, timeout=SECONDS,
                          stdin=subprocess.DEVNULL)


def has_line(expected, directory, lines):
    pattern = expected[2:].replace('?', r'\?').replace('@', re.escape(directory))
    return any(re.match(pattern, line) for line in lines)


def errors_of(expected):
    return [line for line in expected if line[0] == 'E']


def check_text(name, words, expected, directory):
    done = run('--check-config', *words)
    lines = done.stdout.splitlines()
    errors = errors_of(expected)
    checks.check(f'{name}: exit code', done.returncode == (1 if errors else 0), done)
    for line in expected:
        checks.check(f'{name}: {line}', has_line(line, directory, lines), done.stdout)
    told = [line for line in lines if re.search(r': error: ', line)]
    checks.check(f'{name}: no other error', len(told) == len(errors), done.stdout)
    checks.check(f'{name}: the sum', lines[-1].startswith(
        'opensm does not start: ' if errors else 'opensm starts: '), done.stdout)
    checks.check(f'{name}: nothing but that', not done.stderr, done.stderr)


def check_json(name, words, expected):
    done = run('--check-config', '--json', *words)
    answer = json.loads(done.stdout)
    checks.check(f'{name}: JSON', answer['good'] == (not errors_of(expected)) and
                 len(answer['errors']) == len(errors_of(expected)), done.stdout)


def check_start(name, words, expected, directory):
    """A start reports the same errors."""
    done = run('--sim', 'fattree:4', '--once', *words)
    errors = errors_of(expected)
    checks.check(f'{name}: a start', done.returncode == (1 if errors else 0), done)
    for line in errors:
        text = re.sub(r'^\w+: ', '', line.partition(' error: ')[2]).replace('?', r'\?')
        text = text.replace('@', re.escape(directory))
        checks.check(f'{name}: a start says {text}', re.search(text, done.stderr), done.stderr)


def check_case(name, conf, files, words, expected):
    with tempfile.TemporaryDirectory() as directory:
        os.environ['OSM_CACHE_DIR'] = directory + '/cache'
        files = {'conf': conf, **files}
        for file, text in files.items():
            with open(os.path.join(directory, file), 'w') as out:
                out.write(text.replace('@', directory))
        given = ['-F', directory + '/conf']
        if 'log_file' not in conf:
            given += ['-f', directory + '/log']
        if 'dump_files_dir' not in conf:
            given += ['--dump_files_dir', directory]
        given += words.replace('@', directory).split()
        check_text(name, given, expected, directory)
        check_json(name, given, expected)
        check_start(name, given, expected, directory)


def check_beginning():
    """What scripts search for in the output of the classic daemon."""
    with tempfile.TemporaryDirectory() as directory:
        done = run('--sim', 'fattree:4', '--once', '-p', '14', '-f', '-', '-l', '2', '-k', '0x5ec')
        lines = done.stdout.splitlines()
        for line in ('Command Line Arguments:', ' Priority = 14', ' LMC = 2', ' Run Once',
                     ' Log File: stdout'):
            checks.check(f'the beginning says {line}', line in lines, done.stdout)
        checks.check('but no key', '5ec' not in done.stdout.lower().partition('->')[0], done.stdout)
        checks.check('-f - is the standard output', ' 0x02 -> ' in done.stdout, done.stdout)
        checks.check('and no file', not os.path.exists('-'))
        done = run('--sim', 'fattree:4', '--plan', '--json', '-f', directory + '/log')
        checks.check('a plan begins with itself', done.stdout.startswith('{'), done.stdout)


def main():
    os.environ.pop('NOTIFY_SOCKET', None)
    for case in CASES:
        check_case(*case)
    check_beginning()
    return checks.close()


sys.exit(main())
