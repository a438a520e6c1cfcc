# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# What an installation needs around the daemon. Units belong to us and are replaced; samples go
# to the documentation; the live files of the administrator are never touched, and the rotation
# of logs, which lives among them, is only installed where there is none yet.
CONFIG_UNITS = config/opensm.service config/opensm@.service config/opensm-hotplug@.service
COMPLETIONS = config/completion/opensm config/completion/opensmctl config/completion/osmsim
CONFIG_BUILT = $(CONFIG_UNITS) config/opensm.logrotate config/opensm-ports \
	config/udev/90-opensm.rules config/tmpfiles/opensm.conf config/sysusers/opensm.conf \
	$(COMPLETIONS)
CONFIG_SAMPLES = config/samples/opensm.conf config/samples/partitions.conf \
	config/samples/qos-policy.conf config/samples/prefix-routes.conf \
	config/samples/ports-policy.conf config/samples/perfmgr-rules.conf \
	config/samples/opensm.rules.yml config/samples/opensm-dashboard.json \
	config/samples/opensm-web.conf config/samples/snmpd.conf \
	config/samples/opensm-ssa-redis.conf config/samples/opensm-ssa-users.acl
CONTAINER_SAMPLES = config/samples/container/Containerfile config/samples/container/opensm.yaml
EXTRA_DIST += config/opensm.catalog config/opensm.spec.in config/opensm.service.in \
	config/opensm@.service.in \
	config/opensm-hotplug@.service.in config/asks-only.conf config/opensm.logrotate.in \
	config/opensm-ports.in config/opensm.udev.in config/opensm.tmpfiles.in \
	config/opensm.sysusers config/completion/completion.awk config/completion/rows.h \
	config/completion/opensm.bash.in config/completion/opensmctl.bash.in \
	config/completion/osmsim.bash.in
CLEANFILES += $(CONFIG_BUILT)

EXTRA_DIST += config/opensm-ssa.service.in config/opensm-ssa.sysusers \
	config/opensm-ssa.tmpfiles.in config/completion/ssadmin.bash
CLEANFILES += config/opensm-ssa.service config/sysusers/opensm-ssa.conf \
	config/tmpfiles/opensm-ssa.conf config/completion/ssadmin
EXTRA_DIST += config/opensm-web.service.in config/opensm-snmp.service.in config/OPENSM-MIB.txt
CLEANFILES += config/opensm-web.service config/opensm-snmp.service
if HAVE_SNMP
mibdir = $(datadir)/snmp/mibs
mib_DATA = config/OPENSM-MIB.txt
endif

if SYSTEMD_UNITS
nodist_systemdsystemunit_DATA = $(CONFIG_UNITS)
# Explains lines of the journal: journalctl -x.
catalogdir = $(prefix)/lib/systemd/catalog
catalog_DATA = config/opensm.catalog
dist_systemdsystemunit_DATA =
if HAVE_WEB
nodist_systemdsystemunit_DATA += config/opensm-web.service
dist_systemdsystemunit_DATA += config/opensm-web.socket
endif
if HAVE_SNMP
nodist_systemdsystemunit_DATA += config/opensm-snmp.service
endif
if HAVE_REDIS
nodist_systemdsystemunit_DATA += config/opensm-ssa.service
endif
endif
bashcompletiondir = $(datadir)/bash-completion/completions
nodist_bashcompletion_DATA = $(COMPLETIONS)
if UDEV_RULES
nodist_udevrules_DATA = config/udev/90-opensm.rules
endif
nodist_tmpfiles_DATA = config/tmpfiles/opensm.conf
nodist_sysusers_DATA = config/sysusers/opensm.conf
if HAVE_REDIS
nodist_sysusers_DATA += config/sysusers/opensm-ssa.conf
nodist_tmpfiles_DATA += config/tmpfiles/opensm-ssa.conf
nodist_bashcompletion_DATA += config/completion/ssadmin
endif
pkglibexec_SCRIPTS = config/opensm-ports
examplesdir = $(docdir)/examples
dist_examples_DATA = $(CONFIG_SAMPLES)
containerdir = $(examplesdir)/container
dist_container_DATA = $(CONTAINER_SAMPLES)
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
config/opensm-web.service: $(srcdir)/config/opensm-web.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) config && $(SUBSTITUTE_DIRS) \
		$(srcdir)/config/opensm-web.service.in > $@
config/opensm-snmp.service: $(srcdir)/config/opensm-snmp.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) config && $(SUBSTITUTE_DIRS) \
		$(srcdir)/config/opensm-snmp.service.in > $@
config/opensm-ssa.service: $(srcdir)/config/opensm-ssa.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) config && $(SUBSTITUTE_DIRS) \
		$(srcdir)/config/opensm-ssa.service.in > $@
config/udev/90-opensm.rules: $(srcdir)/config/opensm.udev.in Makefile
	$(AM_V_GEN)$(MKDIR_P) config/udev && $(SUBSTITUTE_DIRS) $(srcdir)/config/opensm.udev.in > $@
config/tmpfiles/opensm.conf: $(srcdir)/config/opensm.tmpfiles.in Makefile
	$(AM_V_GEN)$(MKDIR_P) config/tmpfiles && \
		$(SUBSTITUTE_DIRS) $(srcdir)/config/opensm.tmpfiles.in > $@
config/tmpfiles/opensm-ssa.conf: $(srcdir)/config/opensm-ssa.tmpfiles.in Makefile
	$(AM_V_GEN)$(MKDIR_P) config/tmpfiles && \
		$(SUBSTITUTE_DIRS) $(srcdir)/config/opensm-ssa.tmpfiles.in > $@
