// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* opensm-web.conf: lines of a name and a value. */
#ifndef WEB_BASE_CONFIG_H
#define WEB_BASE_CONFIG_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "client/config_file.h"

enum config_metrics {
	CONFIG_METRICS_OFF,
	CONFIG_METRICS_DAEMON,
	CONFIG_METRICS_ERRORS,
	CONFIG_METRICS_TRAFFIC,
	CONFIG_METRICS_ALL,
};

/* The words of these levels, as the daemon takes them. */
const char *config_metrics_word(enum config_metrics level);

enum config_rest {
	CONFIG_REST_OFF,
	CONFIG_REST_READ,
	CONFIG_REST_WRITE,
};

enum config_metrics_auth {
	CONFIG_METRICS_AUTO, /* role read is needed, but by local addresses */
	CONFIG_METRICS_NONE, /* for everyone */
	CONFIG_METRICS_READ, /* role read is needed */
};

struct config {
	GPtrArray *listen;    /* texts, see address.h; empty: there must be inherited sockets */
	uint32_t listen_mode; /* of Unix sockets */
	char *control_socket; /* NULL: the only one of the run directory */
	char *tls_cert, *tls_key, *tls_ca; /* PEM files; NULL: none */
	char *auth_file, *tokens_file, *tls_clients_file;
	unsigned int
		tls_client_role; /* enum web_role: of clients that no line of that file names */
	unsigned int metrics, metrics_auth, rest; /* enums above */
	bool page, insecure_listen;
	uint16_t rest_pkeys[2]; /* the first and the last that REST may change */
	char *ufm_version;
	uint32_t max_connections, max_connections_per_address;
	GPtrArray *trusted_hosts; /* names in small letters */
};

/*
 * The defaults if the file is missing and need not be there; path is where it is. NULL and error: a
 * line for each mistake, "FILE:LINE: ...", that says what was expected.
 */
struct config *config_read(const char *path, bool needed, GError **error);
/* name: of the file, for messages. */
struct config *config_parse(const char *name, const char *text, size_t size, GError **error);
/*
 * Whether the values go together; path: of the file, for messages. False: error has a line for each
 * mistake.
 */
bool config_check(const struct config *config, const char *path, GError **error);
void config_free(struct config *config);
/*
 * The names of options that differ and take effect at the next start only, newly allocated, with
 * commas; NULL: none.
 */
char *config_later(const struct config *started, const struct config *now);

/* The names of all options; NULL: past the last. */
const char *config_name(unsigned int number);

#endif
