// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <check.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/qos/qos_file_private.h"
#include "tests/run_suite.h"

#define LEVELS                                                                                     \
	"qos-levels\n"                                                                             \
	"  qos-level\n    name: DEFAULT\n    sl: 3\n  end-qos-level\n"                             \
	"  qos-level\n    name: Fast\n    use: anything\n    sl: 5\n    mtu-limit: 4\n"            \
	"    rate-limit: 6\n    packet-life: 9\n    path-bits: 0-1,3\n    pkey: 0x9234\n"          \
	"  end-qos-level\nend-qos-levels\n"
#define GROUPS                                                                                     \
	"port-groups\n"                                                                            \
	"  port-group # targets\n    name: Storage\n    use: SRP Targets\n"                        \
	"    port-guid: 0x10, 0x20-0x2F\n    port-guid: 99\n  end-port-group\n"                    \
	"  port-group\n    name: Virtual Servers\n    port-name: vs1 HCA-1/P1, vs2 HCA-1/P2\n"     \
	"    partition: Part1\n    pkey: 0x8001-0x8003\n    node-type: CA, self\n"                 \
	"  end-port-group\nend-port-groups\n"

static struct qos_policy *parse(const char *text)
{
	g_autoptr(GError) error = NULL;
	struct qos_policy *policy = qos_policy_parse("qos.conf", text, &error);

	ck_assert_msg(policy, "%s", error ? error->message : "no error");
	return policy;
}

static void refused(const char *text, const char *why)
{
	GError *error = NULL;
	const char *more;

	ck_assert_ptr_null(qos_policy_parse("qos.conf", text, &error));
	ck_assert_msg(strstr(error->message, why), "'%s' for:\n%s", error->message, text);
	more = strchr(error->message, '\n'); /* except that the text is cut off there */
	ck_assert_msg(!more || strstr(more, ":1: found 'the end of the file', expected end-"),
		      "'%s' for:\n%s", error->message, text);
	g_error_free(error);
}

/* ---- queries ---- */

struct ask {
	int source, destination; /* group of the end, or -1 */
	struct qos_query query;
};

static bool is_in(void *arg, unsigned int group, bool destination)
{
	const struct ask *ask = arg;

	return (int)group == (destination ? ask->destination : ask->source);
}

static const struct qos_level *level(const struct qos_policy *policy, struct ask ask)
{
	ask.query.is_in = is_in;
	ask.query.arg = &ask;
	return qos_policy_level(policy, &ask.query);
}
#define NOWHERE .source = -1, .destination = -1
#define LEVEL(...) level(policy, (struct ask){__VA_ARGS__})

/* ---- tests ---- */

START_TEST(groups_and_levels)
{
	struct qos_policy *policy = parse(GROUPS LEVELS);
	const struct qos_group *storage = policy->groups->pdata[0];
	const struct qos_group *servers = policy->groups->pdata[1];
	const struct qos_level *fast = policy->levels->pdata[1];

	ck_assert_uint_eq(policy->groups->len, 2);
	ck_assert_str_eq(storage->name, "Storage");
	ck_assert(qos_ranges_have(storage->guids, 0x10));
	ck_assert(qos_ranges_have(storage->guids, 0x2F));
	ck_assert(qos_ranges_have(storage->guids, 99));
	ck_assert(!qos_ranges_have(storage->guids, 0x30));
	ck_assert_str_eq(servers->ports->pdata[1], "vs2 HCA-1/P2");
	ck_assert_str_eq(servers->partitions->pdata[0], "Part1");
	ck_assert(qos_ranges_have(servers->p_keys, 2));
	ck_assert_uint_eq(servers->types, 1u << 1);
	ck_assert(servers->self);
	ck_assert_uint_eq(fast->sl, 5);
	ck_assert_uint_eq(fast->mtu, 4);
	ck_assert_uint_eq(fast->rate, 6);
	ck_assert_uint_eq(fast->life, 9);
	ck_assert_uint_eq(fast->p_key, 0x1234);
	ck_assert(qos_ranges_have(fast->path_bits, 3));
	ck_assert(!qos_ranges_have(fast->path_bits, 2));
	ck_assert_uint_eq(LEVEL(NOWHERE)->sl, 3);
	qos_policy_unref(policy);
}
END_TEST

