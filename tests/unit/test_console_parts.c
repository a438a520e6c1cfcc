// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* The parts of the console that do not need a daemon: lines, key, links, and the manual page. */
#include "core/printable.h"
#include "ctl/base/answer.h"
#include "ctl/base/lines.h"
#include "ctl/command/command.h"
#include "ctl/console/console_key.h"
#include "ctl/process/tcp_owner.h"
#include "fabric/link_quality.h"
#include "iba/constants.h"
#include "tests/run_suite.h"
#include "tests/unit/fabric_make.h"

#include <check.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

/* ---- lines ---- */

/* The lines of some bytes, each in brackets; malformed ones as "[long]" or "[garbage]". */
static char *lines_of(const char *bytes, size_t n)
{
	GString *out = g_string_new(NULL);
	struct lines lines;

	lines_init(&lines, COMMAND_MAX_LINE);
	for (size_t i = 0; i <= n; i++) {
		enum line_kind kind =
			i < n ? lines_byte(&lines, (unsigned char)bytes[i]) : lines_end(&lines);

		if (kind == LINE_GOOD)
			g_string_append_printf(out, "[%s]", lines.text->str);
		else if (kind != LINE_NONE)
			g_string_append(out, kind == LINE_TOO_LONG ? "[long]" : "[garbage]");
	}
	lines_clear(&lines);
	return g_string_free(out, FALSE);
}

static const struct {
	const char *bytes;
	size_t n;
	const char *lines;
} streams[] = {
#define STREAM(bytes, lines)                                                                       \
	{                                                                                          \
		bytes, sizeof(bytes) - 1, lines                                                    \
	}
	STREAM("", ""),
	STREAM("a", "[a]"),
	STREAM("a\n", "[a]"),
	STREAM("\n\n", "[][]"),
	STREAM("a\r\nb\r\n", "[a][b]"),
	STREAM("a\r\0\nb", "[a][b]"),
	STREAM("a b\tc\n", "[a b\tc]"),
	STREAM("\xff\xfb\x18status\n", "[status]"), /* IAC WILL TERMINAL-TYPE */
	STREAM("sta\xff\xfd\x01tus\n", "[status]"), /* IAC DO ECHO in the middle */
	STREAM("\xff\xf1st\xff\xf9"
	       "atus\n",
	       "[status]"), /* IAC NOP, IAC GA */
	STREAM("\xff\xfa\x18\0xterm\n\xff\xf0"
	       "a\n",
	       "[a]"), /* a parameter with a line end */
	STREAM("\xff\xfa\x18\xff\xff\xf0z\xff\xf0"
	       "a\n",
	       "[a]"),
	STREAM("\xff\xff\n", "[garbage]"), /* an escaped 255 is not text */
	STREAM("\xff", ""),
	STREAM("\0\n", "[garbage]"),
	STREAM("\x1b[A\nok\n", "[garbage][ok]"),
	STREAM("\xc3\xa9\n", "[\xc3\xa9]"),
	STREAM("\xc3\n", "[garbage]"),
#undef STREAM
};

START_TEST(lines_of_bytes)
{
	g_autofree char *lines = lines_of(streams[_i].bytes, streams[_i].n);

	ck_assert_str_eq(lines, streams[_i].lines);
}
END_TEST

START_TEST(lines_of_any_length)
{
	for (unsigned int n = COMMAND_MAX_LINE - 1; n <= COMMAND_MAX_LINE + 1; n++) {
		g_autofree char *line = g_strnfill(n, 'x');
		g_autofree char *bytes = g_strconcat(line, "\nend\n", NULL);
		g_autofree char *want = n > COMMAND_MAX_LINE ? g_strdup("[long][end]")
							     : g_strdup_printf("[%s][end]", line);
		g_autofree char *lines = lines_of(bytes, strlen(bytes));

		ck_assert_str_eq(lines, want);
	}
}
END_TEST

