# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# The suites of a room are one program, which links only the layers that the room may call. Each
# file of it makes its suite with TEST_SUITE, and libsuites.a has the main() that runs them all.
check_LIBRARIES += libsuites.a libfabricmake.a libproxy.a libroutecheck.a libsamake.a libsanet.a \
	libperffixture.a libssatables.a libssabed.a
libsuites_a_SOURCES = tests/suites.c
libsuites_a_CFLAGS = $(TESTLIB_CFLAGS)
libfabricmake_a_SOURCES = tests/unit/fabric_make.c tests/unit/fabric_make.h
libproxy_a_SOURCES = tests/unit/proxy.c tests/unit/proxy.h
libproxy_a_CFLAGS = $(TESTLIB_CFLAGS)
# The slow checkers of forwarding tables, packets in buffers, and random fabrics of all kinds.
libroutecheck_a_SOURCES = \
	tests/unit/congest.c tests/unit/congest.h \
	tests/unit/congest_runs.c tests/unit/congest_runs.h \
	tests/unit/credits.c tests/unit/credits.h \
	tests/unit/proof.c tests/unit/proof.h \
	tests/unit/proof_routing.c tests/unit/proof_routing.h \
	tests/unit/route_checker.c tests/unit/route_checker.h \
	tests/unit/route_churn.c tests/unit/route_churn.h \
	tests/unit/route_search.c tests/unit/route_search.h \
	tests/unit/route_shapes.c tests/unit/route_shapes.h
libroutecheck_a_CFLAGS = $(TESTLIB_CFLAGS)
libsamake_a_SOURCES = tests/unit/test_sa_make.c tests/unit/test_sa_make.h
libsamake_a_CFLAGS = $(TESTLIB_CFLAGS)
libperffixture_a_SOURCES = tests/unit/perf_fixture.c tests/unit/perf_fixture.h
libperffixture_a_CFLAGS = $(TESTLIB_CFLAGS)
libssatables_a_SOURCES = tests/unit/ssa_tables.c tests/unit/ssa_tables.h
# Stores of the Scalable SA, of both kinds.
libssabed_a_SOURCES = tests/unit/redis_server.c tests/unit/redis_server.h \
	tests/unit/ssa_bed.c tests/unit/ssa_bed.h \
	tests/unit/tls_site.c tests/unit/tls_site.h
libssabed_a_CPPFLAGS = $(AM_CPPFLAGS) -DSAMPLES_DIR='"$(abs_srcdir)/config/samples"'
libssabed_a_CFLAGS = $(TESTLIB_CFLAGS)
libsanet_a_SOURCES = tests/unit/test_sa_net.c tests/unit/test_sa_net.h

LIBS_ROUTECHECK = libroutecheck.a libfabricmake.a $(LIBS_ROUTE) $(CHECK_LIBS)
LIBS_SAMAKE = libsamake.a libfabricmake.a $(LIBS_SA) $(CHECK_LIBS)

# The suites of a room in one program.
unit_rooms = tests/unit/test_complib tests/unit/test_iba tests/unit/test_vendor \
	tests/unit/test_sim tests/unit/test_core tests/unit/test_fabric tests/unit/test_mad \
	tests/unit/test_ha tests/unit/test_route tests/unit/test_policy tests/unit/test_sm \
	tests/unit/test_sa tests/unit/test_sa_wire tests/unit/test_ctl tests/unit/test_console \
	tests/unit/test_perf tests/unit/test_plugin tests/unit/test_osmroute \
	tests/unit/test_osmsim tests/unit/test_events \
	tests/unit/test_image tests/unit/test_client tests/unit/test_cc tests/unit/test_ssa \
	tests/unit/test_ssa_wire \
	tests/unit/test_ssa_store

tests_unit_test_complib_SOURCES = tests/unit/test_actor.c tests/unit/test_aside.c \
	tests/unit/test_bucket.c tests/unit/test_file.c tests/unit/test_handoff.c \
	tests/unit/test_heap.c tests/unit/test_log.c tests/unit/test_memory.c \
	tests/unit/test_pool.c tests/unit/test_range.c tests/unit/test_visit.c tests/unit/gate.h
tests_unit_test_complib_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_complib_LDADD = libsuites.a $(LIBS_COMPLIB) $(CHECK_LIBS)

