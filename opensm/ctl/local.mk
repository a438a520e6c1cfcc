# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
noinst_LIBRARIES += libctl.a
libctl_a_SOURCES = \
	opensm/ctl/background.c opensm/ctl/background.h \
	opensm/ctl/cache.c opensm/ctl/cache.h \
	opensm/ctl/daemon.c opensm/ctl/daemon.h \
	opensm/ctl/device.c opensm/ctl/device.h \
	opensm/ctl/logging.c opensm/ctl/logging.h \
	opensm/ctl/progress.c opensm/ctl/progress.h \
	opensm/ctl/status.c opensm/ctl/status.h