config/completion/ssadmin: $(srcdir)/config/completion/ssadmin.bash Makefile
	$(AM_V_GEN)$(MKDIR_P) config/completion && \
		cp $(srcdir)/config/completion/ssadmin.bash $@
config/sysusers/opensm.conf: $(srcdir)/config/opensm.sysusers Makefile
	$(AM_V_GEN)$(MKDIR_P) config/sysusers && cp $(srcdir)/config/opensm.sysusers $@
config/sysusers/opensm-ssa.conf: $(srcdir)/config/opensm-ssa.sysusers Makefile
	$(AM_V_GEN)$(MKDIR_P) config/sysusers && cp $(srcdir)/config/opensm-ssa.sysusers $@
# What bash completes: options and commands from their lists, engines and generated shapes from the
# tables that name them.
COMPLETION = $(AM_V_GEN)$(MKDIR_P) config/completion && \
	$(CPP) -P -I$(srcdir)/opensm -I$(srcdir) -DOSM_CONF_DIR= -DOSM_LOG_DIR= \
		-DOSM_CACHE_DIR= -DLIST="<$(1)>" $(srcdir)/config/completion/rows.h > $@.rows && \
	$(AWK) -v engines="$$(sed -n 's/^\tENGINE(\([a-z0-9_]*\)).*/\1/p' \
			$(srcdir)/opensm/route/registry.c | \
			sed 's/^torus_2qos$$/torus-2QoS/' | paste -sd ' ' -)" \
		-v specs="$$(grep -o '{"[a-z]*:"' $(srcdir)/libvendor/sim/topology_generate.c | \
			tr -d '{"' | paste -sd ' ' -)" \
		-f $(srcdir)/config/completion/completion.awk $@.rows $< > $@ && \
	rm -f $@.rows
COMPLETION_NEEDS = $(srcdir)/config/completion/rows.h $(srcdir)/config/completion/completion.awk \
	$(srcdir)/opensm/route/registry.c $(srcdir)/libvendor/sim/topology_generate.c Makefile
config/completion/opensm: $(srcdir)/config/completion/opensm.bash.in \
		$(srcdir)/opensm/core/options.def $(COMPLETION_NEEDS)
	$(call COMPLETION,core/options.def)
config/completion/opensmctl: $(srcdir)/config/completion/opensmctl.bash.in \
		$(srcdir)/opensm/ctl/command/commands.def $(COMPLETION_NEEDS)
	$(call COMPLETION,ctl/command/commands.def)
config/completion/osmsim: $(srcdir)/config/completion/osmsim.bash.in \
		$(srcdir)/libvendor/osmsim/commands.def $(COMPLETION_NEEDS)
	$(call COMPLETION,libvendor/osmsim/commands.def)

config/opensm-ports: $(srcdir)/config/opensm-ports.in Makefile
	$(AM_V_GEN)$(MKDIR_P) config && \
		$(SUBSTITUTE_DIRS) $(srcdir)/config/opensm-ports.in > $@ && chmod +x $@
config/opensm.logrotate: $(srcdir)/config/opensm.logrotate.in Makefile
	$(AM_V_GEN)$(MKDIR_P) config && $(SUBSTITUTE_DIRS) $(srcdir)/config/opensm.logrotate.in > $@

install-data-local: config/opensm.logrotate
	$(MKDIR_P) '$(DESTDIR)$(sysconfdir)/opensm' '$(DESTDIR)$(logrotatedir)'
	test -e '$(DESTDIR)$(logrotatedir)/opensm' || \
		$(INSTALL_DATA) config/opensm.logrotate '$(DESTDIR)$(logrotatedir)/opensm'

install-data-hook:
	cd '$(DESTDIR)$(bashcompletiondir)' && \
		for name in osmsim-run osmroute; do $(LN_S) -f osmsim $$name; done
if HAVE_REDIS
	cd '$(DESTDIR)$(bashcompletiondir)' && $(LN_S) -f ssadmin opensm-ssa
endif

uninstall-local: config/opensm.logrotate
	if cmp -s config/opensm.logrotate '$(DESTDIR)$(logrotatedir)/opensm'; then \
		rm -f '$(DESTDIR)$(logrotatedir)/opensm'; fi
	rm -f '$(DESTDIR)$(bashcompletiondir)/osmsim-run' \
		'$(DESTDIR)$(bashcompletiondir)/osmroute' \
		'$(DESTDIR)$(bashcompletiondir)/opensm-ssa'

# Packages for distributions with RPM, of a tree as "make dist" leaves it; by Debian's rpmbuild too.
RPM_TOP = $(abs_top_builddir)/rpmbuild
RPM_FLAGS =
CLEANFILES += config/opensm.spec
config/opensm.spec: $(srcdir)/config/opensm.spec.in $(srcdir)/debian/changelog Makefile
	$(AM_V_GEN)$(MKDIR_P) config && changed=$$(sed -n 's/^ -- .*>  //p' \
		$(srcdir)/debian/changelog | head -n 1) && \
	sed -e "s|@VERSION[@]|$(VERSION)|" \
		-e "s|@CHANGED[@]|$$(LC_ALL=C date -u -d "$$changed" '+%a %b %d %Y')|" \
		-e "s|@MAINTAINER[@]|$$(sed -n 's/^Maintainer: .*<\(.*\)>/\1/p' \
			$(srcdir)/debian/control)|" $(srcdir)/config/opensm.spec.in > $@
rpm: config/opensm.spec
	rm -rf $(RPM_TOP) && $(MKDIR_P) $(RPM_TOP)/SOURCES
	$(MAKE) dist-gzip distdir=opensm-$(VERSION)
	mv opensm-$(VERSION).tar.gz $(RPM_TOP)/SOURCES
	rpmbuild -bb --define '_topdir $(RPM_TOP)' $(RPM_FLAGS) config/opensm.spec
