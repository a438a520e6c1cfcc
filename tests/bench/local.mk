# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# make bench BENCH_FLAGS='--sizes 16 --runs 5' measures; make check only tries it. So does
# make bench-route BENCH_FLAGS='--nets fattree:16 --json FILE' with the routing
# engines, make bench-outages with their repair of losses, and make bench-faults with the
# daemon's repair: BENCH_FLAGS='--runs 1 --before OTHER/opensm'.
EXTRA_DIST += tests/bench/bench.py tests/bench/lab.py tests/bench/phases.py tests/bench/table.py \
	tests/bench/count_mads.c tests/bench/route_table.py tests/bench/route_nets.py \
	tests/bench/route_peer.py tests/bench/route_print.py tests/bench/route_outages.py \
	tests/bench/faults.py

check_PROGRAMS += tests/bench/sa_client tests/bench/fault_client
tests_bench_sa_client_LDADD = $(LIBS_IBA) $(UMAD_LIBS)
tests_bench_fault_client_LDADD = $(LIBS_IBA) $(UMAD_LIBS)

# Preloaded into foreign programs, hence without the sanitizers of this build.
check_DATA += tests/bench/count_mads.so
CLEANFILES += tests/bench/count_mads.so
tests/bench/count_mads.so: $(srcdir)/tests/bench/count_mads.c Makefile
	$(AM_V_CCLD)$(MKDIR_P) tests/bench && $(CC) -std=gnu11 $(WARN_CFLAGS) $(UMAD_CFLAGS) \
		-O2 -fPIC -shared -o $@ $(srcdir)/tests/bench/count_mads.c -ldl

dist_check_SCRIPTS += tests/bench/test_bench.py tests/bench/test_route_table.py
TESTS += tests/bench/test_bench.py tests/bench/test_route_table.py

bench: opensm/opensm$(EXEEXT) libvendor/osmsim/osmsim$(EXEEXT) $(preload_library) \
	tests/bench/sa_client$(EXEEXT) tests/bench/count_mads.so
	top_builddir='$(abs_top_builddir)' $(srcdir)/tests/bench/bench.py $(BENCH_FLAGS)

bench-route: opensm/osmroute/osmroute$(EXEEXT) libvendor/osmsim/osmsim$(EXEEXT) \
		$(preload_library) tests/bench/count_mads.so
	top_builddir='$(abs_top_builddir)' $(srcdir)/tests/bench/route_table.py $(BENCH_FLAGS)

bench-outages: opensm/osmroute/osmroute$(EXEEXT)
	top_builddir='$(abs_top_builddir)' $(srcdir)/tests/bench/route_outages.py $(BENCH_FLAGS)

bench-faults: opensm/opensm$(EXEEXT) libvendor/osmsim/osmsim$(EXEEXT) $(preload_library) \
		tests/bench/fault_client$(EXEEXT) tests/bench/count_mads.so
	top_builddir='$(abs_top_builddir)' $(srcdir)/tests/bench/faults.py $(BENCH_FLAGS)

# What threads gain: make bench-threads BENCH_FLAGS='--nets torus:8x8x8:4 --before OTHER/osmroute'.
EXTRA_DIST += tests/bench/route_threads.py
bench-threads: opensm/osmroute/osmroute$(EXEEXT) libvendor/osmsim/osmsim$(EXEEXT)
	top_builddir='$(abs_top_builddir)' $(srcdir)/tests/bench/route_threads.py $(BENCH_FLAGS)
.PHONY: bench bench-route bench-outages bench-faults bench-threads

# Tables a second of one client and of eight: make bench-answers BENCH_FLAGS='--before OTHER/opensm'
EXTRA_DIST += tests/bench/answers.py
bench-answers: opensm/opensm$(EXEEXT) libvendor/osmsim/osmsim$(EXEEXT) $(preload_library) \
		tests/bench/sa_client$(EXEEXT) tests/bench/count_mads.so
	top_builddir='$(abs_top_builddir)' $(srcdir)/tests/bench/answers.py $(BENCH_FLAGS)
