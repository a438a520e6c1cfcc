# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# What an installation needs around the daemon. Units belong to us and are replaced; samples go
# to the documentation; the live files of the administrator are never touched, and the rotation
# of logs, which lives among them, is only installed where there is none yet.
CONFIG_UNITS = config/opensm.service config/opensm@.service config/opensm-hotplug@.service
CONFIG_BUILT = $(CONFIG_UNITS) config/opensm.logrotate config/opensm-ports \
	config/udev/90-opensm.rules config/tmpfiles/opensm.conf config/sysusers/opensm.conf
CONFIG_SAMPLES = config/samples/opensm.conf config/samples/partitions.conf \
	config/samples/qos-policy.conf config/samples/prefix-routes.conf
EXTRA_DIST += config/opensm.service.in config/opensm@.service.in \
	config/opensm-hotplug@.service.in config/asks-only.conf config/opensm.logrotate.in \
	config/opensm-ports.in config/opensm.udev.in config/opensm.tmpfiles.in \
	config/opensm.sysusers
CLEANFILES += $(CONFIG_BUILT)

nodist_systemdsystemunit_DATA = $(CONFIG_UNITS)
nodist_udevrules_DATA = config/udev/90-opensm.rules
nodist_tmpfiles_DATA = config/tmpfiles/opensm.conf
nodist_sysusers_DATA = config/sysusers/opensm.conf
pkglibexec_SCRIPTS = config/opensm-ports
examplesdir = $(docdir)/examples
dist_examples_DATA = $(CONFIG_SAMPLES)
noinst_DATA = config/opensm.logrotate
logrotatedir = $(sysconfdir)/logrotate.d

# Units that only ask for others have one sandbox.
UNIT = $(AM_V_GEN)$(MKDIR_P) config && \
	sed -e '/^@asks_only@$$/{r $(srcdir)/config/asks-only.conf' -e 'd;}' $< | \
	sed '1!{/SPDX-License-Identifier/d;}' | $(SUBSTITUTE_DIRS) > $@
UNIT_NEEDS = $(srcdir)/config/asks-only.conf Makefile
config/opensm.service: $(srcdir)/config/opensm.service.in $(UNIT_NEEDS)
	$(UNIT)
config/opensm@.service: $(srcdir)/config/opensm@.service.in $(UNIT_NEEDS)
	$(UNIT)
config/opensm-hotplug@.service: $(srcdir)/config/opensm-hotplug@.service.in $(UNIT_NEEDS)
	$(UNIT)
config/udev/90-opensm.rules: $(srcdir)/config/opensm.udev.in Makefile
	$(AM_V_GEN)$(MKDIR_P) config/udev && $(SUBSTITUTE_DIRS) $(srcdir)/config/opensm.udev.in > $@
config/tmpfiles/opensm.conf: $(srcdir)/config/opensm.tmpfiles.in Makefile
	$(AM_V_GEN)$(MKDIR_P) config/tmpfiles && \
		$(SUBSTITUTE_DIRS) $(srcdir)/config/opensm.tmpfiles.in > $@
config/sysusers/opensm.conf: $(srcdir)/config/opensm.sysusers Makefile
	$(AM_V_GEN)$(MKDIR_P) config/sysusers && cp $(srcdir)/config/opensm.sysusers $@
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
