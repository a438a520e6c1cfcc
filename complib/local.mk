# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
noinst_LIBRARIES += libcomplib.a
libcomplib_a_SOURCES =
libcomplib_a_SOURCES += complib/actor.c complib/actor_private.h complib/aside.c \
	complib/handoff.c complib/heap.c complib/loop.c complib/memory_size.c \
	complib/memory_trim.c complib/pool.c complib/runtime.c complib/thread.c
libcomplib_a_SOURCES += complib/log.c complib/log_journal.c complib/log_json.c complib/log_limit.c \
	complib/log_private.h complib/log_sink.c complib/log_syslog.c
libcomplib_a_SOURCES += complib/bucket.c complib/file.c complib/range.c
libcomplib_a_SOURCES += complib/wire.c complib/wire_check.c complib/wire_print.c
