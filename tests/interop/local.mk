# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# The built daemon on Debian's ibsim, with infiniband-diags and the classic daemon as its peers.
# OPENSM=/usr/sbin/opensm make check runs the tests on the classic daemon.
interop_tests = tests/interop/test_truth.py tests/interop/test_samples.py \
	tests/interop/test_fat_tree_8.py tests/interop/test_fat_tree_16.py \
	tests/interop/test_classic_console.py tests/interop/test_container.py \
	tests/interop/test_classic_log.py \
	tests/interop/test_classic_options.py tests/interop/test_congestion.py \
	tests/interop/test_ibutils.py tests/interop/test_dumps.py tests/interop/test_ftree.py \
	tests/interop/test_lanes.py \
	tests/interop/test_partitions.py \
	tests/interop/test_weights.py tests/interop/test_port_order.py tests/interop/test_keys.py \
	tests/interop/test_counters.py tests/interop/test_device.py tests/interop/test_paths.py \
	tests/interop/test_perfmgr.py \
	tests/interop/test_records.py \
	tests/interop/test_groups.py tests/interop/test_joins.py \
	tests/interop/test_managers.py tests/interop/test_osmsim.py tests/interop/test_qos.py \
	tests/interop/test_silent_switch.py \
	tests/interop/test_qos_policies.py tests/interop/test_plan.py tests/interop/test_tshark.py \
	tests/interop/test_pcap.py tests/interop/test_readme.py \
	tests/interop/test_package.py tests/interop/test_sa_database.py \
	tests/interop/test_verbs.py
dist_check_SCRIPTS += $(interop_tests) tests/interop/test_rest.py tests/interop/test_web_standby.py
TESTS += $(interop_tests)
if HAVE_WEB
TESTS += tests/interop/test_rest.py tests/interop/test_web_standby.py
endif
dist_check_SCRIPTS += tests/interop/test_ssa.py tests/interop/test_acm_files.py \
	tests/interop/test_ssa_cores.py tests/interop/test_ssa_failover.py
if HAVE_REDIS
TESTS += tests/interop/test_ssa.py tests/interop/test_ssa_cores.py
if HAVE_ACM
TESTS += tests/interop/test_acm_files.py tests/interop/test_ssa_failover.py
endif
endif
EXTRA_DIST += tests/interop/ssa.py
dist_check_SCRIPTS += tests/interop/test_snmp.py
if HAVE_SNMP
TESTS += tests/interop/test_snmp.py
endif
EXTRA_DIST += tests/interop/snmp.py
EXTRA_DIST += tests/interop/ibsim.py tests/interop/ibutils.py tests/interop/osmsim.py \
	tests/interop/mixed_speeds.net \
	tests/interop/package.py tests/interop/subnet.py \
	tests/interop/tools.py tests/interop/truth.py \
	tests/interop/ibutils_shim.c tests/interop/tshark.py tests/interop/tshark_fields.py

# Random attributes as MADs in a capture, for test_tshark.py.
check_PROGRAMS += tests/interop/wire_samples
tests_interop_wire_samples_CFLAGS = $(TEST_CFLAGS)
tests_interop_wire_samples_LDADD = libvendor.a $(LIBS_IBA)
# Questions to the SA, for test_paths.py.
check_PROGRAMS += tests/interop/sa_ask
tests_interop_sa_ask_LDADD = $(LIBS_IBA) $(UMAD_LIBS)
# Questions to SMAs, for test_partitions.py and test_qos.py.
check_PROGRAMS += tests/interop/smp_ask
tests_interop_smp_ask_LDADD = $(UMAD_LIBS)
dist_check_SCRIPTS += tests/interop/test_ibacm.py
if HAVE_ACM
TESTS += tests/interop/test_ibacm.py
endif
EXTRA_DIST += tests/interop/ibacm.py tests/interop/ssa_table.py

# From a store of epochs to a snapshot, for test_ibacm.py.
check_PROGRAMS += tests/interop/ssa_join
tests_interop_ssa_join_LDADD = $(LIBS_SSA)

# What libibverbs tells a program, for test_verbs.py.
check_PROGRAMS += tests/interop/verbs_ask
tests_interop_verbs_ask_LDADD = $(VERBS_LIBS)

# Preloaded into foreign programs, hence without the sanitizers of this build.
check_DATA += tests/interop/ibutils_shim.so tests/interop/verbs_shim.so
CLEANFILES += tests/interop/ibutils_shim.so tests/interop/verbs_shim.so
tests/interop/ibutils_shim.so: $(srcdir)/tests/interop/ibutils_shim.c Makefile
	$(AM_V_CCLD)$(MKDIR_P) tests/interop && $(CC) -std=gnu11 $(WARN_CFLAGS) $(UMAD_CFLAGS) \
		-O2 -fPIC -shared -o $@ $(srcdir)/tests/interop/ibutils_shim.c -ldl
tests/interop/verbs_shim.so: $(srcdir)/tests/interop/verbs_shim.c Makefile
	$(AM_V_CCLD)$(MKDIR_P) tests/interop && $(CC) -std=gnu11 $(WARN_CFLAGS) -O2 -fPIC -shared \
		-o $@ $(srcdir)/tests/interop/verbs_shim.c
EXTRA_DIST += tests/interop/verbs_shim.c

# A site goes from Debian's opensm to this one and back, in a bare Debian: as root, with network.
EXTRA_DIST += tests/interop/migration.py tests/interop/boot.py tests/interop/boot.sh
migration:
	top_srcdir='$(abs_top_srcdir)' top_builddir='$(abs_top_builddir)' \
		unshare --mount $(srcdir)/tests/interop/migration.py $(MIGRATION_FLAGS)
# The units under the real service manager, in a container.
boot:
	top_srcdir='$(abs_top_srcdir)' top_builddir='$(abs_top_builddir)' \
		unshare --mount $(srcdir)/tests/interop/boot.py $(MIGRATION_FLAGS)
# Other compilers, releases, word sizes and byte orders, in roots of their own.
EXTRA_DIST += tests/interop/distributions.py
distributions:
	top_srcdir='$(abs_top_srcdir)' $(srcdir)/tests/interop/distributions.py \
		$(DISTRIBUTIONS_FLAGS)
.PHONY: migration boot distributions
