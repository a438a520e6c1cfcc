// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "tests/unit/tls_site.h"

#include <check.h>
#include <gio/gio.h>
#include <stdio.h>
#include <string.h>

#include "tests/directory.h"
#include "tests/unit/ssa_bed.h"

#define ZEROS "#0000000000000000000000000000000000000000000000000000000000000000"

/* A certificate for 127.0.0.1, which the first CA has signed; the second one has signed nothing. */
static const char make_certificates[] =
	"set -e; cd \"$1\"; exec >/dev/null 2>&1\n"
	"for ca in ca other; do openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 "
	"-nodes -days 2 -subj /CN=$ca -keyout $ca.key -out $ca.crt; done\n"
	"openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=server "
	"-keyout server.key -out server.csr\n"
	"echo subjectAltName=IP:127.0.0.1 >extensions\n"
	"openssl x509 -req -days 2 -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial "
	"-extfile extensions -out server.crt\n";

static char *file_in(const struct tls_site *site, const char *name)
{
	return g_build_filename(site->directory, name, NULL);
}

bool tls_site_possible(void)
{
	g_autofree char *openssl = g_find_program_in_path("openssl");

	if (!openssl || !g_tls_backend_supports_tls(g_tls_backend_get_default()))
		fprintf(stderr, "skipped: Redis by TLS: openssl or glib-networking is missing\n");
	else
		return redis_server_installed();
	return false;
}

/* The password of each user is its name. */
static void write_users(const struct tls_site *site)
{
	g_autofree char *sample = NULL;
	g_auto(GStrv) lines = NULL;
	GString *text = g_string_new(NULL);

	ck_assert(g_file_get_contents(SAMPLES_DIR "/opensm-ssa-users.acl", &sample, NULL, NULL));
	lines = g_strsplit(sample, "\n", -1);
	for (unsigned int i = 0; lines[i]; i++) {
		g_auto(GStrv) words = g_strsplit(lines[i], " ", 3);
		g_auto(GStrv) parts = g_strsplit(lines[i], ZEROS, 2);
		g_autofree char *hash = NULL;

		if (!parts[0] || !parts[1]) {
			g_string_append_printf(text, "%s\n", lines[i]);
			continue;
		}
		hash = g_compute_checksum_for_string(G_CHECKSUM_SHA256, words[1], -1);
		g_string_append_printf(text, "%s#%s%s\n", parts[0], hash, parts[1]);
	}
	ck_assert(g_file_set_contents(site->acl, text->str, -1, NULL));
	g_string_free(text, TRUE);
}

/* The sample, with the paths of the test. */
struct redis_server *tls_site_server(const struct tls_site *site, const struct redis_server *above)
{
	uint16_t own = redis_server_free_port();
	g_autofree char *port = g_strdup_printf("%u", own);
	g_autofree char *parent = g_strdup_printf("%u", above ? above->port : 0);
	const char *words[] = {SAMPLES_DIR "/opensm-ssa-redis.conf",
			       "--port",
			       "0",
			       "--tls-port",
			       port,
			       "--tls-cert-file",
			       site->certificate,
			       "--tls-key-file",
			       site->key,
			       "--tls-ca-cert-file",
			       site->ca,
			       "--aclfile",
			       site->acl,
			       "--masterauth",
			       "replica",
			       above ? "--replicaof" : NULL,
			       "127.0.0.1",
			       parent,
			       NULL};

	return redis_server_start(own, words);
}

struct tls_site *tls_site_new(void)
{
	struct tls_site *site = g_new0(struct tls_site, 1);
	const char *words[] = {"/bin/sh", "-c", make_certificates, "sh", NULL, NULL};
	int status = -1;

	site->directory = bed_directory();
	words[4] = site->directory;
	ck_assert(
		g_spawn_sync(NULL, (char **)words, NULL, 0, NULL, NULL, NULL, NULL, &status, NULL));
	ck_assert_int_eq(status, 0);
	site->ca = file_in(site, "ca.crt");
	site->other_ca = file_in(site, "other.crt");
	site->certificate = file_in(site, "server.crt");
	site->key = file_in(site, "server.key");
	site->acl = file_in(site, "users.acl");
	write_users(site);
	return site;
}

void tls_site_free(struct tls_site *site)
{
	directory_remove(site->directory);
	g_free(site->directory);
	g_free(site->ca);
	g_free(site->other_ca);
	g_free(site->certificate);
	g_free(site->key);
	g_free(site->acl);
	g_free(site);
}

char *tls_site_secret(const struct tls_site *site, const char *name, const char *line)
{
	char *path = file_in(site, name);
	g_autofree char *text = g_strdup_printf("%s\n", line);

	ck_assert(g_file_set_contents_full(path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0600,
					   NULL));
	return path;
}