tests_unit_test_iba_SOURCES = tests/unit/test_iba.c tests/unit/test_iba_codes.c \
	tests/unit/test_iba_golden.c tests/unit/test_wire.c
tests_unit_test_iba_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_iba_LDADD = libsuites.a $(LIBS_IBA) $(CHECK_LIBS)

tests_unit_test_vendor_SOURCES = tests/unit/test_admission.c tests/unit/test_capture.c \
	tests/unit/test_frames.c tests/unit/test_transfers.c
tests_unit_test_vendor_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_vendor_LDADD = libsuites.a libvendor.a $(LIBS_IBA) $(CHECK_LIBS)

tests_unit_test_sim_SOURCES = tests/unit/test_sim.c tests/unit/test_sim_agents.c \
	tests/unit/test_sim_cca.c \
	tests/unit/test_sim_fault.c tests/unit/test_sim_pma.c tests/unit/test_sim_port.c \
	tests/unit/test_sim_rmpp.c tests/unit/test_sim_sma.c tests/unit/test_sim_traffic.c \
	tests/unit/test_sim_violation.c \
	tests/unit/sim_net.c tests/unit/sim_net.h
tests_unit_test_sim_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_sim_LDADD = libsuites.a $(LIBS_SIM) $(CHECK_LIBS)

# The pages as built, against the table of options.
tests_unit_test_core_SOURCES = tests/unit/test_notify.c tests/unit/test_options.c \
	tests/unit/test_options_file.c tests/unit/test_options_man.c tests/unit/test_options.h
tests_unit_test_core_CPPFLAGS = $(AM_CPPFLAGS) -DMAN_DIR='"$(abs_builddir)/man"' \
	-DSAMPLES_DIR='"$(abs_srcdir)/config/samples"'
tests_unit_test_core_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_core_LDADD = libsuites.a $(LIBS_CORE) $(CHECK_LIBS)

tests_unit_test_fabric_SOURCES = tests/unit/test_cable_end.c tests/unit/test_fabric.c
tests_unit_test_fabric_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_fabric_LDADD = libsuites.a libfabricmake.a $(LIBS_FABRIC) $(CHECK_LIBS)

tests_unit_test_mad_SOURCES = tests/unit/test_mad.c tests/unit/test_mad_ask.c \
	tests/unit/test_mad_slow.c tests/unit/test_mad_target.c tests/unit/test_window.c \
	tests/unit/mad_port.c tests/unit/mad_port.h tests/unit/sim_net.c tests/unit/sim_net.h
tests_unit_test_mad_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_mad_LDADD = libsuites.a $(LIBS_MAD) $(CHECK_LIBS)

tests_unit_test_ha_SOURCES = tests/unit/test_agreed.c tests/unit/test_replica.c \
	tests/unit/test_replicator.c tests/unit/sim_net.c tests/unit/sim_net.h
tests_unit_test_ha_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_ha_LDADD = libsuites.a $(LIBS_HA) $(CHECK_LIBS)

tests_unit_test_route_SOURCES = tests/unit/test_route.c tests/unit/test_route_acyclic.c \
	tests/unit/test_route_change.c tests/unit/test_route_even.c tests/unit/test_route_kept.c \
	tests/unit/test_route_legal.c tests/unit/test_route_lmc.c \
	tests/unit/test_route_losses.c tests/unit/test_route_memory.c tests/unit/test_route_nue.c \
	tests/unit/test_route_rebalance.c tests/unit/test_route_same.c \
	tests/unit/test_route_threads.c tests/unit/test_route_told.c tests/unit/test_route_top.c \
	tests/unit/test_route_updown.c tests/unit/test_route_watch.c \
	tests/unit/test_route_weights.c
tests_unit_test_route_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_route_LDADD = libsuites.a $(LIBS_ROUTECHECK)

tests_unit_test_policy_SOURCES = tests/unit/test_inventory.c tests/unit/test_lft_file.c \
	tests/unit/test_node_names.c \
	tests/unit/test_partition_changes.c tests/unit/test_partition_file.c \
	tests/unit/test_partition_memory.c tests/unit/test_ports_policy.c \
	tests/unit/test_prefix_routes.c tests/unit/test_qos.c tests/unit/test_qos_file.c \
	tests/unit/test_qos_setup.c tests/unit/test_route_files.c \
	tests/unit/test_route_preferences.c tests/unit/test_route_torus.c