/* Rules in their order; every condition of a rule must hold, and be part of the query. */
START_TEST(rules)
{
	struct qos_policy *policy =
		parse(GROUPS LEVELS
		      "qos-match-rules\n"
		      " qos-match-rule\n  qos-class: 7-9,11\n  destination: Storage\n"
		      "  qos-level-name: Fast\n end-qos-match-rule\n"
		      " qos-match-rule\n  use: by P_Key\n  pkey: 0x0F00-0x0FFF\n"
		      "  source: Virtual Servers, Storage\n  qos-level-name: DEFAULT\n"
		      " end-qos-match-rule\n"
		      " qos-match-rule\n  service-id: 0x10000000000001\n  qos-level-name: Fast\n"
		      " end-qos-match-rule\n"
		      "end-qos-match-rules\n");

	ck_assert_uint_eq(
		LEVEL(.source = -1, .destination = 0, .query = {.has_class = true, .qos_class = 8})
			->sl,
		5);
	ck_assert_uint_eq(
		LEVEL(.source = -1, .destination = 0, .query = {.has_class = true, .qos_class = 10})
			->sl,
		3);
	ck_assert_uint_eq(LEVEL(.source = -1, .destination = 0)->sl, 3); /* not part of the query */
	ck_assert_uint_eq(
		LEVEL(.source = 0, .destination = -1, .query = {.has_class = true, .qos_class = 8})
			->sl,
		3);
	ck_assert_uint_eq(LEVEL(.source = 0, .destination = -1,
				.query = {.has_p_key = true,
					  .p_key = 0x8F01,
					  .has_service = true,
					  .service_id = 0x10000000000001})
				  ->sl,
			  3);
	ck_assert_uint_eq(
		LEVEL(NOWHERE, .query = {.has_service = true, .service_id = 0x10000000000001})->sl,
		5);
	qos_policy_unref(policy);
}
END_TEST

START_TEST(short_form)
{
	struct qos_policy *policy = parse("qos-ulps\n"
					  "default : 0 # of all others\n"
					  "sdp, port-num 30000 : 1\n"
					  "sdp, port-num 10000-20000 , 9: 2\n"
					  "sdp : 3\n"
					  "rds:4\n"
					  "iser, port-num 900 : 5\n"
					  "iser : 6\n"
					  "ipoib, pkey 0x0001 : 7\n"
					  "ipoib : 8\n"
					  "any, service-id 0x6234 : 9\n"
					  "any, pkey 0x0ABC : 10\n"
					  "srp, target-port-guid 0x1234 : 11\n"
					  "any, source-port-guid 0x5678 : 12\n"
					  "any, source-target-port-guid 0x9abcd : 13\n"
					  "end-qos-ulps\n");

	ck_assert_uint_eq(LEVEL(NOWHERE)->sl, 0);
#define SERVICE(id) LEVEL(NOWHERE, .query = {.has_service = true, .service_id = id})->sl
	ck_assert_uint_eq(SERVICE(0x10000 + 30000), 1);
	ck_assert_uint_eq(SERVICE(0x10000 + 20000), 2);
	ck_assert_uint_eq(SERVICE(0x10000 + 9), 2);
	ck_assert_uint_eq(SERVICE(0x10000 + 20001), 3);
	ck_assert_uint_eq(SERVICE(0x10648CA), 4);
	ck_assert_uint_eq(SERVICE(0x1060000 + 900), 5);
	ck_assert_uint_eq(SERVICE(0x1060CBC), 6);
	ck_assert_uint_eq(SERVICE(0x6234), 9);
	ck_assert_uint_eq(SERVICE(0x20000), 0);
#define P_KEY(key) LEVEL(NOWHERE, .query = {.has_p_key = true, .p_key = key})->sl
	ck_assert_uint_eq(P_KEY(0x8001), 7);
	ck_assert_uint_eq(P_KEY(0xFFFF), 8);
	ck_assert_uint_eq(P_KEY(0x0ABC), 10);
	ck_assert_uint_eq(LEVEL(.source = -1, .destination = 0)->sl, 11);
	ck_assert_uint_eq(LEVEL(.source = 1, .destination = -1)->sl, 12);
	ck_assert_uint_eq(LEVEL(.source = 2, .destination = -1)->sl, 13);
	ck_assert_uint_eq(LEVEL(.source = -1, .destination = 2)->sl, 13);
	qos_policy_unref(policy);
}
END_TEST

/* The long form has priority over the short one, wherever they are; so has its default. */
START_TEST(both_forms)
{
	struct qos_policy *policy =
		parse("qos-ulps\ndefault: 9\nany, pkey 1: 8\nend-qos-ulps\n" LEVELS
		      "qos-match-rules\nqos-match-rule\npkey: 1\nqos-level-name: Fast\n"
		      "end-qos-match-rule\nend-qos-match-rules\n");

	ck_assert_uint_eq(P_KEY(1), 5);
	ck_assert_uint_eq(LEVEL(NOWHERE)->sl, 3);
	qos_policy_unref(policy);
}
END_TEST

#define SETUP(scopes) GROUPS "qos-setup\n" scopes "end-qos-setup\n" LEVELS
#define VLARB(lines) "vlarb-tables\nvlarb-scope\n" lines "end-vlarb-scope\nend-vlarb-tables\n"
#define SL2VL(lines) "sl2vl-tables\nsl2vl-scope\n" lines "end-sl2vl-scope\nend-sl2vl-tables\n"
#define VLS "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"

