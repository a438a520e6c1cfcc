# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# What the daemon and the host of a plug-in have in common, the host itself, and routing engines
# that are plug-ins.
pkginclude_HEADERS = include/opensm/plugin.h
pkgconfigdir = $(libdir)/pkgconfig
pkgconfig_DATA = config/opensm-plugin.pc
noinst_LIBRARIES += libplugin.a
libplugin_a_SOURCES = \
	opensm/plugin/base/block.c opensm/plugin/base/block.h \
	opensm/plugin/base/event_record.h \
	opensm/plugin/base/link.c opensm/plugin/base/link.h \
	opensm/plugin/base/route_sections.h \
	opensm/plugin/base/snapshot_sections.h \
	opensm/plugin/engine/engine.c opensm/plugin/engine/engine.h \
	opensm/plugin/engine/exchange.h \
	opensm/plugin/engine/input.c \
	opensm/plugin/engine/output.c \
	opensm/plugin/engine/serve.c opensm/plugin/engine/serve.h \
	opensm/plugin/host/call.c \
	opensm/plugin/host/child.c \
	opensm/plugin/host/exit_guard.c opensm/plugin/host/exit_guard.h \
	opensm/plugin/host/host.c opensm/plugin/host/host.h opensm/plugin/host/host_private.h \
	opensm/plugin/host/load.c opensm/plugin/host/load.h \
	opensm/plugin/host/snapshot_view.c opensm/plugin/host/snapshot_view.h
