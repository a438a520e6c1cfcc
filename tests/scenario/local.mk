# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# The whole daemon on a simulated fabric.
check_LIBRARIES += libscenario.a
libscenario_a_SOURCES = \
	tests/scenario/asker.c tests/scenario/asker.h \
	tests/scenario/belief.c tests/scenario/belief.h \
	tests/scenario/client.c tests/scenario/client.h \
	tests/scenario/invariants.c \
	tests/scenario/lanes.c tests/scenario/lanes.h \
	tests/scenario/lives.c tests/scenario/lives.h \
	tests/scenario/managers.c tests/scenario/managers.h \
	tests/scenario/published.c tests/scenario/published.h \
	tests/scenario/repair.c tests/scenario/repair.h \
	tests/scenario/replay.c tests/scenario/replay.h \
	tests/scenario/replicated.c tests/scenario/replicated.h \
	tests/scenario/scenario.c tests/scenario/scenario.h \
	tests/scenario/tale.c tests/scenario/tale.h \
	tests/scenario/transcript.c tests/scenario/transcript.h
libscenario_a_CFLAGS = $(TESTLIB_CFLAGS)

scenario_tests = tests/scenario/seeds tests/scenario/test_ability tests/scenario/test_agreement \
	tests/scenario/test_aliases \
	tests/scenario/test_ssa tests/scenario/test_cc \
	tests/scenario/test_audit tests/scenario/test_bringup tests/scenario/test_cable_keys \
	tests/scenario/test_devices tests/scenario/test_paths \
	tests/scenario/test_perf tests/scenario/test_perf_day tests/scenario/test_perf_totals \
	tests/scenario/test_costs tests/scenario/test_election tests/scenario/test_faults \
	tests/scenario/test_health tests/scenario/test_hung_files tests/scenario/test_keys \
	tests/scenario/test_moves tests/scenario/test_options \
	tests/scenario/test_multicast tests/scenario/test_node_names \
	tests/scenario/test_own_port tests/scenario/test_partitions \
	tests/scenario/test_pkey_indexes \
	tests/scenario/test_lanes \
	tests/scenario/test_qos tests/scenario/test_qos_off tests/scenario/test_replication \
	tests/scenario/test_reports tests/scenario/test_routing tests/scenario/test_site_files \
	tests/scenario/test_sa_storm tests/scenario/test_silent \
	tests/scenario/test_silent_groups \
	tests/scenario/test_refusing_switch tests/scenario/test_slow_agents \
	tests/scenario/test_small_tables tests/scenario/test_tables \
	tests/scenario/test_storm tests/scenario/test_successor \
	tests/scenario/test_takeover tests/scenario/test_threads \
	tests/scenario/test_perf_alarms tests/scenario/test_plan tests/scenario/test_traffic \
	tests/scenario/test_traps tests/scenario/test_unhealthy \
	tests/scenario/test_transitions tests/scenario/test_replay
check_PROGRAMS += $(scenario_tests)
scenario_scripts = tests/scenario/test_console.py \
	tests/scenario/test_control_socket.py \
	tests/scenario/test_files.py \
	tests/scenario/test_follow.py \
	tests/scenario/test_main.sh \
	tests/scenario/test_opensmctl.py \
	tests/scenario/test_plugin_engines.py \
	tests/scenario/test_plugin_groups.py \
	tests/scenario/test_plugins.py \
	tests/scenario/test_repeatable.py \
	tests/scenario/test_route_inputs.py \
	tests/scenario/test_service.py \
	tests/scenario/test_tls.py \
	tests/scenario/test_wrong_configurations.py
TESTS += $(scenario_tests) $(scenario_scripts)
dist_check_SCRIPTS += $(scenario_scripts) tests/scenario/test_web.py
if HAVE_WEB
TESTS += tests/scenario/test_web.py
endif
# TRANSITIONS=1-1000 runs other seeds than the few of "make check".
tests_scenario_test_transitions_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_transitions_LDADD = libscenario.a libroutecheck.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_replay_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_replay_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_devices_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_devices_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_paths_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_paths_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_traffic_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_traffic_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_perf_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_perf_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_perf_day_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_perf_day_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_perf_totals_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_perf_totals_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_ability_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_ability_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_aliases_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_aliases_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_cc_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_cc_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_ssa_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_ssa_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_bringup_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_bringup_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_multicast_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_multicast_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_audit_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_audit_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_election_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_election_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_storm_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_storm_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_silent_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_silent_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_silent_groups_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_silent_groups_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_sa_storm_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_sa_storm_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_takeover_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_takeover_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_replication_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_replication_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_agreement_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_agreement_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_successor_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_successor_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_own_port_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_own_port_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_costs_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_costs_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_faults_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_faults_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_health_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_health_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_moves_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_moves_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_cable_keys_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_cable_keys_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_keys_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_keys_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_reports_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_reports_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_traps_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_traps_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_perf_alarms_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_perf_alarms_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_unhealthy_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_unhealthy_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_options_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_options_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_lanes_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_lanes_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_qos_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_qos_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_qos_off_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_qos_off_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_plan_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_plan_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_partitions_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_partitions_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_pkey_indexes_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_pkey_indexes_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_routing_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_routing_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_hung_files_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_hung_files_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_node_names_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_node_names_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_site_files_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_site_files_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_refusing_switch_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_refusing_switch_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_slow_agents_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_slow_agents_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_small_tables_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_small_tables_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_tables_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_tables_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_test_threads_CFLAGS = $(TEST_CFLAGS)
tests_scenario_test_threads_LDADD = libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)
tests_scenario_seeds_SOURCES = tests/scenario/seeds.c tests/scenario/seeds.h \
	tests/scenario/seeds_lasting.c tests/scenario/seeds_options.c
