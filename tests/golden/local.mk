# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
check_PROGRAMS += tests/golden/test_route_golden
TESTS += tests/golden/test_route_golden
tests_golden_test_route_golden_CFLAGS = $(TEST_CFLAGS)
tests_golden_test_route_golden_LDADD = libfabricmake.a $(LIBS_ROUTE) $(CHECK_LIBS)

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
tests_golden_test_election_golden_SOURCES = tests/golden/test_election_golden.c \
	tests/scenario/managers.c tests/scenario/managers.h
tests_golden_test_election_golden_CFLAGS = $(TEST_CFLAGS)
tests_golden_test_election_golden_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
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

golden-update: tests/golden/test_route_golden tests/golden/test_election_golden
	srcdir=$(srcdir) GOLDEN_UPDATE=1 tests/golden/test_route_golden
	srcdir=$(srcdir) GOLDEN_UPDATE=1 tests/golden/test_election_golden
.PHONY: golden-update