/* No bytes make it keep more than a line. */
START_TEST(lines_of_noise)
{
	uint64_t state = 7;
	struct lines lines;
	bool good = true;

	lines_init(&lines, COMMAND_MAX_LINE);
	for (unsigned int i = 0; i < 500000 && good; i++) {
		enum line_kind kind = lines_byte(&lines, (unsigned char)make_number(&state, 256));

		good = lines.text->len <= COMMAND_MAX_LINE &&
		       (kind != LINE_GOOD ||
			g_utf8_validate(lines.text->str, (gssize)lines.text->len, NULL));
	}
	ck_assert(good);
	lines_clear(&lines);
}
END_TEST

/* ---- users of TCP ---- */

/* A socket without a process is listed as root's, with inode 0: its user is not known. */
START_TEST(owners_of_tcp)
{
	static const char table[] =
		"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid "
		" timeout inode\n"
		"   0: 0100007F:2710 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0 "
		" "
		"      0 11 1 0 100 0 0 10 0\n"
		"   1: 0100007F:9C40 0100007F:2710 01 00000000:00000000 00:00000000 00000000  1000 "
		" "
		"      0 4711 1 0 20 4 30 10 -1\n"
		"   2: 0100007F:9C41 0100007F:2710 05 00000000:00000000 00:00000000 00000000     0 "
		" "
		"      0 0 1 0 20 4 30 10 -1\n"
		"   3: 0100007F:9C42 0100007F:2710 01 00000000:0";
	g_autofree char *file = NULL;
	int fd = g_file_open_tmp(NULL, &file, NULL);
	uid_t uid = 7;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, table, strlen(table)), strlen(table));
	close(fd);
	ck_assert(tcp_owner_in(file, "0100007F:9C40", "0100007F:2710", &uid));
	ck_assert_uint_eq(uid, 1000);
	ck_assert(!tcp_owner_in(file, "0100007F:9C40", "0100007F:2711", &uid));
	ck_assert(!tcp_owner_in(file, "0100007F:9C41", "0100007F:2710", &uid));
	ck_assert(!tcp_owner_in(file, "0100007F:9C42", "0100007F:2710", &uid));
	g_unlink(file);
	ck_assert(!tcp_owner_in(file, "0100007F:9C40", "0100007F:2710", &uid));
}
END_TEST

/* ---- text of the fabric ---- */

START_TEST(printable)
{
	static const char *const texts[][2] = {
		{"host-0", "host-0"},	    {"\033[2J", "\\x1b[2J"},
		{"a\nb", "a\\x0ab"},	    {"\xc3\xa9", "\xc3\xa9"},
		{"\xc3", "\\xc3"},	    {"\xff\xfe", "\\xff\\xfe"},
		{"\xc2\x9b", "\\xc2\\x9b"}, {"", ""},
	};

	for (unsigned int i = 0; i < G_N_ELEMENTS(texts); i++) {
		g_autofree char *text = printable_text(texts[i][0]);

		ck_assert_str_eq(text, texts[i][1]);
	}
}
END_TEST

/* ---- the key ---- */

static void check_key(const char *text, int mode, const char *key, const char *mistake)
{
	g_autofree char *directory = g_dir_make_tmp("opensm-key-XXXXXX", NULL);
	g_autofree char *file = g_build_filename(directory, "key", NULL);
	g_autoptr(GError) error = NULL;
	char *got;

	ck_assert(g_file_set_contents(file, text, -1, NULL));
	ck_assert_int_eq(g_chmod(file, mode), 0);
	got = console_key_load("--key", file, &error);
	ck_assert_str_eq(got ? got : "(none)", key ? key : "(none)");
	ck_assert_msg(got || strstr(error->message, mistake), "%s", got ? "" : error->message);
	ck_assert(got || strstr(error->message, file));
	console_key_free(got);
	g_unlink(file);
	g_rmdir(directory);
}

