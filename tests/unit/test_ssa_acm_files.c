// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Files for an ibacm without the provider: what they say beside what look-ups say. */
#include <arpa/inet.h>
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ssa/look/look.h"
#include "ssa/node/acm_files.h"
#include "ssa/node/settings.h"
#include "tests/directory.h"
#include "tests/run_suite.h"
#include "tests/unit/ssa_tables.h"

#define C(name) IBA_COMPONENT(path_record, name)
#define HOST 5

static const struct ssa_size size = {
	.leaves = 4, .spines = 2, .hosts = 4, .lmc = 1, .classes = 3, .addresses = 40};
static struct ssa_made made;
static struct ssa_snapshot *snapshot;

static void open_snapshot(void)
{
	g_autoptr(GBytes) bytes = ssa_made_bytes(&made);
	g_autoptr(GError) error = NULL;

	ssa_snapshot_unref(snapshot);
	snapshot = ssa_snapshot_open(bytes, &error);
	ck_assert_msg(snapshot != NULL, "%s", error ? error->message : "");
}

static void begin(void)
{
	memset(&made, 0, sizeof(made));
	ssa_tables_make(&made, &size, 1);
	open_snapshot();
}

static void end(void)
{
	g_clear_pointer(&snapshot, ssa_snapshot_unref);
	ssa_made_clear(&made);
}

/* A copy of a table, to be changed and put in its place. */
static void *copy_of(enum ssa_table_id id)
{
	gsize length;
	const void *data = g_bytes_get_data(made.rows[id].bytes, &length);

	return g_memdup2(data, length);
}

static void put_back(enum ssa_table_id id, void *data)
{
	ssa_tables_replace(&made, id,
			   g_bytes_new_take(data, g_bytes_get_size(made.rows[id].bytes)));
	open_snapshot();
}

static uint32_t own(void)
{
	return ssa_look_guid(snapshot, ssa_tables_guid(HOST));
}

/* The line of that destination in the block of the host; free with g_free(). NULL: none. */
static char *line_of(const char *text, uint32_t to)
{
	g_autofree char *start = g_strdup_printf("\n0x%04X : ", ssa_16(snapshot->endports[to].lid));
	const char *found = strstr(text, start);

	return found ? g_strndup(found + 1, strcspn(found + 1, "\n")) : NULL;
}

static char *routes(void)
{
	const uint64_t guids[] = {ssa_tables_guid(HOST)};

	return ssa_acm_routes(snapshot, guids, 1);
}

static bool look_up(uint32_t to, struct iba_path_record *record)
{
	const struct iba_path_record wanted = {
		.sgid = {snapshot->prefix, ssa_tables_guid(HOST)},
		.dgid = {snapshot->prefix, ssa_64(snapshot->endports[to].guid)},
		.slid = ssa_16(snapshot->endports[own()].lid),
		.dlid = ssa_16(snapshot->endports[to].lid),
		.reversible = 1};

	return ssa_look_path(snapshot, own(), &wanted,
			     C(sgid) | C(dgid) | C(slid) | C(dlid) | C(reversible), record,
			     NULL) == SSA_LOOK_FOUND;
}

/* ---- paths ---- */

START_TEST(test_lines_are_look_ups)
{
	g_autofree char *text = NULL, *first = NULL;
	unsigned int n = 0;

	begin();
	text = routes();
	first = g_strdup_printf(
		"Channel Adapter 0x%016" G_GINT64_MODIFIER "x, base LID %u, port %u\n",
		ssa_tables_guid(HOST), ssa_tables_lid(&size, HOST), snapshot->endports[own()].port);
	ck_assert(g_str_has_prefix(strchr(text, '\n') + 1, first));
	for (uint32_t to = 0; to < snapshot->n_endports; to++) {
		g_autofree char *line = line_of(text, to), *expected = NULL;
		struct iba_path_record record;

		if (look_up(to, &record))
			expected = g_strdup_printf("0x%04X : %u : %u : %u", record.dlid, record.sl,
						   record.mtu, record.rate);
		ck_assert_pstr_eq(line, expected);
		n += line != NULL;
	}
	ck_assert_uint_gt(n, 0);
	end();
}
END_TEST

/* A line counts only if some header gives its LID a GUID, and only once. */
START_TEST(test_each_port_has_a_header)
{
	g_autofree char *text = NULL;

	begin();
	text = routes();
	for (uint32_t i = 0; i < snapshot->n_endports; i++) {
		const struct ssa_endport *port = &snapshot->endports[i];
		g_autofree char *header =
			g_strdup_printf(" 0x%016" G_GINT64_MODIFIER "x, base LID %u, port",
					ssa_64(port->guid), ssa_16(port->lid));
		const char *found = strstr(text, header);

		ck_assert_msg(found && !strstr(found + 1, header), "%s", header);
	}
	end();
}
END_TEST