tests_unit_test_policy_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_policy_LDADD = libsuites.a libroutecheck.a libfabricmake.a $(LIBS_SUBNET) \
	$(CHECK_LIBS)

tests_unit_test_sm_SOURCES = tests/unit/test_guid2lid.c tests/unit/test_key_files.c \
	tests/unit/test_key_ring.c tests/unit/test_keys.c tests/unit/test_lid.c \
	tests/unit/test_path_sls.c tests/unit/test_plan.c tests/unit/test_policy.c \
	tests/unit/test_port_wanted.c tests/unit/test_sm_ability.c tests/unit/test_sm_election.c \
	tests/unit/test_state_writer.c tests/unit/test_trees.c tests/unit/test_unhealthy_ports.c \
	tests/unit/test_walk.c
tests_unit_test_sm_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_sm_LDADD = libsuites.a libroutecheck.a libfabricmake.a $(LIBS_SM) $(CHECK_LIBS)

tests_unit_test_sa_SOURCES = tests/unit/test_policy_path.c tests/unit/test_sa_aliases.c \
	tests/unit/test_sa_bystanders.c tests/unit/test_sa_database.c \
	tests/unit/test_sa_hidden.c tests/unit/test_sa_inform.c tests/unit/test_sa_limit.c \
	tests/unit/test_sa_mlids.c tests/unit/test_sa_multi.c tests/unit/test_sa_notices.c \
	tests/unit/test_sa_park.c tests/unit/test_sa_path.c tests/unit/test_sa_pipeline.c \
	tests/unit/test_sa_service.c tests/unit/test_sa_tables.c tests/unit/test_sa_trust.c \
	tests/unit/test_sa_turns.c tests/unit/test_sa_view.c
tests_unit_test_sa_CPPFLAGS = $(AM_CPPFLAGS) -DTOPOLOGIES='"$(abs_srcdir)/tests/golden"'
tests_unit_test_sa_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_sa_LDADD = libsuites.a $(LIBS_SAMAKE)

tests_unit_test_sa_wire_SOURCES = tests/unit/test_sa_effect.c tests/unit/test_sa_hold.c \
	tests/unit/test_sa_report.c tests/unit/test_sa_server.c tests/unit/test_sa_silent.c
tests_unit_test_sa_wire_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_sa_wire_LDADD = libsuites.a libsanet.a libsm.a $(LIBS_SA) $(CHECK_LIBS)

tests_unit_test_cc_SOURCES = tests/unit/test_cc_agent.c tests/unit/test_cc_values.c
tests_unit_test_cc_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_cc_LDADD = libsuites.a libfabricmake.a libcc.a $(LIBS_SM) $(CHECK_LIBS)

tests_unit_test_ssa_SOURCES = tests/unit/test_ssa_addresses.c tests/unit/test_ssa_look.c
tests_unit_test_ssa_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_ssa_LDADD = libsuites.a libsamake.a libfabricmake.a libssacore.a libssa.a \
	$(LIBS_SA) $(SSA_LIBS) $(CHECK_LIBS)

# The page as built, against the list of commands.
tests_unit_test_ctl_SOURCES = tests/unit/test_census.c tests/unit/test_ctl.c \
	tests/unit/test_dry_run.c tests/unit/test_dump.c tests/unit/test_console_parts.c \
	tests/unit/test_module_flags.c tests/unit/test_route_file.c
tests_unit_test_ctl_CPPFLAGS = $(AM_CPPFLAGS) -DMAN_DIR='"$(abs_builddir)/man"'
tests_unit_test_ctl_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_ctl_LDADD = libsuites.a libfabricmake.a $(LIBS_OPENSM) $(CHECK_LIBS)

tests_unit_test_console_SOURCES = tests/unit/test_console.c tests/unit/test_console_cc.c \
	tests/unit/test_console_figures.c tests/unit/test_console_groups.c \
	tests/unit/test_console_perfmgr.c tests/unit/test_console_session.c \
	tests/unit/test_journal.c tests/unit/test_metrics.c tests/unit/test_metrics_ports.c
tests_unit_test_console_CPPFLAGS = $(AM_CPPFLAGS) -DSOURCE_DIR='"$(abs_srcdir)"'
tests_unit_test_console_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_console_LDADD = libsuites.a libscenario.a libperffixture.a $(LIBS_OPENSM) \
	$(CHECK_LIBS)