START_TEST(key_files)
{
	g_autofree char *longest = g_strnfill(CONSOLE_KEY_MAX, 'k');
	g_autofree char *too_long = g_strnfill(CONSOLE_KEY_MAX + 1, 'k');
	g_autoptr(GError) error = NULL;

	check_key("0123456789abcdef\n", 0600, "0123456789abcdef", NULL);
	check_key("0123456789abcdef", 0400, "0123456789abcdef", NULL);
	check_key("0123456789 abcdef\r\nmore\n", 0600, "0123456789 abcdef", NULL);
	check_key("0123456789abcdef\n", 0640, NULL, "expected mode 0600");
	check_key("0123456789abcdef\n", 0604, NULL, "expected mode 0600");
	check_key("0123456789abcde\n", 0600, NULL, ":1: expected a line of 16");
	check_key("\n0123456789abcdef\n", 0600, NULL, ":1: expected a line of 16");
	check_key("", 0600, NULL, ":1: expected a line of 16");
	check_key("0123456789abcde\xff\n", 0600, NULL, ":1: expected a line of 16");
	check_key(longest, 0600, longest, NULL);
	check_key(too_long, 0600, NULL, ":1: expected a line of 16");
	ck_assert_ptr_null(console_key_load("--key", "/nonexistent/key", &error));
	ck_assert_ptr_nonnull(strstr(error->message, "/nonexistent/key: No such file"));
	g_clear_error(&error);
	ck_assert_ptr_null(console_key_load("--key", "/dev/zero", &error));
	ck_assert_ptr_nonnull(strstr(error->message, "is not a regular file"));
}
END_TEST

START_TEST(key_fits)
{
	ck_assert(console_key_fits("0123456789abcdef", "0123456789abcdef"));
	ck_assert(!console_key_fits("0123456789abcdef", "0123456789abcdeF"));
	ck_assert(!console_key_fits("0123456789abcdef", "0123456789abcdef "));
	ck_assert(!console_key_fits("0123456789abcdef", "0123456789abcde"));
	ck_assert(!console_key_fits("0123456789abcdef", ""));
}
END_TEST

/* ---- links ---- */

/* The first port of the fabric that leads to a known one, its PortInfo to be changed. */
static struct iba_port_info *some_link(struct fabric *fabric, uint32_t *port)
{
	for (*port = 0; *port < fabric->n_ports; ++*port)
		if (fabric->ports[*port].peer != FABRIC_NONE && fabric->ports[*port].known &&
		    fabric->ports[fabric->ports[*port].peer].known)
			return &fabric->ports[*port].info;
	ck_abort();
}

static void set_4x_edr(struct iba_port_info *info)
{
	*info = (struct iba_port_info){
		.port_state = IBA_PORT_ACTIVE,
		.port_physical_state = IBA_PHYS_LINK_UP,
		.link_width_supported = IBA_WIDTH_1X | IBA_WIDTH_4X,
		.link_width_enabled = IBA_WIDTH_1X | IBA_WIDTH_4X,
		.link_width_active = IBA_WIDTH_4X,
		.link_speed_supported = 7,
		.link_speed_enabled = 7,
		.link_speed_active = IBA_SPEED_QDR,
		.link_speed_ext_supported = IBA_SPEED_EXT_FDR | IBA_SPEED_EXT_EDR,
		.link_speed_ext_enabled = IBA_SPEED_EXT_FDR | IBA_SPEED_EXT_EDR,
		.link_speed_ext_active = IBA_SPEED_EXT_EDR,
	};
}

