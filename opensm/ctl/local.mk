# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
noinst_LIBRARIES += libctl.a
libctl_a_SOURCES = \
	opensm/ctl/answer.c opensm/ctl/answer.h \
	opensm/ctl/background.c opensm/ctl/background.h \
	opensm/ctl/cache.c opensm/ctl/cache.h \
	opensm/ctl/census.c opensm/ctl/census.h \
	opensm/ctl/changes.c opensm/ctl/changes.h \
	opensm/ctl/check_config.c opensm/ctl/check_config.h \
	opensm/ctl/command.c opensm/ctl/command.h opensm/ctl/command_private.h \
	opensm/ctl/command_balance.c opensm/ctl/command_control.c opensm/ctl/command_events.c \
	opensm/ctl/command_figures.c opensm/ctl/command_groups.c opensm/ctl/command_health.c \
	opensm/ctl/command_partitions.c opensm/ctl/command_path.c opensm/ctl/command_plan.c \
	opensm/ctl/command_qos.c \
	opensm/ctl/command_ports.c \
	opensm/ctl/command_subscriptions.c \
	opensm/ctl/command_status.c opensm/ctl/command_unhealthy.c opensm/ctl/commands.def \
	opensm/ctl/console.c opensm/ctl/console.h \
	opensm/ctl/console_tls.c opensm/ctl/console_tls.h \
	opensm/ctl/control.c opensm/ctl/control.h \
	opensm/ctl/control_socket.c opensm/ctl/control_socket.h \
	opensm/ctl/console_certificate.c opensm/ctl/console_certificate.h \
	opensm/ctl/console_key.c opensm/ctl/console_key.h \
	opensm/ctl/console_listen.c opensm/ctl/console_listen.h \
	opensm/ctl/console_seats.c opensm/ctl/console_seats.h \
	opensm/ctl/console_session.c opensm/ctl/console_session.h \
	opensm/ctl/daemon.c opensm/ctl/daemon.h \
	opensm/ctl/device.c opensm/ctl/device.h \
	opensm/ctl/dump.c opensm/ctl/dump.h opensm/ctl/dump_private.h \
	opensm/ctl/dump_routes.c opensm/ctl/dump_subnet.c \
	opensm/ctl/find.c \
	opensm/ctl/followed.c opensm/ctl/followed.h \
	opensm/ctl/guarded_options.c opensm/ctl/guarded_options.h \
	opensm/ctl/hints.c opensm/ctl/hints.h \
	opensm/ctl/journal.c opensm/ctl/journal.h \
	opensm/ctl/problem.c opensm/ctl/problem.h \
	opensm/ctl/lines.c opensm/ctl/lines.h \
	opensm/ctl/logging.c opensm/ctl/logging.h \
	opensm/ctl/members_file.c opensm/ctl/members_file.h \
	opensm/ctl/plan.c opensm/ctl/plan.h opensm/ctl/plan_report.c \
	opensm/ctl/progress.c opensm/ctl/progress.h \
	opensm/ctl/service.c opensm/ctl/service.h \
	opensm/ctl/site_files.c opensm/ctl/site_files.h \
	opensm/ctl/site_policy.c opensm/ctl/site_policy.h \
	opensm/ctl/signals.c opensm/ctl/signals.h \
	opensm/ctl/sms.c opensm/ctl/sms.h \
	opensm/ctl/status.c opensm/ctl/status.h \
	opensm/ctl/tcp_owner.c opensm/ctl/tcp_owner.h