tests_scenario_seeds_LDADD = libscenario.a $(LIBS_OPENSM) -lm
EXTRA_DIST += tests/scenario/rules.test.yml tests/scenario/devices.topo \
	tests/scenario/dual_port.topo tests/scenario/dual_plane.topo \
	tests/scenario/chain.topo tests/scenario/one_switch.topo tests/scenario/speeds.topo \
	tests/scenario/own_loop.topo tests/scenario/own_loop_2.topo \
	tests/scenario/own_loops.topo \
	tests/scenario/ring.topo tests/scenario/router.topo tests/scenario/two_hosts.topo \
	tests/scenario/two_ways.topo

# "tests/scenario/steady 10000" is the long run.
check_PROGRAMS += tests/scenario/steady
TESTS += tests/scenario/steady
tests_scenario_steady_LDADD = libscenario.a $(LIBS_OPENSM)

# Losses in a sweep. Long, hours: every moment of every sweep, with many seeds.
LOSS_SEEDS = 20
check_PROGRAMS += tests/scenario/losses
TESTS += tests/scenario/losses
tests_scenario_losses_SOURCES = tests/scenario/losses.c tests/scenario/losses.h \
	tests/scenario/losses_cases.c tests/scenario/losses_options.c \
	tests/scenario/losses_resets.c tests/scenario/moments.c
tests_scenario_losses_LDADD = libscenario.a $(LIBS_OPENSM)
losses: tests/scenario/losses$(EXEEXT)
	tests/scenario/losses --all --seeds $(LOSS_SEEDS)
.PHONY: losses

# Long: several SMs in storms of faults.
STORMS = 1-20000
storms: tests/scenario/test_storm$(EXEEXT)
	top_srcdir='$(abs_top_srcdir)' STORM_SEEDS=$(STORMS) tests/scenario/test_storm
crashes: tests/scenario/test_takeover$(EXEEXT)
	top_srcdir='$(abs_top_srcdir)' CRASHES=1 tests/scenario/test_takeover
.PHONY: storms crashes

# Long: totals of the performance manager against the true counts, 10,000 events a seed; and a day
# of bad cables, flapping hosts and a congested leaf among 1,024 hosts.
PERF_TOTALS = 1-100
perf-totals: tests/scenario/test_perf_totals$(EXEEXT)
	top_srcdir='$(abs_top_srcdir)' PERF_EVENTS=10000 PERF_SEEDS=$(PERF_TOTALS) \
		tests/scenario/test_perf_totals
perf-day: tests/scenario/test_perf_day$(EXEEXT)
	top_srcdir='$(abs_top_srcdir)' PERF_DAY=fattree:16 tests/scenario/test_perf_day
.PHONY: perf-totals perf-day

# Long: changes of routes with lanes, four a seed, and the packets that are under way meanwhile.
REPLAY = 1-500
replay: tests/scenario/test_replay$(EXEEXT)
	top_srcdir='$(abs_top_srcdir)' REPLAY=$(REPLAY) tests/scenario/test_replay
.PHONY: replay

# Long: clients of the SA in storms of faults.
SA_STORMS = 1-5000
sa-storms: tests/scenario/test_sa_storm$(EXEEXT)
	top_srcdir='$(abs_top_srcdir)' SA_SEEDS=$(SA_STORMS) tests/scenario/test_sa_storm
.PHONY: sa-storms

# Long: policies of partitions and changes from one to another, at every moment of them.
PARTITIONS = 0-99
partitions: tests/scenario/test_partitions$(EXEEXT)
	top_srcdir='$(abs_top_srcdir)' PARTITION_SEEDS=$(PARTITIONS) tests/scenario/test_partitions
.PHONY: partitions

# Long: seeds over all kinds of fabrics, both cores busy; SOAK='FIRST COUNT' resumes.
SOAK = 1 20000
EXTRA_DIST += tests/scenario/soak.py
soak: tests/scenario/seeds$(EXEEXT)
	top_srcdir='$(abs_top_srcdir)' top_builddir='$(abs_top_builddir)' \
		$(srcdir)/tests/scenario/soak.py $(SOAK)
.PHONY: soak
