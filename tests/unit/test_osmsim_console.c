// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/* Every command of osmsim's console: its answer, and its effect on the fabric. */
#include <check.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "libvendor/osmsim/console.h"
#include "tests/run_suite.h"
#include "tests/unit/osmsim_net.h"

static struct osmsim_net *net;

static void setup(void)
{
	net = osmsim_net_new();
}

static void teardown(void)
{
	osmsim_net_free(net);
}

static const struct {
	const char *text;
	bool done;
	const char *says; /* part of the output; NULL: no output */
} commands[] = {
	{"help", true, "unlink NODE PORT"},
	{"help flap", true, "flap NODE PORT DOWN_MS UP_MS TIMES"},
	{"help nothing", false, "there is no command nothing"},
	{"nodes", true, "0x0000000000001000   4 ports  \"sw\""},
	{"nodes [x-z]", true, NULL},
	{"nodes ?", true, "\"c\""},
	{"ports sw", true, "=> \"b\" 1"},
	{"ports s", true, "=> \"b\" 1"}, /* the beginning of one name */
	{"ports 0x1000", true, "=> \"b\" 1"},
	{"ports d", false, "no node, or more than one, is called 'd'"},
	{"ports \"\"", false, "no node"},
	{"port a 1", true, "port_state:.................................4"},
	{"port sw 0", true, "lid:........................................9"},
	{"port sw 5", false, "'sw' has ports 0 to 4"},
	{"port a 0", false, "'a' has ports 1 to 1"},
	{"port a one", false, "'one' is not a number"},
	{"port a -1", false, "'-1' is not a number"},
	{"port a[1]", true, "port_state"}, /* as ibsim writes it */
	{"Dump \"sw\"", true, "=> \"c\" 1"},
	{"dump lft sw", true, "    2   2\n"},
	{"dump mft sw", true, NULL},
	{"dump lft a", false, "'a' is not a switch"},
	{"dump nothing sw", false, "neither lft, mft nor ports"},
	{"clients", true, NULL},
	{"counters", true, "SMPs"},
	{"counters sw 1", true, "PortXmitData"},
	{"counters sw", false, "a port needs NODE and PORT"},
	{"count sw 1 SymbolErrorCounter 7; counters sw 1", true,
	 "SymbolErrorCounter             7"},
	{"count sw 1 Nonsense 7", false, "there is no counter Nonsense"},
	{"count sw 1 PortVLXmitWait[3] 7; counters sw 1", true, "PortVLXmitWait[3]              7"},
	{"sim", false, "usage: sim traffic|errors|agent|cc|counters"},
	{"sim nonsense", false, "sim: expected traffic, errors, agent, cc or counters"},
	{"sim traffic", false, "usage: traffic add|random|discard|list|clear"},
	{"sim traffic list", true, "no flows"},
	{"sim traffic add a b 1G size 1000 sl 3; sim traffic list", true,
	 "\"a\" 1 => \"b\" 1  SL 3  wants 1000000000 B/s"},
	{"sim traffic add a b 50%; sim traffic list", true, "wants"},
	{"sim traffic add a b 1; sim traffic clear; sim traffic list", true, "no flows"},
	{"sim traffic add a b", false, "usage: traffic add SRC DST RATE"},
	{"sim traffic add a a 1", false, "a flow has two ends"},
	{"sim traffic add a sw 1", false, "'sw' is not a host with a cable"},
	{"sim traffic add a nowhere 1", false, "no node, or more than one, is called 'nowhere'"},
	{"sim traffic add a b fast", false, "'fast' is not a rate"},
	{"sim traffic add a b -1", false, "'-1' is not a rate"},
	{"sim traffic add a b nan", false, "'nan' is not a rate"},
	{"sim traffic add a b 1e300", false, "is not a rate from 0 to 1000000000000"},
	{"sim traffic add a b 9999T", false, "is not a rate"},
	{"sim traffic add a b 1GG", false, "is not a rate"},
	{"sim traffic add a b 1001%", false, "is not a share of a link"},
	{"sim traffic add a b 1 size", false, "size needs a number"},
	{"sim traffic add a b 1 size 4097", false, "'4097' is not a number from 0 to 4096"},
	{"sim traffic add a b 1 sl 16", false, "'16' is not a number from 0 to 15"},
	{"sim traffic add a b 1 color 16", false, "'color' is neither size nor sl"},
	{"sim traffic random 3 1M; sim traffic list", true, "wants 1000000 B/s"},
	{"sim traffic random", false, "usage: traffic random N RATE"},
	{"sim traffic random 1000001 1", false, "is not a number from 0 to 1000000"},
	{"sim traffic discard 0.5", true, NULL},
	{"sim traffic discard 2", false, "'2' is not a share from 0 to 1"},
	{"sim traffic discard nan", false, "is not a share"},
	{"sim traffic discard", false, "usage: traffic discard SHARE"},
	{"sim errors list", true, "no errors"},
	{"sim errors sw 1 cable 1K; sim errors sw 2 symbolerrorcounter 2.5; sim errors list", true,
	 "\"sw\" 1 cable 1000/s\n\"sw\" 2 SymbolErrorCounter 2.5/s\n"},
	{"sim errors sw 1 PortVLXmitWait[3] 1; sim errors list", true, "PortVLXmitWait[3] 1/s"},
	{"sim errors sw 1 cable 1; sim errors sw 1 cable 0; sim errors list", true, "no errors"},
	{"sim errors sw 1 cable 1; sim errors clear; sim errors list", true, "no errors"},
	{"sim errors", false, "usage: errors NODE PORT COUNTER|cable RATE"},
	{"sim errors sw 5 cable 1", false, "'sw' has ports 1 to 4"},
	{"sim errors sw 0 cable 1", false, "'sw' has ports 1 to 4"},
	{"sim errors sw 1 Nonsense 1", false, "there is no counter 'Nonsense'"},
	{"sim errors sw 1 cable 50%", false, "is not a rate"},
	{"sim agent list", true, "AllPortSelect"},
	{"sim agent sw", true, "\"sw\" all-ports extended ietf"},
	{"sim agent sw no-extended port0; sim agent sw", true, "rs-fec port0"},
	{"sim agent sw silent; sim agent sw default; sim agent list", true, "random status"},
	{"sim agent hosts status 0x1c; sim agent a", true, "status 0x001c"},
	{"sim agent switches one-register; sim agent list", true, "one-register\n"},
	{"sim agent a redirect 2 0x123 0x7fff 0x80000007; sim agent a", true,
	 "redirect 2 QP 0x123 P_Key 0x7fff Q_Key 0x80000007"},
	{"sim agent a redirect 0x100000; sim agent a", true, "redirect 0x0000000000100000 QP 0x1"},
	{"sim agent a redirect 2; sim agent a no-redirect; sim agent a", true, "rs-fec\n"},
	{"sim agent", false, "usage: agent NODE|switches|hosts"},
	{"sim agent nowhere silent", false, "is called 'nowhere'"},
	{"sim agent sw silent nonsense", false, "'nonsense' is not a kind of agent"},
	{"sim agent sw status", false, "status needs a number"},
	{"sim agent sw status 65536", false, "is not a number from 0 to 65535"},
	{"sim agent sw redirect", false, "redirect is the last"},
	{"sim agent sw redirect 1 2 3 4 5", false, "redirect is the last"},
	{"sim agent sw redirect 1 0x1000000", false, "is not a number from 0 to 16777215"},
	{"sim cc list", true, "EnhancedPort0CC"},
	{"sim cc sw", true, "\"sw\" traps info 0x1 0\n"},
	{"sim cc a no-traps old-form info 0x40 3 silent 5000; sim cc a", true,
	 "\"a\" old-form info 0x40 3 silent\n"},
	{"sim cc a answer 0x16 set status 0x1c answer all get forget; sim cc list", true,
	 "\"a\" traps info 0x0 2 answer 0x16 set status 0x1c answer 0x0 get forget\n"},
	{"sim cc a answer all all ignore; sim cc a answer all all serve; sim cc a", true,
	 "\"a\" traps info 0x0 2\n"},
	{"sim cc hosts keyless; sim cc hosts default; sim cc a", true, "\"a\" traps info 0x0 2\n"},
	{"sim cc switches port0; sim cc sw", true, "\"sw\" traps port0 info 0x1 2\n"},
	{"sim cc", false, "usage: cc NODE|switches|hosts"},
	{"sim cc nowhere old-form", false, "is called 'nowhere'"},
	{"sim cc sw old-form nonsense", false, "'nonsense' is not a kind of congestion control"},
	{"sim cc sw answer 0x16 set", false, "answer needs ATTRIBUTE|all"},
	{"sim cc sw answer 0x10000 set ignore", false, "is not a number from 0 to 65535"},
	{"sim cc sw answer 0x16 both ignore", false, "'both' is not get, set or all"},
	{"sim cc sw answer 0x16 set maybe", false, "'maybe' is not serve, status,"},
	{"sim cc sw answer 0x16 set status", false, "status needs a number"},
	{"sim cc sw info 1", false, "info needs BITS CAP"},
	{"sim cc sw info 1 17", false, "is not a number from 0 to 16"},
	{"sim cc sw silent", false, "silent needs MS"},
	{"sim cc event sw 2 3 4 5 times 3 qp 1 2 service 1; sim cc show sw", true,
	 "\"sw\" 0\nkey: none"},
	{"sim cc event a 1 3 4 5 times 9; sim counters a 1", true,
	 "PortPktRcvBECN                  9\n"},
	{"sim cc event sw 5 3 4 5", false, "'sw' has ports 1 to 4"},
	{"sim cc event sw 1 3 4 16", false, "is not a number from 0 to 15"},
	{"sim cc event sw 1 3 4", false, "usage: cc event NODE PORT SLID DLID SL"},
	{"sim cc event sw 1 3 4 5 qp 1", false, "expected times N, qp LOCAL REMOTE"},
	{"sim cc event a 1 3 4 5; sim cc restart a; sim cc show a", true, ""},
	{"sim cc restart", false, "usage: cc restart NODE"},
	{"sim cc time a 0xFFFFFFF0", true, NULL},
	{"sim cc time a", false, "usage: cc time NODE TIMESTAMP"},
	{"sim cc requests a", true, "CongestionControlTable      0 Get 0 Set\n"},
	{"sim cc requests", true, "others                      0 Get 0 Set\n"},
	{"sim cc show nowhere", false, "is called 'nowhere'"},
	{"sim counters sw 1", true, "PortXmitData"},
	{"sim counters sw", false, "usage: counters NODE PORT"},
	{"sim counters sw 9", false, "'sw' has ports 1 to 4"},
	{"unlink a 1; ports a", true, "Down   Polling"},
	{"PULL a 1; ports a", true, "-/- \"sw\" 1"},
	{"unlink sw 4", false, "no cable in port 4 of 'sw'"},
	{"unlink a 1; link a 1; ports a", true, "Initialize LinkUp"},
	{"unlink a 1; ReLink \"a\"[1]; ports a", true, "Initialize LinkUp"},
	{"link a 1 sw 4; ports a", true, "=> \"sw\" 4"},
	{"link a 1 sw 1; ports a", true, "=> \"sw\" 1"},
	{"link a 1 sw 2", false, "or one in port 2 of 'sw'"},
	{"link a 1 sw", false, "a second NODE needs a PORT"},
	{"move sw 1 sw 4; ports a", true, "=> \"sw\" 4"},
	{"move sw 4 sw 1", false, "no cable in port 4"},
	{"degrade a 1 1 2500; ports a", true, "1X    2.5 Gb/s"},
	{"degrade a 1 3 2500", false, "no such width or speed"},
	{"flap a 1 5 5 3", true, NULL},
	{"flap sw 4 5 5 3", false, "no cable"},
	{"blackhole sw 1; ports sw", true, "black hole"},
	{"blackhole sw 1 off", true, NULL},
	{"blackhole sw 1 maybe", false, "neither on nor off"},
	{"down sw; nodes sw", true, "\"sw\" down"},
	{"up sw", true, NULL},
	{"down sw; up sw; nodes sw", true, "\"sw\"\n"},
	{"remove sw; nodes sw", true, "\"sw\" removed"},
	{"insert sw; remove sw; insert sw; nodes sw", true, "\"sw\"\n"},
	{"mute a; nodes a", true, "\"a\" mute"},
	{"unmute a", true, NULL},
	{"mute a; unmute a; nodes a", true, "\"a\"\n"},
	{"hang a; nodes a", true, "\"a\" mute hung"},
	{"hang a off; nodes a", true, "\"a\"\n"},
	{"stubborn a; nodes a", true, "\"a\" stubborn"},
	{"stubborn a off; nodes a", true, "\"a\"\n"},
	{"guid a 0x77; nodes a", true, "0x0000000000000077"},
	{"describe a 'new name; of it'; nodes new*", true, "\"new name; of it\""},
	{"describe a 01234567890123456789012345678901234567890123456789012345678901234", false,
	 "at most 64 octets"},
	{"trap a 1 144", true, NULL},
	{"trap a 1 130", true, NULL},
	{"unlink a 1; trap a 1 144", false, "the port is not ACTIVE"},
	{"loss 0.25", true, NULL},
	{"loss 1.5", false, "'1.5' is not a probability"},
	{"loss nan", false, "is not a probability"},
	{"duplicate 0.5", true, NULL},
	{"corrupt 1e-3", true, NULL},
	{"delay 1000 500", true, NULL},
	{"delay 1000", true, NULL},
	{"delay fast", false, "'fast' is not a number"},
	{"loss", false, "usage: loss P"},
	{"loss 0 0", false, "usage: loss P"},
	{"", true, NULL},
	{" ; \n;# a remark", true, NULL},
	{"bogus", false, "bogus: unknown command"},
	{"'nodes", false, "matching quote"},
	{"bogus; quit", false, "bogus"},
	{"quit", true, NULL},
};

