# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
check_PROGRAMS += tests/golden/test_route_golden
TESTS += tests/golden/test_route_golden
check_LIBRARIES += libgolden.a
libgolden_a_SOURCES = tests/golden/chance.c tests/golden/chance.h \
	tests/golden/golden.c tests/golden/golden.h tests/golden/story.c tests/golden/story.h
libgolden_a_CFLAGS = $(TESTLIB_CFLAGS)
tests_golden_test_route_golden_CFLAGS = $(TEST_CFLAGS)
tests_golden_test_route_golden_LDADD = libgolden.a libfabricmake.a $(LIBS_ROUTE) $(CHECK_LIBS)

golden_topologies = \
	tests/golden/fat_tree_4.topo \
	tests/golden/fat_tree_4_broken.topo \
	tests/golden/hypercube_3.topo \
	tests/golden/irregular.topo \
	tests/golden/mesh_3x3.topo \
	tests/golden/parallel_links.topo \
	tests/golden/ring.topo \
	tests/golden/torus_3x3.topo \
	tests/golden/two_hosts.topo \
	tests/golden/uneven_tree.topo
golden_texts = \
	tests/golden/fat_tree_4.minhop.lmc0.lft \
	tests/golden/fat_tree_4.minhop.lmc1.lft \
	tests/golden/fat_tree_4.updn.lmc0.lft \
	tests/golden/fat_tree_4_broken.dnup.lmc0.lft \
	tests/golden/fat_tree_4_broken.minhop.lmc0.lft \
	tests/golden/fat_tree_4_broken.updn.lmc0.lft \
	tests/golden/irregular.minhop.lmc0.lft \
	tests/golden/irregular.updn.lmc0.lft \
	tests/golden/parallel_links.minhop.lmc0.lft \
	tests/golden/ring.minhop.lmc0.lft \
	tests/golden/ring.updn.lmc0.lft \
	tests/golden/torus_3x3.minhop.lmc0.lft \
	tests/golden/torus_3x3.minhop.lmc2.lft \
	tests/golden/torus_3x3.updn.lmc0.lft \
	tests/golden/two_hosts.minhop.lmc0.lft \
	tests/golden/fat_tree_4.ftree.lmc0.lft \
	tests/golden/fat_tree_4.ftree.lmc1.lft \
	tests/golden/fat_tree_4_broken.ftree.lmc0.lft \
	tests/golden/hypercube_3.dor.lmc0.lft \
	tests/golden/mesh_3x3.dor.lmc0.lft \
	tests/golden/parallel_links.ftree.lmc0.lft \
	tests/golden/ring.ftree.lmc0.lft \
	tests/golden/ring.dfsssp.lmc0.lft \
	tests/golden/ring.lash.lmc0.lft \
	tests/golden/ring.nue.lmc0.lft \
	tests/golden/torus_3x3.dor.lmc0.lft \
	tests/golden/torus_3x3.sssp.lmc0.lft \
	tests/golden/uneven_tree.ftree.lmc0.lft
EXTRA_DIST += $(golden_topologies) $(golden_texts)

check_PROGRAMS += tests/golden/test_election_golden
TESTS += tests/golden/test_election_golden
tests_golden_test_election_golden_CFLAGS = $(TEST_CFLAGS)
tests_golden_test_election_golden_LDADD = libgolden.a libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
EXTRA_DIST += tests/golden/election_started_together.txt \
	tests/golden/election_master_dies.txt \
	tests/golden/election_master_retires.txt \
	tests/golden/election_handover.txt \
	tests/golden/election_handover_lost.txt \
	tests/golden/election_handover_answer_lost.txt \
	tests/golden/election_acknowledge_lost.txt \
	tests/golden/election_acknowledge_unasked.txt \
	tests/golden/election_acknowledge_answer_lost.txt \
	tests/golden/election_priority_raised.txt \
	tests/golden/election_controls.txt

story_tests = tests/golden/test_sweep_golden tests/golden/test_policy_golden \
	tests/golden/test_chance_golden tests/golden/test_moments_golden
