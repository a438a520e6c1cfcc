# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# opensm-web: links libclient.a and libraries of others, nothing of the daemon.
noinst_LIBRARIES += libweb.a
libweb_a_SOURCES = \
	opensm/web/base/address.c opensm/web/base/address.h \
	opensm/web/base/config.c opensm/web/base/config.h \
	opensm/web/base/exchange.h \
	opensm/web/base/held.c opensm/web/base/held.h \
	opensm/web/base/request.c opensm/web/base/request.h \
	opensm/web/base/say.c opensm/web/base/say.h \
	opensm/web/base/target.c opensm/web/base/target.h \
	opensm/web/base/web.h
libweb_a_SOURCES += \
	opensm/web/auth/login.c opensm/web/auth/login.h \
	opensm/web/auth/tries.c opensm/web/auth/tries.h \
	opensm/web/auth/users.c opensm/web/auth/users.h
libweb_a_SOURCES += \
	opensm/web/serve/body.c opensm/web/serve/body.h \
	opensm/web/serve/crowd.c opensm/web/serve/crowd.h \
	opensm/web/serve/listen.c opensm/web/serve/listen.h \
	opensm/web/serve/server.c opensm/web/serve/server.h \
	opensm/web/serve/tls.c opensm/web/serve/tls.h
libweb_a_SOURCES += \
	opensm/web/api/api.h \
	opensm/web/api/asker.c opensm/web/api/asker.h \
	opensm/web/api/console.c \
	opensm/web/api/fabric.c opensm/web/api/fabric.h \
	opensm/web/api/fail.c \
	opensm/web/api/master.c \
	opensm/web/api/metrics.c \
	opensm/web/api/probes.c \
	opensm/web/api/sms.c \
	opensm/web/api/stats.c opensm/web/api/stats.h \
	opensm/web/api/wait.c opensm/web/api/wait.h
libweb_a_SOURCES += opensm/web/page/asset.h \
	opensm/web/page/page.c opensm/web/page/page.h
libweb_a_SOURCES += \
	opensm/web/rest/audit.c opensm/web/rest/audit.h \
	opensm/web/rest/body.c opensm/web/rest/body.h \
	opensm/web/rest/syntax.c opensm/web/rest/syntax.h \
	opensm/web/rest/lists.c \
	opensm/web/rest/ports.c \
	opensm/web/rest/reads.c \
	opensm/web/rest/rest.c opensm/web/rest/rest.h \
	opensm/web/rest/rest_private.h \
	opensm/web/rest/writes.c
libweb_a_SOURCES += opensm/web/routes.c opensm/web/routes.h

dist_man_MANS += man/opensm-web.8 man/opensm-web.conf.5
sbin_PROGRAMS += opensm/web/opensm-web
opensm_web_opensm_web_SOURCES = opensm/web/main.c
opensm_web_opensm_web_LDADD = $(LIBS_WEB)

# The page: each asset compressed ahead.
page_assets = \
	opensm/web/page/index.html opensm/web/page/style.css opensm/web/page/icon.svg \
	opensm/web/page/app.js opensm/web/page/draw.js \
	opensm/web/page/events.js opensm/web/page/health.js opensm/web/page/inspect.js \
	opensm/web/page/labels.js \
	opensm/web/page/layout.js opensm/web/page/links.js opensm/web/page/missing.js \
	opensm/web/page/model.js opensm/web/page/partitions.js opensm/web/page/path.js \
	opensm/web/page/picture.js \
	opensm/web/page/poll.js opensm/web/page/ports.js opensm/web/page/sa.js \
	opensm/web/page/security.js opensm/web/page/sms.js opensm/web/page/sweeps.js \
	opensm/web/page/words.js
EXTRA_DIST += $(page_assets) opensm/web/page/pack.sh
nodist_libweb_a_SOURCES = opensm/web/page/assets.c
CLEANFILES += opensm/web/page/assets.c
opensm/web/page/assets.c: $(page_assets) opensm/web/page/pack.sh
	$(AM_V_GEN)$(SHELL) $(srcdir)/opensm/web/page/pack.sh $@ \
		$(page_assets:%=$(srcdir)/%)