START_TEST(read_scopes)
{
	struct qos_policy *policy =
		parse(SETUP(VLARB("group: Storage\nacross: *\nvlarb-high: 0:255, 1:4\n"
				  "vlarb-high: 14:0x10\nvlarb-low: 2:3\nvl-high-limit: 255\n")
				    SL2VL("group: *\nacross-from: Storage\nacross-to: Storage, "
					  "Virtual Servers\nfrom: 1-3,7\nfrom: 9\nto: *\n"
					  "sl2vl-table: " VLS "\n")));
	const struct qos_scope *vlarb = policy->scopes->pdata[0];
	const struct qos_scope *sl2vl = policy->scopes->pdata[1];

	ck_assert_uint_eq(policy->scopes->len, 2);
	ck_assert_uint_eq(policy->warnings->len, 0);
	ck_assert_uint_eq(vlarb->sets, QOS_SETS_HIGH | QOS_SETS_LOW | QOS_SETS_LIMIT);
	ck_assert_uint_eq(vlarb->line, 18);
	ck_assert_uint_eq(vlarb->group.groups->len, 1);
	ck_assert(vlarb->across.all && !vlarb->group.all);
	ck_assert_uint_eq(vlarb->n_high, 3);
	ck_assert_uint_eq(vlarb->high[2].vl, 14);
	ck_assert_uint_eq(vlarb->high[2].weight, 16);
	ck_assert_uint_eq(vlarb->low[0].weight, 3);
	ck_assert_uint_eq(vlarb->limit, 255);
	ck_assert_uint_eq(sl2vl->sets, QOS_SETS_SL2VL);
	ck_assert_uint_eq(sl2vl->across_to.groups->len, 2);
	ck_assert(sl2vl->from[1] && sl2vl->from[7] && sl2vl->from[9] && !sl2vl->from[4]);
	ck_assert(!sl2vl->from[0] && sl2vl->to[0] && sl2vl->to[254]);
	ck_assert_uint_eq(sl2vl->vl[15], 15);
	qos_policy_unref(policy);
}
END_TEST

START_TEST(wrong_scopes)
{
	refused("qos-setup\n whatever: 1\n",
		"qos.conf:2:2: found 'whatever', expected vlarb-tables");
	refused("qos-setup\nvlarb-scope\n", "qos.conf:2:1: found 'vlarb-scope'");
	refused(SETUP(VLARB("vlarb-low: 0:1\n")), "expected group: or across: in this vlarb-scope");
	refused(SETUP(SL2VL("sl2vl-table: " VLS "\n")), "expected group: or across: in this sl2vl");
	refused(SETUP(SL2VL("group: *\n")), "expected sl2vl-table: in this sl2vl-scope");
	refused(SETUP(SL2VL("group: *\nsl2vl-table: 1,2\n")), "expected 16 VLs");
	refused(SETUP(SL2VL("group: *\nsl2vl-table: " VLS ",0\n")), "expected 16 VLs");
	refused(SETUP(SL2VL("sl2vl-table: 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,16\n")), "'16'");
	refused(SETUP(SL2VL("sl2vl-table: " VLS "\nsl2vl-table: " VLS "\n")), "one sl2vl-table");
	refused(SETUP(SL2VL("from: 255\n")), "found '255'");
	refused(SETUP(SL2VL("to: 3-x\n")), "found '3-x'");
	refused(SETUP(SL2VL("vlarb-low: 0:1\n")), "found 'vlarb-low'");
	refused(SETUP(VLARB("across-to: *\n")), "found 'across-to'");
	refused(SETUP(VLARB("vlarb-low: 15:1\n")), "a VL from 0 to 14");
	refused(SETUP(VLARB("vlarb-low: 0:256\n")), "a weight from 0 to 255");
	refused(SETUP(VLARB("vlarb-low: 3\n")), "found '3', expected VL:WEIGHT");
	refused(SETUP(VLARB("vlarb-low:\n")), "found 'nothing'");
	refused(SETUP(VLARB("vl-high-limit: 256\n")), "found '256'");
	refused(SETUP(VLARB("vl-high-limit: 1\nvl-high-limit: 1\n")), "one vl-high-limit");
	refused(SETUP(VLARB("vl-high-limit: 1\nvlarb-high-limit: 1\n")), "one vlarb-high-limit");
}
END_TEST

/* A range across the membership bit continues at 0; levels of the short form have no names. */
START_TEST(odd_ones)
{
	struct qos_policy *policy =
		parse("qos-levels\nqos-level\nname: SL 3\nsl: 5\nend-qos-level\n"
		      "qos-level\nname: DEFAULT\nsl: 0\nend-qos-level\nend-qos-levels\n"
		      "qos-ulps\nsdp: 3\nany, pkey 0x7ff0-0x8002: 4\nany, pkey 0x8010-0x8011: 6\n"
		      "end-qos-ulps\n");

	ck_assert_uint_eq(SERVICE(0x10000), 3);
	ck_assert_uint_eq(P_KEY(0x7FF1), 4);
	ck_assert_uint_eq(P_KEY(0x8001), 4);
	ck_assert_uint_eq(P_KEY(3), 0);
	ck_assert_uint_eq(P_KEY(0x11), 6);
	qos_policy_unref(policy);
}
END_TEST