check_PROGRAMS += $(story_tests)
TESTS += $(story_tests)
tests_golden_test_sweep_golden_CFLAGS = $(TEST_CFLAGS)
tests_golden_test_sweep_golden_LDADD = libgolden.a libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_golden_test_policy_golden_CFLAGS = $(TEST_CFLAGS)
tests_golden_test_policy_golden_LDADD = libgolden.a libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_golden_test_chance_golden_CFLAGS = $(TEST_CFLAGS)
tests_golden_test_chance_golden_LDADD = libgolden.a libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_golden_test_moments_golden_CFLAGS = $(TEST_CFLAGS)
tests_golden_test_moments_golden_LDADD = libgolden.a libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
EXTRA_DIST += tests/golden/triangle.topo tests/golden/wide.topo \
	tests/golden/sweep_adapter.txt \
	tests/golden/sweep_after_a_restart.txt \
	tests/golden/sweep_aliases.txt \
	tests/golden/sweep_back_to_back.txt \
	tests/golden/sweep_both_ignore.txt \
	tests/golden/sweep_cables.txt \
	tests/golden/sweep_changes_by_others.txt \
	tests/golden/sweep_conditions.txt \
	tests/golden/sweep_controls.txt \
	tests/golden/sweep_engines.txt \
	tests/golden/sweep_fatal.txt \
	tests/golden/sweep_flood_of_traps.txt \
	tests/golden/sweep_guid2lid.txt \
	tests/golden/sweep_identities.txt \
	tests/golden/sweep_interrupted.txt \
	tests/golden/sweep_key_files.txt \
	tests/golden/sweep_lanes.txt \
	tests/golden/sweep_lids.txt \
	tests/golden/sweep_links.txt \
	tests/golden/sweep_losses.txt \
	tests/golden/sweep_lost_answers.txt \
	tests/golden/sweep_lost_gets.txt \
	tests/golden/sweep_lost_handover.txt \
	tests/golden/sweep_lost_sets.txt \
	tests/golden/sweep_lost_tables.txt \
	tests/golden/sweep_m_key.txt \
	tests/golden/sweep_m_key_changes.txt \
	tests/golden/sweep_m_key_lease.txt \
	tests/golden/sweep_m_key_newcomers.txt \
	tests/golden/sweep_m_key_per_port.txt \
	tests/golden/sweep_m_key_waits.txt \
	tests/golden/sweep_master_dies.txt \
	tests/golden/sweep_multicast.txt \
	tests/golden/sweep_multicast_in_a_tree.txt \
	tests/golden/sweep_multicast_without_room.txt \
	tests/golden/sweep_mute_from_the_start.txt \
	tests/golden/sweep_mute_later.txt \
	tests/golden/sweep_nodes.txt \
	tests/golden/sweep_nothing_happens.txt \
	tests/golden/sweep_once.txt \
	tests/golden/sweep_one_lane.txt \
	tests/golden/sweep_other_hardware.txt \
	tests/golden/sweep_other_options.txt \
	tests/golden/sweep_others_answer.txt \
	tests/golden/sweep_others_refuse.txt \
	tests/golden/sweep_own_port_lost.txt \
	tests/golden/sweep_paced_takeover.txt \
	tests/golden/sweep_partitions.txt \
	tests/golden/sweep_partitions_at_run_time.txt \
	tests/golden/sweep_patience.txt \
	tests/golden/sweep_plans.txt \
	tests/golden/sweep_qos.txt \
	tests/golden/sweep_refused.txt \
	tests/golden/sweep_reports.txt \
	tests/golden/sweep_roots_change.txt \
	tests/golden/sweep_same_guids.txt \
	tests/golden/sweep_secret_key.txt \
	tests/golden/sweep_sm_on_a_switch.txt \
	tests/golden/sweep_small_tables.txt \
	tests/golden/sweep_standby.txt \
	tests/golden/sweep_stuck.txt \
	tests/golden/sweep_tables.txt \
	tests/golden/sweep_tables_that_just_do.txt \
	tests/golden/sweep_traps_of_all_kinds.txt \
	tests/golden/sweep_tree.txt \
	tests/golden/sweep_two_managers.txt \
	tests/golden/sweep_two_planes.txt \
	tests/golden/sweep_unhealthy.txt \
	tests/golden/sweep_unhealthy_before.txt \
	tests/golden/sweep_unknown_group.txt \
	tests/golden/sweep_unknown_members.txt \
	tests/golden/sweep_wide.txt

golden-update: tests/golden/test_route_golden tests/golden/test_election_golden $(story_tests)
	srcdir=$(srcdir) GOLDEN_UPDATE=1 tests/golden/test_route_golden
	top_srcdir=$(srcdir) GOLDEN_UPDATE=1 tests/golden/test_election_golden
	for i in $(story_tests); do top_srcdir=$(srcdir) GOLDEN_UPDATE=1 $$i || exit 1; done

# The stories in full, with times and digests, to compare two builds. Other tests decide whether a
# story is as it should be.
golden-tell: tests/golden/test_election_golden $(story_tests)
	@test -n "$(DIR)" || { echo "golden-tell needs DIR=DIRECTORY" >&2; exit 1; }
	mkdir -p "$(DIR)"
	for i in tests/golden/test_election_golden $(story_tests); do \
		top_srcdir=$(srcdir) GOLDEN_TELL="$(DIR)" $$i || true; done
.PHONY: golden-update golden-tell
