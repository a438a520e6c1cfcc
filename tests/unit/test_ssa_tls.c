// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Redis servers as the samples set them up: TLS, and users that may do what they have to. */
#include <check.h>
#include <gio/gio.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/directory.h"
#include "tests/run_suite.h"
#include "tests/unit/ssa_bed.h"
#include "tests/unit/tls_site.h"

#define LONG_MS 20000
#define PREFIX UINT64_C(0xfe80000000000000)

struct site {
	struct tls_site *tls;
	struct redis_server *core, *middle, *access;
};

static struct site *site_open(void)
{
	struct site *site = g_new0(struct site, 1);

	site->tls = tls_site_new();
	site->core = tls_site_server(site->tls, NULL);
	return site;
}

static void site_close(struct site *site)
{
	redis_server_free(site->access);
	redis_server_free(site->middle);
	redis_server_free(site->core);
	tls_site_free(site->tls);
	g_free(site);
}

/* As that user (NULL: none), with that password. */
static struct ssa_store *open_as(const struct site *site, const struct redis_server *server,
				 const char *user, const char *password, const char *ca)
{
	g_autofree char *uri = g_strdup_printf("rediss://%s%s127.0.0.1:%u", user ? user : "",
					       user ? "@" : "", server->port);
	g_autofree char *file = tls_site_secret(site->tls, "password", password);
	const struct ssa_store_options options = {.more = &ssa_store_redis,
						  .ca_file = ca,
						  .password_file = user ? file : NULL,
						  .timeout_ms = LONG_MS,
						  .writes = true};
	struct ssa_store *store;
	GError *error = NULL;

	store = ssa_store_open(uri, PREFIX, &options, &error);
	ck_assert_msg(store != NULL, "%s", error ? error->message : "no error");
	return store;
}

/* Writers and readers can do all that they have to, through three servers, and nothing else. */
START_TEST(test_samples)
{
	struct site *site = site_open();
	struct ssa_store *writer, *reader, *lower_writer;
	int64_t start_us, worst_us = 0;
	GError *error = NULL;

	site->middle = tls_site_server(site->tls, site->core);
	site->access = tls_site_server(site->tls, site->middle);
	writer = open_as(site, site->core, "writer", "writer", site->tls->ca);
	reader = open_as(site, site->access, "reader", "reader", site->tls->ca);
	lower_writer = open_as(site, site->access, "writer", "writer", site->tls->ca);
	bed_publish(writer, 1, 1, 0, 3);
	start_us = g_get_monotonic_time();
	while (!bed_epoch(reader) && g_get_monotonic_time() - start_us < LONG_MS * 1000) {
		ck_assert(ssa_store_wait(reader, 100, &error) || error->code != 0);
		g_clear_error(&error);
	}
	for (uint64_t epoch = 2; epoch <= 10; epoch++) {
		start_us = g_get_monotonic_time();
		bed_publish(writer, 1, epoch, (unsigned int)epoch, 40);
		while (bed_epoch(reader) < epoch)
			ck_assert(ssa_store_wait(reader, LONG_MS, &error));
		worst_us = MAX(worst_us, g_get_monotonic_time() - start_us);
		ck_assert_uint_eq(bed_read(reader), epoch);
	}
	ck_assert_int_lt(worst_us, LONG_MS * 1000 / 2);
	ck_assert(!bed_try_publish(reader, 1, 11, 0, 3, &error));
	bed_expect(&error, SSA_STORE_ERROR_REFUSED, "NOPERM");
	ck_assert(!bed_try_publish(lower_writer, 1, 11, 0, 3, &error));
	bed_expect(&error, SSA_STORE_ERROR_REFUSED, "READONLY");
	ck_assert_uint_eq(bed_read(reader), 10);
	ssa_store_close(writer);
	ssa_store_close(reader);
	ssa_store_close(lower_writer);
	site_close(site);
}
END_TEST

static void expect_no_manifest(struct ssa_store *store, enum ssa_store_error code, const char *text)
{
	GError *error = NULL;

	for (unsigned int i = 0; i < 2; i++) {
		ck_assert_ptr_null(ssa_store_manifest(store, &error));
		bed_expect(&error, code, text);
	}
	ssa_store_close(store);
}