.PHONY: bench-answers

# Rates, latencies and costs of the SA: make bench-sa BENCH_FLAGS='--kinds paths --simulators ibsim'
EXTRA_DIST += tests/bench/sa_rates.py
bench-sa: opensm/opensm$(EXEEXT) libvendor/osmsim/osmsim$(EXEEXT) $(preload_library) \
		tests/bench/sa_client$(EXEEXT) tests/bench/count_mads.so
	top_builddir='$(abs_top_builddir)' $(srcdir)/tests/bench/sa_rates.py $(BENCH_FLAGS)
.PHONY: bench-sa

# One host floods the SA: make bench-flood BENCH_FLAGS='--rates 200000 --before OTHER/opensm'.
EXTRA_DIST += tests/bench/flood.py
bench-flood: opensm/opensm$(EXEEXT) libvendor/osmsim/osmsim$(EXEEXT) $(preload_library) \
		tests/bench/fault_client$(EXEEXT) tests/bench/count_mads.so
	top_builddir='$(abs_top_builddir)' $(srcdir)/tests/bench/flood.py $(BENCH_FLAGS)
.PHONY: bench-flood

# Reports while a host flaps groups, beside the classic daemon: make bench-reports
# BENCH_FLAGS='--delay 150 --before OTHER/opensm'.
EXTRA_DIST += tests/bench/reports.py
check_PROGRAMS += tests/bench/report_client
tests_bench_report_client_LDADD = $(LIBS_IBA) $(UMAD_LIBS)
bench-reports: opensm/opensm$(EXEEXT) libvendor/osmsim/osmsim$(EXEEXT) $(preload_library) \
		tests/bench/report_client$(EXEEXT)
	top_builddir='$(abs_top_builddir)' $(srcdir)/tests/bench/reports.py $(BENCH_FLAGS)
.PHONY: bench-reports

# Cold starts with lost MADs, on ibsim: BENCH_FLAGS='--net fattree:16 --percent 5'.
EXTRA_DIST += tests/bench/loss.py
bench-loss: opensm/opensm$(EXEEXT) tests/bench/count_mads.so
	top_builddir='$(abs_top_builddir)' $(srcdir)/tests/bench/loss.py $(BENCH_FLAGS)
.PHONY: bench-loss

# Where a MAD's time goes, by thread: make bench-mad BENCH_FLAGS='--strace --before OTHER/opensm'.
EXTRA_DIST += tests/bench/mad_cost.py
bench-mad: opensm/opensm$(EXEEXT) libvendor/osmsim/osmsim$(EXEEXT) $(preload_library) \
		tests/bench/count_mads.so
	top_builddir='$(abs_top_builddir)' $(srcdir)/tests/bench/mad_cost.py $(BENCH_FLAGS)
.PHONY: bench-mad

# The performance manager, beside the classic one: make bench-perfmgr BENCH_FLAGS='--sizes 16'.
EXTRA_DIST += tests/bench/perfmgr.py
bench-perfmgr: opensm/opensm$(EXEEXT) libvendor/osmsim/osmsim$(EXEEXT) $(preload_library) \
		tests/bench/sa_client$(EXEEXT) tests/bench/count_mads.so
	top_builddir='$(abs_top_builddir)' $(srcdir)/tests/bench/perfmgr.py $(BENCH_FLAGS)
.PHONY: bench-perfmgr

# What sweeps cost: tests/bench/sweep_cost SPEC [ENGINE [SMA_NS]]
check_PROGRAMS += tests/bench/sweep_cost
tests_bench_sweep_cost_LDADD = libscenario.a $(LIBS_OPENSM)