/* The verdict of all pairs, with P_Keys beside it that have another SL. */
static void set_verdicts(uint8_t sl, uint8_t other_sl, uint8_t other_flags)
{
	struct ssa_verdict verdicts[] = {
		{.asked = 0, .p_key = ssa_16(0xffff), .flags = SSA_VERDICT_KNOWN, .sl = sl},
		{.asked = ssa_16(0x7fff),
		 .p_key = ssa_16(0xffff),
		 .sl = sl,
		 .flags = SSA_VERDICT_KNOWN},
		{.asked = ssa_16(0x11),
		 .p_key = ssa_16(0x8011),
		 .sl = other_sl,
		 .flags = (uint8_t)(SSA_VERDICT_KNOWN | SSA_VERDICT_LAST | other_flags)}};
	gsize length = g_bytes_get_size(made.rows[SSA_PAIRS].bytes);

	ssa_tables_replace(&made, SSA_VERDICTS, g_bytes_new(verdicts, sizeof(verdicts)));
	ssa_tables_replace(&made, SSA_PAIRS, g_bytes_new_take(g_malloc0(length), length));
	open_snapshot();
}

static const struct {
	uint8_t other_sl, other_flags;
	bool told;
} by_p_key[] = {{3, 0, true}, {4, 0, false}, {3, SSA_VERDICT_REFUSED, false}};

START_TEST(test_paths_that_depend_on_the_p_key)
{
	g_autofree char *text = NULL, *line = NULL;
	struct iba_path_record record;

	begin();
	set_verdicts(3, by_p_key[_i].other_sl, by_p_key[_i].other_flags);
	text = routes();
	ck_assert(look_up(own(), &record));
	line = line_of(text, own());
	ck_assert_int_eq(line != NULL, by_p_key[_i].told);
	if (line)
		ck_assert_ptr_nonnull(strstr(line, " : 3 : "));
	end();
}
END_TEST

START_TEST(test_no_verdicts)
{
	g_autofree char *text = NULL, *line = NULL;
	struct ssa_subnet *subnet;

	begin();
	subnet = copy_of(SSA_SUBNET);
	subnet->flags |= ssa_32(SSA_NO_VERDICTS);
	put_back(SSA_SUBNET, subnet);
	text = routes();
	line = line_of(text, own());
	ck_assert_ptr_null(line);
	end();
}
END_TEST

START_TEST(test_port_that_is_not_there)
{
	const uint64_t guids[] = {0x1234, 0, ssa_tables_guid(HOST)};
	g_autofree char *ended = NULL, *counted = NULL;

	begin();
	ended = ssa_acm_routes(snapshot, guids, G_N_ELEMENTS(guids));
	ck_assert_ptr_null(strstr(ended, "\n0x"));
	counted = ssa_acm_routes(snapshot, &guids[2], 0);
	ck_assert_ptr_null(strstr(counted, "\n0x"));
	end();
}
END_TEST

/* A kind that no port has. */
START_TEST(test_strange_kind)
{
	g_autofree char *text = NULL;
	struct ssa_endport *ports;

	begin();
	ports = copy_of(SSA_ENDPORTS);
	ports[0].kind = 200;
	put_back(SSA_ENDPORTS, ports);
	text = routes();
	ck_assert(strlen(text) > 0);
	end();
}
END_TEST

/* ---- addresses ---- */

static void put_names(const char *const *names, const uint8_t *gids, unsigned int n)
{
	struct ssa_name *rows = g_new0(struct ssa_name, n);

	for (unsigned int i = 0; i < n; i++) {
		g_strlcpy(rows[i].name, names[i], sizeof(rows[i].name));
		rows[i].rest.gid[0] = 0xfe;
		rows[i].rest.gid[1] = 0x80;
		rows[i].rest.gid[15] = gids[i];
	}
	ssa_tables_replace(&made, SSA_NAMES, g_bytes_new_take(rows, n * sizeof(*rows)));
	open_snapshot();
}

#define LONG "a-name-of-more-than-45-characters-which-is-cut-off"

START_TEST(test_names)
{
	static const char *const names[] = {"#x",   "1.2.3.4", "::1",  "a b",	    LONG,  "both",
					    "both", "same",    "same", "tab\there", "zeta"};
	static const uint8_t gids[] = {1, 1, 1, 1, 1, 1, 2, 3, 3, 1, 4};
	g_autofree char *text = NULL;

	begin();
	ssa_tables_replace(&made, SSA_IPV4, g_bytes_new(NULL, 0));
	ssa_tables_replace(&made, SSA_IPV6, g_bytes_new(NULL, 0));
	put_names(names, gids, G_N_ELEMENTS(names));
	text = ssa_acm_hosts(snapshot);
	ck_assert_str_eq(strchr(text, '\n') + 1, "same fe80::3\nzeta fe80::4\n");
	end();
}
END_TEST