/* A list continues after or before a comma, in the next line; but texts for people end there. */
START_TEST(lists_over_lines)
{
	struct qos_policy *policy =
		parse("port-groups\nport-group\nuse: a,\nname: A\nport-guid: 1, # one\n\t2\n"
		      "# more\n\n , 4-5\nend-port-group\nend-port-groups\nqos-ulps\nDefault: 1\n"
		      "SDP,\tport-num 7 : 2\nAny , service-id 1,\n3: 3\nend-qos-ulps\n");
	const struct qos_group *group = policy->groups->pdata[0];

	ck_assert_str_eq(group->name, "A");
	ck_assert_uint_eq(group->guids->len, 3);
	ck_assert(qos_ranges_have(group->guids, 2) && qos_ranges_have(group->guids, 5));
	ck_assert_uint_eq(SERVICE(0x10007), 2);
	ck_assert_uint_eq(SERVICE(3), 3);
	ck_assert_uint_eq(SERVICE(2), 1);
	qos_policy_unref(policy);
	refused("port-groups\nport-group\nport-guid: 1,\n2,\n3, x\n", "qos.conf:5:4: found 'x'");
	refused("port-groups\nport-group\nport-guid: 1,\n", "qos.conf:3:1: found ''");
	refused("port-groups\nport-group\nport-guid: 1,\n\n2\nx: 1\n", "qos.conf:6:1: found 'x'");
}
END_TEST

/* ---- accepted by the classic, too ---- */

static struct qos_policy *parse_with_warning(const char *text, const char *warning)
{
	struct qos_policy *policy = parse(text);

	ck_assert_uint_eq(policy->warnings->len, 1);
	ck_assert_str_eq(policy->warnings->pdata[0], warning);
	return policy;
}

/* Of two with one name the first counts. */
START_TEST(names_used_twice)
{
	struct qos_policy *policy = parse_with_warning(
		"port-groups\nport-group\nname: A\nport-guid: 1\nend-port-group\n"
		"port-group\nname: A\nport-guid: 2\nend-port-group\nend-port-groups\n" LEVELS
		"qos-match-rules\nqos-match-rule\nsource: A\nqos-level-name: Fast\n"
		"end-qos-match-rule\nend-qos-match-rules\n",
		"qos.conf:7: 'A' is also the name of an earlier group, which is used");

	ck_assert_uint_eq(LEVEL(.source = 0, .destination = -1)->sl, 5);
	ck_assert_uint_eq(LEVEL(.source = 1, .destination = -1)->sl, 3);
	qos_policy_unref(policy);
	policy = parse_with_warning(
		LEVELS "qos-levels\nqos-level\nname: DEFAULT\nsl: 7\nend-qos-level\n"
		       "end-qos-levels\n",
		"qos.conf:19: 'DEFAULT' is also the name of an earlier level, which is used");
	ck_assert_uint_eq(LEVEL(NOWHERE)->sl, 3);
	qos_policy_unref(policy);
}
END_TEST

/* The last default, but the first of other rules. */
START_TEST(short_form_twice)
{
	struct qos_policy *policy =
		parse_with_warning("qos-ulps\ndefault: 1\nsdp: 2\nend-qos-ulps\n"
				   "qos-ulps\nsdp: 3\nDefault: 4\nend-qos-ulps\n",
				   "qos.conf:7: 'default' is set twice: this line is used, SL 4");

	ck_assert_uint_eq(LEVEL(NOWHERE)->sl, 4);
	ck_assert_uint_eq(SERVICE(0x10005), 2);
	qos_policy_unref(policy);
}
END_TEST

START_TEST(ranges_downwards)
{
	struct qos_policy *policy =
		parse_with_warning("qos-ulps\ndefault: 0\nsdp, port-num 3, 10-7: 1\nend-qos-ulps\n",
				   "qos.conf:3: '10-7' is taken for 0x7-0xa");

	ck_assert_uint_eq(SERVICE(0x10007), 1);
	ck_assert_uint_eq(SERVICE(0x1000A), 1);
	ck_assert_uint_eq(SERVICE(0x10006), 0);
	ck_assert_uint_eq(SERVICE(0x1000B), 0);
	qos_policy_unref(policy);
	policy = parse_with_warning("qos-ulps\ndefault: 0\nany, pkey 0x0FFF-0x0FF2: 1\n"
				    "end-qos-ulps\n",
				    "qos.conf:3: '0x0FFF-0x0FF2' is taken for 0xff2-0xfff");
	ck_assert_uint_eq(P_KEY(0x8FF2), 1);
	ck_assert_uint_eq(P_KEY(0x9000), 0);
	qos_policy_unref(policy);
	policy = parse_with_warning(SETUP(SL2VL("group: *\nto: 3-1\nsl2vl-table: " VLS "\n")),
				    "qos.conf:20: '3-1' is taken for 0x1-0x3");
	ck_assert(((struct qos_scope *)policy->scopes->pdata[0])->to[2]);
	ck_assert(!((struct qos_scope *)policy->scopes->pdata[0])->to[0]);
	qos_policy_unref(policy);
}
END_TEST