# A standby takes over: tests/bench/failover [SPEC]; and at random moments: make bench-kills
check_PROGRAMS += tests/bench/failover
tests_bench_failover_LDADD = libscenario.a $(LIBS_OPENSM)
EXTRA_DIST += tests/bench/kills.py
bench-kills: opensm/opensm$(EXEEXT) libvendor/osmsim/osmsim$(EXEEXT) $(preload_library)
	top_builddir='$(abs_top_builddir)' $(srcdir)/tests/bench/kills.py $(BENCH_FLAGS)
.PHONY: bench-kills

# Changes of partitions: make bench-partitions BENCH_FLAGS='--runs 1 --before OTHER/opensm'.
EXTRA_DIST += tests/bench/partitions.py
bench-partitions: opensm/opensm$(EXEEXT) libvendor/osmsim/osmsim$(EXEEXT) $(preload_library) \
		tests/bench/count_mads.so
	top_builddir='$(abs_top_builddir)' $(srcdir)/tests/bench/partitions.py $(BENCH_FLAGS)
.PHONY: bench-partitions
# SMPs that QoS costs, beside the peer: make bench-qos BENCH_FLAGS='--net fattree:16'; and what 500
# partitions and a QoS policy cost on 27,648 hosts.
EXTRA_DIST += tests/bench/qos_tables.py
bench-qos: opensm/opensm$(EXEEXT) libvendor/osmsim/osmsim$(EXEEXT) $(preload_library) \
		tests/bench/count_mads.so tests/bench/policy_cost$(EXEEXT)
	top_builddir='$(abs_top_builddir)' $(srcdir)/tests/bench/qos_tables.py $(BENCH_FLAGS)
	tests/bench/policy_cost
.PHONY: bench-qos

# Many multicast groups: make bench-multicast.
check_PROGRAMS += tests/bench/multicast
tests_bench_multicast_CFLAGS = $(TEST_CFLAGS)
tests_bench_multicast_LDADD = libsamake.a libfabricmake.a libsm.a $(LIBS_SA) $(CHECK_LIBS)
check_PROGRAMS += tests/bench/multicast_daemon
tests_bench_multicast_daemon_LDADD = libscenario.a $(LIBS_OPENSM)
bench-multicast: tests/bench/multicast$(EXEEXT) tests/bench/multicast_daemon$(EXEEXT) \
		tests/unit/test_sa_store$(EXEEXT) tests/unit/test_sa_member$(EXEEXT)
	tests/bench/multicast random fattree:32 16000 64
	tests/bench/multicast random fattree:32 16000 64 4096
	tests/bench/multicast random fattree:16 4000 64
	SPREAD=1 tests/bench/multicast random fattree:16 4000 64
	tests/bench/multicast snm fattree:36 10240
	tests/bench/multicast_daemon random fattree:32 8192 16000 64
	tests/bench/multicast_daemon snm fattree:36 10240 "consolidate_ipv6_snm_req TRUE"
	CHURN_STEPS=1000000 CK_RUN_CASE=store tests/unit/test_sa_store
	CHURN_STEPS=1000000 tests/unit/test_sa_member
.PHONY: bench-multicast

# The SA by itself.
check_PROGRAMS += tests/bench/policy_cost tests/bench/sa_paths tests/bench/sa_tables \
	tests/bench/sa_wire tests/bench/ssa_make
tests_bench_policy_cost_CFLAGS = $(TEST_CFLAGS)
tests_bench_policy_cost_LDADD = $(LIBS_SAMAKE)
tests_bench_sa_paths_CFLAGS = $(TEST_CFLAGS)
tests_bench_sa_paths_LDADD = $(LIBS_SAMAKE)
tests_bench_sa_tables_CFLAGS = $(TEST_CFLAGS)
tests_bench_sa_tables_LDADD = $(LIBS_SAMAKE)
tests_bench_ssa_make_CFLAGS = $(TEST_CFLAGS)
tests_bench_ssa_make_LDADD = libsamake.a libfabricmake.a libssacore.a libssa.a $(LIBS_SA) \
	$(SSA_LIBS) $(CHECK_LIBS)
