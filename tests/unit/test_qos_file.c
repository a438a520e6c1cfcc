// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include <check.h>
#include <glib/gstdio.h>
#include <string.h>

#include "policy/qos_file.h"
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

	ck_assert_ptr_null(qos_policy_parse("qos.conf", text, &error));
	ck_assert_msg(strstr(error->message, why), "'%s' for:\n%s", error->message, text);
	g_error_free(error);
}

/* ---- asking ---- */

struct ask {
	int source, destination; /* group that the end is in, or -1 */
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

/* Rules in their order; all of a rule must hold, and be asked. */
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
	ck_assert_uint_eq(LEVEL(.source = -1, .destination = 0)->sl, 3); /* not asked */
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

/* The long form goes before the short one, wherever they stand; so does its default. */
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

START_TEST(setup_is_told)
{
	struct qos_policy *policy = parse("qos-setup\n whatever: 1\n vlarb-tables\nend-qos-setup\n"
					  "qos-ulps\ndefault: 0\nend-qos-ulps\n");

	ck_assert_uint_eq(policy->warnings->len, 1);
	ck_assert_ptr_nonnull(strstr(policy->warnings->pdata[0], "qos.conf:1: qos-setup"));
	qos_policy_unref(policy);
}
END_TEST

START_TEST(mistakes)
{
	refused("", "qos.conf:1: found 'no such level', expected a qos-level named DEFAULT");
	refused("nonsense\n", "qos.conf:1: found 'nonsense', expected what may stand in the file");
	refused("qos-levels\n", "expected end-qos-levels (it begins in line 1)");
	refused("qos-level\n", "qos.conf:1: found 'qos-level'");
	refused("qos-levels\nqos-level\nname: A\nname: B\n", "qos.conf:4: found 'B', expected one");
	refused("qos-levels\nqos-level\nname: A\nsl: 16\n", "qos.conf:4: found '16'");
	refused("qos-levels\nqos-level\nname: A\nsl: -1\n", "found '-1'");
	refused("qos-levels\nqos-level\nname: A\nend-qos-level\n",
		"expected sl: in this qos-level");
	refused("qos-levels\nqos-level\nsl: 1\nend-qos-level\n", "expected name: in this");
	refused("qos-levels\nqos-level\nmtu-limit: 6\n",
		"found '6', expected a number from 0 to 5");
	refused("qos-levels\nqos-level\npkey: 0x8000\n", "expected a P_Key");
	refused("port-groups\nport-group\nport-guid: 1,,2\n", "qos.conf:3: found ''");
	refused("port-groups\nport-group\nport-guid: 5-1\n", "found '5-1'");
	refused("port-groups\nport-group\nport-guid: 0x10000000000000000\n", "found '0x1000");
	refused("port-groups\nport-group\nport-name: a\n", "expected NodeDescription/Pnumber");
	refused("port-groups\nport-group\nnode-type: HCA\n", "expected CA, SWITCH");
	refused("port-groups\nport-group\nname: A\nend-port-group\nport-group\nname: A\n",
		"qos.conf:6: found 'A', expected a name that no other group has");
	refused("qos-match-rules\nqos-match-rule\nsource: Nobody\n",
		"qos.conf:3: found 'Nobody', expected the name of a group");
	refused(LEVELS "qos-match-rules\nqos-match-rule\nqos-level-name: X\nend-qos-match-rule\n"
		       "end-qos-match-rules\n",
		"found 'X', expected the name of a qos-level");
	refused("qos-match-rules\nqos-match-rule\nend-qos-match-rule\n",
		"expected qos-level-name: in this");
	refused("qos-ulps\nsdp 3\n", "expected a rule, ':' and an SL");
	refused("qos-ulps\nsdp: 99\n", "found '99', expected an SL from 0 to 15");
	refused("qos-ulps\nnfs: 1\n", "found 'nfs'");
	refused("qos-ulps\nany: 1\n", "found 'any'");
	refused("qos-ulps\nsrp, pkey 1: 1\n", "expected what may stand behind 'srp'");
	refused("qos-ulps\nsdp, port-num 65536: 1\n", "found '65536'");
	refused("qos-ulps\nsdp, port-num: 1\n", "found 'nothing'");
	refused("qos-ulps\ndefault: 1\ndefault: 2\n", "qos.conf:3: found 'default'");
	refused("end-qos-ulps\n", "found 'end-qos-ulps'");
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

int main(void)
{
	Suite *suite = suite_create("qos_file");
	TCase *tcase = tcase_create("qos_file");

	tcase_add_test(tcase, groups_and_levels);
	tcase_add_test(tcase, rules);
	tcase_add_test(tcase, short_form);
	tcase_add_test(tcase, both_forms);
	tcase_add_test(tcase, setup_is_told);
	tcase_add_test(tcase, mistakes);
	tcase_add_test(tcase, files);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
