# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
noinst_LIBRARIES += libcore.a
libcore_a_SOURCES = \
	opensm/core/about.c opensm/core/about.h \
	opensm/core/agreed.c opensm/core/agreed.h \
	opensm/core/agreed.def \
	opensm/core/context.h \
	opensm/core/counters.def \
	opensm/core/counters.h \
	opensm/core/events.c opensm/core/events.h \
	opensm/core/events.def \
	opensm/core/milestones.c opensm/core/milestones.h \
	opensm/core/milestones.def \
	opensm/core/mistakes.c opensm/core/mistakes.h \
	opensm/core/mlid_rules.c opensm/core/mlid_rules.h \
	opensm/core/notices.c opensm/core/notices.h \
	opensm/core/notify.c opensm/core/notify.h \
	opensm/core/options.c opensm/core/options.h \
	opensm/core/options.def \
	opensm/core/options_args.c \
	opensm/core/options_file.c \
	opensm/core/options_kind.c \
	opensm/core/options_private.h \
	opensm/core/options_write.c \
	opensm/core/skipped_lines.c opensm/core/skipped_lines.h \
	opensm/core/state/state_file.c opensm/core/state/state_file.h \
	opensm/core/state/state_writer.c opensm/core/state/state_writer.h \
	opensm/core/timing.h \
	opensm/core/traps.c opensm/core/traps.h \
	opensm/core/printable.c opensm/core/printable.h \
	opensm/core/words.c opensm/core/words.h
