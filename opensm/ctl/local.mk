# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
noinst_LIBRARIES += libctl.a
libctl_a_SOURCES = \
	opensm/ctl/daemon.c opensm/ctl/daemon.h \
	opensm/ctl/base/answer.c opensm/ctl/base/answer.h \
	opensm/ctl/base/cache.c opensm/ctl/base/cache.h \
	opensm/ctl/base/find.c \
	opensm/ctl/base/lines.c opensm/ctl/base/lines.h \
	opensm/ctl/base/problem.c opensm/ctl/base/problem.h \
	opensm/ctl/base/shared_file.c opensm/ctl/base/shared_file.h \
	opensm/ctl/cc/cc_effect.c \
	opensm/ctl/cc/cc_fields.c \
	opensm/ctl/cc/cc_log.c \
	opensm/ctl/cc/cc_ports.c \
	opensm/ctl/cc/cc_state.c \
	opensm/ctl/cc/cc_view.h \
	opensm/ctl/command/command.c opensm/ctl/command/command.h \
	opensm/ctl/command/command_balance.c \
	opensm/ctl/command/command_cc.c \
	opensm/ctl/command/command_control.c \
	opensm/ctl/command/command_events.c \
	opensm/ctl/command/command_groups.c \
	opensm/ctl/command/command_health.c \
	opensm/ctl/command/command_metrics.c \
	opensm/ctl/command/command_partitions.c \
	opensm/ctl/command/command_path.c \
	opensm/ctl/command/command_perfmgr.c \
	opensm/ctl/command/command_plugins.c \
	opensm/ctl/command/command_ports.c \
	opensm/ctl/command/command_private.h \
	opensm/ctl/command/command_qos.c \
	opensm/ctl/command/command_status.c \
	opensm/ctl/command/command_unhealthy.c \
	opensm/ctl/command/command_work.c \
	opensm/ctl/command/commands.def \
	opensm/ctl/console/console.c opensm/ctl/console/console.h \
	opensm/ctl/console/console_certificate.c opensm/ctl/console/console_certificate.h \
	opensm/ctl/console/console_key.c opensm/ctl/console/console_key.h \
	opensm/ctl/console/console_listen.c opensm/ctl/console/console_listen.h \
	opensm/ctl/console/console_seats.c opensm/ctl/console/console_seats.h \
	opensm/ctl/console/console_session.c opensm/ctl/console/console_session.h \
	opensm/ctl/console/console_tls.c opensm/ctl/console/console_tls.h \
	opensm/ctl/console/control_socket.c opensm/ctl/console/control_socket.h \
	opensm/ctl/dump/dump.c opensm/ctl/dump/dump.h \
	opensm/ctl/dump/dump_counters.c opensm/ctl/dump/dump_counters.h \
	opensm/ctl/dump/dump_private.h \
	opensm/ctl/dump/dump_routes.c \
	opensm/ctl/dump/dump_subnet.c \
	opensm/ctl/feed/events.c opensm/ctl/feed/events.h \
	opensm/ctl/feed/feed.c opensm/ctl/feed/feed.h \
	opensm/ctl/feed/growth_series.c opensm/ctl/feed/growth_series.h \
	opensm/ctl/feed/subnet_series.c opensm/ctl/feed/subnet_series.h \
	opensm/ctl/image/fabric_image.c opensm/ctl/image/fabric_image.h \
	opensm/ctl/image/image_store.c opensm/ctl/image/image_store.h \
	opensm/ctl/metrics/daemon_metrics.c \
	opensm/ctl/metrics/families.c opensm/ctl/metrics/families.h \
	opensm/ctl/metrics/families.def \
	opensm/ctl/metrics/metrics.h \
	opensm/ctl/metrics/port_metrics.c \
	opensm/ctl/metrics/request.c \
	opensm/ctl/metrics/text.c opensm/ctl/metrics/text.h \
	opensm/ctl/perfmgr/counters.c \
	opensm/ctl/perfmgr/figures.c opensm/ctl/perfmgr/figures.h \
	opensm/ctl/perfmgr/groups.c \
	opensm/ctl/perfmgr/history.c \
	opensm/ctl/perfmgr/images.c \
	opensm/ctl/perfmgr/redir.c \
	opensm/ctl/perfmgr/rules.c \
	opensm/ctl/perfmgr/state.c \
	opensm/ctl/perfmgr/target.c opensm/ctl/perfmgr/target.h \
	opensm/ctl/perfmgr/top.c \
	opensm/ctl/perfmgr/window.h \
	opensm/ctl/perfmgr/word.c opensm/ctl/perfmgr/word.h \
	opensm/ctl/plan/plan.c opensm/ctl/plan/plan.h \
	opensm/ctl/plan/plan_report.c \
	opensm/ctl/plugin/snapshot.c opensm/ctl/plugin/snapshot.h \
	opensm/ctl/plugin/snapshot_store.c \
	opensm/ctl/plugin/link_end.c opensm/ctl/plugin/link_end.h \
	opensm/ctl/plugin/plugin_engines.c \
	opensm/ctl/plugin/plugin.c opensm/ctl/plugin/plugins_private.h \
	opensm/ctl/plugin/plugins.c opensm/ctl/plugin/plugins.h \
	opensm/ctl/plugin/process.c opensm/ctl/plugin/process.h \
	opensm/ctl/plugin/requests.c opensm/ctl/plugin/requests.h \
	opensm/ctl/process/background.c opensm/ctl/process/background.h \
	opensm/ctl/process/device.c opensm/ctl/process/device.h \
	opensm/ctl/process/classic_modules.def \
	opensm/ctl/process/guarded_options.c opensm/ctl/process/guarded_options.h \
	opensm/ctl/process/log_rotation.c opensm/ctl/process/log_rotation.h \
	opensm/ctl/process/logging.c opensm/ctl/process/logging.h \
	opensm/ctl/process/module_flags.c opensm/ctl/process/module_flags.h \
	opensm/ctl/process/service.c opensm/ctl/process/service.h \
	opensm/ctl/process/signals.c opensm/ctl/process/signals.h \
	opensm/ctl/process/tcp_owner.c opensm/ctl/process/tcp_owner.h \
	opensm/ctl/report/census.c opensm/ctl/report/census.h \
	opensm/ctl/report/changes.c opensm/ctl/report/changes.h \
	opensm/ctl/report/group_changes.c opensm/ctl/report/group_changes.h \
	opensm/ctl/report/hints.c opensm/ctl/report/hints.h \
	opensm/ctl/report/journal.c opensm/ctl/report/journal.h \
	opensm/ctl/report/peer_changes.c opensm/ctl/report/peer_changes.h \
	opensm/ctl/report/progress.c opensm/ctl/report/progress.h \
	opensm/ctl/report/sms.c opensm/ctl/report/sms.h \
	opensm/ctl/report/status.c opensm/ctl/report/status.h \
	opensm/ctl/report/status_figures.c opensm/ctl/report/status_figures.h \
	opensm/ctl/site/check_config.c opensm/ctl/site/check_config.h \
	opensm/ctl/site/followed.c opensm/ctl/site/followed.h \
	opensm/ctl/site/members_file.c opensm/ctl/site/members_file.h \
	opensm/ctl/site/partition_requests.c opensm/ctl/site/partition_requests.h \
	opensm/ctl/site/site_files.c opensm/ctl/site/site_files.h \
	opensm/ctl/site/site_policy.c opensm/ctl/site/site_policy.h

# The names of the source files that per_module_logging_file may list.
logging_sources = $(libcomplib_a_SOURCES) $(libiba_a_SOURCES) $(libvendor_a_SOURCES) \
	$(libumad_a_SOURCES) $(libsim_a_SOURCES) $(libcore_a_SOURCES) $(libmad_a_SOURCES) \
	$(libfabric_a_SOURCES) $(libroute_a_SOURCES) $(libpolicy_a_SOURCES) \
	$(libsubnet_a_SOURCES) $(libha_a_SOURCES) $(libsa_a_SOURCES) $(libsm_a_SOURCES) \
	$(libperf_a_SOURCES) $(libctl_a_SOURCES) $(opensm_opensm_SOURCES)
source_names = opensm/ctl/process/source_names.h
$(source_names): Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && for file in $(logging_sources); do \
		case $$file in *.c) echo "\"$${file##*/}\",";; esac; \
	done | LC_ALL=C sort -u >$@.new && mv $@.new $@
opensm/ctl/process/module_flags.$(OBJEXT): $(source_names)
CLEANFILES += $(source_names)