tests_unit_test_events_SOURCES = tests/unit/test_feed.c tests/unit/test_plugin_events.c
tests_unit_test_events_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_events_LDADD = libsuites.a libscenario.a $(LIBS_OPENSM) $(CHECK_LIBS)

tests_unit_test_image_SOURCES = tests/unit/test_image.c tests/unit/test_snapshot.c \
	tests/unit/test_web_fabric.c \
	tests/unit/image_bed.c tests/unit/image_bed.h
tests_unit_test_image_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_image_LDADD = libsuites.a libscenario.a libsamake.a libfabricmake.a libwebfabric.a \
	$(LIBS_OPENSM) $(CHECK_LIBS)

tests_unit_test_perf_SOURCES = \
	tests/unit/test_perf_account.c tests/unit/test_perf_columns.c \
	tests/unit/test_perf_history.c \
	tests/unit/test_perf_query.c tests/unit/test_perf_record.c \
	tests/unit/test_perf_report.c tests/unit/test_perf_resume.c \
	tests/unit/test_perf_cause.c tests/unit/test_perf_judge.c \
	tests/unit/test_perf_rules.c
tests_unit_test_perf_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_perf_LDADD = libsuites.a libperffixture.a $(LIBS_PERF) $(CHECK_LIBS)

tests_unit_test_plugin_SOURCES = tests/unit/test_block.c tests/unit/test_plugin_engine.c \
	tests/unit/test_plugin_host.c tests/unit/test_plugin_link.c
tests_unit_test_plugin_CPPFLAGS = $(AM_CPPFLAGS) \
	-DPLUGINS_DIR='"$(abs_builddir)/tests/plugin"'
tests_unit_test_plugin_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_plugin_LDADD = libsuites.a libplugin.a $(LIBS_ROUTECHECK)

tests_unit_test_osmroute_SOURCES = tests/unit/test_osmroute.c \
	tests/unit/test_osmroute_measured.c tests/unit/test_route_demand.c \
	tests/unit/test_route_ties.c
tests_unit_test_osmroute_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_osmroute_LDADD = libsuites.a libperffixture.a libfabricmake.a \
	$(LIBS_OSMROUTE) $(CHECK_LIBS)

tests_unit_test_client_SOURCES = tests/unit/test_link.c tests/unit/test_record.c \
	tests/unit/fake_daemon.c tests/unit/fake_daemon.h
tests_unit_test_client_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_client_LDADD = libsuites.a $(LIBS_CLIENT) $(CHECK_LIBS)

tests_unit_test_ssa_wire_SOURCES = tests/unit/test_ssa_epoch.c tests/unit/test_ssa_wire.c
tests_unit_test_ssa_wire_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_ssa_wire_LDADD = libsuites.a libssatables.a $(LIBS_SSA) $(CHECK_LIBS)

if HAVE_REDIS
unit_rooms += tests/unit/test_ssa_node
tests_unit_test_ssa_node_SOURCES = tests/unit/test_ssa_acm_files.c \
	tests/unit/test_ssa_admin.c tests/unit/test_ssa_agent.c \
	tests/unit/test_ssa_assign.c tests/unit/test_ssa_cores.c tests/unit/test_ssa_report.c \
	tests/unit/test_ssa_tree.c \
	tests/unit/test_ssa_users.c \
	tests/unit/node_bed.c tests/unit/node_bed.h
tests_unit_test_ssa_node_CPPFLAGS = $(AM_CPPFLAGS) \
	-DSAMPLES_DIR='"$(abs_srcdir)/config/samples"'
tests_unit_test_ssa_node_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_ssa_node_LDADD = libsuites.a libssatables.a libssabed.a $(LIBS_SSANODE) \
	$(CHECK_LIBS)
EXTRA_tests_unit_test_ssa_node_DEPENDENCIES = opensm/ssa/admin/ssadmin$(EXEEXT) \
	opensm/ssa/node/opensm-ssa$(EXEEXT)
endif

if HAVE_WEB
unit_rooms += tests/unit/test_web
tests_unit_test_web_SOURCES = tests/unit/test_rest.c tests/unit/test_web_auth.c \
	tests/unit/test_web_base.c \
	tests/unit/test_web_serve.c tests/unit/fake_daemon.c tests/unit/fake_daemon.h