START_TEST(test_commands)
{
	g_autoptr(GString) out = g_string_new(NULL);
	bool done = console_run(net->server, commands[_i].text, out);

	ck_assert_msg(done == commands[_i].done, "%s: %s", commands[_i].text, out->str);
	if (commands[_i].says)
		ck_assert_msg(strstr(out->str, commands[_i].says) != NULL, "%s: %s",
			      commands[_i].text, out->str);
	else
		ck_assert_str_eq(out->str, "");
	ck_assert(net->server->quit == !strcmp(commands[_i].text, "quit"));
	osmsim_net_run_ms(net, 1);
}
END_TEST

/* All commands were tried above. */
START_TEST(test_all_tried)
{
	static const char *const names[] = {
#define COMMAND(name, least, most, arguments, help) #name,
#define ALIAS(alias, name)
#include "libvendor/osmsim/commands.def"
	};

	for (unsigned int i = 0; i < G_N_ELEMENTS(names); i++) {
		bool tried = false;

		for (unsigned int j = 0; j < G_N_ELEMENTS(commands) && !tried; j++)
			tried = commands[j].done &&
				!g_ascii_strncasecmp(commands[j].text, names[i], strlen(names[i]));
		ck_assert_msg(tried, "%s is not tried", names[i]);
	}
}
END_TEST