/* Scopes of a missing group: they have no ports. Rules must have their groups: see mistakes. */
START_TEST(scopes_of_nobody)
{
	struct qos_policy *policy =
		parse_with_warning(SETUP(VLARB("across: Nobody, Storage\nvlarb-low: 0:1\n")),
				   "qos.conf:19: there is no group 'Nobody': the scope gets no "
				   "ports from it");
	const struct qos_scope *scope = policy->scopes->pdata[0];

	ck_assert_uint_eq(scope->across.groups->len, 2);
	ck_assert_int_eq(g_array_index(scope->across.groups, int, 1), 0);
	ck_assert_str_eq(((struct qos_group *)policy->groups->pdata[2])->name, "Nobody");
	qos_policy_unref(policy);
	refused(SETUP(VLARB("across: Nobody\nvlarb-low: 0:1\n"))
			"qos-match-rules\nqos-match-rule\nsource: Nobody\nqos-level-name: Fast\n"
			"end-qos-match-rule\nend-qos-match-rules\n",
		"found 'Nobody', expected the name of a group");
}
END_TEST

/* A file full of these does not give as many warnings. */
START_TEST(few_warnings)
{
	g_autoptr(GString) text = g_string_new("qos-ulps\ndefault: 0\nany, service-id 1");
	struct qos_policy *policy;

	for (unsigned int i = 0; i < 1000; i++)
		g_string_append(text, ",2-1");
	g_string_append(text, ": 1\nend-qos-ulps\n");
	policy = parse(text->str);
	ck_assert_uint_eq(policy->warnings->len, 101);
	ck_assert_str_eq(policy->warnings->pdata[100],
			 "qos.conf: there are more warnings of this kind");
	qos_policy_unref(policy);
}
END_TEST

/* ---- the manual ---- */

static char *read_page(const char *name)
{
	const char *top = g_getenv("top_srcdir");
	g_autofree char *path = g_build_filename(top ? top : ".", name, NULL);
	char *text = NULL;

	ck_assert(g_file_get_contents(path, &text, NULL, NULL));
	return text;
}

static void page_has(const char *page, const char *format, const char *word)
{
	g_autofree char *text = g_strdup_printf(format, word);

	ck_assert_msg(strstr(page, text), "the page lacks '%s'", text);
}

static const char *const whos[] = {"default", "sdp", "rds", "iser", "srp", "ipoib", "any"};

/* Each section and keyword is there; the manual's examples and the sample are good. */
START_TEST(manual)
{
	g_autofree char *page = read_page("man/qos-policy.conf.5");
	g_autofree char *sample = read_page("config/samples/qos-policy.conf");
	g_auto(GStrv) parts = g_strsplit(page, ".Bd -literal\n", -1);

	for (unsigned int i = TOP + 1; i < N_SECTIONS; i++)
		page_has(page, "%s", qos_section_name(i));
	for (unsigned int i = 0; qos_keyword(i); i++)
		page_has(page, ".It Cm %s :", qos_keyword(i));
	for (unsigned int i = 0; i < G_N_ELEMENTS(whos); i++)
		page_has(page, ".It Cm %s", whos[i]);
	ck_assert_uint_eq(g_strv_length(parts), 3);
	for (unsigned int i = 1; parts[i]; i++) {
		char *end = strstr(parts[i], ".Ed");

		ck_assert_ptr_nonnull(end);
		*end = '\0';
		qos_policy_unref(parse(parts[i]));
	}
	/* remarks have a blank after their sign, usable lines have none */
	for (char *c = sample; *c; c++)
		if (*c == '#' && (c == sample || c[-1] == '\n') && c[1] != ' ')
			*c = ' ';
	qos_policy_unref(parse(sample));
}
END_TEST

/* Complaints of man(1) about it. */
START_TEST(manual_is_well_formed)
{
	const char *top = g_getenv("top_srcdir");
	g_autofree char *path = g_build_filename(top ? top : ".", "man/qos-policy.conf.5", NULL);
	g_autofree char *man = g_find_program_in_path("man");
	const char *argv[] = {man, "--warnings", "-E", "UTF-8", "-l", path, NULL};
	g_autofree char *out = NULL, *wrong = NULL;

	if (!man)
		return;
	ck_assert(g_spawn_sync(NULL, (char **)argv, NULL, 0, NULL, NULL, &out, &wrong, NULL, NULL));
	ck_assert_msg(!*wrong, "%s", wrong);
	ck_assert_ptr_nonnull(strstr(out, "SEE ALSO"));
}
END_TEST

/* The result of a hostile file is bounded. */
START_TEST(bounds)
{
	g_autoptr(GString) entries = g_string_new("group: *\nvlarb-low: 0:1");
	g_autoptr(GString) scopes = g_string_new("qos-setup\nvlarb-tables\n");
	g_autofree char *text = NULL;

	for (unsigned int i = 0; i < QOS_ARB_ENTRIES; i++)
		g_string_append(entries, ",1:1");
	text = g_strdup_printf("qos-setup\nvlarb-tables\nvlarb-scope\n%s\n", entries->str);
	refused(text, "expected at most 64 entries");
	for (unsigned int i = 0; i <= QOS_SCOPES_MAX; i++)
		g_string_append(scopes, "vlarb-scope\ngroup: *\nend-vlarb-scope\n");
	refused(scopes->str, "expected at most 256 scopes");
	g_string_assign(scopes, "qos-ulps\n");
	for (unsigned int i = 0; i <= QOS_GROUPS_MAX; i++)
		g_string_append(scopes, i % 2 ? "any, source-port-guid 1: 1\n" : "sdp: 1\n");
	refused(scopes->str, "expected at most 4096 rules");
	g_string_assign(scopes, "port-groups\n");
	for (unsigned int i = 0; i <= QOS_GROUPS_MAX; i++)
		g_string_append_printf(scopes, "port-group\nname: %u\nend-port-group\n", i);
	refused(scopes->str, "expected at most 4096 groups");
}
END_TEST

