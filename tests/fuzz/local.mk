# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# One program per decoder or parser. In make check each runs on its corpus and some thousand altered
# inputs. make fuzz builds them with clang's libFuzzer in a directory of its own and runs each
# FUZZ_RUNS times: see fuzz.sh.
fuzz_programs = \
	tests/fuzz/fuzz_block \
	tests/fuzz/fuzz_cc_memory \
	tests/fuzz/fuzz_console \
	tests/fuzz/fuzz_guid2lid \
	tests/fuzz/fuzz_guid_file \
	tests/fuzz/fuzz_image \
	tests/fuzz/fuzz_key_files \
	tests/fuzz/fuzz_lft_file \
	tests/fuzz/fuzz_mad \
	tests/fuzz/fuzz_module_flags \
	tests/fuzz/fuzz_node_names \
	tests/fuzz/fuzz_options \
	tests/fuzz/fuzz_options_args \
	tests/fuzz/fuzz_osmsim \
	tests/fuzz/fuzz_osmsim_console \
	tests/fuzz/fuzz_partition_file \
	tests/fuzz/fuzz_perf_image \
	tests/fuzz/fuzz_perf_rules \
	tests/fuzz/fuzz_prefix_routes \
	tests/fuzz/fuzz_torus_file \
	tests/fuzz/fuzz_qos_file \
	tests/fuzz/fuzz_ports_policy \
	tests/fuzz/fuzz_replication \
	tests/fuzz/fuzz_rmpp \
	tests/fuzz/fuzz_route_output \
	tests/fuzz/fuzz_sa \
	tests/fuzz/fuzz_sa_rmpp \
	tests/fuzz/fuzz_sim_cc \
	tests/fuzz/fuzz_sm_discover \
	tests/fuzz/fuzz_sma \
	tests/fuzz/fuzz_ssa_addresses \
	tests/fuzz/fuzz_ssa_manifest \
	tests/fuzz/fuzz_ssa_table \
	tests/fuzz/fuzz_topology \
	tests/fuzz/fuzz_topology_spec \
	tests/fuzz/fuzz_trap \
	tests/fuzz/fuzz_unhealthy \
	tests/fuzz/fuzz_wire
if HAVE_REDIS
fuzz_programs += tests/fuzz/fuzz_ssa_join
tests_fuzz_fuzz_ssa_join_LDADD = $(LIBS_FUZZ) $(LIBS_SSANODE)
endif
if HAVE_WEB
fuzz_programs += tests/fuzz/fuzz_web_config tests/fuzz/fuzz_web_target tests/fuzz/fuzz_web_users
tests_fuzz_fuzz_web_config_LDADD = $(LIBS_FUZZ) $(LIBS_WEB)
tests_fuzz_fuzz_web_target_LDADD = $(LIBS_FUZZ) $(LIBS_WEB)
tests_fuzz_fuzz_web_users_LDADD = $(LIBS_FUZZ) $(LIBS_WEB)
fuzz_programs += tests/fuzz/fuzz_rest_body
tests_fuzz_fuzz_rest_body_LDADD = $(LIBS_FUZZ) $(LIBS_WEB)
endif
check_PROGRAMS += $(fuzz_programs)
TESTS += $(fuzz_programs)

check_LIBRARIES += libfuzz.a
libfuzz_a_CFLAGS = $(TESTLIB_CFLAGS)
if LIBFUZZER
libfuzz_a_SOURCES = tests/fuzz/libfuzzer.c tests/fuzz/fuzz_file.c tests/fuzz/fuzz.h
else
libfuzz_a_SOURCES = tests/fuzz/fuzz.c tests/fuzz/fuzz_file.c tests/fuzz/fuzz.h \
	tests/fuzz/mutate.c
endif
LIBS_FUZZ = $(FUZZ_LIBS) libfuzz.a

tests_fuzz_fuzz_block_LDADD = $(LIBS_FUZZ) $(LIBS_PLUGIN)
tests_fuzz_fuzz_cc_memory_SOURCES = tests/fuzz/fuzz_cc_memory.c tests/fuzz/no_check.c
tests_fuzz_fuzz_cc_memory_CFLAGS = $(TEST_CFLAGS)
tests_fuzz_fuzz_cc_memory_LDADD = $(LIBS_FUZZ) libcc.a $(LIBS_SM)
tests_fuzz_fuzz_console_SOURCES = tests/fuzz/fuzz_console.c tests/fuzz/no_check.c
tests_fuzz_fuzz_console_CFLAGS = $(TEST_CFLAGS)
tests_fuzz_fuzz_console_LDADD = $(LIBS_FUZZ) libproxy.a $(LIBS_OPENSM)
tests_fuzz_fuzz_guid2lid_LDADD = $(LIBS_FUZZ) $(LIBS_SM)
tests_fuzz_fuzz_guid_file_LDADD = $(LIBS_FUZZ) $(LIBS_SUBNET)
tests_fuzz_fuzz_image_SOURCES = tests/fuzz/fuzz_image.c tests/fuzz/no_check.c \
	tests/unit/image_bed.c tests/unit/image_bed.h
