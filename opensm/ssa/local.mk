# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# The Scalable SA. libssa.a is what hosts need as well: nothing of the daemon. libssacore.a is the
# daemon's part.
noinst_LIBRARIES += libssa.a
libssa_a_SOURCES = \
	opensm/ssa/table/layout.h \
	opensm/ssa/table/made.c \
	opensm/ssa/table/names.c \
	opensm/ssa/table/snapshot.c opensm/ssa/table/snapshot.h
libssa_a_SOURCES += opensm/ssa/wire/wire.h opensm/ssa/wire/wire_private.h \
	opensm/ssa/wire/chunk.c opensm/ssa/wire/cut.c opensm/ssa/wire/frames.c \
	opensm/ssa/wire/join.c \
	opensm/ssa/wire/list.c opensm/ssa/wire/manifest.c
libssa_a_SOURCES += \
	opensm/ssa/store/files.c \
	opensm/ssa/store/kept.c opensm/ssa/store/kept.h \
	opensm/ssa/store/store.c opensm/ssa/store/store.h \
	opensm/ssa/store/store_private.h
libssa_a_SOURCES += opensm/ssa/look/look.c opensm/ssa/look/look.h

noinst_LIBRARIES += libssacore.a
libssacore_a_SOURCES = \
	opensm/ssa/core/addresses.c opensm/ssa/core/addresses.h \
	opensm/ssa/core/core.c opensm/ssa/core/core.h \
	opensm/ssa/core/make.c opensm/ssa/core/make.h \
	opensm/ssa/core/ports.c \
	opensm/ssa/core/verdicts.c \
	opensm/ssa/core/ways.c

# A store that the daemon does not link.
noinst_LIBRARIES += libssaredis.a
libssaredis_a_CFLAGS = $(AM_CFLAGS) $(REDIS_CFLAGS)
if HAVE_REDIS
libssaredis_a_SOURCES = \
	opensm/ssa/store/redis.c \
	opensm/ssa/store/resp.c opensm/ssa/store/resp.h
else
libssaredis_a_SOURCES = opensm/ssa/store/no_redis.c
endif
EXTRA_DIST += opensm/ssa/store/no_redis.c