tests_unit_test_web_CPPFLAGS = $(AM_CPPFLAGS) -DSOURCE_DIR='"$(abs_srcdir)"'
tests_unit_test_web_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_web_LDADD = libsuites.a $(LIBS_WEB) $(CHECK_LIBS)
endif

tests_unit_test_ssa_store_SOURCES = tests/unit/test_ssa_files.c tests/unit/test_ssa_kept.c \
	tests/unit/test_ssa_store.c
tests_unit_test_ssa_store_CPPFLAGS = $(AM_CPPFLAGS) \
	-DSAMPLES_DIR='"$(abs_srcdir)/config/samples"'
tests_unit_test_ssa_store_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_ssa_store_LDADD = libsuites.a libssabed.a $(LIBS_SSA_REDIS) $(CHECK_LIBS)

# They wait, most of their time.
if HAVE_REDIS
unit_rooms += tests/unit/test_ssa_redis
tests_unit_test_ssa_redis_SOURCES = tests/unit/test_ssa_hostile.c tests/unit/test_ssa_redis.c \
	tests/unit/test_ssa_tls.c
tests_unit_test_ssa_redis_CPPFLAGS = $(AM_CPPFLAGS) \
	-DSAMPLES_DIR='"$(abs_srcdir)/config/samples"'
tests_unit_test_ssa_redis_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_ssa_redis_LDADD = libsuites.a libssabed.a $(LIBS_SSANODE) $(CHECK_LIBS)
endif

if HAVE_SNMP
unit_rooms += tests/unit/test_snmp
tests_unit_test_snmp_SOURCES = tests/unit/test_snmp_rows.c tests/unit/test_snmp_mirror.c \
	tests/unit/fake_daemon.c tests/unit/fake_daemon.h
tests_unit_test_snmp_CPPFLAGS = $(AM_CPPFLAGS) -DSOURCE_DIR='"$(abs_srcdir)"'
tests_unit_test_snmp_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_snmp_LDADD = libsuites.a $(LIBS_SNMP) $(CHECK_LIBS)
endif

# The provider's own sources, linked in, with doubles of what ibacm exports to it.
if HAVE_ACM
unit_rooms += tests/unit/test_ssa_acm
tests_unit_test_ssa_acm_SOURCES = tests/unit/test_ssa_acm.c $(acm_sources)
tests_unit_test_ssa_acm_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_ssa_acm_LDADD = libsuites.a $(LIBS_SSA) $(CHECK_LIBS)
endif

tests_unit_test_osmsim_SOURCES = tests/unit/test_osmsim.c tests/unit/test_osmsim_agent.c \
	tests/unit/test_osmsim_console.c tests/unit/osmsim_net.c tests/unit/osmsim_net.h
tests_unit_test_osmsim_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_osmsim_LDADD = libsuites.a libosmsim.a $(LIBS_SIM) $(CHECK_LIBS)

# Programs of one file, with a main() of its own, for the reason given.
unit_alone = tests/unit/test_congest tests/unit/test_credits tests/unit/test_ftree \
	tests/unit/test_hca_lost tests/unit/test_hostile tests/unit/test_iba_ibmad \
	tests/unit/test_log_journal tests/unit/test_log_syslog tests/unit/test_opensmctl \
	tests/unit/test_options_classic tests/unit/test_preload tests/unit/test_proof \
	tests/unit/test_route_caps tests/unit/test_route_inputs tests/unit/test_route_property \
	tests/unit/test_route_repair tests/unit/test_route_verify tests/unit/test_sa_member \
	tests/unit/test_sa_store tests/unit/test_seeds tests/unit/test_topology \
	tests/unit/test_umad
unit_scripts = tests/unit/test_completion.py tests/unit/test_osmroute_program.py \
	tests/unit/test_osmsim_program.py tests/unit/test_units.sh
check_PROGRAMS += $(unit_rooms) $(unit_alone)
TESTS += $(unit_rooms) $(unit_alone) $(unit_scripts)
dist_check_SCRIPTS += $(unit_scripts)

