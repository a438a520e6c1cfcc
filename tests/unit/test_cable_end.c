// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <check.h>

#include "fabric/builder.h"
#include "tests/run_suite.h"

#define SWEEP 7

/* Where each event leads from each state: one letter for each, in the order of enum cable_state. */
static const char letters[CABLE_STATES + 1] = "UKDNXOL";
static const struct {
	const char *to; /* from the states UKDNXOL */
	uint8_t clears, sets;
} expected[CABLE_EVENTS] = {
	[CABLE_EVENT_ASKED] = {"UKDNXOL", 0, CABLE_ASKED},
	[CABLE_EVENT_UNSENT] = {"UKDNXOL", CABLE_ASKED, 0},
	[CABLE_EVENT_ANSWERED] = {"UKDUUUL", 0, 0},
	[CABLE_EVENT_ACCEPTED] = {"KKKNXOL", 0, 0},
	[CABLE_EVENT_UNSURE] = {"DDDDDDD", 0, 0},
	[CABLE_EVENT_NO_ANSWER] = {"NNNNNNN", 0, 0},
	[CABLE_EVENT_EXCLUDED] = {"XXXXXXX", 0, 0},
	[CABLE_EVENT_LOOPBACK] = {"OOOOOOO", 0, 0},
	[CABLE_EVENT_SEEN] = {"UKDNXOL", 0, CABLE_SEEN},
	[CABLE_EVENT_CONTESTED] = {"UKDNXOL", 0, CABLE_CONTESTED},
	[CABLE_EVENT_STALE] = {"UKDNXOL", CABLE_ASKED | CABLE_SEEN, 0},
	[CABLE_EVENT_UNLINKED] = {"UUDNXOL", CABLE_ASKED | CABLE_SEEN, 0},
	[CABLE_EVENT_READ] = {"UKDNXOU", 0, 0},
	[CABLE_EVENT_DOWN] = {"UUUUUUU", CABLE_ASKED | CABLE_SEEN, 0},
	[CABLE_EVENT_FELL] = {"UKDNXOL", 0, CABLE_FELL},
	[CABLE_EVENT_LOST] = {"LLLLLLL", 0, 0},
};

/* Each event, in each state, with each set of marks of this sweep. */
START_TEST(test_every_transition)
{
	for (unsigned int state = 0; state < CABLE_STATES; state++)
		for (unsigned int marks = 0; marks < 16; marks++) {
			struct cable_end end = {.sweep = SWEEP,
						.state = (uint8_t)state,
						.marks = (uint8_t)marks,
						.rejected = 3};
			unsigned int want =
				(marks & ~(unsigned int)expected[_i].clears) | expected[_i].sets;

			cable_end_event(&end, (enum cable_event)_i, SWEEP);
			ck_assert_int_eq(letters[end.state], expected[_i].to[state]);
			ck_assert_uint_eq(cable_end_marks(&end, SWEEP), want);
			ck_assert_uint_eq(cable_end_marks(&end, SWEEP + 1), 0);
			ck_assert_uint_eq(end.rejected, 3);
		}
}
END_TEST

/* Marks of an earlier sweep do not count in this one, and no event brings them back. */
START_TEST(test_marks_of_an_earlier_sweep)
{
	for (unsigned int marks = 0; marks < 16; marks++) {
		struct cable_end end = {.sweep = SWEEP - 1, .marks = (uint8_t)marks};

		ck_assert_uint_eq(cable_end_marks(&end, SWEEP), 0);
		cable_end_event(&end, (enum cable_event)_i, SWEEP);
		ck_assert_uint_eq(cable_end_marks(&end, SWEEP), expected[_i].sets);
	}
}
END_TEST

START_TEST(test_which_states_are_silent)
{
	for (unsigned int state = 0; state < CABLE_STATES; state++) {
		struct cable_end end = {.state = (uint8_t)state};
		bool silent = state == CABLE_NO_ANSWER || state == CABLE_EXCLUDED ||
			      state == CABLE_LOOPBACK;

		ck_assert_int_eq(cable_end_is_silent(&end), silent);
	}
}
END_TEST

static struct builder_node *add_switch(struct builder *builder, uint64_t guid)
{
	struct iba_node_info info = {.node_type = IBA_NODE_SWITCH,
				     .num_ports = 4,
				     .node_guid = guid,
				     .port_guid = guid,
				     .local_port_num = 1};

	return builder_add(builder, &info);
}

static const enum cable_mark all_marks = CABLE_ASKED | CABLE_SEEN | CABLE_CONTESTED | CABLE_FELL;

/*
 * A probe of the running sweep, and the device that answered it; when that device is removed, no
 * port names it any more, and when the cable is unplugged the probe no longer counts.
 */
START_TEST(test_ends_in_a_builder)
{
	struct builder *builder = builder_new();
	struct builder_node *a = add_switch(builder, 1), *b = add_switch(builder, 2);
	struct builder_node *c = add_switch(builder, 3);
	struct builder_port *port = &a->ports[1];

	builder->sweep = SWEEP;
	ck_assert_ptr_null(builder_far_end(port));
	builder_cable(port, CABLE_EVENT_ASKED);
	ck_assert(builder_cable_is(port, CABLE_ASKED));
	ck_assert_ptr_null(builder_far_end(port));
	port->cable.far_end = &b->ports[2];
	ck_assert_ptr_eq(builder_far_end(port), &b->ports[2]);
	builder_link(port, &b->ports[2]);
	builder_link_seen(port);
	builder_cable(port, CABLE_EVENT_ACCEPTED);
	ck_assert(builder_cable_is(&b->ports[2], CABLE_SEEN));
	ck_assert(!builder_cable_is(&b->ports[2], CABLE_ASKED));
	builder->sweep++;
	ck_assert(!builder_cable_is(port, all_marks));
	ck_assert_ptr_null(builder_far_end(port));
	ck_assert_uint_eq(port->cable.state, CABLE_KNOWN);
	builder_cable(port, CABLE_EVENT_ASKED);
	ck_assert_ptr_null(port->cable.far_end);
	builder_cable(&b->ports[2], CABLE_EVENT_SEEN);
	builder_unlink(&b->ports[2]);
	ck_assert(!builder_cable_is(port, all_marks));
	ck_assert(!builder_cable_is(&b->ports[2], all_marks));
	ck_assert_uint_eq(port->cable.state, CABLE_UNKNOWN);
	builder_cable(port, CABLE_EVENT_ASKED);
	port->cable.far_end = &c->ports[1];
	builder_remove(builder, c);
	ck_assert(builder_cable_is(port, CABLE_ASKED));
	ck_assert_ptr_null(builder_far_end(port));
	builder_free(builder);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("cable_end");
	TCase *tcase = tcase_create("cable_end");

	tcase_add_loop_test(tcase, test_every_transition, 0, CABLE_EVENTS);
	tcase_add_loop_test(tcase, test_marks_of_an_earlier_sweep, 0, CABLE_EVENTS);
	tcase_add_test(tcase, test_which_states_are_silent);
	tcase_add_test(tcase, test_ends_in_a_builder);
	suite_add_tcase(suite, tcase);
	return suite;
}