/* The page has an entry for each. */
START_TEST(test_man_page)
{
	static const char *const names[] = {
#define COMMAND(name, least, most, arguments, help) #name,
#define ALIAS(alias, name) #alias,
#include "libvendor/osmsim/commands.def"
	};
	const char *top = g_getenv("top_srcdir");
	g_autofree char *file = g_build_filename(top ? top : ".", "man", "osmsim.1", NULL);
	g_autofree char *page = NULL;

	ck_assert_msg(g_file_get_contents(file, &page, NULL, NULL), "%s cannot be read", file);
	for (unsigned int i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *pattern = g_strdup_printf("(?m)^\\.B[IR]? .*\\b%s\\b", names[i]);

		ck_assert_msg(g_regex_match_simple(pattern, page, 0, 0), "%s is not told",
			      names[i]);
	}
}
END_TEST

START_TEST(test_effects)
{
	g_autoptr(GString) out = g_string_new(NULL);

	ck_assert(console_run(net->server, "loss 0.25; duplicate 0.5; corrupt 0.125; delay 7 3",
			      out));
	ck_assert_double_eq(net->sim->config.loss, 0.25);
	ck_assert_double_eq(net->sim->config.duplicate, 0.5);
	ck_assert_double_eq(net->sim->config.corrupt, 0.125);
	ck_assert_uint_eq(net->sim->config.hop_ns, 7);
	ck_assert_uint_eq(net->sim->config.jitter_ns, 3);
	ck_assert(console_run(net->server, "loss 0; duplicate 0; corrupt 0; delay 0", out));
	ck_assert(console_run(net->server, "trap b 1 144", out));
	osmsim_net_run_ms(net, 5);
	ck_assert_uint_eq(net->sim->counters.traps, 1);
}
END_TEST