# They are long: beside the others, they take less time.
tests_unit_test_congest_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_congest_LDADD = libroutecheck.a libcc.a $(LIBS_ROUTECHECK)
tests_unit_test_credits_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_credits_LDADD = $(LIBS_ROUTECHECK)
tests_unit_test_ftree_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_ftree_LDADD = $(LIBS_ROUTECHECK)
tests_unit_test_proof_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_proof_LDADD = $(LIBS_ROUTECHECK)
tests_unit_test_route_caps_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_route_caps_LDADD = $(LIBS_ROUTECHECK)
tests_unit_test_route_inputs_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_route_inputs_LDADD = libfabricmake.a $(LIBS_SUBNET) $(CHECK_LIBS)
tests_unit_test_route_property_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_route_property_LDADD = $(LIBS_ROUTECHECK)
tests_unit_test_route_repair_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_route_repair_LDADD = $(LIBS_ROUTECHECK)
tests_unit_test_route_verify_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_route_verify_LDADD = $(LIBS_ROUTECHECK)
tests_unit_test_hostile_CPPFLAGS = $(AM_CPPFLAGS) -DTOPOLOGIES='"$(abs_srcdir)/tests/golden"'
tests_unit_test_hostile_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_hostile_LDADD = libproxy.a $(LIBS_OPENSM) $(CHECK_LIBS)

# It waits, most of its time.
tests_unit_test_hca_lost_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_hca_lost_LDADD = $(LIBS_VENDOR) $(CHECK_LIBS)

# A seed must mean the same fabric with another compiler, and under an emulator.
tests_unit_test_seeds_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_seeds_LDADD = $(LIBS_ROUTECHECK)
tests_unit_test_topology_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_topology_LDADD = $(LIBS_SIM) $(CHECK_LIBS)

# They measure the memory of a process that does nothing else.
tests_unit_test_sa_member_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_sa_member_LDADD = $(LIBS_SAMAKE)
tests_unit_test_sa_store_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_sa_store_LDADD = $(LIBS_SAMAKE)

# They are skipped as a whole without a library or a program of others, and say so.
if HAVE_IBMAD
tests_unit_test_iba_ibmad_CFLAGS = $(TEST_CFLAGS) -DHAVE_IBMAD=1 $(IBMAD_CFLAGS)
tests_unit_test_iba_ibmad_LDADD = $(LIBS_IBA) $(CHECK_LIBS) $(IBMAD_LIBS)
else
tests_unit_test_iba_ibmad_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_iba_ibmad_LDADD = $(LIBS_IBA) $(CHECK_LIBS)
endif
tests_unit_test_options_classic_SOURCES = tests/unit/test_options_classic.c \
	tests/unit/test_options.h
tests_unit_test_options_classic_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_options_classic_LDADD = $(LIBS_CORE) $(CHECK_LIBS)
tests_unit_test_umad_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_umad_LDADD = $(LIBS_VENDOR) $(CHECK_LIBS)

# What they load or find once in a process stays there.
tests_unit_test_log_journal_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_log_journal_LDADD = $(LIBS_CORE) $(CHECK_LIBS)

# It has a syslog() of its own.
tests_unit_test_log_syslog_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_log_syslog_LDADD = $(LIBS_COMPLIB) $(CHECK_LIBS)

# The library's own sources, linked in, go before libibumad as the preloaded library does.
tests_unit_test_preload_SOURCES = tests/unit/test_preload.c tests/unit/osmsim_double.c \
	tests/unit/osmsim_double.h $(preload_sources)
tests_unit_test_preload_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_preload_LDADD = $(UMAD_LIBS) $(CHECK_LIBS)

# It links the sources of another program.
tests_unit_test_opensmctl_CFLAGS = $(TEST_CFLAGS)
tests_unit_test_opensmctl_LDADD = libopensmctl.a $(LIBS_OPENSM) $(EDIT_LIBS) $(CHECK_LIBS)

# Long: a million cases of an independent checker beside the verifier; tens of thousands of random
# fabrics, and sequences of repairs; packets in buffers, where nets that the verifier calls free
# never stop. A failure names its seed.
PROOF = 1-35000
SOAK_ROUTE = 1-30000
SOAK_REPAIR = 1-4000
CREDIT_SEEDS = 1-1000
proof: tests/unit/test_proof
	ROUTE_SEEDS=$(PROOF) tests/unit/test_proof
soak-route: tests/unit/test_route_property tests/unit/test_route_repair
	ROUTE_SEEDS=$(SOAK_ROUTE) tests/unit/test_route_property
	ROUTE_SEEDS=$(SOAK_REPAIR) tests/unit/test_route_repair
credits: tests/unit/test_credits
	ROUTE_SEEDS=$(CREDIT_SEEDS) tests/unit/test_credits
.PHONY: proof soak-route credits