START_TEST(same)
{
	struct qos_policy *a = parse(LEVELS), *b = parse(LEVELS), *c = parse(LEVELS "#\n");

	ck_assert(qos_policy_same(a, b));
	ck_assert(!qos_policy_same(a, c));
	qos_policy_unref(c);
	c = qos_policy_load(NULL, NULL);
	ck_assert(!qos_policy_same(a, c) && qos_policy_same(c, c));
	qos_policy_unref(a);
	qos_policy_unref(b);
	qos_policy_unref(c);
}
END_TEST

/* As if there were no file: the sample has only comments. */
START_TEST(nothing_said)
{
	static const char *const texts[] = {"", "\n", "# nothing\n\n\t # more"};

	for (unsigned int i = 0; i < G_N_ELEMENTS(texts); i++) {
		struct qos_policy *policy = parse(texts[i]);

		ck_assert_uint_eq(policy->levels->len, 1);
		ck_assert_uint_eq(policy->fallback, 0);
		ck_assert_uint_eq(policy->rules->len, 0);
		qos_policy_unref(policy);
	}
}
END_TEST

START_TEST(mistakes)
{
	refused("port-groups\nend-port-groups\n",
		"qos.conf:3:1: found 'the end of the file', expected a qos-level named DEFAULT");
	refused("nonsense\n", "qos.conf:1:1: found 'nonsense', expected port-groups");
	refused("qos-levels\n", "expected end-qos-levels (it begins in line 1)");
	refused("qos-level\n", "qos.conf:1:1: found 'qos-level'");
	refused("qos-levels\nqos-level\nname: A\nname: B\n", "qos.conf:4:7: found 'B', expected");
	refused("qos-levels\nqos-level\nname: A\nsl: 16\n", "qos.conf:4:5: found '16'");
	refused("qos-levels\nqos-level\nname: A\nsl: -1\n", "found '-1'");
	refused("qos-levels\nqos-level\nname: A\nend-qos-level\n",
		"expected sl: in this qos-level");
	refused("qos-levels\nqos-level\nsl: 1\nend-qos-level\n", "expected name: in this");
	refused("qos-levels\nqos-level\nmtu-limit: 6\n",
		"found '6', expected a number from 1 to 5");
	refused("qos-levels\nqos-level\nmtu-limit: 0\n", "found '0'");
	refused("qos-levels\nqos-level\nrate-limit: 1\n", "found '1'");
	refused("qos-levels\nqos-level\n rate-limit: 63\n",
		"qos.conf:3:14: found '63', expected the code of a rate");
	refused("qos-levels\nqos-level\nsl: 1\nsl: 1\n", "expected one such line");
	refused("qos-match-rules\nqos-match-rule\nqos-class: 12,1,2-x\n", "qos.conf:3:17: found");
	refused("qos-levels\nqos-level\npkey: 0x8000\n", "expected a P_Key");
	refused("port-groups\nport-group\nport-guid: 1,,2\n", "qos.conf:3:1: found ''");
	refused("port-groups\nport-group\nport-guid: 5-\n", "found '5-'");
	refused("port-groups\nport-group\nport-guid: 0x10000000000000000\n", "found '0x1000");
	refused("port-groups\nport-group\nport-name: a\n", "expected NodeDescription/Pnumber");
	refused("port-groups\nport-group\nnode-type: HCA\n", "expected CA, SWITCH");
	refused(LEVELS "qos-match-rules\nqos-match-rule\nsource: Nobody\n"
		       "qos-level-name: Fast\nend-qos-match-rule\nend-qos-match-rules\n",
		"qos.conf:19:9: found 'Nobody', expected the name of a group");
	refused("qos-levels\nqos-level\nsl: 1\nsl: 2\n", "found '2', expected one such line");
	refused(LEVELS "qos-match-rules\nqos-match-rule\nqos-level-name: X\nend-qos-match-rule\n"
		       "end-qos-match-rules\n",
		"qos.conf:19:17: found 'X', expected the name of a qos-level");
	refused("qos-match-rules\nqos-match-rule\nend-qos-match-rule\n",
		"expected qos-level-name: in this");
	refused("qos-ulps\nsdp 3\n", "expected a rule, ':' and an SL");
	refused("qos-ulps\nsdp: 99\n", "found '99', expected an SL from 0 to 15");
	refused("qos-ulps\nnfs: 1\n", "found 'nfs'");
	refused("qos-ulps\nany: 1\n", "found 'any'");
	refused("qos-ulps\nsrp, pkey 1: 1\n", "expected a valid keyword after 'srp'");
	refused("qos-ulps\nsdp, port-num 65536: 1\n", "found '65536'");
	refused("qos-ulps\nsdp, port-num: 1\n", "found 'nothing'");
	refused("end-qos-ulps\n",
		"found 'end-qos-ulps', expected port-groups, qos-setup, qos-levels,"
		" qos-match-rules or qos-ulps");
	refused("qos-levels\nqos-level\nlimit: 1\n",
		"qos.conf:3:1: found 'limit', expected name:, use:, sl:, mtu-limit:, rate-limit:,"
		" packet-life:, path-bits:, pkey: or end-qos-level (which line 2 began)");
	refused("port-groups\nport-groups\n",
		"expected port-group or end-port-groups (which line 1 began)");
}
END_TEST

