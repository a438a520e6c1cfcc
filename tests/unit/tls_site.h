// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Redis servers as the samples set them up: by TLS, with the users of the sample, whose passwords
 * are their names.
 */
#ifndef TESTS_UNIT_TLS_SITE_H
#define TESTS_UNIT_TLS_SITE_H

#include "tests/unit/redis_server.h"

struct tls_site {
	char *directory;
	char *ca, *other_ca; /* files; the second CA has signed nothing */
	char *certificate, *key, *acl;
};

/* Whether there is all that this takes; if not, says so. */
bool tls_site_possible(void);
struct tls_site *tls_site_new(void);
void tls_site_free(struct tls_site *site);

/* A server of the sample, below that one; NULL: below none. */
struct redis_server *tls_site_server(const struct tls_site *site, const struct redis_server *above);
/* Writes a line into a file of the site that only its owner may read; its path. */
char *tls_site_secret(const struct tls_site *site, const char *name, const char *line);

#endif