START_TEST(test_all_addresses)
{
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;
	unsigned int names = 0, ipv4 = 0, ipv6 = 0;

	begin();
	text = ssa_acm_hosts(snapshot);
	lines = g_strsplit(text, "\n", -1);
	for (unsigned int i = 1; lines[i] && *lines[i]; i++) {
		g_auto(GStrv) words = g_strsplit(lines[i], " ", -1);
		uint8_t address[16], gid[16];

		ck_assert_uint_eq(g_strv_length(words), 2);
		ck_assert_int_eq(inet_pton(AF_INET6, words[1], gid), 1);
		if (inet_pton(AF_INET, words[0], address) == 1)
			ipv4++;
		else if (inet_pton(AF_INET6, words[0], address) == 1)
			ipv6++;
		else
			names++;
	}
	ck_assert_uint_eq(ipv4, snapshot->tables[SSA_IPV4].rows);
	ck_assert_uint_eq(ipv6, snapshot->tables[SSA_IPV6].rows);
	ck_assert_uint_eq(names, snapshot->tables[SSA_NAMES].rows);
	end();
}
END_TEST

/* ---- the files ---- */

static ino_t inode(const char *directory, const char *name)
{
	g_autofree char *file = g_build_filename(directory, name, NULL);
	struct stat status;

	ck_assert_int_eq(stat(file, &status), 0);
	ck_assert_uint_eq(status.st_mode & 07777, 0644);
	return status.st_ino;
}

START_TEST(test_replaced_only_if_changed)
{
	const uint64_t guids[] = {ssa_tables_guid(HOST)};
	g_autofree char *directory = g_dir_make_tmp(NULL, NULL);
	g_autofree char *hosts = g_build_filename(directory, SSA_ACM_HOSTS, NULL), *held = NULL;
	g_autofree char *text = NULL;
	g_autoptr(GError) error = NULL;
	ino_t route_inode, host_inode;

	begin();
	ck_assert(ssa_acm_files_write(directory, snapshot, guids, 1, &error));
	route_inode = inode(directory, SSA_ACM_ROUTES);
	host_inode = inode(directory, SSA_ACM_HOSTS);
	ck_assert(ssa_acm_files_write(directory, snapshot, guids, 1, &error));
	ck_assert_uint_eq(inode(directory, SSA_ACM_ROUTES), route_inode);
	ck_assert_uint_eq(inode(directory, SSA_ACM_HOSTS), host_inode);
	/* Another file must not get the number of the one that is replaced. */
	held = g_build_filename(directory, "held", NULL);
	ck_assert_int_eq(link(hosts, held), 0);
	ssa_tables_replace(&made, SSA_NAMES, g_bytes_new(NULL, 0));
	open_snapshot();
	ck_assert(ssa_acm_files_write(directory, snapshot, guids, 1, &error));
	ck_assert_uint_eq(inode(directory, SSA_ACM_ROUTES), route_inode);
	ck_assert_uint_ne(inode(directory, SSA_ACM_HOSTS), host_inode);
	/* Other contents of the same length. */
	ck_assert(g_file_get_contents(hosts, &text, NULL, NULL));
	text[0] = '!';
	ck_assert(g_file_set_contents(hosts, text, -1, NULL));
	ck_assert(ssa_acm_files_write(directory, snapshot, guids, 1, &error));
	g_free(text);
	ck_assert(g_file_get_contents(hosts, &text, NULL, NULL));
	ck_assert_int_eq(text[0], '#');
	ck_assert(!ssa_acm_files_write("/does/not/exist", snapshot, guids, 1, &error));
	ck_assert_ptr_nonnull(strstr(error->message, "/does/not/exist"));
	end();
	directory_remove(directory);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("ssa_acm_files");
	TCase *paths = tcase_create("paths"), *addresses = tcase_create("addresses");
	TCase *files = tcase_create("files");

	tcase_add_test(paths, test_lines_are_look_ups);
	tcase_add_test(paths, test_each_port_has_a_header);
	tcase_add_loop_test(paths, test_paths_that_depend_on_the_p_key, 0,
			    (int)G_N_ELEMENTS(by_p_key));
	tcase_add_test(paths, test_no_verdicts);
	tcase_add_test(paths, test_port_that_is_not_there);
	tcase_add_test(paths, test_strange_kind);
	suite_add_tcase(suite, paths);
	tcase_add_test(addresses, test_names);
	tcase_add_test(addresses, test_all_addresses);
	suite_add_tcase(suite, addresses);
	tcase_add_test(files, test_replaced_only_if_changed);
	suite_add_tcase(suite, files);
	return suite;
}