tests_fuzz_fuzz_image_CFLAGS = $(TEST_CFLAGS)
tests_fuzz_fuzz_image_LDADD = $(LIBS_FUZZ) libfabricmake.a libwebfabric.a $(LIBS_OPENSM)
tests_fuzz_fuzz_key_files_LDADD = $(LIBS_FUZZ) $(LIBS_SM)
tests_fuzz_fuzz_lft_file_LDADD = $(LIBS_FUZZ) $(LIBS_SUBNET)
tests_fuzz_fuzz_mad_LDADD = $(LIBS_FUZZ) $(LIBS_MAD)
tests_fuzz_fuzz_module_flags_LDADD = $(LIBS_FUZZ) $(LIBS_OPENSM)
tests_fuzz_fuzz_node_names_LDADD = $(LIBS_FUZZ) $(LIBS_SUBNET)
tests_fuzz_fuzz_options_LDADD = $(LIBS_FUZZ) $(LIBS_CORE)
tests_fuzz_fuzz_options_args_LDADD = $(LIBS_FUZZ) $(LIBS_CORE)
tests_fuzz_fuzz_osmsim_LDADD = $(LIBS_FUZZ) libosmsim.a $(LIBS_SIM)
tests_fuzz_fuzz_osmsim_console_LDADD = $(LIBS_FUZZ) libosmsim.a $(LIBS_SIM)
tests_fuzz_fuzz_partition_file_LDADD = $(LIBS_FUZZ) $(LIBS_SUBNET)
tests_fuzz_fuzz_perf_image_SOURCES = tests/fuzz/fuzz_perf_image.c tests/fuzz/no_check.c \
	tests/unit/perf_fixture.c tests/unit/perf_fixture.h
tests_fuzz_fuzz_perf_image_CFLAGS = $(TEST_CFLAGS)
tests_fuzz_fuzz_perf_image_LDADD = $(LIBS_FUZZ) $(LIBS_PERF)
tests_fuzz_fuzz_prefix_routes_LDADD = $(LIBS_FUZZ) $(LIBS_SUBNET)
tests_fuzz_fuzz_torus_file_LDADD = $(LIBS_FUZZ) $(LIBS_SUBNET)
tests_fuzz_fuzz_qos_file_LDADD = $(LIBS_FUZZ) $(LIBS_SUBNET)
tests_fuzz_fuzz_perf_rules_LDADD = $(LIBS_FUZZ) $(LIBS_PERF)
tests_fuzz_fuzz_ports_policy_LDADD = $(LIBS_FUZZ) $(LIBS_SUBNET)
tests_fuzz_fuzz_unhealthy_LDADD = $(LIBS_FUZZ) $(LIBS_SM)
tests_fuzz_fuzz_route_output_SOURCES = tests/fuzz/fuzz_route_output.c tests/fuzz/no_check.c
tests_fuzz_fuzz_route_output_CFLAGS = $(TEST_CFLAGS)
tests_fuzz_fuzz_route_output_LDADD = $(LIBS_FUZZ) libplugin.a libfabricmake.a $(LIBS_ROUTE)
tests_fuzz_fuzz_sa_SOURCES = tests/fuzz/fuzz_sa.c tests/fuzz/no_check.c
tests_fuzz_fuzz_sa_CFLAGS = $(TEST_CFLAGS)
tests_fuzz_fuzz_sa_LDADD = $(LIBS_FUZZ) libsamake.a libfabricmake.a $(LIBS_SA)
tests_fuzz_fuzz_replication_LDADD = $(LIBS_FUZZ) $(LIBS_SA)
tests_fuzz_fuzz_rmpp_LDADD = $(LIBS_FUZZ) $(LIBS_SIM)
tests_fuzz_fuzz_sa_rmpp_LDADD = $(LIBS_FUZZ) libsanet.a libsm.a $(LIBS_SA)
tests_fuzz_fuzz_sm_discover_SOURCES = tests/fuzz/fuzz_sm_discover.c tests/fuzz/no_check.c
tests_fuzz_fuzz_sm_discover_CFLAGS = $(TEST_CFLAGS)
tests_fuzz_fuzz_sm_discover_LDADD = $(LIBS_FUZZ) libproxy.a $(LIBS_OPENSM)
tests_fuzz_fuzz_sim_cc_LDADD = $(LIBS_FUZZ) $(LIBS_SIM)
tests_fuzz_fuzz_sma_LDADD = $(LIBS_FUZZ) $(LIBS_SIM)
tests_fuzz_fuzz_ssa_addresses_LDADD = $(LIBS_FUZZ) libssacore.a libssa.a $(LIBS_SUBNET) $(SSA_LIBS)
tests_fuzz_fuzz_ssa_manifest_LDADD = $(LIBS_FUZZ) libssatables.a $(LIBS_SSA)
tests_fuzz_fuzz_ssa_table_LDADD = $(LIBS_FUZZ) libssatables.a $(LIBS_SSA)
tests_fuzz_fuzz_topology_LDADD = $(LIBS_FUZZ) $(LIBS_SIM)
tests_fuzz_fuzz_topology_spec_LDADD = $(LIBS_FUZZ) $(LIBS_SIM)
tests_fuzz_fuzz_trap_SOURCES = tests/fuzz/fuzz_trap.c tests/fuzz/no_check.c
tests_fuzz_fuzz_trap_CFLAGS = $(TEST_CFLAGS)
tests_fuzz_fuzz_trap_LDADD = $(LIBS_FUZZ) libproxy.a $(LIBS_OPENSM)
tests_fuzz_fuzz_wire_LDADD = $(LIBS_FUZZ) $(LIBS_IBA)

EXTRA_DIST += tests/fuzz/fuzz.sh tests/fuzz/libfuzzer.c tests/fuzz/fuzz.c tests/fuzz/mutate.c \
	tests/fuzz/corpus tests/fuzz/console.dict tests/fuzz/osmsim_console.dict \
	tests/fuzz/qos_file.dict \
	tests/fuzz/partition_file.dict
fuzz-programs: $(fuzz_programs)
print-fuzz-programs:
	@echo $(fuzz_programs)
fuzz:
	@$(SHELL) '$(srcdir)/tests/fuzz/fuzz.sh' '$(abs_top_srcdir)' '$(abs_top_builddir)'
.PHONY: fuzz fuzz-programs print-fuzz-programs