START_TEST(files)
{
	g_autofree char *directory = g_dir_make_tmp("qos-XXXXXX", NULL);
	g_autofree char *file = g_build_filename(directory, "qos.conf", NULL);
	GError *error = NULL;
	struct qos_policy *policy = qos_policy_load(file, &error);

	ck_assert_ptr_nonnull(policy); /* there is none */
	ck_assert(!LEVEL(NOWHERE)->has_sl);
	qos_policy_unref(policy);
	ck_assert(g_file_set_contents(file, "qos-ulps\ndefault: 3\nend-qos-ulps\n", -1, NULL));
	policy = qos_policy_load(file, &error);
	ck_assert(g_file_set_contents(file, "# qos-ulps\n", -1, NULL));
	qos_policy_unref(policy);
	policy = qos_policy_load(file, &error);
	ck_assert(policy->is_there && !policy->text);
	qos_policy_unref(policy);
	ck_assert(g_file_set_contents(file, "qos-ulps\n\0\n", 11, NULL));
	ck_assert_ptr_null(qos_policy_load(file, &error));
	ck_assert_ptr_nonnull(strstr(error->message, "zero octet"));
	g_clear_error(&error);
	ck_assert_ptr_null(qos_policy_load(directory, &error));
	ck_assert(g_error_matches(error, QOS_FILE_ERROR, QOS_FILE_ERROR_READ));
	g_clear_error(&error);
	g_remove(file);
	g_rmdir(directory);
}
END_TEST

static void refused_file(const char *file, const char *why)
{
	g_autoptr(GError) error = NULL;

	ck_assert_ptr_null(qos_policy_load(file, &error));
	ck_assert_msg(strstr(error->message, why) && strstr(error->message, "/qos.conf"), "%s: %s",
		      why, error->message);
	ck_assert_int_eq(g_remove(file), 0);
}

static void write_octets(const char *file, const char *octets, gssize length)
{
	ck_assert(g_file_set_contents(file, octets, length, NULL));
}

/* None of these is read to its end, waited for, or accepted in part. */
START_TEST(bad_files)
{
	static const char whole[] = "qos-ulps\ndefault: 3\nsdp: 10\nend-qos-ulps";
	g_autofree char *directory = g_dir_make_tmp("qos-XXXXXX", NULL);
	g_autofree char *file = g_build_filename(directory, "qos.conf", NULL);
	g_autofree char *noise = g_malloc(100000);
	GRand *random = g_rand_new_with_seed(1);

	write_octets(file, "", 0);
	ck_assert_int_eq(truncate(file, INT64_C(10) << 30), 0); /* 10 GB of NULs on no disk */
	refused_file(file, "octets");
	ck_assert_int_eq(symlink("/dev/zero", file), 0);
	refused_file(file, "expected a regular file");
	ck_assert_int_eq(mkfifo(file, 0600), 0);
	refused_file(file, "expected a regular file");
	ck_assert_int_eq(symlink("qos.conf", file), 0);
	refused_file(file, "symbolic link");
	write_octets(file,
		     "\x7f"
		     "ELF\2\1\1\0\0",
		     9);
	refused_file(file, "zero octet");
	for (unsigned int i = 0; i < 100000; i++)
		noise[i] = (char)g_rand_int_range(random, 1, 256);
	write_octets(file, noise, 100000);
	refused_file(file, ":1:1: found");
	g_rand_free(random);
	for (size_t n = 1; n < sizeof(whole) - 1; n++) { /* half written */
		write_octets(file, whole, (gssize)n);
		refused_file(file, ", expected ");
	}
	if (geteuid() != 0) { /* root reads all */
		write_octets(file, whole, -1);
		ck_assert_int_eq(g_chmod(file, 0), 0);
		refused_file(file, "Permission denied");
	}
	ck_assert_int_eq(g_rmdir(directory), 0);
}
END_TEST

/* The places of all mistakes, "LINE:COLUMN" each. */
static char *places_of(const char *text)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(GString) places = g_string_new(NULL);
	g_auto(GStrv) lines = NULL;

	ck_assert_ptr_null(qos_policy_parse("qos.conf", text, &error));
	lines = g_strsplit(error->message, "\n", -1);
	for (unsigned int i = 0; lines[i]; i++) {
		const char *place = lines[i] + strlen("qos.conf:");

		g_string_append_printf(places, "%s%.*s", i ? " " : "",
				       (int)(strstr(place, ": ") - place), place);
	}
	return g_string_free(g_steal_pointer(&places), FALSE);
}

#define LEVEL_WITH(lines)                                                                          \
	"qos-levels\nqos-level\nname: DEFAULT\n" lines "end-qos-level\nend-qos-levels\n"