START_TEST(issues_of_links)
{
	struct fabric *fabric = make_fabric("fattree:4", 0);
	g_autofree char *best = NULL;
	struct iba_port_info *info, *peer;
	uint32_t port;

	info = some_link(fabric, &port);
	peer = &fabric->ports[fabric->ports[port].peer].info;
	set_4x_edr(info);
	set_4x_edr(peer);
	ck_assert_uint_eq(link_issues(fabric, port), 0);
	ck_assert_str_eq(link_width_name(info), "4X");
	ck_assert_str_eq(link_speed_name(&fabric->ports[port]), "25.78125 Gbps");
	best = link_best_name(fabric, port);
	ck_assert_str_eq(best, "4X 25.78125 Gbps");
	info->link_speed_ext_active = IBA_SPEED_EXT_FDR;
	ck_assert_uint_eq(link_issues(fabric, port), LINK_REDUCED_SPEED);
	info->link_speed_ext_active = 0;
	ck_assert_uint_eq(link_issues(fabric, port), LINK_REDUCED_SPEED);
	peer->link_speed_ext_supported = 0; /* no longer a fault of the link */
	ck_assert_uint_eq(link_issues(fabric, port), 0);
	info->link_width_active = IBA_WIDTH_1X;
	ck_assert_uint_eq(link_issues(fabric, port), LINK_REDUCED_WIDTH);
	info->link_width_active = 3;
	ck_assert_uint_eq(link_issues(fabric, port), LINK_UNKNOWN_WIDTH);
	ck_assert_ptr_null(link_width_name(info));
	info->link_width_active = IBA_WIDTH_4X;
	info->link_speed_active = 3;
	ck_assert_uint_eq(link_issues(fabric, port), LINK_UNKNOWN_SPEED);
	info->link_speed_active = IBA_SPEED_QDR;
	info->link_speed_ext_enabled = IBA_LINK_SPEED_EXT_DISABLED;
	info->link_width_enabled = IBA_WIDTH_4X;
	ck_assert_uint_eq(link_issues(fabric, port), LINK_UNENABLED_SPEED | LINK_UNENABLED_WIDTH);
	set_4x_edr(info);
	info->port_state = IBA_PORT_DOWN;
	info->port_physical_state = IBA_PHYS_DISABLED;
	info->link_width_active = info->link_speed_active = info->link_speed_ext_active = 0;
	ck_assert_uint_eq(link_issues(fabric, port), LINK_DISABLED);
	fabric_unref(fabric);
}
END_TEST

/* 2X has the highest bit of the widths, but is not the widest. */
START_TEST(widest_is_by_lanes)
{
	struct fabric *fabric = make_fabric("fattree:4", 0);
	struct iba_port_info *info;
	uint32_t port;

	info = some_link(fabric, &port);
	set_4x_edr(info);
	set_4x_edr(&fabric->ports[fabric->ports[port].peer].info);
	info->link_width_supported |= IBA_WIDTH_2X;
	info->link_width_enabled |= IBA_WIDTH_2X;
	fabric->ports[fabric->ports[port].peer].info.link_width_supported |= IBA_WIDTH_2X;
	ck_assert_uint_eq(link_issues(fabric, port), 0);
	info->link_width_active = IBA_WIDTH_2X;
	ck_assert_uint_eq(link_issues(fabric, port), LINK_REDUCED_WIDTH);
	fabric_unref(fabric);
}
END_TEST

/* ---- the manual ---- */

/* "Cm sweep Cm on | off" as "sweep on|off", "Op Ar N" as "[N]", "Oo .. Oc" as "[..]". */
static char *plain(const char *macros)
{
	g_auto(GStrv) words = g_strsplit(macros, " ", -1);
	GString *out = g_string_new(NULL);
	bool optional = false, glue = true;

	for (unsigned int i = 0; words[i]; i++) {
		const char *word = words[i];

		if (!strcmp(word, "Cm") || !strcmp(word, "Ar"))
			continue;
		if (!strcmp(word, "Oc") || !strcmp(word, "|")) {
			g_string_append(out, !strcmp(word, "|") ? "|" : "]");
			glue = !strcmp(word, "|");
			continue;
		}
		if (!glue)
			g_string_append_c(out, ' ');
		glue = !strcmp(word, "Op") || !strcmp(word, "Oo");
		optional |= !strcmp(word, "Op");
		g_string_append(out, glue ? "[" : word);
	}
	g_string_append(out, optional ? "]" : "");
	return g_string_free(out, FALSE);
}

/* "name arguments" of each entry under COMMANDS, in the order of the page. */
static GPtrArray *commands_of_page(void)
{
	GPtrArray *all = g_ptr_array_new_with_free_func(g_free);
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;
	bool inside = false;

	ck_assert(g_file_get_contents(MAN_DIR "/opensm-console.8", &text, NULL, NULL));
	lines = g_strsplit(text, "\n", -1);
	for (unsigned int i = 0; lines[i]; i++) {
		if (g_str_has_prefix(lines[i], ".Sh "))
			inside = !strcmp(lines[i], ".Sh COMMANDS");
		if (inside && g_str_has_prefix(lines[i], ".It "))
			g_ptr_array_add(all, plain(lines[i] + strlen(".It ")));
	}
	return all;
}

