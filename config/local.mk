# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# What an installation needs around the daemon. Units belong to us and are replaced; samples go
# to the documentation; the live files of the administrator are never touched, and the rotation
# of logs, which lives among them, is only installed where there is none yet.
CONFIG_BUILT = config/opensm.service config/opensm@.service config/opensm.logrotate \
	config/opensm-ports
CONFIG_SAMPLES = config/samples/opensm.conf config/samples/partitions.conf \
	config/samples/qos-policy.conf config/samples/prefix-routes.conf
EXTRA_DIST += config/opensm.service.in config/opensm@.service.in config/opensm.logrotate.in \
	config/opensm-ports.in
CLEANFILES += $(CONFIG_BUILT)

nodist_systemdsystemunit_DATA = config/opensm.service config/opensm@.service
pkglibexec_SCRIPTS = config/opensm-ports
examplesdir = $(docdir)/examples
dist_examples_DATA = $(CONFIG_SAMPLES)
noinst_DATA = config/opensm.logrotate
logrotatedir = $(sysconfdir)/logrotate.d

config/opensm.service: $(srcdir)/config/opensm.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) config && $(SUBSTITUTE_DIRS) $(srcdir)/config/opensm.service.in > $@
config/opensm@.service: $(srcdir)/config/opensm@.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) config && \
		$(SUBSTITUTE_DIRS) $(srcdir)/config/opensm@.service.in > $@
config/opensm-ports: $(srcdir)/config/opensm-ports.in Makefile
	$(AM_V_GEN)$(MKDIR_P) config && \
		$(SUBSTITUTE_DIRS) $(srcdir)/config/opensm-ports.in > $@ && chmod +x $@
config/opensm.logrotate: $(srcdir)/config/opensm.logrotate.in Makefile
	$(AM_V_GEN)$(MKDIR_P) config && $(SUBSTITUTE_DIRS) $(srcdir)/config/opensm.logrotate.in > $@

install-data-local: config/opensm.logrotate
	$(MKDIR_P) '$(DESTDIR)$(sysconfdir)/opensm' '$(DESTDIR)$(logrotatedir)'
	test -e '$(DESTDIR)$(logrotatedir)/opensm' || \
		$(INSTALL_DATA) config/opensm.logrotate '$(DESTDIR)$(logrotatedir)/opensm'

uninstall-local: config/opensm.logrotate
	if cmp -s config/opensm.logrotate '$(DESTDIR)$(logrotatedir)/opensm'; then \
		rm -f '$(DESTDIR)$(logrotatedir)/opensm'; fi
