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
	opensm/ssa/wire/alive.c opensm/ssa/wire/alive.h \
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
	opensm/ssa/store/connect.c opensm/ssa/store/connect.h \
	opensm/ssa/store/redis.c \
	opensm/ssa/store/resp.c opensm/ssa/store/resp.h
else
libssaredis_a_SOURCES = opensm/ssa/store/no_redis.c
endif
EXTRA_DIST += opensm/ssa/store/no_redis.c

# opensm-ssa and ssadmin: what is beside the daemon, and on hosts.
if HAVE_REDIS
noinst_LIBRARIES += libssanode.a
libssanode_a_SOURCES = \
	opensm/ssa/node/acm_files.c opensm/ssa/node/acm_files.h \
	opensm/ssa/node/agent.c opensm/ssa/node/agent.h \
	opensm/ssa/tree/assign.c opensm/ssa/tree/assign.h \
	opensm/ssa/node/cores.c opensm/ssa/node/cores.h \
	opensm/ssa/node/follow.c opensm/ssa/node/follow.h \
	opensm/ssa/tree/join.c opensm/ssa/tree/join.h \
	opensm/ssa/tree/member.c opensm/ssa/tree/member.h \
	opensm/ssa/node/node.c opensm/ssa/node/node.h \
	opensm/ssa/tree/parents.c opensm/ssa/tree/parents.h \
	opensm/ssa/node/push.c opensm/ssa/node/push.h \
	opensm/ssa/tree/remote.c opensm/ssa/tree/remote.h \
	opensm/ssa/node/replica.c opensm/ssa/node/replica.h \
	opensm/ssa/tree/report.c opensm/ssa/tree/report.h \
	opensm/ssa/node/sa.c opensm/ssa/node/sa.h \
	opensm/ssa/node/settings.c opensm/ssa/node/settings.h \
	opensm/ssa/tree/thread.h \
	opensm/ssa/tree/tree.c opensm/ssa/tree/tree.h
libssanode_a_CFLAGS = $(AM_CFLAGS) $(REDIS_CFLAGS)
dist_man_MANS += man/opensm-ssa.8 man/ssa.conf.5 man/ssadmin.8
sbin_PROGRAMS += opensm/ssa/node/opensm-ssa opensm/ssa/admin/ssadmin
opensm_ssa_node_opensm_ssa_SOURCES = opensm/ssa/node/main.c
opensm_ssa_node_opensm_ssa_LDADD = $(LIBS_SSANODE)
opensm_ssa_admin_ssadmin_SOURCES = \
	opensm/ssa/admin/admin.h \
	opensm/ssa/admin/main.c \
	opensm/ssa/admin/nodes.c \
	opensm/ssa/admin/path.c \
	opensm/ssa/admin/snapshot.c \
	opensm/ssa/admin/verify.c
opensm_ssa_admin_ssadmin_LDADD = $(LIBS_SSANODE)
endif