tests_bench_sa_wire_LDADD = libsanet.a libsm.a $(LIBS_SA)

# Chunks of the Scalable SA.
check_PROGRAMS += tests/bench/ssa_wire
tests_bench_ssa_wire_LDADD = libssatables.a $(LIBS_SSA)

# A job starts on all hosts: make bench-ssa-storm BENCH_FLAGS='--net fattree:16 --ranks 4'.
EXTRA_DIST += tests/bench/ssa_storm.py
check_PROGRAMS += tests/bench/ssa_storm
tests_bench_ssa_storm_LDADD = $(LIBS_SSA) $(UMAD_LIBS)
bench-ssa-storm: opensm/opensm$(EXEEXT) libvendor/osmsim/osmsim$(EXEEXT) $(preload_library) \
		tests/bench/ssa_storm$(EXEEXT) tests/bench/count_mads.so
	top_builddir='$(abs_top_builddir)' $(srcdir)/tests/bench/ssa_storm.py $(BENCH_FLAGS)
.PHONY: bench-ssa-storm

# A tree of the Scalable SA on the loopback, and servers that are killed, hang or are not reached.
if HAVE_REDIS
check_PROGRAMS += tests/bench/ssa_tree
tests_bench_ssa_tree_SOURCES = tests/bench/ssa_tree.c \
	tests/bench/relay.c tests/bench/relay.h \
	tests/unit/node_bed.c tests/unit/node_bed.h
tests_bench_ssa_tree_CFLAGS = $(TEST_CFLAGS)
tests_bench_ssa_tree_LDADD = libssatables.a libssabed.a $(LIBS_SSANODE) $(CHECK_LIBS)
ssa-tree: tests/bench/ssa_tree$(EXEEXT) opensm/ssa/node/opensm-ssa$(EXEEXT)
	tests/bench/ssa_tree 1000 200
endif
.PHONY: ssa-tree

# Hot spots and their victims, with settings of congestion control and without.
check_PROGRAMS += tests/bench/congestion
tests_bench_congestion_CFLAGS = $(TEST_CFLAGS)
tests_bench_congestion_LDADD = libroutecheck.a libcc.a $(LIBS_ROUTECHECK) -lm

# How evenly routes load the cables, beside a local search and Dmodc: make bench-even
# BENCH_FLAGS='-v irregular'.
check_PROGRAMS += tests/bench/even
tests_bench_even_CFLAGS = $(TEST_CFLAGS)
tests_bench_even_LDADD = $(LIBS_ROUTECHECK) -lm
bench-even: tests/bench/even$(EXEEXT)
	tests/bench/even $(BENCH_FLAGS)
.PHONY: bench-even

# What plug-ins that misbehave cost sweeps and answers: make bench-plugins BENCH_FLAGS='--runs 9'.
EXTRA_DIST += tests/bench/plugins.py
bench-plugins: opensm/opensm$(EXEEXT) libvendor/osmsim/osmsim$(EXEEXT) $(preload_library) \
		tests/bench/sa_client$(EXEEXT) tests/bench/count_mads.so tests/plugin/odd.so
	top_builddir='$(abs_top_builddir)' $(srcdir)/tests/bench/plugins.py $(BENCH_FLAGS)
.PHONY: bench-plugins

# Snapshots for plug-ins: ms and MB on 39,366 hosts.
check_PROGRAMS += tests/bench/snapshot
tests_bench_snapshot_CFLAGS = $(TEST_CFLAGS)
tests_bench_snapshot_LDADD = libsamake.a libfabricmake.a $(LIBS_OPENSM) $(CHECK_LIBS)
bench-snapshot: tests/bench/snapshot$(EXEEXT)
	tests/bench/snapshot
.PHONY: bench-snapshot