START_TEST(page_of_the_console)
{
	g_autoptr(GPtrArray) page = commands_of_page();
	const char *name, *arguments, *help;
	unsigned int n = 0;

	for (; command_describe(n, &name, &arguments, &help); n++) {
		g_autofree char *want =
			g_strdup_printf("%s%s%s", name, *arguments ? " " : "", arguments);

		ck_assert_msg(n < page->len, "%s is not in the manual", want);
		ck_assert_str_eq((char *)page->pdata[n], want);
		ck_assert(*help && !g_str_has_suffix(help, "."));
	}
	ck_assert_uint_eq(page->len, n);
}
END_TEST

/* ---- rights ---- */

/* Each new command of commands.def is in one of these. */
START_TEST(which_change_something)
{
	static const char *const changing[] = {
		"unhealthy release all",
		"resweep light",
		"reroute",
		"sweep on",
		"loglevel 3",
		"loglevel 3 json",
		"logflush off",
		"priority 3",
		"prio 3",
		"activate",
		"plugins stop x",
		"plugins start x json",
		"plan",
		"plan json",
		"plan all",
		"plan /etc/shadow",
		"update_desc",
		"audit",
		"audit 3",
		"dump_portguid file x .",
		"partitions reload",
		"partitions change 1: 2",
		"partitions forget all",
		"qos reload",
		"cc ask",
		"sim link a 1",
		"perfmgr sweep",
		"pm disable json",
	};
	static const char *const looking[] = {
		"",
		"help",
		"quit",
		"exit",
		"version",
		"status",
		"status loop",
		"health",
		"unhealthy",
		"unhealthy json",
		"plugins",
		"plugins json",
		"loglevel",
		"loglevel json",
		"priority",
		"querylid 1",
		"portstatus",
		"switchbalance",
		"lidbalance",
		"dump_conf",
		"dump_portguid .*",
		"path 1 2",
		"lft 1",
		"mgroups",
		"partitions",
		"partitions 0x7fff",
		"qos",
		"qos 1",
		"cc",
		"cc ports host-1",
		"cc effect json",
		"ports down",
		"events",
		"permodlog",
		"subscriptions missed",
		"aliases",
		"perfmgr",
		"pm pc json",
		"metrics all",
		"image",
	};

	const char *name, *arguments, *help;

	for (unsigned int i = 0; i < G_N_ELEMENTS(changing); i++)
		ck_assert_msg(command_changes(changing[i]), "%s", changing[i]);
	for (unsigned int i = 0; i < G_N_ELEMENTS(looking); i++)
		ck_assert_msg(!command_changes(looking[i]), "%s", looking[i]);
	for (unsigned int i = 0; command_describe(i, &name, &arguments, &help); i++) {
		bool listed = false;

		for (unsigned int j = 0; j < G_N_ELEMENTS(changing); j++)
			listed |= g_str_has_prefix(changing[j], name);
		for (unsigned int j = 0; j < G_N_ELEMENTS(looking); j++)
			listed |= g_str_has_prefix(looking[j], name);
		ck_assert_msg(listed, "%s", name);
	}
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("console_parts");
	TCase *tcase = tcase_create("parts");

	tcase_add_loop_test(tcase, lines_of_bytes, 0, G_N_ELEMENTS(streams));
	tcase_add_test(tcase, lines_of_any_length);
	tcase_add_test(tcase, owners_of_tcp);
	tcase_add_test(tcase, lines_of_noise);
	tcase_add_test(tcase, printable);
	tcase_add_test(tcase, key_files);
	tcase_add_test(tcase, key_fits);
	tcase_add_test(tcase, issues_of_links);
	tcase_add_test(tcase, widest_is_by_lanes);
	tcase_add_test(tcase, page_of_the_console);
	tcase_add_test(tcase, which_change_something);
	suite_add_tcase(suite, tcase);
	return suite;
}