/* Over the socket, while programs are connected. */
START_TEST(test_from_outside)
{
	static const struct {
		const char *text;
		int value;
		const char *says;
	} asked[] = {
		{"clients", 0, "process 77 on \"a\" port 1: 0 MADs sent"},
		{"clients", 0, "agent  0 class 0x04 version 1 QP1"},
		{"nodes; bogus; nodes", -EINVAL, "bogus: unknown command"},
	};
	struct program program;

	program_start(&program, net, "a");
	ck_assert_int_eq(program_agent(&program, IBA_CLASS_PERF, 0, IBA_METHOD_GET), 0);
	for (unsigned int i = 0; i < G_N_ELEMENTS(asked); i++) {
		struct osmsim_result result;
		struct frame frame;

		net_put(net, program.control, OSMSIM_COMMAND, asked[i].text, strlen(asked[i].text));
		frame = net_get(net, program.control);
		ck_assert_uint_eq(frame.type, OSMSIM_COMMAND);
		ck_assert_int_ge(frame.length, sizeof(result));
		memcpy(&result, frame.data, sizeof(result));
		frame.data[frame.length] = '\0';
		ck_assert_int_eq(result.value, asked[i].value);
		ck_assert_ptr_nonnull(strstr((char *)frame.data + sizeof(result), asked[i].says));
		g_free(frame.data);
	}
	program_end(&program);
}
END_TEST

/* From a descriptor, line by line; the last need not end. */
START_TEST(test_typed)
{
	struct console *console;
	int ends[2];

	ck_assert_int_eq(pipe(ends), 0);
	console = console_new(net->server, ends[0], false);
	ck_assert_int_eq(write(ends[1], "mute a\nbogus\nmu", 15), 15);
	osmsim_net_run_ms(net, 5);
	ck_assert(net->sim->nodes[0].mute);
	ck_assert(!net->sim->nodes[1].mute);
	ck_assert_int_eq(write(ends[1], "te b", 4), 4);
	close(ends[1]);
	osmsim_net_run_ms(net, 5);
	ck_assert(net->sim->nodes[1].mute);
	ck_assert(!net->server->quit);
	console_free(console);
	close(ends[0]);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("osmsim_console");
	TCase *tcase = tcase_create("all");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, test_commands, 0, G_N_ELEMENTS(commands));
	tcase_add_test(tcase, test_all_tried);
	tcase_add_test(tcase, test_man_page);
	tcase_add_test(tcase, test_effects);
	tcase_add_test(tcase, test_from_outside);
	tcase_add_test(tcase, test_typed);
	suite_add_tcase(suite, tcase);
	return suite;
}
