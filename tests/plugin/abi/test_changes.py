#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What the check of the layout (test_layout.py) says when the header changes: each row has a text
of the header, what it becomes, and what is said."""

import sys
import unittest

sys.dont_write_bytecode = True

import layout  # noqa: E402 (after the switch above: the source tree may be read-only)
import test_layout  # noqa: E402

BREAKS = [
    ('moved', '\tuint64_t guid, system_guid;\n\tuint32_t name;',
     '\tuint32_t name;\n\tuint64_t guid, system_guid;', 'struct osm_node: guid was 0 8 uint64_t'),
    ('of another type', '\tuint32_t vendor_id, revision;', '\tint32_t vendor_id, revision;',
     'struct osm_node: vendor_id was 32 4 uint32_t, is 32 4 int32_t'),
    ('wider', '\tuint16_t mlid, p_key;', '\tuint32_t mlid, p_key;', 'struct osm_group: p_key was'),
    ('gone', '\tuint8_t num, lmc;', '\tuint8_t num;', 'struct osm_port: lmc was 31 1 uint8_t, is'
     ' missing'),
    ('renamed', '\tuint32_t hops;', '\tuint32_t distance;', 'struct osm_switch: hops was 4 4'),
    ('in the middle', '\tuint32_t max_lid;\n', '\tuint32_t max_lid, min_lid;\n',
     'struct osm_snapshot: reserved was'),
    ('gone, and the rest moves up', 'uint16_t device_id, partition_cap;', 'uint16_t device_id;',
     'struct osm_node: partition_cap was'),
    ('in what was reserved', '\tuint32_t size;\n\tuint32_t reserved;\n\tconst char *name;    /*',
     '\tuint32_t size;\n\tuint32_t flags;\n\tconst char *name;    /*',
     'struct osm_engine: reserved was 4 4 uint32_t, is missing'),
    ('a longer array', '\tchar word[32];', '\tchar word[40];', 'struct osm_about: word was 48 32'),
    ('grown within another', '\tuint32_t n;\n\tuint32_t size;\n};',
     '\tuint32_t n;\n\tuint32_t size;\n\tuint64_t more;\n};', 'struct osm_snapshot: ports was'),
    ('a function with other arguments', '(*leave)(const struct osm_host *host)',
     '(*leave)(const struct osm_host *host, int why)', 'struct osm_host: leave was'),
    ('another value', 'OSM_EVENT_LFT_CHANGE = 10', 'OSM_EVENT_LFT_CHANGE = 11',
     'enum osm_event_id: OSM_EVENT_LFT_CHANGE was 10, is 11'),
    ('a value in the middle', '\tOSM_COUNTER_QP1_DROPPED,', '\tOSM_COUNTER_NEW,\n'
     '\tOSM_COUNTER_QP1_DROPPED,', 'enum osm_counter: OSM_COUNTER_QP1_DROPPED was 12, is 13'),
    ('a value gone', ',\n\tOSM_SWEEP_REROUTE\n', '\n',
     'enum osm_sweep_kind: OSM_SWEEP_REROUTE was 2'),
    ('a constant', '#define OSM_ROUTE_NO_PORT 0xFF', '#define OSM_ROUTE_NO_PORT 0xFE',
     'constant OSM_ROUTE_NO_PORT was 255, is 254'),
    ('a constant gone', '#define OSM_EVENTS_ALL UINT64_MAX\n', '',
     'constant OSM_EVENTS_ALL is missing'),
    ('a struct gone', 'struct osm_port_wait {', 'struct osm_port_waits {',
     'struct osm_port_wait is missing'),
]
ADDS = [
    ('a member at the end', '\tvoid (*leave)(const struct osm_host *host);\n',
     '\tvoid (*leave)(const struct osm_host *host);\n\tint (*more)(void);\n',
     'struct osm_host: more'),
    ('a value', '\tOSM_REFUSED = 6 ', '\tOSM_BUSY = 7,\n\tOSM_REFUSED = 6 ',
     'enum osm_result: OSM_BUSY'),
    ('a counter', '\tOSM_COUNTER_MULTICAST_RCV_PKTS\n',
     '\tOSM_COUNTER_MULTICAST_RCV_PKTS,\n\tOSM_COUNTER_NEW\n',
     'enum osm_counter: OSM_COUNTER_NEW'),
    ('a struct', 'struct osm_group {', 'struct osm_new {\n\tint a;\n};\n\nstruct osm_group {',
     'struct osm_new'),
    ('a constant', '#define OSM_MAD_DATA 232', '#define OSM_MAD_DATA 232\n#define OSM_NEW 1',
     'constant OSM_NEW'),
]
UNKNOWN = [
    ('\tuint8_t num, lmc;', '\tuint8_t num : 4, lmc : 4;'),
    ('\tuint8_t num, lmc;', '\tunion { uint8_t num, lmc; };'),
    ('\tuint8_t num, lmc;', '\tstruct { uint8_t num, lmc; } id;'),
    ('\tuint8_t num, lmc;', '\tlong num, lmc;'),
    ('\tuint8_t num, lmc;', '\tuint8_t num; _Alignas(8) uint8_t lmc;'),
    ('\tuint8_t num, lmc;', '#if 1\n\tuint8_t num, lmc;\n#endif\n#pragma pack(1)'),
    ('\tuint8_t num, lmc;', '\tuint8_t num, lmc; // ports'),
    ('\tuint8_t num, lmc;', '\tuint8_t num, lmc'),
    ('struct osm_group {', 'typedef int osm_new;\n\nstruct osm_group {'),
    ('struct osm_group {', 'extern int osm_new;\n\nstruct osm_group {'),
    ('struct osm_group {', 'union osm_new {\n\tint a;\n};\n\nstruct osm_group {'),
    ('const struct osm_plugin *osm_plugin_v1(void);',
     'const struct osm_plugin *osm_plugin_v1(int version);'),
    ('\tuint8_t reserved;\n};\n\nenum osm_counter',
     '\tuint8_t reserved;\n} __attribute__((packed));\n\nenum osm_counter'),
]

PADDED = '''
#include <stddef.h>
#include <stdint.h>
struct osm_x {{
\tuint64_t size;
\tuint8_t a;
{}}};
'''


class Changes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.header = test_layout.read(test_layout.HEADER)
        cls.record = layout.measure(cls.header)

    def changed(self, old, new):
        self.assertEqual(self.header.count(old), 1, old)
        return self.header.replace(old, new)

    def compared(self, old, new):
        return layout.changes(self.record, layout.measure(self.changed(old, new)))

    def test_same(self):
        self.assertEqual(layout.changes(self.record, self.record), ([], []))

    def test_comments_do_not_matter(self):
        self.assertEqual(self.compared('struct osm_group {', '/* a group */ struct  osm_group {'),
                         ([], []))

    def test_breaks(self):
        for what, old, new, said in BREAKS:
            with self.subTest(what, old=old):
                broken, _ = self.compared(old, new)
                self.assertTrue(any(said in line for line in broken), broken)

    def test_adds(self):
        for what, old, new, said in ADDS:
            with self.subTest(what):
                self.assertEqual(self.compared(old, new), ([], [said]))

    def test_padding(self):
        """A program that knows only a cannot know whether b is there."""
        old = layout.measure(PADDED.format(''))
        new = layout.measure(PADDED.format('\tuint8_t b;\n'))
        self.assertEqual(layout.changes(old, new)[0],
                         ['struct osm_x: b is new and not behind all that there was'])

    def test_unknown(self):
        for old, new in UNKNOWN:
            with self.subTest(new=new), self.assertRaises(layout.Unknown):
                layout.parse(self.changed(old, new))


def main():
    result = unittest.TextTestRunner().run(
        unittest.defaultTestLoader.loadTestsFromTestCase(Changes))
    failed = len(result.failures) + len(result.errors)
    print(f'{max(result.testsRun - failed, 0)} passed, {failed} failed')
    return 0 if result.wasSuccessful() and result.testsRun else 1


if __name__ == '__main__':
    sys.exit(main())