START_TEST(test_strangers)
{
	struct site *site = site_open();
	g_autofree char *plain = g_strdup_printf("redis://127.0.0.1:%u", site->core->port);
	g_autofree char *named = g_strdup_printf("rediss://localhost:%u", site->core->port);
	struct ssa_store_options options = {
		.more = &ssa_store_redis, .timeout_ms = LONG_MS, .ca_file = site->tls->ca};

	expect_no_manifest(open_as(site, site->core, "writer", "wrong", site->tls->ca),
			   SSA_STORE_ERROR_REFUSED, "AUTH: WRONGPASS");
	expect_no_manifest(open_as(site, site->core, "stranger", "stranger", site->tls->ca),
			   SSA_STORE_ERROR_REFUSED, "AUTH: WRONGPASS");
	expect_no_manifest(open_as(site, site->core, NULL, "", site->tls->ca),
			   SSA_STORE_ERROR_REFUSED, "NOAUTH");
	expect_no_manifest(open_as(site, site->core, "replica", "replica", site->tls->ca),
			   SSA_STORE_ERROR_REFUSED, "NOPERM");
	/* Another server than the wanted one is sent no password. */
	expect_no_manifest(open_as(site, site->core, "writer", "writer", site->tls->other_ca),
			   SSA_STORE_ERROR_GONE, "TLS");
	expect_no_manifest(open_as(site, site->core, "writer", "writer", NULL),
			   SSA_STORE_ERROR_GONE, "TLS");
	expect_no_manifest(ssa_store_open(named, PREFIX, &options, NULL), SSA_STORE_ERROR_GONE,
			   "TLS");
	expect_no_manifest(ssa_store_open(plain, PREFIX, &options, NULL), SSA_STORE_ERROR_GONE,
			   plain);
	site_close(site);
}
END_TEST

/* The passwords of the sample as it is are none. */
START_TEST(test_sample_is_closed)
{
	const char *words[] = {"--aclfile", SAMPLES_DIR "/opensm-ssa-users.acl", NULL};
	struct redis_server *server = redis_server_start(0, words);
	static const char *const lines[] = {"PING\r\nQUIT\r\n", "AUTH writer writer\r\nQUIT\r\n",
					    "AUTH writer \"\"\r\nQUIT\r\n",
					    "AUTH tree 00000000\r\nQUIT\r\n"};

	for (unsigned int i = 0; i < G_N_ELEMENTS(lines); i++) {
		g_autofree char *answer = redis_server_ask(server->port, lines[i], LONG_MS);

		ck_assert_msg(g_str_has_prefix(answer, i ? "-WRONGPASS" : "-NOAUTH"), "%s", answer);
	}
	redis_server_free(server);
}
END_TEST

/* What is wrong with files of certificates and passwords is said at once, by their names. */
START_TEST(test_wrong_files)
{
	g_autofree char *directory = bed_directory();
	g_autofree char *file = g_build_filename(directory, "file", NULL);
	struct ssa_store_options options = {.more = &ssa_store_redis};
	GError *error = NULL;

	options.ca_file = file;
	ck_assert_ptr_null(ssa_store_open("rediss://host", 1, &options, &error));
	bed_expect(&error, SSA_STORE_ERROR_URI, file);
	ck_assert(g_file_set_contents(file, "no certificate", -1, NULL));
	ck_assert_ptr_null(ssa_store_open("rediss://host", 1, &options, &error));
	bed_expect(&error, SSA_STORE_ERROR_URI, file);
	options.ca_file = NULL;
	options.cert_file = file;
	ck_assert_ptr_null(ssa_store_open("rediss://host", 1, &options, &error));
	bed_expect(&error, SSA_STORE_ERROR_URI, "a certificate and its key, or neither");
	options.key_file = file;
	ck_assert_ptr_null(ssa_store_open("rediss://host", 1, &options, &error));
	bed_expect(&error, SSA_STORE_ERROR_URI, file);
	options = (struct ssa_store_options){.more = &ssa_store_redis, .password_file = file};
	ck_assert_int_eq(chmod(file, 0644), 0);
	ck_assert_ptr_null(ssa_store_open("redis://me@host", 1, &options, &error));
	bed_expect(&error, SSA_STORE_ERROR_URI, "expected mode 0600");
	ck_assert_int_eq(chmod(file, 0600), 0);
	ck_assert(g_file_set_contents(file, "\nsecond line\n", -1, NULL));
	ck_assert_int_eq(chmod(file, 0600), 0);
	ck_assert_ptr_null(ssa_store_open("redis://me@host", 1, &options, &error));
	bed_expect(&error, SSA_STORE_ERROR_URI, "expected a password in its first line");
	directory_remove(directory);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("ssa_tls");
	TCase *tcase = tcase_create("tls");

	tcase_set_timeout(tcase, 90);
	if (tls_site_possible()) {
		tcase_add_test(tcase, test_samples);
		tcase_add_test(tcase, test_strangers);
		tcase_add_test(tcase, test_sample_is_closed);
		tcase_add_test(tcase, test_wrong_files);
	}
	suite_add_tcase(suite, tcase);
	return suite;
}