static const struct {
	const char *text, *places;
} all_mistakes[] = {
	/* values, in sections that lack only what was wrong */
	{LEVEL_WITH("sl: 16\nmtu-limit: 9\npkey: x\n"), "4:5 5:12 6:7"},
	{"port-groups\nport-group\nport-guid: x\nend-port-group\nport-group\nend-port-group\n"
	 "end-port-groups\nqos-ulps\nsdp: 16\nxyz: 1\nany, port-num 3: 1\nend-qos-ulps\n",
	 "3:12 6:1 9:6 10:1 11:6"},
	/* an unknown section, whatever is in it, with a good end or a wrong one */
	{"port-groups\nport-grop\nname: a\nuse: b\nend-port-grop\nport-group\nend-port-group\n"
	 "end-port-groups\n" LEVEL_WITH("sl: 17\n"),
	 "2:1 7:1 12:5"},
	{"qos-levls\nqos-level\nname: a\nsl: 99\nend-qos-level\nend-qos-levels\nqos-ulps\n"
	 "default: x\nend-qos-ulps\n",
	 "1:1 8:10"},
	/* an end that is missing, or misspelled */
	{"port-groups\nport-group\nname: a\nport-guid: 1\nport-group\nname: b\nport-guid: y\n"
	 "end-port-group\nend-port-groups\n" LEVEL_WITH("sl: 0\n"),
	 "5:1 7:12"},
	{"port-groups\nport-group\nname: a\nport-guid: 1\nend-port-grop\nend-port-groups\n"
	 LEVEL_WITH("sl: z\n"),
	 "5:1 10:5"},
	{"port-groups\nport-group\nname: a\nport-guid: 1\nend-port-groups\n" LEVEL_WITH("sl: z\n"),
	 "5:1 9:5"},
	{"port-groups\nport-group\nname: a\nport-guid: 1\n", "5:1"},
	/* a superfluous word */
	{"nonsense\n" LEVEL_WITH("sl: 0\nsl 3\n"), "1:1 6:1"},
	{"end-port-groups\n" LEVEL_WITH("sl: -1\n"), "1:1 5:5"},
	/* missing names, except those that a mistake hides */
	{LEVEL_WITH("sl: 0\n") "qos-match-rules\nqos-match-rule\nsource: a\nqos-level-name: b\n"
	 "end-qos-match-rule\nqos-match-rule\nqos-level-name: c\nend-qos-match-rule\n"
	 "end-qos-match-rules\n",
	 "9:9 10:17 13:17"},
	{LEVEL_WITH("sl: 99\n") "qos-match-rules\nqos-match-rule\nsource: a\nqos-level-name: b\n"
	 "end-qos-match-rule\nend-qos-match-rules\n",
	 "4:5 9:9"},
	{"nonsense\n", "1:1"},
};

/* One start reports them all, and none that only follows from them. */
START_TEST(test_all_mistakes)
{
	g_autofree char *places = places_of(all_mistakes[_i].text);

	ck_assert_msg(!strcmp(places, all_mistakes[_i].places), "%s for\n%s", places,
		      all_mistakes[_i].text);
}
END_TEST

/* Of very many some are reported, and quickly. */
START_TEST(test_many_mistakes)
{
	g_autoptr(GString) text = g_string_new("qos-ulps\n");
	g_autoptr(GError) error = NULL;

	for (unsigned int i = 0; i < 100000; i++)
		g_string_append(text, "any, xyz 1: 99\n");
	ck_assert_ptr_null(qos_policy_parse("qos.conf", text->str, &error));
	ck_assert(g_str_has_prefix(error->message, "qos.conf:2:13: found '99', "));
	ck_assert_msg(g_str_has_suffix(error->message, "\nqos.conf: 99981 more mistakes"), "%s",
		      error->message);
}
END_TEST

TEST_SUITE
{
	Suite *suite = suite_create("qos_file");
	TCase *tcase = tcase_create("qos_file");

	tcase_add_test(tcase, groups_and_levels);
	tcase_add_test(tcase, rules);
	tcase_add_test(tcase, short_form);
	tcase_add_test(tcase, both_forms);
	tcase_add_test(tcase, read_scopes);
	tcase_add_test(tcase, wrong_scopes);
	tcase_add_test(tcase, odd_ones);
	tcase_add_test(tcase, names_used_twice);
	tcase_add_test(tcase, short_form_twice);
	tcase_add_test(tcase, ranges_downwards);
	tcase_add_test(tcase, scopes_of_nobody);
	tcase_add_test(tcase, few_warnings);
	tcase_add_test(tcase, manual);
	tcase_add_test(tcase, manual_is_well_formed);
	tcase_add_test(tcase, lists_over_lines);
	tcase_add_test(tcase, bounds);
	tcase_add_test(tcase, same);
	tcase_add_test(tcase, nothing_said);
	tcase_add_test(tcase, mistakes);
	tcase_add_test(tcase, files);
	tcase_add_test(tcase, bad_files);
	tcase_add_loop_test(tcase, test_all_mistakes, 0, G_N_ELEMENTS(all_mistakes));
	tcase_add_test(tcase, test_many_mistakes);
	suite_add_tcase(suite, tcase);
	return suite;
}
