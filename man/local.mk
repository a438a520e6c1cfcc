# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Pages name the directories of this build.
MAN_PAGES = man/opensm.8 man/opensm-console.8 man/opensm.conf.5
EXTRA_DIST += man/opensm.8.in man/opensm-console.8.in man/opensm.conf.5.in
CLEANFILES += $(MAN_PAGES)
man_MANS = $(MAN_PAGES)
dist_man_MANS += man/opensm-metrics.5 man/opensm-perfmgr-rules.5 \
	man/opensm-plugin.3 man/opensm-ports-policy.5 man/qos-policy.conf.5 \
	man/torus-2QoS.8 man/torus-2QoS.conf.5

SUBSTITUTE_DIRS = sed -e 's|@confdir[@]|$(sysconfdir)/opensm|g' \
	-e 's|@logdir[@]|$(localstatedir)/log|g' \
	-e 's|@cachedir[@]|$(localstatedir)/cache/opensm|g' -e 's|@docdir[@]|$(docdir)|g' \
	-e 's|@plugindir[@]|$(libdir)/opensm/plugins|g' \
	-e 's|@sbindir[@]|$(sbindir)|g' -e 's|@sysconfdir[@]|$(sysconfdir)|g' \
	-e 's|@pkglibexecdir[@]|$(pkglibexecdir)|g' -e 's|@rundir[@]|/run/opensm|g'

man/opensm.8: $(srcdir)/man/opensm.8.in Makefile
	$(AM_V_GEN)$(MKDIR_P) man && $(SUBSTITUTE_DIRS) $(srcdir)/man/opensm.8.in > $@
man/opensm-console.8: $(srcdir)/man/opensm-console.8.in Makefile
	$(AM_V_GEN)$(MKDIR_P) man && $(SUBSTITUTE_DIRS) $(srcdir)/man/opensm-console.8.in > $@
man/opensm.conf.5: $(srcdir)/man/opensm.conf.5.in Makefile
	$(AM_V_GEN)$(MKDIR_P) man && $(SUBSTITUTE_DIRS) $(srcdir)/man/opensm.conf.5.in > $@
